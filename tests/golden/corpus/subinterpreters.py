# SPDX-License-Identifier: GPL-2.0-or-later
# golden recording: main and two sub-interpreters with GILs of their own, and two threads in main
import threading
import _xxsubinterpreters as si
code = "t=0\nfor i in range(200000): t+=i*i%7"
ids=[si.create() for _ in range(2)]
def bytecode(n):
    t=0
    for i in range(n): t+=i*i%7
ths=[threading.Thread(target=si.run_string,args=(i,code)) for i in ids]+[threading.Thread(target=bytecode,args=(400000,)) for _ in range(2)]
[t.start() for t in ths]; [t.join() for t in ths]

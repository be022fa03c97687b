# SPDX-License-Identifier: GPL-2.0-or-later
"""Eight threads that wait for a slow peer: nothing is wrong, more threads would do.

run:     sudo gilprobe record -- python3 examples/io_threads.py
verdict: io-bound
"""
import socket
import threading
import time


def serve(peer):
    while peer.recv(16):
        time.sleep(0.02)
        peer.send(b'reply')


def ask(sock, n):
    for _ in range(n):
        sock.send(b'question')
        sock.recv(16)
    sock.close()


threads = []
for i in range(8):
    ours, theirs = socket.socketpair()
    threads.append(threading.Thread(target=serve, args=(theirs,), name=f'peer-{i}'))
    threads.append(threading.Thread(target=ask, args=(ours, 40), name=f'client-{i}'))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

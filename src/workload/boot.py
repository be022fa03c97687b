# SPDX-License-Identifier: GPL-2.0-or-later
# Loads the runner, a C shared object, into the interpreter that reads this (python -B -c). Any
# Python can read it: one that cannot run the runner must be able to say so.
def boot():
    import os, sys

    del sys.modules['__main__'].__dict__['boot']
    fds = [int(word) for word in sys.argv[1:]]
    try:
        if sys.version_info < (3, 6) or sys.implementation.name != 'cpython':
            raise ImportError('gilprobe scale needs CPython 3.6 or newer')
        import _imp
        from importlib.machinery import ModuleSpec

        spec = ModuleSpec('gilprobe_runner', None, origin='/proc/self/fd/%d' % fds[0])
        try:
            _imp.create_dynamic(spec)
        except ImportError as error:  # its init function hands main over in an ImportError
            main = error.args[0]
            if not callable(main):
                raise
    except Exception:
        text = 'cannot load the runner into %s (Python %s): %s' % (
            sys.executable, sys.version.split()[0], sys.exc_info()[1])
        os.write(fds[2], ('fail\t' + ' '.join(text.split()) + '\n').encode('utf-8', 'replace'))
        return
    main(*fds)


boot()

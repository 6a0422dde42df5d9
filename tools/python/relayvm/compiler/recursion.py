"""Functions that call each other as deep as programs are long."""
import contextvars
import sys
import threading

# Before Python 3.11 each call of a Python function takes the thread's stack: 420 bytes and more (measured), those that go through C more. A
# main thread's stack, of 8 MiB as a rule, bears the frames that need no thread.
_TAKES_STACK = sys.version_info < (3, 11)
_FRAME_BYTES = 1024
_FRAMES_WITHOUT_THREAD = 4000


def deep(frames, function, *arguments):
    """What `function(*arguments)` gives, which may call functions `frames` deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + frames)
    try:
        if _TAKES_STACK and frames > _FRAMES_WITHOUT_THREAD:
            return _in_thread(frames * _FRAME_BYTES, function, arguments)
        return function(*arguments)
    finally:
        sys.setrecursionlimit(limit)


def _in_thread(stack_bytes, function, arguments):
    """The same in a thread with such a stack, of which only what is used takes memory; it sees the caller's context."""
    result = []

    def run():
        try:
            result.extend((context.run(function, *arguments), None))
        except BaseException as e:  # the caller's to handle
            result.extend((None, e))

    context = contextvars.copy_context()
    before = threading.stack_size(stack_bytes + (1 << 20))
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    value, error = result
    if error is not None:
        raise error
    return value

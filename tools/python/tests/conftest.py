"""Of a process in the background a shell ignores Ctrl-C, and so would Python; tests of interruption would wait for ever."""
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)

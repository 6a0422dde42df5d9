"""The command-line tools as the wheels' entry points: each becomes the program of that name in this package's bin."""
import os
import sys


def _become(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if not os.access(path, os.X_OK):
        sys.exit(f"{name}: {path} is not there: it comes with the wheels, and is not part of this installation")
    os.execv(path, [path, *sys.argv[1:]])


def relayc():
    _become("relayc")


def relayrun():
    _become("relayrun")


def relayvm():
    _become("relayvm")


def vmasm():
    _become("vmasm")


def vmbench():
    _become("vmbench")


def vmdump():
    _become("vmdump")


def vmrun():
    _become("vmrun")


def vmserve():
    _become("vmserve")

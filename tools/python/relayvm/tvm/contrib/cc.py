"""tvm.contrib.cc: the system's compiler of C++, for libraries and programs of object files. Programs of relay.build need none."""
import os
import shutil
import subprocess

from ...errors import FailedPrecondition


def get_cc():
    """The path of the compiler, of $CXX or what is there; None where there is none."""
    return next(filter(None, map(shutil.which, [os.environ.get("CXX", ""), "g++", "gcc", "clang++", "clang", "c++", "cc"])), None)


def _run(command, cwd=None):
    ran = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode != 0:
        raise FailedPrecondition(f"{' '.join(command)} failed:\n{ran.stdout}")


def _link(kind, output, objects, options, cc, cwd):
    cc = cc or get_cc()
    if cc is None:
        raise FailedPrecondition("there is no compiler of C++: set CXX to the path of one")
    _run([cc, *kind, "-o", str(output), *map(str, [objects] if isinstance(objects, str) else objects), *(options or ())], cwd)


def create_shared(output, objects, options=None, cc=None, cwd=None, ccache_env=None):
    """Links a shared library of objects and sources."""
    _link(["-shared", "-fPIC"], output, objects, options, cc, cwd)


def create_executable(output, objects, options=None, cc=None, cwd=None, ccache_env=None):
    """Links a program of objects and sources."""
    _link([], output, objects, options, cc, cwd)


def create_staticlib(output, inputs, ar=None):
    """Packs objects into an archive."""
    ar = ar or shutil.which("ar")
    if ar is None:
        raise FailedPrecondition("there is no ar")
    _run([ar, "-crs", str(output), *map(str, [inputs] if isinstance(inputs, str) else inputs)])


def get_target_by_dump_machine(compiler):
    """A function that gives the triple that a compiler makes code for."""
    def triple():
        return subprocess.run([compiler, "-dumpmachine"], capture_output=True, text=True, check=True).stdout.strip() if compiler else None
    return triple


def cross_compiler(compile_func, options=None, output_format=None, get_target_triple=None, add_files=None):
    """A function (output, objects, options=None) that links with another compiler, whose path or function is given."""
    base, more = list(options or ()), list(add_files or ())
    make = create_shared if not callable(compile_func) else compile_func
    given = {} if callable(compile_func) else {"cc": compile_func}

    def run(outputs, objects, options=None):
        make(outputs, [*([objects] if isinstance(objects, str) else objects), *more], options=[*base, *(options or ())], **given)
    run.output_format = output_format or "so"
    run.get_target_triple = get_target_triple
    return run


create_shared.output_format = "so"
create_shared.get_target_triple = get_target_by_dump_machine(get_cc())
create_staticlib.output_format = "a"

__all__ = ["create_executable", "create_shared", "create_staticlib", "cross_compiler", "get_cc", "get_target_by_dump_machine"]

"""tvm._ffi.libinfo: where the package's parts are."""
import os

from ... import __version__


def _package():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def find_lib_path(name=None, search_path=None, optional=False):
    """Paths of the native parts."""
    folder = _package()
    found = [os.path.join(root, file) for root in (folder, os.path.join(folder, "compiler")) for file in sorted(os.listdir(root)) if ".so" in file]
    return [path for path in found if name is None or name in path]


def find_include_path(name=None, search_path=None, optional=False):
    """Folders of headers: they are installed with the C++ library, not with this package."""
    return []


__all__ = ["__version__", "find_include_path", "find_lib_path"]

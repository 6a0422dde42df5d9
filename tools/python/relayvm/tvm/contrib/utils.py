"""tvm.contrib.utils: folders for files of a test."""
import os
import shutil
import tempfile


class DirectoryCreatedPastAtExit(Exception):
    """A folder was wanted when Python ends."""


class TempDirectory:
    """A folder that goes when it is not used any more: temp_dir (its path), relpath(name)."""

    _keeps = False
    TEMPDIRS = set()

    def __init__(self, custom_path=None, keep_for_debug=None):
        self._folder = None
        if custom_path is not None:
            os.makedirs(custom_path)
        elif self._keeps if keep_for_debug is None else keep_for_debug:
            custom_path = tempfile.mkdtemp()
        else:
            self._folder = tempfile.TemporaryDirectory()
        self.temp_dir = str(custom_path or self._folder.name)

    @classmethod
    def set_keep_for_debug(cls, set_to=True):
        """with TempDirectory.set_keep_for_debug(): folders that are made in it stay."""
        from contextlib import contextmanager

        @contextmanager
        def keeping():
            before, cls._keeps = cls._keeps, set_to
            try:
                yield
            finally:
                cls._keeps = before
        return keeping()

    @classmethod
    def remove_tempdirs(cls):
        """Takes folders away: each goes when it is not used any more, and when Python ends."""

    @property
    def path(self):
        """Its path."""
        return self.temp_dir

    def relpath(self, name):
        """The path of a file in it."""
        return os.path.join(self.temp_dir, name)

    def listdir(self):
        """Names of its files."""
        return os.listdir(self.temp_dir)

    def remove(self):
        """Takes it away."""
        if self._folder is not None:
            self._folder.cleanup()

    def __truediv__(self, name):
        return self.relpath(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def tempdir(custom_path=None, keep_for_debug=None):
    """A `TempDirectory`."""
    return TempDirectory(custom_path, keep_for_debug)


class FileLock:
    """A file that one process at a time has: release() gives it to the next."""

    def __init__(self, path):
        import fcntl
        self._file = open(path, "w")  # noqa: SIM115 (release closes it)
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def release(self):
        """Gives it up."""
        self._file.close()


def filelock(path):
    """A `FileLock`."""
    return FileLock(path)


def is_source_path(path):
    """Whether a text is a path of a source: it names a file, or ends like one."""
    return os.path.exists(path) or "\n" not in path and os.path.splitext(path)[1] in (".cu", ".cc", ".cpp", ".cl", ".ll")


def which(exec_name):
    """The path of a program, None where there is none."""
    return shutil.which(exec_name)


__all__ = ["DirectoryCreatedPastAtExit", "FileLock", "TempDirectory", "filelock", "is_source_path", "tempdir", "which"]

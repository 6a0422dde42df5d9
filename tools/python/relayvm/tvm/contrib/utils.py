"""tvm.contrib.utils: folders for files of a test."""
import os
import tempfile


class TempDirectory:
    """A folder that goes when it is not used any more: temp_dir (its path), relpath(name)."""

    def __init__(self, custom_path=None):
        self._folder = None
        if custom_path is None:
            self._folder = tempfile.TemporaryDirectory()
        else:
            os.makedirs(custom_path)
        self.temp_dir = custom_path or self._folder.name

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
    return TempDirectory(custom_path)


__all__ = ["TempDirectory", "tempdir"]

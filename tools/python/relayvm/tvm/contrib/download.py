"""tvm.contrib.download: files from the web, for examples."""
import os
import pathlib
import tempfile


def download(url, path, overwrite=False, size_compare=False, retries=3):
    """Writes what an address has to a file, unless that is there. size_compare: a file of another size is written again."""
    path = pathlib.Path(path)
    if path.is_file() and not overwrite:
        if not size_compare:
            return
        from urllib import request  # which takes long
        with request.urlopen(request.Request(url, method="HEAD")) as answer:
            if int(answer.headers.get("Content-Length", -1)) == path.stat().st_size:
                return
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in reversed(range(retries)):
        try:
            _fetch(url, path)
            return
        except OSError as error:
            if left == 0:
                raise OSError(f"download: {url}: {error}") from error


def _fetch(url, path):
    """Into a file beside it first, so that half of one is never found."""
    from urllib import request  # which takes long
    handle, part = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file, request.urlopen(url) as answer:
            while block := answer.read(1 << 20):
                file.write(block)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _folder():
    return pathlib.Path(os.environ.get("TEST_DATA_ROOT_PATH", pathlib.Path.home() / ".tvm_test_data"))


def download_testdata(url, relpath, module=None, overwrite=False):
    """The path of what an address has, in a folder for examples' files ($TEST_DATA_ROOT_PATH, or .tvm_test_data at home)."""
    if module is not None and not isinstance(module, (str, list, tuple)):
        raise ValueError(f"download_testdata: module is a text or a list of texts, found {module!r}")
    parts = [] if module is None else [module] if isinstance(module, str) else list(module)
    path = _folder().joinpath(*parts, relpath)
    download(url, path, overwrite, size_compare=False)
    return str(path)


__all__ = ["download", "download_testdata"]

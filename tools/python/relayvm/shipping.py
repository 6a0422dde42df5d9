"""Programs on their way to other processes: by what is in them, loaded once in each.

What `relayvm.dask` and `relayvm.ray` stand on. A `Program` goes to another process as the hash of its bytes and the path that it had; there it
is found among what the process has loaded, else among what was brought (`bring`), else at that path, where the hash is compared.
"""
import hashlib
import os
import threading
from collections import OrderedDict

from .errors import NotFound
from .model import _flatten, load
from .runtime import Runtime

# Loaded programs that a process keeps when nobody uses them.
MODELS_KEPT = 16

_lock = threading.Lock()
_models = OrderedDict()  # (hash, function, options): the function; the one used last at the end
_loading = {}  # (hash, options): a lock
_brought = {}  # hash: path
_checked = {}  # path: (its status, the hash)


def hash_of(source):
    """SHA-256 of a file, by its path, or of bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return hashlib.sha256(source).hexdigest()
    with open(source, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is(path, content):
    """Whether the file is that; read again only when it changed."""
    try:
        status = os.stat(path)
        seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        known = _checked.get(path)
        if known is None or known[0] != seen:
            known = _checked[path] = (seen, hash_of(path))
        return known[1] == content
    except OSError:
        return False


def bring(content, data, folder):
    """Keeps a program's bytes as a file of the folder, for `Program`s of this process; `content` is their hash. Returns the path."""
    if hash_of(data) != content:
        raise ValueError("the bytes of a program are not those that were sent")
    path = os.path.join(folder, f"relayvm-{content}.vmx")
    if not _is(path, content):
        partial = f"{path}.{os.getpid()}.{threading.get_ident()}"
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, path)
    with _lock:
        _brought[content] = path
    return path


def forget(content):
    """What `bring` kept, and what is loaded of it: it goes when nobody uses it."""
    with _lock:
        path = _brought.pop(content, None)
        for key in [key for key in _models if key[0] == content]:
            del _models[key]
    if path is not None:
        try:
            os.unlink(path)
        except OSError:
            pass


def _frozen(options):
    return tuple(sorted((name, tuple(value) if isinstance(value, (list, tuple)) else value) for name, value in options.items()))


class Program:
    """A function of a compiled program, which goes to other processes by its hash.

    source: a .vmx file's path, or its bytes. function: of it. threads: of one kernel call. options: of `relayvm.load`.
    Called with a tuple (inputs in order), a dict (by name) or a single input; see `relayvm.Function` for what they may be.
    """

    def __init__(self, source, function="main", threads=1, **options):
        self.path = None if isinstance(source, (bytes, bytearray, memoryview)) else os.path.abspath(os.fspath(source))
        self.content = hash_of(source)
        self.function, self.threads, self.options = function, threads, options
        self._data = bytes(source) if self.path is None else None

    def __getstate__(self):
        return {**self.__dict__, "_data": None}

    def __dask_tokenize__(self):
        return ("relayvm", self.content, self.function, self.threads, _frozen(self.options))

    def data(self):
        """The bytes of the file. ValueError where it is another one by now."""
        if self._data is not None:
            return self._data
        with open(self.path, "rb") as file:
            data = file.read()
        if hash_of(data) != self.content:
            raise ValueError(f"{self.path}: the file has changed since it was named")
        return data

    def _source(self):
        if self._data is not None:
            return self._data
        for path in (_brought.get(self.content), self.path):
            if path is not None and _is(path, self.content):
                return path
        where = f", and {self.path} is not that file here" if self.path else ""
        raise NotFound(f"program {self.content[:12]} was not brought to this process{where}")

    def loaded(self):
        """The function, loaded once in a process, whatever the number of its threads that ask."""
        key = (self.content, self.function, self.threads, _frozen(self.options))
        with _lock:
            found = _models.get(key)
            if found is not None:
                _models.move_to_end(key)
                return found
            loading = _loading.setdefault(key, threading.Lock())
        with loading:
            with _lock:
                if key in _models:
                    return _models[key]
            model = load(self._source(), runtime=Runtime(self.threads), **self.options)
            function = getattr(model, self.function)
            with _lock:
                _models[key] = function
                while len(_models) > MODELS_KEPT:
                    _models.popitem(last=False)
                _loading.pop(key, None)
            return function

    def __call__(self, value):
        function = self.loaded()
        if isinstance(value, dict):
            return function(**value)
        return function(*value) if isinstance(value, tuple) else function(value)

    def outputs(self, value):
        """Its outputs by name for inputs as of a call."""
        flat = []
        _flatten(self(value), flat)
        return dict(zip((output.name for output in self.loaded().outputs), flat))

    def row_dim(self, names):
        """The name of the dim that is the first one of these inputs and of all outputs, and nothing else's.

        ValueError where there is none: rows of such a program cannot be told from each other.
        """
        function = self.loaded()
        inputs, outputs = function.inputs, function.outputs
        by_rows = [a for a in inputs if a.name in names]
        first = by_rows[0]
        rows = first.shape[0] if first.shape else None
        if not isinstance(rows, str):
            raise ValueError(f"{first.name}: expected rows of any number, found {first.relay_type}")
        for argument in by_rows + outputs:
            if not argument.shape or argument.shape[0] != rows:
                raise ValueError(f"{argument.name}: expected {rows} rows, as {first.name} has, found {argument.relay_type}")
        for argument in inputs + outputs:
            is_by_rows = argument in by_rows or argument in outputs
            others = (argument.shape or [])[1 if is_by_rows else 0:]
            if any(isinstance(dim, str) and _symbols(rows) & _symbols(dim) for dim in others):
                raise ValueError(f"{argument.name}: {argument.relay_type} depends on the number of rows")
        return rows


def _symbols(dim):
    import re
    return set(re.findall(r"[^\W\d][\w.]*", dim))


def call_all(program, values, stack=0):
    """Results of `program`, one for each value.

    stack: up to so many values of the same shapes are put together as rows of one call, and are rows of its results: for programs whose first
    dim is that of independent rows, which values do not have.
    """
    values = list(values)
    if stack <= 1:
        return [program(value) for value in values]
    import numpy as np
    groups = OrderedDict()
    for place, value in enumerate(values):
        parts = _parts(value)
        groups.setdefault(tuple((name, np.shape(part)) for name, part in parts), []).append(place)
    results = [None] * len(values)
    for places in groups.values():
        for begin in range(0, len(places), stack):
            _call_stacked(program, values, places[begin:begin + stack], results)
    return results


def _parts(value):
    if isinstance(value, dict):
        return sorted(value.items())
    return list(enumerate(value)) if isinstance(value, tuple) else [(0, value)]


def _call_stacked(program, values, places, results):
    import numpy as np
    taken = [values[place] for place in places]
    stacked = [np.stack([np.asarray(dict(_parts(value))[name]) for value in taken]) for name, _ in _parts(taken[0])]
    names = [name for name, _ in _parts(taken[0])]
    result = program(dict(zip(names, stacked)) if isinstance(taken[0], dict) else tuple(stacked))
    for row, place in enumerate(places):
        results[place] = _row_of(result, row, len(places))


def _row_of(result, row, rows):
    if isinstance(result, tuple):
        return tuple(_row_of(part, row, rows) for part in result)
    if not getattr(result, "shape", ()) or result.shape[0] != rows:
        raise ValueError(f"stack: expected results of {rows} rows, found {getattr(result, 'shape', type(result).__name__)}")
    return result[row].copy()

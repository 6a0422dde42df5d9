"""Programs over Dask's bags, arrays and delayed values. Needs the package dask; distributed for clusters.

    import relayvm.dask

    model = relayvm.dask.Model("model.vmx")
    y = model.map_rows(x)                       # an array in chunks of rows: one, or a tuple, of arrays
    results = model.map(bag, stack=32)          # a bag of inputs: a bag of results
    later = model.delayed(x)

The program goes to each worker once, by the hash of its bytes, and workers load it once, whatever the number of their threads and of the
computations. Workers need relayvm, not relayvm-compiler. What a program raises is what the computation raises; tasks of a worker that ends are
run again on others, as Dask does it.
"""
from . import shipping

__all__ = ["Model"]


class Model:
    """A function of a compiled program for Dask.

    source: a .vmx file's path, or its bytes. function: of it. threads: of one run's kernels (tasks run at the same time as it is).
    is_shared: workers have the file at the same path; nothing is sent then but its hash, which they compare. options: of `relayvm.load`.
    """

    def __init__(self, source, *, function="main", threads=1, is_shared=False, **options):
        self._program = shipping.Program(source, function, threads, **options)
        self._is_shared = is_shared
        self._clients = {}  # that it was sent with, by id
        self._program.loaded()  # what is wrong with it, is so here

    @property
    def content(self):
        """The hash by which workers know the program."""
        return self._program.content

    def ship(self, client=None):
        """Sends the program to the workers of a client (else the current one), those that come later included.

        The methods below do so with the current client; of an asynchronous one, `await model.ship(client)` is the caller's. It stays there
        until `withdraw`.
        """
        from distributed import get_client
        from ._dask_plugin import BringProgram
        client = client or get_client()
        register = getattr(client, "register_plugin", None) or client.register_worker_plugin
        sent = register(BringProgram(self.content, self._program.data()), name=f"relayvm-{self.content}")
        self._clients[client.id] = client
        return sent

    def withdraw(self, client=None):
        """Takes the program from the workers of a client, or of all that it was sent with. Their tasks must have ended."""
        for client in [client] if client is not None else list(self._clients.values()):
            self._clients.pop(client.id, None)
            client.unregister_worker_plugin(f"relayvm-{self.content}")

    def _ready(self):
        """Sends the program where there is a cluster that it is not known of."""
        import sys
        if self._is_shared or "distributed" not in sys.modules:
            return self._program
        from distributed import get_client, get_worker
        try:
            get_worker()
            return self._program  # in a task: it is here
        except ValueError:
            pass
        try:
            client = get_client()
        except ValueError:
            return self._program  # threads or processes of this machine: the path will do
        if client.id not in self._clients and not client.asynchronous:
            self.ship(client)
        return self._program

    def delayed(self, *inputs, **named):
        """A delayed call: inputs may be delayed, bags and arrays of Dask, too."""
        from dask import delayed
        if inputs and named:
            raise TypeError("delayed: inputs are given in order, or by name")
        value = named if named else inputs
        return delayed(self._ready(), pure=True)(value)

    def map(self, bag, *, stack=0):
        """A bag of results for a bag of inputs: each an array, a tuple of inputs in order, or a dict of them by name.

        stack: so many inputs of the same shapes are rows of one call (which adds their first dim), and results are its rows: for programs
        whose rows are independent. 0: each is a call.
        """
        return bag.map_partitions(_call_part, self._ready(), stack)

    def map_rows(self, *inputs, **named):
        """Arrays of results for arrays of Dask, chunk by chunk of rows: one array, or a tuple in the order of the outputs.

        Rows must be independent for the program, which cannot be seen: a sequence's steps are rows, too. What is no array of Dask is the
        same for each chunk. Other axes than the first are put in one chunk. ValueError where the first dim of the inputs is not free, or is
        not that of the outputs.
        """
        import dask.array as da
        names = [a.name for a in self._program.loaded().inputs]
        if len(inputs) > len(names):
            raise TypeError(f"map_rows: expected {len(names)} inputs at most, found {len(inputs)}")
        given = {**dict(zip(names, inputs)), **named}
        unknown = [name for name in given if name not in names]
        if unknown:
            raise TypeError(f"map_rows: there is no input {', '.join(unknown)}; it has {', '.join(names)}")
        arrays = {name: value for name, value in given.items() if isinstance(value, da.Array)}
        if not arrays:
            raise TypeError("map_rows: expected an array of Dask among the inputs")
        rows = self._program.row_dim(set(arrays))
        arrays = _rechunked(arrays)
        sizes = _sizes(self._program.loaded().inputs, arrays, {n: v for n, v in given.items() if n not in arrays})
        return self._rows(arrays, {n: v for n, v in given.items() if n not in arrays}, rows, sizes)

    def _rows(self, arrays, others, rows, sizes):
        import dask.array as da
        import numpy as np
        from dask import delayed
        program = self._ready()
        outputs = program.loaded().outputs
        for output in outputs:
            if output.dtype in (None, "bfloat16"):
                raise ValueError(f"map_rows: output {output.name}: expected numbers that numpy has, found {output.relay_type}")
        chunks = next(iter(arrays.values())).chunks[0]
        blocks = {name: array.to_delayed().ravel() for name, array in arrays.items()}
        call = delayed(_call_rows, pure=True, nout=len(outputs))
        parts = [[] for _ in outputs]
        for i, count in enumerate(chunks):
            results = call(program, {name: block[i] for name, block in blocks.items()}, others)
            for part, result, output in zip(parts, results, outputs):
                shape = (count, *(_size(dim, sizes) for dim in output.shape[1:]))
                dtype = object if output.dtype == "string" else np.dtype(output.dtype)
                part.append(da.from_delayed(result, shape=shape, dtype=dtype))
        made = tuple(da.concatenate(part, axis=0, allow_unknown_chunksizes=True) for part in parts)
        return made[0] if len(made) == 1 else made


def _call_part(values, program, stack):
    return shipping.call_all(program, values, stack)


def _call_rows(program, blocks, others):
    result = program.outputs({**blocks, **others})
    return tuple(result.values())


def _rechunked(arrays):
    """In the rows' chunks of the first one, other axes in one chunk."""
    first = next(iter(arrays.values()))
    made = {}
    for name, array in arrays.items():
        if array.ndim == 0:
            raise ValueError(f"map_rows: {name}: expected rows, found a scalar")
        array = array.rechunk({axis: -1 for axis in range(1, array.ndim)}) if array.ndim > 1 else array
        same = len(array.chunks[0]) == len(first.chunks[0]) and all(a == b or a != a and b != b for a, b in zip(array.chunks[0], first.chunks[0]))
        if not same:
            if array.shape[0] != first.shape[0]:
                raise ValueError(f"map_rows: {name}: expected {first.shape[0]} rows, found {array.shape[0]}")
            array = array.rechunk({0: first.chunks[0]})
        made[name] = array
    return made


def _sizes(inputs, arrays, others):
    """What the names of dims stand for, where the inputs' shapes tell it."""
    import numpy as np
    sizes = {}
    for argument in inputs:
        value = arrays.get(argument.name, others.get(argument.name))
        if value is None or argument.shape is None:
            continue
        shape = value.shape if hasattr(value, "shape") else np.shape(value)
        for dim, size in zip(argument.shape[argument.name in arrays:], shape[argument.name in arrays:]):
            if isinstance(dim, str):
                sizes.setdefault(dim, size)
    return sizes


def _size(dim, sizes):
    return dim if isinstance(dim, int) else sizes.get(dim, float("nan"))

"""Programs on Ray: a Serve deployment, and a class for Data's map_batches. Needs the package ray ("ray[serve]", "ray[data]").

    import relayvm.ray

    app = relayvm.ray.application("model.vmx", name="scorer", num_replicas=2)
    ray.serve.run(app, name="scorer", route_prefix="/scorer")      # POST /scorer: {"inputs": [{"name", "shape", "datatype", "data"}]}
    handle.infer.remote(x=x)                                       # from Python: a dict of outputs by name

    dataset.map_batches(relayvm.ray.Predictor, fn_constructor_kwargs={"source": relayvm.ray.put("model.vmx")}, concurrency=2)

The program's bytes go into Ray's object store once, and to each node once; each process loads it once.
"""
import hashlib

from . import shipping

__all__ = ["Predictor", "application", "put"]

# As the Open Inference Protocol calls them.
_DATATYPES = {"BOOL": "bool", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16",
              "UINT32": "uint32", "UINT64": "uint64", "FP32": "float32", "FP64": "float64"}
_NAMES = {dtype: name for name, dtype in _DATATYPES.items()}


def put(source):
    """A program's bytes in Ray's object store, for `Predictor` and `application` of any number of processes: a reference."""
    import ray
    return ray.put(shipping.Program(source).data())


def _program(source, function, threads, options):
    import os
    import ray
    if isinstance(source, ray.ObjectRef):
        source = ray.get(source)
    return shipping.Program(source if isinstance(source, bytes) else os.fspath(source), function, threads, **options)


class Predictor:
    """A class for `Dataset.map_batches`: batches of columns by name in, with those of the outputs out.

    source: a path that all nodes have, bytes, or what `put` gave. columns: {input: column}, where they are called differently. fixed: inputs
    that are the same for all batches. keep: columns that stay beside the outputs; None: all. The program's first dim must be that of rows
    that are independent: ValueError where it cannot be.
    """

    def __init__(self, source, *, columns=None, fixed=None, keep=None, function="main", threads=1, **options):
        self._program = _program(source, function, threads, options)
        self._columns, self._fixed, self._keep = dict(columns or {}), dict(fixed or {}), keep
        self._inputs = [a for a in self._program.loaded().inputs if a.name not in self._fixed]
        self._program.row_dim({a.name for a in self._inputs})

    def __call__(self, batch):
        import numpy as np
        given = dict(self._fixed)
        for argument in self._inputs:
            column = self._columns.get(argument.name, argument.name)
            if column not in batch:
                raise ValueError(f"input {argument.name}: there is no column {column}; there are {', '.join(batch)}")
            value = batch[column]
            given[argument.name] = np.stack(value) if getattr(value, "dtype", None) == object and argument.dtype != "string" else value
        kept = batch if self._keep is None else {name: batch[name] for name in self._keep}
        return {**kept, **self._program.outputs(given)}


def _read(argument, given):
    import numpy as np
    dtype = _DATATYPES.get(given.get("datatype"))
    shape = given.get("shape")
    if dtype is None or argument.dtype != dtype:
        raise ValueError(f"input {argument.name}: expected {_NAMES.get(argument.dtype, argument.relay_type)}, found {given.get('datatype')}")
    if not isinstance(shape, list) or not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        raise ValueError(f"input {argument.name}: its shape {shape} is not one")
    return np.asarray(given.get("data"), dtype).reshape(shape)


class _Server:
    """A replica: outputs by name for inputs by name, and the Open Inference Protocol's JSON over HTTP."""

    def __init__(self, source, name, function, threads, options):
        self._program, self._name = _program(source, function, threads, options), name
        self._program.loaded()

    def check_health(self):
        """Raises where the program cannot be used."""
        self._program.loaded()

    def content(self):
        """The hash of the program."""
        return self._program.content

    def metadata(self):
        """Names, types and shapes, as the protocol has them."""
        function = self._program.loaded()
        return {"name": self._name, "platform": "relayvm", "inputs": _described(function.inputs), "outputs": _described(function.outputs)}

    async def infer(self, **inputs):
        """Outputs by name."""
        function = self._program.loaded()
        flat = []
        shipping._flatten(await function.run_async(**inputs), flat)
        return dict(zip((output.name for output in function.outputs), flat))

    async def __call__(self, request):
        from starlette.responses import JSONResponse
        from .errors import Error
        if request.method == "GET":
            return JSONResponse(self.metadata())
        try:
            asked = await request.json()
            arguments = {a.name: a for a in self._program.loaded().inputs}
            inputs = {}
            for given in asked["inputs"]:
                if given["name"] not in arguments:
                    raise ValueError(f"there is no input {given['name']}; it has {', '.join(arguments)}")
                inputs[given["name"]] = _read(arguments[given["name"]], given)
            outputs = await self.infer(**inputs)
        except (Error, KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error) if not isinstance(error, KeyError) else f"the request has no {error}"}, status_code=400)
        answer = {"model_name": self._name, "outputs": [_written(name, value) for name, value in outputs.items()]}
        return JSONResponse({**answer, "id": asked["id"]} if "id" in asked else answer)


def _described(arguments):
    return [{"name": a.name, "datatype": _NAMES.get(a.dtype, "BYTES"), "shape": [dim if isinstance(dim, int) else -1 for dim in a.shape or []]}
            for a in arguments]


def _written(name, value):
    import numpy as np
    array = np.asarray(value)
    if str(array.dtype) not in _NAMES:
        raise ValueError(f"output {name}: {array.dtype} has no form in JSON: use a handle's infer")
    return {"name": name, "datatype": _NAMES[str(array.dtype)], "shape": list(array.shape), "data": array.ravel().tolist()}


def application(source, *, name=None, function="main", threads=1, load=None, **deployment):
    """An application of Ray Serve: `ray.serve.run(application("model.vmx"))`.

    name: the model's. threads: of one kernel call. load: a dict of options of `relayvm.load`. deployment: options of Serve's deployments:
    num_replicas, autoscaling_config, max_ongoing_requests, ray_actor_options ... A deployment of another program has another version: replicas
    are replaced one by one, as Serve does it.
    """
    import ray
    from ray import serve
    if not isinstance(source, ray.ObjectRef):
        content = shipping.hash_of(source)
        source = put(source)
    else:
        content = hashlib.sha256(ray.get(source)).hexdigest()
    name = name or f"relayvm-{content[:12]}"
    made = serve.deployment(name=name, **deployment)(_Server)
    return made.bind(source, name, function, threads, dict(load or {}))

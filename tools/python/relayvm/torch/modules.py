"""A module of PyTorch's, compiled whole and ahead of time: tensors in, tensors out."""
import torch
from torch.utils import _pytree as pytree

_HAS_EXPORT = hasattr(torch, "export") and hasattr(torch.export, "export")


class CompiledModule:
    """What `compile_module` gives: call it as the module, with inputs as the example's, of the sizes that were declared.

    executable: the compiled program, which has save(path); its inputs are the tensors among the arguments, and the buffers that it changes.
    """

    def __init__(self, program, in_spec, out_spec, *, user_inputs, held=None, written=(), constants=()):
        self._program, self._in_spec, self._out_spec = program, in_spec, out_spec
        self._run = program.runner()
        self._user_inputs, self._held = user_inputs, held or {}  # positions among the program's arguments: of the call's, {position: buffer}
        self._written = written  # [(of results, of arguments)]: what changes, and is written back
        self._constants = constants  # [(of the call's, value)]
        self._plain = in_spec == pytree.tree_flatten((((0,) * len(user_inputs)), {}))[1]
        self._single = out_spec == pytree.tree_flatten(0)[1]
        self._size = max([*user_inputs, *self._held], default=-1) + 1
        # Whether tensors in their order are the program's arguments.
        self._direct = self._plain and not self._held and not written and not constants and list(user_inputs) == list(range(self._size))

    @property
    def executable(self):
        """The compiled program."""
        return self._program.executable

    def _flat(self, args, kwargs):
        if self._plain and not kwargs and len(args) == len(self._user_inputs):
            if not any(isinstance(x, (tuple, list, dict)) for x in args):
                return args
        flat, spec = pytree.tree_flatten((args, kwargs))
        if spec == self._in_spec:
            return flat
        example, _ = pytree.tree_unflatten(range(len(self._user_inputs)), self._in_spec), None
        if set(example[1]) == set(kwargs):  # in another order
            flat, spec = pytree.tree_flatten((args, {name: kwargs[name] for name in example[1]}))
        if spec != self._in_spec:
            raise TypeError(f"expected arguments as the example's, {_structure(self._in_spec)}; found {_structure(spec)}")
        return flat

    def _check(self, flat):
        for i, expected in self._constants:
            if isinstance(flat[i], torch.Tensor) or flat[i] != expected:
                raise ValueError(f"argument {i}: the module is compiled for {expected!r}, found {flat[i]!r}")
        if torch.is_grad_enabled():
            for i, x in enumerate(flat):
                if isinstance(x, torch.Tensor) and x.requires_grad:
                    raise ValueError(f"argument {i} requires gradients, and a compiled module has none: give x.detach(), or call it under "
                                     "torch.no_grad()")

    def __call__(self, *args, **kwargs):
        if self._direct and not kwargs and not torch.is_grad_enabled() and len(args) == self._size:
            for x in args:
                if type(x) is not torch.Tensor:
                    break
            else:
                results = self._run(args)
                return results[0] if self._single else self._structured(results)
        flat = self._flat(args, kwargs)
        self._check(flat)
        arguments = [None] * self._size
        for i, value in zip(self._user_inputs, flat):
            arguments[i] = value
        for i, value in self._held.items():
            arguments[i] = value
        results = self._run(arguments)
        if self._written:
            with torch.no_grad():
                for result, argument in self._written:
                    arguments[argument].copy_(results[result])
            results = results[len(self._written):]
        return self._structured(results)

    def _structured(self, results):
        return results[0] if self._single else pytree.tree_unflatten(results, self._out_spec)

    def __repr__(self):
        return f"<relayvm.torch.CompiledModule ({', '.join(self._program.inputs)})>"


def _structure(spec):
    """The arguments of a spec as they are written: ({"x": _}, _), y=_."""
    args, kwargs = pytree.tree_unflatten([_Blank()] * spec.num_leaves, spec)
    return ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]) or "none"


class _Blank:
    def __repr__(self):
        return "_"


def _arguments(example_inputs):
    """(args, kwargs) of what compile_module takes for them."""
    if isinstance(example_inputs, dict):
        return (), dict(example_inputs)
    return (tuple(example_inputs) if isinstance(example_inputs, (list, tuple)) else (example_inputs,)), {}


def compile_module(module, example_inputs, dynamic_shapes=None, **options):
    """A `CompiledModule` of a torch.nn.Module (or a function of tensors).

        run = relayvm.torch.compile_module(model, (x, y), {"x": {0: "n"}, "y": {0: "n", 1: "length"}}, precision="bf16")
        run(x, y)

    example_inputs: its arguments, a tuple or list; a dict for those by name; a tensor by itself. dynamic_shapes: as torch.export takes it, by
    the names of forward's parameters or in their order, where a text is the name of a dim; sizes without one are fixed. options: those of
    `relayvm.compile`.

    By torch.export, on torch before 2.1 by torch.jit.trace. What it cannot be made of is torch.export's error; operators that relayvm has
    not are Unsupported. Buffers and inputs that the module changes are changed, the module's own (TorchScript: refused). Weights are
    constants: a module whose weights change later is compiled anew.
    """
    args, kwargs = _arguments(example_inputs)
    if not isinstance(module, torch.nn.Module):
        module = _as_module(module)
    with torch.no_grad():
        if _HAS_EXPORT:
            from .exports import of_export
            return of_export(module, args, kwargs, dynamic_shapes, options)
        from .traces import of_trace
        return of_trace(module, args, kwargs, dynamic_shapes, options)


def _as_module(function):
    if not callable(function):
        raise TypeError(f"module: expected a torch.nn.Module or a function of tensors, found {type(function).__name__}")
    import functools

    class Function(torch.nn.Module):
        @functools.wraps(function)
        def forward(self, *args, **kwargs):
            return function(*args, **kwargs)

    found = Function()
    found.forward = function  # with its own parameters' names
    return found

"""A whole module by torch.jit.trace, for PyTorch before torch.export."""
import inspect
import warnings

import torch
from torch.utils import _pytree as pytree

from ..errors import Unsupported
from . import crossing
from .modules import CompiledModule


class _Flat(torch.nn.Module):
    """The module with its tensors as arguments and results, one by one; the rest is as in the example."""

    def __init__(self, module, leaves, spec):
        super().__init__()
        self.module, self._leaves, self._spec = module, leaves, spec
        self.out_leaves = self.out_spec = None

    def forward(self, *tensors):
        given = iter(tensors)
        args, kwargs = pytree.tree_unflatten([next(given) if isinstance(x, torch.Tensor) else x for x in self._leaves], self._spec)
        self.out_leaves, self.out_spec = pytree.tree_flatten(self.module(*args, **kwargs))
        return tuple(x for x in self.out_leaves if isinstance(x, torch.Tensor))


def _same(result):
    return result


class _Traced:
    """The program with the interface of `lowering.Program`."""

    def __init__(self, executable, leaves, out_leaves):
        self.executable = executable
        self.inputs = tuple(f"{one.name}: {one.relay_type}" for one in executable.model.inputs)
        self._take = crossing.taker([(i, crossing.into(x)) for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)])
        self._out = [isinstance(x, torch.Tensor) and (crossing.out_of(x) or _same) for x in out_leaves]
        self._leaves = out_leaves
        self._call = crossing.caller(executable.model._main)

    def runner(self):
        return self.__call__

    def __call__(self, arguments):
        found = self._call(*self._take(arguments))
        found = iter(found if isinstance(found, tuple) else (found,))
        return [make(next(found)) if make else leaf for make, leaf in zip(self._out, self._leaves)]


def _changed(flat, module, tensors):
    """Names of inputs and buffers that a run changes."""
    copies = [x.clone() for x in tensors]
    saved = {name: x.clone() for name, x in module.named_buffers()}
    versions = {name: x._version for name, x in module.named_buffers()}
    before = [x._version for x in copies]
    flat(*copies)
    names = [f"the input {i}" for i, (x, old) in enumerate(zip(copies, before)) if x._version != old]
    for name, x in module.named_buffers():
        if x._version != versions[name] or not torch.equal(x, saved[name]):  # some operators count no version
            names.append(f"the buffer {name}")
            x.copy_(saved[name])
    return names


def _dims_of(dynamic_shapes, module, args, kwargs):
    """A pytree like (args, kwargs) with {axis: name} or None in place of tensors."""
    try:
        names = list(inspect.signature(module.forward).parameters)
    except (TypeError, ValueError):
        names = []
    if isinstance(dynamic_shapes, dict):
        unknown = set(dynamic_shapes) - set(names)
        if unknown:
            raise ValueError(f"dynamic_shapes: forward has no parameter {', '.join(sorted(unknown))}; it has {', '.join(names)}")
        positional = [dynamic_shapes.get(name) for name in names[:len(args)]]
        named = {name: dynamic_shapes.get(name) for name in kwargs}
    else:
        positional = list(dynamic_shapes or ()) + [None] * (len(args) - len(dynamic_shapes or ()))
        named = {}
    return [dims for value, said in [*zip(args, positional), *((kwargs[name], named.get(name)) for name in kwargs)] for dims in _spread(value, said)]


def _spread(value, said):
    """What is said of each leaf of an argument."""
    if isinstance(value, dict):
        return [dims for key, one in value.items() for dims in _spread(one, (said or {}).get(key))]
    if isinstance(value, (list, tuple)):
        said = said or [None] * len(value)
        return [dims for one, dims in zip(value, said) for dims in _spread(one, dims)]
    return [said]


def _shape(tensor, said):
    """The shape that an input is declared with."""
    if said is None:
        return tuple(tensor.shape)
    pairs = said.items() if isinstance(said, dict) else enumerate(said)
    dims = {axis: dim if isinstance(dim, str) else getattr(dim, "__name__", None) for axis, dim in pairs if dim is not None}
    return tuple(dims.get(axis) or size for axis, size in enumerate(tensor.shape))


def of_trace(module, args, kwargs, dynamic_shapes, options):
    """A compiled module of a trace (torch.jit.trace), for versions of PyTorch without torch.export."""
    from .. import compile as compile_program
    from ..compiler.frontends import from_pytorch
    leaves, spec = pytree.tree_flatten((args, kwargs))
    flat = _Flat(module, leaves, spec).train(module.training)
    tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
    changed = _changed(flat, module, tensors)
    if changed:
        raise Unsupported(f"compile_module: the module changes {', '.join(changed)}; torch 2.1 and newer can say so (torch.export), this one "
                          f"is {torch.__version__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        traced = torch.jit.trace(flat, tuple(tensors), check_trace=False)
    said = _dims_of(dynamic_shapes, module, args, kwargs)
    infos = [(f"input{i}", (_shape(x, dims), x.dtype)) for i, (x, dims) in enumerate(zip(leaves, said)) if isinstance(x, torch.Tensor)]
    mod, _ = from_pytorch(traced, infos)
    program = _Traced(compile_program(mod, **options), leaves, flat.out_leaves)
    fixed = [(i, x) for i, x in enumerate(leaves) if not isinstance(x, torch.Tensor)]
    return CompiledModule(program, spec, flat.out_spec, user_inputs=list(range(len(leaves))), constants=fixed)

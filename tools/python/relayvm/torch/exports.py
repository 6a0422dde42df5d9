"""A whole module by torch.export."""
import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from ..errors import Unsupported
from .lowering import Program, Refused
from .modules import CompiledModule

_TENSORS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_WRITES = {OutputKind.BUFFER_MUTATION: "buffer", OutputKind.USER_INPUT_MUTATION: "input"}


def _dims(dynamic_shapes):
    """With torch.export's Dim for the names of dims."""
    if dynamic_shapes is None:
        return None
    known = {}

    def dim(value):
        return known.setdefault(value, torch.export.Dim(value)) if isinstance(value, str) else value

    def walk(value):
        if isinstance(value, dict):
            return {key: walk(one) for key, one in value.items()}
        return type(value)(map(walk, value)) if type(value) in (list, tuple) else dim(value)
    return walk(dynamic_shapes)


def _tensor_of(exported, module, spec):
    """The tensor that an input stands for: the module's own, where it is one of its buffers."""
    if spec.kind == InputKind.BUFFER:
        try:
            return operator.attrgetter(spec.target)(module)
        except AttributeError:
            pass
    return exported.state_dict[spec.target] if spec.target in exported.state_dict else exported.constants[spec.target]


def _check_results(signature):
    for spec in signature.output_specs:
        if spec.kind not in (*_WRITES, OutputKind.USER_OUTPUT):
            raise Unsupported(f"compile_module: an output of kind {spec.kind.name} ({spec.target}) is not supported")


def of_export(module, args, kwargs, dynamic_shapes, options):
    """A compiled module of what torch.export makes of it."""
    exported = torch.export.export(module, args, kwargs, dynamic_shapes=_dims(dynamic_shapes))
    exported = exported.run_decompositions({})  # without effects
    signature = exported.graph_signature
    _check_results(signature)
    names = {spec.arg.name: i for i, spec in enumerate(signature.input_specs)}
    targets = {spec.target: i for i, spec in enumerate(signature.input_specs) if spec.kind == InputKind.BUFFER}
    written = []
    for i, spec in enumerate(signature.output_specs):
        if spec.kind in _WRITES:
            written.append((i, (targets if _WRITES[spec.kind] == "buffer" else names)[spec.target]))
    changed = {argument for _, argument in written}
    tensors = {i: _tensor_of(exported, module, spec) for i, spec in enumerate(signature.input_specs) if spec.kind in _TENSORS}
    user_inputs = [i for i, spec in enumerate(signature.input_specs) if spec.kind == InputKind.USER_INPUT]
    try:
        program = Program(exported.graph_module, {i: tensor for i, tensor in tensors.items() if i not in changed}, options)
    except Refused as refused:
        raise Unsupported(f"compile_module: {refused}") from refused.__cause__
    flat = pytree.tree_leaves((args, kwargs))
    fixed = [(k, flat[k]) for k, i in enumerate(user_inputs) if not isinstance(flat[k], torch.Tensor) and not program.takes(i)]
    spec = exported.call_spec
    return CompiledModule(program, spec.in_spec, spec.out_spec, user_inputs=user_inputs, written=written, constants=fixed,
                          held={i: tensors[i] for i in changed if i in tensors})

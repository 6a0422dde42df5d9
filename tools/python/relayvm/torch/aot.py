"""A graph of TorchDynamo's, through AOTAutograd, which makes it one of ATen's operators without effects: what it does to inputs and
buffers, and results that are views of inputs, are done outside of the program, as PyTorch does them."""
import contextlib
import operator

import torch

from .dynamo import _CHANGES_UNTIL_INPUT
from .lowering import Program, Refused


def _check_gradients(example_inputs):
    if not torch.is_grad_enabled():
        return
    needing = [x for x in example_inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    if needing:
        weights = sum(isinstance(x, torch.nn.Parameter) for x in needing)
        raise Refused(f"gradients are wanted of {weights} weights and {len(needing) - weights} inputs; call it under torch.no_grad() or "
                      "torch.inference_mode()")


def _check_inputs(example_inputs):
    from .lowering import _check_tensor
    for i, x in enumerate(example_inputs):
        if isinstance(x, torch.Tensor):
            _check_tensor(x, f"the input {i}")


class _Compiled:
    """The program that AOTAutograd calls, compiled anew where a constant of it has changed."""

    def __init__(self, graph_module, frozen, record, options):
        self._graph_module, self._record, self._options = graph_module, record, options
        self._changes = dict.fromkeys(frozen, 0)
        self._compile(frozen)

    def _compile(self, frozen):
        versions = [tensor._version for tensor in frozen.values()]  # before they are read: a change meanwhile is seen later
        self._program = Program(self._graph_module, frozen, self._options)
        self._positions, self._tensors, self._versions = tuple(frozen), [*frozen.values()], versions
        self._record.compiled, self._record.inputs, self._record.frozen = True, self._program.inputs, len(frozen)
        self._record.compilations += 1
        self._run = self._program.runner()

    def _anew(self, arguments):
        kept = {}
        for i, tensor, version in zip(self._positions, self._tensors, self._versions):
            self._changes[i] += arguments[i] is not tensor or tensor._version != version
            if self._changes[i] < _CHANGES_UNTIL_INPUT and not arguments[i].is_inference():
                kept[i] = arguments[i]
        self._compile(kept)

    def _has_changed(self, arguments):
        given = [arguments[i] for i in self._positions]
        return any(map(operator.is_not, given, self._tensors)) or [tensor._version for tensor in given] != self._versions

    def function(self):
        """What AOTAutograd calls."""
        record, program = self._record, self._run

        def run(arguments):
            if self._has_changed(arguments):
                self._anew(arguments)
            results = self._run(arguments)
            record.calls += 1
            arguments.clear()
            return results

        def run_unchanging(arguments):
            results = program(arguments)
            record.calls += 1
            arguments.clear()
            return results

        if not self._positions:
            run = run_unchanging
        run._boxed_call = True  # it takes a list, which it may clear
        return run


def _frozen(graph_module, example_inputs, freeze):
    """{position of an argument of AOTAutograd's graph: tensor} of those that no call changes."""
    from torch._guards import TracingContext
    context = TracingContext.try_get()
    metadata = context and context.fw_metadata
    given = [*(context.params_flat or ()), *example_inputs] if context else []
    count = sum(node.op == "placeholder" for node in graph_module.graph.nodes)
    if not freeze or metadata is None or len(given) != count or len(metadata.input_info) != count:
        return {}
    weights = range(len(context.params_flat or ()))  # what older versions of PyTorch tell
    return {i: given[i] for i in getattr(metadata, "static_input_indices", weights)
            if isinstance(given[i], torch.Tensor) and not metadata.input_info[i].mutates_data and not given[i].is_inference()}


# What PyTorch would unroll by the length of its input, or make one of oneDNN's layers of.
_KEPT = {"lstm": "input", "gru": "input", "rnn_tanh": "input", "rnn_relu": "input"}


def _keeping(graph_module):
    """A context in which recurrent layers stay one operator, as torch.export keeps them."""
    called = {getattr(node.target, "__name__", None) for node in graph_module.graph.nodes if node.op == "call_function"}
    kept = [getattr(getattr(torch.ops.aten, name), overload) for name, overload in _KEPT.items() if name in called]
    if not kept:
        return contextlib.nullcontext()
    try:
        from torch._export.utils import _special_op_to_preserve_cia
        from torch.export.exported_program import _override_composite_implicit_decomp
    except ImportError:  # they are PyTorch's own, and come and go: unrolled then
        return contextlib.nullcontext()
    return _override_composite_implicit_decomp(dict.fromkeys(kept, _special_op_to_preserve_cia))


def compiled(graph_module, example_inputs, record, options, freeze):
    """The function that runs a graph of TorchDynamo's; Refused where relayvm does not."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.exc import TorchDynamoException
    _check_gradients(example_inputs)
    _check_inputs(example_inputs)
    ours = []

    def compile_graph(aten, fake_inputs):
        del fake_inputs
        try:
            return _Compiled(aten, _frozen(aten, example_inputs, freeze), record, options).function()
        except Exception as error:
            ours.append(error)
            raise

    try:
        with _keeping(graph_module):
            return aot_autograd(fw_compiler=compile_graph, inference_compiler=compile_graph)(graph_module, example_inputs)
    except Exception as error:
        if ours:  # what is wrong with the options too
            raise ours[0] from ours[0].__cause__
        if isinstance(error, TorchDynamoException):
            raise
        raise Refused(f"AOTAutograd: {type(error).__name__}: {error}") from error

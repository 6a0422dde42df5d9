"""A graph of ATen's operators, as AOTAutograd and torch.export make it, as a program that takes and gives tensors.

The graph is copied, brought into the form that an ExportedProgram has, and read by the importer of those (compiler/import/torch):

- sizes that are inputs of the graph (s0) are taken from the tensors that have them, so that they are symbolic dims of the program;
- tensors that do not change between calls are its constants;
- results that are numbers of Python's, None or inputs are no results of the program; those laid out in another order of dims (a transpose)
  are given in the order of their memory, and seen in their own by a view, as PyTorch has them.
"""
import operator

import torch
from torch import fx
from torch.export import ExportedProgram
from torch.export import graph_signature
from torch.export.graph_signature import ConstantArgument, ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec, TensorArgument
from torch.utils._python_dispatch import _disable_current_modes

from ..errors import Error, InvalidArgument
from . import crossing

# Older versions of PyTorch have no SymFloatArgument and SymBoolArgument.
_NUMBERS = {kind: getattr(graph_signature, f"{kind.__name__}Argument") for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)
            if hasattr(graph_signature, f"{kind.__name__}Argument")}


class Refused(Exception):
    """Why a graph is not compiled; the text is for people."""


# --- What is refused ---


def _check_tensor(tensor, what):
    if type(tensor).__module__.split(".")[0] != "torch" and not isinstance(tensor, torch.nn.Parameter):
        raise Refused(f"{what} is a {type(tensor).__name__}, a class of tensors of its own")
    if tensor.device.type != "cpu":
        raise Refused(f"{what} is on the device {tensor.device}; relayvm runs on the CPU")
    if tensor.layout != torch.strided:
        raise Refused(f"{what} is laid out as {tensor.layout}; expected a dense tensor")
    if tensor.is_quantized:
        raise Refused(f"{what} is a quantised tensor ({tensor.dtype})")


def _is_off(node):
    """Whether it is what may drop, but is told not to: dropout_p=0, train=False."""
    given = {argument.name: argument.default_value for argument in node.target._schema.arguments if argument.has_default_value()}
    given |= dict(zip((argument.name for argument in node.target._schema.arguments), node.args)) | node.kwargs
    return any(name in given and not given[name] for name in ("dropout_p", "train", "training"))


def _check_random(node):
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded in tags and not _is_off(node):
        raise Refused(f"{node.target} draws random numbers, which have to come from PyTorch's generator")


def check(graph):
    """Raises Refused for what the importer would take, and compute otherwise than PyTorch, or not at all."""
    for node in graph.nodes:
        value = node.meta.get("val")
        if node.op == "placeholder" and isinstance(value, torch.Tensor):
            _check_tensor(value, f"the input {node.name}")
        elif node.op == "call_function":
            _check_random(node)


# --- The graph as torch.export has it ---


def _as_aten(node):
    """A conversion of PyTorch's own graph passes as the operator that models use."""
    if node.op == "call_function" and node.target is torch.ops.prims.convert_element_type.default:
        node.target, (value, dtype) = torch.ops.aten._to_copy.default, node.args
        node.args, node.kwargs = (value,), {"dtype": dtype}


def _copied(graph):
    copy = fx.Graph()
    output = copy.graph_copy(graph, {})
    copy.output(output)
    for node in copy.nodes:
        _as_aten(node)
    for node in copy.nodes:  # modules by the names of their classes, as torch.export writes them
        stack = node.meta.get("nn_module_stack")
        if stack:
            node.meta["nn_module_stack"] = {key: (path, kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}")
                                            for key, (path, kind) in stack.items()}
    return copy


def _placeholders(graph):
    return [node for node in graph.nodes if node.op == "placeholder"]


def _symbol(size):
    """The sympy symbol that a size is; None of numbers and expressions."""
    expression = size.node.expr if isinstance(size, torch.SymInt) else None
    return expression if expression is not None and expression.is_Symbol else None


def _sizes_from_tensors(graph, tensors):
    """Sizes that are inputs become sym_size of a tensor that has them."""
    where = {}
    for node in tensors:
        for axis, size in enumerate(node.meta["val"].shape):
            symbol = _symbol(size)
            if symbol is not None:
                where.setdefault(symbol, (node, axis))
    placeholders = _placeholders(graph)
    for node in placeholders:
        symbol = _symbol(node.meta.get("val"))
        if symbol not in where or not node.users:
            continue
        tensor, axis = where[symbol]
        with graph.inserting_after(placeholders[-1]):
            size = graph.call_function(torch.ops.aten.sym_size.int, (tensor, axis))
        size.meta["val"] = node.meta["val"]
        node.replace_all_uses_with(size)


def _order(value):
    """The order of dims in memory, where a result is no contiguous tensor but is one in another order of dims; else None."""
    if not isinstance(value, torch.Tensor) or value.dim() < 2 or value.is_contiguous():
        return None
    hints = [stride.node.hint if isinstance(stride, torch.SymInt) else stride for stride in value.stride()]
    if None in hints or 0 in hints:
        return None
    order = sorted(range(value.dim()), key=lambda axis: -hints[axis])
    return order if value.permute(order).is_contiguous() else None


class _Results:
    """What the graph gives: how its results are put together of what the program gives."""

    def __init__(self, graph, position):
        self.graph, self.position = graph, position  # of placeholders among the arguments
        self.nodes, self.make = [], []  # the program's results, and the functions that make tensors of them
        self.recipes, self._known = [], {}

    def add(self, result):
        """One result more: of the program, an argument, or a constant."""
        if not isinstance(result, fx.Node):
            self.recipes.append(("constant", result))
        elif result in self.position:
            self.recipes.append(("input", self.position[result]))
        else:
            if result not in self._known:
                self._known[result] = len(self.nodes)
                self.make.append(self._finish(result))
            self.recipes.append(("result", self._known[result]))

    def _finish(self, node):
        """Adds the program's result that this one is made of; the function that makes it."""
        value = node.meta.get("val")
        make, order = crossing.out_of(value), _order(value)
        if order is None:
            self.nodes.append(node)
            return make
        with self.graph.inserting_before(next(n for n in self.graph.nodes if n.op == "output")):
            permuted = self.graph.call_function(torch.ops.aten.permute.default, (node, order))
        permuted.meta["val"] = value.permute(order)
        self.nodes.append(permuted)
        back = [order.index(axis) for axis in range(len(order))]
        return lambda result: (make(result) if make else result).permute(back)


def _argument(node):
    value = node.meta.get("val")
    if isinstance(value, torch.Tensor):
        return TensorArgument(name=node.name)
    if type(value) in _NUMBERS:
        return _NUMBERS[type(value)](name=node.name)
    return ConstantArgument(name=node.name, value=value)


def _lift_constants(graph_module, graph):
    """Tensors that are attributes of the graph as inputs of it: {node: tensor}."""
    lifted, first = {}, next(iter(graph.nodes))
    for node in list(graph.nodes):
        if node.op != "get_attr":
            continue
        value = operator.attrgetter(node.target)(graph_module)
        if not isinstance(value, torch.Tensor):
            continue
        with graph.inserting_before(first):
            placeholder = graph.placeholder(f"constant{len(lifted)}")
        placeholder.meta["val"] = node.meta.get("val", value)
        node.replace_all_uses_with(placeholder)
        graph.erase_node(node)
        lifted[placeholder] = value
    return lifted


def _ranges(graph):
    """{symbol: its range} of those in the graph."""
    environment, symbols = None, set()
    for node in graph.nodes:
        value = node.meta.get("val")
        for size in (*value.shape, value) if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt):
                environment = size.node.shape_env
                symbols |= size.node.expr.free_symbols
    return {symbol: environment.bound_sympy(symbol) for symbol in sorted(symbols, key=str)}


def _exported(graph_module, graph, frozen, constants):
    """The ExportedProgram of a graph in its final form. frozen, constants: {placeholder: tensor}."""
    inputs, state = [], {}
    for node in _placeholders(graph):
        tensor = frozen.get(node, constants.get(node))
        if tensor is None:
            inputs.append(InputSpec(InputKind.USER_INPUT, _argument(node), None))
        else:
            inputs.append(InputSpec(InputKind.BUFFER, _argument(node), node.name, True))
            state[node.name] = tensor.detach().contiguous()
    output = next(node for node in graph.nodes if node.op == "output")
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument(node), None) for node in output.args[0]]
    taken = tuple(node.meta["val"] for node, spec in zip(_placeholders(graph), inputs) if spec.kind == InputKind.USER_INPUT)
    return ExportedProgram(graph_module, graph, ExportGraphSignature(inputs, outputs), state, _ranges(graph), _call_graph(taken, len(outputs)))


def _call_graph(inputs, num_outputs):
    from torch.export import ModuleCallEntry, ModuleCallSignature
    from torch.utils import _pytree as pytree
    _, in_spec = pytree.tree_flatten((inputs, {}))
    _, out_spec = pytree.tree_flatten((0,) * num_outputs)
    return [ModuleCallEntry("", ModuleCallSignature([], [], in_spec, out_spec))]


# --- The program ---


def _compiled(export, options):
    from .. import compile as compile_program
    from ..compiler.frontends import from_pytorch
    try:
        module, _ = from_pytorch(export())
    except Error as error:
        raise Refused(_text(error)) from error
    except Exception as error:  # classes of torch's own, which differ by version
        raise Refused(f"torch.export does not write it: {error}") from error
    try:
        return compile_program(module, **options)
    except InvalidArgument:  # an option's
        raise
    except Error as error:
        raise Refused(_text(error)) from error


def _text(error):
    return str(error).removeprefix("<model>.pt2: ")


class Program:
    """A compiled graph: a list of arguments to a list of results, those that the graph takes and gives.

    frozen: {position of an argument: tensor} of those that are constants.
    """

    def __init__(self, graph_module, frozen, options):
        with _disable_current_modes():  # of what traces
            self._lower(graph_module, frozen, options)
        model = self.executable.model
        self._call = crossing.caller(model._main)
        self.inputs = tuple(f"{one.name}: {one.relay_type}" for one in model.inputs)

    def _lower(self, graph_module, frozen, options):
        graph = _copied(graph_module.graph)
        check(graph)
        placeholders = _placeholders(graph)
        position = {node: i for i, node in enumerate(placeholders)}
        constants = _lift_constants(graph_module, graph)
        kept = {placeholders[i]: tensor for i, tensor in frozen.items()}
        tensors = [node for node in placeholders if node not in kept and isinstance(node.meta.get("val"), torch.Tensor)]
        _sizes_from_tensors(graph, tensors)
        self._take_results(graph, position)
        graph.eliminate_dead_code()
        for node in placeholders:
            if not node.users:
                graph.erase_node(node)
                kept.pop(node, None)
        used = [node for node in placeholders if node.users and node not in kept]
        self._positions = frozenset(position[node] for node in used)
        self._take = crossing.taker([(position[node], crossing.into(node.meta.get("val"))) for node in used])
        self.executable = _compiled(lambda: _exported(graph_module, graph, kept, constants), options)

    def _take_results(self, graph, position):
        output = next(node for node in graph.nodes if node.op == "output")
        results = _Results(graph, position)
        for result in output.args[0] if isinstance(output.args[0], (list, tuple)) else [output.args[0]]:
            results.add(result)
        if not results.nodes:
            raise Refused("it computes nothing")
        output.args = (tuple(results.nodes),)
        self._recipes, self._single = results.recipes, len(results.nodes) == 1
        self._make = [(i, make) for i, make in enumerate(results.make) if make]
        self._may_share = crossing.may_share([node.meta.get("val") for node in results.nodes])
        self._plain = results.recipes == [("result", i) for i in range(len(results.nodes))]

    def takes(self, position):
        """Whether the program has an input for this argument."""
        return position in self._positions

    def runner(self):
        """The same as a call of this, with less between where results are just what the program gives."""
        if self._make or self._may_share or not self._plain:
            return self.__call__
        call, take = self._call, self._take
        if self._single:
            return lambda arguments: [call(*take(arguments))]
        return lambda arguments: list(call(*take(arguments)))

    def __call__(self, arguments):
        found = self._call(*self._take(arguments))
        found = [found] if self._single else list(found)
        for i, make in self._make:
            found[i] = make(found[i])
        if self._may_share:
            crossing.unshare(found)
        if self._plain:
            return found
        return [found[what] if kind == "result" else arguments[what] if kind == "input" else what for kind, what in self._recipes]

"""What kernels do in a call: operations on numbers, and bytes that they read and write. For profiles' GFLOP/s and GB/s.

Bytes are those of a kernel's buffers, each once, by its line in the bytecode. Operations are counted in the program before it is lowered:
2 for each product that is summed, 1 for each element of what an operator of elements, a reduction or a pooling makes or reads. Where sizes
are known only when the program runs, or an operator is none of these, they are not known, and `Work.why` says so.
"""
import math
import re

from . import extracts, operators, relay
from .program_graphs import class_of

_KERNEL = re.compile(r'^\.kernel "((?:[^"\\]|\\.)*)" .*?buffers \((.*?)\) units (.*)', re.M)
_BUFFER = re.compile(r"(out )?(\w+)\[([^\]]*)\]( over [\d ]+)?")
_WITHOUT = {"copy", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"}  # operations
_BITS = {"bool": 8, "int4": 4, "uint4": 4}


class Work:
    """Of a kernel, a call: flops (operations on numbers) and bytes, None where that is not known; why: the reason."""

    __slots__ = ("flops", "bytes", "why")

    def __init__(self, flops, bytes, why=""):
        self.flops, self.bytes, self.why = flops, bytes, why

    def __repr__(self):
        return f"Work({self.flops} operations, {self.bytes} bytes{', ' + self.why if self.why else ''})"


class _Unknown(Exception):
    """Operations cannot be counted."""


def _bits(dtype):
    return _BITS.get(dtype) or int(re.search(r"\d+$", dtype)[0])


def _buffers(text):
    """Of a kernel's line: (is an output, dtype, dims or None) of each buffer."""
    for out, dtype, dims, _ in _BUFFER.findall(text):
        sizes = [d.strip() for d in dims.split(",") if d.strip()]
        yield bool(out), dtype, tuple(map(int, sizes)) if all(d.isdigit() for d in sizes) else None


def _count(expr):
    kind = expr.checked_type
    if not isinstance(kind, relay.TensorType) or not all(isinstance(d, int) for d in kind.shape):
        raise _Unknown("sizes are known when the program runs")
    return math.prod(kind.shape)


def _multiplications(call):
    """Of a convolution or a product of matrices."""
    name, made = call.op.name.removeprefix("nn.").removeprefix("contrib_"), _count(call)
    _count(call.args[0])
    weights = call.args[1].checked_type.shape if len(call.args) > 1 else ()
    if name == "conv2d_winograd":  # as of the convolution that it stands for
        _, tiles, *inside, _ = weights
        return made * math.prod(inside) * (math.isqrt(tiles) - call.attrs["tile_size"] + 1) ** 2
    if name.endswith("transpose"):  # each element of the data is spread
        axes = [c for c in call.attrs["kernel_layout"] if c.isalpha()]
        return _count(call.args[0]) * math.prod(size for size, axis in zip(weights, axes) if axis not in "Ii")
    found = extracts.multiplications_of(call)
    if not found:
        raise _Unknown(f"of {call.op.name} operations are not counted")
    return found


def operations_of(call):
    """Operations of a call of an operator. Raises _Unknown."""
    kind, name = class_of(call.op.name), call.op.name
    if name in _WITHOUT:
        return 0
    if kind == "product":
        return 2 * _multiplications(call)
    if kind in ("elementwise", "activation", "quantisation"):
        return _count(call) if operators.number_of_fields(call) is None else _count(call.args[0])
    if kind == "reduction":
        window = math.prod(call.attrs.get("pool_size") or ()) if "pool_size" in call.attrs else None
        return _count(call) * window if window is not None else _count(call.args[0])
    if kind == "normalisation":
        return 2 * _count(call.args[0])
    if kind == "moving" and not name.startswith("image."):
        return 0
    raise _Unknown(f"of {name} operations are not counted")


def _products(function):
    """Operations of a kernel's body."""
    calls = []

    def see(node):
        if isinstance(node, relay.Call) and isinstance(node.op, relay.Op):
            calls.append(node)
    relay.post_order_visit(function, see)
    return sum(map(operations_of, calls))


def _keys(name, made, read):
    """What tells kernels apart: their operators, types of what they make and, in the first key, of what they read."""
    name = re.sub(r"(?<=.)_\d+$", "", name)
    return (name, tuple(made), frozenset(read)), (name, tuple(made), None)


def _tensors(exprs):
    """(dtype, dims) of all tensors that expressions give."""
    left, found = [expr.checked_type for expr in exprs], []
    while left:
        kind = left.pop(0)
        if isinstance(kind, relay.TupleType):
            left[:0] = kind.fields
        elif isinstance(kind, relay.TensorType):
            found.append((kind.dtype, tuple(kind.shape)))
    return found


def _operations(module):
    """Of a program whose kernels are functions: {key: the operations, or why they are not known}."""
    found = {}

    def see(node):
        if not isinstance(node, relay.Call):
            return
        is_kernel = isinstance(node.op, relay.Function) and "Primitive" in node.op.attrs
        if not is_kernel and not isinstance(node.op, relay.Op) or id(node) in inside:
            return
        names = []
        if is_kernel:
            relay.post_order_visit(node.op.body, lambda n: (inside.add(id(n)), names.append(n.op.name)) if isinstance(n, relay.Call) and isinstance(n.op, relay.Op) else None)
        else:
            names.append(node.op.name)
        name = ("fused_" if is_kernel else "") + "_".join(re.sub(r"\W", "_", n) for n in names)
        try:
            done = _products(node.op.body) if is_kernel else operations_of(node)
        except _Unknown as unknown:
            done = str(unknown)
        for key in _keys(name, _tensors([node]), _tensors(node.args)):
            found[key] = done if found.setdefault(key, done) == done else "several calls of it do different work"

    for name in module._names:
        inside = set()
        for node in reversed(relay._post_order(module[name], lambda e: e._children())):
            see(node)
    return found


class _Seen(Exception):
    """The program is as far as it is needed."""


def _fused(source):
    """The program where its kernels are functions. source: of an Executable."""
    from . import PassContext, transform
    seen = []

    @transform.module_pass(opt_level=0)
    def look(mod, context):
        seen.append(mod)
        raise _Seen()
    module, options, passes = source
    try:
        module.compile(options, None, [*passes, transform.insert(look, after="FuseOps")._native(PassContext())])
    except _Seen:
        pass
    return seen[0]


def work_of(bytecode, source=None):
    """{kernel: Work} of a program's bytecode, and of what it was compiled from."""
    operations = None
    if source is not None:
        operations = _operations(_fused(source))
    works = {}
    for name, text, rest in _KERNEL.findall(bytecode):
        buffers = list(_buffers(text))
        if " builtin" in rest:
            works[name] = Work(None, None, "a function of the runtime, which is told the sizes when it runs")
            continue
        if any(dims is None for _, _, dims in buffers):
            works[name] = Work(None, None, "sizes are known when the program runs")
            continue
        size = sum(math.prod(dims) * _bits(dtype) for _, dtype, dims in buffers) // 8
        if operations is None:
            works[name] = Work(None, size, "the program that it was compiled from is not here")
            continue
        exact, near = _keys(name, *([(dtype, dims) for is_out, dtype, dims in buffers if is_out == of_outs] for of_outs in (True, False)))
        done = operations.get(exact, operations.get(near, "not found in the program"))
        works[name] = Work(done, size) if isinstance(done, int) else Work(None, size, done)
    return works

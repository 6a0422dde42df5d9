"""What modules, functions and executables show of themselves in a notebook: `pages` with pictures of `program_graphs`.

A picture is of at most some 60 nodes; what is folded in it follows below it, closed. All of a page has at most _MOST_NODES nodes drawn,
and says what it leaves out.
"""
from ..errors import Error
from ..pages import arguments, details, note, num_bytes, page, source, table
from . import Module, relay
from .pictures import COLOURS, svg_of
from .program_graphs import fold, graph_of, output_names, size_of, type_text

_MOST_NODES = 1500  # of a page
_MOST_FUNCTIONS = 20


class _Budget:
    """How many nodes may be drawn yet."""

    def __init__(self, most=_MOST_NODES):
        self.left, self.most = most, most

    def take(self, count):
        """Whether so many may be drawn; then they are counted."""
        if count > self.left:
            return False
        self.left -= count
        return True


def _picture(graph, scopes, budget):
    """A graph, and what is folded away in it below."""
    graph, apart = fold(graph, scopes)
    count = size_of(graph)
    if not budget.take(count):
        return note(f"not drawn: {count:,} nodes, since a page has at most {budget.most:,}; relayvm.draw(mod[name]) draws a function of its own")
    svg = f'<div style="overflow:auto;max-height:1200px;border:1px solid #ddd">{svg_of(graph)}</div>'
    return svg + "".join(details(f"{title} ({size_of(inner):,} nodes)", _picture(inner, inner_scopes, budget)) for title, inner, inner_scopes in apart)


_LEGEND = '<p style="margin:2px 0">' + " ".join(
    f'<span style="background:{fill};color:#111;border:1px solid {line};border-radius:3px;padding:0 5px">{kind}</span>'
    for kind, (fill, line) in COLOURS.items() if kind not in ("input", "output", "constant", "outer", "control")) + "</p>"


def _constants(function):
    """(how many, bytes) of a function's constants."""
    sizes = []

    def see(node):
        if isinstance(node, relay.Constant):
            sizes.append(node.data.nbytes)
    relay.post_order_visit(function, see)
    return len(sizes), sum(sizes)


def _result_names(function):
    names = output_names(function)
    try:
        kind = function.body.checked_type
    except ValueError:
        kind = None
    fields = kind.fields if isinstance(kind, relay.TupleType) else [kind]
    given = len(names) == len(fields)
    return [(names[i] if given else "", str(field) if field is not None else "") for i, field in enumerate(fields)]


def _signature(function):
    rows = [("input", p.name_hint, str(p.checked_type) if p._type is not None else "") for p in function.params]
    rows += [("output", name, kind) for name, kind in _result_names(function)]
    rows += [("attribute", str(key), str(value)) for key, value in function.attrs.items() if key != "output_names"]
    return table(("", "name", "type"), rows)


def _function(function, budget):
    graph, scopes = graph_of(function)
    count, held = _constants(function)
    facts = note(f"{size_of(graph):,} nodes, {count:,} constants of {num_bytes(held)}")
    return _signature(function) + facts + _picture(graph, scopes, budget)


def of_function(function):
    """A `relay.Function`."""
    return page(f"fn @{function.name}" if function.name else "fn", _function(function, _Budget()), _LEGEND,
                details("Relay text", source(str(function))))


def of_expression(expr):
    """Any other expression."""
    graph, scopes = graph_of(relay.Function(relay._free_vars(expr), expr))
    return page(f"{type(expr).__name__} {type_text(expr)}", _picture(graph, scopes, _Budget()))


def of_module(mod):
    """A `Module`."""
    names, budget = sorted(mod._names, key=lambda name: name != "main"), _Budget()
    parts = [details(f"@{name}", _function(mod[name], budget), is_open=i == 0) for i, name in enumerate(names[:_MOST_FUNCTIONS])]
    if len(names) > _MOST_FUNCTIONS:
        parts.append(note(f"and {len(names) - _MOST_FUNCTIONS:,} more functions: {', '.join('@' + n for n in names[_MOST_FUNCTIONS:][:_MOST_FUNCTIONS])} ..."))
    types = [("type", name, definition._text()) for name, definition in mod.type_definitions.items()]
    return page(f"Module: {len(names)} function{'s'[:len(names) != 1]}", *parts, _LEGEND,
                details(f"{len(types)} type definitions", table(("", "name", "definition"), types)) if types else "",
                details("Relay text", source(str(mod))))


def _of_loaded(exe):
    """What a program says of itself when it is loaded, or why it cannot be."""
    try:
        functions = exe.model.functions
    except Error as error:
        return note(f"it cannot be loaded here by itself: {error}")
    memory = table(("function", "memory at most, bytes"), [(name, exe.memory_formula(name)) for name in functions])
    return arguments(exe.inputs, exe.outputs) + memory


def of_executable(exe):
    """An `Executable`."""
    size = len(exe.to_bytes())
    times = [(name, f"{ms:.2f}", "part of the one before" if is_part else "") for name, ms, is_part in exe.pass_times]
    kernels = [(name, work.flops, work.bytes, work.why) for name, work in exe.work().items()]
    title = f"Executable: {num_bytes(size)}, {len(kernels)} kernel{'s'[:len(kernels) != 1]}"
    parts = [_of_loaded(exe), *(note(f"warning: {text}") for text in exe.warnings),
             details(f"{len(kernels)} kernels", table(("kernel", "operations a call", "bytes a call", "not known"), kernels))]
    if exe.regions:
        parts.append(details(f"{len(exe.regions)} regions of other engines", table(("region", "JSON"), exe.regions.items())))
    parts += [details("passes", table(("pass", "ms", ""), times)), details("bytecode", source(exe.bytecode()))]
    if exe._source is not None:
        parts.append(details("program", of_module(Module(exe._source[0]))))
    return page(title, *parts)

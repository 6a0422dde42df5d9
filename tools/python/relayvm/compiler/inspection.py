"""Parts of a program's text, by name: of its bytecode, of LLVM's representation, of assembly."""
import re

from ..keywords import spelt


def _missing(kind, name, names):
    return KeyError(f"there is no {kind} {name}; there are {', '.join(names)}")


def function_of_bytecode(text, name):
    """From .function to .end."""
    functions = {m.group(1): m.group(0) for m in re.finditer(r'^\.function "((?:[^"\\]|\\.)*)".*?^\.end\n', text, re.M | re.S)}
    if name not in functions:
        raise _missing("function", name, functions)
    return functions[name]


def _with_callees(functions, name, calls):
    """The text of a function and of those that it reaches, each once, in the order of the calls."""
    order, work = [], [name]
    while work:
        current = work.pop(0)
        if current in order or current not in functions:
            continue
        order.append(current)
        work += calls(functions[current])
    return "\n".join(functions[n] for n in order)


def function_of_llvm(text, kernel, kernels):
    """A kernel in LLVM's text, with the functions that it calls."""
    functions = {m.group(1).strip('"'): m.group(0) for m in
                 re.finditer(r'^define [^@]*@("[^"]+"|[^(\s]+)\(.*?^}\n', text, re.M | re.S)}
    if kernel not in functions:
        raise _missing("kernel", kernel, kernels)
    called = re.compile(r'\bcall [^@\n]*@("[^"]+"|[\w.$]+)\(')
    return _with_callees(functions, kernel, lambda body: [n.strip('"') for n in called.findall(body)])


def function_of_assembly(text, kernel, kernels):
    """A kernel in assembly, with the functions that it calls."""
    functions = {m.group(1): m.group(0) for m in
                 re.finditer(r"^\t\.type\t(\S+),@function\n.*?^\t\.size\t\1,[^\n]*\n", text, re.M | re.S)}
    if kernel not in functions:
        raise _missing("kernel", kernel, kernels)
    called = re.compile(r"\b(?:call|jmp)q?\t(\S+)")
    return _with_callees(functions, kernel, called.findall)


class Drawing:
    """A picture of a function: an SVG in a notebook, `save`d to a file, or its text by str()."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg

    def save(self, path):
        """Writes the SVG."""
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.svg)


@spelt
def draw(mod, function="main"):
    """The graph of a function as a `Drawing`: calls with their attributes, types, constants and names in the source, colours by the class of
    the operator, branches and loops as boxes. mod: a `Module`, or a `relay.Function`.

    All of it is drawn; a notebook shows modules with what is large folded.
    """
    from . import pictures, program_graphs, relay  # which need the nodes
    if isinstance(mod, relay.Function):
        return Drawing(pictures.svg_of(program_graphs.graph_of(mod)[0]))
    if function not in mod._names:
        raise _missing("function", function, mod._names)
    return Drawing(pictures.svg_of(program_graphs.graph_of(mod[function])[0]))

"""Programs as Python code: `python_code` gives the text, which calls the names that it takes in its second argument.

Each operator's call is a call of `operator(number, *operands)`; values of data types are made by `constructor(number, *fields)` and taken
apart by .constructor and .fields; `tuple_of(*fields)`, `reference(value)` with .value, and `is_true(value)`.
"""
import re

from . import relay
from .recursion import deep


class _Block:
    """Lines of a block, and the names of what they have computed."""

    def __init__(self, outer=None):
        self.outer, self.lines, self.names = outer, [], {}

    def find(self, node):
        block = self
        while block is not None:
            if id(node) in block.names:
                return block.names[id(node)]
            block = block.outer
        return None


class _Writer:
    def __init__(self):
        self.calls, self.constructors, self.constants = [], [], []
        self.count, self.kept = 0, []
        self.depth = 1

    def new(self, hint="t"):
        self.count += 1
        return f"{re.sub(r'[^A-Za-z0-9_]', '_', hint)}_{self.count}"

    def line(self, block, text):
        block.lines.append("    " * self.depth + text)

    def value(self, node, block):
        """The name of a node's value, after the lines that compute it."""
        name = block.find(node)
        if name is None:
            name = _WRITE[type(node)](self, node, block)
            block.names[id(node)] = name
            self.kept.append(node)
        return name

    def set(self, block, text, hint="t"):
        name = self.new(hint)
        self.line(block, f"{name} = {text}")
        return name

    def inner(self, block, write):
        """Adds the lines of a block inside of another."""
        self.depth += 1
        made = _Block(block)
        write(made)
        self.depth -= 1
        block.lines += made.lines

    # --- Nodes ---

    def var(self, v, block):
        raise ValueError(f"python_code: nothing binds %{v.name_hint}")

    def constant(self, node, block):
        self.constants.append(node)
        return f"constants[{len(self.constants) - 1}]"

    def constructor(self, node, block):
        """One that is not called: a function."""
        self.constructors.append(node)
        number = len(self.constructors) - 1
        return self.set(block, f"lambda *fields: constructor({number}, *fields)", node.name_hint)

    def operator(self, node, block):
        raise ValueError(f"python_code: {node.name} is an operator, which is called or wrapped by a function")

    def call(self, call, block):
        if isinstance(call.op, relay.Op):
            args = ", ".join([self.value(a, block) for a in call.args])
            self.calls.append(call)
            return self.set(block, f"operator({len(self.calls) - 1}, {args})")
        if isinstance(call.op, relay.Constructor):
            args = "".join([f", {self.value(a, block)}" for a in call.args])
            self.constructors.append(call.op)
            return self.set(block, f"constructor({len(self.constructors) - 1}{args})")
        function = self.value(call.op, block)
        return self.set(block, f"{function}({', '.join([self.value(a, block) for a in call.args])})")

    def tuple(self, node, block):
        return self.set(block, f"tuple_of({', '.join([self.value(f, block) for f in node.fields])})")

    def let(self, node, block):
        while isinstance(node, relay.Let):
            name = self.new(node.var.name_hint or "v")
            if isinstance(node.value, relay.Function):  # which may call itself
                block.names[id(node.var)] = name
            self.line(block, f"{name} = {self.value(node.value, block)}")
            block.names[id(node.var)] = name
            self.kept.append(node.var)
            node = node.body
        return self.value(node, block)

    def function(self, node, block, name=None):
        name = name or self.new(node.name or "f")
        params = [self.new(p.name_hint or "p") for p in node.params]
        self.line(block, f"def {name}({', '.join(params)}):")

        def write(made):
            made.names.update(zip(map(id, node.params), params))
            self.line(made, f"return {self.value(node.body, made)}")
        self.inner(block, write)
        return name

    def conditional(self, node, block):
        cond, name = self.value(node.cond, block), self.new("chosen")
        for head, branch in ((f"if is_true({cond}):", node.true_branch), ("else:", node.false_branch)):
            self.line(block, head)
            self.inner(block, lambda made, branch=branch: self.line(made, f"{name} = {self.value(branch, made)}"))
        return name

    def match(self, node, block):
        data, name = self.value(node.data, block), self.new("matched")
        self.line(block, "while True:")

        def clauses(outer):
            for clause in node.clauses:
                conditions, bound = [], []
                self.pattern(clause.lhs, data, conditions, bound)
                self.line(outer, f"if {' and '.join(conditions) or 'True'}:")

                def write(made, clause=clause, bound=bound):
                    for v, text in bound:
                        made.names[id(v)] = self.set(made, text, v.name_hint or "v")
                        self.kept.append(v)
                    self.line(made, f"{name} = {self.value(clause.rhs, made)}")
                    self.line(made, "break")
                self.inner(outer, write)
            self.line(outer, "raise ValueError('no clause of a match takes the value')")
        self.inner(block, clauses)
        return name

    def pattern(self, pattern, data, conditions, bound):
        if isinstance(pattern, relay.PatternVar):
            bound.append((pattern.var, data))
        elif isinstance(pattern, relay.PatternConstructor):
            conditions.append(f"{data}.constructor == {pattern.constructor.name_hint!r}")
            for i, part in enumerate(pattern.patterns):
                self.pattern(part, f"{data}.fields[{i}]", conditions, bound)
        elif isinstance(pattern, relay.PatternTuple):
            for i, part in enumerate(pattern.patterns):
                self.pattern(part, f"{data}[{i}]", conditions, bound)

    def write(self, node, block):
        ref, value = self.value(node.ref, block), self.value(node.value, block)
        self.line(block, f"{ref}.value = {value}")
        return "tuple_of()"


_WRITE = {relay.Var: _Writer.var, relay.Constant: _Writer.constant, relay.Constructor: _Writer.constructor, relay.Op: _Writer.operator,
          relay.GlobalVar: lambda w, g, b: f"functions[{g.name_hint!r}]", relay.Call: _Writer.call, relay.Tuple: _Writer.tuple,
          relay.TupleGetItem: lambda w, n, b: w.set(b, f"{w.value(n.tuple_value, b)}[{n.index}]"), relay.Let: _Writer.let,
          relay.Function: _Writer.function, relay.If: _Writer.conditional, relay.Match: _Writer.match,
          relay.RefCreate: lambda w, n, b: w.set(b, f"reference({w.value(n.value, b)})"),
          relay.RefRead: lambda w, n, b: w.set(b, f"{w.value(n.ref, b)}.value"), relay.RefWrite: _Writer.write}


class PythonCode:
    """text: defines main_of(functions, constants, operator, constructor, tuple_of, reference, is_true), which gives {name: function}. calls,
    constructors, constants: the nodes that it names by number."""

    def __init__(self, text, writer):
        self.text = text
        self.calls, self.constructors, self.constants = writer.calls, writer.constructors, writer.constants


def python_code(mod):
    """The `PythonCode` of a module whose nodes know their types."""
    writer, block = _Writer(), _Block()
    for name in mod._names:
        python_name = deep(100_000, writer.function, mod[name], block, writer.new(name))
        writer.line(block, f"functions[{name!r}] = {python_name}")
    head = "def main_of(functions, constants, operator, constructor, tuple_of, reference, is_true):\n"
    return PythonCode(head + "\n".join([*block.lines, "    return functions\n"]), writer)

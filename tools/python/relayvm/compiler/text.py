"""Relay text of any part of a program, as TVM writes it: `expr.astext()`, `str(expr)`, `print(mod)` of tvm.IRModule.

What several nodes use is written once, %0 = ...; a node that one node uses stands inside of that where it ends a scope. Variables that
nothing binds are declared, free_var %x: ...; where they are met first. Tensors are meta[relay.Constant][0], whose elements stand in a
section of metadata, and sizes that are no numbers meta[tir.SizeVar][0]. Types that are inferred are comments: /* ty=... */.
"""
import ast
import json

from . import _native, relay
from .attribute_text import object_class, written_attrs
from .node_graph import attributes_object, dim_kind, dim_tree, FIELDS_OF, json_text, Writer
from .own_types import OwnTypes
from .records import _MAKERS
from .recursion import deep

VERSION = '#[version = "0.0.5"]\n'
_WITHOUT_METADATA = "\n/* The section of metadata is left out: astext(show_meta_data=True) has it. */\n"
_SIMPLE = {"bool": "", "int16": "i16", "int32": "", "int64": "i64", "float16": "f16", "float32": "f", "float64": "f64"}
_INLINE = (relay.Var, relay.GlobalVar, relay.Constant, relay.Op, relay.Constructor)
_NOTED = (relay.Var, relay.Constant, relay.Call, relay.Function, relay.Tuple, relay.TupleGetItem)
_TYPED = (relay.Call, relay.Function, relay.Tuple, relay.TupleGetItem, relay.If, relay.Match)  # which inference alone gives types
_FLOW = (relay.Call, relay.Tuple, relay.TupleGetItem)


# --- Metadata ---


class _Meta:
    """What the text refers to by number: nodes by their kind."""

    def __init__(self):
        self.kinds = {}  # kind -> {key: number}
        self.nodes = {}  # kind -> [node]

    def reference(self, kind, key, node):
        numbers = self.kinds.setdefault(kind, {})
        if key not in numbers:
            numbers[key] = len(numbers)
            self.nodes.setdefault(kind, []).append(node)
        return f"meta[{kind}][{numbers[key]}]"

    def section(self, is_typed):
        """The section of metadata: TVM's JSON of an object graph. is_typed: whether constants say their types."""
        if not self.nodes:
            return ""
        writer = Writer(is_typed)
        members = {kind: [writer.size_object(node) if isinstance(node, ast.AST) else node for node in nodes]
                   for kind, nodes in sorted(self.nodes.items())}
        return "\n#[metadata]\n" + json_text(writer.graph(members))


# --- Values ---


def _string(text):
    return json.dumps(str(text), ensure_ascii=False)


def _number(value):
    """A float in as few digits as give it again: in six, as TVM writes them, where these do."""
    text = f"{value:g}"
    if float(text) != value:
        text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def scalar_text(constant):
    """A number as text; None of a constant that is no number that text can have."""
    kind = constant.checked_type
    if kind.shape or kind.dtype not in _SIMPLE:
        return None
    value = constant.data[()]
    if kind.dtype.startswith(("bool", "int")):
        return f"{value}{_SIMPLE[kind.dtype]}"
    if value != value:
        return None  # there are many of them
    text = f"{value:g}"
    if type(value)(text) != value:
        text = str(value)
    return (text[:-2] if text.endswith(".0") else text) + _SIMPLE[kind.dtype]


def _is_written(span):
    """Whether a span is of a text as it was written, or was given in Python: others are the compiler's own."""
    return span is not None and (span.is_written if type(span) is _native.Span else type(span) in (relay.Span, relay.SequentialSpan))


def _indented(text):
    return text.replace("\n", "\n  ")


class _Scope:
    """Lines that stand together. owner: the node whose text they are a part of; parent: the scope in which it stands."""

    __slots__ = ("lines", "owner", "parent", "is_open")

    def __init__(self, owner=None, parent=None):
        self.lines, self.owner, self.parent, self.is_open = [], owner, parent, True


class _NotYet(Exception):
    """A line stands behind a use of it: (the node's id, the depth of the scope where it must stand)."""


class _Printer:
    def __init__(self, annotate=None, has_metadata=False, hoisted=None):
        self.annotate, self.has_metadata = annotate, has_metadata
        self.meta = _Meta()
        self.type_texts = {}

        self.names = {}  # name -> how many of it have got a number
        self.memo, self.declared = {}, {}  # id of a node -> its text; of a free variable, its declaration
        self.placed, self.noted = {}, set()  # ids of nodes that have a line of their own: its scope; of those whose comment is written
        self.scopes, self.num_temps = [_Scope()], 0
        self.owner = None  # the node whose text is being made
        self.doubtful = {}  # id of a node -> nodes that its text mentions, whose lines may come later
        self.hoisted = hoisted or {}
        self.kept = []  # whose ids are keys
        self.uses = {}  # id of a node -> how many nodes use it, where it is more than one
        self.is_typed = False  # whether types are inferred: variables and constants know theirs before

    def begin(self, root):
        """Of an expression that comes next: names go on."""
        self.uses, self.is_typed = {}, False
        self.kept.append(root)
        for node in relay._post_order(root, lambda e: e._children()):
            self.is_typed = self.is_typed or node._type is not None and isinstance(node, _TYPED)
            for child in node._children():
                self.uses[id(child)] = self.uses.get(id(child), 0) + 1

    # --- Types ---

    def type_text(self, kind):
        handle = kind._handle
        known = self.type_texts.get(handle)
        if known is None:
            known = self.type_texts[handle] = self._type_text(kind)
        return known

    def _type_text(self, kind):
        if isinstance(kind, relay.TensorType):
            shape = kind.shape
            if not shape:
                return kind.dtype
            return f"Tensor[({', '.join(map(self.dim_text, shape))}), {kind.dtype}]"
        if isinstance(kind, relay.TupleType):
            fields = kind.fields
            return f"({', '.join(map(self.type_text, fields))}{',' if len(fields) == 1 else ''})"
        if isinstance(kind, relay.FuncType):
            params = f"[{', '.join(map(self.type_text, kind.type_params))}]" if kind.type_params else ""
            return f"fn {params}({', '.join(map(self.type_text, kind.arg_types))}) -> {self.type_text(kind.ret_type)}"
        if isinstance(kind, relay.RefType):
            return f"ref({self.type_text(kind.value)})"
        if isinstance(kind, relay.TypeCall):
            return f"{kind.func}[{', '.join(map(self.type_text, kind.args))}]"
        if isinstance(kind, relay.TypeVar):
            return kind.name_hint
        if isinstance(kind, relay.TypeRelation):
            return f"{getattr(kind.func, 'name', kind.func)}({', '.join(map(self.type_text, kind.args))})"
        if isinstance(kind, relay.IncompleteType):
            return "_"
        return str(kind._handle)

    def dim_text(self, dim):
        if isinstance(dim, int):
            return str(dim)
        tree = dim_tree(str(dim))
        return "?" if tree is None else self.meta.reference(dim_kind(tree), dim, tree)

    # --- Names and notes ---

    def unique(self, name):
        if name in self.names:
            number = self.names[name] + 1
            while f"{name}{number}" in self.names:
                number += 1
            self.names[name] = number
            name = f"{name}{number}"
        self.names[name] = 0
        return name

    def bind(self, v, is_param=False):
        """A variable where it is bound or declared."""
        if id(v) in self.memo:
            return self.memo[id(v)] + "-malformed-ir"
        name = v.name_hint
        if not name[:1].isalpha():
            name = "v" + name
        name = self.unique("%" + name)
        self.memo[id(v)] = name
        self.kept.append(v)
        text = name
        if v.type_annotation is not None and (is_param or v._handle is None):  # what a let binds has the type that is inferred
            text += f": {self.type_text(v.type_annotation)}"
        return text + self.note(v)

    def note(self, node):
        """What stands behind a node as a comment."""
        if id(node) in self.noted:
            return ""
        self.noted.add(id(node))
        if self.annotate is not None:
            return self.annotate(node)
        if not isinstance(node, _NOTED):
            return ""
        is_known = self.is_typed and (node._type is not None or isinstance(node, relay.Constant))
        span = node._span if _is_written(node._span) else None
        if not is_known and span is None:
            return ""
        text = f" ty={self.type_text(node.checked_type)}" if is_known else ""
        return f" /*{text}{f' span={span}' if span is not None else ''} */"

    # --- Expressions ---

    def scope(self, node):
        """The lines of a scope that a node ends, which stands in the last."""
        self.open_scope()
        last = self.print(node, at_end=True)
        self.settle(node)
        return self.close_scopes(len(self.scopes) - 1) + last

    def close_scopes(self, first):
        """The lines of scopes that end."""
        ended = self.scopes[first:]
        del self.scopes[first:]
        for scope in ended:
            scope.is_open = False
        return "".join(line for scope in ended for line in scope.lines)

    def open_scope(self):
        self.scopes.append(_Scope(self.owner, self.scopes[-1]))
        return self.scopes[-1]

    def comes_later(self, node):
        """Whether the line of a node is not written yet: a line of a branch is a part of the node that has the branch. If so, the depth of
        the scope that is around both it and what is written now."""
        scope = self.placed[id(node)]
        while not scope.is_open and scope.owner is not None:
            if id(scope.owner) in self.placed:
                scope = self.placed[id(scope.owner)]
            elif scope.parent.is_open:
                return self.scopes.index(scope.parent)
            else:
                scope = scope.parent
        return None

    def settle(self, node):
        """Before the text of a node is written: all that it mentions must be."""
        for mentioned in self.doubtful.pop(id(node), ()):
            depth = self.comes_later(mentioned)
            if depth is not None:
                raise _NotYet(id(mentioned), depth)

    def block(self, node):
        return "{" + _indented("\n" + self.scope(node)) + "\n}"

    def print(self, node, at_end=False):
        """The node where it is used: its text, or the name of the line that has it."""
        inline = isinstance(node, _INLINE) or at_end and self.uses.get(id(node), 0) <= 1
        if id(node) in self.placed and not inline:
            if self.comes_later(node) is not None:
                self.doubtful.setdefault(id(self.owner), []).append(node)
            return self.memo[id(node)]
        if self.is_hoisted(node):
            depth = self.hoisted[id(node)]
            self.scopes, inner = self.scopes[:depth + 1], self.scopes[depth + 1:]
            name = self.print(node)
            self.scopes += inner
            return name
        if type(node) is relay.Let and not inline:
            text = "(" + _indented("\n" + self.visit(node)) + "\n)"
        else:
            text = self.visit(node)
        if type(node) is relay.Var:
            if id(node) in self.declared:
                self.scopes[-1].lines.append(f"free_var {self.declared.pop(id(node))};\n")
            return self.memo[id(node)]
        text += self.note(node)
        if inline:
            self.memo[id(node)] = text
            return text
        name = f"%{self.num_temps}"
        self.num_temps += 1
        self.settle(node)
        self.placed[id(node)] = self.scopes[-1]
        self.memo[id(node)] = name
        self.scopes[-1].lines.append(f"{name} = {text};\n")
        return name

    def is_hoisted(self, node):
        """Whether the line of a node is to stand further outside, and is not there yet."""
        return self.hoisted.get(id(node), len(self.scopes)) < len(self.scopes) - 1 and id(node) not in self.placed

    def visit(self, root):
        """The text of a node. Those that it is made of come before it, without recursion where no scope begins."""
        memo = self.memo
        if id(root) in memo:
            return memo[id(root)]
        stack = [(root, False)]
        while stack:
            node, is_ready = stack.pop()
            if id(node) in memo:
                continue
            if self.hoisted and self.is_hoisted(node):
                self.print(node)
                continue
            if not is_ready and isinstance(node, _FLOW):
                stack.append((node, True))
                stack.extend((part, False) for part in reversed(node._children()) if id(part) not in memo)
                continue
            text = self.leaf(node)
            if id(node) in memo:
                self.declared[id(node)] = text  # a free variable
            else:
                memo[id(node)] = text
                self.kept.append(node)
        return memo[id(root)]

    def leaf(self, node):
        outer, self.owner = self.owner, node
        text = _PRINT[type(node)](self, node)
        self.owner = outer
        return text

    def constant(self, node):
        return scalar_text(node) or self.meta.reference("relay.Constant", node._handle, node)

    def call(self, call):
        args = [self.print(arg) for arg in call.args]
        args += self.attributes(call)
        if isinstance(call.op, relay.Constructor):
            name = call.op.name_hint
            if not call.op.inputs:
                return name
        else:
            name = self.print(call.op)
        return f"{name}({', '.join(args)})"

    def attributes(self, call):
        """What stands for the attributes of a call: an object of the metadata, where TVM reads no others."""
        type_key = object_class(call) if self.has_metadata else None
        if type_key is not None:
            self.kept.append(call)
            return [self.meta.reference(type_key, id(call), attributes_object(call))]
        return [f"{name}={self.value_text(value)}" for name, value in written_attrs(call)]

    def value_text(self, value):
        """An attribute."""
        if isinstance(value, str):
            return _string(value)
        if isinstance(value, float):
            return _number(value) + "f"
        if isinstance(value, (tuple, list)):
            return f"[{', '.join(map(self.value_text, value))}]"
        if isinstance(value, _native.Dim):
            return self.dim_text(value)
        if isinstance(value, relay.Expr):
            key = value._handle if isinstance(value, relay.Constant) else id(value)
            return self.meta.reference(FIELDS_OF[type(value)][0], key, value)
        if isinstance(value, dict):
            return f"{{{', '.join(f'{self.value_text(k)}={self.value_text(v)}' for k, v in value.items())}}}"
        return str(value)

    def tuple(self, node):
        return f"({', '.join([self.print(f) for f in node.fields])}{',' if len(node.fields) == 1 else ''})"

    def field(self, node):
        return f"{self.print(node.tuple_value)}.{node.index}"

    def conditional(self, node):
        return f"if ({self.print(node.cond)}) {self.block(node.true_branch)} else {self.block(node.false_branch)}"

    def let(self, node):
        first = len(self.scopes)
        while type(node) is relay.Let:
            variable = self.bind(node.var)
            line = f"let {variable} = {self.print(node.value, at_end=True)};\n"
            self.settle(node.value)
            scope = self.open_scope()
            scope.lines.append(line)
            self.placed.setdefault(id(node.value), scope)  # what it is made of stands in this line
            node = node.body
        last = self.scope(node)
        return self.close_scopes(first) + last

    def function(self, node, prefix="fn "):
        type_params = f"[{', '.join(v.name_hint for v in node.type_params)}]" if node.type_params else ""
        params = [self.bind(p, is_param=True) for p in node.params]
        params += [f"{name}={self.value_text(value)}" for name, value in node.attrs.items()]
        result = f"-> {self.type_text(node.ret_type)} " if node.ret_type is not None else ""
        return f"{prefix}{type_params}({', '.join(params)}) {result}{self.block(node.body)}"

    def match(self, node):
        data = self.print(node.data)
        clauses = []
        for clause in node.clauses:
            pattern = self.pattern(clause.lhs)
            clauses.append(_indented(f"\n{pattern} => {self.block(clause.rhs)},"))
        return f"match{'' if node.complete else '?'} ({data}) {{{''.join(clauses)}\n}}"

    def pattern(self, pattern):
        if isinstance(pattern, relay.PatternVar):
            return self.bind(pattern.var)
        if isinstance(pattern, relay.PatternConstructor):
            fields = ", ".join(map(self.pattern, pattern.patterns))
            return pattern.constructor.name_hint + (f"({fields})" if fields else "")
        if isinstance(pattern, relay.PatternTuple):
            return f"({', '.join(map(self.pattern, pattern.patterns))}{',' if len(pattern.patterns) == 1 else ''})"
        return "_"

    def internal(self, node):
        return f"{node.kind}({', '.join([self.print(a) for a in node.args])})"

    # --- Programs ---

    def definition(self, data):
        type_vars = f"[{', '.join(map(self.type_text, data.type_vars))}]" if data.type_vars else ""
        lines = (c.name_hint + (f"({', '.join(map(self.type_text, c.inputs))})" if c.inputs else "") for c in data.constructors)
        return f"type {data.header}{type_vars} {{\n" + ("".join(f"  {line},\n" for line in lines) or "  \n") + "}"

    def module(self, mod):
        parts = [self.definition(data) for _, data in sorted(mod.type_definitions.items())]
        for name in sorted(mod._names):
            function = mod[name]
            self.begin(function)
            parts.append(self.function(function, f"def @{name}"))
        return "\n".join(part + "\n" for part in parts)


_PRINT = {relay.Var: _Printer.bind, relay.Constant: _Printer.constant, relay.GlobalVar: lambda _, g: "@" + g.name_hint,
          relay.Constructor: lambda _, c: c.name_hint, relay.Op: lambda _, op: op.name, relay.Call: _Printer.call, relay.Tuple: _Printer.tuple,
          relay.TupleGetItem: _Printer.field, relay.If: _Printer.conditional, relay.Let: _Printer.let, relay.Function: _Printer.function,
          relay.Match: _Printer.match, relay.Internal: _Printer.internal,
          relay.RefCreate: lambda p, r: f"ref({p.print(r.value)})", relay.RefRead: lambda p, r: f"ref_read({p.print(r.ref)})",
          relay.RefWrite: lambda p, r: f"ref_write({p.print(r.ref)}, {p.print(r.value)})"}

def _text_of(node, printer):
    if isinstance(node, relay.Expr):
        printer.begin(node)
        return printer.scope(node)
    if isinstance(node, relay.Type):
        return printer.type_text(node)
    if isinstance(node, relay.Pattern):
        return printer.pattern(node)
    if isinstance(node, relay.TypeData):
        return printer.definition(node)
    return printer.module(node)


def text_of(node, show_meta_data=True, annotate=None, is_whole=True):
    """Relay text of a node, a type, a pattern or a module. is_whole: with the version, and the metadata if they are wanted, so that it
    can be parsed. annotate: a function that gives what stands behind an expression, such as " /* a comment */"."""
    hoisted = {}
    while True:
        printer = _Printer(annotate, is_whole and show_meta_data, hoisted)
        try:
            text = deep(200_000, _text_of, node, printer)
            break
        except _NotYet as e:
            if e.args[0] in hoisted and hoisted[e.args[0]] <= e.args[1]:
                raise
            hoisted[e.args[0]] = e.args[1]
    if not is_whole:
        return text
    return VERSION + text + (printer.meta.section(printer.is_typed) if show_meta_data else _WITHOUT_METADATA if printer.meta.nodes else "")


def type_without_numbers(kind):
    """Text of a type of a function whose variables had numbers for inference: its sizes that no program names are ?."""
    printer = _Printer()
    printer.dim_text = lambda dim: "?" if dim_tree(str(dim)) is None else str(dim)
    return printer.type_text(kind)


def metadata_of(nodes):
    """A section of metadata: of {"relay.Constant": [...]}."""
    meta = _Meta()
    for kind, members in nodes.items():
        for number, member in enumerate(members):
            meta.reference(kind, number, member)
    return meta.section(False)


# --- Back ---


class _Names:
    """What nodes of a text are made with: GlobalVars by name, constructors of a module's types."""

    def __init__(self, module):
        self._module, self.globals = module, {}

    def get_global_var(self, name):
        if name not in self.globals:
            self.globals[name] = relay.GlobalVar(name)
        return self.globals[name]

    def get_constructor(self, adt, name):
        return self._module.get_constructor(adt, name)


@relay._all_stays
def as_written(text, name="from_string", is_expression=False, skipped=0):
    """(functions of a text by name, its `GlobalVar`s by name, a Module of its types). The nodes are as the text has them, without types
    that are inferred. is_expression: it has none, and the one "function" is it; skipped: how many bytes come before the first line."""
    from . import Module  # which needs the nodes
    nodes = []
    records, functions, native = _native.written_records(name, text, is_expression, skipped)
    module = Module(native)
    names, own = _Names(module), OwnTypes()
    for record in records:
        node = _MAKERS[record[0]](record, [nodes[i] for i in record[1]], names)
        if record[0] in _FORGETS:
            _FORGETS[record[0]](node, own)
        nodes.append(node)
    return {function: nodes[i] for function, i in functions}, names.globals, module


# Of a node of a text: what is not inferred is not known. Types become Python's.


def _forget_function(node, own):
    has_result = node.ret_type is not None and not isinstance(node.ret_type, relay.IncompleteType)
    relay._set(node, "_ret_type", own.type(node.ret_type) if has_result else None)
    relay._set(node, "type_params", relay._Sequence(map(own.type, node.type_params)))
    relay._set(node, "_attrs", dict(node.attrs))
    relay._set(node, "_type", None)
    relay._set(node, "_handle", None)


def _forget_variable(node, own):
    annotation = None if node.type_annotation is None else own.type(node.type_annotation)
    relay._set(node, "type_annotation", annotation)
    relay._set(node, "_type", annotation)
    relay._set(node, "_handle", None)


_FORGETS = {"constant": lambda node, own: relay._set(node, "_type", None), "function": _forget_function, "var": _forget_variable}


def parse_expr(text, name="string"):
    """The expression of a text that has one, and no definitions. Types are not inferred; variables are free that free_var declares."""
    return as_written(text, name, is_expression=True)[0][""]

"""Marks of regions in programs of graphs, as TVM puts them, merges them and makes functions of them.

`compiler_begin` stands before what a region reads, `compiler_end` after what it gives; what no engine runs is marked for "default". A region
is what is connected between marks. For the compiler's own engines there are passes in C++ that also cross lets (compiler/regions); these
here are for engines of predicates and for marks that users put (regions.py chooses).
"""
import re

from . import relay
from .relay import (Call, Constant, Expr, ExprMutator, Function, GlobalVar, If, Let, Op, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var,
                    _post_order)

BEGIN, END, DEFAULT = "annotation.compiler_begin", "annotation.compiler_end", "default"


def mark_of(node):
    """The name of the operator, of a mark; else None."""
    name = node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else None
    return name if name in (BEGIN, END) else None


def _parts(node):
    """What a node is made of; composites are done."""
    return () if isinstance(node, Function) and "Composite" in node.attrs else node._children()


def marks(fn):
    """Engines that marks of a function name."""
    return {node.attrs.compiler for node in _post_order(fn, _parts) if mark_of(node)}


class _Rebuilt(ExprMutator):
    """Nodes of new operands, which memo_map has; asked for one node at a time. All keep their types."""

    def __init__(self):
        super().__init__()
        self._depth = 1

    def visit(self, expr):
        if expr in self.memo_map:
            return self.memo_map[expr]
        return _typed(super().visit(expr), expr)

    def visit_function(self, fn):
        return fn if "Composite" in fn.attrs else super().visit_function(fn)


def _typed(new, old):
    if new is not old and isinstance(new, Expr) and new._type is None:
        relay._set(new, "_type", old._type)
    return new


def _rewritten(root, rewrite):
    """The expression with rewrite(node, the same of new operands) in place of each node, operands first."""
    rebuilt = _Rebuilt()
    for node in _post_order(root, _parts):
        rebuilt.memo_map[node] = _typed(rewrite(node, rebuilt.visit(node)), node)
    return rebuilt.memo_map[root]


# --- Marks for what engines run ---


class Annotator:
    """Marks around each operator: for the first of the engines that runs it, or for nobody. with_others: around tuples and so on too."""

    def __init__(self, engines, runs, with_others):
        self._engines, self._runs, self._with_others = engines, runs, with_others
        self._engine_of = {}  # new nodes

    def run(self, fn):
        """The function with marks."""
        return _rewritten(fn, self._rewrite)

    def _rewrite(self, old, new):
        if isinstance(new, Call):
            return self._call(old, new)
        if isinstance(new, Function):
            return new if "Composite" in new.attrs else _like(new, new.params, self._ended(new.body))
        if isinstance(new, Let):
            value = new.value if isinstance(new.value, Function) else self._operands([new.value])[1][0]
            return Let(new.var, value, self._ended(new.body), new.span)
        if isinstance(new, If):
            return If(*map(self._ended, new._children()), new.span)
        if isinstance(new, (Tuple, TupleGetItem, RefCreate, RefRead, RefWrite)):
            return self._other(new)
        return new

    def _call(self, old, new):
        mark = mark_of(old)
        if mark == END:
            engine = self._engine_of.setdefault(new.args[0], new.attrs.compiler)
            return _mark(END, new.args[0], engine) if new.attrs.compiler == DEFAULT != engine else new
        first = old.args[0] if old.args else None
        if mark or mark_of(first) == BEGIN and first.attrs.compiler != DEFAULT:
            return new
        if isinstance(old.op, Var) and not self._with_others:
            return _like(new, map(self._ended, new.args))
        engine = next((e for e in self._engines if self._runs(e, old)), DEFAULT)
        made = _like(new, self._operands(new.args, engine)[1])
        self._engine_of[made] = engine
        return made

    def _other(self, new):
        parts = new._children()
        if not self._with_others:
            return _like(new, map(self._ended, parts))
        engine, operands = self._operands(parts)
        made = _like(new, operands)
        self._engine_of[made] = engine
        return made

    def _operands(self, args, engine=""):
        """(the engine, or where none is given that of all operands; the operands between marks)."""
        common, begun, ended = "", [], []
        for arg in args:
            of_arg = DEFAULT
            if mark_of(arg) == BEGIN:
                (begun if arg.attrs.compiler != DEFAULT else ended).append(arg if arg.attrs.compiler != DEFAULT else arg.args[0])
                if mark_of(arg.args[0]) == END:
                    of_arg = arg.args[0].attrs.compiler
            elif arg in self._engine_of:
                of_arg = self._engine_of[arg]
                ended.append(arg if isinstance(arg, Call) and not arg.args else _mark(END, arg, of_arg))
            else:
                ended.append(arg)
            common = of_arg if common in ("", of_arg) else DEFAULT
        engine = engine or common
        return engine, [*begun, *(_mark(BEGIN, arg, engine) for arg in ended)] if common else list(args)

    def _ended(self, expr):
        """What is read where no mark begins."""
        if expr in self._engine_of:
            if isinstance(expr, Call) and not expr.args or isinstance(expr, Tuple) and not expr.fields:
                return expr
            made = _mark(END, expr, self._engine_of[expr])
        elif mark_of(expr) == END and expr.attrs.compiler == DEFAULT and expr.args[0] in self._engine_of:
            made = _mark(END, expr.args[0], self._engine_of[expr.args[0]])
        else:
            return expr
        self._engine_of[made] = made.attrs.compiler
        return made


def _mark(name, expr, engine):
    made = Call(name, [expr], {"compiler": engine})
    relay._set(made, "_type", expr._type)
    return made


def _like(node, *parts):
    """A node of other parts."""
    parts = [list(p) if not isinstance(p, Expr) else p for p in parts]
    if isinstance(node, Call):
        return relay.same_call(node, node.op, parts[0])
    if isinstance(node, Function):
        return Function(parts[0], parts[1], node.ret_type, node.type_params, node.attrs, node.span, name=node.name)
    if isinstance(node, Tuple):
        return Tuple(parts[0], node.span)
    if isinstance(node, TupleGetItem):
        return TupleGetItem(parts[0][0], node.index, node.span)
    return type(node)(*parts[0], node.span)


def in_graph_form(fn):
    """The function without lets of values, where each compiler_begin has the compiler_end before it to itself."""
    from .dataflow_groups import without_lets

    def rewrite(old, new):
        if mark_of(new) == BEGIN and mark_of(new.args[0]) == END:
            return _like(new, [_like(new.args[0], new.args[0].args)])
        return new
    return _rewritten(without_lets(fn), rewrite)


# --- Regions ---


class Region:
    """What is connected between marks: ins are its compiler_begin, outs its compiler_end."""

    def __init__(self, number, engine, func_name):
        self.number, self.engine, self.func_name = number, engine, func_name
        self.ins, self.outs, self.nodes, self._into = [], [], [], None

    def root(self):
        """The region that this one has become a part of."""
        region = self
        while region._into is not None:
            region = region._into
        while self is not region:
            self._into, self = region, self._into
        return region

    # TVM's names.
    args = property(lambda self: list(self.ins), doc="The calls of compiler_begin through which it reads.")
    rets = property(lambda self: list(self.outs), doc="The calls of compiler_end through which it gives.")
    target = property(lambda self: self.engine, doc="The engine that runs it.")
    id = property(lambda self: self.number, doc="Its number in the function.")


class Regions:
    """The regions of an expression by its nodes. Raises ValueError where marks do not fit."""

    def __init__(self, root, func_name="default", begin=BEGIN, end=END):
        self._of, self._count, self._func_name = {}, 0, func_name
        for node in _post_order(root, _parts):
            name = node.op.name if isinstance(node, Call) and isinstance(node.op, Op) else None
            if name == begin:
                region = Region(self._count, node.attrs.compiler, func_name)
                self._count += 1
                region.ins.append(node)
                self._put(node, region)
            elif name == end:
                self._end(node)
            elif isinstance(node, (Call, Tuple, TupleGetItem)):
                self._join(node, node.args if isinstance(node, Call) else node._children(), end)

    def of(self, node):
        """The region of a node, or None."""
        region = self._of.get(node)
        return region.root() if region is not None else None

    def all(self):
        """The regions."""
        return list(dict.fromkeys(region.root() for region in self._of.values()))

    def _end(self, node):
        region = self.of(node.args[0])
        if region is None:
            raise ValueError(f"{node!r}: no region begins for this compiler_end: what it gives has no compiler_begin before it")
        if region.engine != node.attrs.compiler:
            raise ValueError(f"{node!r}: expected the end of a region of {region.engine}, found one of {node.attrs.compiler}")
        self._put(node, region)
        region.outs.append(node)

    def _put(self, node, region):
        self._of[node] = region
        region.nodes.append(node)

    def _join(self, node, operands, end):
        open_regions = [self.of(arg) for arg in operands if not (isinstance(arg, Call) and isinstance(arg.op, Op) and arg.op.name == end)]
        open_regions = [region for region in open_regions if region is not None]
        for region in open_regions[1:]:
            self.merge(region.root(), open_regions[0].root())
        if open_regions:
            self._put(node, open_regions[0].root())

    def merge(self, source, into):
        """One region becomes a part of another."""
        if source is into:
            return
        into.ins += source.ins
        into.outs += source.outs
        into.nodes += source.nodes
        inner = [begin for begin in into.ins if self.of(begin.args[0]) is source]
        for begin in inner:
            into.ins.remove(begin)
            if begin.args[0] in into.outs:
                into.outs.remove(begin.args[0])
        source._into = into


# --- Marks between neighbours ---


class _Merger:
    """Joins a region with those before it of the same engine, unless a way from one to the other leads through another engine."""

    def __init__(self, regions):
        self._regions, self._done, self._visited = regions, set(), set()
        self._barred = {}  # by region: those that it must not be joined with

    def visit(self, root):
        for node in _post_order(root, lambda e: [part for part in _parts(e) if part not in self._visited]):
            if node not in self._visited:
                self._visited.add(node)
                if mark_of(node) == END:
                    self._end(node)

    def _behind(self, expr):
        """Regions that an if gets its value from."""
        region = self._regions.of(expr)
        if region is not None:
            return [region]
        return [r for part in expr._children() for r in self._behind(part)] if isinstance(expr, If) else []

    def _end(self, node):
        region = self._regions.of(node)
        if region in self._done:
            return
        for begin in list(region.ins):
            before = self._regions.of(begin.args[0])
            if before is not None and before not in self._done:
                self.visit(begin.args[0])
        direct, all_before = {}, {}
        for begin in region.ins:
            before = self._regions.of(begin.args[0])
            if before is not None:
                direct.setdefault(before)
            all_before.update(dict.fromkeys(self._behind(begin.args[0])))
        barred = self._barred.setdefault(region, set())
        for before in all_before:
            barred |= {r.root() for r in self._barred.get(before, ())}
        for before in direct:
            if before.engine != region.engine:
                barred.add(before)
            elif before not in barred:
                self._regions.merge(before, region)
                self._barred[region] = barred = {r.root() for r in barred}
        self._done.add(region)


def merge_regions(fn):
    """The function without the marks between regions that are one."""
    regions = Regions(fn)
    _Merger(regions).visit(fn)

    def rewrite(old, new):
        inner = mark_of(old) == BEGIN and mark_of(old.args[0]) == END and regions.of(old) is regions.of(old.args[0])
        return new.args[0].args[0] if inner else new
    return _rewritten(fn, rewrite)


# --- Functions ---


def _ends_of_tuples(old, new):
    """Ends of what a tuple has, in place of the end of the tuple."""
    if mark_of(new) == END and isinstance(new.args[0], Tuple):
        return Tuple([_mark(END, field, new.attrs.compiler) for field in new.args[0].fields], new.span)
    return new


def without_default(fn):
    """The function without marks for what no engine runs."""
    return _rewritten(fn, lambda old, new: new.args[0] if mark_of(new) and new.attrs.compiler == DEFAULT else new)


def _is_constant(expr):
    return isinstance(expr, Constant) or isinstance(expr, Tuple) and all(isinstance(field, Constant) for field in expr.fields)


def _weights_as_arguments(body):
    """The expression, where composites take tensors that are constant as arguments: there providers look for them."""
    def rewrite(old, new):
        if not (isinstance(new, Call) and isinstance(new.op, Function) and "Composite" in new.op.attrs):
            return new
        weights = [node for node in _post_order(new.op.body, lambda e: e._children()) if isinstance(node, Constant) and node.checked_type.shape]
        if not weights:
            return new
        params = [Var(f"weight_{i}", weight.checked_type) for i, weight in enumerate(weights)]
        inside = _Rebuilt()
        inside.memo_map.update(zip(weights, params))
        for node in _post_order(new.op.body, lambda e: e._children()):
            inside.visit(node)
        fn = Function([*new.op.params, *params], inside.memo_map[new.op.body], attrs=new.op.attrs, span=new.op.span)
        return Call(fn, [*new.args, *weights], span=new.span)
    return _rewritten(body, rewrite)


class Partitioner:
    """A function with calls in place of its regions; `made` are their functions, by name."""

    def __init__(self, name, prefix, bind_constants, optimize):
        self._name, self._prefix, self._bind_constants, self._optimize = name, prefix, bind_constants, optimize
        self.made = {}

    def run(self, fn):
        """The function with calls."""
        fn = without_default(_rewritten(fn, _ends_of_tuples))
        self._regions, self._rebuilt = Regions(fn.body, self._name), _Rebuilt()
        # Of each region: {variable: argument}, {what is read: what stands for it inside}, {what is given: expression}.
        self._params, self._read, self._results = {}, {}, {}
        body = self._visit(fn.body)
        return fn if body is fn.body else _typed(_like(fn, fn.params, body), fn)

    def _visit(self, root):
        memo = self._rebuilt.memo_map
        for node in _post_order(root, lambda e: [part for part in _parts(e) if part not in memo]):
            if node in memo:
                continue
            new = self._rebuilt.visit(node)
            mark = mark_of(node)
            if mark:
                memo[node] = _typed(self._begin(node, new) if mark == BEGIN else self._end(node), node)
        return memo[root]

    def _begin(self, node, new):
        region, value = self._regions.of(node), node.args[0]
        while mark_of(value):
            value = value.args[0]
        params, read = self._params.setdefault(region, {}), self._read.setdefault(region, {})
        if value not in read:
            index = region.ins.index(node) if node in region.ins else len(params)
            kind = node.checked_type if node._type is not None else None
            read[value] = self._param(params, f"{region.engine}_{region.number}_i{index}", kind, new.args[0])
        return read[value]

    def _param(self, params, name, kind, arg):
        """A variable for what a region reads; of tuples, one for each field."""
        if isinstance(kind, relay.TupleType) and not _is_constant(arg):
            fields = arg.fields if isinstance(arg, Tuple) else [TupleGetItem(arg, i) for i in range(len(kind.fields))]
            return Tuple([self._param(params, f"{name}_{i}", k, field) for i, (k, field) in enumerate(zip(kind.fields, fields))])
        param = Var(name, kind)
        params[param] = arg
        return param

    def _end(self, node):
        region = self._regions.of(node)
        if region not in self._results:
            outs = list(dict.fromkeys(end.args[0] for end in region.outs))
            fields = [self._visit(out) for out in outs]
            call = self._call(region, fields[0] if len(fields) == 1 else Tuple(fields))
            gets = [call] if len(outs) == 1 else [TupleGetItem(call, i) for i in range(len(outs))]
            self._results[region] = {out: _typed(get, out) for out, get in zip(outs, gets)}
        return self._results[region][node.args[0]]

    def _call(self, region, body):
        """A call of the function that a region becomes."""
        params, args, bound = [], [], {}
        for param, arg in self._params.get(region, {}).items():
            if self._bind_constants and _is_constant(arg):
                bound[param] = arg
            else:
                params.append(param)
                args.append(arg)
        if bound:
            body = relay.bind(body, bound)
        fn = self._optimize(region.engine, Function(params, _weights_as_arguments(body)))
        name = re.sub(r"\W", "_", f"{self._prefix}{region.engine}_{region.func_name}_{region.number}", flags=re.ASCII)
        while name in self.made:
            name += "_"
        attrs = {**fn.attrs, "global_symbol": name, "Primitive": 1, "Compiler": region.engine, "Inline": 1}
        self.made[name] = Function(fn.params, fn.body, attrs=attrs)
        return Call(GlobalVar(name), args)

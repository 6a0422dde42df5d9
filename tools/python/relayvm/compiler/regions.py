"""Regions for other engines, with TVM's names (BYOC): the passes that mark, merge and cut them, where users say what an engine runs.

    mod = rvm.transform.MergeComposite("dnnl")(mod)          # the compiler's own rules for an engine, or a table of patterns
    mod = rvm.transform.AnnotateTarget(["dnnl"])(mod)
    mod = rvm.transform.MergeCompilerRegions()(mod)
    mod = rvm.transform.PartitionGraph()(mod)
    print(rvm.region_jsons(mod))

What engines of yours run, predicates of Python say: `register_op_attr`.
"""
import inspect
import os
import warnings

from . import Module, _native, dataflow_pattern, named_functions, region_markers, relay
from .relay import Call, ExprMutator, Function, Op

_PREDICATES = Op._attributes  # (operator, "target.ENGINE"): (level, predicate)
_TABLES = {}


def register_op_attr(op_name, attr_key, value=None, level=10):
    """Says what an engine of yours runs, as TVM's tvm.ir.register_op_attr:

        @register_op_attr("nn.relu", "target.mine")
        def relu(call):
            return call.args[0].checked_type.dtype == "float32"

    Of keys "target.ENGINE" the predicate gets the call, or its attributes and operands where it takes two. Others are for passes
    that read them (`Op.get_attr`). Of several the one of the highest level counts, and of those the last.
    """
    if _native.operator_arguments(op_name) is None:
        warnings.warn(f"register_op_attr: there is no operator {op_name}{_native.did_you_mean(op_name, _native.operator_names())}", stacklevel=2)

    def register(predicate):
        if level >= _PREDICATES.get((op_name, attr_key), (level,))[0]:
            _PREDICATES[op_name, attr_key] = level, predicate
        return predicate
    return register if value is None else register(value)


def _is_supported(predicate, call):
    number = sum(p.default is p.empty for p in inspect.signature(predicate).parameters.values())
    return bool(predicate(call.attrs, call.args) if number == 2 else predicate(call))


# --- Tables of patterns ---


class PatternTable(list):
    """What an engine merges: (name, pattern) or (name, pattern, predicate). The compiler's own engines have rules that say more:
    MergeComposite applies those for the table itself, and patterns for a list of some of its rows."""

    def __init__(self, rows, engine):
        super().__init__(rows)
        self.engine = engine


def register_pattern_table(compiler, table=None):
    """A function that gives the table of an engine, or a decorator for one; `get_pattern_table` finds it."""
    def register(function):
        _TABLES[compiler] = function() if callable(function) else function
        return function
    return register if table is None else register(table)


def get_pattern_table(compiler):
    """The table of an engine; None where there is none."""
    if compiler == "dnnl" and compiler not in _TABLES:
        from . import dnnl_patterns
        _TABLES[compiler] = dnnl_patterns.pattern_table()
    return _TABLES.get(compiler)


# --- Passes ---


def _names(targets):
    return [targets] if isinstance(targets, str) else list(targets)


def _known(options):
    """Engines that have rules."""
    files = options.get("byoc_rules") or ()
    files = [files] if isinstance(files, (str, os.PathLike)) else files
    return [*_native.engines(), *(os.path.splitext(os.path.basename(os.fspath(f)))[0] for f in files)]


def _changed(mod, change, who):
    """The module with change(fn) in place of functions that are no regions."""
    made = {}
    mod = mod._inferred()
    for name in mod._names:
        fn = mod[name]
        if not {"host", "Primitive", "Compiler"} & set(fn.attrs):
            result = change(fn)
            if result is not fn:
                made[name] = result
    return _with(mod, made, f"pass {who}") if made else mod


def _with(mod, made, who):
    """The module with other functions, whose types are inferred anew."""
    for fn in made.values():
        if fn is not None:
            relay._set(fn, "_type", None)
    return mod._changed_to(made, who)


def MergeComposite(pattern_table=None, **options):  # noqa: N802 (TVM's name)
    """A pass that makes a function, with the attribute Composite, of what an engine runs as one.

    pattern_table: (name, pattern) or (name, pattern, predicate), patterns of `relay.dataflow_pattern`, those first that go first. Or the
    name of an engine that the compiler has rules for, or several; without, all of them. options: byoc_rules, files of rules for engines of
    yours (compiler/rules/README.md), and those of other passes.
    """
    from .transform import Pass, PythonPass
    engine = getattr(pattern_table, "engine", None)
    if engine is not None and len(pattern_table) == len(get_pattern_table(engine) or ()):
        pattern_table = engine
    if pattern_table is None or isinstance(pattern_table, str) or all(isinstance(row, str) for row in pattern_table) and len(pattern_table) > 0:
        return Pass("MergeComposite", byoc=_known(options) if pattern_table is None else _names(pattern_table), **options)
    table = [tuple(row) for row in pattern_table]
    return PythonPass("MergeComposite", lambda mod, _: _changed(mod, lambda fn: dataflow_pattern._merge_composites(table, fn), "MergeComposite"))


def _runs(engine, call):
    """Whether predicates, or the name of a composite, say that an engine runs a call."""
    if isinstance(call.op, Function):
        return str(call.op.attrs.get("Composite", "")).startswith(engine + ".")
    found = _PREDICATES.get((call.op.name, "target." + engine)) if isinstance(call.op, Op) else None
    return found is not None and _is_supported(found[1], call)


def _functions(mod):
    """Those that are no regions or kernels."""
    functions = (mod[name] for name in mod._names)
    return [fn for fn in functions if not {"host", "Primitive", "Compiler"} & set(fn.attrs)]


def _is_for_python(mod, options):
    """Whether the passes of Python take a module's marks: where they name engines that the compiler has no rules for, and stand around
    operators of graphs."""
    mod = mod._inferred()
    functions = _functions(mod)
    engines = {engine for fn in functions for engine in region_markers.marks(fn)}
    if engines <= set(_known(options)) or any(isinstance(node, relay.Internal) for fn in functions for node in relay._post_order(fn, _children)):
        return False
    try:
        for fn in functions:
            region_markers.Regions(fn)
    except ValueError:  # marks across lets
        return False
    return True


def _children(node):
    return node._children()


def _by_rules(mod, engine, options):
    """AnnotateTarget by an engine's rules. Where a program has no lets the result has none either, and each use has its own end, as in TVM."""
    from .transform import Pass
    mod = mod._inferred()
    graphs = {name for name in mod._names if not any(isinstance(n, (relay.Let, relay.Internal)) for n in relay._post_order(mod[name], _children))}
    after = Pass("AnnotateTarget", byoc=[engine], **options)(mod)
    return _changed(after, lambda fn: region_markers.in_graph_form(fn) if fn.name in graphs else fn, "AnnotateTarget")


def AnnotateTarget(targets=None, include_non_call_ops=True, **options):  # noqa: N802 (TVM's name)
    """A pass that puts what engines run between compiler_begin and compiler_end: their composites and single operators.

    targets: names of engines (without: all that there are rules for); of several, the first that runs an operator gets it, and what is
    marked already stays. Of engines that the compiler has rules for (dnnl), or options (byoc_rules), it is what the rules say; and of all
    what predicates say (`register_op_attr`). Where there are predicates, operators that no engine runs are marked for "default", as in TVM.
    include_non_call_ops: whether tuples, fields of theirs and references are marked too: for the engine of all their operands.
    """
    from .transform import PythonPass
    known = _known(options)
    targets = known if targets is None else _names(targets)

    def by_predicates(mod, engines):
        return _changed(mod, lambda fn: region_markers.Annotator(engines, _runs, include_non_call_ops).run(fn), "AnnotateTarget")

    def run(mod, _):
        waiting = []  # engines of predicates, which go together
        for target in targets:
            if target in known:
                mod = _without_default(by_predicates(mod, waiting), "AnnotateTarget") if waiting else mod
                mod, waiting = _by_rules(mod, target, options), []
            if target not in known or any(key == "target." + target for _, key in _PREDICATES):
                waiting.append(target)
        return by_predicates(mod, waiting) if waiting else mod

    return PythonPass("AnnotateTarget", run)


def _without_default(mod, who):
    return _changed(mod, region_markers.without_default, who)


def MergeCompilerRegions(**options):  # noqa: N802 (TVM's name)
    """A pass that joins regions of one engine which feed one another: the marks between them go."""
    from .transform import Pass, PythonPass

    def run(mod, _):
        if _is_for_python(mod, options):
            return _changed(mod, region_markers.merge_regions, "MergeCompilerRegions")
        return Pass("MergeCompilerRegions", **options)(_without_default(mod, "MergeCompilerRegions"))

    return PythonPass("MergeCompilerRegions", run)


class _Calls(ExprMutator):
    """Calls of regions by other names, or with further arguments: {name: (new name, arguments)}."""

    def __init__(self, changes):
        super().__init__()
        self._changes = changes

    def visit_call(self, call):
        if not isinstance(call.op, relay.GlobalVar) or call.op.name_hint not in self._changes:
            return super().visit_call(call)
        name, more = self._changes[call.op.name_hint]
        return Call(relay.GlobalVar(name), [*map(self.visit, call.args), *more], span=call.span)


class _Lifted(ExprMutator):
    """Constants that become parameters."""

    def __init__(self):
        super().__init__()
        self.params = []

    def visit_constant(self, expr):
        if not expr.checked_type.shape:
            return expr
        self.params.append((relay.Var(f"c{len(self.params)}", expr.checked_type), expr))
        return self.params[-1][0]

    def visit_function(self, fn):
        return fn  # of a composite, its own


def _renamed(mod, before, prefix, bind_constants):
    """The module with regions that are not in `before` as `PartitionGraph` wants them."""
    changes, made = {}, {}
    for name in set(mod._names) - set(before):
        fn, new_name, more = mod[name], name.replace("tvmgen_default_", prefix, 1), []
        if not bind_constants:
            lift = _Lifted()
            body = lift.visit(fn.body)
            more = [constant for _, constant in lift.params]
            fn = Function([*fn.params, *(param for param, _ in lift.params)], body, attrs=fn.attrs)
        changes[name] = new_name, more
        made.update({name: None, new_name: fn.with_attr("global_symbol", new_name)})
    calls = _Calls(changes)
    for name in before:
        result = calls.visit(mod[name])
        if result is not mod[name]:
            made[name] = result
    return _with(mod, made, "pass PartitionGraph")


def _optimized(mod):
    """What "relay.ext.ENGINE.optimize" makes of the function of a region."""
    def optimize(engine, fn):
        function = named_functions.get_global_func(f"relay.ext.{engine}.optimize", allow_missing=True)
        return fn if function is None else function(mod._like(Module.from_expr(fn)._native)._inferred())["main"]
    return optimize


def _partitioned(mod, prefix, bind_constants):
    """The module with a function for each region, by the passes of Python."""
    mod, made = mod._inferred(), {}
    for name in mod._names:
        fn = mod[name]
        if {"host", "Primitive", "Compiler"} & set(fn.attrs):
            continue
        partitioner = region_markers.Partitioner(name, prefix, bind_constants, _optimized(mod))
        result = partitioner.run(fn)
        if result is not fn:
            made.update({name: result, **partitioner.made})
    return _with(mod, made, "pass PartitionGraph") if made else mod


def PartitionGraph(mod_name="default", bind_constants=True, **options):  # noqa: N802 (TVM's name)
    """A pass that makes a function of each region, with the attributes Compiler and global_symbol, and a call of it.

    mod_name: regions are tvmgen_NAME_ENGINE_FUNCTION_NUMBER; without, tvmgen_ENGINE_FUNCTION_NUMBER. bind_constants: whether
    constants are inside; else they are arguments.
    """
    from .transform import Pass, PythonPass
    cut, prefix = Pass("PartitionGraph", **options), f"tvmgen_{mod_name}_" if mod_name else "tvmgen_"

    def run(mod, _):
        if _is_for_python(mod, options):
            return _partitioned(mod, prefix, bind_constants)
        mod = _without_default(mod, "PartitionGraph")
        after = cut(mod)
        if mod_name == "default" and bind_constants or len(after._names) == len(mod._names):
            return after
        return _renamed(after, mod._names, prefix, bind_constants)

    return PythonPass("PartitionGraph", run)

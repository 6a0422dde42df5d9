"""Functions for other engines (attribute Compiler), besides those that PartitionGraph makes: literals that become functions of the module, and
back."""
from .. import relay
from ..relay import Call, ExprMutator, Function, GlobalVar, Let, _post_order


def _is_for(fn, compiler_filter):
    return isinstance(fn, Function) and "Compiler" in fn.attrs and compiler_filter in ("", fn.attrs["Compiler"])


def _module_pass(name, run):
    from ..transform import PythonPass
    return PythonPass(name, lambda mod, _: run(mod))


class _Rebuilt(ExprMutator):
    """Nodes of new operands, asked for one at a time."""

    def __init__(self):
        super().__init__()
        self._depth = 1


def _rewritten(root, rewrite, known=()):
    """The expression with rewrite(the node of new operands) in place of each; known: variables that others stand for, whose lets go."""
    rebuilt = _Rebuilt()
    rebuilt.memo_map.update(known)
    for node in _post_order(root, lambda e: e._children()):
        if isinstance(node, Let) and node.var in known:
            rebuilt.memo_map[node] = rebuilt.memo_map[node.body]
        elif node not in known:
            rebuilt.memo_map[node] = rewrite(rebuilt.visit(node))
    return rebuilt.memo_map[root]


def _changed(mod, change, who):
    """The module with change(fn, further functions) in place of functions that are no region's."""
    from ..regions import _with
    mod, made = mod._inferred(), {}
    for name in mod._names:
        fn = mod[name]
        if not {"Compiler", "Extern", "host", "Primitive"} & set(fn.attrs):
            new = change(fn, made)
            if new is not fn:
                made[name] = new
    return _with(mod, made, f"pass {who}") if made else mod


def OutlineCompilerFunctionsWithExistingGlobalSymbols(compiler_filter=""):  # noqa: N802 (TVM's name)
    """A pass that makes a function of the module, named by its attribute global_symbol, of each literal for an engine that is called."""
    def outline(fn, made):
        lets = {node.var: node.value for node in _post_order(fn, lambda e: e._children())
                if isinstance(node, Let) and _is_for(node.value, compiler_filter)}

        def rewrite(node):
            if not (isinstance(node, Call) and _is_for(node.op, compiler_filter)):
                return node
            name = node.op.attrs.get("global_symbol")
            if not name:
                raise ValueError(f"a function for {node.op.attrs['Compiler']} has no attribute global_symbol, which is to be its name: {node.op!r}")
            made.setdefault(name, node.op)
            return Call(GlobalVar(name), node.args, node.attrs, span=node.span)
        return _rewritten(fn, rewrite, lets)

    who = "OutlineCompilerFunctionsWithExistingGlobalSymbols"
    return _module_pass(who, lambda mod: _changed(mod, outline, who))


def MarkCompilerFunctionsAsExtern(compiler_filter=""):  # noqa: N802 (TVM's name)
    """A pass that gives functions for an engine the attribute Extern in place of all others: nothing makes code of them."""
    def run(mod):
        mod = mod._inferred()
        made = {name: Function(mod[name].params, mod[name].body, mod[name].ret_type, mod[name].type_params, {"Extern": 1}, mod[name].span)
                for name in mod._names if _is_for(mod[name], compiler_filter)}
        return mod._changed_to(made, "pass MarkCompilerFunctionsAsExtern") if made else mod
    return _module_pass("MarkCompilerFunctionsAsExtern", run)


def _applied(fn, args):
    """What a call of a function computes."""
    return relay.bind(fn.body, dict(zip(fn.params, args)))


def InlineCompilerFunctionsBoundTo(global_vars):  # noqa: N802 (TVM's name)
    """A pass that puts functions for engines, and composites in them, where they are called: those of these names (GlobalVars)."""
    names = {v.name_hint if isinstance(v, GlobalVar) else v for v in global_vars}

    def without_composites(node):
        is_composite = isinstance(node, Call) and isinstance(node.op, Function) and "Composite" in node.op.attrs
        return _applied(node.op, node.args) if is_composite else node

    def run(mod):
        mod = mod._inferred()

        def rewrite(node):
            if not (isinstance(node, Call) and isinstance(node.op, GlobalVar) and node.op.name_hint in names):
                return node
            fn = mod[node.op.name_hint]
            return _applied(Function(fn.params, _rewritten(fn.body, without_composites)), node.args)

        def inline(fn, made):
            return _rewritten(fn, rewrite)

        after = _changed(mod, inline, "InlineCompilerFunctionsBoundTo")
        return after._changed_to({name: None for name in names if name in after._names}, "pass InlineCompilerFunctionsBoundTo")
    return _module_pass("InlineCompilerFunctionsBoundTo", run)


__all__ = ["InlineCompilerFunctionsBoundTo", "MarkCompilerFunctionsAsExtern", "OutlineCompilerFunctionsWithExistingGlobalSymbols"]

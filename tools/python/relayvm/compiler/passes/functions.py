"""Passes over the functions of a module: Inline, RemoveUnusedFunctions, LambdaLift, EtaExpand."""
from .. import relay
from ..relay import Call, Constructor, ExprMutator, Function, GlobalVar, Let, Var
from .copies import Copy, applied

__all__ = ["EtaExpand", "Inline", "LambdaLift", "RemoveUnusedFunctions"]


def callees(expr):
    """Names of the functions that an expression mentions, in order."""
    found = {}
    relay.post_order_visit(expr, lambda node: found.setdefault(node.name_hint) if isinstance(node, GlobalVar) else None)
    return list(found)


def reachable(mod, names):
    """Names of the functions that these need, they among them."""
    found, todo = {}, list(names)
    while todo:
        name = todo.pop()
        if name not in found and name in mod._names:
            found[name] = callees(mod[name])
            todo.extend(found[name])
    return found


def _truth(value):
    return bool(getattr(value, "value", value))


# --- Inline ---


class _Inliner(ExprMutator):
    def __init__(self, functions):
        super().__init__()
        self._functions = functions

    def visit_call(self, call):
        fn = self._functions.get(call.op.name_hint) if isinstance(call.op, GlobalVar) else None
        if fn is None:
            return super().visit_call(call)
        args = [self.visit(a) for a in call.args]
        return Call(Copy().visit(fn), args, span=call.span) if "Compiler" in fn.attrs else applied(fn, args)

    def visit_global_var(self, expr):
        fn = self._functions.get(expr.name_hint)
        return expr if fn is None else Copy().visit(fn)


def _inlined(mod):
    calls = {name: callees(mod[name]) for name in mod._names}
    called = {callee for name in calls for callee in calls[name]}
    wanted = {name for name in calls if _truth(mod[name].attrs.get("Inline", 0)) and name not in reachable(mod, calls[name])}
    done, made = {}, {}
    for name in _callees_first(calls):
        inline = {callee: done.get(callee, mod[callee]) for callee in calls[name] if callee in wanted}
        fn = mod[name]
        done[name] = fn if not inline or "Compiler" in fn.attrs else _Inliner(inline).visit(fn)
        if done[name] is not fn:
            made[name] = done[name]
    made.update({name: None for name in wanted & called})
    return mod._changed_to(made, "pass Inline", False) if made else mod


def _callees_first(calls):
    order, seen = [], set()

    def visit(name):
        if name not in seen and name in calls:
            seen.add(name)
            for callee in calls[name]:
                visit(callee)
            order.append(name)
    for name in calls:
        visit(name)
    return order


def Inline():  # noqa: N802 (TVM's name)
    """A pass that puts the bodies of functions with the attribute Inline where they are called; those that call themselves stay."""
    from ..transform import ModulePass
    return ModulePass("Inline", lambda mod, _: _inlined(mod), opt_level=1, needs_types=False)


def RemoveUnusedFunctions(entry_functions=None):  # noqa: N802 (TVM's name)
    """A pass that takes away functions that the entry functions (main) do not need."""
    from ..transform import ModulePass
    entries = ["main"] if entry_functions is None else list(entry_functions)

    def run(mod, _):
        for name in entries:
            if name not in mod._names:
                raise ValueError(f"RemoveUnusedFunctions: there is no function {name}; there are {', '.join(mod._names)}")
        kept = reachable(mod, entries)
        gone = {name: None for name in mod._names if name not in kept}
        return mod._changed_to(gone, "pass RemoveUnusedFunctions", False) if gone else mod
    return ModulePass("RemoveUnusedFunctions", run, opt_level=1, needs_types=False)


# --- LambdaLift ---


class _Lifter(ExprMutator):
    """Function literals become functions of the module; what they read besides are arguments of a function that gives them."""

    def __init__(self, of, taken):
        super().__init__()
        self._of, self._taken, self.made = of, taken, {}

    def _name(self):
        name, n = f"lifted_{self._of}", 0
        while name in self._taken:
            n += 1
            name = f"lifted_{self._of}_{n}"
        self._taken.add(name)
        return name

    def _lift(self, fn, recursive=None):
        if "Primitive" in fn.attrs or "Compiler" in fn.attrs:
            return fn
        var, name = GlobalVar(self._name()), None
        captured = [v for v in relay._free_vars(fn) if v is not recursive]
        closure = Call(var, captured) if captured else var
        body = fn.body
        if recursive is not None:
            body = relay.bind(body, {recursive: closure})
        fn = Function(fn.params, self.visit(body), fn.ret_type, fn.type_params, fn.attrs, fn.span)
        name = var.name_hint
        if captured:
            fn = Function(captured, fn, attrs={"Closure": 1})
        self.made[name] = Copy().visit(fn)
        return closure

    def visit_function(self, fn):
        return self._lift(fn)

    def visit_let(self, let):
        if isinstance(let.value, Function) and not {"Primitive", "Compiler"} & set(let.value.attrs):
            recursive = let.var if let.var in relay._free_vars(let.value) else None
            return Let(let.var, self._lift(let.value, recursive), self.visit(let.body), let.span)
        return super().visit_let(let)


def _lifted(mod):
    made, taken = {}, set(mod._names)
    for name in mod._names:
        fn = mod[name]
        if {"Primitive", "Compiler", "host"} & set(fn.attrs):
            continue
        lifter = _Lifter(name, taken)
        if "Closure" in fn.attrs:
            continue
        body = lifter.visit(fn.body)
        if lifter.made:
            made[name] = Function(fn.params, body, fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name)
            made.update(lifter.made)
    return mod._changed_to(made, "pass LambdaLift") if made else mod


def LambdaLift():  # noqa: N802 (TVM's name)
    """A pass that makes functions of the module of function literals."""
    from ..transform import ModulePass
    return ModulePass("LambdaLift", lambda mod, _: _lifted(mod), opt_level=1, needs_types=True)


# --- EtaExpand ---


class _Expander(ExprMutator):
    """Constructors that are values, and global functions, become function literals that call them."""

    def __init__(self, mod, constructors, global_vars):
        super().__init__()
        self._mod, self._constructors, self._globals = mod, constructors, global_vars

    def visit_call(self, call):
        args = [self.visit(a) for a in call.args]
        op = call.op if isinstance(call.op, Constructor) else self.visit(call.op)
        if op is call.op and all(a is b for a, b in zip(args, call.args)):
            return call
        return Call(op, args, call.attrs if isinstance(op, relay.Op) else None, span=call.span)

    def visit_constructor(self, expr):
        if not self._constructors or not expr.inputs:
            return expr
        data = self._mod.type_definitions[str(expr.belong_to)]
        params = [Var(f"eta_expand_param_{i}", kind) for i, kind in enumerate(expr.inputs)]
        kind = relay.TypeCall(expr.belong_to, data.type_vars)
        return Function(params, Call(expr, params), kind, data.type_vars)

    def visit_global_var(self, expr):
        if not self._globals or expr.name_hint not in self._mod._names:
            return expr
        fn = self._mod[expr.name_hint]
        params = [Var(p.name_hint, p.checked_type) for p in fn.params]
        return Function(params, Call(expr, params), fn.ret_type, fn.type_params)


def EtaExpand(expand_constructor=False, expand_global_var=False):  # noqa: N802 (TVM's name)
    """A pass that makes function literals of constructors that are not called but passed on, and of global functions."""
    from ._make import expression_pass
    from ..transform import ModulePass
    if not (expand_constructor or expand_global_var):
        raise ValueError("EtaExpand: expected expand_constructor, expand_global_var or both, found neither")

    def run(mod, _):
        def change(fn):
            return _Expander(mod, expand_constructor, expand_global_var).visit(fn)
        return expression_pass("EtaExpand", change).transform_module(mod, None)
    return ModulePass("EtaExpand", run, opt_level=1, needs_types=True)

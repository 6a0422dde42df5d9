"""PartialEvaluate: a program with what is known of its values computed, its calls of known functions and reads of known references gone.

Each value is a `_Value`: what is known of it, and an atom that has it when the program runs (made where one is needed). Programs are in
A-normal form, and stay so. What may have effects that are not known forgets what references hold. A function that calls itself is followed
while a known number, or the size of a known value of an ADT, gets smaller. (An online partial evaluator; Jones, Gomard and Sestoft 1993.)
"""

from .. import relay
from ..recursion import deep
from ..relay import (Call, Clause, Constant, Constructor, Function, GlobalVar, If, Let, Match, Op, RefCreate, RefRead, RefWrite, Tuple,
                     TupleGetItem, Var)
from .blocks import is_opaque, pattern_vars, pattern_with, same_call
from .copies import WithoutTypeVars
from .fold_constant import _STAY, evaluated
from .normal_forms import ToANormalFormExpr

__all__ = ["PartialEvaluate"]


class _Lets:
    """The lets of a block of the new program; `parent` is the block around it."""

    def __init__(self, parent=None):
        self.parent, self._lets = parent, []

    def add(self, value, var=None):
        var = var or Var("x")
        self._lets.append((var, value))
        return var

    def close(self, result):
        for var, value in reversed(self._lets):
            result = Let(var, value, result)
        return result

    def is_in(self, other):
        """Whether it is the other block, or inside of it."""
        block = self
        while block is not None:
            if block is other:
                return True
            block = block.parent
        return False


class _Value:
    """What is known: kind "constant", "tuple", "adt", "function", "reference", or "" of what is not; and atoms, each with the block that
    it stands in."""

    __slots__ = ("kind", "of", "parts", "atoms")

    def __init__(self, kind="", of=None, parts=(), atom=None):
        self.kind, self.of, self.parts = kind, of, parts
        self.atoms = [(None, atom)] if atom is not None else []


class _Closure:
    """A function and the values of the variables that it reads."""

    __slots__ = ("fn", "env")

    def __init__(self, fn, env):
        self.fn, self.env = fn, env


def _size(value, depth=0):
    """A number that gets smaller as a recursion gets on; None where there is none."""
    if value.kind == "constant" and not value.of.checked_type.shape and value.of.checked_type.dtype.startswith(("int", "uint")):
        return abs(int(value.of.data))
    if value.kind in ("adt", "tuple"):
        sizes = [_size(p, depth + 1) for p in value.parts] if depth < 10_000 else []
        return sum(s for s in sizes if s is not None) + 1
    return None


class _Evaluator:
    def __init__(self, mod):
        self._mod = mod
        self._store = {}  # what references hold that is known
        self._active = {}  # of functions that are being followed, the least sizes of their arguments
        self._globals, self._bodies = {}, {}

    # --- Atoms ---

    def atom(self, value, lets):
        """A variable, or a constant, with the value, in a block."""
        if value.kind == "constant":
            return value.of
        for block, atom in value.atoms:
            if block is None or lets.is_in(block):
                return atom
        if value.kind == "tuple":
            made = lets.add(Tuple([self.atom(p, lets) for p in value.parts]))
        elif value.kind == "adt":
            made = lets.add(Call(value.of, [self.atom(p, lets) for p in value.parts]))
        elif value.kind == "function":
            made = Var("f")
            value.atoms.append((lets, made))
            lets.add(self.residue(value.of), made)
            return made
        else:
            raise AssertionError(f"a value without an atom: {value.kind}")
        value.atoms.append((lets, made))
        return made

    def residue(self, closure):
        """The function for arguments that are not known."""
        fn = closure.fn
        lets, env = _Lets(self._lets_now), dict(closure.env)
        new = {}
        for p in fn.params:
            new[p] = Var(p.name_hint, p.type_annotation)
            env[p] = _Value(atom=new[p])
        outer, self._store = self._store, {}
        result = self._inside(fn, [None] * len(fn.params), lambda: self.atom(self.block(self._body(fn), env, lets), lets), lets)
        self._store = outer
        return Function([new[p] for p in fn.params], lets.close(result), fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name)

    _lets_now = None

    def _inside(self, fn, sizes, run, lets):
        before, block = self._active.get(fn), self._lets_now
        self._active[fn], self._lets_now = sizes, lets
        try:
            return run()
        finally:
            self._lets_now = block
            if before is None:
                del self._active[fn]
            else:
                self._active[fn] = before

    def _body(self, fn, is_followed=False):
        """In A-normal form. is_followed: without the function's type parameters, which stand for others where it is called."""
        key = fn, is_followed and bool(fn.type_params)
        if key not in self._bodies:
            body = ToANormalFormExpr(fn.body)
            self._bodies[key] = WithoutTypeVars(fn.type_params).visit(body) if key[1] else body
        return self._bodies[key]

    # --- Evaluation ---

    def block(self, expr, env, lets):
        """The value of lets and a result."""
        while isinstance(expr, Let):
            if isinstance(expr.value, Function) and not is_opaque(expr.value):
                closure = _Closure(expr.value, env)
                env[expr.var] = _Value("function", closure)
            else:
                env[expr.var] = self.value(expr.value, env, lets)
            expr = expr.body
        return self.value(expr, env, lets)

    def value(self, e, env, lets):
        """The value of an expression whose parts are atoms."""
        outer, self._lets_now = self._lets_now, lets
        try:
            return self._value(e, env, lets)
        finally:
            self._lets_now = outer

    def _value(self, e, env, lets):
        if isinstance(e, Var):
            return env[e] if e in env else _Value(atom=e)
        if isinstance(e, Constant):
            return _Value("constant", e)
        if isinstance(e, GlobalVar):
            return self._global(e)
        if isinstance(e, Function):
            return _Value(atom=lets.add(e)) if is_opaque(e) else _Value("function", _Closure(e, env))
        if isinstance(e, (Constructor, Op)):
            return _Value("callee", e, atom=e)
        if isinstance(e, Tuple):
            return _Value("tuple", parts=[self._value(f, env, lets) for f in e.fields])
        if isinstance(e, TupleGetItem):
            value = self._value(e.tuple_value, env, lets)
            return value.parts[e.index] if value.kind == "tuple" else self._unknown(TupleGetItem(self.atom(value, lets), e.index, e.span), lets)
        if isinstance(e, RefCreate):
            held = self._value(e.value, env, lets)
            made = _Value("reference", object(), atom=lets.add(RefCreate(self.atom(held, lets), e.span)))
            self._store[made.of] = held
            return made
        if isinstance(e, RefRead):
            return self._read(self._value(e.ref, env, lets), lets)
        if isinstance(e, RefWrite):
            return self._write(self._value(e.ref, env, lets), self._value(e.value, env, lets), lets)
        if isinstance(e, If):
            return self._if(e, env, lets)
        if isinstance(e, Match):
            return self._match(e, env, lets)
        if isinstance(e, Call):
            return self._call(e, env, lets)
        if isinstance(e, Let):
            return self.block(e, env, lets)
        raise TypeError(f"PartialEvaluate: not of a {type(e).__name__}")

    @staticmethod
    def _unknown(expr, lets):
        return _Value(atom=lets.add(expr))

    def _forget(self):
        self._store = {}

    def _global(self, var):
        name = var.name_hint
        if name not in self._globals:
            fn = self._mod[name] if self._mod is not None and name in self._mod._names else None
            is_known = fn is not None and not {"Primitive", "Compiler", "host"} & set(fn.attrs)
            self._globals[name] = _Value("function", _Closure(fn, {}), atom=var) if is_known else _Value(atom=var)
        return self._globals[name]

    def _read(self, ref, lets):
        if ref.kind == "reference" and ref.of in self._store:
            return self._store[ref.of]
        value = self._unknown(RefRead(self.atom(ref, lets)), lets)
        if ref.kind == "reference":
            self._store[ref.of] = value
        return value

    def _write(self, ref, value, lets):
        lets.add(RefWrite(self.atom(ref, lets), self.atom(value, lets)))
        if ref.kind == "reference":
            self._store[ref.of] = value
        else:
            self._forget()
        return _Value("tuple")

    # --- Branches ---

    def _branches(self, blocks, lets):
        """Residues of blocks of which one is run: functions that are given a block of lets and give a value."""
        before, results, changed = self._store, [], False
        for run in blocks:
            self._store = dict(before)
            inner = _Lets(lets)
            results.append(inner.close(self.atom(run(inner), inner)))
            changed = changed or any(self._store.get(ref) is not held for ref, held in before.items())
        self._store = {} if changed else before
        return results

    def _if(self, e, env, lets):
        cond = self._value(e.cond, env, lets)
        if cond.kind == "constant":
            return self.block(e.true_branch if cond.of.data.any() else e.false_branch, env, lets)
        yes, no = self._branches([lambda inner, b=b: self.block(b, dict(env), inner) for b in (e.true_branch, e.false_branch)], lets)
        return self._unknown(If(self.atom(cond, lets), yes, no, e.span), lets)

    def _match(self, e, env, lets):
        data = self._value(e.data, env, lets)
        for clause in e.clauses:
            found = {}
            fits = self._fits(clause.lhs, data, found)
            if fits is None:
                break  # only the program knows
            if fits:
                return self.block(clause.rhs, {**env, **found}, lets)
        atom = self.atom(data, lets)
        patterns, runs = [], []
        for clause in e.clauses:
            new = {v: Var(v.name_hint, v.type_annotation) for v in pattern_vars(clause.lhs)}
            patterns.append(pattern_with(clause.lhs, new.__getitem__))
            known = {v: _Value(atom=n) for v, n in new.items()}
            runs.append(lambda inner, clause=clause, known=known: self.block(clause.rhs, {**env, **known}, inner))
        clauses = [Clause(p, body) for p, body in zip(patterns, self._branches(runs, lets))]
        return self._unknown(Match(atom, clauses, e.complete, e.span), lets)

    def _fits(self, pattern, value, found):
        """Whether a pattern takes a value; None where that is not known."""
        if isinstance(pattern, relay.PatternWildcard):
            return True
        if isinstance(pattern, relay.PatternVar):
            found[pattern.var] = value
            return True
        if isinstance(pattern, relay.PatternTuple):
            if value.kind != "tuple":
                return None
        elif isinstance(pattern, relay.PatternConstructor):
            if value.kind != "adt":
                return None
            if (str(value.of.belong_to), value.of.name_hint) != (str(pattern.constructor.belong_to), pattern.constructor.name_hint):
                return False
        fits = [self._fits(p, v, found) for p, v in zip(pattern.patterns, value.parts)]
        return False if False in fits else None if None in fits else True

    # --- Calls ---

    def _call(self, e, env, lets):
        args = [self._value(a, env, lets) for a in e.args]
        if isinstance(e.op, Op):
            return self._operator(e, args, lets)
        callee = e.op if isinstance(e.op, Constructor) else self._value(e.op, env, lets)
        if isinstance(callee, Constructor):
            return _Value("adt", callee, args)
        if callee.kind == "callee":
            return self._operator(Call(callee.of, e.args), args, lets) if isinstance(callee.of, Op) else _Value("adt", callee.of, args)
        if callee.kind == "function":
            sizes = self._progress(callee.of.fn, args)
            if sizes is not None:
                closure = callee.of
                inner = {**closure.env, **dict(zip(closure.fn.params, args))}
                return self._inside(closure.fn, sizes, lambda: self.block(self._body(closure.fn, True), inner, lets), lets)
        made = self._unknown(Call(self.atom(callee, lets), [self.atom(a, lets) for a in args], span=e.span), lets)
        self._forget()
        return made

    def _progress(self, fn, args):
        """The least sizes of the arguments so far, where a function is to be followed."""
        sizes, before = [_size(a) for a in args], self._active.get(fn)
        if before is None:
            return sizes
        if not any(s is not None and b is not None and s < b for s, b in zip(sizes, before)):
            return None
        return [s if b is None else b if s is None else min(s, b) for s, b in zip(sizes, before)]

    def _operator(self, call, args, lets):
        stays = call.op.name in _STAY or call.op.name.startswith(("random.", "memory.", "vm."))
        if args and not stays and all(map(self._is_constant, args)):
            return self._of_constant(evaluated([same_call(call, call.op, [self._constant(a) for a in args])])[0])
        return self._unknown(same_call(call, call.op, [self.atom(a, lets) for a in args]), lets)

    def _is_constant(self, value):
        return value.kind == "constant" or value.kind == "tuple" and all(map(self._is_constant, value.parts))

    def _constant(self, value):
        return value.of if value.kind == "constant" else Tuple([self._constant(p) for p in value.parts])

    def _of_constant(self, e):
        return _Value("constant", e) if isinstance(e, Constant) else _Value("tuple", parts=[self._of_constant(f) for f in e.fields])


def _evaluated(mod):
    made = {}
    for name in mod._names:
        fn = mod[name]
        if not {"Primitive", "Compiler", "host"} & set(fn.attrs):
            made[name] = deep(20_000, _Evaluator(mod).residue, _Closure(fn, {}))
    return mod._changed_to(made, "pass PartialEvaluate", False)


def PartialEvaluate():  # noqa: N802 (TVM's name)
    """A pass that computes what is known, calls functions that are known, and reads references whose contents are known; what nothing needs
    then, DeadCodeElimination takes away."""
    from ..transform import ModulePass
    return ModulePass("PartialEvaluate", lambda mod, _: _evaluated(mod), opt_level=1, needs_types=False)

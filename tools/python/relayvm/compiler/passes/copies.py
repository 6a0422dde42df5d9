"""Expressions with others in place of their variables, and with new variables of their own."""
from ..analysis import all_type_vars
from ..relay import Clause, ExprMutator, Function, Let, Match, Var
from .blocks import pattern_vars, pattern_with

__all__ = []


class Copy(ExprMutator):
    """A copy: variables that it binds are new ones, others are what `binds` says."""

    def __init__(self, binds=None):
        super().__init__()
        self.binds = dict(binds or {})

    def fresh(self, var):
        """A new variable for one that is bound."""
        self.binds[var] = Var(var.name_hint, var.type_annotation, var.span)
        return self.binds[var]

    def visit_var(self, expr):
        return self.binds.get(expr, expr)

    def visit_let(self, let):
        lets = []
        while isinstance(let, Let):
            new = self.fresh(let.var)
            lets.append((new, self.visit(let.value), let.span))
            let = let.body
        result = self.visit(let)
        for new, value, span in reversed(lets):
            result = Let(new, value, result, span)
        return result

    def visit_function(self, fn):
        params = [self.fresh(p) for p in fn.params]
        return Function(params, self.visit(fn.body), fn.ret_type, fn.type_params, fn.attrs, fn.span, name=fn.name)

    def visit_match(self, expr):
        data, clauses = self.visit(expr.data), []
        for clause in expr.clauses:
            for var in pattern_vars(clause.lhs):
                self.fresh(var)
            clauses.append(Clause(pattern_with(clause.lhs, lambda v: self.binds[v]), self.visit(clause.rhs)))
        return Match(data, clauses, expr.complete, expr.span)


class WithoutTypeVars(Copy):
    """Leaves out types that mention type variables: they are inferred."""

    def __init__(self, type_vars):
        super().__init__()
        self._type_vars = set(type_vars)

    def _open(self, kind):
        return kind is None or bool(self._type_vars & set(all_type_vars(kind)))

    def fresh(self, var):
        self.binds[var] = Var(var.name_hint, None if self._open(var.type_annotation) else var.type_annotation, var.span)
        return self.binds[var]

    def visit_function(self, fn):
        new = super().visit_function(fn)
        if fn.ret_type is None or not self._open(fn.ret_type):
            return new
        return Function(new.params, new.body, None, fn.type_params, fn.attrs, fn.span, name=fn.name)


def applied(fn, args):
    """The body of a function with arguments in place of its parameters; variables inside are new."""
    return Copy(dict(zip(fn.params, args))).visit(fn.body)


class LongLets(ExprMutator):
    """An ExprMutator whose lets in a row take no recursion. Override `bind(let, value)`: what the let becomes, None where it goes."""

    def visit_let(self, let):
        lets, first = [], let
        while isinstance(let, Let):
            value = self.visit(let.value)
            lets.append((let, value))
            let = let.body
        result = self.visit(let)
        for old, value in reversed(lets):
            same = value is old.value and result is old.body
            result = old if same else Let(old.var, value, result, old.span)
        return result if result is not first else first

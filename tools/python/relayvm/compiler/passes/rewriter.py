"""How passes rewrite calls from their operands on, where a result may stay in another form until somebody wants the original one."""
from .. import relay


class Pending(relay.Expr):
    """A value in another form than the program's; realised() gives it in that one."""

    __slots__ = ()

    def realised(self):
        """The expression that this stands for."""
        raise NotImplementedError


class _Realizer(relay.ExprMutator):
    def visit(self, expr):
        if isinstance(expr, Pending) and expr not in self.memo_map:
            self.memo_map[expr] = expr.realised()
        return super().visit(expr)


class ForwardRewriter(relay.ExprMutator):
    """Rewrites a program by rewrite(call, args), which gets a call of an operator as written and its new operands, `Pending` ones among them
    and in tuples. It gives the new value; None for the call as it is, of realised operands. Fields of tuples that stand there are taken.

    when_shared: of an operand that several use, instead of the operand.
    """

    def __init__(self, rewrite, when_shared=None, uses=None):
        super().__init__()
        self._rewrite, self._when_shared, self._uses = rewrite, when_shared, uses
        self._realizer = _Realizer()

    def run(self, function):
        """The function, rewritten; what is pending at the end is made."""
        return self._realizer.visit(self.visit(function))

    def _operand(self, expr):
        new = self.visit(expr)
        return self._when_shared(new) if self._when_shared and self._uses[expr] > 1 else new

    def visit_call(self, call):
        op = self._realizer.visit(self.visit(call.op))
        args = [self._operand(a) for a in call.args]
        if isinstance(op, relay.Op):
            result = self._rewrite(call, args)
            if result is not None:
                return result
        args = [self._realizer.visit(a) for a in args]
        if op is call.op and all(new is old for new, old in zip(args, call.args)):
            return call
        return relay.Call(op, args, call.attrs if isinstance(op, relay.Op) else None, span=call.span)

    def visit_tuple(self, expr):
        fields = [self._operand(f) for f in expr.fields]
        return expr if all(new is old for new, old in zip(fields, expr.fields)) else relay.Tuple(fields, expr.span)

    def visit_tuple_getitem(self, expr):
        value = self._operand(expr.tuple_value)
        if isinstance(value, relay.Tuple):
            return value.fields[expr.index]
        return expr if value is expr.tuple_value else relay.TupleGetItem(value, expr.index, expr.span)


class PostOrderRewriter(relay.ExprMutator):
    """Rewrites a program by rewrite(call, new): a call as written and the same one of new operands; what it gives takes its place."""

    def __init__(self, rewrite):
        super().__init__()
        self._rewrite = rewrite

    def visit_call(self, call):
        return self._rewrite(call, super().visit_call(call))


def uses_of(function):
    """How often each node is used."""
    uses = {}

    def count(node):
        for child in node._children():
            uses[child] = uses.get(child, 0) + 1
    relay.post_order_visit(function, count)
    uses[function] = uses.get(function, 0) + 1
    return uses


def function_pass(name, change, opt_level=0, required=()):
    """A pass object of change(function), which requires InferType and `required`."""
    from ..transform import function_pass as make
    return make(lambda function, mod, context: change(function), opt_level=opt_level, name=name, required=["InferType", *required])


def is_call(expr, *names):
    """Whether it is a call of one of some operators."""
    return isinstance(expr, relay.Call) and isinstance(expr.op, relay.Op) and expr.op.name in names

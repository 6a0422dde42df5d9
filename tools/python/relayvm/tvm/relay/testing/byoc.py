"""Marks of regions for tests."""
from ....compiler.relay import Call, ExprMutator, Op, Var
from ..op.annotation import compiler_begin, compiler_end


class CcompilerAnnotator(ExprMutator):
    """Marks chains add, subtract, multiply of one function for the engine ccompiler: the first multiply from the end begins each."""

    def __init__(self):
        super().__init__()
        self.in_compiler = 0

    def visit_call(self, call):
        name = call.op.name if isinstance(call.op, Op) else ""
        if name == "add" and self.in_compiler == 1:  # the begin of a region
            self.in_compiler = 2
            return self._with(call, lambda arg: compiler_begin(self.visit(arg), "ccompiler"))
        if name == "subtract" and self.in_compiler == 1:
            return self._with(call, self._begun)
        if name == "multiply":
            self.in_compiler = 1
            made = self._with(call, self._begun)
            made = compiler_end(made, "ccompiler") if self.in_compiler == 2 else made
            self.in_compiler = 0
            return made
        return super().visit_call(call)

    def _with(self, call, change):
        return Call(call.op, [change(arg) for arg in call.args], call.attrs)

    def _begun(self, arg):
        new = self.visit(arg)
        return compiler_begin(new, "ccompiler") if isinstance(new, Var) else new


class WholeGraphAnnotator(ExprMutator):
    """Marks all of a function for an engine."""

    def __init__(self, compiler):
        super().__init__()
        self.compiler, self._is_last = compiler, True

    def visit_call(self, call):
        is_last, self._is_last = self._is_last, False
        args = []
        for arg in call.args:
            new = self.visit(arg)
            args.append(compiler_begin(new, self.compiler) if isinstance(new, Var) else new)
        made = Call(call.op, args, call.attrs)
        return compiler_end(made, self.compiler) if is_last else made


__all__ = ["CcompilerAnnotator", "WholeGraphAnnotator"]

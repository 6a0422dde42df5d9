"""Weights of imported models as parameters."""
from ....compiler import relay
from ...ir.container import Map
from ...ir.module import IRModule
from ...nd import array


class _Lifter(relay.ExprMutator):
    def __init__(self):
        super().__init__()
        self.variables = {}

    def visit_constant(self, constant):
        if not constant.name or constant.data.ndim == 0:
            return constant
        if constant.name not in self.variables:
            self.variables[constant.name] = (relay.var(constant.name, constant.checked_type), constant)
        variable, known = self.variables[constant.name]
        return variable if known is constant else constant


def lifted(mod):
    """(the module, whose main takes its named constants; these by name)"""
    lifter, main = _Lifter(), mod["main"]
    body = lifter.visit(main.body)
    params = [variable for variable, _ in lifter.variables.values()]
    made = IRModule(mod._native)
    made["main"] = relay.Function([*main.params, *params], body, main.ret_type, main.type_params, main.attrs)
    return made, Map((name, array(constant.data)) for name, (_, constant) in lifter.variables.items())

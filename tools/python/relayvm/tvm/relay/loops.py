"""tvm.relay.loops: loops as functions that call themselves."""
from ...compiler.relay import Call, Function, If, Let, Tuple, Var, var


def while_loop(cond, loop_vars, loop_bodies):
    """A function of the loop's variables that gives them when cond(*variables) does not hold any more. loop_vars: variables, or names and
    types. loop_bodies(*variables): the next ones."""
    sb_loop = var("while_loop")
    params = [v if isinstance(v, Var) else var(*v) for v in loop_vars]
    body = If(cond(*params), Call(sb_loop, list(loop_bodies(*params))), Tuple(list(params)))
    names = [var(v.name_hint, v.type_annotation) for v in params]
    return Function(names, Let(sb_loop, Function(params, body), Call(sb_loop, list(names))))


__all__ = ["while_loop"]

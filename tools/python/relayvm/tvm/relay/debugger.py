"""Functions of Python that programs call with values on the way, where the executor "debug" runs them: relay.op.debug."""
from ...compiler import create_executor
from ...compiler import relay as _relay
from ..nd import NDArray
from ..values import wrapped

_PREFIX = "debug."
_FUNCTIONS = {}  # by the variable that has the value


def debug(expr, debug_func=None):
    """The expression; the executor "debug" calls debug_func(value) when it is computed. Without one, Python's debugger begins there."""
    variable = _relay.var(f"{_PREFIX}{len(_FUNCTIONS)}")
    _FUNCTIONS[variable.name_hint] = debug_func or _stop
    return _relay.Let(variable, expr, variable)


def _stop(value):
    print(value)
    breakpoint()


def _call(event):
    function = _FUNCTIONS.get(event.name.lstrip("%"))
    if function is not None:
        value = wrapped(event.value)
        function(value if isinstance(value, NDArray) or not isinstance(value, tuple) else list(value))


def is_in(program):
    """Whether an expression or a module has calls of `debug`."""
    found = []
    if _FUNCTIONS:
        _relay.post_order_visit(program, lambda e: found.append(e) if isinstance(e, _relay.Var) and e.name_hint in _FUNCTIONS else None)
    return bool(found)


def evaluate(executor, expr, binds):
    """What executor.evaluate gives for the kind "debug"."""
    result = create_executor("debug", executor.mod, executor._params, executor.target, on_value=_call).evaluate(expr, binds)
    return executor._wrapped(result, expr)

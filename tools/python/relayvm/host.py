"""Functions of the host: what a program declares without a body, and Python provides."""
from .keywords import spelt


class HostFunction:
    """A Python function that programs call by name. Made by `host_function`."""

    def __init__(self, function, name, type):
        self.function, self.name, self.type = function, name, type
        self.__doc__ = function.__doc__

    def __call__(self, *args):
        return self.function(*args)

    def __repr__(self):
        return f"<host function {self.name}{': ' + self.type if self.type else ''}>"


@spelt
def host_function(function=None, *, name=None, type=""):
    """Makes a function known to programs that declare one of its name.

        @rvm.host_function
        def lookup(key): return table[int(key)]

        model = rvm.load("model.vmx", host_functions=[lookup])

    It takes what the program gives (arrays, tuples, `Adt`) and returns a value of the declared type.
    `async def` is fine: the run waits, and other runs go on. `type`: as Relay writes it, "fn (int64) ->
    Tensor[(?, 4), float32]", checked when a program is loaded; empty: as the program says.
    An exception ends the run and reaches its caller.
    """
    if function is None:
        return lambda f: host_function(f, name=name, type=type)
    return HostFunction(function, name or function.__name__, type)


def _by_name(functions):
    named = {}
    for f in functions:
        f = f if isinstance(f, HostFunction) else host_function(f)
        named[f.name] = f
    return named


def _call(function, pending):
    """On the thread that runs the program."""
    result = function(*pending.args())
    if hasattr(result, "__await__"):
        import asyncio  # slow to import, and few need it
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            result.close()
            raise RuntimeError(f"{function.name} is asynchronous: use run_async inside of an event loop")
        result = asyncio.run(_await(result))
    pending.finish(result)


async def _await(awaitable):
    return await awaitable


async def _call_async(function, pending, on_error):
    """In an event loop. Functions that are not asynchronous run on its executor's threads."""
    import asyncio
    try:
        if asyncio.iscoroutinefunction(function.function):
            result = await function(*pending.args())
        else:
            result = await asyncio.get_running_loop().run_in_executor(None, lambda: function(*pending.args()))
            if hasattr(result, "__await__"):
                result = await result
        pending.finish(result)
    except BaseException as error:  # noqa: B036: whatever it is ends the run
        on_error(error)
        pending.fail(f"{function.name}: {type(error).__name__}: {error}")

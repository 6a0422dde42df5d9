from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from .. import Executable

class Graph:
    name: str
    operators: int
    compiled: bool
    reason: str
    inputs: tuple[str, ...]
    frozen: int
    calls: int
    compilations: int

class Explanation:
    graphs: list[Graph]
    breaks: dict[str, int]
    result: Any
    @property
    def compiled(self) -> int: ...

class Backend:
    graphs: deque[Graph]
    def __init__(self, *, freeze: bool = True, fallback: bool = True, warn: bool = True, **options: Any) -> None: ...
    def __call__(self, graph_module: Any, example_inputs: Sequence[Any], *, options: dict[str, Any] | None = None, mode: str | None = None,
                 name: str | None = None) -> Callable[..., Any]: ...

backend: Backend

class CompiledModule:
    @property
    def executable(self) -> Executable: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def compile_module(module: Any, example_inputs: Any, dynamic_shapes: Any = None, **options: Any) -> CompiledModule: ...
def explain(model: Any, /, *args: Any, dynamic: bool | None = None, options: dict[str, Any] | None = None, **kwargs: Any) -> Explanation: ...
def register() -> None: ...

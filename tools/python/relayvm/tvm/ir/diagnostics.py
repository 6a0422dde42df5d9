"""tvm.ir.diagnostics: what is wrong with a program, as text. An error of ours has it: str(error) with the place and the source line."""
import enum

from ...compiler.objects import Object
from ..functions import get_global_func, register_func


class DiagnosticLevel(enum.IntEnum):
    """How much is wrong."""

    BUG, ERROR, WARNING, NOTE, HELP = 10, 20, 30, 40, 50


class DiagnosticRenderer(Object):
    """A function of a `DiagnosticContext` that shows it."""

    def __init__(self, render_func):
        self.render_func = render_func

    def render(self, ctx):
        """Shows it."""
        self.render_func(ctx)


class Diagnostic(Object):
    """A message (how much is wrong: `DiagnosticLevel`) and its place."""

    def __init__(self, level, span, message):
        self.level, self.span, self.message = level, span, message


class DiagnosticContext(Object):
    """The messages of a module."""

    def __init__(self, module, renderer=None):
        self.module, self.renderer, self.diagnostics = module, renderer or get_renderer(), []

    def emit(self, diagnostic):
        """Adds one."""
        self.diagnostics.append(diagnostic)

    def render(self):
        """Shows them, and raises DiagnosticError where there is an error among them."""
        from ..error import DiagnosticError
        self.renderer.render(self)
        wrong = [d.message for d in self.diagnostics if d.level <= DiagnosticLevel.ERROR]
        if wrong:
            raise DiagnosticError("; ".join(wrong))


def _print(ctx):
    for diagnostic in ctx.diagnostics:
        print(diagnostic.message)


_RENDERER = [DiagnosticRenderer(_print)]


def get_renderer():
    """The one that shows messages."""
    return _RENDERER[0]


def override_renderer(render_func):
    """Shows messages by a function from here on; None: prints them."""
    _RENDERER[0] = DiagnosticRenderer(render_func or _print)


__all__ = ["Diagnostic", "DiagnosticContext", "DiagnosticLevel", "DiagnosticRenderer", "get_global_func",
           "get_renderer", "override_renderer", "register_func"]

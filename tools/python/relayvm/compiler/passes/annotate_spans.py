"""AnnotateSpans: nodes know their places in the program's text."""
__all__ = ["AnnotateSpans"]


def AnnotateSpans():  # noqa: N802 (TVM's name)
    """A pass after which `span` of each node is its place in the program's text, as `astext` gives it."""
    from ..transform import PythonPass
    return PythonPass("AnnotateSpans", lambda mod, _: _annotated(mod))


def _annotated(mod):
    from .. import parse
    from ..typed import module_as_written
    if hasattr(mod, "_define_as"):
        return module_as_written(type(mod), mod.astext(), "GeneratedSource")
    return mod._like(parse(mod.astext(), name="GeneratedSource")._native)

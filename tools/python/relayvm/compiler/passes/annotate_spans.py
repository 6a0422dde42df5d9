"""AnnotateSpans: nodes know their places in the program's text."""
__all__ = ["AnnotateSpans"]


def AnnotateSpans():  # noqa: N802 (TVM's name)
    """A pass after which `span` of each node is its place in the program's text, as `astext` gives it."""
    from .. import parse
    from ..transform import PythonPass
    return PythonPass("AnnotateSpans", lambda mod, _: mod._like(parse(mod.astext(), name="GeneratedSource")._native))

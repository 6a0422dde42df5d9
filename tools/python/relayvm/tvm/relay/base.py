"""tvm.relay.base: text of nodes."""
from ...compiler.objects import Node as RelayNode
from ...compiler.objects import Object
from ...compiler.relay import Id, SequentialSpan, SourceName, Span
from ...compiler.text import text_of as _text_of


def pretty_print(obj):
    """Relay text for people."""
    return _text_of(obj, is_whole=False)


def astext(obj, show_meta_data=True, annotate=None):
    """Relay text, with the version and the metadata."""
    return _text_of(obj, show_meta_data, annotate)


__all__ = ["Id", "Object", "RelayNode", "SequentialSpan", "SourceName", "Span", "astext", "pretty_print"]

"""tvm.contrib.relay_viz.dot: pictures by Graphviz, which relayvm makes itself."""
from ...elsewhere import elsewhere
from .interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode

DotVizParser = DefaultVizParser
_INSTEAD = "relayvm.draw(mod) draws programs, notebooks show them, and TermPlotter prints them"
DotGraph, DotPlotter = (elsewhere(f"contrib.relay_viz.dot.{name}", _INSTEAD) for name in ("DotGraph", "DotPlotter"))

__all__ = ["DefaultVizParser", "DotGraph", "DotPlotter", "DotVizParser", "Plotter", "VizEdge", "VizGraph", "VizNode"]

"""tvm.contrib.relay_viz: programs as graphs for people.

    relay_viz.RelayVisualizer(mod, relay_param=params).render()
"""
from ....compiler import relay as _relay
from . import dot, interface, terminal
from .dot import DotPlotter, DotVizParser
from .interface import Plotter, VizGraph, VizParser
from .terminal import TermPlotter, TermVizParser


class RelayVisualizer:
    """Shows a module by a plotter: as text, unless another one is given. relay_param: weights by name. parser: what makes nodes of expressions."""

    def __init__(self, relay_mod, relay_param=None, plotter=None, parser=None):
        self._plotter = plotter if plotter is not None else TermPlotter()
        parser = parser if parser is not None else TermVizParser()
        names = sorted((var.name_hint for var in relay_mod.get_global_vars()), key=lambda name: name != "main")
        count = 0
        for name in names:
            graph, node_to_id = self._plotter.create_graph(name), {}
            _relay.post_order_visit(relay_mod[name], lambda node, ids=node_to_id, first=count: ids.setdefault(node, str(first + len(ids))))
            count += len(node_to_id)
            for node in node_to_id:
                made, edges = parser.get_node_edges(node, relay_param or {}, node_to_id)
                if made is not None:
                    graph.node(made)
                for edge in edges:
                    graph.edge(edge)

    def render(self, filename=None):
        """Shows it, or writes it to a file."""
        self._plotter.render(filename=filename)


__all__ = ["DotPlotter", "DotVizParser", "Plotter", "RelayVisualizer", "TermPlotter", "TermVizParser", "VizGraph", "VizParser", "dot", "interface",
           "terminal"]

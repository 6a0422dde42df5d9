"""tvm.contrib.relay_viz.terminal: programs as trees of text."""
from ....compiler import relay as _relay
from .interface import DefaultVizParser, Plotter, VizEdge, VizGraph, VizNode, VizParser


class TermVizParser(VizParser):
    """As `DefaultVizParser`; of calls the operator is a node of its own, and lets, ifs and functions of the module have nodes too."""

    def __init__(self):
        self._default = DefaultVizParser()

    def get_node_edges(self, node, relay_param, node_to_id):
        """(the node, edges from what it is made of)"""
        if isinstance(node, _relay.Call):
            title, detail = "Call", ""
        elif isinstance(node, _relay.Let):
            title, detail = "Let", "(var, val, body)"
        elif isinstance(node, _relay.If):
            title, detail = "If", "(cond, true, false)"
        elif isinstance(node, _relay.GlobalVar):
            title, detail = "GlobalVar", node.name_hint
        elif isinstance(node, _relay.Op):
            title, detail = node.name, ""
        elif isinstance(node, _relay.Function):
            title, detail = "Func", str(list(node.params))
        else:
            return self._default.get_node_edges(node, relay_param, node_to_id)
        own = node_to_id[node]
        parts = [node.body] if isinstance(node, _relay.Function) else node._children()
        return VizNode(own, title, detail), [VizEdge(node_to_id[part], own) for part in parts]


class TermNode:
    """A line: type, and other_info behind it."""

    def __init__(self, viz_node):
        self.type, self.other_info = viz_node.type_name, viz_node.detail.replace("\n", ", ")


class TermGraph(VizGraph):
    """A tree: each node, then what it is made of, further in."""

    def __init__(self, name):
        self._name, self._nodes, self._parts = name, {}, {}

    def node(self, viz_node):
        """Takes a node: the last one is the root."""
        self._nodes[viz_node.identity] = TermNode(viz_node)

    def edge(self, viz_edge):
        """Takes an edge."""
        self._parts.setdefault(viz_edge.end, []).append(viz_edge.start)

    def render(self):
        """The text."""
        root = next(reversed(self._nodes))
        lines, seen, stack = [f"@{self._name}({self._nodes[root].other_info})"], {("", root)}, []
        self._push(stack, "", root)
        while stack:
            indent, is_last, number = stack.pop()
            node = self._nodes[number]
            lines.append(f"{indent}{'`--' if is_last else '|--'}{node.type} {node.other_info}")
            further = indent + ("   " if is_last else "|  ")
            if (further, number) not in seen:
                seen.add((further, number))
                self._push(stack, further, number)
        return "\n".join(lines)

    def _push(self, stack, indent, number):
        parts = self._parts.get(number, [])
        stack.extend((indent, i == len(parts) - 1, part) for i, part in reversed(list(enumerate(parts))))


class TermPlotter(Plotter):
    """Prints trees, or writes them to a file."""

    def __init__(self):
        self._name_to_graph = {}

    def create_graph(self, name):
        """A new `TermGraph`."""
        self._name_to_graph[name] = TermGraph(name)
        return self._name_to_graph[name]

    def render(self, filename):
        """Prints them; writes them where a file is named."""
        text = "\n".join(graph.render() for graph in self._name_to_graph.values())
        if filename is None:
            print(text)
        else:
            with open(filename, "w") as file:
                file.write(text)


__all__ = ["DefaultVizParser", "Plotter", "TermGraph", "TermNode", "TermPlotter", "TermVizParser", "VizEdge", "VizGraph", "VizNode", "VizParser"]

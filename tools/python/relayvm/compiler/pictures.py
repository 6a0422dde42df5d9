"""Graphs as pictures: boxes in layers, those that others read above them, and the SVG of it. `program_graphs.py` makes graphs of programs.

A node is as large as its text, or as the graph inside of it, which is laid out before. Layers, the order in them and places are found as
in Sugiyama's method: the longest path, barycentres, then least squares in each layer (by merging blocks that would overlap).
"""
from ..pages import escaped, shortened

_CHAR, _LINE, _GAP_X, _GAP_Y, _PAD = 6.3, 14, 18, 30, 8
_TURNS = 6  # of improvement of order and of places
_LONGEST = 64  # characters of a line

# Classes of operators: fill and line.
COLOURS = {
    "product": ("#dbe9fb", "#3b73b9"), "elementwise": ("#e6f4e1", "#4d9140"), "activation": ("#fde6e3", "#c0504d"),
    "moving": ("#f1eafa", "#7d5fb2"), "reduction": ("#fff1d6", "#c08a1e"), "normalisation": ("#e0f3f3", "#2f8a8a"),
    "quantisation": ("#fbe4f0", "#b0477f"), "other": ("#eeeeee", "#777777"), "input": ("#ffffff", "#333333"),
    "output": ("#ffffff", "#333333"), "constant": ("#f6f6ee", "#8a8a66"), "outer": ("#ffffff", "#aaaaaa"), "control": ("#fafafa", "#444444"),
    "folded": ("#f7f3e8", "#8a6d3b"),
}


class Node:
    """A box. kind: one of COLOURS. lines: text below the title. inputs: [(Node, text beside the line)]. parts: [(title, Graph)] inside.
    tip: what a pointer over it shows."""

    __slots__ = ("title", "kind", "lines", "inputs", "parts", "tip", "width", "height", "layer", "x", "y", "drawn")

    def __init__(self, title, kind="other", lines=(), inputs=(), parts=(), tip=""):
        self.title, self.kind, self.lines, self.inputs, self.parts, self.tip = title, kind, list(lines), list(inputs), list(parts), tip


class Graph:
    """nodes: each after those that it reads."""

    __slots__ = ("nodes", "width", "height", "edges")

    def __init__(self, nodes):
        self.nodes = nodes


class _Bend:
    """Where a line crosses a layer."""

    __slots__ = ("width", "height", "layer", "x", "y")

    def __init__(self, layer):
        self.width, self.height, self.layer = 6, 0, layer


def _measure(node):
    lines = [node.title, *node.lines]
    width = max(len(shortened(line, _LONGEST)) for line in lines) * _CHAR + 2 * _PAD
    height = len(lines) * _LINE + _PAD
    node.drawn = []
    for title, graph in node.parts:
        lay_out(graph)
        node.drawn.append((shortened(title, _LONGEST), graph))
    if node.drawn:
        inside = sum(max(graph.width, len(title) * _CHAR) + _PAD for title, graph in node.drawn) + _PAD
        width = max(width, inside)
        height += max(graph.height for _, graph in node.drawn) + _LINE + 2 * _PAD
    node.width, node.height = width, height


def _set_layers(nodes):
    users = {}
    for node in nodes:
        node.layer = 1 + max((source.layer for source, _ in node.inputs), default=-1)
        for source, _ in node.inputs:
            users.setdefault(source, []).append(node)
    for node in nodes:  # inputs stand by those that read them
        if not node.inputs and node in users:
            node.layer = min(user.layer for user in users[node]) - 1


def _with_bends(nodes):
    """The layers, and the lines: [source, bends ..., user], text."""
    layers = [[] for _ in range(1 + max((node.layer for node in nodes), default=0))]
    for node in nodes:
        layers[node.layer].append(node)
    edges, bends_of = [], {}
    for node in nodes:
        for source, text in node.inputs:
            bends = bends_of.setdefault(source, [])  # lines from one node go together
            for layer in range(source.layer + 1 + len(bends), node.layer):
                bends.append(_Bend(layer))
                layers[layer].append(bends[-1])
            edges.append(([source, *bends[:node.layer - source.layer - 1], node], text))
    return layers, edges


def _neighbours(edges):
    above, below, seen = {}, {}, set()
    for path, _ in edges:
        for a, b in zip(path, path[1:]):
            if (id(a), id(b)) not in seen:
                seen.add((id(a), id(b)))
                below.setdefault(id(a), []).append(b)
                above.setdefault(id(b), []).append(a)
    return above, below


def _order(layers, above, below):
    for turn in range(_TURNS):
        downwards = turn % 2 == 0
        near, sequence = (above, layers[1:]) if downwards else (below, layers[-2::-1])
        rank = {id(item): i for layer in layers for i, item in enumerate(layer)}
        for layer in sequence:
            def barycentre(item):
                others = near.get(id(item))
                return sum(rank[id(o)] for o in others) / len(others) if others else rank[id(item)]
            layer.sort(key=barycentre)
            rank.update((id(item), i) for i, item in enumerate(layer))


def _place_layer(layer, wanted):
    """Sets x (of centres) as near to what is wanted as the order and the gaps allow."""
    offset, blocks = 0, []  # of a block: [its sum of wanted starts, items]
    offsets = []
    for item in layer:
        offset += item.width / 2
        offsets.append(offset)
        offset += item.width / 2 + _GAP_X
        blocks.append([wanted[id(item)] - offsets[-1], 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    starts = [total / count for total, count in blocks for _ in range(count)]
    for item, start, at in zip(layer, starts, offsets):
        item.x = start + at


def _place(layers, above, below):
    for layer in layers:
        _place_layer(layer, {id(item): 0 for item in layer})
    for turn in range(_TURNS):
        near, sequence = (above, layers) if turn % 2 == 0 else (below, layers[::-1])
        for layer in sequence:
            wanted = {}
            for item in layer:
                others = near.get(id(item))
                wanted[id(item)] = sum(o.x for o in others) / len(others) if others else item.x
            _place_layer(layer, wanted)


def lay_out(graph):
    """Sets places (x, y: of centres and tops) and sizes of nodes, and the graph's size."""
    for node in graph.nodes:
        _measure(node)
    _set_layers(graph.nodes)
    layers, graph.edges = _with_bends(graph.nodes)
    above, below = _neighbours(graph.edges)
    _order(layers, above, below)
    _place(layers, above, below)
    y = _PAD
    for layer in layers:
        tallest = max((item.height for item in layer), default=0)
        for item in layer:
            item.height = tallest if isinstance(item, _Bend) else item.height
            item.y = y + (tallest - item.height) / 2
        y += tallest + _GAP_Y
    items = [item for layer in layers for item in layer]
    left = min((item.x - item.width / 2 for item in items), default=0) - _PAD
    for item in items:
        item.x -= left
    graph.width = max((item.x + item.width / 2 for item in items), default=0) + _PAD
    graph.height = y - _GAP_Y + _PAD


def _text(x, y, text, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escaped(shortened(text, _LONGEST))}</text>'


def _line(path, text):
    drawn = f"M{path[0].x:.1f},{path[0].y + path[0].height:.1f}"
    for above, below in zip(path, path[1:]):
        start, end = above.y + above.height, below.y
        middle = (start + end) / 2
        drawn += f"C{above.x:.1f},{middle:.1f} {below.x:.1f},{middle:.1f} {below.x:.1f},{end:.1f}"
        if isinstance(below, _Bend):
            drawn += f"V{end + below.height:.1f}"
    label = _text(path[0].x * 0.3 + path[1].x * 0.7 + 4, path[1].y - 8, text, ' fill="#777"') if text else ""
    return f'<path d="{drawn}" fill="none" stroke="#888" marker-end="url(#rvm-arrow)"/>{label}'


def _box(node):
    fill, stroke = COLOURS[node.kind]
    left, top = node.x - node.width / 2, node.y
    radius = 10 if node.kind in ("input", "output", "outer") else 3
    dashes = ' stroke-dasharray="4 3"' if node.kind in ("outer", "folded") else ""
    out = [f'<g><title>{escaped(node.tip or node.title)}</title><rect x="{left:.1f}" y="{top:.1f}" width="{node.width:.1f}" '
           f'height="{node.height:.1f}" rx="{radius}" fill="{fill}" stroke="{stroke}"{dashes}/>']
    y = top + _LINE
    out.append(_text(node.x, y, node.title, ' text-anchor="middle" font-weight="bold"'))
    for line in node.lines:
        y += _LINE
        out.append(_text(node.x, y, line, ' text-anchor="middle" fill="#444"'))
    x, y = left + _PAD, y + _PAD
    for title, graph in node.drawn:
        width = max(graph.width, len(title) * _CHAR)
        out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{graph.height + _LINE:.1f}" fill="#fff" stroke="#ccc"/>')
        out.append(_text(x + 4, y + _LINE - 3, title, ' fill="#555" font-style="italic"'))
        out.append(f'<g transform="translate({x + (width - graph.width) / 2:.1f},{y + _LINE:.1f})">{_inside(graph)}</g>')
        x += width + _PAD
    out.append("</g>")
    return "".join(out)


def _inside(graph):
    return "".join([_line(path, text) for path, text in graph.edges] + [_box(node) for node in graph.nodes])


def svg_of(graph):
    """The picture of a graph."""
    lay_out(graph)
    width, height = max(graph.width, 20), max(graph.height, 20)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
            'style="background:#fff" font-family="DejaVu Sans Mono, Consolas, monospace" font-size="10.5" fill="#111">'
            '<defs><marker id="rvm-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            f'<path d="M0,0L8,4L0,8z" fill="#888"/></marker></defs>{_inside(graph)}</svg>')

"""What objects show of themselves in a notebook: HTML without scripts, and nothing of it from a network.

Names come from whoever wrote a program: all text goes through `escaped`. Tables and texts have bounds, and say what is left out.
"""
_ROWS = 200  # of a table
_CHARS = 20_000  # of a text
_LONGEST = 200  # of a cell

_STYLE = 'style="font-size:13px;max-width:100%;overflow-x:auto"'
_CELL = 'style="text-align:{};padding:1px 8px;white-space:nowrap"'


def escaped(text):
    """Text in HTML and SVG; characters that neither has a place for are shown as codes."""
    import html  # slow to import, and few need it
    shown = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in str(text))
    return html.escape(shown)


def shortened(text, most=_LONGEST):
    """A line of text that ends in ... where it is too long."""
    text = " ".join(str(text).split())
    return text if len(text) <= most else text[:most - 3] + "..."


class Bar:
    """A cell: a part of a whole, as a bar with the text."""

    def __init__(self, part, text):
        self.part, self.text = min(max(part, 0), 1), text

    def html(self):
        """What the cell has inside."""
        return (f'<div style="background:linear-gradient(90deg,#8fb8e8 {100 * self.part:.1f}%,transparent {100 * self.part:.1f}%);'
                f'min-width:60px">{escaped(self.text)}</div>')


def _cell(value, is_first):
    align = _CELL.format("left" if is_first or isinstance(value, str) else "right")
    if isinstance(value, Bar):
        return f"<td {align}>{value.html()}</td>"
    shown = f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)
    return f'<td {align} title="{escaped(shortened(shown, 2000))}">{escaped(shortened(shown))}</td>'


def table(columns, rows):
    """Rows of values; at most so many of them, and then a line that says how many there are."""
    rows = list(rows)
    head = "".join(f"<th {_CELL.format('left')}>{escaped(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(_cell(value, i == 0) for i, value in enumerate(row)) + "</tr>" for row in rows[:_ROWS])
    if len(rows) > _ROWS:
        body += f'<tr><td colspan="{len(columns)}">and {len(rows) - _ROWS:,} more</td></tr>'
    return f'<table style="font-size:inherit"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def details(summary, inside, is_open=False):
    """What folds away under its summary."""
    return f"<details{' open' if is_open else ''}><summary>{escaped(shortened(summary))}</summary>{inside}</details>"


def note(text):
    """A line beside the matter."""
    return f'<p style="color:#777;margin:2px 0">{escaped(text)}</p>'


def source(text):
    """Text as it is written, its beginning where it is long."""
    more = note(f"the first {_CHARS:,} of {len(text):,} characters") if len(text) > _CHARS else ""
    return f'<pre style="margin:2px 0">{escaped(text[:_CHARS])}</pre>{more}'


def page(title, *parts):
    """The whole of an object."""
    return f"<div {_STYLE}><b>{escaped(shortened(title))}</b>{''.join(part for part in parts if part)}</div>"


def arguments(inputs, outputs):
    """The table of a function's inputs and outputs, `Argument`s."""
    rows = [(kind, a.name, a.dtype or "", "" if a.shape is None else f"({', '.join('?' if d is None else str(d) for d in a.shape)})", a.relay_type)
            for kind, all_of in (("input", inputs), ("output", outputs)) for a in all_of]
    return table(("", "name", "dtype", "shape", "type"), rows)


def num_bytes(count):
    """1234567 as 1.2 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if unit != "B" else f"{count} B"
        count /= 1000

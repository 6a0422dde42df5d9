"""A Sphinx extension: the package's docstrings, which are plain text with `names`, as reStructuredText.

What is set in by four columns or more is code; the rest is paragraphs.
"""
import re

SPECIAL = re.compile(r"([\\*_|])")


def convert(line):
    """One line of prose: names in literals, nothing else with a meaning."""
    parts = re.split(r"(`[^`]+`)", line)
    # A literal ends before what is no letter; "\\ " is nothing.
    return "".join(f"\\ ``{p[1:-1].strip()}``\\ " if p.startswith("`") and len(p) > 1 else SPECIAL.sub(r"\\\1", p).replace("`", r"\`")
                   for p in parts)


def process(app, what, name, obj, options, lines):
    made, code = [], False
    for line in lines:
        if not line.strip():
            made.append("")
            continue
        if line.startswith("    "):
            if not code:
                made += ["", "::", ""]
            code = True
            made.append(line)
            continue
        if code:
            made.append("")
        code = False
        made.append(convert(line.lstrip()))
    lines[:] = made


def setup(app):
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}

"""The tools' options, as each says them with --help."""
import re

from . import cell, code, index, table

TOOLS = (
    ("relayc", "compiles a model to a `.vmx`, a graph, native code, or shows what it made"),
    ("vmrun", "runs a `.vmx`, a graph, or a model of a server"),
    ("relayrun", "compiles and runs in one go"),
    ("vmdump", "shows what a `.vmx` holds"),
    ("vmasm", "makes a `.vmx` of bytecode in text"),
    ("vmserve", "serves a folder of models"),
    ("vmbench", "measures a model on a server under load"),
)


def pages(build):
    rows = "".join(f"| [{name}]({name}.md) | {what} |\n" for name, what in TOOLS)
    yield "reference/tools.md", f"""# Command-line tools

| tool | what it does |
|---|---|
{rows}
`-` in place of a file is standard input or output. Options go before or behind files.

## Exit codes

All tools end with one of these.

| exit code | when |
|---|---|
| 0 | done |
| 1 | wrong usage: an option, an argument |
| 2 | a program, a file or a tensor is not right |
| 3 | the program failed while running |
| 4 | `--expect` did not match |

[Errors](errors.md) has an example of each kind of failure and its remedy.

```{{toctree}}
:hidden:
{chr(10).join(name for name, _ in TOOLS)}
```
"""
    for name, what in TOOLS:
        groups = read_help(build.run(f"{name} --help"))
        names = [option for _, rows in groups for head, _ in rows for option in re.findall(r"--[\w-]+", head)[:1]]
        text = (f"# {name}\n\n" + index(name, *(f"{name} {option}" for option in names), *names) + f"`{name}` {what}. Made of `{name} --help`; the "
                "exit codes are those of [all tools](tools.md#exit-codes).\n\n")
        for title, rows in groups:
            text += f"## {title}\n\n" + table(("option", "what it does"), [(code(head), cell(words)) for head, words in rows]) + "\n"
        yield f"reference/{name}.md", text


def read_help(text):
    """[(group, [(option with the form of its value, words)])] of what a tool prints: each group has a title, options are set in by two."""
    groups = []
    for line in text.splitlines():
        row = re.match(r"  (\S.*?)(?:  +(\S.*))?$", line)
        if re.match(r"\S.*:$", line):
            groups.append((line[:-1], []))
        elif re.match(r" {20,}\S", line) and groups and groups[-1][1]:
            head, words = groups[-1][1][-1]
            groups[-1][1][-1] = (head, f"{words} {line.strip()}".strip())
        elif row and groups:
            groups[-1][1].append((row.group(1), row.group(2) or ""))
    groups = [group for group in groups if group[1]]
    listed = re.findall(r"^  (?:-\w, ?)?(--[\w-]+)", text, re.M)
    found = " ".join(head for _, rows in groups for head, _ in rows)
    if not listed or any(option not in found for option in listed):
        raise RuntimeError(f"tools.py: not all options are in groups: {text}")
    return groups

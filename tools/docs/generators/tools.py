"""The tools' options, as each says them of itself: --help-json, which manual pages and completions are made of too."""
import json

from . import block, cell, code, index, table

TOOLS = (
    ("relayc", "compiles a model to a `.vmx`, a graph, native code, or shows what it made"),
    ("vmrun", "runs a `.vmx`, a graph, or a model of a server"),
    ("relayrun", "compiles and runs in one go"),
    ("vmdump", "shows what a `.vmx` holds"),
    ("vmasm", "makes a `.vmx` of bytecode in text"),
    ("vmserve", "serves a folder of models"),
    ("vmbench", "measures a model on a server under load"),
    ("relayvm", "looks at an installation: what to put into a report of a fault"),
)


def describe(name, what, said):
    """The page of a tool, of what it says with --help-json."""
    options = [option for group in said["groups"] for option in group["options"]]
    names = [name for option in options for name in option["names"] if name.startswith("--")]
    statuses, _, examples = said["footer"].partition("Examples:\n")
    text = f"# {name}\n\n" + index(name, *(f"{name} {option}" for option in names), *names)
    text += f"`{name}` {what}. {cell(said['description'])}\n\n"
    if examples:
        text += "For example:\n\n" + block("\n".join(line.strip() for line in examples.strip().splitlines())) + "\n"
    if said["operands"]:
        text += table(("operand", "what it is"), [(code(o["names"][0]), cell(o["help"])) for o in said["operands"]]) + "\n"
    for group in said["groups"]:
        rows = [(code(" ".join((", ".join(o["names"]), o["form"])).strip()), cell(o["help"] + (" (may be given several times)" if o["repeats"] else "")))
                for o in group["options"]]
        text += f"## {group['name']}\n\n" + table(("option", "what it does"), rows) + "\n"
    statuses = statuses.strip().removeprefix("Exit status: ")
    return text + f"## Exit codes of {name}\n\n{cell(statuses)} See [those of all tools](tools.md#exit-codes).\n"


def pages(build):
    rows = "".join(f"| [{name}]({name}.md) | {what} |\n" for name, what in TOOLS)
    yield "reference/tools.md", f"""# Command-line tools

| tool | what it does |
|---|---|
{rows}
`-` in place of a file is standard input or output. Options go before or behind files. `TOOL --help-json` says what stands here as JSON;
manual pages and completions for bash, zsh and fish are made of it too.

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
        yield f"reference/{name}.md", describe(name, what, json.loads(build.run(f"{name} --help-json")))

"""The JSON Schemas of tools/schemas: a page that lists their members, and the files themselves."""
import glob
import json
import os

from . import cell, code, index, table


def type_of(part):
    """How a schema's part is called in a table."""
    if "$ref" in part:
        return part["$ref"].rsplit("/", 1)[-1]
    if "enum" in part:
        return "one of " + ", ".join(map(str, part["enum"]))
    if part.get("type") == "array":
        return f"list of {type_of(part['items'])}" if part.get("items") else "list"
    if "oneOf" in part or "anyOf" in part:
        return " or ".join(dict.fromkeys(type_of(choice) for choice in part.get("oneOf") or part["anyOf"]))
    kind = part.get("type", "anything")
    text = " or ".join(kind) if isinstance(kind, list) else kind
    low, high = part.get("minimum"), part.get("maximum")
    return text + (f", {low} to {high}" if high is not None else f", {low} or more" if low else "")


def members(part, path=""):
    """Rows of a table: each member, and those inside of it."""
    for name, inner in part.get("properties", {}).items():
        needed = name in part.get("required", [])
        at = f"{path}{name}"
        yield code(at), cell(type_of(inner)), "yes" if needed else "no", cell(inner.get("description", ""))
        items = inner.get("items", {}) if inner.get("type") == "array" else inner
        yield from members(items, at + ("[]." if items is not inner else "."))


def pages(build):
    text = ("# JSON Schemas\n\n" + index("JSON schema", "config.json", "--json") + "What tools write for programs, and the `config.json` that vmserve reads, as JSON "
            "Schemas (draft 2020-12). The packages have them in `share/relayvm/schemas`. Members may be added to what tools write; none is taken away. The REST of a server is "
            "described by its own `/openapi.json`.\n\n")
    rows, sections = [], ""
    for path in sorted(glob.glob(os.path.join(build.tree, "tools/schemas/*.schema.json"))):
        file = os.path.basename(path)
        source = build.read(os.path.join("tools/schemas", file))
        schema, name = json.loads(source), file.removesuffix(".schema.json")
        rows.append((f"[{file}](schemas/{file})", cell(schema["title"])))
        sections += f"## {name}\n\n{cell(schema['title'])}. {cell(schema['description'])}\n\n"
        listed = list(members(schema))
        if listed:
            sections += table(("member", "type", "always there", "what"), listed) + "\n"
        for kind, part in schema.get("$defs", {}).items():
            inner = [row for choice in part.get("oneOf", [part]) for row in members(choice)]
            if inner:
                sections += f"A *{kind}*" + (" has the members of one of these forms" if "oneOf" in part else "") + f":\n\n{table(('member', 'type', 'always there', 'what'), inner)}\n"
        yield f"reference/schemas/{file}", source
    yield "reference/schemas.md", text + table(("schema", "of"), rows) + "\n" + sections

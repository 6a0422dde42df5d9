#!/usr/bin/python3
"""A screen holds a function, and a file is read at one sitting: 80 lines, 600 lines.

Tables are as long as they are: LONG says which functions and files those are, and why; a name there
that is short is an error too.

usage: check_sizes.py SOURCE_FOLDER
"""
import os
import re
import sys

from check_comments import sources

FUNCTION_LINES, FILE_LINES = 80, 600

LONG = {
    # Rows of a table.
    "compiler/pipeline.cc CompilerPasses",
    "kernels/op/custom_ops.cc Fill",
    "tools/python/src/compiler_module.cc PYBIND11_MODULE",
    "tools/python/src/runtime_module.cc PYBIND11_MODULE",
    # The loop of the virtual machine: an opcode's code stands where it is dispatched.
    "vm/run/interpreter.cc Interpreter::Loop",
}

SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
TEST = re.compile(r"_test\.cc$|_program\.c$")  # programs of tests are scripts
NEXT = re.compile(r"\s*(.?)", re.S)
NAME = re.compile(r"([~\w:]+|operator\S+)\s*\(")


def blank(match):
    """Comments and texts, as white space of as many lines; digit separators are no texts."""
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """(name, first line, lines) of each function that is defined at the top or in a class."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)
    text = re.sub(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, TOKEN.sub(blank, text))
    braces, parentheses, head, line = [], 0, "", 1
    name = begin = None  # of the function that we are in
    for at, c in enumerate(text):
        if not head.strip() and name is None:
            begin = line
        line += c == "\n"
        parentheses += (c == "(") - (c == ")")
        if c == "{":
            is_top, first = "code" not in braces, head.split("(")[0]
            is_scope = is_top and name is None and (SCOPE.search(first) or SCOPE.search(head.split(")")[-1]))
            if is_top and name is None and not is_scope and "(" in head and "=" not in first:
                found = NAME.search(head)
                name = found.group(1) if found else "?"
            braces.append("scope" if is_scope else "code")
        elif c == "}" and braces:
            braces.pop()
            # After braces of an initial value the function is to come.
            if name and "code" not in braces and NEXT.match(text, at + 1).group(1) not in (",", "{"):
                yield name, begin, line - begin + 1
                name = None
        head = "" if c in "{}" or (c == ";" and parentheses == 0) else head + c


def main():
    folder, wrong, found = sys.argv[1], [], set()

    def check(key, place, lines, limit, what):
        if lines <= limit:
            return
        found.add(key)
        if key not in LONG:
            wrong.append(f"{place}: {what} of {lines} lines, expected {limit} at most; tables stand in {sys.argv[0]}")

    for path in sources(folder):
        with open(os.path.join(folder, path), encoding="utf-8", errors="replace") as f:
            text = f.read()
        check(path, path, text.count("\n"), FILE_LINES, "a file")
        if not path.startswith("tests/") and not TEST.search(path):
            for name, line, lines in functions(text):
                check(f"{path} {name}", f"{path}:{line}", lines, FUNCTION_LINES, f"{name} is a function")
    wrong += [f"{sys.argv[0]}: {key} is short, or is not there: its line can go" for key in sorted(LONG - found)]
    print("\n".join(wrong) if wrong else "sizes: nothing is too long")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""What makes the pages of the reference: each module has pages(build), which gives paths and texts of Markdown."""
import os
import subprocess

PYTHON = "/usr/bin/python3"  # Debian's, which the package is built for


class Build:
    """A source tree and its build: `tree`, `folder`, and what the tools there say."""

    def __init__(self, tree, folder):
        self.tree, self.folder = tree, folder
        self.bin = os.path.join(folder, "bin")
        self.examples = os.path.join(tree, "tools/examples")
        package = os.path.join(folder, "python")
        self.package = package if os.path.isdir(package) else None

    def read(self, path):
        with open(os.path.join(self.tree, path)) as f:
            return f.read()

    def run(self, command, cwd=None, check=True):
        """Standard output of a command of the shell, or (exit status, both outputs)."""
        environment = dict(os.environ, PATH=self.bin + os.pathsep + os.environ["PATH"], COLUMNS="100", RELAYVM_CACHE="off",
                           PYTHONPATH=self.package or "")
        p = subprocess.run(["bash", "-c", command], cwd=cwd, env=environment, text=True, timeout=300, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE if check else subprocess.STDOUT)
        if not check:
            return p.returncode, p.stdout
        if p.returncode != 0:
            raise RuntimeError(f"{command}\nexit {p.returncode}: {p.stdout}{p.stderr}")
        return p.stdout


def block(text, language="text"):
    return f"```{language}\n{text.rstrip()}\n```\n"


def cell(text):
    """Text in a table of Markdown, all of it as it is."""
    for character in "\\`*_{}[]<>|~$":
        text = text.replace(character, "\\" + character)
    return text.replace("\n", " ")


def code(text):
    return f"`` {text} ``" if "`" in text else "`" + text.replace("|", "\\|") + "`"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def index(*words):
    """Entries of the general index, which the search knows too, for what follows."""
    if not words:
        return ""
    return ":::{eval-rst}\n.. index::\n" + "".join(f"   single: {word.replace(';', ',')}\n" for word in words) + ":::\n\n"

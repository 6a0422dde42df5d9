"""Compares the manual pages and completions with the options of the tools.

usage: python3 check_help_pages.py BIN PAGES TOOL...

What `--help` shows, what `--help-json` says, the manual page and the completions have the same options. The pages are well-formed where man
or mandoc is there, and the completions complete where bash, zsh and fish are.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import help_pages

bin_folder, pages, tools = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]


def output(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def shown(tool):
    """Of --help: {option: the form of its value}."""
    text = output(bin_folder / tool, "--help").stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"  (-\S+)(?: (\S.*?))?(?:  .*)?$", line)
        if match:
            for name in match.group(1).split(","):
                found[name] = match.group(2) or ""
    return text, found


def check(tool):
    text, options = shown(tool)
    page = help_pages.describe(bin_folder, tool)
    assert page["tool"] == tool and page["version"] in output(bin_folder / tool, "--version").stdout
    said = {name: option["form"] for option in help_pages.options_of(page) for name in option["names"]}
    assert said.keys() == options.keys(), said.keys() ^ options.keys()
    for name, form in said.items():
        assert "TEXT" not in form and "UINT" not in form, f"{tool} {name}: a form of its value is missing"
    for group in page["groups"]:
        assert f"\n{group['name']}:\n" in text
    if len(said) > 6:
        assert len(page["groups"]) > 2, f"{tool}: its options are in no groups"
    assert "Exit status:" in page["footer"] and "Examples:" in page["footer"], f"{tool}: --help has no exit status and no examples"

    manual = (pages / "man" / "man1" / f"{tool}.1").read_text().replace("\\-", "-")
    for name in said:
        assert re.search(rf"\\fB{re.escape(name)}\\fR", manual), f"{tool}.1 has no {name}"
    if shutil.which("mandoc"):
        # Its style: the day of the page, and words that end a sentence within a line.
        done = output("mandoc", "-T", "lint", "-W", "error", pages / "man" / "man1" / f"{tool}.1")
        assert done.returncode == 0, done.stdout + done.stderr

    bash = pages / "bash-completion" / "completions" / tool
    if shutil.which("bash"):
        script = f"source {bash}; COMP_WORDS=({tool} --); COMP_CWORD=1; _{tool}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        found = set(output("bash", "--norc", "-c", script).stdout.split())
        assert found == {name for name in said if name.startswith("--")}, found
    for option in help_pages.options_of(page):
        if option["choices"] and shutil.which("bash"):
            script = (f"source {bash}; COMP_WORDS=({tool} {option['names'][-1]} ''); COMP_CWORD=2; _{tool}; "
                      "printf '%s\\n' \"${COMPREPLY[@]}\"")
            assert output("bash", "--norc", "-c", script).stdout.split() == option["choices"]
    zsh = pages / "zsh" / "vendor-completions" / f"_{tool}"
    if shutil.which("zsh"):
        done = output("zsh", "-n", zsh)
        assert done.returncode == 0, done.stderr
    assert all(f"{name}[" in zsh.read_text() for name in said)
    fish = pages / "fish" / "vendor_completions.d" / f"{tool}.fish"
    if shutil.which("fish"):
        done = output("fish", "--no-config", "-c", f"source {fish}; complete -C '{tool} --'")
        found = {line.split("\t")[0] for line in done.stdout.splitlines()}
        missing = {name for name in said if name.startswith("--")} - found
        assert done.returncode == 0 and not missing, f"{missing} {done.stderr}"
    print(f"{tool}: {len(said)} options in {len(page['groups'])} groups")


for tool in tools:
    check(tool)

"""Manual pages and completions for shells, made of what the tools say of their options themselves (--help-json).

usage: python3 help_pages.py BIN OUT TOOL...

Writes OUT/man/man1/TOOL.1, OUT/bash-completion/completions/TOOL, OUT/zsh/vendor-completions/_TOOL and
OUT/fish/vendor_completions.d/TOOL.fish. Tested by check_help_pages.py.
"""
import json
import pathlib
import re
import subprocess
import sys

# Forms of values that are names of files.
FILES = {"FILE", "LIBRARY", "FOLDER", "PROGRAM", "FOLDER|off|auto", "INPUT", "MODEL"}

PURPOSES = {"relayc": "compile a model for relayvm", "relayrun": "compile a Relay program and run it",
            "vmrun": "run a compiled program", "vmdump": "show what is in a compiled program",
            "vmasm": "make a compiled program of bytecode as text", "vmserve": "serve compiled models by HTTP and gRPC",
            "vmbench": "measure a model on a server", "relayvm": "look at an installation of relayvm"}


def describe(bin_folder, tool):
    done = subprocess.run([str(pathlib.Path(bin_folder) / tool), "--help-json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def options_of(page):
    return [option for group in page["groups"] for option in group["options"]]


# --- Manual pages: roff with the macros of man(7) ---

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


def roff_option(option):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
    form = f" \\fI{roff(option['form'])}\\fR" if option["form"] else ""
    return f".TP\n{names}{form}\n{roff(option['help'])}\n"


def footer_parts(footer):
    """The exit statuses and the examples, a command each."""
    status, _, examples = footer.partition("Examples:\n")
    return status.removeprefix("Exit status: ").strip(), [line.strip() for line in examples.splitlines() if line.strip()]


def manual(page, tools):
    tool = page["tool"]
    operands = " ".join(f"\\fI{roff(o['names'][0])}\\fR" if o["required"] else f"[\\fI{roff(o['names'][0])}\\fR]"
                        for o in page["operands"])
    out = [f".TH {tool.upper()} 1 \"\" \"relayvm {page['version']}\" \"relayvm\"\n",
           f".SH NAME\n{tool} \\- {roff(PURPOSES[tool])}\n",
           f".SH SYNOPSIS\n.B {tool}\n[\\fIoption\\fR ...] {operands}\n",
           f".SH DESCRIPTION\n{roff(page['description'])}\n"]
    out += [f".TP\n\\fI{roff(o['names'][0])}\\fR\n{roff(o['help'])}\n" for o in page["operands"]]
    for group in page["groups"]:
        out.append(f".SH {roff(group['name'].upper())}\n" + "".join(roff_option(o) for o in group["options"]))
    status, examples = footer_parts(page["footer"])
    if status:
        out.append(f".SH EXIT STATUS\n{roff(status)}\n")
    if examples:
        out.append(".SH EXAMPLES\n.nf\n" + "".join(f"{roff(line)}\n" for line in examples) + ".fi\n")
    out.append(".SH SEE ALSO\n" + ",\n".join(f".BR {other} (1)" for other in tools if other != tool).replace(",\n", " ,\n") + "\n")
    return "".join(out)


# --- Completions ---

def is_file(option):
    return option["form"] in FILES or option["names"][0] in FILES


def bash(page):
    tool = page["tool"]
    options = options_of(page)
    cases = []
    for option in options:
        if option["choices"]:
            cases.append(f"    {'|'.join(option['names'])}) COMPREPLY=($(compgen -W '{' '.join(option['choices'])}' -- \"$word\")); return ;;\n")
        elif option["form"] and not is_file(option):
            cases.append(f"    {'|'.join(option['names'])}) return ;;\n")
    names = " ".join(name for option in options for name in option["names"])
    return (f"# bash completion of {tool}\n_{tool}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
            f"  case $before in\n{''.join(cases)}  esac\n"
            f"  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W '{names}' -- \"$word\"))\n"
            f"  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}}\ncomplete -o filenames -F _{tool} {tool}\n")


def short(text, most=70):
    """The first words of a help text, up to where a sentence may end."""
    text = re.split(r"[;:(]", text)[0].strip()
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " ..."


def zsh(page):
    tool = page["tool"]
    specs = []
    for option in options_of(page):
        help_text = re.sub(r"[\[\]:'\"`\\$]", " ", short(option["help"]))
        value = ""
        if option["choices"]:
            value = f":value:({' '.join(option['choices'])})"
        elif option["form"]:
            value = f":{re.sub(r'[^A-Za-z]+', ' ', option['form']).strip() or 'value'}:" + ("_files" if is_file(option) else "( )")
        many = "*" if option["repeats"] else ""
        specs += [f"  '{many}{name}[{help_text}]{value}'" for name in option["names"]]
    return f"#compdef {tool}\n_arguments -S \\\n" + " \\\n".join(specs) + " \\\n  '*:file:_files'\n"


def fish(page):
    tool = page["tool"]
    lines = [f"# fish completion of {tool}"]
    for option in options_of(page):
        words = []
        for name in option["names"]:
            words.append(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" if len(name) == 2 else f"-o {name[1:]}")
        if option["choices"]:
            words.append(f"-x -a '{' '.join(option['choices'])}'")
        elif option["form"]:
            words.append("-r" if is_file(option) else "-x")
        text = short(option["help"]).replace("\\", "").replace("'", "\\'")
        lines.append(f"complete -c {tool} {' '.join(words)} -d '{text}'")
    return "\n".join(lines) + "\n"


def main():
    bin_folder, out, tools = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    for tool in tools:
        page = describe(bin_folder, tool)
        for path, text in [(f"man/man1/{tool}.1", manual(page, tools)), (f"bash-completion/completions/{tool}", bash(page)),
                           (f"zsh/vendor-completions/_{tool}", zsh(page)), (f"fish/vendor_completions.d/{tool}.fish", fish(page))]:
            file = out / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


if __name__ == "__main__":
    main()

"""What of TVM's public names (tvm_names.json, made by record_tvm_names.py) there is in relayvm.tvm: for test_tvm_names.py, and as a report:

    python3 tvm_names.py                figures by package
    python3 tvm_names.py lacking        names that are lacking (of the packages that begin with the next word)
    python3 tvm_names.py refused        names that say what to use
    python3 tvm_names.py signatures     parameters that differ
    python3 tvm_names.py members        methods and attributes that are lacking
"""
import collections
import importlib
import inspect
import json
import pathlib
import re
import sys
import warnings

TABLE = json.loads(pathlib.Path(__file__).with_name("tvm_names.json").read_text())
INSTANCES = TABLE.pop("instances")
HERE = "relayvm.tvm"
_ABSENT = object()
_SAYS = re.compile(r"instead: |is not there; ")


def found_module(name):
    """A module of ours by TVM's name, or a part that stands in its place, or the error."""
    try:
        return importlib.import_module(HERE + name.removeprefix("tvm"))
    except ImportError:
        pass
    outer, _, last = name.rpartition(".")
    if not outer:
        raise ImportError(name)
    return getattr(found_module(outer), last)


def is_refusal(error):
    """Whether a message is one of ours and not Python's own."""
    text = str(error)
    return bool(_SAYS.search(text))


def found(module, name):
    """(kind, object): "there", "refused" or "lacking"."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            what = getattr(found_module(module), name)
    except (AttributeError, ImportError, NotImplementedError) as error:
        return ("refused" if is_refusal(error) else "lacking"), error
    return ("refused" if getattr(type(what), "_is_elsewhere", False) else "there"), what


def states():
    """{(module, name): (state, object)} of all names."""
    return {(module, name): found(module, name) for module, names in TABLE.items() for name in names}


def package_of(module):
    parts = module.split(".")
    return ".".join(parts[:2 if parts[:2] != ["tvm", "relay"] else 3])


def figures(all_states):
    counts = collections.defaultdict(collections.Counter)
    for (module, _), (state, _) in all_states.items():
        counts[package_of(module)][state] += 1
    return counts


def canonical(all_states):
    """(name, entry, object) of each function and class that is there, once."""
    places = collections.defaultdict(list)
    for (module, name), (state, what) in all_states.items():
        entry = TABLE[module][name]
        home = entry[1:] if isinstance(entry, str) else f"{module}.{name}"
        if state == "there":
            places[home].append((not isinstance(entry, str), what))
    for home, found_here in places.items():
        module, _, name = home.rpartition(".")
        entry = TABLE.get(module, {}).get(name)
        if entry is not None and entry[0] in ("function", "class"):
            yield home, entry, max(found_here, key=lambda pair: pair[0])[1]


def parameters(what):
    """[(name, default as text, or None)] of ours."""
    try:
        signature = inspect.signature(what)
    except (TypeError, ValueError):
        return None
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [(marks.get(p.kind, "") + p.name, None if p.default is p.empty else str(p).partition("=")[2].strip())
            for p in signature.parameters.values()]


def recorded(text):
    """The same of a recorded text."""
    parts = re.findall(r"(?:[^,(\[']|\([^)]*\)|\[[^\]]*\]|'[^']*')+", text)
    pairs = [part.strip().partition("=") for part in parts]
    return [(name, default if sign else None) for name, sign, default in pairs if name not in ("self", "cls", "/", "*")]


def difference(text, what):
    """What differs between parameters of TVM's and ours, "" where calls of TVM's work: ours may have more behind, with defaults."""
    theirs, ours = recorded(text), parameters(what)
    if ours is None:
        return "no signature"
    ours = [pair for pair in ours if pair[0] not in ("self", "cls")]
    names = [name for name, _ in ours]
    takes_all = "*" in "".join(name[:1] for name in names)
    for i, (name, default) in enumerate(theirs):
        if name == "_" or name.startswith("*") or takes_all and name not in names:
            continue
        if name not in names:
            return f"no {name}"
        if not any(n.startswith("*") for n, _ in theirs[:i]) and names.index(name) != i:
            return f"{name} is number {names.index(name) + 1}, not {i + 1}"
        mine = ours[names.index(name)][1]
        if default is None and mine is not None:
            continue  # ours may be left out
        if default is not None and mine is None:
            return f"{name} has no default, {default}"
        if default is not None and default != "Ellipsis" and plain(mine) != plain(default):
            return f"{name}={mine}, not {default}"
    more = [name for name, default in ours[len(theirs):] if default is None and not name.startswith("*") and name not in dict(theirs)]
    return f"wants {', '.join(more)}" if more else ""


def plain(text):
    """A default in one form: lists and tuples alike."""
    return re.sub(r",\)$", ")", text.replace("[", "(").replace("]", ")")).replace('"', "'")


def differing_signatures(all_states):
    for home, entry, what in canonical(all_states):
        wanted = entry[1]
        if not wanted or wanted == "*args, **kwargs":
            continue
        reason = difference(wanted, what)
        if reason:
            yield home, wanted, reason


def lacking_members(all_states):
    """(class.member, parameters or None, reason): members that are lacking or differ."""
    for home, entry, what in canonical(all_states):
        if entry[0] != "class":
            continue
        for name, text in entry[2].items():
            if text is None and isinstance(what, type) and is_set(what, name):
                continue
            mine = inspect.getattr_static(what, name, _ABSENT) if isinstance(what, type) else getattr(what, name, _ABSENT)
            if mine is _ABSENT:
                yield f"{home}.{name}", text, "lacking"
            elif text and (isinstance(what, type) and callable(getattr(what, name))):
                reason = difference(text, getattr(what, name))
                if reason and not name.startswith("visit_"):  # which are called by position
                    yield f"{home}.{name}", text, reason


def is_set(kind, name):
    """Whether objects of a class get an attribute when they are made."""
    for base in kind.__mro__:
        try:
            text = inspect.getsource(base)
        except (OSError, TypeError):  # Python's own
            continue
        if re.search(rf"\b(self|made)\.(\w+, (self|made)\.)*{name}\b", text):
            return True
    return False


def lacking_attributes():
    """(expression, names) of what instances have not."""
    space = {"tvm": importlib.import_module(HERE)}
    importlib.import_module(HERE + ".relay.testing")
    for text, names in INSTANCES.items():
        try:
            made = eval(text, space)
        except Exception as error:
            yield text, f"{type(error).__name__}: {error}"
            continue
        absent = [name for name in names if not has(made, name)]
        if absent:
            yield text, ", ".join(absent)


def has(made, name):
    try:
        getattr(made, name)
    except AttributeError:
        return False
    except (ValueError, TypeError):
        pass  # of a node without type
    return True


def main(what="", within="tvm"):
    all_states = states()
    if what in ("lacking", "refused"):
        for (module, name), (state, error) in all_states.items():
            if state == what and module.startswith(within):
                print(f"{module}.{name}  {TABLE[module][name]}"[:200])
    elif what == "signatures":
        for home, wanted, reason in differing_signatures(all_states):
            if home.startswith(within):
                print(f"{home}({wanted}): {reason}")
    elif what == "members":
        for home, text, reason in lacking_members(all_states):
            if home.startswith(within):
                print(f"{home}({text}): {reason}")
        for text, names in lacking_attributes():
            print(f"{text}: {names}")
    else:
        counts = figures(all_states)
        total = collections.Counter()
        for package, count in counts.items():
            total.update(count)
            print(f"{package:40} {sum(count.values()):5} {count['there']:5} {count['refused']:5} {count['lacking']:5}")
        print(f"{'all':40} {sum(total.values()):5} {total['there']:5} {total['refused']:5} {total['lacking']:5}")
        print("signatures that differ:", len(list(differing_signatures(all_states))), "members:", len(list(lacking_members(all_states))))


if __name__ == "__main__":
    main(*sys.argv[1:])

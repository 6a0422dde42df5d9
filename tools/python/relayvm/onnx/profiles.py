"""What ran when, in the form of ONNX Runtime's profiles: events of the categories Session and Node."""
import os
import re

_KEYS = ("cat", "pid", "tid", "dur", "ts", "ph", "name", "args")
_NODE = re.compile(r"node '(.*)' \((\w+)\)$")


def _node(event):
    """A kernel, by the node that it computes; where the compiler joined several, by the one that it names."""
    args, kernel = event.get("args", {}), event["name"]
    named = _NODE.search(args.get("place", ""))
    name, operator = named.groups() if named else (kernel, re.sub(r"_\d+$", "", kernel))
    number = re.search(r"_(\d+)$", kernel)
    return {"cat": "Node", "name": f"{name}_kernel_time",
            "args": {"op_name": operator, "provider": "CPUExecutionProvider", "node_index": number[1] if number else "", "kernel": kernel, **args}}


def converted(events, loading_us):
    """Events of a `ChromeTrace`, after that of the session's loading."""
    loaded = {"cat": "Session", "dur": loading_us, "ts": -loading_us, "ph": "X", "name": "session_initialization", "tid": 0, "args": {}}
    found = [loaded]
    for event in events:
        if event.get("ph") == "X":
            kind = _node(event) if event["cat"] == "kernel" else {"cat": "Session"}
            found.append({"args": {}, **event, **kind, **({"name": "model_run"} if event["cat"] == "slice" else {})})
    return [{**{key: event[key] for key in _KEYS if key in event}, "pid": os.getpid()} for event in found]

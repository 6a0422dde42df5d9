"""The C and C++ interfaces: the installed headers as they are, a section each, with what they declare in the index.

Their comments are the reference, and often stand over several declarations at once, which is why they are shown whole.
"""
import os
import re

from . import block, code, index

GROUPS = (
    ("c_api.md", "C API", "Flat functions over opaque handles (C11). Each header says what it holds at its head.",
     ("c_api.h", "c_api_host.h", "c_api_scheduler.h", "c_api_state.h", "c_api_trace.h", "c_api_device.h", "c_api_graph.h",
      "c_api_compiler.h")),
    ("cpp_api.md", "C++ API", "C++20, `#include <relayvm/relayvm.h>`. No function of these headers throws what it does not say.",
     ("relayvm.h", "executable.h", "value.h", "model_info.h", "status.h", "status_detail.h", "dtype.h", "state.h", "host_function.h",
      "scheduler.h", "trace.h", "profile.h", "chrome_trace.h", "runtime_stats.h", "latency.h", "task_pool.h", "memory_source.h",
      "device.h", "dlpack_exchange.h", "graph_module.h", "compiler.h")),
    ("plugin_api.md", "Plug-ins and kernels", "C headers for shared libraries that relayvm loads: operators of your own, and what a "
     "kernel is.", ("operator_plugin.h", "operator_library.h", "kernel_abi.h", "builtin.h")),
)


def declared(name, text):
    """Names that a header declares: functions of C; classes, and functions at their outermost level of C++."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    if name.startswith("c_api") or "relayvm_" in bare and "namespace" not in bare:
        names = re.findall(r"\b(relayvm_\w+)\(", bare) + re.findall(r"typedef struct (relayvm_\w+)", bare)
    else:
        names = re.findall(r"\b(?:class|struct|enum class) (?:\[\[nodiscard\]\] )?(\w+)(?= *(?:final )?[{:])", bare)
        names += re.findall(r"^  (?:static |virtual |explicit )*[\w:<>,*& ]+? ([A-Z]\w+)\(", bare, re.M)
    return list(dict.fromkeys(names))


def pages(build):
    installed = {}
    for component in ("runtime", "graph", "compiler"):
        folder = os.path.join(build.folder, "include", component, "relayvm")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            installed[name] = (component, os.path.join(folder, name))
    for path, title, about, names in GROUPS:
        text = f"# {title}\n\n{about}\n\n"
        for name in names:
            if name not in installed:
                raise RuntimeError(f"headers.py: {name} is not among what is installed: {', '.join(sorted(installed))}")
            component, file = installed[name]
            with open(file) as f:
                source = f.read()
            text += f"## {name}\n\n" + index(*declared(name, source))
            text += f"`#include <relayvm/{name}>`, of the component {code(component)}.\n\n"
            text += block(source, "c" if name.startswith("c_api") or path == "plugin_api.md" else "cpp")
        yield "reference/" + path, text

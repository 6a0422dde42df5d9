"""tvm.contrib.debugger.debug_result: files of what a run had. relayvm has pages and traces of its own."""
from ...elsewhere import elsewhere
from ...runtime.params import save_param_dict

GRAPH_DUMP_FILE_NAME, CHROME_TRACE_FILE_NAME = "_tvmdbg_graph_dump.json", "_tvmdbg_execution_trace.json"


def save_tensors(params):
    """Arrays by name, as bytes that `tvm.relay.load_param_dict` reads."""
    return save_param_dict(params)


def __getattr__(name):
    if name in ("ChromeTraceEvent", "DebugResult"):
        return elsewhere(f"contrib.debugger.debug_result.{name}", "relayvm.Runtime(trace=relayvm.ChromeTrace(path)) writes what ran when, "
                         "GraphModuleDebug.debug_get_output has the values inside")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["CHROME_TRACE_FILE_NAME", "GRAPH_DUMP_FILE_NAME", "save_tensors"]

"""PyTorch's models on relayvm, from inside PyTorch.

    import relayvm.torch

    fast = torch.compile(model.eval(), backend=relayvm.torch.backend)      # or backend="relayvm"
    with torch.no_grad():
        y = fast(x)                                                        # tensors in, tensors out
    print(relayvm.torch.explain(model, x))                                 # which graphs are compiled, and why others are not

    run = relayvm.torch.compile_module(model, (x,), {"x": {0: "n"}})       # the whole module, ahead of time

torch is imported when something is compiled. `backend` needs torch 2.1 or newer; `compile_module` also takes older ones (TorchScript).
"""
import importlib as _importlib
import sys as _sys

_PLACES = {"CompiledModule": "modules", "compile_module": "modules", "Explanation": "reports", "Graph": "reports",
           "explain": "reports"}

__all__ = ["Backend", "CompiledModule", "Explanation", "Graph", "backend", "compile_module", "explain", "register"]


def __getattr__(name):
    if name in _PLACES:
        globals()[name] = getattr(_importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
        return globals()[name]
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__():
    return sorted(set(globals()) | set(_PLACES))


from .dynamo import Backend, backend  # noqa: E402


def register():
    """Makes torch.compile(model, backend="relayvm") know the backend where the package is not installed (an entry point says so where it is)."""
    from torch._dynamo import list_backends, register_backend
    if "relayvm" not in list_backends(exclude_tags=()):
        register_backend(backend, "relayvm")


if "torch._dynamo" in _sys.modules:
    register()

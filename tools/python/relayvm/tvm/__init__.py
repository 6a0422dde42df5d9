"""TVM's names, for scripts that build and run models: `import relayvm.tvm as tvm`.

    import relayvm.tvm as tvm
    from relayvm.tvm import relay
    from relayvm.tvm.contrib import graph_executor

    mod, params = relay.frontend.from_pytorch(traced, [("x", (1, 3, 224, 224))])
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target="llvm", params=params)
    module = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    module.set_input("x", tvm.nd.array(x))
    module.run()
    y = module.get_output(0).numpy()

A thin layer over relayvm: each name is what does the same there. It needs the package relayvm-compiler.
"""
from . import contrib, ir, nd, relay, runtime, target, te, transform
from .ir import IRModule
from .nd import Device, cpu, cuda, device
from .target import Target

__all__ = ["Device", "IRModule", "Target", "contrib", "cpu", "cuda", "device", "ir", "nd", "relay", "runtime", "target", "te", "transform"]

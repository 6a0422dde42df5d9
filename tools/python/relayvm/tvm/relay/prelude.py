"""tvm.relay.prelude."""

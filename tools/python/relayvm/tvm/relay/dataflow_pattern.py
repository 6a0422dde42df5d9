"""tvm.relay.dataflow_pattern: patterns of programs."""
from ...compiler.dataflow_pattern import *  # noqa: F403
from ...compiler.dataflow_pattern import __all__  # noqa: F401

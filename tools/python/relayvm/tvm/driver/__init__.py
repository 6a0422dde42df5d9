"""tvm.driver: what compiles and runs models in a few calls (tvmc). relayc and vmrun do so from the shell."""
from . import tvmc

__all__ = ["tvmc"]

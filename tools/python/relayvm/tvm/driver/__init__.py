"""tvm.driver: what compiles and runs models in a few calls (tvmc). relayc and vmrun do so from the shell."""
from ..elsewhere import elsewhere
from . import tvmc

build, build_module, lower = map(elsewhere, ("driver.build", "driver.build_module", "driver.lower"))

__all__ = ["tvmc"]

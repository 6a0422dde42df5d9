"""tvm.runtime.profiler_vm: the virtual machine, which says how long its kernels take."""
from ...runtime import Runtime
from ...trace import Profile
from . import vm
from .profiling import Report


class VirtualMachineProfiler(vm.VirtualMachine):
    """A `VirtualMachine` with `profile`. exe: of relay.vm.compile, not loaded."""

    def __init__(self, exe, device=None, memory_cfg=None):
        super().__init__(exe, device, memory_cfg)
        self._program = self._exec._compiled("VirtualMachineProfiler")

    def profile(self, *args, func_name="main", collectors=None, **kwargs):
        """The times of kernels in a call, a `Report`."""
        profile = Profile()
        given, self._model = self._model, self._program.load(runtime=Runtime(trace=profile))
        try:
            self.invoke(func_name, *args, **kwargs)
        finally:
            self._model = given
        return Report.of_profile(profile, "VM")


    def get_stat(self, sort_by_time=True):
        """Refused: `profile` gives a report, which prints as a table."""
        raise NotImplementedError("VirtualMachineProfiler.get_stat: profile(*args, func_name=...) gives a report, which prints as a table")


def enabled():
    """Whether there is one."""
    return True


__all__ = ["Report", "VirtualMachineProfiler", "enabled", "vm"]

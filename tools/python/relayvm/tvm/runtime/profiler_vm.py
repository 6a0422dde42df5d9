"""tvm.runtime.profiler_vm: the virtual machine, which says how long its kernels take."""
from ...runtime import Runtime
from ...trace import Profile
from . import vm
from .profiling import Report


class VirtualMachineProfiler(vm.VirtualMachine):
    """A `VirtualMachine` with `profile`."""

    def profile(self, *args, func_name="main", collectors=None, **kwargs):
        """The times of kernels in a call, a `Report`."""
        profile = Profile()
        given, self._model = self._model, self._exec.mod.loaded_for(Runtime(trace=profile))
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

"""What looks on while passes run: `PassContext(instruments=[...])`.

    @pass_instrument
    class Names:
        def run_before_pass(self, mod, info):
            print(info.name)

    with rvm.PassContext(instruments=[Names()]):
        mod = rvm.transform.FoldConstants()(mod)

Of a compilation they hear of its passes too (run_before_pass and run_after_pass alone), and get the module as it was given.
"""
import functools
import time

from .objects import Object


class PassInstrument(Object):
    """Methods that a context calls; override those that are of interest.

    enter_pass_ctx(), exit_pass_ctx(): where the `with` begins and ends. should_run(mod, info): False where a pass is to be left out.
    run_before_pass(mod, info), run_after_pass(mod, info). info: a `transform.PassInfo`.
    """

    def enter_pass_ctx(self):
        """A context begins."""

    def exit_pass_ctx(self):
        """A context ends."""

    def should_run(self, mod, info):
        """Whether a pass runs."""
        return True

    def run_before_pass(self, mod, info):
        """A pass begins; `mod` is what it gets."""

    def run_after_pass(self, mod, info):
        """A pass ends; `mod` is what it gave."""


def pass_instrument(pi_cls=None):
    """Makes a `PassInstrument` of a class that has some of its methods."""
    def decorate(cls):
        made = type(cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__, "__module__": cls.__module__})
        functools.update_wrapper(made, cls, updated=())
        return made
    return decorate if pi_cls is None else decorate(pi_cls)


class PassTimingInstrument(PassInstrument):
    """Measures how long passes take: `render()`."""

    def __init__(self):
        self._open, self._rows = [], []

    def enter_pass_ctx(self):
        self._open, self._rows = [], []

    exit_pass_ctx = enter_pass_ctx

    def run_before_pass(self, mod, info):
        self._rows.append([len(self._open), info.name, None])
        self._open.append((self._rows[-1], time.perf_counter()))

    def run_after_pass(self, mod, info):
        row, start = self._open.pop()
        row[2] = time.perf_counter() - start

    def render(self):
        """A line for each pass that ran since the context began: name and microseconds, those inside of others indented."""
        return "".join(f"{'  ' * depth}{name}: {taken * 1e6:.0f}us\n" for depth, name, taken in self._rows if taken is not None)


class _Printing(PassInstrument):
    def __init__(self, before=(), after=()):
        self._before, self._after = before, after

    def _print(self, names, when, mod, info):
        if names is None or info.name in names:
            print(f"-- {when} {info.name}:", mod, sep="\n")

    def run_before_pass(self, mod, pass_info):
        self._print(self._before, "before", mod, pass_info)

    def run_after_pass(self, mod, pass_info):
        self._print(self._after, "after", mod, pass_info)


class PassPrintingInstrument(_Printing):
    """Prints the program before and after passes of these names."""

    def __init__(self, print_before_pass_names=(), print_after_pass_names=()):
        super().__init__(list(print_before_pass_names), list(print_after_pass_names))


class PrintBeforeAll(_Printing):
    """Prints the program before each pass."""

    def __init__(self):
        super().__init__(before=None)


class PrintAfterAll(_Printing):
    """Prints the program after each pass."""

    def __init__(self):
        super().__init__(after=None)


class DumpIR(PassInstrument):
    """Writes the program after each pass to a file of a folder."""

    def __init__(self, dump_dir, refresh=False):
        self._folder, self._count = dump_dir, 0

    def run_after_pass(self, mod, info):
        import os
        os.makedirs(self._folder, exist_ok=True)
        with open(os.path.join(self._folder, f"{self._count:03}_{info.name}.relay"), "w") as f:
            f.write(mod.astext())
        self._count += 1


def _of_compilation(instruments, mod, progress):
    """(what tells instruments of the passes of a compilation, what to call at its end)."""
    from .transform import PassInfo
    running = []

    def end():
        while running:
            for instrument in instruments:
                instrument.run_after_pass(mod, running[-1])
            running.pop()

    def see(what, done, total):
        if total == 0:  # a pass
            end()
            running.append(PassInfo(0, what))
            for instrument in instruments:
                instrument.run_before_pass(mod, running[-1])
        if progress is not None:
            progress(what, done, total)
    return see, end

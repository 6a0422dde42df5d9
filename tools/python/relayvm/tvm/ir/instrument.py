"""tvm.ir.instrument: what looks on while passes run."""
from ...compiler.instruments import (DumpIR, PassInstrument, PassPrintingInstrument, PassTimingInstrument, PrintAfterAll, PrintBeforeAll,
                                     pass_instrument)

__all__ = ["DumpIR", "PassInstrument", "PassPrintingInstrument", "PassTimingInstrument", "PrintAfterAll", "PrintBeforeAll", "pass_instrument"]

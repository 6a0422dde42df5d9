"""The compiler's passes and the options that they declare, as relayc lists them."""
from . import block, index


def pages(build):
    said = build.run("relayc --list-passes")
    yield "reference/passes.md", ("# Passes\n\nWhat `relayc --list-passes` prints: what runs, in order, and where a pass of yours may stand "
                                  "([a pass of your own](../howto/own_pass.md)). `--print-ir-after PASS` shows the program after one of them, "
                                  "and `--disable-pass PASS` leaves it out where that may be.\n\n" + block(said))

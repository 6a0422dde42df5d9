"""The runtime's package alone: usage: without_compiler.py LOOP.vmx (of tools/examples/while_loop.relay)."""
import sys

import relayvm as rvm

model = rvm.load(sys.argv[1])
assert model.get_inputs(), "no inputs"
try:
    rvm.parse("")
except ImportError as error:
    assert "relayvm-compiler" in str(error), error
else:
    sys.exit("the compiler is here")
try:
    rvm.no_such_name
except AttributeError:
    pass
else:
    sys.exit("an attribute that there is not")

"""`match` statements, which older Pythons cannot even read."""
import sys

import pytest

if sys.version_info >= (3, 10):
    from match_statements import *  # noqa: F401, F403
else:
    pytest.skip("Python has match statements from 3.10 on", allow_module_level=True)

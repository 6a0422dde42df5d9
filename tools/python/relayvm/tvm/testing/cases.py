"""What test files of TVM's users take for their cases: tests of what a pass makes of programs, and marks of parameters."""
import inspect
import os
import sys

import pytest

from ...compiler.objects import Object
from ..ir import IRModule, assert_structural_equal
from ..ir import Function as _Function

IS_IN_CI = os.environ.get("CI", "") == "true"
SKIP_SLOW_TESTS = os.environ.get("SKIP_SLOW_TESTS", "").lower() in ("1", "true", "yes")
DEFAULT_TEST_TARGETS = ["llvm"]


def _as_fixture(name, value):
    """A fixture of an attribute of a class: of a method that takes fixtures, what it gives; else the value."""
    if hasattr(value, "_pytestfixturefunction") or type(value).__name__ == "FixtureFunctionDefinition":
        return value
    if inspect.isfunction(value):
        return pytest.fixture(value)

    def give(self):
        return value
    return pytest.fixture(give, name=name)


class CompareBeforeAfter:
    """A test of a pass: a subclass has transform (a pass, or a method that gives one), before and expected (modules, functions, or methods that
    give them; `expected` may be a class of exceptions). Without `expected` the program stays."""

    def __init_subclass__(cls):
        if "before" not in vars(cls):
            return
        cls.before = _as_fixture("before", cls.before)
        cls.expected = _as_fixture("expected", vars(cls)["expected"]) if "expected" in vars(cls) else pytest.fixture(lambda self, before: before)
        if "transform" in vars(cls):
            cls.transform = _as_fixture("transform", cls.transform)

    def test_compare(self, before, expected, transform):
        """Compares what the pass makes with what is expected."""
        before, expected = (IRModule.from_expr(x) if isinstance(x, _Function) else x for x in (before, expected))
        if inspect.isclass(expected) and issubclass(expected, Exception):
            with pytest.raises(expected):
                transform(before)
            return
        assert_structural_equal(transform(before), expected)


class Feature(Object):
    """Something that tests need: name, and marks of pytest's for tests that need it (`marks`). A test is left out where run_time_check() is False."""

    def __init__(self, name, long_name=None, cmake_flag=None, target_kind_enabled=None, compile_time_check=None, target_kind_hardware=None,
                 run_time_check=None, parent_features=None):
        self.name, self.long_name, self._check = name, long_name or name, run_time_check

    def marks(self, support_required="compile-and-run"):
        """Marks for a test."""
        return [] if self._check is None or self._check() else [pytest.mark.skip(reason=f"needs {self.long_name}, which there is not")]

    @classmethod
    def require(cls, name, support_required="compile-and-run"):
        """A decorator for tests that need the feature of a name: it is `tvm.testing.requires_NAME`."""
        from .. import testing  # which needs this
        return getattr(testing, f"requires_{name}")

    def __call__(self, func=None, *, support_required="compile-and-run"):
        def decorate(function):
            for mark in self.marks(support_required):
                function = mark(function)
            return function
        return decorate if func is None else decorate(func)


def skip_if_32bit(reason):
    """A mark: the test is left out where addresses have 32 bits."""
    return pytest.mark.skipif(2 ** 31 >= sys.maxsize, reason=reason)


def is_ampere_or_newer():
    """Whether there is a graphics card of that kind: there is the processor alone."""
    return False


def assert_prim_expr_equal(lhs, rhs):
    """Whether sizes are the same."""
    assert lhs == rhs, f"{lhs} and {rhs} are not the same size"


__all__ = ["CompareBeforeAfter", "DEFAULT_TEST_TARGETS", "Feature", "IS_IN_CI", "SKIP_SLOW_TESTS", "assert_prim_expr_equal", "is_ampere_or_newer",
           "skip_if_32bit"]

# Made by tools/python/tests/test_stubs.py, of the rows of the compiler's passes.
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

class OfPassesButDevice(TypedDict, total=False):
    byoc: str | Sequence[str]
    byoc_only: bool
    byoc_regions: str | Sequence[str]
    byoc_rules: str | Sequence[str]
    device_seed: int
    exact: bool
    explain: bool
    explain_rules: bool
    layouts: str | Sequence[str] | Mapping[str, str | Sequence[str]]
    precision: Literal["fp32", "bf16"]
    states: str | Sequence[str] | Mapping[str, str | Sequence[str]]
    sub_batch: int
    weights: Literal["q8", "q4", "q6"]

class OfPasses(OfPassesButDevice, total=False):
    device: str

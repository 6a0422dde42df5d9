"""tvm.relay.analysis.annotated_regions: regions between marks."""
from ....compiler.analysis import AnnotatedRegionSet

__all__ = ["AnnotatedRegionSet"]

"""tvm.runtime.object_path: ways to parts of programs."""
from ...compiler.object_path import (ArrayIndexPath, AttributeAccessPath, MapValuePath, MissingArrayElementPath, MissingMapEntryPath, ObjectPath,
                                     ObjectPathPair, RootPath, UnknownAttributeAccessPath)

__all__ = ["ArrayIndexPath", "AttributeAccessPath", "MapValuePath", "MissingArrayElementPath", "MissingMapEntryPath", "ObjectPath", "ObjectPathPair",
           "RootPath", "UnknownAttributeAccessPath"]

"""tvm.relay.type_functor: walks over types."""
from ...compiler.type_functors import TypeFunctor, TypeMutator, TypeVisitor

__all__ = ["TypeFunctor", "TypeMutator", "TypeVisitor"]

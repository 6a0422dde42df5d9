// The descriptor of a native program, vm/aot/aot_runtime.h's RelayvmAotProgram, as data of its
// object file: names, types, places, addresses. In GuardLlvm. Tested by tests/aot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/aot/function_emitter.h"

namespace relayvm::aot {

struct DescriptorParts {
  std::vector<llvm::Constant*> entries;   // by export: AotFunction or AotStaticFunction
  std::vector<uint64_t> workspace_bytes;  // by export; empty with a heap
  llvm::Constant* message = nullptr;      // of a static program
};

// `symbol`: of the descriptor; empty: it is known in the object alone.
llvm::GlobalVariable* EmitDescriptor(const ObjectModule& object, const DescriptorParts& parts,
                                     const std::string& symbol);

// A tensor of the runtime (vm/memory/object.h) that is never counted, over elements of the object
// file, or, where `data` is null, over those that the runtime makes.
llvm::GlobalVariable* EmitTensor(const ObjectModule& object, DType dtype,
                                 const std::vector<int64_t>& dims, llvm::Constant* data,
                                 uint64_t bytes);
// Where such a tensor has the address of its elements.
llvm::Constant* DataOfTensor(const ObjectModule& object, llvm::GlobalVariable* tensor);

}  // namespace relayvm::aot

// The types of host functions as the host writes them: "fn (int64, List[Tensor[(?, 4), float32]])
// -> ()". Tested by host_function_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm::vm {

// Data types are those of `program`. Fails with kInvalidArgument.
Result<HostFunctionInfo> ParseHostSignature(const Program& program, std::string_view text);
// Empty when a host function of type `registered` is what the program declares, else what differs.
// Dims differ when both are numbers.
std::string CompareSignatures(const Program& program, const HostFunctionInfo& declared,
                              const HostFunctionInfo& registered);
// "fn (int64) -> Tensor[(?, 4), float32]".
std::string SignatureToString(const Program& program, const HostFunctionInfo& function);

}  // namespace relayvm::vm

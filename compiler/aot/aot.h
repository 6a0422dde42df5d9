// Programs as native code, control flow and all: an object file and the C header to call it by.
//
// A program that needs no heap (static_plan.h) becomes functions that want C's library alone: plain
// pointers in and out, a workspace of a stated size. Any other is linked with the runtime of vm/aot
// and passes values (vm/api/c_api.h). Either way there is neither bytecode nor an interpreter in
// what comes out, and tables and constants are data of the object file. Constants that have recipes
// are made at the first use: by the runtime, in one copy for all processes, or by code of the
// object, in memory of the process. Regions of other engines are made by the runtime, which opens
// the engines then. Thread-safe. Tested by tests/aot.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::aot {

struct AotOptions {
  std::string name = "model";  // what the object's functions begin with
  KernelOptions kernels;       // as the program's were compiled
  // Of the program's descriptor (vm/aot/aot_runtime.h), for who links the object with code that
  // takes any program; empty: without a heap there is none, else the object keeps it to itself.
  std::string descriptor;
};
// What programs and libraries that relayvm links itself have for AotOptions::descriptor.
inline constexpr const char* kDescriptorSymbol = "relayvm_aot_program";

struct AotObject {
  std::vector<char> object;  // relocatable ELF
  std::string header;
  // Empty, or why the object needs the runtime: "main: tensor.alloc makes a tensor of open size".
  std::string needs_runtime;
};

// kUnsupported, naming what is in the way, where the program cannot be native code: functions of
// the host, operators of shared libraries.
Result<AotObject> CompileAhead(const Program& program, const AotOptions& options);

// Letters, digits and underscores, no digit first: what C takes as a name.
std::string ToIdentifier(const std::string& name);

}  // namespace relayvm::aot

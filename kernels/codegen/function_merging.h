// Functions that differ in integer constants alone, as kernels of one form for other sizes do, are
// translated once: one body reads the constants that differ from a table, and each function calls
// it with a table of its own.
//
//   kernel_3(args) { ... 3025 ... 64 ... }        kernel_3(args) { body(args, {3025}) }
//   kernel_7(args) { ...  784 ... 64 ... }   =>   kernel_7(args) { body(args, {784}) }
//                                                 body(args, t) { ... t[0] ... 64 ... }
//
// Helpers that they call may differ, too: the body is given those that do.
//
// As "merge functions by parameters for constants" of LLVM's and Swift's mergers, with a bound that
// code keeps its speed by: constants that loops are unrolled by, that are divided by in loops, or
// that an innermost loop would need many registers for stay in the code, and functions that differ
// in them stay apart.
//
// Pure functions over values; nothing here is kept. Tested by function_merging_test.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace relayvm::codegen {

// What decides whether a function may share another one's body.
struct FunctionForm {
  std::string name;
  // Of all that is not in `constants` and `callees`: equal for functions that differ in these only.
  // No form is equal to one that `is_shareable` is false for.
  std::array<uint8_t, 32> structure{};
  bool is_shareable = false;
  // Of the code, in its order, and the innermost loop that each stands in (from 1 on; 0: in none
  // that has no loop in it).
  std::vector<int64_t> constants;
  std::vector<uint32_t> loops;
  // Of the helpers that it calls, one for each call, in its order.
  std::vector<std::string> callees;
};

// Of a function as it is emitted, which stays as it is.
FunctionForm FormOf(llvm::Function& function);

// How a function is made of a shared body.
struct SharedBody {
  std::string function;
  std::string body;         // its symbol
  bool is_defined = false;  // by the module of this function, which the body is made of
  // For each of FunctionForm::constants, where the table has it; kKept: in the code.
  static constexpr uint32_t kKept = UINT32_MAX;
  std::vector<uint32_t> places;
  std::vector<int64_t> table;
  // The same for FunctionForm::callees, and those that the body is given.
  std::vector<uint32_t> callee_places;
  std::vector<std::string> callees;
};

// For each module, given the forms of its functions, those that share a body with others. The first
// function of a body, in the order of modules, defines it. Depends on nothing but the forms.
std::vector<std::vector<SharedBody>> ShareBodies(
    std::span<const std::vector<FunctionForm>* const> modules);

// Rewrites the functions of the module. REQUIRES: it is as it was for FormOf. `jumps`: those that
// share a body jump to it, which LLVM's quick selection of instructions does not; else they call.
void ApplySharedBodies(std::span<const SharedBody> bodies, llvm::Module& module, bool jumps);

}  // namespace relayvm::codegen

// The words of failures, and when they happen: what the interpreter, graphs and native code say
// alike of a run that fails. Thread-safe. Tested through both: interpreter_*_test.cc, tests/aot.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/base/string_table.h"
#include "bytecode/kernel_abi.h"
#include "bytecode/opcode.h"
#include "vm/memory/allocator.h"
#include "vm/memory/object.h"

namespace relayvm::vm {

// What is wrong, and what is known of it besides the places.
struct Failure {
  StatusCode code;
  std::string message;
  StatusDetail detail = {};
  int64_t check = 0;  // of the kernel's checks, which says where it is from; 0: none
};

// Of how many callers a message shows the places.
inline constexpr uint64_t kMostCallersShown = 8;
// `places`: where it failed, then its callers, of which `more` are left out.
Status MakeStatus(Failure failure, std::vector<StatusPlace> places, uint64_t more);

std::string ShapeString(std::span<const int64_t> dims);  // "(2, 3)"
const char* InterruptMessage(StatusCode reason);         // kCancelled or kDeadlineExceeded

// Cold, and so small: what most runs never come to.
// Of an instruction on scalars (bytecode/semantics.h): its message and the numbers that it shows.
[[gnu::cold]] Failure ScalarFailureOf(FailureKind kind, Opcode opcode, const std::string& message,
                                      std::vector<int64_t> numbers);
// `bytes` were asked for, 0: unknown; `subject` as StatusDetail's.
[[gnu::cold]] Failure MemoryFailure(const Heap& heap, const std::string& what, size_t bytes = 0,
                                    const std::string& subject = "");
// Of a kernel's code; `reason`: of a kernel that stopped, what ends the run, kOk where that was its
// own decision. `strings`: the run's, or null.
[[gnu::cold]] Failure KernelFailure(const Heap& heap, const StringTable* strings,
                                    const std::string& kernel, int32_t code, StatusCode reason,
                                    const RelayvmKernelFault& fault);
// Of a call of a kernel whose units cannot be, or where there is no scratch for it.
[[gnu::cold]] Failure CallFailure(const Heap& heap, const std::string& kernel, int64_t units,
                                  size_t scratch_bytes, uint32_t workers);
[[gnu::cold]] Failure ItemFailure(const Tensor& tensor, DType dtype, int64_t position);
// Where CheckedTensorBytes refuses dims.
[[gnu::cold]] Failure DimsFailure(std::span<const int64_t> dims);
// Where not IsPossibleShape: the dims of an operator that checks them before it runs.
[[gnu::cold]] Failure ShapeFailure(const std::string& message, std::span<const int64_t> dims);
bool IsPossibleShape(std::span<const int64_t> dims);
[[gnu::cold]] Failure RuleFailure(const std::string& message, const Status& status,
                                  std::span<const int64_t> data, std::span<const int64_t> numbers);
[[gnu::cold]] Failure ViewFailure(std::span<const int64_t> dims, const Tensor& from);
[[gnu::cold]] Failure AppendFailure(DType dtype, std::span<const int64_t> dims, const Tensor& head,
                                    const Tensor& tail);
std::string TensorText(int64_t bytes, std::span<const int64_t> dims);  // for MemoryFailure

}  // namespace relayvm::vm

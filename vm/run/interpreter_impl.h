// The interpreter's state and its slow paths; for interpreter*.cc only.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status_detail.h"
#include "bytecode/opcode.h"
#include "vm/kernels/failure.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/run/frame.h"
#include "vm/run/interpreter.h"
#include "vm/trace/run_counters.h"

namespace relayvm::vm {

// Bytes that are copied outside of kernels, for a unit of fuel.
inline constexpr int64_t kBytesPerFuel = 256;

class BorderPoll;
struct CallArguments;  // interpreter_dispatch.h
struct CallsTogether;  // interpreter_together.cc

// What the dispatch loop calls of a TraceSink: nothing; OnKernel of some calls; of each call, and
// OnInstruction. A loop for each, so that one without costs nothing.
enum class Hooks : uint8_t { kNone, kSampled, kAll };

class Interpreter {
 public:
  Interpreter(const Executable& executable, InterpreterContext& context);

  Status Run(uint32_t function, std::span<Object* const> args, Object** result);

 private:
  // --- Frames; in interpreter.cc ---
  bool HasRoom(Frame* frame, const uint16_t* pc, const FunctionCode* callee, void* end);
  bool PushArena(Frame* frame, const uint16_t* pc, const FunctionCode* callee, char** arena);
  Frame* PushFrame(Frame* frame, const uint16_t* pc, const FunctionCode* callee);
  void ReleaseRegisters(Frame* frame);
  bool ReplaceFrame(Frame* frame, const uint16_t* pc, const FunctionCode* callee,
                    const CallArguments& args);

  // True when the first frame returned, with result_; false with error_. Has no locals with
  // destructors, as computed jumps need. Instantiated in interpreter.cc.
  template <Hooks kHooks>
  bool Loop(Frame* first);

  // --- Slow paths. The ones that return bool or a pointer set error_ on false or null. ---
  // `detail` holds what is known besides the places, which Fail adds.
  bool Fail(Frame* frame, const uint16_t* pc, Failure failure);
  bool Fail(Frame* frame, const uint16_t* pc, StatusCode code, const std::string& message,
            StatusDetail detail = {});
  bool FailKind(Frame* frame, const uint16_t* pc, ObjectKind expected, const Object* found);
  // An instruction on scalars (FALLIBLE in opcodes.def) that fails.
  bool FailScalar(Frame* frame, const uint16_t* pc);
  // `bytes` were asked for, 0: unknown; `subject` as StatusDetail's.
  bool FailMemory(Frame* frame, const uint16_t* pc, const char* what, size_t bytes = 0,
                  const std::string& subject = "");
  bool FailStack(Frame* frame, const uint16_t* pc, const FunctionCode* callee);
  // Makes room on the stack up to `end`.
  bool GrowStack(Frame* frame, const uint16_t* pc, const FunctionCode* callee, const char* end);
  bool FailKernel(Frame* frame, const uint16_t* pc, uint32_t kernel, int32_t code,
                  const KernelCall* call = nullptr);
  bool FailField(Frame* frame, const uint16_t* pc, uint64_t field, uint64_t count,
                 const char* what);
  bool FailItem(Frame* frame, const uint16_t* pc, const Tensor* tensor, uint16_t dtype,
                int64_t position);
  // Checks cancellation, the deadline and the time slice, and sets fuel_.
  bool Poll(Frame* frame, const uint16_t* pc);
  // The function of a closure that is called with `num_args`, or null.
  const FunctionCode* ClosureFunction(Frame* frame, const uint16_t* pc, const Object* callee,
                                      uint32_t num_args);
  // `bytes` is the size of the dims, which has been checked.
  Tensor* NewTensorOf(Frame* frame, const uint16_t* pc, DType dtype, std::span<const int64_t> dims,
                      int64_t bytes);
  // A tensor of the result in the caller's memory; null where it is not one.
  Tensor* NewOutput(Frame* frame, const uint16_t* pc, DType dtype, std::span<const int64_t> dims,
                    int64_t bytes);
  Tensor* NewTensorChecked(Frame* frame, const uint16_t* pc, DType dtype, const uint16_t* regs,
                           uint32_t rank);
  Tensor* NewStaticTensor(Frame* frame, const uint16_t* pc, uint16_t type);
  Tensor* View(Frame* frame, const uint16_t* pc, Object* from, bool take, const uint16_t* regs,
               uint32_t rank);
  Tensor* Reuse(Frame* frame, const uint16_t* pc, Object* from, bool take, DType dtype,
                const uint16_t* regs, uint32_t rank);
  // A tensor.append: `from` with more elements, or a new tensor.
  Tensor* Append(Frame* frame, const uint16_t* pc, Object* from, bool take, Object* more,
                 const uint16_t* regs, uint32_t rank);
  // Gathers dims and checks them; -1 on failure, else their bytes.
  int64_t GatherDims(Frame* frame, const uint16_t* pc, DType dtype, const uint16_t* regs,
                     uint32_t rank, int64_t* dims);
  int64_t FailDims(Frame* frame, const uint16_t* pc, const uint16_t* regs, uint32_t rank);
  // What dim.tensor checks.
  bool CheckTensorDims(Frame* frame, const uint16_t* pc, const uint16_t* regs, uint32_t rank,
                       uint16_t message);
  // Runs a dim.shape; the next instruction, or null.
  const uint16_t* ApplyRule(Frame* frame, const uint16_t* pc);
  // What the verifier could not prove of this call (bytecode/kernel_call.h).
  bool CheckKernelCall(Frame* frame, const uint16_t* pc, const uint16_t* buffers,
                       const int64_t* scalars);
  bool CheckKernelNumbers(Frame* frame, const uint16_t* pc, const KernelInfo& kernel,
                          const int64_t* scalars, bool proved);
  bool FailKernelCall(Frame* frame, const uint16_t* pc, const std::string& message, bool proved,
                      StatusDetail detail = {});
  // --- Devices; in interpreter_device.cc ---
  Tensor* NewOnDevice(Frame* frame, const uint16_t* pc, uint8_t device, DType dtype,
                      std::span<const int64_t> dims, int64_t bytes);
  // A call of a kernel with tensors of a device; the next instruction, or null.
  const uint16_t* LaunchKernel(Frame* frame, const uint16_t* pc);
  bool CopyTensor(Frame* frame, const uint16_t* pc);
  // After a wait that gave `code`: true where all is well.
  bool CheckDevice(Frame* frame, const uint16_t* pc, uint8_t device, StatusCode code);

  // Runs a kernel over its range, on several threads where that pays.
  bool RunKernel(Frame* frame, const uint16_t* pc, const KernelCall& call);
  // The calls after the instruction kernels at pc, side by side; the next instruction: pc's own
  // where they are to run one by one. Null on failure. In interpreter_together.cc.
  const uint16_t* RunTogether(Frame* frame, const uint16_t* pc);
  // Adds the call at pc; the next instruction, or null where the calls are to run one by one.
  const uint16_t* ReadCall(Frame* frame, const uint16_t* pc, CallsTogether* calls) const;
  // Waits for others to run this call with. False when it is to run by itself.
  bool RunWithOthers(const KernelCall& call);
  bool TraceKernel(Frame* frame, const uint16_t* pc, const KernelCall& call);
  // Runs a call.host; in interpreter_host.cc.
  bool CallHost(Frame* frame, const uint16_t* pc);
  // What is before and after the host's function.
  bool ExportHostArguments(Frame* frame, const uint16_t* pc, std::vector<Value>* args,
                           BorderPoll* poll);
  bool ImportHostResult(Frame* frame, const uint16_t* pc, std::span<const Value> args,
                        const Result<Value>& result, BorderPoll* poll);
  void TraceHostCall(Frame* frame, const uint16_t* pc, int64_t begin);
  bool FailHost(Frame* frame, const uint16_t* pc, const Status& status);
  bool FailHostStopped(Frame* frame, const uint16_t* pc, const BorderPoll& poll);
  void TraceInstruction(Frame* frame, const uint16_t* pc);
  StatusPlace PlaceOf(const FunctionCode* function, const uint16_t* pc) const;

  const Executable& executable_;
  const LinkedProgram& linked_;
  Tensor* const* const constants_;  // where they are for this run
  InterpreterContext& context_;
  Heap& heap_;
  RunCounters& counters_;
  int64_t fuel_ = 0;                 // polls until the clock is read
  const char* stack_end_ = nullptr;  // of what the VM stack is charged for
  const bool parallel_;              // on several threads
  uint32_t depth_ = 0;               // of calls; kept when traced
  // Of the sink; calls until the next one that is traced; that one, while it runs.
  bool wants_instructions_ = false;
  uint32_t kernel_interval_ = 0;
  uint64_t until_sample_ = 0;
  KernelEvent* traced_kernel_ = nullptr;
  Object* result_ = nullptr;
  Status error_;
  KernelRunner runner_;
};

}  // namespace relayvm::vm

// TraceSink: what an embedder implements to see a program run. Without one, the interpreter runs a
// loop that has no hooks. Tested by interpreter_kernel_test.cc.
#pragma once

#include <cstdint>
#include <string_view>

namespace relayvm {

struct KernelEvent {
  uint32_t kernel;  // index into Program::kernels
  std::string_view name;
  int64_t begin_ns, end_ns;  // steady clock
  uint64_t units;            // of the parallel range
};

struct InstructionEvent {
  uint32_t function;  // index into Program::functions
  uint32_t pc;        // units from the function's first
  uint32_t depth;     // of calls: 0 in the function that the host called
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // After each kernel call, on the invocation's thread. Invocations that share a sink call it at
  // the same time.
  virtual void OnKernel(const KernelEvent& event) { (void)event; }
  // Before each instruction, if wants_instructions().
  virtual void OnInstruction(const InstructionEvent& event) { (void)event; }
  virtual bool wants_instructions() const { return false; }
};

}  // namespace relayvm

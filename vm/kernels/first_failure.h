// What the tasks of one kernel call failed with: of those that did, the one with the lowest number
// counts. Thread-safe; tested by batch_test.cc and graph_module_test.cc.
#pragma once

#include <cstdint>
#include <mutex>

#include "bytecode/kernel_abi.h"

namespace relayvm::vm {

class FirstFailure {
 public:
  // Runs a part of a task: run(env) gives a kernel's code. `env` is copied, with a place of its own
  // for what the kernel says of its data.
  template <typename Env, typename Run>
  int32_t Watch(const Env& env, uint32_t task, const Run& run) {
    RelayvmKernelFault fault{};
    Env own = env;
    own.fault = &fault;
    const int32_t code = run(own);
    if (code != RELAYVM_KERNEL_OK) Note(task, code, fault);
    return code;
  }
  void Note(uint32_t task, int32_t code, const RelayvmKernelFault& fault = {}) {
    const std::lock_guard lock(mutex_);
    if (code_ != RELAYVM_KERNEL_OK && task_ <= task) return;
    task_ = task;
    code_ = code;
    fault_ = fault;
  }

  // Once all tasks are over.
  int32_t code() const { return code_; }  // RELAYVM_KERNEL_OK: none failed
  uint32_t task() const { return task_; }
  const RelayvmKernelFault& fault() const { return fault_; }

 private:
  std::mutex mutex_;
  uint32_t task_ = 0;
  int32_t code_ = RELAYVM_KERNEL_OK;
  RelayvmKernelFault fault_{};
};

}  // namespace relayvm::vm

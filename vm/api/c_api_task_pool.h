// What a C host injects as a struct of functions; its threads, for runtimes and for graphs.
#pragma once

#include <memory>

#include "vm/api/c_api_internal.h"
#include "vm/kernels/task_pool.h"

namespace relayvm::c_api {

// A struct of functions, whose release is called at its end unless that was never taken over.
template <typename Functions>
class Taken {
 public:
  explicit Taken(const Functions& functions) : functions_(functions) {}
  ~Taken() {
    if (taken_ && functions_.release != nullptr) functions_.release(functions_.user);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  void Take() { taken_ = true; }
  const Functions& operator*() const { return functions_; }
  const Functions* operator->() const { return &functions_; }

 private:
  Functions functions_;
  bool taken_ = false;
};

class HostPool : public TaskPool {
 public:
  explicit HostPool(const relayvm_task_pool& functions) : functions_(functions) {}
  uint32_t num_threads() const override { return functions_->num_threads; }
  void Run(uint32_t num_tasks, TaskFn task, void* context) override {
    functions_->run(functions_->user, num_tasks, task, context);
  }
  void Take() { functions_.Take(); }

 private:
  Taken<relayvm_task_pool> functions_;
};

inline Result<std::unique_ptr<HostPool>> ReadTaskPool(const relayvm_task_pool* from) {
  constexpr size_t kFirstSize = 32;
  static_assert(sizeof(relayvm_task_pool) >= kFirstSize);
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_task_pool pool,
                           RELAYVM_READ_OPTIONS(from, relayvm_task_pool, kFirstSize));
  if (pool.run == nullptr)
    return Status(StatusCode::kInvalidArgument, "relayvm_task_pool: run is NULL");
  return std::make_unique<HostPool>(pool);
}

}  // namespace relayvm::c_api

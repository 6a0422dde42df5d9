// ServedModel: one version of a model that is loaded. Immutable but for its counts; whoever runs it
// holds it, and its memory goes with the last one. Thread-safe. Tested by model_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/inference.h"
#include "tools/serve/metrics.h"
#include "vm/api/relayvm.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

struct TensorSpec {
  std::string name;
  std::optional<DType> dtype;  // none: known when it runs
  std::vector<int64_t> dims;   // -1: any
  bool is_optional = false;
};

// What a model counts, for all its versions.
struct ModelMetrics {
  ModelMetrics(Metrics& metrics, const std::string& model);
  // Of a request that was answered with an HTTP status.
  void CountAnswer(int code);
  uint64_t answers(int code) const;

  static constexpr int kCodes[] = {200, 400, 404, 409, 413, 429, 499, 500, 503, 504};
  std::vector<Counter*> by_code;  // as kCodes
  Counter& runs;
  Counter& lost;  // without memory for the answer
  Histogram& queued;
  Histogram& ran;
};

class ServedModel {
 public:
  // kUnsupported where inputs are not tensors, and where there is no function main and several
  // others.
  static Result<std::shared_ptr<ServedModel>> Create(std::string name, std::string version,
                                                     std::shared_ptr<const Executable> executable,
                                                     RunGroup group,
                                                     std::shared_ptr<ModelMetrics> metrics);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::shared_ptr<const Executable>& executable() const { return executable_; }
  const FunctionSignature& function() const { return *function_; }
  // Without those of states.
  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }
  const RunGroup& group() const { return group_; }
  ModelMetrics& metrics() const { return *metrics_; }

  // The inputs in the function's order, those of states empty. kInvalidArgument names what is
  // missing, unknown or of another type.
  Result<std::vector<Value>> OrderInputs(std::vector<InferTensor> inputs) const;
  // Those that are asked for, or all. kUnsupported for what is no tensor.
  Result<std::vector<InferTensor>> TakeOutputs(const Value& result,
                                               const std::vector<RequestedOutput>& asked) const;
  // Fails where an output that is asked for is none, or is asked for twice: before it is run for
  // nothing.
  Status CheckOutputs(const std::vector<RequestedOutput>& asked) const;
  // {"name": ..., "inputs": ...} of the protocol.
  std::string MetadataJson() const;

  // What runs take of late, with making their answers; 0: none has ended.
  int64_t typical_run_ns() const { return typical_run_ns_.load(std::memory_order_relaxed); }
  void NoteRun(int64_t ns) const;

 private:
  ServedModel(std::string name, std::string version, std::shared_ptr<const Executable> executable,
              const FunctionSignature* function, RunGroup group,
              std::shared_ptr<ModelMetrics> metrics);
  Status Describe();

  std::string name_, version_;
  std::shared_ptr<const Executable> executable_;
  const FunctionSignature* function_;  // of it
  std::vector<TensorSpec> inputs_, outputs_;
  RunGroup group_;
  std::shared_ptr<ModelMetrics> metrics_;
  mutable std::atomic<int64_t> typical_run_ns_{0};
};

}  // namespace relayvm::serve

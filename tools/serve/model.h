// ServedModel: one version of a model that is loaded. Immutable but for its counts; whoever runs it
// holds it, and its memory goes with the last one. Thread-safe. Tested by model_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/memory_formula.h"
#include "tools/serve/metrics.h"
#include "tools/serve/model_config.h"
#include "tools/serve/protocol/inference.h"
#include "vm/api/relayvm.h"
#include "vm/schedule/scheduler.h"

namespace relayvm::serve {

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
  // Runs by how many requests they were for: up to kBatchSizes[i], and more.
  static constexpr std::array<size_t, 8> kBatchSizes = {1, 2, 4, 8, 16, 32, 64, 128};
  void CountBatch(size_t requests);
  std::vector<Counter*> batches;
  // The same by each number of requests, and what these runs took; kMaxBatchSize: and more.
  struct BatchTimes {
    uint64_t count = 0;
    int64_t ns = 0;
  };
  static constexpr size_t kMaxBatchSize = 1024;
  void AddBatchTime(size_t requests, int64_t ns);
  std::map<size_t, BatchTimes> batch_times() const;

 private:
  mutable std::mutex mutex_;
  std::map<size_t, BatchTimes> batch_times_;
};

class ServedModel {
 public:
  // kUnsupported where inputs are not tensors, where there is no function main and several others,
  // and where rows are said to be independent that the types do not let be joined. kInvalidInput
  // where the configuration names states that the file has not.
  static Result<std::shared_ptr<ServedModel>> Create(std::string name, std::string version,
                                                     std::shared_ptr<const Executable> executable,
                                                     RunGroup group,
                                                     std::shared_ptr<ModelMetrics> metrics,
                                                     const ModelConfig& config = {});

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
  // {"name": ..., "versions": ..., "inputs": ...} of the protocol.
  std::string MetadataJson(std::span<const std::string> versions) const;

  // Keeps what ends with the version. REQUIRES: nobody else has it yet.
  void Attach(std::shared_ptr<const void> attached) { attached_.push_back(std::move(attached)); }

  const ModelConfig& config() const { return config_; }
  // Whether requests may be joined by rows (batch_rows.h).
  bool is_joinable() const { return config_.independent_rows && max_batch() > 1; }
  int64_t max_batch() const { return config_.max_batch.value_or(kDefaultMaxBatch); }
  std::chrono::nanoseconds max_delay() const {
    return config_.max_delay.value_or(std::chrono::nanoseconds(0));
  }
  // What a run needs, where that is known and counted.
  const std::optional<MemoryFormula>& memory() const { return memory_; }
  // Whether its calls of kernels run together with those of other runs.
  bool has_batched_kernels() const { return has_batched_kernels_; }
  static constexpr int64_t kDefaultMaxBatch = 32;

  // What runs take of late, with making their answers; 0: none has ended.
  int64_t typical_run_ns() const { return typical_run_ns_.load(std::memory_order_relaxed); }
  void NoteRun(int64_t ns) const { Note(ns, &typical_run_ns_); }
  // The same of a request's share in a run that is for several, which is its own for one.
  int64_t typical_share_ns() const { return typical_share_ns_.load(std::memory_order_relaxed); }
  void NoteShare(int64_t ns) const { Note(ns, &typical_share_ns_); }
  // Runs that have been asked for and have not ended.
  std::atomic<uint32_t>& num_runs() const { return num_runs_; }

 private:
  ServedModel(std::string name, std::string version, std::shared_ptr<const Executable> executable,
              const FunctionSignature* function, RunGroup group,
              std::shared_ptr<ModelMetrics> metrics, const ModelConfig& config);
  static void Note(int64_t ns, std::atomic<int64_t>* typical);
  Status Describe();
  Status CheckStates() const;

  std::string name_, version_;
  std::shared_ptr<const Executable> executable_;
  const FunctionSignature* function_;  // of it
  std::vector<TensorSpec> inputs_, outputs_;
  RunGroup group_;
  std::shared_ptr<ModelMetrics> metrics_;
  std::vector<std::shared_ptr<const void>> attached_;
  ModelConfig config_;
  std::optional<MemoryFormula> memory_;
  bool has_batched_kernels_ = false;
  mutable std::atomic<int64_t> typical_run_ns_{0}, typical_share_ns_{0};
  mutable std::atomic<uint32_t> num_runs_{0};
};

}  // namespace relayvm::serve

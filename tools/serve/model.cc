#include "tools/serve/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/batch_rows.h"
#include "tools/serve/protocol/json_writer.h"

namespace relayvm::serve {
namespace {

constexpr std::string_view kMain = "main";

Result<const FunctionSignature*> FunctionOf(const Executable& executable) {
  const auto& functions = executable.info().functions;
  for (const FunctionSignature& function : functions) {
    if (function.name == kMain) return &function;
  }
  if (functions.size() == 1) return functions.data();
  return Status(StatusCode::kUnsupported,
                fmt::format("{} functions, and none of them is main", functions.size()));
}

std::vector<int64_t> SizesOf(const TypeInfo& type) {
  std::vector<int64_t> sizes;
  for (const TypeInfo::Dim& dim : type.dims) sizes.push_back(dim.size);
  return sizes;
}

void AppendTensors(const std::vector<TensorSpec>& tensors, std::string* json) {
  json->push_back('[');
  const char* separator = "";
  for (const TensorSpec& tensor : tensors) {
    *json += separator;
    separator = ",";
    *json += "{\"name\":";
    AppendJsonText(tensor.name, json);
    fmt::format_to(std::back_inserter(*json), ",\"datatype\":\"{}\",\"shape\":[{}]}}",
                   tensor.dtype ? DatatypeName(*tensor.dtype) : "", fmt::join(tensor.dims, ","));
  }
  json->push_back(']');
}

}  // namespace

ModelMetrics::ModelMetrics(Metrics& metrics, const std::string& model)
    : runs(metrics.counter("vmserve_runs_total", "Runs of models that have ended",
                           {{"model", model}})),
      lost(metrics.counter("vmserve_lost_answers_total", "Answers that there was no memory for",
                           {{"model", model}})),
      queued(metrics.histogram("vmserve_queue_seconds", "From a request's admission to its run",
                               {{"model", model}})),
      ran(metrics.histogram("vmserve_run_seconds", "Runs of models", {{"model", model}})) {
  for (const int code : kCodes) {
    by_code.push_back(&metrics.counter("vmserve_requests_total", "Inference requests, answered",
                                       {{"model", model}, {"code", std::to_string(code)}}));
  }
  for (size_t i = 0; i <= kBatchSizes.size(); ++i) {
    const std::string size = i < kBatchSizes.size() ? std::to_string(kBatchSizes[i]) : "+Inf";
    batches.push_back(&metrics.counter("vmserve_batches_total",
                                       "Runs by how many requests they were for, up to size",
                                       {{"model", model}, {"size", size}}));
  }
}

void ModelMetrics::CountBatch(size_t requests) {
  batches[static_cast<size_t>(std::ranges::lower_bound(kBatchSizes, requests) -
                              kBatchSizes.begin())]
      ->Add();
}

void ModelMetrics::AddBatchTime(size_t requests, int64_t ns) {
  const std::lock_guard lock(mutex_);
  BatchTimes& times = batch_times_[std::min(requests, kMaxBatchSize)];
  ++times.count;
  times.ns += ns;
}

std::map<size_t, ModelMetrics::BatchTimes> ModelMetrics::batch_times() const {
  const std::lock_guard lock(mutex_);
  return batch_times_;
}

void ModelMetrics::CountAnswer(int code) {
  const auto* found = std::ranges::find(kCodes, code);
  if (found == std::end(kCodes)) found = std::ranges::find(kCodes, 500);
  by_code[static_cast<size_t>(found - std::begin(kCodes))]->Add();
}

uint64_t ModelMetrics::answers(int code) const {
  const auto* found = std::ranges::find(kCodes, code);
  return found == std::end(kCodes)
             ? 0
             : by_code[static_cast<size_t>(found - std::begin(kCodes))]->value();
}

ServedModel::ServedModel(std::string name, std::string version,
                         std::shared_ptr<const Executable> executable,
                         const FunctionSignature* function, RunGroup group,
                         std::shared_ptr<ModelMetrics> metrics, const ModelConfig& config)
    : name_(std::move(name)),
      version_(std::move(version)),
      executable_(std::move(executable)),
      function_(function),
      group_(std::move(group)),
      metrics_(std::move(metrics)),
      config_(config),
      has_batched_kernels_(executable_->num_batched_kernels() > 0) {}

Result<std::shared_ptr<ServedModel>> ServedModel::Create(
    std::string name, std::string version, std::shared_ptr<const Executable> executable,
    RunGroup group, std::shared_ptr<ModelMetrics> metrics, const ModelConfig& config) {
  RELAYVM_ASSIGN_OR_RETURN(const FunctionSignature* function, FunctionOf(*executable));
  std::shared_ptr<ServedModel> model(new ServedModel(std::move(name), std::move(version),
                                                     std::move(executable), function,
                                                     std::move(group), std::move(metrics), config));
  RELAYVM_RETURN_IF_ERROR(model->Describe());
  RELAYVM_RETURN_IF_ERROR(model->CheckStates());
  if (config.counts_memory) model->memory_ = MemoryFormula::Of(*model->executable_, *function);
  if (config.independent_rows) RELAYVM_RETURN_IF_ERROR(CheckJoinable(*function));
  return model;
}

Status ServedModel::Describe() {
  const auto is_state = [&](size_t position, size_t StatePair::* side) {
    return std::ranges::any_of(function_->states,
                               [&](const StatePair& state) { return state.*side == position; });
  };
  for (size_t i = 0; i < function_->inputs.size(); ++i) {
    const NamedType& input = function_->inputs[i];
    if (is_state(i, &StatePair::input)) continue;
    const TypeInfo* type = &input.type;
    if (input.is_optional && type->args.size() == 1) type = type->args.data();
    if (type->kind != TypeInfo::Kind::kTensor) {
      return {StatusCode::kUnsupported, fmt::format("{}'s input {} is no tensor but {}",
                                                    function_->name, input.name, input.type.text)};
    }
    inputs_.push_back({input.name, type->dtype, SizesOf(*type), input.is_optional});
  }
  for (size_t i = 0; i < function_->outputs.size(); ++i) {
    const NamedType& output = function_->outputs[i];
    if (is_state(i, &StatePair::output)) continue;
    const bool is_tensor = output.type.kind == TypeInfo::Kind::kTensor;
    outputs_.push_back({output.name, is_tensor ? std::optional(output.type.dtype) : std::nullopt,
                        SizesOf(output.type), false});
  }
  return OkStatus();
}

// What the configuration says is kept has to be in the file: its kernels are made for it.
Status ServedModel::CheckStates() const {
  const auto is_there = [&](const std::string& input, const std::string& output) {
    return std::ranges::any_of(function_->states, [&](const StatePair& state) {
      return function_->inputs[state.input].name == input &&
             function_->outputs[state.output].name == output;
    });
  };
  for (const auto& [input, output] : config_.states) {
    if (is_there(input, output)) continue;
    return {StatusCode::kInvalidInput,
            fmt::format("its configuration says that {} is what {} of the run before was, and its "
                        "file does not: make that with relayc --state {}={}",
                        Printable(input), Printable(output), Printable(input), Printable(output))};
  }
  return OkStatus();
}

Result<std::vector<Value>> ServedModel::OrderInputs(std::vector<InferTensor> inputs) const {
  std::vector<NamedValue> named;
  named.reserve(std::min(inputs.size(), inputs_.size() + 1));
  for (InferTensor& input : inputs) {
    const bool is_known = std::ranges::any_of(
        inputs_, [&](const TensorSpec& spec) { return spec.name == input.name; });
    if (!is_known) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} has no input {}", name_, Printable(input.name)));
    }
    named.push_back({input.name, std::move(input.value)});
    if (named.size() > inputs_.size()) break;  // one is there twice
  }
  return function_->OrderInputs(named, /*without_states=*/true);
}

Status ServedModel::CheckOutputs(const std::vector<RequestedOutput>& asked) const {
  // An answer would grow by a tensor for each few bytes of a request.
  std::vector<bool> is_asked(outputs_.size());
  for (const RequestedOutput& output : asked) {
    const auto found = std::ranges::find(outputs_, output.name, &TensorSpec::name);
    if (found == outputs_.end()) {
      return {StatusCode::kInvalidArgument,
              fmt::format("{} has no output {}", name_, Printable(output.name))};
    }
    const auto position = static_cast<size_t>(found - outputs_.begin());
    if (is_asked[position]) {
      return {StatusCode::kInvalidArgument,
              fmt::format("output {} is asked for twice", Printable(output.name))};
    }
    is_asked[position] = true;
  }
  return OkStatus();
}

Result<std::vector<InferTensor>> ServedModel::TakeOutputs(
    const Value& result, const std::vector<RequestedOutput>& asked) const {
  std::vector<InferTensor> outputs;
  const auto take = [&](const std::string& name) -> Status {
    RELAYVM_ASSIGN_OR_RETURN(Value value, function_->FindOutput(result, name));
    if (!value || !value.is_tensor()) {
      return {StatusCode::kUnsupported,
              fmt::format("{}'s output {} is no tensor, which this protocol cannot carry", name_,
                          name)};
    }
    outputs.push_back({name, std::move(value)});
    return OkStatus();
  };
  if (asked.empty()) {
    for (const TensorSpec& spec : outputs_) RELAYVM_RETURN_IF_ERROR(take(spec.name));
  }
  for (const RequestedOutput& output : asked) RELAYVM_RETURN_IF_ERROR(take(output.name));
  return outputs;
}

std::string ServedModel::MetadataJson(std::span<const std::string> versions) const {
  std::string json = "{\"name\":";
  AppendJsonText(name_, &json);
  json += ",\"versions\":[";
  const char* separator = "";
  for (const std::string& version : versions) {
    json += std::exchange(separator, ",");
    AppendJsonText(version, &json);
  }
  json += "],\"platform\":\"relayvm_vmx\",\"inputs\":";
  AppendTensors(inputs_, &json);
  json += ",\"outputs\":";
  AppendTensors(outputs_, &json);
  json.push_back('}');
  return json;
}

void ServedModel::Note(int64_t ns, std::atomic<int64_t>* typical) {
  // Of the latest eight or so. Threads that do this at once lose each other's: no matter.
  const int64_t before = typical->load(std::memory_order_relaxed);
  const int64_t now = before == 0 ? ns : before + (ns - before) / 8;
  typical->store(std::max<int64_t>(now, 1), std::memory_order_relaxed);
}

}  // namespace relayvm::serve

#include "vm/border/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/suggestion.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

// The type of a state's input, also where that may be left out.
const TypeInfo& TensorOf(const NamedType& input) {
  return input.is_optional ? input.type.args[0] : input.type;
}

// A host may write its memory anew.
Result<Value> OwnOf(Value value) {
  if (!value.is_tensor() || !value.is_borrowed()) return value;
  return Value::CopyTensor(value.dtype(), value.dims(), value.data());
}

}  // namespace

State::State(std::shared_ptr<const Executable> executable, const FunctionSignature* function)
    : executable_(std::move(executable)), function_(function), values_(function->states.size()) {}

Result<State> State::Create(std::shared_ptr<const Executable> executable,
                            std::string_view function) {
  return Guarded([&]() -> Result<State> {
    RELAYVM_ASSIGN_OR_RETURN(const FunctionSignature* found,
                             executable->info().FindFunction(function));
    if (found->states.empty()) {
      return Status(StatusCode::kFailedPrecondition,
                    fmt::format("{} keeps nothing between runs: relayc --state IN=OUT says which "
                                "input is what an output of the run before was",
                                found->name));
    }
    return State(std::move(executable), found);
  });
}

Result<size_t> State::Find(std::string_view name) const {
  std::vector<std::string> names;
  for (const StatePair& state : function_->states) {
    names.push_back(function_->inputs[state.input].name);
    if (names.back() == name) return names.size() - 1;
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string meant = DidYouMean(name, views);
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} keeps no '{}'{}", function_->name, name,
                            meant.empty() ? "; it keeps " + Joined(names) : meant));
}

Result<Value> State::Get(std::string_view name) const {
  return Guarded([&]() -> Result<Value> {
    RELAYVM_ASSIGN_OR_RETURN(const size_t i, Find(name));
    return values_[i];
  });
}

Status State::Set(std::string_view name, Value value) {
  return Guarded([&]() -> Status {
    RELAYVM_ASSIGN_OR_RETURN(const size_t i, Find(name));
    RELAYVM_ASSIGN_OR_RETURN(values_[i], OwnOf(std::move(value)));
    return OkStatus();
  });
}

void State::Reset() {
  for (Value& value : values_) value = Value();
}

Result<Value> State::Zeros(const StatePair& state, std::span<const Value> inputs,
                           Runtime* runtime) const {
  // The size of that name in an input, or -1.
  const auto size_of = [&](const std::string& name) -> int64_t {
    for (size_t i = 0; i < inputs.size() && !name.empty(); ++i) {
      const TypeInfo& input = TensorOf(function_->inputs[i]);
      if (input.kind != TypeInfo::Kind::kTensor || !inputs[i].is_tensor()) continue;
      for (size_t d = 0; d < input.dims.size() && d < inputs[i].dims().size(); ++d)
        if (input.dims[d].name == name) return inputs[i].dims()[d];
    }
    return -1;
  };
  const TypeInfo& type = TensorOf(function_->inputs[state.input]);
  const TypeInfo& next = function_->outputs[state.output].type;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    const TypeInfo::Dim& dim = type.dims[i];
    dims.push_back(std::max<int64_t>(
        0, dim.size >= 0 ? dim.size : std::max(size_of(dim.name), next.dims[i].size)));
  }
  RELAYVM_ASSIGN_OR_RETURN(Value zeros, runtime == nullptr ? Value::NewTensor(type.dtype, dims)
                                                           : runtime->NewTensor(type.dtype, dims));
  if (zeros.bytes() > 0) std::memset(zeros.mutable_data(), 0, zeros.bytes());
  return zeros;
}

Status State::Begin(std::vector<Value>* inputs, std::span<const OutputBuffer> outputs,
                    Runtime* runtime) {
  return Guarded([&]() -> Status {
    if (in_run_.is)
      return {StatusCode::kFailedPrecondition,
              "the state is in a run, which has to end first; a copy of it is another stream's"};
    for (const StatePair& state : function_->states) {
      const auto end = function_->outputs.begin() + static_cast<ptrdiff_t>(state.output);
      const auto tensor = static_cast<size_t>(std::count_if(
          function_->outputs.begin(), end,
          [](const NamedType& output) { return output.type.kind == TypeInfo::Kind::kTensor; }));
      if (tensor >= outputs.size() || outputs[tensor].data == nullptr) continue;
      return {StatusCode::kInvalidArgument,
              fmt::format("output '{}' is the next run's '{}': it can't go to a buffer", end->name,
                          function_->inputs[state.input].name)};
    }
    std::vector<Value> filled = *inputs;
    filled.resize(std::max(filled.size(), function_->inputs.size()));
    const auto is_missing = [&](const StatePair& state) { return !filled[state.input]; };
    for (size_t i = 0; i < values_.size(); ++i) {
      if (is_missing(function_->states[i])) filled[function_->states[i].input] = values_[i];
    }
    for (const StatePair& state : function_->states) {
      const NamedType& input = function_->inputs[state.input];
      if (!is_missing(state) || input.is_optional) continue;
      Result<Value> zeros = Zeros(state, filled, runtime);
      if (!zeros.ok()) return zeros.status().WithContext("state " + input.name);
      filled[state.input] = *std::move(zeros);
    }
    *inputs = std::move(filled);
    if (in_place_) Reset();
    in_run_.is = true;
    return OkStatus();
  });
}

Status State::End(const Result<Value>& result) {
  in_run_.is = false;
  if (!result.ok()) return OkStatus();
  return Guarded([&]() -> Status {
    std::vector<Value> kept;
    for (const StatePair& state : function_->states) {
      RELAYVM_ASSIGN_OR_RETURN(
          Value value, function_->FindOutput(*result, function_->outputs[state.output].name));
      RELAYVM_ASSIGN_OR_RETURN(kept.emplace_back(), OwnOf(std::move(value)));
    }
    values_ = std::move(kept);
    return OkStatus();
  });
}

}  // namespace relayvm

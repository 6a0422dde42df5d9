#include "vm/border/state.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/suggestion.h"
#include "vm/run/executable.h"

namespace relayvm {
namespace {

// The type of a state's input, also where that may be left out.
const TypeInfo& TensorOf(const NamedType& input) {
  return input.is_optional ? input.type.args[0] : input.type;
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
    values_[i] = std::move(value);
    return OkStatus();
  });
}

void State::Reset() {
  for (Value& value : values_) value = Value();
}

Result<Value> State::Zeros(const TypeInfo& type, std::span<const Value> inputs) const {
  // The size of that name in an input, or 0.
  const auto size_of = [&](const std::string& name) -> int64_t {
    for (size_t i = 0; i < inputs.size() && !name.empty(); ++i) {
      const TypeInfo& input = function_->inputs[i].type;
      if (input.kind != TypeInfo::Kind::kTensor || !inputs[i].is_tensor()) continue;
      for (size_t d = 0; d < input.dims.size() && d < inputs[i].dims().size(); ++d)
        if (input.dims[d].name == name) return inputs[i].dims()[d];
    }
    return 0;
  };
  std::vector<int64_t> dims;
  for (const TypeInfo::Dim& dim : type.dims)
    dims.push_back(dim.size >= 0 ? dim.size : size_of(dim.name));
  RELAYVM_ASSIGN_OR_RETURN(Value zeros, Value::NewTensor(type.dtype, dims));
  if (zeros.bytes() > 0) std::memset(zeros.mutable_data(), 0, zeros.bytes());
  return zeros;
}

Status State::Fill(std::vector<Value>* inputs) const {
  return Guarded([&]() -> Status {
    if (inputs->size() < function_->inputs.size()) inputs->resize(function_->inputs.size());
    std::vector<Value> given = *inputs;
    for (size_t i = 0; i < values_.size(); ++i) {
      const size_t position = function_->states[i].input;
      Value& input = (*inputs)[position];
      if (input) continue;
      input = values_[i];
      const NamedType& declared = function_->inputs[position];
      if (input || declared.is_optional) continue;
      Result<Value> zeros = Zeros(TensorOf(declared), given);
      if (!zeros.ok()) return zeros.status().WithContext("state " + declared.name);
      input = *std::move(zeros);
    }
    return OkStatus();
  });
}

Status State::Keep(const Value& result) {
  return Guarded([&]() -> Status {
    std::vector<Value> kept;
    for (const StatePair& state : function_->states) {
      const std::string& name = function_->outputs[state.output].name;
      RELAYVM_ASSIGN_OR_RETURN(kept.emplace_back(), function_->FindOutput(result, name));
      if (kept.back()) continue;
      return {StatusCode::kInvalidArgument,
              fmt::format("output '{}' is the next run's '{}': expected it in the result, found it "
                          "in a buffer",
                          name, function_->inputs[state.input].name)};
    }
    values_ = std::move(kept);
    return OkStatus();
  });
}

}  // namespace relayvm

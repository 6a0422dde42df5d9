#include "vm/border/model_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/suggestion.h"
#include "bytecode/disassembler.h"
#include "bytecode/program.h"
#include "vm/border/optional_inputs.h"
#include "vm/border/outputs.h"

namespace relayvm {
namespace {

static_assert(static_cast<int>(TypeInfo::Kind::kTypeVar) ==
              static_cast<int>(ValueType::Kind::kTypeVar));

// Types nest as deep as the verifier allows.
TypeInfo MakeType(const Program& program, const ValueType& from) {
  TypeInfo type{.kind = static_cast<TypeInfo::Kind>(from.kind),
                .dtype = from.dtype,
                .index = from.index,
                .text = TypeToString(program, from)};
  for (size_t i = 0; i < from.dims.size(); ++i)
    type.dims.push_back({from.dims[i], i < from.dim_names.size() ? from.dim_names[i] : ""});
  for (const ValueType& arg : from.args) type.args.push_back(MakeType(program, arg));
  return type;
}

bool IsTensor(const TypeInfo& type) { return type.kind == TypeInfo::Kind::kTensor; }

FunctionSignature MakeSignature(const Program& program, const ExportInfo& from) {
  FunctionSignature to{.name = from.name,
                       .num_type_params = from.num_type_params,
                       .result = MakeType(program, from.result)};
  for (size_t i = 0; i < from.params.size(); ++i) {
    to.inputs.push_back({from.param_names[i], MakeType(program, from.params[i]),
                         vm::OptionalFormOf(program, from.params[i]).has_value()});
  }
  std::vector<const ValueType*> outputs;
  vm::AddOutputs(from.result, &outputs);
  std::vector<std::string> names = vm::OutputNames(from, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (names[i].empty()) names[i] = fmt::format("output_{}", i);
    to.outputs.push_back({std::move(names[i]), MakeType(program, *outputs[i])});
  }
  for (const StateInfo& state : from.states) to.states.push_back({state.input, state.output});
  return to;
}

Status Wrong(const FunctionSignature& function, std::string_view name, const std::string& text) {
  return {StatusCode::kInvalidArgument, function.name + ": " + text,
          std::make_shared<StatusDetail>(StatusDetail{.subject = std::string(name)})};
}

// "; did you mean ids?", or "; inputs: ids, mask", where `what` they are.
template <typename Named>
std::string Instead(std::string_view name, const std::vector<Named>& all, std::string_view what) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string meant = DidYouMean(name, views);
  return meant.empty() ? fmt::format("; {}s: {}", what, Joined(names)) : meant;
}

// The position of the one that is called so.
Result<size_t> PositionOf(const FunctionSignature& function, const std::vector<NamedType>& all,
                          const char* what, std::string_view name) {
  const auto found = std::ranges::find(all, name, &NamedType::name);
  if (found != all.end()) return static_cast<size_t>(found - all.begin());
  return Wrong(function, name,
               fmt::format("there is no {} '{}'{}", what, name, Instead(name, all, what)));
}

// The value of output `left` of those in a value of that type, which has been counted down where it
// is not found.
Value OutputAt(const TypeInfo& type, const Value& value, size_t* left) {
  if (type.kind != TypeInfo::Kind::kTuple) return (*left)-- == 0 ? value : Value();
  for (size_t i = 0; i < type.args.size(); ++i) {
    const bool is_there = value.kind() == Value::Kind::kAdt && i < value.num_fields();
    Value found = OutputAt(type.args[i], is_there ? value.field(i) : Value(), left);
    if (*left == SIZE_MAX) return found;
  }
  return {};
}

}  // namespace

ModelInfo ModelInfo::Of(const Program& program) {
  ModelInfo info{.targets = program.targets};
  for (const ExportInfo& e : program.exports) info.functions.push_back(MakeSignature(program, e));
  for (const AdtInfo& adt : program.adts) {
    DataTypeInfo& to = info.data_types.emplace_back(adt.name, adt.num_type_params);
    for (const ConstructorInfo& constructor : adt.constructors) {
      auto& fields = to.constructors.emplace_back(constructor.name).fields;
      for (const ValueType& field : constructor.fields) fields.push_back(MakeType(program, field));
    }
  }
  return info;
}

Result<const FunctionSignature*> ModelInfo::FindFunction(std::string_view name) const {
  return Guarded([&]() -> Result<const FunctionSignature*> {
    const auto found = std::ranges::find(functions, name, &FunctionSignature::name);
    if (found != functions.end()) return &*found;
    return Status(StatusCode::kNotFound,
                  fmt::format("the program has no function '{}'{}", name,
                              Instead(name, functions, "function")),
                  std::make_shared<StatusDetail>(StatusDetail{.subject = std::string(name)}));
  });
}

Result<std::vector<Value>> FunctionSignature::OrderInputs(std::span<const NamedValue> given,
                                                          bool without_states) const {
  return Guarded([&]() -> Result<std::vector<Value>> {
    std::vector<Value> ordered(inputs.size());
    std::vector<bool> is_given(inputs.size());
    std::vector<bool> may_be_missing(inputs.size());
    for (const StatePair& state : states) may_be_missing[state.input] = without_states;
    for (const NamedValue& one : given) {
      RELAYVM_ASSIGN_OR_RETURN(const size_t i, PositionOf(*this, inputs, "input", one.name));
      if (is_given[i])
        return Wrong(*this, one.name, fmt::format("input '{}' is given twice", one.name));
      is_given[i] = true;
      ordered[i] = one.value;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (is_given[i] || inputs[i].is_optional || may_be_missing[i]) continue;
      return Wrong(*this, inputs[i].name,
                   fmt::format("input '{}' ({}) is missing", inputs[i].name, inputs[i].type.text));
    }
    return ordered;
  });
}

Result<std::vector<OutputBuffer>> FunctionSignature::OrderBuffers(
    std::span<const NamedBuffer> given) const {
  return Guarded([&]() -> Result<std::vector<OutputBuffer>> {
    // Buffers are counted by tensors.
    const auto is_tensor = [](const NamedType& output) { return IsTensor(output.type); };
    std::vector<OutputBuffer> ordered(
        static_cast<size_t>(std::ranges::count_if(outputs, is_tensor)));
    for (const NamedBuffer& one : given) {
      RELAYVM_ASSIGN_OR_RETURN(const size_t i, PositionOf(*this, outputs, "output", one.name));
      if (!is_tensor(outputs[i])) {
        return Wrong(*this, one.name,
                     fmt::format("output '{}' is {}, expected a tensor for a buffer", one.name,
                                 outputs[i].type.text));
      }
      const auto end = outputs.begin() + static_cast<ptrdiff_t>(i);
      OutputBuffer& buffer =
          ordered[static_cast<size_t>(std::count_if(outputs.begin(), end, is_tensor))];
      if (buffer.data != nullptr)
        return Wrong(*this, one.name, fmt::format("output '{}' is given twice", one.name));
      buffer = one.buffer;
    }
    return ordered;
  });
}

Result<Value> FunctionSignature::FindOutput(const Value& value, std::string_view output) const {
  return Guarded([&]() -> Result<Value> {
    RELAYVM_ASSIGN_OR_RETURN(size_t i, PositionOf(*this, outputs, "output", output));
    Value found = OutputAt(result, value, &i);
    return found.kind() == Value::Kind::kNone ? Value() : found;
  });
}

}  // namespace relayvm

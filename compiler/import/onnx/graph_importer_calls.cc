// Calls of what the model or the user defines: functions of the model, operators of a library.
#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <utility>

#include "compiler/import/onnx/graph_importer.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

std::vector<Value> GraphImporter::CallCustom(const OpDef& op, const onnx::NodeProto& node,
                                             const std::vector<Value>& inputs) {
  NodeContext context(*this, node, inputs, OpsetOf(node.domain()), call_);
  const auto wanted = static_cast<size_t>(op.num_args);
  if (inputs.size() != wanted || !std::all_of(inputs.begin(), inputs.end(), [](const Value& v) {
        return static_cast<bool>(v);
      })) {
    return context.Fail("operator {} takes {} inputs, all of them; found {}", op.name, wanted,
                        inputs.size());
  }
  Attrs attrs;
  for (const auto& given : node.attribute()) {
    if (!context.HasAttr(given.name())) continue;  // it refers to what the call leaves out
    const auto field = std::find_if(op.attrs.begin(), op.attrs.end(),
                                    [&](const AttrField& f) { return f.name == given.name(); });
    if (field == op.attrs.end()) {
      return context.Fail("operator {} has no attribute {}", op.name, given.name());
    }
    switch (field->kind) {
      case AttrKind::kFloat:
        attrs.Set(given.name(), AttrValue(context.Float(given.name(), 0)));
        break;
      case AttrKind::kBool:
        attrs.Set(given.name(), AttrValue(context.Int(given.name(), 0) != 0));
        break;
      case AttrKind::kInts: {
        AttrList list;
        for (const int64_t i : context.Ints(given.name())) list.emplace_back(i);
        attrs.Set(given.name(), AttrValue(std::move(list)));
        break;
      }
      default:
        attrs.Set(given.name(), AttrValue(context.Int(given.name(), 0)));
    }
  }
  if (!builder_.status().ok()) return {};
  const Value result = builder_.Op(op, inputs, attrs);
  if (!builder_.status().ok()) return {};
  return result.is_tensor() ? std::vector<Value>{result} : builder_.Fields(result);
}

namespace {

// Attributes of a function with the values that they have where a call gives none: a field that is
// newer than the installed schema.
std::vector<onnx::AttributeProto> DefaultsOf(const onnx::FunctionProto& function) {
  constexpr int kAttributeProto = 11;
  std::vector<onnx::AttributeProto> defaults;
  const auto& unknown = function.GetReflection()->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    onnx::AttributeProto attr;
    if (field.number() == kAttributeProto &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED &&
        attr.ParseFromString(field.length_delimited())) {
      defaults.push_back(std::move(attr));
    }
  }
  return defaults;
}

}  // namespace

// A function of the model is written where it is called.
std::vector<Value> GraphImporter::CallFunction(const onnx::FunctionProto& function,
                                               const onnx::NodeProto& node,
                                               const std::vector<Value>& inputs) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end() ||
      scopes_.size() >= kMaxScopes) {
    builder_.Fail("function '{}' calls itself", function.name());
    return {};
  }
  auto [defaults, is_new] = defaults_.try_emplace(&function);
  if (is_new) defaults->second = DefaultsOf(function);
  CallAttributes call;
  for (const onnx::AttributeProto& attribute : defaults->second) {
    Charge(attribute.name().size() + sizeof(void*));
    call.given[attribute.name()] = {&attribute, nullptr};
  }
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    const GivenAttribute given = Resolved(attribute, call_);
    if (given.proto != nullptr) call.given[attribute.name()] = given;
  }
  calls_.push_back(&function);
  scopes_.emplace_back();
  scopes_.back().sees_outer = false;
  for (int i = 0; i < function.input_size(); ++i) {
    Charge(function.input(i).size() + sizeof(void*));
    // What the call leaves out is left out for the nodes too.
    const auto at = static_cast<size_t>(i);
    const Given given{at < inputs.size() ? inputs[at] : Value{}, nullptr};
    if (!scopes_.back().values.emplace(function.input(i), given).second &&
        !function.input(i).empty()) {
      builder_.Fail("function '{}' has two inputs of the name '{}'", function.name(),
                    function.input(i));
    }
  }
  // Opsets of the model, for what the function does not say.
  std::vector<std::pair<std::string, int>> outer_opsets;
  for (const auto& opset : function.opset_import()) {
    const std::string domain(CanonicalDomain(opset.domain()));
    Charge(domain.size() + sizeof(void*));
    outer_opsets.emplace_back(domain, OpsetOf(domain));
    opsets_[domain] = static_cast<int>(std::clamp<int64_t>(opset.version(), 0, 1'000'000));
  }
  Body body{fmt::format("function '{}'", function.name()), {}, {}};
  for (const onnx::NodeProto& inner : function.node()) body.nodes.push_back(&inner);
  for (const std::string& output : function.output()) {
    Charge(output.size() + sizeof(void*));
    body.outputs.push_back(output);
  }
  Sort(body);
  const CallAttributes* outer = std::exchange(call_, &call);
  std::vector<Value> outputs = ImportNodes(body, 0);
  call_ = outer;
  while (!outer_opsets.empty()) {  // the last first: a domain may be there twice
    opsets_[outer_opsets.back().first] = outer_opsets.back().second;
    outer_opsets.pop_back();
  }
  scopes_.pop_back();
  calls_.pop_back();
  return outputs;
}

}  // namespace relayvm::import

#include "tools/values/flat_value.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace relayvm::tools {
namespace {

struct Item {
  Value value;
  std::optional<TypeTable::Id> type;  // nothing: unknown
};

std::string FunctionName(const Program& program, uint32_t index) {
  return index < program.functions.size() ? program.functions[index].name : std::to_string(index);
}

}  // namespace

Result<FlatValue> Flatten(const Value& value, TypeTable& types, TypeTable::Id type) {
  FlatValue out;
  std::vector<Item> stack;
  stack.push_back({value, type});
  while (!stack.empty()) {
    Item item = std::move(stack.back());
    stack.pop_back();
    if (out.size() + stack.size() >= kMaxFlatNodes) {
      return {
          StatusCode::kOutOfRange,
          fmt::format("the result has more than {} parts; it cannot be printed", kMaxFlatNodes)};
    }
    FlatNode node{FlatNode::Kind::kTensor};
    const std::vector<TypeTable::Id>* fields = nullptr;
    size_t count = 0;
    switch (item.value.kind()) {
      case Value::Kind::kNone:
        return {StatusCode::kInternal, "the result has an empty part"};
      case Value::Kind::kTensor:
        node.tensor = item.value;
        break;
      case Value::Kind::kClosure:
        node.kind = FlatNode::Kind::kFunction;
        node.name = FunctionName(types.program(), item.value.function());
        break;
      case Value::Kind::kRef:
        node.kind = FlatNode::Kind::kRef;
        count = 1;
        if (item.type && types.kind(*item.type) == ValueType::Kind::kRef)
          fields = &types.args(*item.type);
        break;
      case Value::Kind::kAdt: {
        uint32_t tag = item.value.tag();
        count = item.value.num_fields();
        node.kind = FlatNode::Kind::kTuple;
        bool is_adt = item.type && types.kind(*item.type) == ValueType::Kind::kAdt;
        if (is_adt && tag < types.adt(*item.type).constructors.size()) {
          node.kind = FlatNode::Kind::kConstructor;
          node.name = types.adt(*item.type).constructors[tag].name;
          fields = &types.ConstructorFields(*item.type, tag);
        } else if (item.type && types.kind(*item.type) == ValueType::Kind::kTuple) {
          fields = &types.args(*item.type);
        } else if (tag != 0) {  // of a type that the export doesn't tell
          node.kind = FlatNode::Kind::kConstructor;
          node.name = fmt::format("#{}", tag);
        }
        break;
      }
    }
    node.num_children = static_cast<uint32_t>(count);
    out.push_back(std::move(node));
    for (size_t i = count; i-- > 0;) {
      Item child{item.value.field(i), std::nullopt};
      if (fields != nullptr && i < fields->size()) child.type = (*fields)[i];
      stack.push_back(std::move(child));
    }
  }
  return out;
}

std::vector<Value> TensorsOf(const FlatValue& value) {
  std::vector<Value> out;
  for (const FlatNode& node : value) {
    if (node.kind == FlatNode::Kind::kTensor) out.push_back(node.tensor);
  }
  return out;
}

std::vector<std::string> TensorNames(const ExportInfo& function, size_t count) {
  const bool known = function.output_names.size() == count;
  std::set<std::string> taken(function.output_names.begin(), function.output_names.end());
  std::set<std::string> given;
  std::vector<std::string> out;
  for (size_t i = 0; i < count; ++i) {
    std::string name = known ? function.output_names[i] : "";
    if (name.empty() || given.contains(name)) {
      name = fmt::format("out{}", i);
      while (known && !taken.insert(name).second) name += "_";
    }
    given.insert(name);
    out.push_back(std::move(name));
  }
  return out;
}

}  // namespace relayvm::tools

#include "compiler/import/tensorflow/object_graph.h"

#include <algorithm>
#include <vector>

#include "compiler/import/container/protobuf_wire.h"

namespace relayvm::import::tensorflow {

namespace {

struct Object {
  std::vector<std::pair<std::string_view, uint64_t>> children;
  bool is_variable = false;
  std::string_view key;  // of the checkpoint
};

// Of either graph: its nodes are field 1, children of these too.
std::vector<Object> ReadObjects(std::string_view message) {
  std::vector<Object> objects;
  for (WireReader in(message); in.Next();) {
    if (in.field() != 1) continue;
    Object& object = objects.emplace_back();
    for (WireReader node(in.bytes()); node.Next();) {
      if (node.field() == 7) object.is_variable = true;
      if (node.field() == 1) {
        std::pair<std::string_view, uint64_t> child;
        for (WireReader each(node.bytes()); each.Next();) {
          if (each.field() == 1) child.second = each.number();
          if (each.field() == 2) child.first = each.bytes();
        }
        object.children.push_back(child);
      }
      if (node.field() != 2 || node.type() != WireType::kBytes) continue;
      std::string_view name, key;  // SerializedTensor
      for (WireReader each(node.bytes()); each.Next();) {
        if (each.field() == 1) name = each.bytes();
        if (each.field() == 3) key = each.bytes();
      }
      if (name == "VARIABLE_VALUE") object.key = key;
    }
  }
  return objects;
}

// What the tensors of a StructuredValue are parts of, in their order; empty: they stand alone.
void AppendKinds(std::string_view structure, int depth, std::vector<std::string_view>* kinds) {
  constexpr int kMostDepth = 50;
  constexpr size_t kMostParts = 10'000;
  // Between tuples and those with names stand dictionaries.
  constexpr uint32_t kTensorSpec = 33, kTypeSpec = 34, kBoundedSpec = 35, kList = 51, kTuple = 52,
                     kNamedTuple = 54;
  for (WireReader in(structure); in.Next() && depth < kMostDepth && kinds->size() < kMostParts;) {
    const uint32_t kind = in.field();
    if (kind == kTensorSpec || kind == kBoundedSpec) kinds->emplace_back();
    if (kind == kTypeSpec) {
      uint64_t type = 0, count = 1;
      for (WireReader spec(in.bytes()); spec.Next();) {
        if (spec.field() == 1) type = spec.number();
        if (spec.field() == 4) count = std::min<uint64_t>(spec.number(), 100);
      }
      constexpr uint64_t kSparse = 1, kRagged = 3;
      kinds->insert(kinds->end(), count,
                    type == kSparse   ? "sparse"
                    : type == kRagged ? "ragged"
                                      : "");
    }
    if (kind < kList || kind > kNamedTuple) continue;
    for (WireReader each(in.bytes()); each.Next();) {
      if (each.type() != WireType::kBytes || (kind == kNamedTuple && each.field() != 2)) continue;
      if (kind == kList || kind == kTuple) {
        AppendKinds(each.bytes(), depth + 1, kinds);
        continue;
      }
      for (WireReader entry(each.bytes()); entry.Next();) {
        if (entry.field() == 2) AppendKinds(entry.bytes(), depth + 1, kinds);
      }
    }
  }
}

// Of a function that a model's object has.
std::vector<std::string_view> KindsOfInputs(const GraphFile& file, std::string_view function) {
  std::vector<std::string_view> kinds;
  for (WireReader in(file.object_graph()); in.Next();) {
    if (in.field() != 2) continue;
    std::string_view name, body;
    for (WireReader entry(in.bytes()); entry.Next();) {
      if (entry.field() == 1) name = entry.bytes();
      if (entry.field() == 2) body = entry.bytes();
    }
    if (name != function) continue;
    for (WireReader concrete(body); concrete.Next();) {
      if (concrete.field() == 3) AppendKinds(concrete.bytes(), 0, &kinds);
    }
  }
  return kinds;
}

}  // namespace

std::optional<CompositePart> FindComposite(GraphFile& file, std::string_view output) {
  const auto named = [](std::string_view text) { return text.substr(0, text.find(':')); };
  const auto called = [](const NodeDef& node) {
    const AttrValue f = ReadAttr(node.Attr("f"));
    return f.kind == AttrValue::Kind::kFunction ? ReadFunctionRef(f.bytes).name
                                                : std::string_view();
  };
  const auto place = file.graph().places.find(named(output));
  if (place == file.graph().places.end()) return std::nullopt;
  const NodeDef& call = file.graph().nodes[place->second];
  const auto found = file.FindFunction(called(call));
  if (!found.ok() || *found == nullptr) return std::nullopt;
  const FunctionDef& wrapper = **found;
  for (const NodeDef& node : wrapper.body.nodes) {
    const std::vector<std::string_view> kinds = KindsOfInputs(file, called(node));
    for (size_t i = 0; i < kinds.size() && i < node.inputs.size(); ++i) {
      if (kinds[i].empty()) continue;
      for (size_t k = 0; k < wrapper.inputs.size() && k < call.inputs.size(); ++k) {
        if (wrapper.inputs[k].name == named(node.inputs[i]))
          return CompositePart{call.inputs[k], kinds[i]};
      }
    }
  }
  return std::nullopt;
}

std::map<std::string_view, std::string> CheckpointKeys(const GraphFile& file,
                                                       std::string_view trackable) {
  const std::vector<Object> saved = ReadObjects(file.object_graph());
  const std::vector<Object> tracked = ReadObjects(trackable);
  // Objects in both, from the roots on.
  std::vector<std::string_view> keys(saved.size());
  std::vector<bool> seen(saved.size());
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  if (!saved.empty() && !tracked.empty()) pairs.emplace_back(0, 0);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [own, other] = pairs[i];
    if (seen[own]) continue;
    seen[own] = true;
    keys[own] = tracked[other].key;
    std::map<std::string_view, uint64_t> by_name(tracked[other].children.begin(),
                                                 tracked[other].children.end());
    for (const auto& [name, child] : saved[own].children) {
      const auto found = by_name.find(name);
      if (found != by_name.end() && child < saved.size() && found->second < tracked.size())
        pairs.emplace_back(child, found->second);
    }
  }
  std::map<std::string_view, std::vector<int64_t>> captured;  // by function
  for (WireReader in(file.object_graph()); in.Next();) {
    if (in.field() != 2) continue;
    std::string_view name;
    std::vector<int64_t> objects;
    for (WireReader entry(in.bytes()); entry.Next();) {
      if (entry.field() == 1) name = entry.bytes();
      if (entry.field() != 2) continue;
      for (WireReader function(entry.bytes()); function.Next();) {
        if (function.field() == 2) AppendNumbers(function, &objects);
      }
    }
    captured[name] = std::move(objects);
  }
  std::map<std::string_view, std::string> found;
  for (const NodeDef& node : file.graph().nodes) {
    const AttrValue f = ReadAttr(node.Attr("f"));
    if (f.kind != AttrValue::Kind::kFunction) continue;
    const auto objects = captured.find(ReadFunctionRef(f.bytes).name);
    if (objects == captured.end()) continue;
    std::vector<std::string_view> inputs;
    for (const std::string_view text : node.inputs) {
      if (!text.starts_with('^')) inputs.push_back(text.substr(0, text.find(':')));
    }
    const size_t count = std::min(inputs.size(), objects->second.size());
    for (size_t i = 0; i < count; ++i) {
      const auto object =
          static_cast<uint64_t>(objects->second[objects->second.size() - count + i]);
      if (object >= saved.size() || !saved[object].is_variable || keys[object].empty()) continue;
      found.emplace(inputs[inputs.size() - count + i], keys[object]);
    }
  }
  return found;
}

}  // namespace relayvm::import::tensorflow

#include "compiler/reference/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace relayvm::reference {
namespace {

void TakeChildren(Object& o, std::vector<Value>& out) {
  auto take = [&](std::vector<Value>& from) {
    for (Value& v : from) out.push_back(std::move(v));
    from.clear();
  };
  if (auto* data = o.As<Data>()) take(data->fields);
  if (auto* ref = o.As<Reference>(); ref != nullptr && ref->content) {
    out.push_back(std::move(ref->content));
  }
  if (auto* closure = o.As<Closure>()) {
    take(closure->first_args);
    for (auto& [id, v] : closure->captured) out.push_back(std::move(v));
    closure->captured.clear();
  }
}

}  // namespace

Object::~Object() {
  std::vector<Value> doomed;
  TakeChildren(*this, doomed);
  while (!doomed.empty()) {
    Value v = std::move(doomed.back());
    doomed.pop_back();
    if (v.use_count() == 1) TakeChildren(*v, doomed);  // its own destructor finds nothing left
  }
}

Value MakeTensor(HostTensor tensor) {
  return Make(Tensor{std::make_shared<const HostTensor>(std::move(tensor))});
}
Value MakeTuple(std::vector<Value> fields) { return Make(Data{nullptr, std::move(fields)}); }

const HostTensor* TensorOf(const Value& value) {
  const auto* tensor = value == nullptr ? nullptr : value->As<Tensor>();
  return tensor == nullptr ? nullptr : tensor->data.get();
}

std::string ShownTensor(const HostTensor& t) {
  return fmt::format("Tensor[({}), {}]", fmt::join(t.shape, ", "), DTypeName(t.dtype));
}

bool Matches(const ir::Pattern& p, const Value& value) {
  if (p.kind == ir::Pattern::Kind::kWildcard || p.kind == ir::Pattern::Kind::kVar) return true;
  const auto* data = value->As<Data>();
  if (data == nullptr || data->fields.size() != p.fields.size()) return false;
  bool tuple = p.kind == ir::Pattern::Kind::kTuple;
  if (tuple != (data->constructor == nullptr)) return false;
  // A pass may copy a constructor: its place in its type tells which it is.
  if (!tuple && (data->constructor->tag != p.constructor->tag ||
                 data->constructor->adt != p.constructor->adt)) {
    return false;
  }
  for (size_t i = 0; i < p.fields.size(); ++i) {
    if (!Matches(p.fields[i], data->fields[i])) return false;
  }
  return true;
}

namespace {

// What a value of the type OneOf holds; others as they are.
Value Opened(Value v) {
  for (const Data* data = v->As<Data>();
       data != nullptr && data->constructor != nullptr && data->constructor->adt == ir::kOneOf;
       data = v->As<Data>()) {
    Value held = data->fields[0];
    v = std::move(held);
  }
  return v;
}

}  // namespace

Value OpenResult(const Value& result) {
  const Data* tuple = result->As<Data>();
  if (tuple == nullptr || tuple->constructor != nullptr) return Opened(result);
  Data opened{nullptr, {}};
  for (const Value& field : tuple->fields) opened.fields.push_back(Opened(field));
  return Make(std::move(opened));
}

}  // namespace relayvm::reference

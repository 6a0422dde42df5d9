#include "compiler/reference/value.h"

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

}  // namespace relayvm::reference

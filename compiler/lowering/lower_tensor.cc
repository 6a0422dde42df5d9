// Where tensors live: the memory of results, views.
#include <algorithm>

#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {
namespace {

std::optional<std::vector<int64_t>> StaticDims(const TensorType& type) {
  std::vector<int64_t> dims;
  for (const Dim& d : type.shape) {
    if (!d.is_const()) return std::nullopt;
    dims.push_back(d.value());
  }
  return dims;
}

}  // namespace

std::optional<uint64_t> FunctionLowering::StaticBytes(const TensorType& type) const {
  Dim bytes = ProductOf(type.shape) * Dim(DTypeBytes(type.dtype));
  if (!bytes.is_const() && !module_.bounds().empty()) {
    bytes = bytes.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
      auto bound = module_.bounds().find(symbol.symbol_id());
      if (bound == module_.bounds().end()) return std::nullopt;
      return Dim::Min(symbol, Dim(bound->second));
    });
  }
  auto most = bytes.UpperBound();
  // A bound that nobody means (saturated, of sizes that never meet, the end of a slice that takes
  // all) is none: such a tensor is made when its size is known.
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  if (!most || (*most > kMostBytes && !bytes.is_const())) return std::nullopt;
  return static_cast<uint64_t>(std::max<int64_t>(*most, 0));
}

Value FunctionLowering::AllocateTensor(const TensorType& type, bool escapes, const Value* reuse) {
  Location* l = NewLocation();
  Value value{ir::MakeType(type), l};
  auto dtype = static_cast<int64_t>(type.dtype);
  if (auto bytes = StaticBytes(type); bytes && !escapes && !module_.places()) {
    l->slot = static_cast<uint32_t>(out_.slots.size());
    out_.slots.push_back({std::max<uint64_t>(*bytes, 1)});
    return value;
  }
  if (auto dims = StaticDims(type); dims && reuse == nullptr) {
    l->object = NewObject();
    Emit(Opcode::kTensorStatic, {*l->object, module_.TensorTypeIndex(type.dtype, *dims)});
    return value;
  }
  std::vector<uint32_t> dims = EmitDims(type.shape);
  l->object = NewObject();
  MInst& inst = reuse != nullptr ? Emit(Opcode::kTensorReuse,
                                        {*l->object, *reuse->location->object, dtype, dims})
                                 : Emit(Opcode::kTensorAlloc, {*l->object, dtype, dims});
  inst.bytes = ProductOf(type.shape) * Dim(DTypeBytes(type.dtype));
  return value;
}

// `reuse`: whose memory the kernel may overwrite, or null.
Value FunctionLowering::AllocateResult(const TensorType& type, bool escapes, const Value* reuse) {
  if (module_.places()) reuse = nullptr;
  const bool from_object = reuse != nullptr && reuse->location->object;
  Value result = AllocateTensor(type, escapes, from_object ? reuse : nullptr);
  if (result.location->slot && reuse != nullptr && reuse->location->slot) {
    out_.in_place.emplace_back(*reuse->location->slot, *result.location->slot);
  }
  return result;
}

void FunctionLowering::BindResults(const ir::Var* var, std::vector<Value> results, bool is_tuple) {
  if (!is_tuple) {
    BindVar(var, results[0]);
    return;
  }
  Location* l = NewLocation();
  l->fields = std::move(results);
  BindVar(var, {var->type, l});
}

Status FunctionLowering::LowerView(const ir::Var* var, const Value& source) {
  const auto& type = *var->type->As<TensorType>();
  const Location& from = *source.location;
  bool escapes = escapes_.contains(var->id);
  if (type.shape.empty() && from.is_number()) {
    BindVar(var, ScalarValue(var->type, ScalarOf(source)));
    return OkStatus();
  }
  if (!escapes) {
    // Only the memory matters to kernels: no object is made.
    Location* l = NewLocation();
    if (from.slot || from.constant != nullptr) {
      l->slot = from.slot;
      l->constant = from.constant;
    } else {
      l->object = ObjectOf(source);
    }
    BindVar(var, {var->type, l});
    return OkStatus();
  }
  Reg reg = NewObject();
  Emit(Opcode::kTensorView, {reg, ObjectOf(source), EmitDims(type.shape)});
  BindVar(var, ObjectValue(var->type, reg));
  return OkStatus();
}

}  // namespace relayvm::lower

// Operators that a builtin computes, and regions that a provider does: sizes as scalars, counts
// that a builtin gives, the call.
#include <map>

#include "compiler/ir/primitive.h"
#include "compiler/ir/region.h"
#include "compiler/lowering/function_lowering.h"
#include "compiler/lowering/operands.h"
#include "kernels/op/op_helpers.h"
#include "kernels/runtime/builtin.h"

namespace relayvm::lower {

void FunctionLowering::Describe(const TensorType& t, bool written, BuiltinArgs& args) {
  for (const int64_t fixed : {static_cast<int64_t>(t.dtype), int64_t{t.rank()}}) {
    args.info.fixed.push_back({static_cast<uint32_t>(args.scalars.size()), fixed});
    args.scalars.push_back(ConstI(fixed));
  }
  KernelBuffer& buffer = args.info.buffers.emplace_back();
  buffer.dtype = t.dtype;
  buffer.written = written;
  for (const Dim& d : t.shape) {
    buffer.shape.push_back({SizeStep::Kind::kScalar, static_cast<int64_t>(args.scalars.size())});
    buffer.shape.push_back({SizeStep::Kind::kDim});
    args.scalars.push_back(EmitDim(d));
  }
}

// Its constants are the region's, which its provider has; the call passes the rest.
Status FunctionLowering::LowerRegion(const ir::Var* var, const ir::PrimitiveCall& call,
                                     const ir::Region& region) {
  dim_owner_ = region.name;
  std::vector<uint32_t> constants;
  const size_t num_inputs = call.args.size() - region.num_constants;
  for (size_t i = num_inputs; i < call.args.size(); ++i)
    constants.push_back(module_.ConstantIndex(*std::get<const ir::Constant*>(call.args[i])));
  BuiltinArgs args;
  const uint32_t index = module_.RegionIndex(region, std::move(constants));
  args.info.name = region.engine + ":" + region.name;
  args.info.builtin = true;
  args.info.region = index;
  args.info.units = {{SizeStep::Kind::kConst, 1}};
  args.info.fixed.push_back({0, index});
  args.scalars.push_back(ConstI(index));
  std::vector<TensorType> types;
  for (size_t i = 0; i < num_inputs; ++i) {
    const Value v = AtomValue(call.args[i]);
    types.push_back(*v.type->As<TensorType>());
    args.buffers.push_back(BufferOf(v));
    Describe(types.back(), false, args);
  }
  std::vector<Value> results;
  for (const TensorType& t : ir::FlatTypes(var->type)) {
    results.push_back(AllocateResult(t, escapes_.contains(var->id), nullptr));
    args.buffers.push_back(BufferOf(results.back()));
    Describe(t, true, args);
  }
  for (const Dim& d : ir::SymbolsOfCall(region, types)) args.scalars.push_back(EmitDim(d));
  args.info.num_scalars = static_cast<uint16_t>(args.scalars.size());
  const uint32_t kernel = module_.BuiltinIndex(std::move(args.info));
  Emit(Opcode::kKernel1, {kernel, args.scalars, args.buffers});
  BindResults(var, std::move(results), var->type->As<ir::TupleType>() != nullptr);
  return OkStatus();
}

Status FunctionLowering::LowerBuiltin(const ir::Var* var, const ir::OpCall& call,
                                      const BuiltinCall& builtin,
                                      const std::vector<Value>& inputs) {
  std::vector<TensorType> outputs = ir::FlatTypes(var->type);
  std::vector<TensorType> memory = outputs;
  if (call.op->num_counts > 0) {
    std::vector<te::Tensor> placeholders = MakePlaceholders(inputs);
    memory = call.op->upper_bound({call.attrs, placeholders, outputs});
  }
  BuiltinArgs args;
  args.info.name = builtin.name;
  args.info.builtin = true;
  args.info.units = {{SizeStep::Kind::kConst, 1}};
  for (const Value& v : inputs) {
    args.buffers.push_back(BufferOf(v));
    Describe(*v.type->As<TensorType>(), false, args);
  }
  const Builtin* definition = FindBuiltin(builtin.name);
  bool escapes = escapes_.contains(var->id);
  std::vector<Value> results;
  for (size_t o = 0; o < outputs.size(); ++o) {
    bool counted = !(memory[o] == outputs[o]);
    const bool in_place = o == 0 && definition != nullptr && definition->in_place;
    const bool reuses =
        in_place && OwnsMemory(inputs[0], inputs) && *inputs[0].type->As<TensorType>() == memory[o];
    const Value* reuse = reuses ? &inputs[0] : nullptr;
    results.push_back(AllocateResult(memory[o], escapes || counted, reuse));
    args.buffers.push_back(BufferOf(results.back()));
    Describe(memory[o], true, args);
    if (in_place) args.info.buffers.back().may_share.push_back(0);
  }
  for (const Dim& d : builtin.params) args.scalars.push_back(EmitDim(d));
  std::vector<uint32_t> count_slots;
  for (int c = 0; c < call.op->num_counts; ++c) {
    count_slots.push_back(static_cast<uint32_t>(out_.slots.size()));
    out_.slots.push_back({sizeof(int64_t)});
    args.buffers.push_back({BufferKind::kSlot, count_slots.back()});
    args.info.buffers.push_back({.dtype = DType::kInt64, .written = true});
  }
  args.info.num_scalars = static_cast<uint16_t>(args.scalars.size());
  const uint32_t kernel = module_.BuiltinIndex(std::move(args.info));
  Emit(Opcode::kKernel1, {kernel, args.scalars, args.buffers});
  if (!count_slots.empty()) BindCounts(var, outputs, count_slots);
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (memory[o] == outputs[o]) continue;
    Reg reg = NewObject();
    Emit(Opcode::kTensorView, {reg, ObjectOf(results[o]), EmitDims(outputs[o].shape)});
    results[o] = ObjectValue(ir::MakeType(outputs[o]), reg);
  }
  BindResults(var, std::move(results), var->type->As<ir::TupleType>() != nullptr);
  return OkStatus();
}

// The symbols that the relation made for the counts, in order: those that the result defines.
void FunctionLowering::BindCounts(const ir::Var* var, const std::vector<TensorType>& outputs,
                                  const std::vector<uint32_t>& slots) {
  std::map<uint32_t, Dim> fresh;
  for (const TensorType& t : outputs) {
    for (const Dim& d : t.shape) {
      d.ForEachSymbol([&](const Dim& s) {
        auto symbol = module_.module().symbols.find(s.symbol_id());
        bool own = symbol == module_.module().symbols.end() || symbol->second.source == var;
        if (own) fresh.emplace(s.symbol_id(), s);
      });
    }
  }
  size_t c = 0;
  for (const auto& [id, symbol] : fresh) {
    if (c == slots.size()) break;
    Reg reg = NewScalar();
    Emit(Opcode::kSlotItem, {reg, slots[c++], static_cast<int64_t>(DType::kInt64)});
    dim_registers_[symbol] = reg;
    undo_.push_back({nullptr, symbol});
  }
}

}  // namespace relayvm::lower

// Operators and fused groups as kernels: what is fused, and the call.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "bytecode/base/arithmetic.h"
#include "compiler/ir/primitive.h"
#include "compiler/ir/region.h"
#include "compiler/lowering/function_lowering.h"
#include "compiler/lowering/operands.h"
#include "kernels/codegen/batching.h"
#include "kernels/op/op_helpers.h"

namespace relayvm::lower {

using ir::Atom;

// A group of operators to become one kernel. `compute` may be called more than once.
struct FunctionLowering::KernelGroup {
  std::string name;
  std::vector<Value> inputs;
  std::vector<TensorType> outputs;
  bool is_tuple = false;
  std::vector<ir::Span> checks;  // of the operators that check, in their order
  std::function<Result<std::vector<te::Tensor>>(std::span<const te::Tensor>)> compute;
};

namespace {

constexpr size_t kMaxNameLength = 96;
// Tensors that one kernel joins.
constexpr size_t kMostConcatenated = 128;
// Results of one kernel.
constexpr size_t kMostOutputs = 64;
// What is no part of the entry function may be a loop's, which often has some tens of turns.
constexpr double kRunsOfFunction = 30;

std::string KernelName(const std::vector<std::string_view>& ops) {
  std::string name = ops.size() > 1 ? "fused" : "";
  for (std::string_view op : ops) {
    if (!name.empty()) name += "_";
    name += op;
  }
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() > kMaxNameLength) name.resize(kMaxNameLength);
  return name;
}

// The placeholders that a tensor's computation loads, directly or through others, or that its
// kernel may read beside them.
void CollectLoaded(const te::TensorNode& tensor, std::unordered_set<const void*>& seen,
                   std::set<const te::TensorNode*>& loaded) {
  std::vector<const te::ExprNode*> work;
  const auto reach = [&](const te::TensorNode* t) {
    if (t->is_placeholder()) {
      loaded.insert(t);
      return;
    }
    work.push_back(t->body.get());
    for (const te::Tensor& input : t->hint_inputs) {
      if (input->is_placeholder()) loaded.insert(input.get());
    }
  };
  reach(&tensor);
  while (!work.empty()) {
    const te::ExprNode* node = work.back();
    work.pop_back();
    if (node == nullptr || !seen.insert(node).second) continue;
    for (const te::Expr& operand : node->operands) work.push_back(operand.get());
    if (node->kind != te::ExprKind::kLoad) continue;
    reach(node->tensor.get());
  }
}

}  // namespace

Status FunctionLowering::Lower(const ir::Var* var, const ir::ShapeValue& value) {
  const auto& type = *var->type->As<TensorType>();
  if (type.shape.empty()) {
    Reg reg = EmitDim(value.elements[0]);
    const Dim& d = value.elements[0];
    auto low = d.LowerBound();
    auto high = d.UpperBound();
    auto fits = [&](int64_t v) { return WrapInteger(v, type.dtype) == v; };
    bool narrow = IsInt(type.dtype) && DTypeBytes(type.dtype) < 8;
    if (narrow && !(low && high && fits(*low) && fits(*high))) {
      Reg wrapped = NewScalar();
      Emit(Opcode::kWrap, {wrapped, reg, static_cast<int64_t>(type.dtype)});
      reg = wrapped;
    }
    BindVar(var, ScalarValue(var->type, reg));
    return OkStatus();
  }
  KernelGroup group;
  group.name = "shape";
  group.outputs = {type};
  group.compute = [&](std::span<const te::Tensor>) -> Result<std::vector<te::Tensor>> {
    return std::vector<te::Tensor>{ir::VectorOf(value, type)};
  };
  return LowerKernel(var, group);
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::OpCall& call) {
  if (call.op->is_identity) {
    BindVar(var, AtomValue(call.args[0]));
    return OkStatus();
  }
  dim_owner_ = call.op->name;
  KernelGroup group;
  for (const Atom& a : call.args) {
    Value v = AtomValue(a);
    const auto* tuple = v.type->As<ir::TupleType>();
    if (tuple == nullptr) {
      group.inputs.push_back(v);
      continue;
    }
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      group.inputs.push_back(FieldOf(v, i, tuple->fields[i]));
    }
  }
  if (auto scalar = LowerScalarOp(call, group.inputs, var->type)) {
    BindVar(var, ScalarValue(var->type, *scalar));
    return OkStatus();
  }
  if (call.op->is_view) return LowerView(var, group.inputs[0]);
  group.outputs = ir::FlatTypes(var->type);
  group.is_tuple = var->type->As<ir::TupleType>() != nullptr;
  if (call.op->builtin) {
    std::vector<te::Tensor> placeholders = MakePlaceholders(group.inputs);
    BuiltinCall builtin = call.op->builtin({call.attrs, placeholders, group.outputs});
    return LowerBuiltin(var, call, builtin, group.inputs);
  }
  if (!call.op->compute) {
    return module_.module().sources->Error(
        StatusCode::kUnsupported, span_,
        fmt::format("operator \"{}\" cannot be compiled", call.op->name));
  }
  if (LowerAppend(var, call, group.inputs)) return OkStatus();
  if (LowerSubviews(var, call, group.inputs)) return OkStatus();
  RELAYVM_ASSIGN_OR_RETURN(const bool is_joined, ConcatenateInPlace(var, call, group.inputs));
  if (is_joined) return OkStatus();
  if (call.op->is_concatenation() && group.inputs.size() > kMostConcatenated) {
    return LowerWideConcatenation(var, call, std::move(group.inputs));
  }
  group.name = KernelName({call.op->name});
  if (call.op->checks) group.checks.push_back(span_);
  group.compute = [&](std::span<const te::Tensor> in) -> Result<std::vector<te::Tensor>> {
    return call.op->compute({call.attrs, in, group.outputs});
  };
  return LowerKernel(var, group);
}

bool FunctionLowering::MayAppend(const ir::OpCall& call) const {
  const bool joins = call.op->along_axis == AlongAxis::kJoins;
  const ir::Var* parts = joins ? ir::AsVar(call.args[0]) : nullptr;
  const auto* tuple = parts == nullptr ? nullptr : parts->type->As<ir::TupleType>();
  if (tuple == nullptr || tuple->fields.size() != 2) return false;
  const auto& grown = *tuple->fields[0]->As<TensorType>();
  // What has a bound may have a place in the arena.
  if (StaticBytes(grown)) return false;
  const std::vector<Dim>& shape = grown.shape;
  const auto rank = static_cast<int>(shape.size());
  const auto axis = shape.begin() + CanonicalAxis(call.attrs.Int("axis"), rank);
  return !axis->is_const() &&
         std::all_of(shape.begin(), axis, [](const Dim& d) { return d.is_const(1); });
}

bool FunctionLowering::LowerAppend(const ir::Var* var, const ir::OpCall& call,
                                   const std::vector<Value>& inputs) {
  if (!MayAppend(call)) return false;
  if (!OwnsMemory(inputs[0], inputs)) return false;
  const auto& type = *var->type->As<TensorType>();
  const Reg reg = NewObject();
  const auto dtype = static_cast<int64_t>(type.dtype);
  Emit(Opcode::kTensorAppend,
       {reg, ObjectOf(inputs[0]), ObjectOf(inputs[1]), dtype, EmitDims(type.shape)});
  BindVar(var, ObjectValue(var->type, reg));
  return true;
}

// A kernel with an operand for each of thousands of tensors takes LLVM long: as many are joined
// part by part, and the parts are concatenated. Parts that are alike share their kernel. A join may
// have more than its tensors: a list beside them (their scales), or what is for all of them.
Status FunctionLowering::LowerWideConcatenation(const ir::Var* var, const ir::OpCall& call,
                                                std::vector<Value> inputs) {
  const TensorType type = *var->type->As<TensorType>();
  auto axis = static_cast<size_t>(CanonicalAxis(call.attrs.Int("axis"), type.rank()));
  size_t lists = call.op->tuple_args.size();
  size_t shared = call.args.size() - lists;  // they come last
  size_t width = (inputs.size() - shared) / lists;
  bool is_joined = false;
  while (width > 1) {
    std::vector<Value> parts;
    for (size_t begin = 0; begin < width; begin += kMostConcatenated) {
      const size_t count = std::min(width - begin, kMostConcatenated);
      KernelGroup group;
      group.name = KernelName({call.op->name});
      auto take = [&](size_t from, size_t number) {
        const auto first = inputs.begin() + static_cast<ptrdiff_t>(from);
        group.inputs.insert(group.inputs.end(), first, first + static_cast<ptrdiff_t>(number));
      };
      for (size_t list = 0; list < lists; ++list) take(list * width + begin, count);
      take(lists * width, shared);
      TensorType part = type;
      part.shape[axis] = Dim(static_cast<int64_t>(count));
      if (group.inputs[0].type->As<TensorType>()->rank() == type.rank()) {
        part.shape[axis] = Dim(0);
        for (size_t i = 0; i < count; ++i) {
          part.shape[axis] = part.shape[axis] + group.inputs[i].type->As<TensorType>()->shape[axis];
        }
      }
      bool last = width <= kMostConcatenated;
      group.outputs = {last ? type : part};
      group.compute = [&](std::span<const te::Tensor> in) -> Result<std::vector<te::Tensor>> {
        if (is_joined) return {{JoinTensors(in, axis, part.shape)}};
        return call.op->compute({call.attrs, in, group.outputs});
      };
      const ir::Var* result =
          last ? var : ir::MakeVar(module_.module(), "", ir::MakeType(part), span_);
      RELAYVM_RETURN_IF_ERROR(LowerKernel(result, group));
      parts.push_back(AtomValue(result));
    }
    inputs = std::move(parts);
    width = inputs.size();
    lists = 1;
    shared = 0;
    is_joined = true;
  }
  return OkStatus();
}

Result<Value> FunctionLowering::CopyOf(const Value& value) {
  KernelGroup group;
  group.name = "copy";
  group.inputs = {value};
  group.outputs = {*value.type->As<TensorType>()};
  group.compute = [&](std::span<const te::Tensor> in) -> Result<std::vector<te::Tensor>> {
    return std::vector<te::Tensor>{te::Compute(
        "copy", in[0]->shape, [&](const std::vector<te::Expr>& i) { return te::Load(in[0], i); })};
  };
  const ir::Var* copy = ir::MakeVar(module_.module(), "", value.type, span_);
  RELAYVM_RETURN_IF_ERROR(LowerKernel(copy, group));
  return AtomValue(copy);
}

Status FunctionLowering::Lower(const ir::Var* var, const ir::PrimitiveCall& call) {
  if (const auto region = ir::RegionOf(*call.function)) return LowerRegion(var, call, *region);
  KernelGroup group;
  std::vector<std::string_view> names;
  for (const ir::Binding& b : call.function->body->bindings) {
    const auto* op = b.value->As<ir::OpCall>();
    if (op == nullptr) continue;
    names.push_back(op->op->name);
    if (op->op->checks) group.checks.push_back(b.value->span);
  }
  dim_owner_ = fmt::format("{}", fmt::join(names, ", "));
  group.name = KernelName(names);
  group.outputs = ir::FlatTypes(var->type);
  group.is_tuple = var->type->As<ir::TupleType>() != nullptr;
  // Parameters that are tuples are given as their fields.
  for (const Atom& a : call.args) {
    Value v = AtomValue(a);
    const auto* tuple = v.type->As<ir::TupleType>();
    if (tuple == nullptr) {
      group.inputs.push_back(v);
      continue;
    }
    for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
      group.inputs.push_back(FieldOf(v, i, tuple->fields[i]));
    }
  }
  group.compute = [&](std::span<const te::Tensor> in) {
    return ir::ComputePrimitive(*call.function, in);
  };
  return LowerKernel(var, group);
}

namespace {

// What the verifier may know of a kernel: sizes as formulas over the call's scalars.
Result<KernelInfo> DescribeKernel(const KernelSpec& spec, const KernelInterface& interface) {
  KernelInfo info;
  info.name = interface.name;
  auto scalar_of = [&](const Dim& symbol) {
    return std::find(interface.symbols.begin(), interface.symbols.end(), symbol) -
           interface.symbols.begin();
  };
  auto add = [&](const te::TensorNode& t, bool written) -> Status {
    KernelBuffer& buffer = info.buffers.emplace_back();
    buffer.dtype = t.dtype;
    buffer.written = written;
    for (const Dim& d : t.shape) {
      RELAYVM_RETURN_IF_ERROR(AppendSize(d, scalar_of, &buffer.shape));
      buffer.shape.push_back({SizeStep::Kind::kDim});
    }
    return OkStatus();
  };
  std::vector<size_t> buffer_of(spec.inputs.size());
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    buffer_of[i] = info.buffers.size();
    if (!spec.by_value[i]) RELAYVM_RETURN_IF_ERROR(add(*spec.inputs[i], false));
  }
  const size_t first_output = info.buffers.size();
  for (const te::Tensor& t : spec.outputs) RELAYVM_RETURN_IF_ERROR(add(*t, true));
  for (const auto& [in, out] : interface.in_place) {
    if (spec.by_value[static_cast<size_t>(in)]) continue;
    info.buffers[first_output + static_cast<size_t>(out)].may_share.push_back(
        static_cast<uint16_t>(buffer_of[static_cast<size_t>(in)]));
  }
  RELAYVM_RETURN_IF_ERROR(AppendSize(interface.parallel_extent, scalar_of, &info.units));
  if (!interface.scratch_bytes.is_const(0))
    RELAYVM_RETURN_IF_ERROR(AppendSize(interface.scratch_bytes, scalar_of, &info.scratch));
  return info;
}

}  // namespace

Status FunctionLowering::LowerKernel(const ir::Var* var, KernelGroup& group) {
  // First with every input, to see which are loaded and which are the same value; then with those
  // alone.
  RELAYVM_ASSIGN_OR_RETURN(std::vector<te::Tensor> probe, [&] {
    std::vector<te::Tensor> placeholders = MakePlaceholders(group.inputs);
    return group.compute(placeholders);
  }());
  std::unordered_set<const void*> seen;
  std::set<const te::TensorNode*> loaded;
  for (const te::Tensor& t : probe) CollectLoaded(*t, seen, loaded);
  std::set<int> used;
  for (const te::TensorNode* t : loaded) used.insert(t->input_index);

  KernelSpec spec;
  spec.name = group.name;
  if (task_.name != module_.module().entry) spec.runs = kRunsOfFunction;
  std::vector<Value> inputs;
  std::vector<te::Tensor> tensors(group.inputs.size());
  std::map<const Location*, te::Tensor> by_location;
  for (size_t i = 0; i < group.inputs.size(); ++i) {
    const Value& v = group.inputs[i];
    const auto& type = *v.type->As<TensorType>();
    if (!used.contains(static_cast<int>(i))) {
      tensors[i] = te::Placeholder("unused", type.shape, type.dtype, -1);
      continue;
    }
    if (v.location->constant != nullptr && type.shape.empty()) {
      tensors[i] = ir::ImmediateTensor(v.location->constant->value);
      continue;
    }
    te::Tensor& same = by_location[v.location];
    if (same != nullptr && same->shape == type.shape) {
      tensors[i] = same;
      continue;
    }
    tensors[i] = te::Placeholder("in" + std::to_string(inputs.size()), type.shape, type.dtype,
                                 static_cast<int>(inputs.size()));
    same = tensors[i];
    spec.inputs.push_back(tensors[i]);
    spec.by_value.push_back(ir::IsScalarType(v.type) && v.location->is_number());
    inputs.push_back(v);
  }
  RELAYVM_ASSIGN_OR_RETURN(spec.outputs, group.compute(tensors));
  RELAYVM_RETURN_IF_ERROR(CheckInnerSizes(group.outputs, spec.inputs, spec.outputs));
  // Many results are those of several kernels, for LLVM's sake. An operand that one of them
  // overwrote would be missing to the next.
  std::vector<te::Tensor> outputs = std::move(spec.outputs);
  bool escapes = escapes_.contains(var->id);
  std::vector<Value> results;
  do {
    auto first = outputs.begin() + static_cast<ptrdiff_t>(results.size());
    size_t count = std::min(kMostOutputs, outputs.size() - results.size());
    spec.outputs.assign(first, first + static_cast<ptrdiff_t>(count));
    bool may_reuse = count == outputs.size();
    RELAYVM_RETURN_IF_ERROR(EmitKernel(spec, inputs, group.outputs, escapes, may_reuse, results));
    out_.code.back().checks = group.checks;
  } while (results.size() < outputs.size());
  BindResults(var, std::move(results), group.is_tuple);
  return OkStatus();
}

// Adds the kernel that runs many calls of that one.
Status FunctionLowering::AddBatched(codegen::BatchedKernel* batched, const Dim& b,
                                    const KernelSpec& spec, const KernelInterface& interface,
                                    uint32_t kernel) {
  if (module_.kernel_infos()[kernel].batched || !interface.immediates.empty()) return OkStatus();
  batched->spec.runs = spec.runs;
  RELAYVM_ASSIGN_OR_RETURN(const KernelCompiler::Added added, module_.kernels().Add(batched->spec));
  if (!added.interface.immediates.empty()) return OkStatus();
  auto info = DescribeKernel(batched->spec, added.interface);
  if (!info.ok()) return OkStatus();  // its sizes are beyond what files describe
  BatchedKernelInfo form;
  const auto scalar_of = [&](const Dim& symbol) {
    return std::find(interface.symbols.begin(), interface.symbols.end(), symbol) -
           interface.symbols.begin();
  };
  for (const Dim& symbol : added.interface.symbols)
    form.scalars.push_back(symbol == b ? BatchedKernelInfo::kBatchSize
                                       : static_cast<uint16_t>(scalar_of(symbol)));
  if (batched->rows && !AppendSize(*batched->rows, scalar_of, &form.rows).ok()) return OkStatus();
  uint16_t by_value = static_cast<uint16_t>(interface.symbols.size()), buffer = 0;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if (spec.by_value[i]) {
      form.scalars.push_back(by_value++);
    } else {
      if (batched->shared[i]) form.shared.push_back(buffer);
      ++buffer;
    }
  }
  info->num_scalars = static_cast<uint16_t>(form.scalars.size());
  form.kernel = module_.KernelIndex(added.id, *std::move(info));
  module_.SetBatched(kernel, std::move(form));
  return OkStatus();
}

Status FunctionLowering::EmitKernel(const KernelSpec& spec, const std::vector<Value>& inputs,
                                    const std::vector<TensorType>& types, bool escapes,
                                    bool may_reuse, std::vector<Value>& results) {
  const Dim calls = Dim::Symbol(module_.module().ids->Next(), "calls");
  const std::unique_ptr<codegen::BatchedKernel> batched =
      module_.batching() ? module_.kernels().Batched(spec, calls) : nullptr;
  KernelSpec ordered = spec;
  if (batched) ordered.order = batched->order_of_one;
  auto added = module_.kernels().Add(ordered);
  if (!added.ok()) {
    return module_.module().sources->Error(added.status().code(), span_, added.status().message());
  }
  const KernelInterface& interface = added->interface;
  std::vector<uint32_t> scalars = EmitDims(interface.symbols);
  std::vector<MBuffer> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (spec.by_value[i]) {
      scalars.push_back(ScalarOf(inputs[i]));
    } else {
      buffers.push_back(BufferOf(inputs[i]));
    }
  }
  for (int64_t immediate : interface.immediates) scalars.push_back(ConstI(immediate));
  std::set<const Location*> reused;
  for (size_t o = 0; o < spec.outputs.size(); ++o) {
    const TensorType& type = types[results.size()];
    const Value* reuse = nullptr;
    for (const auto& [in, out] : interface.in_place) {
      if (!may_reuse) break;
      const Value& candidate = inputs[static_cast<size_t>(in)];
      if (static_cast<size_t>(out) != o || !OwnsMemory(candidate, inputs)) continue;
      if (*candidate.type->As<TensorType>() == type && reused.insert(candidate.location).second) {
        reuse = &candidate;
        break;
      }
    }
    results.push_back(AllocateResult(type, escapes, reuse));
    buffers.push_back(BufferOf(results.back()));
  }
  auto info = DescribeKernel(spec, interface);
  if (!info.ok()) {
    return module_.module().sources->Error(info.status().code(), span_, info.status().message());
  }
  info->num_scalars = static_cast<uint16_t>(scalars.size());
  uint32_t kernel = module_.KernelIndex(added->id, *std::move(info));
  if (batched) RELAYVM_RETURN_IF_ERROR(AddBatched(batched.get(), calls, spec, interface, kernel));
  std::optional<double> tasks;
  if (interface.parallel_extent.is_const() && interface.grain.is_const()) {
    tasks = static_cast<double>(interface.parallel_extent.value()) /
            static_cast<double>(std::max<int64_t>(interface.grain.value(), 1));
  }
  if (interface.parallel_extent.is_const(1) && interface.scratch_bytes.is_const(0)) {
    Emit(Opcode::kKernel1, {kernel, scalars, buffers}).tasks = tasks;
  } else {
    Reg extent = EmitDim(interface.parallel_extent);
    Reg grain = EmitDim(interface.grain);
    Reg scratch = EmitDim(interface.scratch_bytes);
    Emit(Opcode::kKernel, {kernel, extent, grain, scratch, scalars, buffers}).tasks = tasks;
  }
  return OkStatus();
}

}  // namespace relayvm::lower

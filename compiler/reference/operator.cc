#include "compiler/reference/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "bytecode/base/message.h"
#include "kernels/runtime/builtin.h"
#include "kernels/te/scalar.h"

namespace relayvm::reference {
namespace {

// Above this, a tensor is no list of sizes.
constexpr int64_t kMaxElements = 1 << 16;

// A type relation's view of one call, with all dims known.
class ConcreteContext : public TypeContext {
 public:
  ConcreteContext(const Attrs& attrs, std::span<const OperatorArg> args)
      : attrs_(attrs), args_(args) {
    for (const OperatorArg& a : args) {
      ArgType type{a.is_tuple, {}};
      for (const HostTensor* t : a.tensors) {
        type.tensors.push_back({std::vector<Dim>(t->shape.begin(), t->shape.end()), t->dtype});
      }
      types_.push_back(std::move(type));
    }
  }

  const Attrs& attrs() const override { return attrs_; }
  size_t num_args() const override { return types_.size(); }
  const ArgType& arg(size_t i) const override { return types_[i]; }
  std::span<const ArgType> args() const { return types_; }

  Result<std::vector<Dim>> Elements(size_t i) override {
    auto values = ConstantElements(i);
    if (!values) {
      return {StatusCode::kFailedPrecondition,
              fmt::format("argument {} is not a list of sizes", i)};
    }
    const bool is_uint64 = types_[i].tensors[0].dtype == DType::kUInt64;
    if (is_uint64 && std::any_of(values->begin(), values->end(), [](int64_t v) { return v < 0; })) {
      return {StatusCode::kFailedPrecondition,
              fmt::format("argument {}: a uint64 is too large for a size", i)};
    }
    return std::vector<Dim>(values->begin(), values->end());
  }
  std::optional<std::vector<int64_t>> ConstantElements(size_t i) override {
    const HostTensor* t = Small(i);
    if (t == nullptr || IsFloat(t->dtype)) return std::nullopt;
    std::vector<int64_t> out;
    ForEach(*t, [&](te::Scalar s) { out.push_back(s.i); });
    return out;
  }
  std::optional<std::vector<double>> ConstantFloats(size_t i) override {
    const HostTensor* t = Small(i);
    if (t == nullptr) return std::nullopt;
    std::vector<double> out;
    ForEach(*t, [&](te::Scalar s) {
      out.push_back(IsFloat(t->dtype) ? s.f : static_cast<double>(s.i));
    });
    return out;
  }

  Dim FreshSymbol(std::string_view name) override {
    return Dim::Symbol(num_fresh_++, std::string(name));
  }
  Status RequireEqual(const Dim& a, const Dim& b, std::string_view what) override {
    if (Dim::ProvablyDifferent(a, b)) return Fail(what, a, b, "differ");
    return OkStatus();
  }
  Result<Dim> Broadcast(const Dim& a, const Dim& b, std::string_view what) override {
    if (a == b || b.is_const(1)) return a;
    if (a.is_const(1)) return b;
    return Fail(what, a, b, "do not broadcast");
  }
  Status RequireAtLeast(const Dim& a, const Dim& b, std::string_view what) override {
    if (a.is_const() && b.is_const() && a.value() < b.value()) {
      return {StatusCode::kFailedPrecondition,
              fmt::format("{}: expected at least {}, found {}", what, b.value(), a.value())};
    }
    return OkStatus();
  }

 private:
  static Status Fail(std::string_view what, const Dim& a, const Dim& b, std::string_view how) {
    return {StatusCode::kFailedPrecondition,
            fmt::format("{}: {} and {} {}", what, a.ToString(), b.ToString(), how)};
  }
  const HostTensor* Small(size_t i) const {
    if (i >= args_.size() || args_[i].is_tuple) return nullptr;
    const HostTensor* t = args_[i].tensors[0];
    return t->size() > kMaxElements ? nullptr : t;
  }
  template <typename Fn>
  static void ForEach(const HostTensor& t, const Fn& fn) {
    int64_t n = t.size();
    for (int64_t i = 0; i < n; ++i)
      fn(te::ReadElement(t.dtype, t.data.data() + i * DTypeBytes(t.dtype)));
  }

  const Attrs& attrs_;
  std::span<const OperatorArg> args_;
  std::vector<ArgType> types_;
  uint32_t num_fresh_ = 0;
};

// Memory as the kernel ABI wants it.
struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Buffer = std::unique_ptr<void, Free>;
constexpr size_t kAlignment = 64;

Result<Buffer> NewBuffer(size_t bytes) {
  size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (rounded < bytes) return {StatusCode::kResourceExhausted, "a tensor is too large"};
  Buffer buffer(std::aligned_alloc(kAlignment, rounded));
  if (buffer == nullptr) {
    return {StatusCode::kResourceExhausted,
            fmt::format("no memory for a tensor of {} bytes", bytes)};
  }
  std::memset(buffer.get(), 0, rounded);
  return buffer;
}

Result<std::vector<int64_t>> Numbers(const std::vector<Dim>& dims, const te::SymbolFn& symbols) {
  std::vector<int64_t> out;
  for (const Dim& d : dims) {
    auto value = d.Evaluate(symbols);
    if (!value || *value < 0) {
      return {StatusCode::kFailedPrecondition,
              fmt::format("a dimension of the result is {}",
                          value ? std::to_string(*value) : "not known: " + d.ToString())};
    }
    out.push_back(*value);
  }
  return out;
}

Result<size_t> Bytes(DType dtype, const std::vector<int64_t>& shape) {
  auto bytes = static_cast<size_t>(DTypeBytes(dtype));
  bool overflow = false;
  for (int64_t d : shape) overflow |= __builtin_mul_overflow(bytes, static_cast<size_t>(d), &bytes);
  if (overflow || bytes > size_t{1} << 46) {
    return {StatusCode::kResourceExhausted,
            fmt::format("a tensor of shape ({}) is too large", fmt::join(shape, ", "))};
  }
  return bytes;
}

// What a kernel is called with: buffers, and scalars that begin with each tensor's dtype, rank and
// dims.
class CallMemory {
 public:
  std::vector<int64_t> scalars;
  std::vector<void*> buffers;
  std::vector<size_t> sizes;  // of buffers, in bytes

  // A tensor of these elements; room for one where `data` is null.
  Status Add(DType dtype, const std::vector<int64_t>& shape, const std::byte* data = nullptr) {
    RELAYVM_ASSIGN_OR_RETURN(const size_t bytes, Bytes(dtype, shape));
    RELAYVM_RETURN_IF_ERROR(AddBuffer(bytes));
    if (data != nullptr) std::memcpy(buffers.back(), data, bytes);
    scalars.push_back(static_cast<int64_t>(dtype));
    scalars.push_back(static_cast<int64_t>(shape.size()));
    scalars.insert(scalars.end(), shape.begin(), shape.end());
    return OkStatus();
  }
  Status AddBuffer(size_t bytes) {
    RELAYVM_ASSIGN_OR_RETURN(Buffer buffer, NewBuffer(bytes));
    buffers.push_back(buffer.get());
    sizes.push_back(bytes);
    memory_.push_back(std::move(buffer));
    return OkStatus();
  }

 private:
  std::vector<Buffer> memory_;
};

Status StatusOf(int32_t result, const RelayvmKernelFault& fault, const StringTable* strings) {
  switch (result) {
    case RELAYVM_KERNEL_OK:
      return OkStatus();
    case RELAYVM_KERNEL_INDEX_OUT_OF_RANGE:
      if (fault.given == 0) return {StatusCode::kOutOfRange, "an index is out of range"};
      return {StatusCode::kOutOfRange, "index out of range" + OutOfRangeText(fault)};
    case RELAYVM_KERNEL_BAD_TEXT:
      return {StatusCode::kFailedPrecondition,
              fmt::format("expected a number, found the text '{}'",
                          strings->Text(fault.found).value_or(""))};
    case RELAYVM_KERNEL_OUT_OF_MEMORY:
      return {StatusCode::kResourceExhausted, "there is no memory"};
    default:
      return {StatusCode::kFailedPrecondition, "an argument is invalid"};
  }
}

Result<std::vector<HostTensor>> RunBuiltin(const OpDef& op, const ComputeContext& context,
                                           std::span<const HostTensor* const> inputs,
                                           StringTable* strings) {
  BuiltinCall call = op.builtin(context);
  const Builtin* kernel = FindBuiltin(call.name);
  if (kernel == nullptr) kernel = op.custom_kernel;
  if (kernel == nullptr) {
    return {StatusCode::kUnsupported, fmt::format("there is no kernel {}", call.name)};
  }
  te::SymbolFn none = [](uint32_t) { return std::nullopt; };
  CallMemory memory;
  for (const HostTensor* t : inputs)
    RELAYVM_RETURN_IF_ERROR(memory.Add(t->dtype, t->shape, t->data.data()));
  std::vector<TensorType> room(context.outputs.begin(), context.outputs.end());
  if (op.num_counts > 0) room = op.upper_bound(context);
  for (const TensorType& t : room) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, Numbers(t.shape, none));
    RELAYVM_RETURN_IF_ERROR(memory.Add(t.dtype, shape));
  }
  for (const Dim& d : call.params) {
    auto value = d.Evaluate(none);
    if (!value) {
      return {StatusCode::kFailedPrecondition, "a parameter is not known: " + d.ToString()};
    }
    memory.scalars.push_back(*value);
  }
  const size_t first_count = memory.buffers.size();
  for (int c = 0; c < op.num_counts; ++c)
    RELAYVM_RETURN_IF_ERROR(memory.AddBuffer(sizeof(int64_t)));
  RelayvmKernelFault fault{};
  RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1, nullptr, nullptr, nullptr, &fault, strings};
  RelayvmKernelArgs args{memory.buffers.data(), memory.scalars.data(), nullptr};
  RELAYVM_RETURN_IF_ERROR(StatusOf(kernel->fn(&env, &args, 0, 1), fault, strings));

  // The counts are the fresh symbols' values, in order.
  te::SymbolFn fresh = [&](uint32_t id) -> std::optional<int64_t> {
    if (id >= static_cast<uint32_t>(op.num_counts)) return std::nullopt;
    return *static_cast<const int64_t*>(memory.buffers[first_count + id]);
  };
  std::vector<HostTensor> results;
  for (size_t o = 0; o < context.outputs.size(); ++o) {
    const TensorType& type = context.outputs[o];
    HostTensor t{type.dtype, {}, {}};
    RELAYVM_ASSIGN_OR_RETURN(t.shape, Numbers(type.shape, fresh));
    RELAYVM_ASSIGN_OR_RETURN(size_t bytes, Bytes(t.dtype, t.shape));
    const size_t place = inputs.size() + o;
    if (bytes > memory.sizes[place])
      return {StatusCode::kInternal, "a result exceeds its upper bound"};
    t.data = SharedBytes::Copy({static_cast<const std::byte*>(memory.buffers[place]), bytes});
    results.push_back(std::move(t));
  }
  return results;
}

Result<std::vector<HostTensor>> Compute(const OpDef& op, const ComputeContext& context,
                                        std::span<const HostTensor* const> inputs,
                                        StringTable* strings) {
  if (op.builtin) return RunBuiltin(op, context, inputs, strings);
  if (!op.compute) return {StatusCode::kUnsupported, "it has no definition of its own"};
  te::SymbolFn none = [](uint32_t) { return std::nullopt; };
  for (const TensorType& t : context.outputs) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, Numbers(t.shape, none));
    RELAYVM_RETURN_IF_ERROR(Bytes(t.dtype, shape).status());
  }
  std::vector<HostTensor> results;
  for (const te::Tensor& t : op.compute(context)) {
    RELAYVM_ASSIGN_OR_RETURN(HostTensor value, te::Evaluate(t, inputs, none));
    results.push_back(std::move(value));
  }
  if (results.size() != context.outputs.size()) {
    return {StatusCode::kInternal, fmt::format("its definition gives {} results, its relation {}",
                                               results.size(), context.outputs.size())};
  }
  return results;
}

// The same; whatever it is that finds no memory, the sizes of the results say why.
Result<std::vector<HostTensor>> ComputeInMemory(const OpDef& op, const ComputeContext& context,
                                                std::span<const HostTensor* const> inputs,
                                                StringTable* strings) {
  try {
    return Compute(op, context, inputs, strings);
  } catch (const std::bad_alloc&) {
    std::vector<std::string> types;
    for (const TensorType& t : context.outputs) {
      types.push_back(fmt::format("Tensor[{}, {}]", ShapeToString(t.shape), DTypeName(t.dtype)));
    }
    return {StatusCode::kResourceExhausted,
            fmt::format("no memory for {}", fmt::join(types, ", "))};
  }
}

Result<OperatorResult> Run(const OpDef& op, const Attrs& attrs, std::span<const OperatorArg> args,
                           StringTable* strings) {
  ConcreteContext relation(attrs, args);
  RELAYVM_RETURN_IF_ERROR(CheckArgs(op, relation.args()));
  if (!op.infer) return {StatusCode::kUnsupported, "it has no type relation"};
  RELAYVM_ASSIGN_OR_RETURN(OpResult types, op.infer(relation));
  std::vector<const HostTensor*> inputs;
  std::vector<te::Tensor> placeholders;
  for (size_t i = 0; i < args.size(); ++i) {
    for (size_t k = 0; k < args[i].tensors.size(); ++k) {
      const TensorType& t = relation.arg(i).tensors[k];
      auto index = static_cast<int>(inputs.size());
      placeholders.push_back(te::Placeholder(fmt::format("in{}", index), t.shape, t.dtype, index));
      inputs.push_back(args[i].tensors[k]);
    }
  }
  ComputeContext context{attrs, placeholders, types.tensors};
  OperatorResult result{types.is_tuple, {}};
  RELAYVM_ASSIGN_OR_RETURN(result.tensors, ComputeInMemory(op, context, inputs, strings));
  return result;
}

}  // namespace

Result<OperatorResult> RunOperator(const OpDef& op, const Attrs& attrs,
                                   std::span<const OperatorArg> args, StringTable* strings) {
  Result<OperatorResult> result = Run(op, attrs, args, strings);
  if (result.ok() || result.status().message().starts_with(op.name + ":")) return result;
  return result.status().WithContext(op.name);
}

}  // namespace relayvm::reference

// What small tensors hold: dims, numbers, or scalars of the graph (typed_builder.h). Arithmetic on
// sizes takes ways through floats, vectors and slices; element by element it is arithmetic on
// scalars, which live in registers, so that no kernel is launched for it and no tensor made.
#include <algorithm>
#include <cstring>

#include "compiler/import/typed_builder.h"
#include "compiler/ir/scalar.h"
#include "kernels/op/op_helpers.h"
#include "kernels/te/evaluate.h"

namespace relayvm::import {

namespace {

constexpr int64_t kMostScalars = 16;

// The number of elements of a tensor small enough to be taken apart.
std::optional<int64_t> SmallSize(const Value& v) {
  if (!v.is_tensor()) return std::nullopt;
  const auto size = typing::TrackedSize({v.shape(), DType::kInt32});
  return size && *size <= kMostScalars ? size : std::nullopt;
}

bool AllOnes(const Value& v) {
  return std::all_of(v.shape().begin(), v.shape().end(),
                     [](const Dim& d) { return d.is_const(1); });
}

// A number that a program reads: sums of such wrap, so that they are no sizes.
bool HasNumbers(const std::vector<Dim>& elements) {
  bool numbers = false;
  for (const Dim& d : elements) {
    d.ForEachSymbol([&](const Dim& s) { numbers = numbers || !s.symbol_nonnegative(); });
  }
  return numbers;
}

// The extents of what small tensors broadcast to; nullopt where they do not.
std::optional<std::vector<int64_t>> BroadcastShape(const std::vector<Value>& args, int rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  for (const Value& a : args) {
    for (int i = 0; i < a.rank(); ++i) {
      int64_t& extent = shape[static_cast<size_t>(rank - a.rank() + i)];
      if (a.dim(i).is_const(1)) continue;
      if (extent != 1 && a.dim(i) != Dim(extent)) return std::nullopt;
      extent = a.dim(i).value();
    }
  }
  return shape;
}

// The place in `operand` of what is read for place `flat` of the result.
size_t BroadcastIndex(const Value& operand, const std::vector<int64_t>& shape, int64_t flat) {
  int64_t index = 0, stride = 1;
  auto extent = shape.rbegin();
  for (int i = operand.rank(); i-- > 0; ++extent) {
    const int64_t mine = operand.dim(i).value();
    index += (mine == 1 ? 0 : flat % *extent) * stride;
    flat /= *extent;
    stride *= mine;
  }
  return static_cast<size_t>(index);
}

}  // namespace

// --- Numbers ---

std::optional<std::vector<Dim>> TypedBuilder::Elements(const Value& v) {
  if (!v.is_tensor() || IsFloat(v.dtype())) return std::nullopt;
  auto size =
      typing::TrackedSize({v.shape(), v.dtype() == DType::kBool ? DType::kInt32 : v.dtype()});
  if (v.constant != nullptr && v.constant->size() <= typing::kMaxTrackedElements) {
    std::vector<int64_t> values = typing::IntegerElements(*v.constant);
    return std::vector<Dim>(values.begin(), values.end());
  }
  auto it = elements_.find(v.node);
  if (!size || it == elements_.end() || static_cast<int64_t>(it->second.size()) != *size) {
    return std::nullopt;
  }
  return it->second;
}

// Also of one integer that only running tells.
std::optional<std::vector<Dim>> TypedBuilder::ElementsOrSymbol(const Value& v) {
  auto known = Elements(v);
  const bool integer = v.is_tensor() && (v.dtype() == DType::kInt64 || v.dtype() == DType::kInt32);
  if (known || !integer || !AllOnes(v)) return known;
  const Dim symbol = Dim::Symbol(module_.ids->Next(), "e", /*nonnegative=*/false);
  return elements_[v.node] = {symbol};
}

std::optional<std::vector<int64_t>> TypedBuilder::ConstantInts(const Value& v) {
  if (v.constant != nullptr && !IsFloat(v.dtype())) return typing::IntegerElements(*v.constant);
  auto elements = Elements(v);
  if (!elements) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *elements) {
    if (!d.is_const()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

// What a small tensor holds, where all of it is numbers now.
std::optional<HostTensor> TypedBuilder::KnownTensor(const Value& v) {
  if (v.constant != nullptr) {
    return v.constant->size() <= typing::kMaxTrackedElements ? std::optional(*v.constant)
                                                             : std::nullopt;
  }
  auto elements = v.is_tensor() ? ConstantInts(v) : std::nullopt;
  if (!elements) return std::nullopt;
  HostTensor t{v.dtype(), {}, {}};
  for (const Dim& d : v.shape()) t.shape.push_back(d.value());
  const size_t width = static_cast<size_t>(DTypeBytes(v.dtype()));
  std::vector<std::byte> bytes(elements->size() * width);
  for (size_t i = 0; i < elements->size(); ++i) {  // little endian: the low bytes
    std::memcpy(bytes.data() + i * width, &(*elements)[i], width);
  }
  t.data = SharedBytes(std::move(bytes));
  return t;
}

// The value of a call on small tensors whose numbers are known: scales and sizes that take a way
// through floats.
std::optional<HostTensor> TypedBuilder::Fold(const OpDef& op, const Attrs& attrs,
                                             const std::vector<Value>& args, const Value& result) {
  if (!result.is_tensor() || !op.compute || args.empty()) return std::nullopt;
  if (!typing::TrackedSize({result.shape(), DType::kInt32})) return std::nullopt;
  std::vector<HostTensor> tensors;
  for (const Value& a : args) {
    const bool is_tuple = !a.is_tensor();
    for (const Value& v : is_tuple ? Fields(a) : std::vector<Value>{a}) {
      auto known = KnownTensor(v);
      if (!known) return std::nullopt;
      tensors.push_back(*std::move(known));
    }
  }
  std::vector<te::Tensor> placeholders;
  std::vector<const HostTensor*> inputs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    placeholders.push_back(
        te::Placeholder("p", std::vector<Dim>(tensors[i].shape.begin(), tensors[i].shape.end()),
                        tensors[i].dtype, static_cast<int>(i)));
    inputs.push_back(&tensors[i]);
  }
  const TensorType& type = result.tensor();
  const std::vector<te::Tensor> computed = op.compute({attrs, placeholders, std::span(&type, 1)});
  auto value = te::Evaluate(computed[0], inputs, [](uint32_t) { return std::optional<int64_t>(); });
  return value.ok() ? std::optional(*std::move(value)) : std::nullopt;
}

std::optional<double> TypedBuilder::FilledWith(const Value& v) const {
  const OpDef* op = graph_.AsOpCall(v.node);
  if (op == nullptr || (op->name != "full" && op->name != "dyn.full")) return std::nullopt;
  const ir::Node& fill = graph_.node(graph_.node(v.node).operands[0]);
  if (fill.kind != ir::NodeKind::kAtom) return std::nullopt;
  const auto* constant = std::get_if<const ir::Constant*>(&fill.atom);
  if (constant == nullptr) return std::nullopt;
  return ir::NumberAt((*constant)->value);
}

// --- Scalars ---

// The elements of a small tensor as scalars; nullopt where it holds data.
std::optional<std::vector<Value>> TypedBuilder::ScalarsOf(const Value& v) {
  const auto size = SmallSize(v);
  if (!size) return std::nullopt;
  if (v.rank() == 0) return std::vector<Value>{v};
  if (auto known = scalars_.find(v.node); known != scalars_.end()) return known->second;
  const auto count = static_cast<size_t>(*size);
  std::vector<Value> out;
  if (v.constant != nullptr) {
    const size_t width = static_cast<size_t>(DTypeBytes(v.dtype()));
    for (size_t i = 0; i < count; ++i) {
      HostTensor element{v.dtype(), {}, {}};
      element.data = SharedBytes::Copy(std::span(v.constant->data.data() + i * width, width));
      out.push_back(Constant(std::move(element)));
    }
    return out;
  }
  const auto elements = Elements(v);
  if (!elements) return std::nullopt;
  const Value flat = v.rank() == 1 ? v : Reshape(v, {-1});
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    const Value element =
        count == 1
            ? flat
            : Op("strided_slice", {flat},
                 {{"begin", AttrList{at}}, {"end", AttrList{at + 1}}, {"strides", AttrList{1}}});
    const Dim& d = (*elements)[i];
    out.push_back(d.is_const() && v.dtype() != DType::kBool ? Int(d.value(), v.dtype())
                                                            : Reshape(element, {}));
  }
  return out;
}

// A tensor made of scalars, which are remembered.
Value TypedBuilder::OfScalars(const std::vector<Value>& scalars,
                              const std::vector<int64_t>& shape) {
  std::vector<Value> parts;
  for (const Value& s : scalars) parts.push_back(Op("reshape", {s}, {{"newshape", AttrList{1}}}));
  Value v = Concat(parts, 0);
  if (shape.size() != 1) v = Reshape(v, shape);
  if (v.constant == nullptr) scalars_[v.node] = scalars;
  return v;
}

// A call on larger tensors with scalars in place of tensors of one element made of them.
std::optional<Value> TypedBuilder::WithScalars(const OpDef& op, const Attrs& attrs,
                                               const std::vector<Value>& args, int rank) {
  std::vector<Value> with;
  bool changed = false;
  int left = 0;
  for (const Value& a : args) {
    const auto known = scalars_.find(a.node);
    const bool one = a.rank() > 0 && AllOnes(a) && known != scalars_.end();
    changed = changed || one;
    with.push_back(one ? known->second[0] : a);
    left = std::max(left, with.back().rank());
  }
  if (!changed || left != rank) return std::nullopt;
  return Op(op.name, with, attrs);
}

// An elementwise call on small tensors that are made of sizes: on their elements.
std::optional<Value> TypedBuilder::ElementByElement(const OpDef& op, const Attrs& attrs,
                                                    const std::vector<Value>& args, bool always) {
  const bool simple =
      op.fusion == FusionClass::kElementwise || op.fusion == FusionClass::kBroadcast;
  const auto any = [&](const auto& fn) { return std::ranges::any_of(args, fn); };
  if (!simple || op.is_view || !op.compute || !op.shape_args.empty() || args.empty() ||
      any([](const Value& a) { return !a.is_tensor(); })) {
    return std::nullopt;
  }
  const int rank = std::ranges::max(args, {}, &Value::rank).rank();
  const bool small = std::ranges::all_of(args, [&](const Value& a) {
    return SmallSize(a) &&
           (a.rank() == 0 || a.constant != nullptr || scalars_.contains(a.node) || Elements(a));
  });
  if (!small) return WithScalars(op, attrs, args, rank);
  const auto shape = BroadcastShape(args, rank);
  if (!shape || rank == 0) return std::nullopt;
  int64_t count = 1;
  for (int64_t d : *shape) count *= d;
  const bool of_sizes = any([](const Value& a) { return a.constant == nullptr && a.rank() > 0; });
  const bool to_float = attrs.Has("dtype") && IsFloat(DTypeOr(attrs, "dtype", DType::kInt64));
  const auto is_float = [](const Value& a) { return IsFloat(a.dtype()); };
  const auto has_numbers = [&](const Value& a) {
    if (a.constant != nullptr || is_float(a)) return false;
    const auto elements = Elements(a);
    return !elements || HasNumbers(*elements);
  };
  if (!of_sizes || count > kMostScalars ||
      !(always || count == 1 || to_float || any(is_float) || any(has_numbers))) {
    return std::nullopt;
  }
  std::vector<std::vector<Value>> operands;
  for (const Value& a : args) {
    auto scalars = ScalarsOf(a);
    if (!scalars) return std::nullopt;
    operands.push_back(*std::move(scalars));
  }
  std::vector<Value> results;
  for (int64_t flat = 0; flat < count; ++flat) {
    std::vector<Value> at;
    for (size_t k = 0; k < args.size(); ++k)
      at.push_back(operands[k][BroadcastIndex(args[k], *shape, flat)]);
    results.push_back(Op(op.name, at, attrs));
    if (!results.back().is_tensor() || results.back().rank() != 0) return std::nullopt;
  }
  return OfScalars(results, *shape);
}

// The result of a call that only moves elements of small tensors made of scalars: the same scalars.
void TypedBuilder::TrackMoved(const OpDef& op, const Attrs& attrs, const std::vector<Value>& args,
                              const Value& result) {
  if (!op.compute || op.builtin || result.type == nullptr || result.constant != nullptr) return;
  if (op.fusion != FusionClass::kInjective) return;
  // Places count, not numbers.
  const auto integer = [](DType t) { return IsFloat(t) ? DType::kInt64 : t; };
  bool any = false;
  std::vector<Value> inputs;
  for (const Value& a : args) {
    for (const Value& v : a.is_tensor() ? std::vector<Value>{a} : Fields(a)) inputs.push_back(v);
  }
  for (const Value& v : inputs) any = any || scalars_.contains(v.node);
  if (!any) return;
  std::vector<Value> scalars;  // what symbols stand for
  std::vector<uint32_t> symbols;
  std::vector<std::optional<std::vector<Dim>>> known;
  std::vector<te::Tensor> placeholders;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = inputs[i];
    placeholders.push_back(
        te::Placeholder("p", v.shape(), integer(v.dtype()), static_cast<int>(i)));
    known.emplace_back();
    const auto numbers = IsFloat(v.dtype()) ? std::nullopt : ConstantInts(v);
    if (numbers) {
      known.back().emplace(numbers->begin(), numbers->end());
    } else if (auto elements = ScalarsOf(v)) {
      known.back().emplace();
      for (Value& e : *elements) {
        symbols.push_back(module_.ids->Next());
        known.back()->push_back(Dim::Symbol(symbols.back(), "e", /*nonnegative=*/false));
        scalars.push_back(std::move(e));
      }
    }
  }
  const bool is_tuple = !result.is_tensor();
  const std::vector<Value> fields = is_tuple ? Fields(result) : std::vector<Value>{result};
  std::vector<TensorType> types;
  for (const Value& f : fields) {
    if (!SmallSize(f)) return;
    types.push_back({f.shape(), integer(f.dtype())});
  }
  const std::vector<te::Tensor> computed = op.compute({attrs, placeholders, types});
  for (size_t k = 0; k < fields.size() && k < computed.size(); ++k) {
    const auto values = te::EvaluateSymbolic(computed[k], known);
    if (!values || fields[k].rank() == 0) continue;
    std::vector<Value> moved;
    for (const Dim& d : *values) {
      if (d.is_const() && !IsFloat(fields[k].dtype())) {
        moved.push_back(Int(d.value(), fields[k].dtype()));
        continue;
      }
      const auto at =
          d.is_symbol() ? std::find(symbols.begin(), symbols.end(), d.symbol_id()) : symbols.end();
      if (at == symbols.end()) break;
      const Value& scalar = scalars[static_cast<size_t>(at - symbols.begin())];
      if (scalar.dtype() != fields[k].dtype()) break;
      moved.push_back(scalar);
    }
    if (moved.size() == values->size() && !moved.empty()) scalars_[fields[k].node] = moved;
  }
}

}  // namespace relayvm::import

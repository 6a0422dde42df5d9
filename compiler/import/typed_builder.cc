#include "compiler/import/typed_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/te/scalar.h"

namespace relayvm::import {

using ir::NodeId;

namespace {

// A number as an element of a dtype: integers wrap, and are 0 of what no 64 bits hold.
te::Scalar ElementOf(DType dtype, double value) {
  if (IsFloat(dtype)) return te::FloatScalar(value);
  if (dtype == DType::kBool) return te::IntScalar(value != 0);
  constexpr double kEnd = 0x1p63;
  if (value >= -kEnd && value < kEnd) return te::IntScalar(static_cast<int64_t>(value));
  const bool fits = value >= kEnd && value < 2 * kEnd;
  return te::IntScalar(fits ? static_cast<int64_t>(static_cast<uint64_t>(value)) : 0);
}

void FillWith(DType dtype, double value, SharedBytes& bytes) {
  std::byte element[sizeof(int64_t)];
  te::WriteElement(dtype, ElementOf(dtype, value), element);
  std::span<std::byte> out = bytes.Mutable();
  const auto width = static_cast<size_t>(DTypeBytes(dtype));
  for (size_t i = 0; i + width <= out.size(); i += width)
    std::memcpy(out.data() + i, element, width);
}

// Maps the dims of tensors, also in tuples; those inside other types become unknown, but for
// numbers.
ir::Type MapTensorDims(const ir::Type& t, const std::function<Dim(const Dim&)>& fn) {
  if (t->As<TensorType>() != nullptr) return ir::MapDims(t, fn);
  if (t->As<ir::TupleType>() != nullptr) {
    return ir::MapChildren(t, [&](const ir::Type& field) { return MapTensorDims(field, fn); });
  }
  return ir::MapDims(t, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
}

}  // namespace

const TensorType& Value::tensor() const {
  static const TensorType kScalar{{}, DType::kFloat32};
  const auto* t = type == nullptr ? nullptr : type->As<TensorType>();
  return t == nullptr ? kScalar : *t;
}

Dim Value::dim(int axis) const {
  const int n = rank();
  if (axis < 0) axis += n;
  return axis < 0 || axis >= n ? Dim(1) : shape()[static_cast<size_t>(axis)];
}

TypedBuilder::TypedBuilder(const ir::Module& module) : module_(module), graph_(module) {}

Failed TypedBuilder::Fail(StatusCode code, std::string_view message) {
  if (status().ok()) status_ = module_.sources->Error(code, span_, message);
  return {};
}

// --- Typing of calls ---

// What a relation asks of a call's surroundings. Arguments are values of the graph.
class TypedBuilder::Host final : public typing::OpHost {
 public:
  Host(TypedBuilder& b, const std::vector<Value>& args) : b_(b), args_(args) {}

  std::vector<Dim> Elements(size_t i, int64_t size) override {
    if (auto known = b_.Elements(args_[i])) return *std::move(known);
    std::vector<Dim>& made = b_.elements_[args_[i].node];
    while (static_cast<int64_t>(made.size()) < size) made.push_back(NewElement());
    return made;
  }
  Dim Element(size_t i, int64_t index) override {
    if (auto known = b_.Elements(args_[i])) return known->at(static_cast<size_t>(index));
    return NewElement();
  }
  const ir::Constant* ConstantArg(size_t i) override {
    if (args_[i].constant == nullptr) return nullptr;
    constants_.push_back(std::make_unique<ir::Constant>(ir::Constant{*args_[i].constant, ""}));
    return constants_.back().get();
  }
  Dim NewSymbol(std::string_view name) override {
    return Dim::Symbol(b_.module_.ids->Next(), std::string(name));
  }
  Dim NameDim(const Dim& /*d*/) override { return NewSymbol("d"); }
  Result<Dim> ComputeDim(std::span<const ScalarStep> /*steps*/) override { return NewElement(); }
  Result<std::vector<Dim>> ShapeByRule(const RuledShape& shape) override {
    for (const auto& [known, dims] : b_.ruled_shapes_) {
      if (known == shape) return dims;
    }
    std::vector<Dim> dims;
    for (size_t i = 0; i < shape.rank; ++i) dims.push_back(NewSymbol("d"));
    b_.ruled_shapes_.emplace_back(shape, dims);
    return dims;
  }
  typing::Broadcasts& broadcasts() override { return b_.broadcasts_; }

 private:
  Dim NewElement() { return Dim::Symbol(b_.module_.ids->Next(), "e", /*nonnegative=*/false); }

  TypedBuilder& b_;
  const std::vector<Value>& args_;
  std::vector<std::unique_ptr<ir::Constant>> constants_;
};

std::optional<ir::Type> TypedBuilder::TypeCall(const OpDef& op, const Attrs& attrs,
                                               const std::vector<Value>& args, NodeId node) {
  std::vector<ir::Type> types;
  for (const Value& a : args) {
    if (a.type == nullptr) {
      return Fail("{}: an input that it needs is left out", op.name);
    }
    types.push_back(a.type);
  }
  auto arg_types = typing::ArgTypes(op, types);
  if (!arg_types.ok()) {
    return Fail(arg_types.status().code(), arg_types.status().message());
  }
  Host host(*this, args);
  auto typed = typing::TypeOp(op, attrs, *arg_types, host);
  if (!typed.ok()) {
    return Fail(typed.status().code(), typed.status().message());
  }
  const OpResult& result = typed->result;
  // What small integer results hold.
  std::vector<TensorType> inputs;
  std::vector<Value> values;
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgType& a = (*arg_types)[i];
    std::vector<Value> fields = a.is_tuple ? Fields(args[i]) : std::vector<Value>{args[i]};
    for (size_t k = 0; k < a.tensors.size(); ++k) {
      inputs.push_back(a.tensors[k]);
      values.push_back(fields[k]);
    }
  }
  auto known = typing::EvaluateElements(
      op, attrs, inputs, result.tensors, [&](size_t i) { return ElementsOrSymbol(values[i]); },
      /*bools=*/true);
  if (!result.is_tuple) {
    if (known[0]) elements_[node] = *std::move(known[0]);
    return ir::MakeType(result.tensors[0]);
  }
  ir::TupleType tuple;
  for (const TensorType& t : result.tensors) tuple.fields.push_back(ir::MakeType(t));
  ir::Type type = ir::MakeType(tuple);
  std::vector<Value> fields;
  for (size_t i = 0; i < tuple.fields.size(); ++i) {
    Value field{graph_.Field(node, static_cast<uint32_t>(i), span_), tuple.fields[i], nullptr};
    if (known[i]) elements_[field.node] = *std::move(known[i]);
    fields.push_back(std::move(field));
  }
  fields_[node] = std::move(fields);
  return type;
}

Value TypedBuilder::Op(std::string_view name, const std::vector<Value>& args, AttrInit attrs) {
  Attrs given;
  for (const auto& [key, value] : attrs) given.Set(std::string(key), value);
  return Op(name, args, given);
}

Value TypedBuilder::Op(std::string_view name, const std::vector<Value>& args, const Attrs& attrs) {
  const OpDef* op = OpTable::Get().Find(name);
  if (op == nullptr) {
    Fail(StatusCode::kInternal, "there is no operator {}", name);
    return {0, nullptr, nullptr};
  }
  return Op(*op, args, attrs);
}

Value TypedBuilder::Op(const OpDef& definition, const std::vector<Value>& args,
                       const Attrs& attrs) {
  const OpDef* op = &definition;
  if (!status().ok()) return {0, nullptr, nullptr};
  auto complete = CompleteAttrs(*op, attrs);
  if (!complete.ok()) {
    Fail(complete.status().code(), complete.status().message());
    return {0, nullptr, nullptr};
  }
  if (auto scalars = ElementByElement(*op, *complete, args, /*always=*/false)) return *scalars;
  std::vector<NodeId> nodes;
  for (const Value& a : args) nodes.push_back(a.node);
  const NodeId node = graph_.OpCall(*op, std::move(nodes), *complete, span_);
  auto type = TypeCall(*op, *complete, args, node);
  Value result{node, type.value_or(nullptr), nullptr};
  if (auto known = Fold(*op, *complete, args, result)) return Constant(*std::move(known));
  if (op->fusion != FusionClass::kOpaque && !args.empty() && ConstantInts(result)) {
    return Constant(*KnownTensor(result));
  }
  if (result.is_tensor() && result.rank() > 0 && !Elements(result)) {
    if (auto scalars = ElementByElement(*op, *complete, args, /*always=*/true)) return *scalars;
  }
  TrackMoved(*op, *complete, args, result);
  if (result.is_tensor()) {
    NoteDims(result);
  } else if (result.type != nullptr) {
    for (const Value& field : Fields(result)) NoteDims(field);
  }
  return result;
}

std::vector<Value> TypedBuilder::Ops(std::string_view name, const std::vector<Value>& args,
                                     AttrInit attrs) {
  return Fields(Op(name, args, attrs));
}

// --- Values ---

Value TypedBuilder::Wrap(NodeId node, ir::Type type) {
  Value v{node, std::move(type), nullptr};
  NoteDims(v);
  return v;
}

Value TypedBuilder::Use(const ir::Var* var) { return Wrap(graph_.Use(var, span_), var->type); }

const ir::Var* TypedBuilder::NewVar(std::string name, ir::Type type) {
  return ir::MakeVar(module_, std::move(name), std::move(type), span_);
}

Value TypedBuilder::Constant(HostTensor value, std::string name) {
  std::vector<Dim> shape(value.shape.begin(), value.shape.end());
  Value v;
  v.type = ir::MakeTensorType(std::move(shape), value.dtype);
  v.constant = std::make_shared<const HostTensor>(value);
  v.node = graph_.Constant(std::move(value), std::move(name), span_);
  return v;
}

Value TypedBuilder::Full(const std::vector<int64_t>& shape, double value, DType dtype) {
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  HostTensor t{half ? DType::kFloat32 : dtype, shape, {}};
  if (!MayMake(static_cast<size_t>(t.size()) * sizeof(int64_t))) return {0, nullptr, nullptr};
  t.data = SharedBytes::Zeros(static_cast<size_t>(t.size()) * DTypeBytes(t.dtype));
  FillWith(t.dtype, value, t.data);
  Value v = Constant(std::move(t));
  return half ? Cast(v, dtype) : v;
}

Value TypedBuilder::Scalar(double value, DType dtype) { return Full({}, value, dtype); }

Value TypedBuilder::Int(int64_t value, DType dtype) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value > -kExact && value < kExact) return Full({}, static_cast<double>(value), dtype);
  return Cast(Reshape(Ints({value}), {}), dtype);
}

Value TypedBuilder::Ints(const std::vector<int64_t>& values, DType dtype) {
  if (!MayMake(values.size() * sizeof(int64_t))) return {0, nullptr, nullptr};
  HostTensor t{DType::kInt64, {static_cast<int64_t>(values.size())}, {}};
  t.data = SharedBytes::Copy(std::as_bytes(std::span(values)));
  if (dtype != DType::kInt64) {
    t.dtype = dtype;
    std::vector<std::byte> bytes(values.size() * DTypeBytes(dtype));
    for (size_t i = 0; i < values.size(); ++i) {  // little endian: the low bytes
      std::memcpy(bytes.data() + i * DTypeBytes(dtype), &values[i], DTypeBytes(dtype));
    }
    t.data = SharedBytes(std::move(bytes));
  }
  return Constant(std::move(t));
}

bool TypedBuilder::MayMake(size_t bytes) {
  // More than any model needs; one that says in few bytes that a lot is to be written ends here.
  constexpr size_t kMost = size_t{1} << 30;
  made_ += std::min(bytes, kMost + 1);
  if (made_ > kMost) {
    Fail(StatusCode::kResourceExhausted, "what the model stands for takes more than {} bytes",
         kMost);
  }
  return made_ <= kMost;
}

Value TypedBuilder::Tuple(const std::vector<Value>& fields) {
  if (!MayMake(fields.size() * sizeof(Value))) return {0, nullptr, nullptr};
  ir::TupleType type;
  std::vector<NodeId> nodes;
  for (const Value& f : fields) {
    if (f.type == nullptr) return {0, nullptr, nullptr};
    type.fields.push_back(f.type);
    nodes.push_back(f.node);
  }
  Value v{graph_.Tuple(std::move(nodes), span_), ir::MakeType(std::move(type)), nullptr};
  fields_[v.node] = fields;
  return v;
}

Value TypedBuilder::Field(const Value& tuple, size_t index) {
  std::vector<Value> fields = Fields(tuple);
  if (index < fields.size()) return fields[index];
  Fail(StatusCode::kInternal, "a tuple has no field {}", index);
  return {0, nullptr, nullptr};
}

std::vector<Value> TypedBuilder::Fields(const Value& tuple) {
  const auto* type = tuple.type == nullptr ? nullptr : tuple.type->As<ir::TupleType>();
  if (type == nullptr) {
    return Fail("expected a tuple or sequence of values, found a tensor");
  }
  auto [it, inserted] = fields_.try_emplace(tuple.node);
  if (!inserted) return it->second;
  for (size_t i = 0; i < type->fields.size(); ++i) {
    it->second.push_back(
        {graph_.Field(tuple.node, static_cast<uint32_t>(i), span_), type->fields[i], nullptr});
  }
  return it->second;
}

ir::Type TypedBuilder::Open(const ir::Type& type) {
  return MapTensorDims(type, [&](const Dim& d) {
    return d.ContainsAny() ? Dim::Symbol(module_.ids->Next(), "d") : d;
  });
}

// --- Control flow ---

std::vector<const ir::Var*> TypedBuilder::StateVars(const std::vector<ir::Type>& types) {
  std::vector<std::pair<Dim, Dim>> symbols;
  const auto open = [&](const Dim& d) {
    if (d.is_const()) return d;
    for (const auto& [known, symbol] : symbols) {
      if (known == d && !d.ContainsAny()) return symbol;
    }
    symbols.emplace_back(d, Dim::Symbol(module_.ids->Next(), "s"));
    return symbols.back().second;
  };
  std::vector<const ir::Var*> vars;
  for (const ir::Type& t : types) vars.push_back(NewVar("", MapTensorDims(t, open)));
  return vars;
}

TypedBuilder::State TypedBuilder::Loop(const std::vector<const ir::Var*>& vars,
                                       const State& initial, const Value& condition,
                                       const State& next) {
  std::vector<NodeId> start, again;
  ir::TupleType type;
  for (const Value& v : initial) {
    if (v.type == nullptr) return initial;
    start.push_back(v.node);
    type.fields.push_back(v.type);
  }
  for (const Value& v : next) again.push_back(v.node);
  const NodeId node = graph_.While(
      vars, std::move(start), [&](std::span<const NodeId>) { return condition.node; },
      [&](std::span<const NodeId>) { return again; }, span_);
  return Fields(Wrap(node, ir::MakeType(std::move(type))));
}

TypedBuilder::State TypedBuilder::While(const State& initial,
                                        const std::function<Value(const State&)>& condition,
                                        const std::function<State(const State&)>& body) {
  std::vector<ir::Type> types;
  for (const Value& v : initial) {
    if (v.type == nullptr) return initial;
    types.push_back(v.type);
  }
  const std::vector<const ir::Var*> vars = StateVars(types);
  State state;
  for (const ir::Var* v : vars) state.push_back(Use(v));
  const Value again = condition(state);
  const State next = body(state);
  if (!status().ok()) return initial;
  return Loop(vars, initial, again, next);
}

Value TypedBuilder::If(const Value& condition, const Value& yes, const Value& no, ir::Type type) {
  return Wrap(graph_.If(condition.node, yes.node, no.node, span_), std::move(type));
}

Value TypedBuilder::WithDimsOf(const Value& v, const Value& like, int first, int count) {
  bool open = false;
  for (int i = first; i < first + count; ++i) open |= !like.dim(i).is_const();
  if (!open) return v;
  return Op(
      "reshape_like", {v, like},
      {{"lhs_begin", 0}, {"lhs_end", count}, {"rhs_begin", first}, {"rhs_end", first + count}});
}

Value TypedBuilder::Stated(const Statement& v, const std::vector<Statement>& others,
                           std::string what) {
  std::map<uint32_t, Dim> known;
  ir::TupleType stated, refined;
  std::vector<Value> fields;
  const auto add = [&](const Statement& s) {
    std::vector<Dim> shape = s.value.shape();
    const auto& promised = s.type->As<TensorType>()->shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (promised[i].is_const()) shape[i] = promised[i];
      if (promised[i].is_symbol())
        shape[i] = known.try_emplace(promised[i].symbol_id(), shape[i]).first->second;
    }
    fields.push_back(s.value);
    stated.fields.push_back(s.type);
    refined.fields.push_back(ir::MakeTensorType(std::move(shape), s.value.dtype()));
  };
  for (const Statement& s : others) add(s);
  add(v);
  const Value tuple = Tuple(fields);
  if (!status().ok()) return v.value;
  const ir::Stated all{static_cast<const ir::Var*>(nullptr), ir::MakeType(std::move(stated)),
                       std::move(what)};
  const ir::NodeId node = graph_.OfExpr(*ir::MakeExpr(module_, all, span_), {tuple.node}, span_);
  return Field(Wrap(node, ir::MakeType(std::move(refined))), others.size());
}

// --- Shorthands ---

namespace {

AttrList ToAttr(const std::vector<int64_t>& values) {
  AttrList list;
  for (int64_t v : values) list.emplace_back(v);
  return list;
}

}  // namespace

Value TypedBuilder::Cast(const Value& v, DType dtype) {
  if (v.dtype() == dtype && v.is_tensor()) return v;
  return Op("cast", {v}, {{"dtype", std::string(DTypeName(dtype))}});
}

Value TypedBuilder::Reshape(const Value& v, const std::vector<int64_t>& shape) {
  if (shape.empty() && v.is_tensor()) {
    if (v.rank() == 0) return v;
    if (auto scalar = scalars_.find(v.node); scalar != scalars_.end()) return scalar->second[0];
  }
  return Op("reshape", {v}, {{"newshape", ToAttr(shape)}});
}

Value TypedBuilder::Transpose(const Value& v, const std::vector<int64_t>& axes) {
  bool identity = true;
  for (size_t i = 0; i < axes.size(); ++i) identity &= axes[i] == static_cast<int64_t>(i);
  if (identity) return v;
  // Dims of 1 that change their place move no element: views.
  std::vector<int64_t> kept, ones;
  bool valid = static_cast<int>(axes.size()) == v.rank();
  for (int64_t axis : axes) {
    valid = valid && axis >= 0 && axis < v.rank();
    if (valid && !v.dim(static_cast<int>(axis)).is_const(1)) kept.push_back(axis);
  }
  for (int i = 0; i < v.rank(); ++i) {
    if (v.dim(i).is_const(1)) ones.push_back(i);
  }
  valid = valid && kept.size() + ones.size() == axes.size();
  if (valid && std::is_sorted(kept.begin(), kept.end())) {
    Value moved = Squeeze(v, ones);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (v.dim(static_cast<int>(axes[i])).is_const(1)) {
        moved = ExpandDims(moved, static_cast<int>(i));
      }
    }
    return moved;
  }
  return Op("transpose", {v}, {{"axes", ToAttr(axes)}});
}

Value TypedBuilder::ExpandDims(const Value& v, int axis, int count) {
  return count == 0 ? v : Op("expand_dims", {v}, {{"axis", axis}, {"num_newaxis", count}});
}

Value TypedBuilder::Squeeze(const Value& v, const std::vector<int64_t>& axes) {
  if (!axes.empty() && static_cast<int>(axes.size()) == v.rank() && scalars_.contains(v.node)) {
    return scalars_[v.node][0];
  }
  return axes.empty() ? v : Op("squeeze", {v}, {{"axis", ToAttr(axes)}});
}

Value TypedBuilder::Concat(const std::vector<Value>& parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return Op("concatenate", {Tuple(parts)}, {{"axis", axis}});
}

Value TypedBuilder::DimOf(const Value& v, int axis) {
  if (axis < 0) axis += v.rank();
  const Dim d = v.dim(axis);
  if (d.is_const()) return Ints({d.value()});
  return Op("strided_slice", {ShapeOf(v)},
            {{"begin", AttrList{axis}}, {"end", AttrList{axis + 1}}, {"strides", AttrList{1}}});
}

Value TypedBuilder::ShapeOf(const Value& v) {
  std::vector<int64_t> dims;
  for (const Dim& d : v.shape()) {
    if (d.is_const()) dims.push_back(d.value());
  }
  if (dims.size() == v.shape().size()) return Ints(dims);
  return Op("shape_of", {v}, {{"dtype", "int64"}});
}

void TypedBuilder::NoteDims(const Value& v) {
  if (!v.is_tensor()) return;
  for (int i = 0; i < v.rank(); ++i) {
    const Dim d = v.dim(i);
    if (d.is_symbol()) sized_.try_emplace(d.symbol_id(), Sized{v, i, sized_.size()});
  }
}

std::optional<Value> TypedBuilder::ValueOfDim(const Dim& d, size_t values) {
  if (d.is_const()) return Ints({d.value()});
  if (d.is_symbol()) {
    auto it = sized_.find(d.symbol_id());
    if (it == sized_.end() || it->second.order >= values) return std::nullopt;
    return DimOf(it->second.value, it->second.axis);
  }
  // It is walked as a tree.
  constexpr size_t kMostNodes = 100;
  if (d.Size() > kMostNodes) return std::nullopt;
  const auto op = [&]() -> std::string_view {
    switch (d.kind()) {
      case Dim::Kind::kAdd:
        return "add";
      case Dim::Kind::kMul:
        return "multiply";
      case Dim::Kind::kFloorDiv:
        return "floor_divide";
      case Dim::Kind::kFloorMod:
        return "floor_mod";
      case Dim::Kind::kMin:
        return "minimum";
      case Dim::Kind::kMax:
        return "maximum";
      default:
        return "";
    }
  }();
  if (op.empty()) return std::nullopt;
  std::optional<Value> result;
  for (const Dim& operand : d.operands()) {
    auto part = ValueOfDim(operand, values);
    if (!part) return std::nullopt;
    result = result ? Op(op, {*result, *part}) : *part;
  }
  return result;
}

Value TypedBuilder::ReshapeTo(const Value& v, const Value& shape) {
  if (auto constant = ConstantInts(shape)) return Reshape(v, *constant);
  return Op("dyn.reshape", {v, shape});
}

}  // namespace relayvm::import

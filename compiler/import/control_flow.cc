#include "compiler/import/control_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/one_of.h"

namespace relayvm::import {

using ir::AdtType;
using ir::TupleType;
using ir::Type;
using State = TypedBuilder::State;

namespace {

constexpr std::string_view kSequence = "Sequence", kOptional = "Optional", kNone = "None";

Type Adt(std::string_view name, std::vector<Type> args) {
  return ir::MakeType(AdtType{std::string(name), std::move(args)});
}

const AdtType* AsAdt(const Type& t, std::string_view name) {
  const auto* adt = t == nullptr ? nullptr : t->As<AdtType>();
  return adt != nullptr && adt->name == name ? adt : nullptr;
}

// A type inside a container: only numbers are known of its dims, and sequences have any length.
Type Contained(const Type& t) {
  if (const auto* tuple = t->As<TupleType>()) {
    Type element;
    for (const Type& f : tuple->fields) {
      const Type part = Contained(f);
      element = element == nullptr ? part : JoinTypes(element, part);
      if (element == nullptr) return nullptr;
    }
    return element == nullptr ? nullptr : SequenceType(element);
  }
  return ir::MapDims(t, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
}

// Of a sequence in either form; null where it has none, or they fit no one type.
Type AnyElementType(const Type& t) {
  if (Type element = ElementType(t, kSequence)) return element;
  const Type whole = Contained(t);
  return whole == nullptr ? nullptr : ElementType(whole, kSequence);
}

// Null, with an error, where the prelude has none.
const ir::Constructor* FindConstructor(TypedBuilder& b, std::string_view adt,
                                       std::string_view name) {
  b.UsePrelude();
  const auto def = b.module().types.find(std::string(adt));
  if (def != b.module().types.end()) {
    for (const ir::Constructor* c : def->second.constructors) {
      if (c->name == name) return c;
    }
  }
  b.Fail(StatusCode::kInternal, "there is no constructor {}", name);
  return nullptr;
}

Value Construct(TypedBuilder& b, std::string_view adt, std::string_view name,
                const std::vector<Value>& args, Type type) {
  const ir::Constructor* constructor = FindConstructor(b, adt, name);
  if (constructor == nullptr) return {0, nullptr, nullptr};
  const ir::NodeId callee = b.graph().Use(constructor, b.span());
  std::vector<ir::NodeId> nodes;
  for (const Value& v : args) nodes.push_back(v.node);
  return b.Wrap(b.graph().Call(callee, std::move(nodes), b.span()), std::move(type));
}

// The field of a value that must be made by that constructor, which holds the type argument of its
// place.
Value HeldBy(TypedBuilder& b, const Value& v, std::string_view adt, std::string_view made) {
  const AdtType* type = AsAdt(v.type, adt);
  const ir::Constructor* constructor = FindConstructor(b, adt, made);
  if (constructor == nullptr || type == nullptr) return {0, nullptr, nullptr};
  const size_t place = type->args.size() > 1 ? constructor->tag : 0;
  const Type held_type = b.Open(type->args[place]);
  const ir::Var* x = b.NewVar("held", held_type);
  using Pattern = ir::Pattern;
  const Pattern held{Pattern::Kind::kVar, x, nullptr, {}, b.span()};
  const Pattern given{Pattern::Kind::kConstructor, nullptr, constructor, {held}, b.span()};
  return b.Wrap(b.graph().Match(v.node, {given}, {b.Use(x).node}, false, b.span()), held_type);
}

}  // namespace

// --- Types ---

Type SequenceType(Type element) { return Adt(kSequence, {std::move(element)}); }
Type ListType(Type element) { return Adt("List", {std::move(element)}); }
Type OptionalType(Type value) { return Adt(kOptional, {std::move(value)}); }
Type NoneType() {
  static const Type kType = Adt(kNone, {});
  return kType;
}
bool IsNone(const Value& v) { return AsAdt(v.type, kNone) != nullptr; }

Type ElementType(const Type& t, std::string_view adt) {
  const AdtType* found = AsAdt(t, adt);
  return found == nullptr || found->args.empty() ? nullptr : found->args[0];
}

bool IsSequence(const Value& v) {
  return v.type != nullptr &&
         (v.type->As<TupleType>() != nullptr || AsAdt(v.type, kSequence) != nullptr);
}

Type JoinTypes(const Type& x, const Type& y) {
  if (x == nullptr || y == nullptr) return nullptr;
  if (ir::TypeEquals(x, y)) return x;
  const auto* s = x->As<TensorType>();
  const auto* t = y->As<TensorType>();
  if (s != nullptr && t != nullptr) {
    if (s->dtype != t->dtype || s->rank() != t->rank()) return nullptr;
    std::vector<Dim> shape;
    for (size_t i = 0; i < s->shape.size(); ++i) {
      shape.push_back(s->shape[i] == t->shape[i] ? s->shape[i] : Dim::Any());
    }
    return ir::MakeTensorType(std::move(shape), s->dtype);
  }
  // One that may be left out.
  const bool x_none = AsAdt(x, kNone) != nullptr, y_none = AsAdt(y, kNone) != nullptr;
  const Type x_held = ElementType(x, kOptional), y_held = ElementType(y, kOptional);
  if (x_none || y_none || x_held != nullptr || y_held != nullptr) {
    const auto held = [&](const Type& whole, const Type& inner) {
      return inner != nullptr ? inner : Contained(whole);
    };
    if (x_none && y_none) return x;
    Type value = x_none   ? held(y, y_held)
                 : y_none ? held(x, x_held)
                          : JoinTypes(held(x, x_held), held(y, y_held));
    return value == nullptr ? nullptr : OptionalType(value);
  }
  const auto* p = x->As<TupleType>();
  const auto* q = y->As<TupleType>();
  if (p != nullptr && q != nullptr && p->fields.size() == q->fields.size()) {
    TupleType tuple;
    for (size_t i = 0; i < p->fields.size(); ++i) {
      tuple.fields.push_back(JoinTypes(p->fields[i], q->fields[i]));
      if (tuple.fields.back() == nullptr) return nullptr;
    }
    return ir::MakeType(std::move(tuple));
  }
  const bool x_list = p != nullptr || AsAdt(x, kSequence) != nullptr;
  const bool y_list = q != nullptr || AsAdt(y, kSequence) != nullptr;
  if (!x_list || !y_list) return nullptr;
  Type element;
  for (const Type& side : {x, y}) {
    const auto* tuple = side->As<TupleType>();
    if (tuple != nullptr && tuple->fields.empty()) continue;
    const Type own = AnyElementType(side);
    element = element == nullptr ? own : JoinTypes(element, own);
    if (element == nullptr) return nullptr;
  }
  return element == nullptr ? nullptr : SequenceType(element);
}

Value AsSequence(TypedBuilder& b, const Value& v, const Type& element) {
  if (v.type == nullptr || v.type->As<TupleType>() == nullptr) return v;
  const Type own = AnyElementType(v.type);
  const Type held = element != nullptr ? element : own;
  if (held == nullptr) {
    b.Fail(StatusCode::kUnsupported,
           "the elements of a sequence differ in rank or type, or their type is not known");
    return {0, nullptr, nullptr};
  }
  const Type type = SequenceType(held);
  Value list = Construct(b, kSequence, "Empty", {}, type);
  for (const Value& field : b.Fields(v)) {
    list = Construct(b, kSequence, "Append", {list, Coerce(b, field, held)}, type);
  }
  return list;
}

Value Coerce(TypedBuilder& b, const Value& v, const Type& type) {
  if (v.type == nullptr || type == nullptr) return v;
  if (const auto* tuple = type->As<TupleType>()) {
    std::vector<Value> fields = b.Fields(v);
    for (size_t i = 0; i < fields.size() && i < tuple->fields.size(); ++i) {
      fields[i] = Coerce(b, fields[i], tuple->fields[i]);
    }
    return b.Tuple(fields);
  }
  if (const Type element = ElementType(type, kSequence)) return AsSequence(b, v, element);
  if (const Type held = ElementType(type, kOptional)) {
    if (AsAdt(v.type, kOptional) != nullptr) return v;
    if (IsNone(v)) return Construct(b, kOptional, "None", {}, type);
    return Construct(b, kOptional, "Some", {Coerce(b, v, held)}, type);
  }
  if (ElementType(type, "List") != nullptr && IsSequence(v)) {
    const Value end = Construct(b, "List", "Nil", {}, type);
    return CallPrelude(b, "sequence_to_list", {AsSequence(b, v, ElementType(type, "List")), end},
                       type);
  }
  return v;
}

// --- One of several types ---

namespace {

constexpr size_t kMostAlternatives = 8;

std::vector<Type> AlternativesOf(Type t) {
  std::vector<Type> all;
  for (const AdtType* adt = AsAdt(t, ir::kOneOf); adt != nullptr; adt = AsAdt(t, ir::kOneOf)) {
    all.push_back(adt->args[0]);
    t = adt->args[1];
  }
  all.push_back(std::move(t));
  return all;
}

}  // namespace

bool IsOneOf(const Value& v) { return AsAdt(v.type, ir::kOneOf) != nullptr; }
Value IsFirst(TypedBuilder& b, const Value& v) {
  return CallPrelude(b, "is_first", {v}, ir::MakeTensorType({}, DType::kBool));
}
Value FirstOf(TypedBuilder& b, const Value& v) { return HeldBy(b, v, ir::kOneOf, "First"); }
Value SecondOf(TypedBuilder& b, const Value& v) { return HeldBy(b, v, ir::kOneOf, "Second"); }

Type JoinAny(const Type& x, const Type& y) {
  if (Type joined = JoinTypes(x, y)) return joined;
  if (x == nullptr || y == nullptr) return nullptr;
  std::vector<Type> all;
  for (const Type& side : {x, y}) {
    for (const Type& t : AlternativesOf(side)) {
      if (t->As<TensorType>() == nullptr) return nullptr;
      const Type own = Contained(t);
      const auto same = std::find_if(all.begin(), all.end(), [&](const Type& known) {
        return JoinTypes(known, own) != nullptr;
      });
      if (same == all.end()) {
        all.push_back(own);
      } else {
        *same = JoinTypes(*same, own);
      }
    }
  }
  if (all.size() > kMostAlternatives) return nullptr;
  Type joined = all.back();
  for (size_t i = all.size() - 1; i-- > 0;) joined = Adt(ir::kOneOf, {all[i], std::move(joined)});
  return joined;
}

Value CoerceAny(TypedBuilder& b, const Value& v, const Type& type) {
  const AdtType* adt = AsAdt(type, ir::kOneOf);
  if (adt == nullptr || v.type == nullptr || ir::TypeEquals(v.type, type))
    return Coerce(b, v, type);
  if (IsOneOf(v)) {
    return b.If(IsFirst(b, v), CoerceAny(b, FirstOf(b, v), type),
                CoerceAny(b, SecondOf(b, v), type), type);
  }
  if (JoinTypes(v.type, adt->args[0]) != nullptr)
    return Construct(b, ir::kOneOf, "First", {v}, type);
  return Construct(b, ir::kOneOf, "Second", {CoerceAny(b, v, adt->args[1])}, type);
}

// --- Sequences ---

Value Append(TypedBuilder& b, const Value& sequence, const Value& element) {
  if (sequence.type == nullptr) return sequence;
  if (sequence.type->As<TupleType>() != nullptr) {
    std::vector<Value> fields = b.Fields(sequence);
    fields.push_back(element);
    return b.Tuple(fields);
  }
  const Type joined = JoinTypes(sequence.type, b.Tuple({element}).type);
  if (joined == nullptr) {
    b.Fail(StatusCode::kUnsupported, "{} is put into a sequence of {}; ranks must be the same",
           ir::TypeToString(element.type), ir::TypeToString(sequence.type));
    return {0, nullptr, nullptr};
  }
  return Construct(b, kSequence, "Append",
                   {sequence, Coerce(b, element, ElementType(joined, kSequence))}, joined);
}

Value OfList(TypedBuilder& b, const Value& list) {
  const Type type = SequenceType(ElementType(list.type, "List"));
  return CallPrelude(b, "sequence_of_list", {list, Construct(b, kSequence, "Empty", {}, type)},
                     type);
}

Value CallPrelude(TypedBuilder& b, std::string_view function, const std::vector<Value>& args,
                  const Type& result) {
  b.UsePrelude();
  const ir::NodeId callee = b.graph().Use(
      ir::Atom(b.module().arena->New<ir::GlobalVar>(ir::GlobalVar{std::string(function)})),
      b.span());
  std::vector<ir::NodeId> nodes;
  for (const Value& v : args) nodes.push_back(v.node);
  return b.Wrap(b.graph().Call(callee, std::move(nodes), b.span()), b.Open(result));
}

Value Impossible(TypedBuilder& b, Type type) {
  return Held(b, Construct(b, kOptional, "None", {}, OptionalType(std::move(type))));
}

Value Held(TypedBuilder& b, const Value& optional) {
  return HeldBy(b, optional, kOptional, "Some");
}

Value InRange(TypedBuilder& b, const Value& holds, const Value& v) {
  constexpr std::string_view kChecked = "Checked";
  if (!b.status().ok()) return v;
  const Value outside = Construct(b, kChecked, "OutOfRange", {}, Adt(kChecked, {v.type}));
  return b.If(holds, v, HeldBy(b, outside, kChecked, "InRange"), v.type);
}

// --- Loops ---

namespace {

// Rows that a buffer of unknown length starts with.
constexpr int64_t kFirstRows = 8;

// The tensor `v` with dims of `like` where `type` says what they are; its own where it says Any.
// What loops forget is stated again: at run time it is a view.
Value Restate(TypedBuilder& b, const Value& v, const Value& like, const Type& type) {
  const auto* tensor = type->As<TensorType>();
  if (tensor == nullptr || !v.is_tensor()) return v;
  bool forgotten = false;
  std::vector<Value> dims;
  for (int i = 0; i < tensor->rank(); ++i) {
    const Dim& d = tensor->shape[static_cast<size_t>(i)];
    forgotten |= !d.is_const() && !d.ContainsAny();
    dims.push_back(b.DimOf(d.ContainsAny() ? v : like, i));
  }
  return forgotten ? b.ReshapeTo(v, b.Concat(dims, 0)) : v;
}

// The type of a state after a turn that gives `next`; `seen` is what the turn was given.
Type Widen(const Type& type, const Type& seen, const Type& next) {
  const auto* t = type->As<TensorType>();
  const auto* s = seen->As<TensorType>();
  const auto* e = next->As<TensorType>();
  if (t == nullptr || s == nullptr || e == nullptr) return JoinTypes(type, next);
  if (t->dtype != e->dtype || t->rank() != e->rank()) return nullptr;
  std::vector<Dim> shape = t->shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].ContainsAny() && !(s->shape[i] == e->shape[i])) shape[i] = Dim::Any();
  }
  return ir::MakeTensorType(std::move(shape), t->dtype);
}

Value Zeros(TypedBuilder& b, const Value& rows, const std::vector<Value>& row_dims, DType dtype) {
  std::vector<Value> dims = {b.Reshape(rows, {1})};
  dims.insert(dims.end(), row_dims.begin(), row_dims.end());
  return b.Op("dyn.zeros", {b.Concat(dims, 0)}, {{"dtype", std::string(DTypeName(dtype))}});
}

class LoopBuilder {
 public:
  LoopBuilder(TypedBuilder& b, const CountedLoop& loop)
      : b_(b), loop_(loop), before_(b.num_sized()) {}

  State Run() {
    std::vector<Type> types;
    for (const Value& v : loop_.initial) {
      if (v.type == nullptr) return {};
      types.push_back(v.type);
    }
    // Types grow wider from try to try: each dim is given up once, each value changes its kind
    // once.
    for (;;) {
      if (!ImportTurn(types)) return {};
      bool changed = false;
      for (size_t i = 0; i < types.size(); ++i) {
        const Type wide = Widen(types[i], state_[i].type, turn_.next[i].type);
        if (wide == nullptr) {
          b_.Fail(StatusCode::kUnsupported,
                  "the state {} of the loop is {} before a turn and {} after it; ranks "
                  "and element types must be known when compiling",
                  i, ir::TypeToString(state_[i].type), ir::TypeToString(turn_.next[i].type));
          return {};
        }
        changed |= !ir::TypeEquals(wide, types[i]);
        types[i] = wide;
      }
      if (!changed) break;
    }
    return Finish(types);
  }

 private:
  bool ImportTurn(const std::vector<Type>& types) {
    std::vector<Type> all = {ir::MakeScalarType(DType::kInt64)};
    initial_.clear();
    for (size_t i = 0; i < types.size(); ++i) {
      initial_.push_back(Coerce(b_, loop_.initial[i], types[i]));
      all.push_back(types[i]);
    }
    vars_ = b_.StateVars(all);
    state_.clear();
    index_ = b_.Use(vars_[0]);
    for (size_t i = 0; i < types.size(); ++i) {
      state_.push_back(Restate(b_, b_.Use(vars_[i + 1]), initial_[i], types[i]));
    }
    turn_ = loop_.body(index_, state_);
    if (!b_.status().ok()) return false;
    if (turn_.next.size() != types.size()) {
      b_.Fail("the body of the loop gives another number of states than it takes");
      return false;
    }
    for (const Value& row : turn_.rows) {
      if (row.is_tensor()) continue;
      b_.Fail("what a loop collects must be tensors");
      return false;
    }
    return true;
  }

  State Finish(const std::vector<Type>& types) {
    State start = {b_.Int(0)}, next = {b_.Op("add", {index_, b_.Int(1)})};
    for (size_t i = 0; i < types.size(); ++i) {
      start.push_back(initial_[i]);
      next.push_back(Coerce(b_, turn_.next[i], types[i]));
    }
    // Whether there is another turn.
    Value again = loop_.count ? b_.Op("less", {index_, loop_.count}) : Value{};
    const auto both = [&](const Value& x, const Value& y) {
      return !x ? y : !y ? x : b_.Op("logical_and", {x, y});
    };
    const auto decided = [&](const Value& v) {
      auto known = v ? b_.ConstantInts(v) : std::nullopt;
      return !v || (known && known->size() == 1 && (*known)[0] != 0);
    };
    const bool counted = decided(turn_.again);
    if (!counted) {
      const ir::Var* go = b_.NewVar("", ir::MakeScalarType(DType::kBool));
      vars_.push_back(go);
      again = both(again, b_.Use(go));
      start.push_back(loop_.condition ? loop_.condition : b_.Full({}, 1, DType::kBool));
      next.push_back(turn_.again);
    } else if (!decided(loop_.condition)) {
      again = both(again, loop_.condition);
    }
    if (!again) again = b_.Full({}, 1, DType::kBool);
    const size_t first_buffer = start.size();
    // The number of turns, where it is known before the first.
    Value turns;
    if (counted && loop_.count) {
      turns = b_.Op("maximum", {loop_.count, b_.Int(0)});
      if (!decided(loop_.condition)) {
        turns = b_.Op("where", {loop_.condition, turns, b_.Int(0)});
      }
    }
    for (const Value& row : turn_.rows) AddBuffer(row, turns, start, next);
    if (!b_.status().ok()) return {};
    const State last = b_.Loop(vars_, start, again, next);
    if (!b_.status().ok()) return {};
    State out;
    for (size_t i = 0; i < types.size(); ++i) {
      const Value v = b_.Wrap(last[i + 1].node, b_.Open(types[i]));
      out.push_back(Restate(b_, v, initial_[i], types[i]));
    }
    for (size_t i = first_buffer; i < last.size(); ++i) {
      out.push_back(Collected(last[i], turn_.rows[i - first_buffer], last[0], turns));
    }
    return out;
  }

  // What a row measures, where that is known before the first turn.
  std::optional<std::vector<Value>> RowDims(const Value& row) {
    std::vector<Value> dims;
    for (const Dim& d : row.shape()) {
      auto known = b_.ValueOfDim(d, before_);
      if (!known) return std::nullopt;
      dims.push_back(*std::move(known));
    }
    return dims;
  }

  // A tensor that rows are written to, in place. Of a known number of turns it has its size from
  // the start; else it doubles. Where only a turn tells what a row measures, the first one makes
  // it, and no turn leaves nothing.
  void AddBuffer(const Value& row, const Value& turns, State& start, State& next) {
    const DType dtype = row.dtype();
    const auto dims = RowDims(row);
    std::vector<Dim> shape = {Dim::Any()};
    std::vector<int64_t> none = {0};
    for (const Dim& d : row.shape()) {
      shape.push_back(d.is_const() ? d : Dim::Any());
      none.push_back(d.is_const() ? d.value() : 0);
    }
    const Value rows = turns ? turns : b_.Int(kFirstRows);
    const Type type = b_.Open(ir::MakeTensorType(shape, dtype));
    const Value first = dims ? Zeros(b_, rows, *dims, dtype) : b_.Full(none, 0, dtype);
    start.push_back({first.node, type, nullptr});
    const ir::Var* var = b_.StateVars({type})[0];
    vars_.push_back(var);
    Value buffer = b_.Use(var);
    if (!turns || !dims) {
      const Value fits = b_.Op("less", {index_, b_.Reshape(b_.DimOf(buffer, 0), {})});
      Value grown;
      if (!turns) grown = b_.Concat({buffer, b_.Op("zeros_like", {buffer})}, 0);
      if (!dims) {
        std::vector<Value> own;
        for (int i = 0; i < row.rank(); ++i) own.push_back(b_.DimOf(row, i));
        const Value made = Zeros(b_, rows, own, dtype);
        grown = turns ? made
                      : b_.If(b_.Op("less", {index_, b_.Int(1)}), made, grown,
                              b_.Open(JoinTypes(made.type, grown.type)));
      }
      buffer = b_.If(fits, buffer, grown, b_.Open(JoinTypes(buffer.type, grown.type)));
    }
    next.push_back(
        b_.Op("scatter_nd", {buffer, b_.Reshape(index_, {1, 1}), b_.ExpandDims(row, 0)}));
  }

  // The rows of a buffer that were written.
  Value Collected(const Value& buffer, const Value& row, const Value& count, const Value& turns) {
    const Value rows = b_.Reshape(turns ? turns : count, {1});
    Value filled = buffer;
    if (!turns) {
      filled = b_.Op("dyn.strided_slice", {buffer, b_.Ints({0}), rows, b_.Ints({1})});
    }
    std::vector<Value> dims = {rows};
    auto known = RowDims(row);
    for (int i = 1; i < buffer.rank(); ++i) {
      dims.push_back(known ? (*known)[static_cast<size_t>(i) - 1] : b_.DimOf(filled, i));
    }
    return b_.ReshapeTo(filled, b_.Concat(dims, 0));
  }

  TypedBuilder& b_;
  const CountedLoop& loop_;
  const size_t before_;  // the values that were there before the loop
  State initial_, state_;
  std::vector<const ir::Var*> vars_;
  Value index_;
  Turn turn_;
};

}  // namespace

State RunLoop(TypedBuilder& b, const CountedLoop& loop) { return LoopBuilder(b, loop).Run(); }

}  // namespace relayvm::import

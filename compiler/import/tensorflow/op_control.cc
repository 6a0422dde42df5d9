// Calls of functions, branches and loops. Those of TensorFlow 1 (Switch, Merge, Enter ...) are told
// by how they hang together: frames.cc.
#include "compiler/import/arithmetic.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

// The function that an attribute names; no name with an error.
FunctionRef FunctionOf(NodeContext& n, std::string_view attr) {
  const AttrValue value = n.importer().AttrOf(n.node(), attr);
  if (value.kind != AttrValue::Kind::kFunction) {
    n.Fail("attribute {}: expected a function, found {}", attr, KindName(value.kind));
    return {};
  }
  return ReadFunctionRef(value.bytes);
}

// Which outputs somebody reads.
WantsFn Wanted(NodeContext& n) {
  return [&n](size_t i) { return n.WantsOutput(i); };
}

Outputs CallFunction(NodeContext& n) {
  const FunctionRef f = FunctionOf(n, "f");
  return n.b().status().ok() ? n.importer().Call(f, n.inputs(), Wanted(n)) : Outputs{};
}

// Whether a tensor counts as true: a number that is not 0, a text or a tensor that is not empty.
Value Truth(NodeContext& n, const Value& v) {
  TypedBuilder& b = n.b();
  if (!v.is_tensor() || v.dtype() == DType::kBool) return v;
  if (v.rank() != 0) {
    return b.Op("not_equal", {AsScalar(Term(b, ProductOfDims(b, v, 0, v.rank()))), b.Int(0)});
  }
  if (v.dtype() == DType::kString) {
    n.Unsupported("a text as a condition");
    return v;
  }
  return b.Op("not_equal", {v, b.Scalar(0, v.dtype())});
}

std::vector<Value> Rest(NodeContext& n) {
  return {n.inputs().begin() + std::min<ptrdiff_t>(1, std::ssize(n.inputs())), n.inputs().end()};
}

Outputs If(NodeContext& n) {
  const FunctionRef yes = FunctionOf(n, "then_branch"), no = FunctionOf(n, "else_branch");
  const Value condition = Truth(n, n.Input(0));
  if (!n.b().status().ok()) return {};
  const std::vector<Value> inputs = Rest(n);
  return n.importer().RunIf(
      condition, [&] { return n.importer().Call(yes, inputs, Wanted(n)); },
      [&] { return n.importer().Call(no, inputs, Wanted(n)); });
}

Outputs Case(NodeContext& n) {
  TypedBuilder& b = n.b();
  std::vector<FunctionRef> branches;
  const AttrValue list = n.importer().AttrOf(n.node(), "branches");
  for (const AttrValue& each : ReadList(list.bytes)) {
    if (each.kind == AttrValue::Kind::kFunction) branches.push_back(ReadFunctionRef(each.bytes));
  }
  constexpr size_t kMostBranches = 500;
  if (branches.empty() || branches.size() > kMostBranches)
    return n.Fail("attribute branches: expected 1 to {} functions", kMostBranches);
  const std::vector<Value> inputs = Rest(n);
  const Value index = AsScalar(Term(n, 0));
  // A number that none has takes the last one.
  const std::function<Outputs(size_t)> from = [&](size_t i) -> Outputs {
    const auto own = [&] { return n.importer().Call(branches[i], inputs, Wanted(n)); };
    if (i + 1 == branches.size()) return own();
    const Value is_it = b.Op("equal", {index, b.Scalar(static_cast<double>(i), index.dtype())});
    return n.importer().RunIf(is_it, own, [&] { return from(i + 1); });
  };
  return from(0);
}

Outputs While(NodeContext& n) {
  const FunctionRef condition = FunctionOf(n, "cond"), body = FunctionOf(n, "body");
  if (!n.b().status().ok()) return {};
  WhileSpec spec;
  spec.initial = n.inputs();
  spec.fixed = n.importer().HandedOn(body);
  spec.condition = [&](const std::vector<Value>& state) {
    const std::vector<Value> values = n.importer().Call(condition, state);
    return values.empty() ? Value{} : Truth(n, values[0]);
  };
  spec.body = [&](const std::vector<Value>& state) { return n.importer().Call(body, state); };
  return n.importer().RunWhile(spec);
}

// for (i = start; i < limit or, of a negative delta, i > limit; i += delta) state = body(i, state)
Outputs For(NodeContext& n) {
  TypedBuilder& b = n.b();
  const FunctionRef body = FunctionOf(n, "body");
  const Value start = n.Input(0), limit = n.Input(1), delta = n.Input(2);
  if (!b.status().ok()) return {};
  WhileSpec spec;
  spec.initial = {n.inputs().begin() + 3, n.inputs().end()};
  spec.initial.insert(spec.initial.begin(), start);
  spec.condition = [&](const std::vector<Value>& state) -> Value {
    const Term i(b, state[0]), zero(b, b.Scalar(0, delta.dtype()));
    return Select(Term(b, delta) >= zero, i<Term(b, limit), i> Term(b, limit));
  };
  spec.body = [&](const std::vector<Value>& state) {
    std::vector<Value> next = n.importer().Call(body, state);
    next.insert(next.begin(), Term(b, state[0]) + Term(b, delta));
    return next;
  };
  Outputs out = n.importer().RunWhile(spec);
  if (!out.empty()) out.erase(out.begin());
  return out;
}

Outputs Both(NodeContext& n) { return {n.Input(0), n.Input(0)}; }
Outputs Many(NodeContext& n) {
  constexpr int64_t kMost = 10'000;
  const int64_t count = n.Count("num_outs", 1);
  if (count > kMost)
    return n.Fail("attribute num_outs: expected at most {}, found {}", kMost, count);
  return Outputs(static_cast<size_t>(count), n.Input(0));
}
Outputs OnlyFirst(NodeContext& n) { return {n.Input(0)}; }

Outputs Misplaced(NodeContext& n) {
  return n.Fail("it is part of no loop or branch that this importer knows");
}

constexpr OperatorDef kControlOperators[] = {
    {"Case", 1, -1, Case},
    {"Enter", 1, 1, OnlyFirst},
    {"Exit", 1, 1, Misplaced},
    {"For", 3, -1, For},
    {"If", 1, -1, If},
    {"LoopCond", 1, 1, OnlyFirst},
    {"Merge", 1, -1, Misplaced, "output value_index"},
    {"NextIteration", 1, 1, OnlyFirst},
    {"PartitionedCall", 0, -1, CallFunction},
    {"RefEnter", 1, 1, OnlyFirst},
    {"RefExit", 1, 1, Misplaced},
    {"RefIdentity", 1, 1, OnlyFirst},
    {"RefMerge", 1, -1, Misplaced, "output value_index"},
    {"RefNextIteration", 1, 1, OnlyFirst},
    {"RefSwitch", 1, 2, Both, "output_false output_true"},
    {"StatefulPartitionedCall", 0, -1, CallFunction},
    {"StatelessCase", 1, -1, Case},
    {"StatelessIf", 1, -1, If},
    {"StatelessWhile", 0, -1, While},
    {"Switch", 1, 2, Both, "output_false output_true"},
    {"While", 0, -1, While},
    {"_SwitchN", 1, 2, Many, "outputs*num_outs"},
};

}  // namespace

std::span<const OperatorDef> ControlOperators() { return kControlOperators; }

}  // namespace relayvm::import::tensorflow

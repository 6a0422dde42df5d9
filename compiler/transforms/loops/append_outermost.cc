#include "compiler/transforms/loops/append_outermost.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/walk.h"
#include "compiler/transforms/loops/value_flow.h"
#include "compiler/transforms/views/reorder_values.h"
#include "kernels/op/op_helpers.h"

namespace relayvm::ir {
namespace {

// A concatenation of what grows and what is appended; nothing where it is no such thing.
struct Append {
  const Var* grown;
  Atom more;
  Axes order;
};

// What the loops of a module do with a tensor that may be kept in another order.
struct Plan {
  Axes order;
  size_t appends = 0;
  size_t copies = 0;  // that the order costs, in each turn
  bool is_possible = true;
};

// --- What grows ---

class OrderPlanner {
 public:
  OrderPlanner(const Module& m, ValueFlow& flow) : m_(m), flow_(flow) {}

  ValueOrders Run() {
    for (const auto& [name, f] : m_.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) {
        if (const auto* tuple = b.value->As<MakeTuple>()) tuples_[b.var->id] = tuple;
      });
    }
    for (const auto& [name, f] : m_.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) { FindAppend(b); });
    }
    if (plans_.empty()) return {};
    // What the entry does outside of loops it does once.
    for (const auto& [name, f] : m_.functions) CountCopies(*f, /*is_loop=*/name != m_.entry);
    ValueOrders orders;
    for (const auto& [leaf, plan] : plans_) {
      if (plan.is_possible && flow_.IsFree(leaf) && plan.copies <= plan.appends)
        orders[leaf] = plan.order;
    }
    return orders;
  }

  std::optional<Append> AppendOf(const Binding& b) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->op->along_axis != AlongAxis::kJoins) return std::nullopt;
    const Var* tuple = AsVar(call->args[0]);
    const auto made = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
    const auto* type = b.var->type->As<TensorType>();
    if (made == tuples_.end() || made->second->fields.size() != 2 || type == nullptr) {
      return std::nullopt;
    }
    const Var* grown = AsVar(made->second->fields[0]);
    if (grown == nullptr) return std::nullopt;
    if (flow_.Find(flow_.Of(grown).first) != LeafOf(b.var)) return std::nullopt;
    const auto axis = static_cast<size_t>(CanonicalAxis(call->attrs.Int("axis"), type->rank()));
    Append append{grown, made->second->fields[1], {axis}};
    for (size_t i = 0; i < type->shape.size(); ++i) {
      if (i != axis) append.order.push_back(i);
    }
    return append;
  }

 private:
  uint32_t LeafOf(const Var* var) const { return flow_.Find(flow_.Of(var).first); }

  void FindAppend(const Binding& b) {
    const std::optional<Append> append = AppendOf(b);
    if (!append) return;
    Plan& plan = plans_[LeafOf(b.var)];
    const std::vector<Dim>& shape = b.var->type->As<TensorType>()->shape;
    const auto axis = static_cast<ptrdiff_t>(append->order[0]);
    // Where the axis is first, or as good as that, there is nothing to do.
    const bool is_first = std::all_of(shape.begin(), shape.begin() + axis,
                                      [](const Dim& d) { return d.is_const(1); });
    if (is_first || (plan.appends > 0 && plan.order != append->order)) plan.is_possible = false;
    plan.order = append->order;
    ++plan.appends;
  }

  void AddCopy(const Atom& a) {
    if (const Var* var = AsVar(a))
      ForEachPlan(*var, [](const Type&, Plan& plan) { ++plan.copies; });
  }

  // A tensor comes to a loop from where it is kept as the program has it. If it may be long, and
  // the loop has few turns, turning it takes longer than they would.
  void AddStart(const Var& var) {
    ForEachPlan(var, [](const Type& type, Plan& plan) {
      const std::vector<Dim>& shape = type->As<TensorType>()->shape;
      if (!shape[plan.order[0]].is_const()) plan.is_possible = false;
    });
  }

  // Calls fn with each leaf's type and its plan.
  template <typename Fn>
  void ForEachPlan(const Var& var, const Fn& fn) {
    ForEachPlan(var.type, flow_.Of(&var), fn);
  }
  template <typename Fn>
  void ForEachPlan(const Type& type, const Leaves& leaves, const Fn& fn) {
    if (const auto* tuple = type->is_large() ? nullptr : type->As<TupleType>()) {
      for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
        ForEachPlan(tuple->fields[i], FieldLeaves(type, leaves, i), fn);
      }
      return;
    }
    const auto plan = plans_.find(flow_.Find(leaves.first));
    if (plan != plans_.end()) fn(type, plan->second);
  }

  // Where a value leaves or comes to the tensors that are kept in another order, at a price.
  void CountCopies(const Function& f, bool is_loop) {
    const bool is_joined = flow_.ResultOf(&f).has_value();
    for (const Var* p : f.params) {
      if (is_joined) break;
      if (is_loop) AddCopy(Atom(p));
      AddStart(*p);
    }
    CountCopies(*f.body, is_loop, is_joined);
  }
  void CountCopies(const Block& block, bool is_loop, bool is_joined) {
    if (is_loop && !is_joined) AddCopy(block.result);
    for (const Binding& b : block.bindings) {
      const Expr& e = *b.value;
      if (const auto* literal = e.As<FunctionExpr>()) {
        CountCopies(*literal->function, /*is_loop=*/true);
        continue;
      }
      if (IsBorder(e) && !AppendOf(b)) {
        if (is_loop) {
          ForEachAtom(e, [&](const Atom& a) { AddCopy(a); });
          AddCopy(Atom(b.var));
        } else {
          AddStart(*b.var);
        }
      }
      ForEachBlock(e, [&](const Block& inner) { CountCopies(inner, is_loop, true); });
    }
  }

  // Reads or makes tensors as the program has them, in a kernel of its own.
  bool IsBorder(const Expr& e) const {
    if (const auto* call = e.As<OpCall>()) {
      return call->op->fusion > FusionClass::kInjective && call->op->computes_arg == nullptr;
    }
    if (const auto* call = e.As<CallExpr>()) return flow_.Callee(call->callee) == nullptr;
    return e.As<HostCall>() != nullptr || e.As<RefCreate>() != nullptr ||
           e.As<RefRead>() != nullptr || e.As<RefWrite>() != nullptr;
  }

  const Module& m_;
  ValueFlow& flow_;
  std::unordered_map<uint32_t, const MakeTuple*> tuples_;
  std::unordered_map<uint32_t, Plan> plans_;  // by representative
};

// --- The other order ---

// The append along the first axis; false where the binding is no append to what is kept otherwise.
bool RewriteAppend(const Module& m, const OrderPlanner& planner, const Binding& b, KeptValues& kept,
                   std::vector<Binding>& out) {
  const std::optional<Append> append = planner.AppendOf(b);
  const Axes* order = append ? kept.OrderOf(b.var) : nullptr;
  if (order == nullptr) return false;
  const Var* more = AsVar(append->more);
  const Axes* same = more == nullptr ? nullptr : kept.OrderOf(more);
  const Atom row = same != nullptr && *same == *order
                       ? Atom(kept.Image(more))
                       : kept.Turn(kept.Original(append->more, out), *order, out);
  const Var* grown = kept.Image(append->grown);
  const Span span = b.value->span;
  const Var* both = MakeVar(m, "", MakeType(TupleType{{grown->type, AtomType(m, row)}}), span);
  out.push_back({both, MakeExpr(m, MakeTuple{{grown, row}}, span)});
  OpCall call = *b.value->As<OpCall>();
  call.args = {Atom(both)};
  call.attrs.Set("axis", int64_t{0});
  out.push_back({kept.Image(b.var), MakeExpr(m, std::move(call), span)});
  return true;
}

}  // namespace

Module AppendOutermost(const Module& m) {
  ValueFlow flow(m);
  OrderPlanner planner(m, flow);
  const ValueOrders orders = planner.Run();
  if (orders.empty()) return m;
  return ReorderValues(m, flow, orders, Turning::kTranspose,
                       [&](const Binding& b, KeptValues& kept, std::vector<Binding>& out) {
                         return RewriteAppend(m, planner, b, kept, out);
                       });
}

}  // namespace relayvm::ir

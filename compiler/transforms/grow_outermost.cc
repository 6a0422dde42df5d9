#include "compiler/transforms/grow_outermost.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/walk.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/value_flow.h"
#include "kernels/op/op_helpers.h"

namespace relayvm::ir {
namespace {

// The axes of a tensor as the program has it, in the order in which it is kept.
using Axes = std::vector<size_t>;

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

class Planner {
 public:
  Planner(const Module& m, ValueFlow& flow) : m_(m), flow_(flow) {}

  // By representative.
  std::unordered_map<uint32_t, Plan> Run() {
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
    std::erase_if(plans_, [&](const auto& entry) {
      const auto& [leaf, plan] = entry;
      return !plan.is_possible || !flow_.IsFree(leaf) || plan.copies > plan.appends;
    });
    return std::move(plans_);
  }

  std::optional<Append> AppendOf(const Binding& b) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !call->op->is_join || call->op->tuple_args != std::vector<int>{0} ||
        call->args.size() != 1) {
      return std::nullopt;
    }
    const Var* tuple = AsVar(call->args[0]);
    const auto made = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
    const auto* type = b.var->type->As<TensorType>();
    if (made == tuples_.end() || made->second->fields.size() != 2 || type == nullptr) {
      return std::nullopt;
    }
    const Var* grown = AsVar(made->second->fields[0]);
    if (grown == nullptr) return std::nullopt;
    const auto& from = *grown->type->As<TensorType>();
    // A join that makes an axis puts nothing behind anything.
    if (from.rank() != type->rank() || flow_.Find(flow_.Of(grown).first) != LeafOf(b.var)) {
      return std::nullopt;
    }
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

  // A tensor comes to a loop from where it is kept as the program has it. If it may be long, and the
  // loop has few turns, turning it takes longer than they would.
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
    return e.As<RefCreate>() != nullptr || e.As<RefRead>() != nullptr ||
           e.As<RefWrite>() != nullptr;
  }

  const Module& m_;
  ValueFlow& flow_;
  std::unordered_map<uint32_t, const MakeTuple*> tuples_;
  std::unordered_map<uint32_t, Plan> plans_;
};

// --- The other order ---

class Keeper {
 public:
  Keeper(const Module& m, ValueFlow& flow, const Planner& planner,
         const std::unordered_map<uint32_t, Plan>& plans)
      : m_(m), flow_(flow), planner_(planner), plans_(plans) {}

  Module Run() {
    Module out = m_;
    for (auto& [name, f] : out.functions) f = Rewrite(*f);
    for (auto& [symbol, value] : out.symbols) {
      const auto image = images_.find(value.source->id);
      if (image != images_.end()) value.source = image->second;
    }
    return out;
  }

 private:
  const Axes* OrderOf(uint32_t leaf) const {
    const auto plan = plans_.find(flow_.Find(leaf));
    return plan == plans_.end() ? nullptr : &plan->second.order;
  }
  bool IsMoved(const Leaves& leaves) const {
    for (uint32_t i = 0; i < leaves.count; ++i) {
      if (OrderOf(leaves.first + i) != nullptr) return true;
    }
    return false;
  }
  bool IsMoved(const Atom& a) {
    const Var* var = AsVar(a);
    return var != nullptr && IsMoved(flow_.Of(var));
  }

  // The type of a value whose leaves are kept in their orders.
  Type Kept(const Type& type, const Leaves& leaves) const {
    if (!IsMoved(leaves)) return type;
    if (const auto* tensor = type->As<TensorType>()) {
      const Axes& order = *OrderOf(leaves.first);
      std::vector<Dim> shape;
      for (const size_t axis : order) shape.push_back(tensor->shape[axis]);
      return MakeTensorType(std::move(shape), tensor->dtype);
    }
    TupleType tuple;
    const auto& fields = type->As<TupleType>()->fields;
    for (uint32_t i = 0; i < fields.size(); ++i) {
      tuple.fields.push_back(Kept(fields[i], FieldLeaves(type, leaves, i)));
    }
    return MakeType(std::move(tuple));
  }

  // The variable that keeps the value in its order; itself where nothing moved.
  const Var* Image(const Var* var) {
    const auto known = images_.find(var->id);
    if (known != images_.end()) return known->second;
    const Leaves leaves = flow_.Of(var);
    if (!IsMoved(leaves)) return var;
    return images_[var->id] = MakeVar(m_, var->name, Kept(var->type, leaves), var->span);
  }
  Atom Image(const Atom& a) {
    const Var* var = AsVar(a);
    return var == nullptr ? a : Atom(Image(var));
  }

  // --- From one order to the other ---

  Atom Turn(const Atom& tensor, const Axes& axes, std::vector<Binding>& out) {
    const Type from = AtomType(m_, tensor);
    const auto& type = *from->As<TensorType>();
    std::vector<Dim> shape;
    AttrList order, dims;
    bool is_view = true;  // nothing but dims of 1 moves
    size_t last = 0;
    for (const size_t axis : axes) {
      shape.push_back(type.shape[axis]);
      order.emplace_back(static_cast<int64_t>(axis));
      dims.emplace_back(shape.back());
      if (shape.back().is_const(1)) continue;
      is_view = is_view && axis >= last;
      last = axis;
    }
    Attrs attrs;
    attrs.Set(is_view ? "newshape" : "axes", AttrValue(std::move(is_view ? dims : order)));
    const Var* var = MakeVar(m_, "", MakeTensorType(std::move(shape), type.dtype), span_);
    BindingBuilder(m_, span_, out)
        .BindCall(var, is_view ? "reshape" : "transpose", {tensor}, attrs);
    return var;
  }

  // `value`, whose type is `type`, with its leaves turned: to the orders that they are kept in, or
  // from them.
  Atom Convert(const Atom& value, const Type& type, const Leaves& leaves, bool to_kept,
               std::vector<Binding>& out) {
    if (!IsMoved(leaves)) return value;
    if (type->As<TensorType>() != nullptr) {
      const Axes& order = *OrderOf(leaves.first);
      if (to_kept) return Turn(value, order, out);
      Axes back(order.size());
      for (size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
      return Turn(value, back, out);
    }
    TupleType result;
    std::vector<Atom> fields;
    const Type from = AtomType(m_, value);
    for (uint32_t i = 0; i < type->As<TupleType>()->fields.size(); ++i) {
      const Var* field = MakeVar(m_, "", from->As<TupleType>()->fields[i], span_);
      out.push_back({field, MakeExpr(m_, TupleGet{value, i}, span_)});
      fields.push_back(Convert(field, type->As<TupleType>()->fields[i],
                               FieldLeaves(type, leaves, i), to_kept, out));
      result.fields.push_back(AtomType(m_, fields.back()));
    }
    const Var* tuple = MakeVar(m_, "", MakeType(std::move(result)), span_);
    out.push_back({tuple, MakeExpr(m_, MakeTuple{std::move(fields)}, span_)});
    return tuple;
  }
  // Binds the image of `var` to `made`, which is `var` as the program has it.
  void BindKept(const Var* var, const Var* made, std::vector<Binding>& out) {
    Convert(made, made->type, flow_.Of(var), /*to_kept=*/true, out);
    out.back().var = Image(var);
  }
  // The value as the program has it.
  Atom Original(const Atom& a, std::vector<Binding>& out) {
    const Var* var = AsVar(a);
    if (var == nullptr || !IsMoved(a)) return Image(a);
    return Convert(Image(var), var->type, flow_.Of(var), /*to_kept=*/false, out);
  }
  // What is handed on to `to`: a variable is kept as that is, a constant is not yet.
  Atom Handed(const Atom& a, const Leaves& to, std::vector<Binding>& out) {
    if (AsVar(a) != nullptr) return Image(a);
    return Convert(a, AtomType(m_, a), to, /*to_kept=*/true, out);
  }

  // --- Functions and blocks ---

  const Function* Rewrite(const Function& f) {
    const std::optional<Leaves> result = flow_.ResultOf(&f);
    Function copy = f;
    std::vector<Binding> before;
    span_ = f.span;
    for (const Var*& p : copy.params) {
      if (result) {
        p = Image(p);
      } else if (IsMoved(Atom(p))) {
        BindKept(p, p, before);
      }
    }
    if (result) copy.result_type = Kept(f.result_type, *result);
    copy.body = Rewrite(*f.body, result, std::move(before));
    return m_.arena->New<Function>(std::move(copy));
  }

  // `result`: of what the block's result is handed on to; nothing where that is as the program has it.
  const Block* Rewrite(const Block& block, const std::optional<Leaves>& result,
                       std::vector<Binding> before = {}) {
    Block out;
    out.bindings = std::move(before);
    for (const Binding& b : block.bindings) {
      span_ = b.value->span;
      Rewrite(b, out.bindings);
    }
    out.result =
        result ? Handed(block.result, *result, out.bindings) : Original(block.result, out.bindings);
    return m_.arena->New<Block>(std::move(out));
  }

  void Rewrite(const Binding& b, std::vector<Binding>& out) {
    const Leaves to = flow_.Of(b.var);
    const Expr& e = *b.value;
    const auto bind = [&](auto node) {
      out.push_back({Image(b.var), MakeExpr(m_, std::move(node), b.value->span)});
    };
    if (const auto* alias = e.As<AtomExpr>()) {
      bind(AtomExpr{Handed(alias->atom, to, out)});
    } else if (const auto* stated = e.As<Stated>()) {
      bind(Stated{Handed(stated->value, to, out), Kept(stated->type, to), stated->what});
    } else if (const auto* tuple = e.As<MakeTuple>()) {
      MakeTuple copy;
      const bool is_whole = b.var->type->is_large();
      for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
        const Atom& field = tuple->fields[i];
        copy.fields.push_back(is_whole ? field
                                       : Handed(field, FieldLeaves(b.var->type, to, i), out));
      }
      bind(std::move(copy));
    } else if (const auto* get = e.As<TupleGet>()) {
      bind(TupleGet{Image(get->tuple), get->index});
    } else if (const auto* dim = e.As<DimOf>()) {
      bind(DimOf{Image(dim->value), dim->path, KeptAxis(*dim)});
    } else if (const auto* branch = e.As<IfExpr>()) {
      bind(IfExpr{Original(branch->condition, out), Rewrite(*branch->then_block, to),
                  Rewrite(*branch->else_block, to)});
    } else if (const auto* match = e.As<MatchExpr>()) {
      MatchExpr copy = *match;
      copy.data = Image(match->data);
      for (MatchClause& clause : copy.clauses) {
        clause.pattern = Image(clause.pattern);
        clause.body = Rewrite(*clause.body, to);
      }
      bind(std::move(copy));
    } else if (const auto* literal = e.As<FunctionExpr>()) {
      RewriteLiteral(b, *literal->function, out);
    } else if (const auto* call = e.As<CallExpr>();
               call != nullptr && flow_.Callee(call->callee) != nullptr) {
      const Function& f = *flow_.Callee(call->callee);
      CallExpr copy = *call;
      copy.callee = Image(call->callee);
      for (size_t i = 0; i < copy.args.size(); ++i) {
        copy.args[i] = Handed(call->args[i], flow_.Of(f.params[i]), out);
      }
      bind(std::move(copy));
    } else if (const auto append = planner_.AppendOf(b); append && IsMoved(Atom(b.var))) {
      RewriteAppend(b, *append, out);
    } else {
      RewriteBorder(b, out);
    }
  }

  uint32_t KeptAxis(const DimOf& dim) {
    const Var* var = AsVar(dim.value);
    if (var == nullptr) return dim.axis;
    Leaves leaves = flow_.Of(var);
    Type type = var->type;
    for (const uint32_t index : dim.path) {
      if (type->is_large()) return dim.axis;
      leaves = FieldLeaves(type, leaves, index);
      type = type->As<TupleType>()->fields[index];
    }
    const Axes* order = type->As<TensorType>() == nullptr ? nullptr : OrderOf(leaves.first);
    if (order == nullptr) return dim.axis;
    return static_cast<uint32_t>(std::find(order->begin(), order->end(), dim.axis) -
                                 order->begin());
  }

  Pattern Image(const Pattern& pattern) {
    Pattern copy = pattern;
    if (copy.var != nullptr) copy.var = Image(copy.var);
    for (Pattern& field : copy.fields) field = Image(field);
    return copy;
  }

  void RewriteLiteral(const Binding& b, const Function& f, std::vector<Binding>& out) {
    const std::optional<Leaves> result = flow_.ResultOf(&f);
    const Var* var = b.var;
    if (result) {
      Function outside = f;
      bool is_moved = IsMoved(*result);
      for (const Var*& p : outside.params) {
        is_moved = is_moved || IsMoved(Atom(p));
        p = Image(p);
      }
      outside.result_type = Kept(f.result_type, *result);
      if (is_moved) {
        var = images_[b.var->id] = MakeVar(m_, b.var->name, FunctionTypeOf(outside), b.var->span);
      }
    }
    out.push_back({var, MakeExpr(m_, FunctionExpr{Rewrite(f)}, b.value->span)});
  }

  void RewriteAppend(const Binding& b, const Append& append, std::vector<Binding>& out) {
    const Axes& order = *OrderOf(flow_.Of(b.var).first);
    const Var* more = AsVar(append.more);
    const Axes* same = more == nullptr ? nullptr : OrderOf(flow_.Of(more).first);
    const Atom row = same != nullptr && *same == order
                         ? Atom(Image(more))
                         : Turn(Original(append.more, out), order, out);
    const Var* grown = Image(append.grown);
    const Var* both = MakeVar(m_, "", MakeType(TupleType{{grown->type, AtomType(m_, row)}}), span_);
    out.push_back({both, MakeExpr(m_, MakeTuple{{grown, row}}, span_)});
    OpCall call = *b.value->As<OpCall>();
    call.args = {Atom(both)};
    call.attrs.Set("axis", int64_t{0});
    out.push_back({Image(b.var), MakeExpr(m_, std::move(call), b.value->span)});
  }

  void RewriteBorder(const Binding& b, std::vector<Binding>& out) {
    std::unordered_map<const Var*, Atom> originals;
    const Expr* e = MapAtoms(m_, b.value, [&](const Atom& a) {
      const Var* var = AsVar(a);
      if (var == nullptr || !IsMoved(a)) return Image(a);
      const auto [at, is_new] = originals.try_emplace(var, a);
      if (is_new) at->second = Original(a, out);
      return at->second;
    });
    if (!IsMoved(Atom(b.var))) {
      out.push_back({b.var, e});
      return;
    }
    const Var* made = MakeVar(m_, b.var->name, b.var->type, b.var->span);
    out.push_back({made, e});
    BindKept(b.var, made, out);
  }

  const Module& m_;
  ValueFlow& flow_;
  const Planner& planner_;
  const std::unordered_map<uint32_t, Plan>& plans_;
  std::unordered_map<uint32_t, const Var*> images_;  // by Var::id
  Span span_;
};

}  // namespace

Module GrowOutermost(const Module& m) {
  ValueFlow flow(m);
  Planner planner(m, flow);
  const std::unordered_map<uint32_t, Plan> plans = planner.Run();
  return plans.empty() ? m : Keeper(m, flow, planner, plans).Run();
}

}  // namespace relayvm::ir

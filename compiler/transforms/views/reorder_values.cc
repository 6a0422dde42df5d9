#include "compiler/transforms/views/reorder_values.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

class Reorder final : public KeptValues {
 public:
  Reorder(const Module& m, ValueFlow& flow, const ValueOrders& orders, Turning turning,
          const RewriteKept& rewrite)
      : m_(m), flow_(flow), orders_(orders), turning_(turning), rewrite_(rewrite) {}

  Module Run() {
    Module out = m_;
    for (auto& [name, f] : out.functions) f = Rewrite(*f);
    for (auto& [symbol, value] : out.symbols) {
      const auto image = images_.find(value.source->id);
      if (image != images_.end()) value.source = image->second;
    }
    return out;
  }

  const Axes* OrderOf(const Var* tensor) override { return OrderOf(flow_.Of(tensor).first); }
  const Var* Image(const Var* var) override {
    const auto known = images_.find(var->id);
    if (known != images_.end()) return known->second;
    const Leaves leaves = flow_.Of(var);
    if (!IsMoved(leaves)) return var;
    return images_[var->id] = MakeVar(m_, var->name, Kept(var->type, leaves), var->span);
  }

  Atom Original(const Atom& a, std::vector<Binding>& out) override {
    const Var* var = AsVar(a);
    if (var == nullptr || !IsMoved(a)) return Image(a);
    return Convert(Image(var), var->type, flow_.Of(var), /*to_kept=*/false, out);
  }
  Atom Turn(const Atom& tensor, const Axes& axes, std::vector<Binding>& out) override {
    const Type whole = AtomType(m_, tensor);
    const auto& type = *whole->As<TensorType>();
    std::vector<Dim> shape;
    std::vector<int64_t> order;
    bool is_view = true;  // nothing but dims of 1 moves
    size_t last = 0;
    for (const size_t axis : axes) {
      shape.push_back(type.shape[axis]);
      order.push_back(static_cast<int64_t>(axis));
      if (shape.back().is_const(1)) continue;
      is_view = is_view && axis >= last;
      last = axis;
    }
    const Var* var = MakeVar(m_, "", MakeTensorType(shape, type.dtype), span_);
    BindingBuilder builder(m_, span_, out);
    if (is_view) return builder.Reshape(tensor, DimsOf(shape), var);
    if (turning_ == Turning::kTranspose) return builder.Transpose(tensor, order, var);
    std::string from, to;
    for (size_t i = 0; i < axes.size(); ++i) {
      from += static_cast<char>('A' + i);
      to += static_cast<char>('A' + axes[i]);
    }
    return builder.ToLayout(tensor, from, to, var);
  }

 private:
  const Axes* OrderOf(uint32_t leaf) const {
    const auto order = orders_.find(flow_.Find(leaf));
    return order == orders_.end() ? nullptr : &order->second;
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

  Atom Image(const Atom& a) {
    const Var* var = AsVar(a);
    return var == nullptr ? a : Atom(Image(var));
  }

  // --- From one order to the other ---

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

  // `result`: of what the block's result is handed on to; nothing where that is as the program has
  // it.
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
    } else if (!rewrite_(b, *this, out)) {
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
  const ValueOrders& orders_;
  Turning turning_;
  const RewriteKept& rewrite_;
  std::unordered_map<uint32_t, const Var*> images_;  // by Var::id
  Span span_;                                        // of the binding at hand
};

}  // namespace

Module ReorderValues(const Module& m, ValueFlow& flow, const ValueOrders& orders, Turning turning,
                     const RewriteKept& rewrite) {
  return Reorder(m, flow, orders, turning, rewrite).Run();
}

}  // namespace relayvm::ir

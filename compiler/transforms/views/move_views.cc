#include "compiler/transforms/views/move_views.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/subviews.h"

namespace relayvm::ir {
namespace {

struct Join {
  const OpCall* call = nullptr;
  TensorType type;
  std::vector<Atom> parts;
};

class ViewMover {
 public:
  explicit ViewMover(const Module& m) : m_(m) {}

  Module Run() {
    for (const auto& [name, f] : m_.functions) Find(*f->body);
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      if (!Move(b, out)) out.push_back(b);
    });
  }

 private:
  void Find(const Block& body) {
    std::unordered_map<uint32_t, const MakeTuple*> tuples;
    ForEachBinding(body, [&](const Binding& b) {
      ForEachUse(m_, b, [&](const Var* v) { CountUse(v); });
      ForEachBlock(*b.value, [&](const Block& inner) { CountUse(AsVar(inner.result)); });
      if (const auto* tuple = b.value->As<MakeTuple>()) tuples[b.var->id] = tuple;
      const auto* call = b.value->As<OpCall>();
      if (call == nullptr) return;
      if (call->op->fusion == FusionClass::kElementwise && call->args.size() == 1)
        elementwise_[b.var->id] = call;
      if (call->op->along_axis != AlongAxis::kJoins) return;
      const Var* fields = AsVar(call->args[0]);
      const auto at = fields == nullptr ? tuples.end() : tuples.find(fields->id);
      const auto* type = b.var->type->As<TensorType>();
      if (at == tuples.end() || type == nullptr) return;
      const std::vector<Atom>& parts = at->second->fields;
      if (!IsInPlace(*type, call->attrs.Int("axis"), parts)) {
        for (const Atom& part : parts) {
          if (const Var* v = AsVar(part)) copied_.insert(v->id);
        }
      }
      joins_[b.var->id] = {call, *type, parts};
    });
    CountUse(AsVar(body.result));
  }

  bool IsInPlace(const TensorType& whole, int64_t axis, const std::vector<Atom>& parts) const {
    std::vector<TensorType> subviews;
    for (const Atom& part : parts) subviews.push_back(*AtomType(m_, part)->As<TensorType>());
    return SubviewOffsets(whole, axis, subviews).has_value();
  }

  void CountUse(const Var* v) {
    if (v != nullptr) ++uses_[v->id];
  }
  bool IsUsedOnce(const Var& v) const {
    const auto at = uses_.find(v.id);
    return at != uses_.end() && at->second == 1;
  }

  // A part reshaped: the data of an elementwise operator, so that the operator stays before the
  // join.
  Atom Reshaped(BindingBuilder& builder, const Atom& part, const AttrList& shape) const {
    const Var* v = AsVar(part);
    const auto at = v == nullptr ? elementwise_.end() : elementwise_.find(v->id);
    if (at == elementwise_.end() || !IsUsedOnce(*v)) return builder.Reshape(part, shape);
    const OpCall& call = *at->second;
    return builder.Call(call.op->name, {builder.Reshape(call.args[0], shape)}, call.attrs);
  }

  bool Move(const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !call->op->is_view || call->args.size() != 1) return false;
    const Var* data = AsVar(call->args[0]);
    const auto at = data == nullptr ? joins_.end() : joins_.find(data->id);
    if (at == joins_.end() || !IsUsedOnce(*data)) return false;
    const Join& join = at->second;
    const int axis = CanonicalAxis(join.call->attrs.Int("axis"), join.type.rank());
    if (IsInPlace(join.type, axis, join.parts) && !copied_.contains(b.var->id)) return false;
    const std::vector<Dim>& viewed = b.var->type->As<TensorType>()->shape;
    const auto shape = PartShape(join.type.shape, viewed, axis);
    // Dims of 1 that come or go leave the join as it is.
    if (!shape || WithoutOnes(join.type.shape) == WithoutOnes(viewed)) return false;
    // Parts that are no longer alike may be so when they are reshaped.
    KeepGuards(m_, *join.call, b.value->span, out);
    KeepGuards(m_, *call, b.value->span, out);
    BindingBuilder builder(m_, b.value->span, out);
    std::vector<Atom> parts;
    for (const Atom& part : join.parts) parts.push_back(Reshaped(builder, part, Ints(*shape)));
    builder.Concatenate(std::move(parts), axis, b.var);
    return true;
  }

  static std::vector<Dim> WithoutOnes(std::vector<Dim> shape) {
    std::erase_if(shape, [](const Dim& d) { return d.is_const(1); });
    return shape;
  }

  // What reshapes a part, as an attribute: dims up to the axis as they are (0), at most one of the
  // others unknown (-1). Nothing where the reshape does more than to change the others.
  static std::optional<std::vector<int64_t>> PartShape(const std::vector<Dim>& from,
                                                       const std::vector<Dim>& to, int axis) {
    const size_t kept = static_cast<size_t>(axis) + 1;
    if (to.size() < kept) return std::nullopt;
    std::vector<int64_t> shape(kept, 0);
    for (size_t i = 0; i < kept; ++i) {
      if (!(from[i] == to[i])) return std::nullopt;
    }
    bool has_unknown = false;
    for (size_t i = kept; i < to.size(); ++i) {
      const bool is_known = to[i].is_const() && to[i].value() > 0;
      if (!is_known && has_unknown) return std::nullopt;
      has_unknown = has_unknown || !is_known;
      shape.push_back(is_known ? to[i].value() : -1);
    }
    return shape;
  }

  const Module& m_;
  std::unordered_map<uint32_t, Join> joins_;
  std::unordered_map<uint32_t, const OpCall*> elementwise_;  // of one operand
  std::unordered_map<uint32_t, size_t> uses_;
  std::unordered_set<uint32_t> copied_;  // parts of joins that have to copy
};

}  // namespace

Module MoveViews(const Module& m) { return ViewMover(m).Run(); }

}  // namespace relayvm::ir

#include "compiler/transforms/views/sink_views.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

// So many operators follow a view at most: kernels stay small.
constexpr size_t kMostFollowers = 32;

// A view and the operators that it moves behind.
struct Region {
  std::vector<Dim> rows;    // the shape before the view
  std::vector<Dim> viewed;  // the shape after it
  const Var* source = nullptr;
  std::vector<uint32_t> views;            // go
  std::vector<const Binding*> followers;  // the last one's value alone is read elsewhere
};

class Sinker {
 public:
  explicit Sinker(const Module& m) : m_(m) {}

  Module Run() {
    for (const auto& [name, f] : m_.functions) {
      ForEachUseInside(m_, *f->body, [&](const Var* v) { ++uses_[v->id]; });
      FindIn(*f->body);
    }
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      if (dropped_.contains(b.var->id)) return;
      const auto at = moved_.find(b.var->id);
      if (at == moved_.end()) {
        out.push_back(b);
      } else {
        Emit(b, regions_[at->second], out);
      }
    });
  }

 private:
  // Of a variable, the bindings of its block that have it as an operand, in order.
  using Readers = std::unordered_map<uint32_t, std::vector<size_t>>;

  void FindIn(const Block& block) {
    Readers readers;
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      ForEachAtom(*block.bindings[i].value, [&](const Atom& a) {
        if (const Var* v = AsVar(a)) readers[v->id].push_back(i);
      });
    }
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const auto* call = block.bindings[i].value->As<OpCall>();
      if (call != nullptr && call->op->is_view)
        viewed_[block.bindings[i].var->id] = AsVar(call->args[0]);
      FindAt(block, i, readers);
      ForEachBlock(*block.bindings[i].value, [&](const Block& inner) { FindIn(inner); });
    }
  }

  void FindAt(const Block& block, size_t i, const Readers& readers) {
    const auto* call = block.bindings[i].value->As<OpCall>();
    const TensorType* made = TensorOf(block.bindings[i].var->type);
    if (call == nullptr || made == nullptr || call->op->fusion != FusionClass::kOutElementwise)
      return;
    Region region;
    region.source = block.bindings[i].var;
    region.rows = made->shape;
    const Var* seen = region.source;
    while (uses_[seen->id] == 1) {
      const Binding* view = ViewOf(block, *seen, readers);
      if (view == nullptr) break;
      region.views.push_back(view->var->id);
      seen = view->var;
    }
    const TensorType* viewed = TensorOf(seen->type);
    if (region.views.empty() || !ChangesRowsAlone(made->shape, viewed->shape)) return;
    region.viewed = viewed->shape;
    Follow(block, *seen, readers, region);
    if (region.followers.empty()) return;
    for (uint32_t id : region.views) dropped_.insert(id);
    for (const Binding* b : region.followers) moved_[b->var->id] = regions_.size();
    regions_.push_back(std::move(region));
  }

  // The view that is the variable's one reader in the block, or null.
  static const Binding* ViewOf(const Block& block, const Var& source, const Readers& readers) {
    const auto at = readers.find(source.id);
    if (at == readers.end() || at->second.size() != 1) return nullptr;
    const Binding& reader = block.bindings[at->second[0]];
    const auto* call = reader.value->As<OpCall>();
    const bool is_view = call != nullptr && call->op->is_view && AsVar(call->args[0]) == &source;
    return is_view ? &reader : nullptr;
  }

  // Both end in the same dim, which is not 0: then the others have one product.
  static bool ChangesRowsAlone(const std::vector<Dim>& from, const std::vector<Dim>& to) {
    return !from.empty() && !to.empty() && from.back() == to.back() && from.back().is_const() &&
           from.back().value() > 0;
  }

  // The operators behind the view, as many as leave one value that is read elsewhere.
  void Follow(const Block& block, const Var& view, const Readers& readers, Region& region) const {
    std::unordered_map<uint32_t, size_t> open;  // values of the region: uses that are not its own
    std::set<size_t> next;                      // bindings that read one of its values, in order
    const auto add = [&](const Var& v) {
      open[v.id] = UsesOf(v);
      if (const auto at = readers.find(v.id); at != readers.end())
        next.insert(at->second.begin(), at->second.end());
    };
    add(view);
    std::vector<const Binding*> followers;
    size_t kept = 0;
    while (!next.empty() && followers.size() < kMostFollowers) {
      const Binding& b = block.bindings[*next.begin()];
      next.erase(next.begin());
      std::vector<const Var*> inside;
      if (!Follows(b, region.viewed, open, inside)) continue;
      followers.push_back(&b);
      for (const Var* v : inside) {
        if (--open[v->id] == 0) open.erase(v->id);
      }
      add(*b.var);
      if (open.size() == 1) kept = followers.size();
    }
    followers.resize(kept);
    region.followers = std::move(followers);
  }

  size_t UsesOf(const Var& v) const {
    const auto at = uses_.find(v.id);
    return at == uses_.end() ? 0 : at->second;
  }

  // Whether the binding computes each element of a tensor of this shape from the region's and from
  // what can be had in the shape before the view; `inside` are its operands in the region, one for
  // each use.
  bool Follows(const Binding& b, const std::vector<Dim>& shape,
               const std::unordered_map<uint32_t, size_t>& region,
               std::vector<const Var*>& inside) const {
    const auto* call = b.value->As<OpCall>();
    const TensorType* made = TensorOf(b.var->type);
    if (call == nullptr || made == nullptr || made->shape != shape || !TakesAnyOrder(*call) ||
        moved_.contains(b.var->id)) {
      return false;
    }
    for (const Atom& a : call->args) {
      const Var* v = AsVar(a);
      const Type type = AtomType(m_, a);
      const TensorType* tensor = TensorOf(type);
      if (tensor == nullptr) return false;
      if (v != nullptr && region.contains(v->id)) {
        inside.push_back(v);
      } else if (tensor->shape != shape && !IsOneRow(tensor->shape)) {
        return false;
      }
    }
    std::unordered_set<uint32_t> operands;
    for (const Var* v : inside) operands.insert(v->id);
    // A size that the operator reads is a use of its own.
    size_t read = 0;
    ForEachUse(m_, b, [&](const Var* v) { read += operands.contains(v->id) ? 1 : 0; });
    return !inside.empty() && read == inside.size();
  }

  static bool TakesAnyOrder(const OpCall& call) {
    const FusionClass kind = call.op->fusion;
    return call.op->layout == LayoutRule::kAgnostic && call.op->tuple_args.empty() &&
           (kind == FusionClass::kElementwise || kind == FusionClass::kBroadcast);
  }
  static bool IsOneRow(const std::vector<Dim>& shape) {
    return shape.empty() ||
           std::all_of(shape.begin(), shape.end() - 1, [](const Dim& d) { return d.is_const(1); });
  }

  void Emit(const Binding& b, const Region& region, std::vector<Binding>& out) {
    const auto& call = *b.value->As<OpCall>();
    std::vector<Atom> args;
    for (const Atom& a : call.args) args.push_back(BeforeView(a, region, b.value->span, out));
    const Var* var = MakeVar(
        m_, b.var->name, MakeTensorType(region.rows, TensorOf(b.var->type)->dtype), b.var->span);
    OpCall before = call;
    before.args = std::move(args);
    out.push_back({var, MakeExpr(m_, std::move(before), b.value->span)});
    before_[b.var->id] = var;
    if (b.var == region.followers.back()->var) View(b.var, var, region.viewed, b.value->span, out);
  }

  // The operand of an operator that stands before the view now.
  Atom BeforeView(const Atom& a, const Region& region, Span span, std::vector<Binding>& out) {
    const Var* v = AsVar(a);
    if (v != nullptr && v->id == region.views.back()) return region.source;
    if (const auto at = v == nullptr ? before_.end() : before_.find(v->id); at != before_.end()) {
      // Of another region of the same shape too: its view is not needed here.
      if (TensorOf(at->second->type)->shape == region.rows) return at->second;
    }
    const Type type = AtomType(m_, a);
    const TensorType& tensor = *TensorOf(type);
    if (tensor.rank() <= 1) return a;
    if (const Var* viewed = ViewedAs(v, region.rows)) return viewed;
    const bool is_row = IsOneRow(tensor.shape) && tensor.shape != region.viewed;
    std::vector<Dim> shape = is_row ? std::vector<Dim>{tensor.shape.back()} : region.rows;
    const Var* view = MakeVar(m_, "", MakeTensorType(shape, tensor.dtype), span);
    View(view, a, shape, span, out);
    return view;
  }

  // What views of it make the variable, where one of them is a view of this shape.
  const Var* ViewedAs(const Var* v, const std::vector<Dim>& shape) const {
    for (auto at = viewed_.end(); v != nullptr; v = at->second) {
      at = viewed_.find(v->id);
      if (at == viewed_.end()) return nullptr;
      if (at->second != nullptr && TensorOf(at->second->type)->shape == shape) return at->second;
    }
    return nullptr;
  }

  void View(const Var* var, const Atom& of, const std::vector<Dim>& shape, Span span,
            std::vector<Binding>& out) const {
    BindingBuilder(m_, span, out).Reshape(of, DimsOf(shape), var);
  }

  const Module& m_;
  std::unordered_map<uint32_t, size_t> uses_;        // reads, in nested blocks too
  std::unordered_map<uint32_t, const Var*> viewed_;  // of a view: what it shows
  std::vector<Region> regions_;
  std::unordered_set<uint32_t> dropped_;
  std::unordered_map<uint32_t, size_t> moved_;       // followers: their region
  std::unordered_map<uint32_t, const Var*> before_;  // followers: their value before the view
};

}  // namespace

Module SinkViews(const Module& m) { return Sinker(m).Run(); }

}  // namespace relayvm::ir

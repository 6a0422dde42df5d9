#include "compiler/transforms/fuse/rematerialise.h"

#include <algorithm>

#include "compiler/ir/rewrite.h"
#include "kernels/op/op.h"

namespace relayvm::ir {
namespace {

bool IsView(const Binding& b) {
  const auto* call = b.value->As<OpCall>();
  return call != nullptr && call->op->is_view && call->op->compute != nullptr;
}

// It reads elements one by one and may stand in one kernel with what makes them.
bool TakesIn(const Binding& b) {
  const auto* call = b.value->As<OpCall>();
  if (call == nullptr || !call->op->compute || call->op->builtin || call->op->is_view ||
      call->op->is_concatenation()) {
    return false;
  }
  switch (call->op->fusion) {
    case FusionClass::kElementwise:
    case FusionClass::kBroadcast:
    case FusionClass::kInjective:
    case FusionClass::kReduction:
      return TensorOf(b.var->type) != nullptr;
    default:
      return false;
  }
}

}  // namespace

bool IsMade(const Module& m, const Binding& b) {
  const TensorType* type = TensorOf(b.var->type);
  if (type == nullptr || type->rank() == 0) return false;
  if (b.value->As<ShapeValue>() != nullptr) return true;
  const auto* call = b.value->As<OpCall>();
  if (call == nullptr || !call->op->compute || call->op->builtin || call->op->is_view) return false;
  if (call->op->fusion != FusionClass::kElementwise &&
      call->op->fusion != FusionClass::kBroadcast && call->op->fusion != FusionClass::kInjective) {
    return false;
  }
  for (size_t i = 0; i < call->args.size(); ++i) {
    const std::vector<int>& shapes = call->op->shape_args;
    if (std::find(shapes.begin(), shapes.end(), static_cast<int>(i)) != shapes.end()) continue;
    const Type held = AtomType(m, call->args[i]);
    const TensorType* arg = TensorOf(held);
    if (arg == nullptr || arg->rank() != 0) return false;
  }
  return true;
}

Module Rematerialise(const Module& m) {
  struct Made {
    const std::vector<Binding>* block;
    Binding binding;
  };
  std::unordered_map<uint32_t, Made> made;  // by variable
  // A copy of what makes `v`, at the end of the block, or `v` itself.
  const auto copy = [&](const Var* v, std::vector<Binding>& out) {
    std::vector<Binding> chain;  // the maker last
    for (const Var* at = v; at != nullptr;) {
      const auto known = made.find(at->id);
      if (known == made.end() || known->second.block != &out) return v;
      chain.push_back(known->second.binding);
      at = IsView(chain.back()) ? AsVar(chain.back().value->As<OpCall>()->args[0]) : nullptr;
    }
    const Var* from = nullptr;
    for (size_t i = chain.size(); i-- > 0;) {
      const Var* var = MakeVar(m, chain[i].var->name, chain[i].var->type, chain[i].var->span);
      const Var* old = i + 1 < chain.size() ? chain[i + 1].var : nullptr;
      const Expr* e = MapAtoms(m, chain[i].value, [&](const Atom& a) -> Atom {
        return old != nullptr && AsVar(a) == old ? Atom(from) : a;
      });
      out.push_back({var, e});
      from = var;
    }
    return from;
  };
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const bool of_view = IsView(b) && AsVar(b.value->As<OpCall>()->args[0]) != nullptr &&
                         made.contains(AsVar(b.value->As<OpCall>()->args[0])->id);
    if (of_view || IsMade(m, b)) made.insert_or_assign(b.var->id, Made{&out, b});
    if (!TakesIn(b)) {
      out.push_back(b);
      return;
    }
    OpCall call = *b.value->As<OpCall>();
    bool changed = false;
    for (Atom& a : call.args) {
      const Var* v = AsVar(a);
      const Var* own = v == nullptr ? nullptr : copy(v, out);
      changed = changed || own != v;
      if (v != nullptr) a = own;
    }
    out.push_back({b.var, changed ? MakeExpr(m, std::move(call), b.value->span) : b.value});
  });
}

}  // namespace relayvm::ir

#include "compiler/transforms/simplify/tabulate_bytes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/fuse/users.h"
#include "kernels/op/cost.h"
#include "kernels/op/indexing.h"

namespace relayvm::ir {
namespace {

constexpr int64_t kByteValues = 256;
// Simple operations that a table is worth: without an instruction for it, it takes about as many.
constexpr int kWorthATable = 16;
// Steps of a chain at most, where one that two others read counts twice.
constexpr int kMostSteps = 512;

bool IsBytes(const TensorType* t) {
  return t != nullptr && t->rank() > 0 && DTypeBytes(t->dtype) == 1 && t->dtype != DType::kBool;
}

const HostTensor* NumberOf(const Atom& a) {
  const auto* constant = std::get_if<const Constant*>(&a);
  if (constant == nullptr || (*constant)->recipe != nullptr) return nullptr;
  const HostTensor& value = (*constant)->value;
  const bool is_number = std::ranges::all_of(value.shape, [](int64_t d) { return d == 1; });
  return is_number ? &value : nullptr;
}

class BlockTabulator {
 public:
  BlockTabulator(const Module& m, const Users& users) : m_(m), users_(users) {}

  // Recurses with the nesting of blocks.
  const Block* Run(const Block& block) {
    for (const Binding& b : block.bindings) {
      if (const auto link = LinkOf(b)) links_[b.var->id] = *link;
    }
    std::unordered_map<const Var*, const Var*> tables;  // root -> leaf
    for (auto b = block.bindings.rbegin(); b != block.bindings.rend(); ++b) {
      const auto link = links_.find(b->var->id);
      if (link == links_.end() || gone_.contains(b->var->id) || !IsBytes(TensorOf(b->var->type)))
        continue;
      if (IsWorthATable(*b)) tables.emplace(b->var, link->second.leaf);
    }
    Block out;
    out.result = block.result;
    bool changed = !tables.empty();
    for (const Binding& b : block.bindings) {
      if (const auto table = tables.find(b.var); table != tables.end()) {
        Write(b, *table->second, out.bindings);
        continue;
      }
      const Expr* e = MapBlocks(m_, b.value, [this](const Block& inner) {
        return BlockTabulator(m_, users_).Run(inner);
      });
      changed = changed || e != b.value;
      out.bindings.push_back({b.var, e});
    }
    return changed ? m_.arena->New<Block>(std::move(out)) : &block;
  }

 private:
  // A step of a chain, and the bytes that it starts from.
  struct Link {
    const Var* leaf;
    const Binding* binding;
    int steps;
  };

  // A step of what is a function of some bytes, element by element, and of nothing else.
  std::optional<Link> LinkOf(const Binding& b) const {
    const auto* call = b.value->As<OpCall>();
    const TensorType* type = TensorOf(b.var->type);
    if (call == nullptr || type == nullptr || !call->op->compute || call->op->checks)
      return std::nullopt;
    const bool takes = IsLookUp(*call);
    const bool is_elementwise =
        call->op->fusion == FusionClass::kElementwise ||
        (call->op->fusion == FusionClass::kBroadcast && call->op->layout == LayoutRule::kAgnostic);
    if (!takes && !is_elementwise) return std::nullopt;
    Link link{nullptr, &b, 1};
    for (size_t i = 0; i < call->args.size(); ++i) {
      if ((takes && i == 0) || NumberOf(call->args[i]) != nullptr) continue;
      const Var* v = AsVar(call->args[i]);
      const auto step = v == nullptr ? links_.end() : links_.find(v->id);
      const Var* leaf = v;
      if (step != links_.end()) {
        leaf = step->second.leaf;
        link.steps += step->second.steps;
      } else if (v == nullptr || !IsBytes(TensorOf(v->type))) {
        return std::nullopt;
      }
      if (link.leaf != nullptr && leaf != link.leaf) return std::nullopt;
      link.leaf = leaf;
    }
    if (link.leaf == nullptr || link.steps > kMostSteps) return std::nullopt;
    return TensorOf(link.leaf->type)->shape == type->shape ? std::optional(link) : std::nullopt;
  }

  // A small constant vector, read by numbers of any shape.
  static bool IsLookUp(const OpCall& call) {
    if (call.op->along_axis != AlongAxis::kTakes || call.args.size() != 2) return false;
    const auto* data = std::get_if<const Constant*>(&call.args[0]);
    return data != nullptr && (*data)->recipe == nullptr && (*data)->value.shape.size() == 1 &&
           (*data)->value.shape[0] >= 1 && call.attrs.Int("batch_dims") == 0;
  }

  // The steps from the leaf to `root`, last first.
  std::vector<const Binding*> ChainOf(const Binding& root) const {
    std::vector<const Binding*> chain = {&root};
    std::unordered_set<uint32_t> seen = {root.var->id};
    for (size_t i = 0; i < chain.size(); ++i) {
      for (const Atom& a : chain[i]->value->As<OpCall>()->args) {
        const Var* v = AsVar(a);
        const auto link = v == nullptr ? links_.end() : links_.find(v->id);
        if (link != links_.end() && seen.insert(v->id).second)
          chain.push_back(link->second.binding);
      }
    }
    return chain;
  }

  // Whether what goes with a table costs more than it. Marks those steps.
  bool IsWorthATable(const Binding& root) {
    std::vector<const Binding*> chain = ChainOf(root);
    // A step comes after what it reads.
    std::ranges::sort(chain, std::greater(), [](const Binding* b) { return b; });
    std::unordered_set<uint32_t> gone = {root.var->id};
    int operations = 0;
    for (const Binding* b : chain) {
      const auto& used_by = users_.Of(*b->var);
      const bool goes = b->var == root.var || std::ranges::all_of(used_by, [&](const Var* user) {
                          return user != nullptr && gone.contains(user->id);
                        });
      if (!goes) continue;
      gone.insert(b->var->id);
      operations += CostOf(*b);
    }
    if (operations < kWorthATable) return false;
    gone_.insert(gone.begin(), gone.end());
    return true;
  }

  int CostOf(const Binding& b) const {
    const auto& call = *b.value->As<OpCall>();
    if (IsLookUp(call)) return kWorthATable;
    std::vector<TensorType> inputs;
    for (const Atom& a : call.args) inputs.push_back(*AtomType(m_, a)->As<TensorType>());
    const TensorType output = *TensorOf(b.var->type);
    const ElementCost cost = CostOfElement(*call.op, call.attrs, inputs, std::span(&output, 1));
    return cost.expensive ? kWorthATable : cost.operations;
  }

  // The chain from all bytes, and the root as what it gives for the leaf's.
  void Write(const Binding& root, const Var& leaf, std::vector<Binding>& out) {
    std::vector<const Binding*> chain = ChainOf(root);
    std::ranges::sort(chain, std::less(), [](const Binding* b) { return b; });
    if (!of_all_bytes_.contains(leaf.id)) of_all_bytes_[leaf.id] = AllBytes(leaf);
    for (const Binding* b : chain) {
      // Of another table's chain.
      if (of_all_bytes_.contains(b->var->id)) continue;
      OpCall call = *b->value->As<OpCall>();
      const bool takes = IsLookUp(call);
      for (size_t i = 0; i < call.args.size(); ++i) {
        const HostTensor* number = takes && i == 0 ? nullptr : NumberOf(call.args[i]);
        call.args[i] = number == nullptr
                           ? Image(of_all_bytes_, call.args[i])
                           : Atom(MakeConstant(m_, HostTensor{number->dtype, {}, number->data}));
      }
      const DType dtype = TensorOf(b->var->type)->dtype;
      const Var* var = MakeVar(m_, "", MakeTensorType({Dim(kByteValues)}, dtype), b->value->span);
      out.push_back({var, MakeExpr(m_, std::move(call), b->value->span)});
      of_all_bytes_[b->var->id] = var;
    }
    const NamedCall take = ByteTableCall();
    BindingBuilder(m_, root.value->span, out)
        .BindCall(root.var, take.op, {&leaf, Image(of_all_bytes_, root.var)}, take.attrs);
  }

  Atom AllBytes(const Var& leaf) const {
    std::vector<std::byte> bytes(kByteValues);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    return MakeConstant(m_, {TensorOf(leaf.type)->dtype, {kByteValues}, std::move(bytes)});
  }

  const Module& m_;
  const Users& users_;
  std::unordered_map<uint32_t, Link> links_;  // by Var::id, of this block
  AtomMap of_all_bytes_;                      // leaves and steps, of all 256
  std::unordered_set<uint32_t> gone_;         // steps that nothing needs any more
};

}  // namespace

Module TabulateBytes(const Module& m) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Users users(m, *f->body);
    const Block* body = BlockTabulator(m, users).Run(*f->body);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir

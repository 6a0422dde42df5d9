#include "compiler/rules/fuse_attention.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/rules/match.h"
#include "compiler/rules/own_rules.h"
#include "compiler/transforms/builder.h"
#include "kernels/op/attention.h"

namespace relayvm::rules {
namespace {

using ir::Atom;
using ir::Binding;
using ir::BindingBuilder;
using ir::OpCall;

constexpr std::string_view kLetters = "BHSD";

// A step of the score. `shape`: of the scores there.
struct ScoreStep {
  std::string name;
  std::vector<Atom> args;
  std::vector<Dim> shape;
};

// What the program spells out.
struct Attention {
  Atom queries, keys, values;
  bool keys_transposed = false,
       values_transposed = false;    // (..., elements, positions), as written
  std::vector<ScoreStep> steps;      // the first one first
  std::vector<Dim> shape;            // (batch, heads, queries, keys)
  std::vector<const OpCall*> calls;  // whose place is taken, the first one first
};

// A tensor of rank 4 and the order of its dims, in kLetters.
struct Heads {
  Atom atom;
  std::string layout;
};

class BlockFuser {
 public:
  // `around`: the uses of the function's variables; the block's definitions are added.
  BlockFuser(const ir::Module& m, const ir::Block& block, Surroundings& around, uint32_t number,
             Report* report)
      : m_(m), block_(block), around_(around), number_(number), report_(report) {
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      at_[b.var->id] = i;
      around.definitions.insert_or_assign(b.var->id, Definition{b.var, b.value, number});
      if (const auto* call = b.value->As<OpCall>()) {
        for (const Atom& a : call->args) {
          if (const ir::Var* v = ir::AsVar(a)) user_[v->id] = i;
        }
      }
    }
  }

  // What takes the place of bindings, by their position.
  std::unordered_map<size_t, std::vector<Binding>> Run() {
    for (size_t i = 0; i < block_.bindings.size(); ++i) Try(i);
    return std::move(replaced_);
  }

 private:
  // --- What the block says ---

  const OpCall* CallOf(const Atom& a) const {
    const ir::Var* v = ir::AsVar(a);
    const auto at = v == nullptr ? at_.end() : at_.find(v->id);
    return at == at_.end() ? nullptr : block_.bindings[at->second].value->As<OpCall>();
  }
  // The call of a value that attention.relay's part `name` matches, or null.
  const OpCall* CallOf(const Atom& a, const std::string& name) const {
    const OpCall* call = CallOf(a);
    if (call == nullptr) return nullptr;
    const Definition& root = around_.definitions.at(ir::AsVar(a)->id);
    for (const Rule& way : AttentionPatterns().parts.at(name)->ways) {
      if (way.roots.ops.contains(call->op) && MatchRule(m_, way, root, around_, nullptr)) {
        return call;
      }
    }
    return nullptr;
  }
  // Of tensors.
  std::vector<Dim> ShapeOf(const Atom& a) const {
    return ir::AtomType(m_, a)->As<TensorType>()->shape;
  }
  DType DTypeOf(const Atom& a) const { return ir::AtomType(m_, a)->As<TensorType>()->dtype; }
  // What a view gives other dims before the last two, where it has four, or nullopt.
  std::optional<Atom> FourDims(const Atom& view) const {
    const OpCall* call = CallOf(view, "view");
    return call != nullptr && ShapeOf(call->args[0]).size() == 4 ? std::optional(call->args[0])
                                                                 : std::nullopt;
  }
  static bool SameMatrices(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    return a.size() >= 2 && b.size() >= 2 && a[a.size() - 1] == b[b.size() - 1] &&
           a[a.size() - 2] == b[b.size() - 2];
  }

  // --- Operands ---

  // A tensor (batch * heads, x, y), or (x, y), as (batch, heads, x, y); nullopt where it is not
  // proved to be one.
  std::optional<Atom> WithHeads(const Atom& a, const Attention& found,
                                std::vector<Binding>& out) const {
    const std::vector<Dim> shape = ShapeOf(a);
    const Dim &batch = found.shape[0], &heads = found.shape[1];
    const size_t rank = shape.size();
    if (rank == 4) return a;
    if (const auto from = FourDims(a)) {
      const std::vector<Dim> dims = ShapeOf(*from);
      if (dims[0] == batch && dims[1] == heads) return from;
    }
    if ((rank == 3 ? shape[0] : Dim(1)) != batch * heads) return std::nullopt;
    return View(a, {batch, heads, shape[rank - 2], shape[rank - 1]}, out);
  }
  Atom View(const Atom& a, const std::vector<Dim>& shape, std::vector<Binding>& out) const {
    const ir::Var* var = ir::MakeVar(m_, "", ir::MakeTensorType(shape, DTypeOf(a)), span_);
    return BindingBuilder(m_, span_, out).Reshape(a, ir::DimsOf(shape), var);
  }

  // The order of dims before a transposition, where they have this one after it.
  static std::optional<std::string> Before(const OpCall& transpose, const std::string& layout) {
    const auto given = transpose.attrs.OptionalInts("axes");
    const size_t rank = layout.size();
    if (given && given->size() != rank) return std::nullopt;
    std::string before(rank, ' ');
    for (size_t i = 0; i < rank; ++i) {
      int64_t axis = given ? given->at(i) : static_cast<int64_t>(rank - 1 - i);
      if (axis < 0) axis += static_cast<int64_t>(rank);
      before[static_cast<size_t>(axis)] = layout[i];
    }
    return before;
  }

  // Without the transpositions that made it.
  void SkipTransposes(Heads& heads) const {
    while (const OpCall* call = CallOf(heads.atom, "transposed")) {
      const auto before = Before(*call, heads.layout);
      if (!before) return;
      heads = {call->args[0], *before};
    }
  }

  // What a repetition along the heads repeats so often, or null.
  const OpCall* RepeatOf(const Heads& heads) const {
    const OpCall* call = CallOf(heads.atom, "repeated");
    if (call == nullptr || !call->attrs.OptionalInt("axis")) return nullptr;
    int64_t axis = *call->attrs.OptionalInt("axis");
    if (axis < 0) axis += 4;
    const bool is_head = static_cast<size_t>(axis) == heads.layout.find('H');
    return is_head && ShapeOf(call->args[0])[static_cast<size_t>(axis)].is_const() ? call : nullptr;
  }

  // Transposed matrices, (heads, x, y) or (batch, x, y), without their transposition.
  std::optional<Heads> TurnedMatrices(const Atom& a, bool is_turned, const Attention& found,
                                      std::vector<Binding>& out) const {
    const OpCall* call = CallOf(a, "transposed");
    const std::vector<Dim> shape = ShapeOf(a);
    if (call == nullptr || shape.size() != 3) return std::nullopt;
    const Dim &batch = found.shape[0], &heads = found.shape[1];
    if (!batch.is_const(1) && !heads.is_const(1)) return std::nullopt;
    if (shape[0] != batch * heads) return std::nullopt;
    const std::string one = batch.is_const(1) ? "B" : "H", several = batch.is_const(1) ? "H" : "B";
    const auto before = Before(*call, several + (is_turned ? "DS" : "SD"));
    if (!before) return std::nullopt;
    std::vector<Dim> dims = ShapeOf(call->args[0]);
    dims.insert(dims.begin(), Dim(1));
    return Heads{View(call->args[0], dims, out), one + *before};
  }

  std::optional<Heads> HeadsOf(const Atom& a, bool is_turned, const Attention& found,
                               std::vector<Binding>& out) const {
    if (auto heads = TurnedMatrices(a, is_turned, found, out)) return heads;
    const std::optional<Atom> atom = WithHeads(a, found, out);
    if (!atom) return std::nullopt;
    Heads heads{*atom, is_turned ? "BHDS" : "BHSD"};
    SkipTransposes(heads);
    return heads;
  }
  // A dim by its letter.
  Dim DimOf(const Heads& heads, char letter) const {
    return ShapeOf(heads.atom)[heads.layout.find(letter)];
  }

  // Whether an argument of a step is broadcast to the scores of rank 4; made so.
  bool Broadcasts(ScoreStep& step, const Attention& found, std::vector<Binding>& out) const {
    for (Atom& arg : step.args) {
      std::vector<Dim> dims = ShapeOf(arg);
      if (dims.size() > step.shape.size()) return false;
      if (dims.size() == 3 && step.shape.size() == 3 && !dims[0].is_const(1)) {
        if (dims[0] != step.shape[0]) return false;
        // One number for each batch and head.
        if (!SameMatrices(dims, step.shape) && !found.shape[1].is_const(1)) return false;
        const std::optional<Atom> atom = WithHeads(arg, found, out);
        if (!atom) return false;
        arg = *atom;
        dims = {found.shape[0], found.shape[1], dims[1], dims[2]};
      }
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i].is_const(1)) continue;
        // The step gave the scores' own shape: it was equal, or is 1.
        if (Dim::ProvablyDifferent(dims[i], found.shape[4 - dims.size() + i])) return false;
      }
    }
    return true;
  }

  // Shapes in rank 4: batch 1, one head where there are none.
  static void Complete(std::vector<Dim>& shape) {
    if (shape.size() == 2) shape.insert(shape.begin(), Dim(1));
    if (shape.size() == 3) shape.insert(shape.begin() + 1, Dim(1));
  }

  // --- The match ---

  void Try(size_t position) {
    const Binding& b = block_.bindings[position];
    const auto* call = b.value->As<OpCall>();
    const RuleSet& patterns = AttentionPatterns();
    if (call == nullptr || !patterns.by_root.contains(call->op)) return;
    const Rule& pattern = patterns.rules[0];
    Miss miss;
    const auto match = MatchRule(m_, pattern, {b.var, b.value, number_}, around_,
                                 report_ == nullptr ? nullptr : &miss);
    if (match) {
      miss = {0, pattern.nodes.size(), {}};
      if (Replace(position, Read(pattern, *match), &miss.reason)) {
        if (report_ != nullptr) ++report_->applied[pattern.name];
        return;
      }
    }
    // The product and the softmax matched.
    if (report_ != nullptr && miss.required >= 2) NoteMiss(m_, pattern, b, miss, report_);
  }

  Attention Read(const Rule& pattern, const Match& match) const {
    const auto hole = [&](size_t i) { return match.images.at(pattern.params[i]->id); };
    Attention found{hole(0), hole(1), hole(2)};
    found.values_transposed = match.steps.front().way->label == "transposed";
    found.keys_transposed = match.steps.back().way->label == "transposed";
    found.shape = ShapeOf(match.steps.back().var);
    for (auto step = match.steps.rbegin(); step != match.steps.rend(); ++step) {
      const std::vector<Dim> shape = ShapeOf(step->var);
      if (step->part->name == "steps" && shape.size() == 4 && found.shape.size() != 4)
        found.shape = shape;
      if (step->part->name == "score")
        found.steps.push_back({step->way->label, step->Operands(), shape});
    }
    for (auto value = match.values.rbegin(); value != match.values.rend(); ++value) {
      if (const auto* call = (*value)->As<OpCall>()) found.calls.push_back(call);
    }
    return found;
  }

  // False, and the reason, where it stays as it is.
  bool Replace(size_t position, Attention found, std::string* reason) {
    if (const auto heads = HeadsBefore(found)) {
      Attention with_heads = found;
      with_heads.shape = {heads->first, heads->second, found.shape[1], found.shape[2]};
      if (IsFaster(with_heads.shape, found) && Emit(position, std::move(with_heads))) return true;
    }
    Complete(found.shape);
    if (!IsFaster(found.shape, found)) {
      *reason =
          "its keys or values are constants, or there are too few queries for several threads";
      return false;
    }
    *reason = "its operands are not proved to be (batch, heads, positions, elements)";
    return Emit(position, std::move(found));
  }

  // Of matrices (batch * heads, x, y): the two, where an operand is a view of (batch, heads, x, y).
  std::optional<std::pair<Dim, Dim>> HeadsBefore(const Attention& found) const {
    if (found.shape.size() != 3) return std::nullopt;
    for (const Atom& a : {found.queries, found.keys, found.values}) {
      const auto from = FourDims(a);
      if (!from) continue;
      const std::vector<Dim> dims = ShapeOf(*from);
      if (dims[0] * dims[1] == found.shape[0]) return std::pair(dims[0], dims[1]);
    }
    return std::nullopt;
  }

  // False, and nothing is replaced, where operands are not proved to be (batch, heads, x, y).
  bool Emit(size_t position, Attention found) {
    std::vector<Binding> out;
    span_ = block_.bindings[position].value->span;
    for (const OpCall* call : found.calls) ir::KeepGuards(m_, *call, span_, out);
    auto queries = HeadsOf(found.queries, false, found, out);
    auto keys = HeadsOf(found.keys, !found.keys_transposed, found, out);
    auto values = HeadsOf(found.values, found.values_transposed, found, out);
    if (!queries || !keys || !values) return false;
    Heads &q = *queries, &k = *keys, &v = *values;
    const OpCall* repeated_k = RepeatOf(k);
    const OpCall* repeated_v = RepeatOf(v);
    if (repeated_k != nullptr && repeated_v != nullptr &&
        repeated_k->attrs.Int("repeats") == repeated_v->attrs.Int("repeats") &&
        found.shape[1].is_const()) {
      k.atom = repeated_k->args[0];
      v.atom = repeated_v->args[0];
      SkipTransposes(k);
      SkipTransposes(v);
    }
    // The number of keys and of values was compared where the program multiplied by values.
    const Dim shared = DimOf(k, 'H');
    const bool is_grouped = shared.is_const() && found.shape[1].is_const() && shared.value() > 0 &&
                            found.shape[1].value() % shared.value() == 0;
    if (DimOf(q, 'B') != found.shape[0] || DimOf(k, 'B') != found.shape[0] ||
        DimOf(v, 'B') != found.shape[0] || DimOf(q, 'H') != found.shape[1] ||
        (shared != found.shape[1] && !is_grouped) || DimOf(v, 'H') != shared ||
        DimOf(q, 'S') != found.shape[2] || DimOf(k, 'S') != found.shape[3] ||
        Dim::ProvablyDifferent(DimOf(v, 'S'), found.shape[3])) {
      return false;
    }
    std::vector<Atom> args = {q.atom, k.atom, v.atom};
    std::string score;
    for (ScoreStep& step : found.steps) {
      if (!Broadcasts(step, found, out)) return false;
      score += (score.empty() ? "" : " ") + step.name;
      args.insert(args.end(), step.args.begin(), step.args.end());
    }
    // (batch, heads, queries, elements), then as the program has it.
    const std::vector<Dim> root = ShapeOf(block_.bindings[position].var);
    AttentionForm form{q.layout, k.layout, v.layout, "BHSD", score};
    size_t last = position;
    bool has_heads = false;
    if (const size_t user = OnlyUser(last, "view"); user != last) {
      const std::vector<Dim> to = ShapeOf(block_.bindings[user].var);
      has_heads = to.size() == 4 && to[0] == found.shape[0] && to[1] == found.shape[1];
      if (has_heads) last = user;
    }
    if (const size_t user = OnlyUser(last, "transposed"); has_heads && user != last) {
      const auto axes = CallOf(block_.bindings[user].var)->attrs.OptionalInts("axes");
      if (axes && axes->size() == 4 && ((*axes)[3] == 3 || (*axes)[3] == -1)) {
        for (size_t i = 0; i < 4; ++i) {
          form.out[i] = kLetters[static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + 4 : (*axes)[i])];
        }
        last = user;
      }
    }
    const NamedCall call = AttentionCall(form);
    const ir::Var* var = block_.bindings[last].var;
    BindingBuilder builder(m_, span_, out);
    if (has_heads) {
      builder.BindCall(var, call.op, std::move(args), call.attrs);
    } else {
      const std::vector<Dim> shape = {found.shape[0], found.shape[1], found.shape[2],
                                      DimOf(v, 'D')};
      const ir::Var* heads = ir::MakeVar(m_, "", ir::MakeTensorType(shape, DType::kFloat32), span_);
      builder.BindCall(heads, call.op, std::move(args), call.attrs);
      builder.Reshape(heads, ir::DimsOf(root), var);
    }
    replaced_[last] = std::move(out);
    return true;
  }

  // Whether the one kernel is. Constant keys or values are weights, which products read packed; and
  // a single unit of work (kernels/codegen/contraction/attention.h) keeps one thread busy.
  static bool IsFaster(const std::vector<Dim>& shape, const Attention& found) {
    constexpr int64_t kUnit = 32;  // queries
    const bool is_one_unit =
        (shape[0] * shape[1]).is_const(1) && shape[2].is_const() && shape[2].value() <= kUnit;
    return ir::AsVar(found.keys) != nullptr && ir::AsVar(found.values) != nullptr && !is_one_unit;
  }

  // The binding that alone uses what binding i defines, in this block, where a part matches it; or
  // i.
  size_t OnlyUser(size_t i, const std::string& part) const {
    const ir::Var* var = block_.bindings[i].var;
    const auto user = user_.find(var->id);
    if (user == user_.end() || around_.uses.at(var->id) != 1) return i;
    return CallOf(block_.bindings[user->second].var, part) == nullptr ? i : user->second;
  }

  const ir::Module& m_;
  const ir::Block& block_;
  const Surroundings& around_;
  uint32_t number_;  // the block's
  Report* report_;
  std::unordered_map<uint32_t, size_t> at_;    // bindings by their variable
  std::unordered_map<uint32_t, size_t> user_;  // the last call that uses a variable
  ir::Span span_;                              // of the match
  std::unordered_map<size_t, std::vector<Binding>> replaced_;
};

class Fuser {
 public:
  Fuser(const ir::Module& m, Report* report) : m_(m), report_(report) {}

  const ir::Block* Run(const ir::Block& body) {
    around_ = {};
    ir::ForEachUseInside(m_, body, [&](const ir::Var* v) { ++around_.uses[v->id]; });
    return Fuse(body);
  }

 private:
  const ir::Block* Fuse(const ir::Block& block) {
    auto replaced = BlockFuser(m_, block, around_, ++num_blocks_, report_).Run();
    ir::Block out;
    out.result = block.result;
    bool changed = !replaced.empty();
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const Binding& b = block.bindings[i];
      if (auto at = replaced.find(i); at != replaced.end()) {
        out.bindings.insert(out.bindings.end(), at->second.begin(), at->second.end());
        continue;
      }
      const ir::Expr* e =
          ir::MapBlocks(m_, b.value, [&](const ir::Block& inner) { return Fuse(inner); });
      changed = changed || e != b.value;
      out.bindings.push_back({b.var, e});
    }
    return changed ? m_.arena->New<ir::Block>(std::move(out)) : &block;
  }

  const ir::Module& m_;
  Report* report_;
  Surroundings around_;
  uint32_t num_blocks_ = 0;
};

}  // namespace

ir::Module FuseAttention(const ir::Module& m, Report* report) {
  ir::Module out = m;
  Fuser fuser(m, report);
  for (auto& [name, f] : out.functions) {
    const ir::Block* body = fuser.Run(*f->body);
    if (body != f->body) f = ir::WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::rules

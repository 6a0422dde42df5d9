#include "compiler/transforms/products/fuse_attention.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

constexpr std::string_view kLetters = "BHSD";
// Calls between the two products, at most.
constexpr int kMaxSteps = 32;

// How often variables of a function are used, in all of its blocks.
using UseCounts = std::unordered_map<uint32_t, size_t>;

// A product of matrices: the last two dims of a and b, either transposed.
struct Product {
  Atom a, b;
  bool transpose_a = false, transpose_b = false;
};

// A call between the products. `shape`: of the scores there.
struct Step {
  std::string name;
  std::vector<Atom> args;
  std::vector<Dim> shape;
};

struct Match {
  Product scores;
  std::vector<Step> steps;           // the first one first
  std::vector<Dim> shape;            // (batch, heads, queries, keys)
  std::vector<const OpCall*> calls;  // whose place is taken, the first one first
};

// A tensor of rank 4 and the order of its dims, in kLetters.
struct Heads {
  Atom atom;
  std::string layout;
};

class BlockMatcher {
 public:
  BlockMatcher(const Module& m, const Block& block, const UseCounts& uses)
      : m_(m), block_(block), uses_(uses) {
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      at_[block.bindings[i].var->id] = i;
      if (const auto* call = block.bindings[i].value->As<OpCall>()) {
        for (const Atom& a : call->args) {
          if (const Var* v = AsVar(a)) user_[v->id] = i;
        }
      }
    }
  }

  // What takes the place of bindings, by their position.
  std::unordered_map<size_t, std::vector<Binding>> Run() {
    for (size_t i = 0; i < block_.bindings.size(); ++i) TryMatch(i);
    return std::move(replaced_);
  }

 private:
  // --- What the block says ---

  const Binding* Find(const Atom& a) const {
    const Var* v = AsVar(a);
    auto at = v == nullptr ? at_.end() : at_.find(v->id);
    return at == at_.end() ? nullptr : &block_.bindings[at->second];
  }
  const OpCall* CallOf(const Atom& a) const {
    const Binding* b = Find(a);
    return b == nullptr ? nullptr : b->value->As<OpCall>();
  }
  const std::vector<Dim>* ShapeOf(const Atom& a) const {
    // Types of constants are made for each question.
    if (const auto* c = std::get_if<const Constant*>(&a)) {
      auto& shape = constant_shapes_[*c];
      if (shape.empty()) shape.assign((*c)->value.shape.begin(), (*c)->value.shape.end());
      return &shape;
    }
    const Var* v = AsVar(a);
    const auto* type = v == nullptr || v->type == nullptr ? nullptr : v->type->As<TensorType>();
    return type == nullptr ? nullptr : &type->shape;
  }
  bool IsFloat32(const Atom& a) const {
    if (const auto* c = std::get_if<const Constant*>(&a)) {
      return (*c)->value.dtype == DType::kFloat32;
    }
    const Var* v = AsVar(a);
    const auto* type = v == nullptr || v->type == nullptr ? nullptr : v->type->As<TensorType>();
    return type != nullptr && type->dtype == DType::kFloat32;
  }
  bool IsUsedOnce(const Atom& a) const {
    const Var* v = AsVar(a);
    auto at = v == nullptr ? uses_.end() : uses_.find(v->id);
    return at != uses_.end() && at->second == 1;
  }
  static bool SameMatrices(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    return a.size() >= 2 && b.size() >= 2 && a[a.size() - 1] == b[b.size() - 1] &&
           a[a.size() - 2] == b[b.size() - 2];
  }

  std::optional<Product> ProductOf(const Atom& a) const {
    const OpCall* call = CallOf(a);
    if (call == nullptr || call->args.size() != 2 || !IsFloat32(a) || !IsFloat32(call->args[0]) ||
        !IsFloat32(call->args[1])) {
      return std::nullopt;
    }
    const std::string& name = call->op->name;
    Product p{call->args[0], call->args[1], false, true};
    if (name == "nn.batch_matmul" || name == "nn.matmul") {
      p.transpose_a = call->attrs.Bool("transpose_a");
      p.transpose_b = call->attrs.Bool("transpose_b");
    } else if (name != "nn.dense") {
      return std::nullopt;
    }
    const size_t rank = name == "nn.batch_matmul" ? 3 : 2;
    for (const Atom& arg : {p.a, p.b}) {
      const std::vector<Dim>* shape = ShapeOf(arg);
      if (shape == nullptr || shape->size() != rank) return std::nullopt;
    }
    return p;
  }

  // --- Scores ---

  // From the softmax's argument down to the product. False, and steps as they were, where something
  // else stands between.
  bool MatchScores(const Atom& a, int depth, Match& match) const {
    if (depth > kMaxSteps || !IsUsedOnce(a) || !IsFloat32(a)) return false;
    const OpCall* call = CallOf(a);
    const std::vector<Dim>* shape = ShapeOf(a);
    if (call == nullptr || shape == nullptr || call->args.empty()) return false;
    if (shape->size() > 4) return false;
    if (shape->size() == 4) match.shape = *shape;
    if (auto product = ProductOf(a)) {
      match.scores = *product;
      if (match.shape.empty()) match.shape = *shape;
      match.calls.push_back(call);
      return true;
    }
    if (call->op->is_view) {
      const std::vector<Dim>* from = ShapeOf(call->args[0]);
      if (from == nullptr || !SameMatrices(*from, *shape) ||
          !MatchScores(call->args[0], depth + 1, match)) {
        return false;
      }
      match.calls.push_back(call);
      return true;
    }
    // The operand that is the score so far, and the step that the call is to it.
    const auto try_step = [&](size_t score, const char* name, std::vector<Atom> args) {
      const std::vector<Dim>* from = ShapeOf(call->args[score]);
      if (from == nullptr || *from != *shape) return false;
      const Match before = match;
      if (MatchScores(call->args[score], depth + 1, match)) {
        match.steps.push_back({name, std::move(args), *shape});
        match.calls.push_back(call);
        return true;
      }
      match = before;
      return false;
    };
    const std::string& name = call->op->name;
    const std::vector<Atom>& args = call->args;
    if (name == "add" || name == "multiply") {
      return try_step(0, name.c_str(), {args[1]}) || try_step(1, name.c_str(), {args[0]});
    }
    if (name == "subtract" || name == "divide") return try_step(0, name.c_str(), {args[1]});
    if (name == "where") {
      return try_step(1, "where", {args[0], args[2]}) ||
             try_step(2, "where_not", {args[0], args[1]});
    }
    return name == "tanh" && try_step(0, "tanh", {});
  }

  // Shapes in rank 4: batch 1, one head where there are none.
  static void Complete(std::vector<Dim>& shape) {
    if (shape.size() == 2) shape.insert(shape.begin(), Dim(1));
    if (shape.size() == 3) shape.insert(shape.begin() + 1, Dim(1));
  }

  // --- Operands ---

  // A tensor (batch * heads, x, y), or (x, y), as (batch, heads, x, y); nullopt where it is not
  // proved to be one.
  std::optional<Atom> WithHeads(const Atom& a, const Match& match,
                                std::vector<Binding>& out) const {
    const std::vector<Dim>& shape = *ShapeOf(a);
    const Dim &batch = match.shape[0], &heads = match.shape[1];
    if (shape.size() == 4) return a;
    if (const OpCall* call = CallOf(a); call != nullptr && call->op->is_view) {
      const std::vector<Dim>* from = ShapeOf(call->args[0]);
      if (from != nullptr && from->size() == 4 && SameMatrices(*from, shape) &&
          (*from)[0] == batch && (*from)[1] == heads) {
        return call->args[0];
      }
    }
    const Type held = AtomType(m_, a);
    const size_t rank = shape.size();
    if ((rank == 3 ? shape[0] : Dim(1)) != batch * heads) return std::nullopt;
    return View(a, {batch, heads, shape[rank - 2], shape[rank - 1]}, held->As<TensorType>()->dtype,
                out);
  }
  Atom View(const Atom& a, const std::vector<Dim>& shape, DType dtype,
            std::vector<Binding>& out) const {
    const Var* var = MakeVar(m_, "", MakeTensorType(shape, dtype), span_);
    Attrs attrs;
    attrs.Set("newshape", DimList(shape));
    BindingBuilder(m_, span_, out).BindCall(var, "reshape", {a}, attrs);
    return var;
  }
  static AttrValue DimList(const std::vector<Dim>& dims) {
    AttrList list;
    for (const Dim& d : dims) list.emplace_back(d);
    return AttrValue(std::move(list));
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
    const OpCall* call = CallOf(heads.atom);
    while (call != nullptr && call->op->name == "transpose") {
      const std::vector<Dim>* shape = ShapeOf(call->args[0]);
      const auto before = Before(*call, heads.layout);
      if (shape == nullptr || shape->size() != 4 || !before) return;
      heads = {call->args[0], *before};
      call = CallOf(heads.atom);
    }
  }

  // What a repetition along the heads repeats so often, or null.
  const OpCall* RepeatOf(const Heads& heads) const {
    const OpCall* call = CallOf(heads.atom);
    if (call == nullptr || call->op->name != "repeat" || !call->attrs.OptionalInt("axis")) {
      return nullptr;
    }
    int64_t axis = *call->attrs.OptionalInt("axis");
    if (axis < 0) axis += 4;
    const std::vector<Dim>* from = ShapeOf(call->args[0]);
    const bool is_head = static_cast<size_t>(axis) == heads.layout.find('H');
    return is_head && from != nullptr && (*from)[static_cast<size_t>(axis)].is_const() ? call
                                                                                       : nullptr;
  }

  // Transposed matrices, (heads, x, y) or (batch, x, y), without their transposition.
  std::optional<Heads> TurnedMatrices(const Atom& a, bool is_turned, const Match& match,
                                      std::vector<Binding>& out) const {
    const OpCall* call = CallOf(a);
    if (call == nullptr || call->op->name != "transpose") return std::nullopt;
    const std::vector<Dim>& shape = *ShapeOf(a);
    const std::vector<Dim>* from = ShapeOf(call->args[0]);
    if (shape.size() != 3 || from == nullptr) return std::nullopt;
    const Dim &batch = match.shape[0], &heads = match.shape[1];
    if (!batch.is_const(1) && !heads.is_const(1)) return std::nullopt;
    if (shape[0] != batch * heads) return std::nullopt;
    const std::string one = batch.is_const(1) ? "B" : "H", several = batch.is_const(1) ? "H" : "B";
    const auto before = Before(*call, several + (is_turned ? "DS" : "SD"));
    if (!before) return std::nullopt;
    const Type held = AtomType(m_, a);
    const Atom view = View(call->args[0], {Dim(1), (*from)[0], (*from)[1], (*from)[2]},
                           held->As<TensorType>()->dtype, out);
    return Heads{view, one + *before};
  }

  std::optional<Heads> HeadsOf(const Atom& a, bool is_turned, const Match& match,
                               std::vector<Binding>& out) const {
    if (auto heads = TurnedMatrices(a, is_turned, match, out)) return heads;
    const std::optional<Atom> atom = WithHeads(a, match, out);
    if (!atom) return std::nullopt;
    Heads heads{*atom, is_turned ? "BHDS" : "BHSD"};
    SkipTransposes(heads);
    return heads;
  }
  // A dim by its letter, of what HeadsOf may have made.
  Dim DimOf(const Heads& heads, char letter) const {
    const Type held = AtomType(m_, heads.atom);
    return held->As<TensorType>()->shape[heads.layout.find(letter)];
  }

  // Whether an argument of a step is broadcast to the scores of rank 4; made so.
  bool Broadcasts(Step& step, const Match& match, std::vector<Binding>& out) const {
    for (Atom& arg : step.args) {
      const std::vector<Dim>* shape = ShapeOf(arg);
      if (shape == nullptr || shape->size() > step.shape.size()) return false;
      std::vector<Dim> dims = *shape;
      if (dims.size() == 3 && step.shape.size() == 3 && !dims[0].is_const(1)) {
        if (dims[0] != step.shape[0]) return false;
        // One number for each batch and head.
        if (!SameMatrices(dims, step.shape) && !match.shape[1].is_const(1)) return false;
        const std::optional<Atom> atom = WithHeads(arg, match, out);
        if (!atom) return false;
        arg = *atom;
        dims = {match.shape[0], match.shape[1], dims[1], dims[2]};
      }
      for (size_t i = 0; i < dims.size(); ++i) {
        if (dims[i].is_const(1)) continue;
        // The step gave the scores' own shape: it was equal, or is 1.
        if (Dim::ProvablyDifferent(dims[i], match.shape[4 - dims.size() + i])) return false;
      }
    }
    return true;
  }

  // --- The match ---

  void TryMatch(size_t position) {
    const Binding& root = block_.bindings[position];
    const auto product = ProductOf(root.var);
    if (!product || product->transpose_a) return;
    Atom weights = product->a;
    std::vector<const OpCall*> views;  // the last one first
    while (const OpCall* call = CallOf(weights)) {
      if (!IsUsedOnce(weights)) return;
      if (!call->op->is_view) break;
      const std::vector<Dim>* from = ShapeOf(call->args[0]);
      if (from == nullptr || !SameMatrices(*from, *ShapeOf(weights))) return;
      views.push_back(call);
      weights = call->args[0];
    }
    const OpCall* softmax = CallOf(weights);
    if (softmax == nullptr || softmax->op->name != "nn.softmax") return;
    const std::vector<Dim>& shape = *ShapeOf(weights);
    const int64_t axis = softmax->attrs.Int("axis");
    if (axis != -1 && axis != static_cast<int64_t>(shape.size()) - 1) return;
    Match match;
    if (!MatchScores(softmax->args[0], 0, match) || match.scores.transpose_a) return;
    match.calls.insert(match.calls.end(), views.rbegin(), views.rend());
    match.calls.push_back(root.value->As<OpCall>());
    if (const auto heads = HeadsBefore(*product, match)) {
      Match with_heads = match;
      with_heads.shape = {heads->first, heads->second, match.shape[1], match.shape[2]};
      if (IsFaster(with_heads.shape, match.scores.b, product->b) &&
          Emit(position, *product, std::move(with_heads))) {
        return;
      }
    }
    Complete(match.shape);
    if (!IsFaster(match.shape, match.scores.b, product->b)) return;
    Emit(position, *product, std::move(match));
  }

  // Of matrices (batch * heads, x, y): the two, where an operand is a view of (batch, heads, x, y).
  std::optional<std::pair<Dim, Dim>> HeadsBefore(const Product& product, const Match& match) const {
    if (match.shape.size() != 3) return std::nullopt;
    for (const Atom& a : {match.scores.a, match.scores.b, product.b}) {
      const OpCall* call = CallOf(a);
      if (call == nullptr || !call->op->is_view) continue;
      const std::vector<Dim>* from = ShapeOf(call->args[0]);
      if (from != nullptr && from->size() == 4 && SameMatrices(*from, *ShapeOf(a)) &&
          (*from)[0] * (*from)[1] == match.shape[0]) {
        return std::pair((*from)[0], (*from)[1]);
      }
    }
    return std::nullopt;
  }

  // False, and nothing is replaced, where operands are not proved to be (batch, heads, x, y).
  bool Emit(size_t position, const Product& product, Match match) {
    std::vector<Binding> out;
    span_ = block_.bindings[position].value->span;
    for (const OpCall* call : match.calls) KeepGuards(m_, *call, span_, out);
    auto queries = HeadsOf(match.scores.a, match.scores.transpose_a, match, out);
    auto keys = HeadsOf(match.scores.b, !match.scores.transpose_b, match, out);
    auto values = HeadsOf(product.b, product.transpose_b, match, out);
    if (!queries || !keys || !values) return false;
    Heads &q = *queries, &k = *keys, &v = *values;
    const OpCall* repeated_k = RepeatOf(k);
    const OpCall* repeated_v = RepeatOf(v);
    if (repeated_k != nullptr && repeated_v != nullptr &&
        repeated_k->attrs.Int("repeats") == repeated_v->attrs.Int("repeats") &&
        match.shape[1].is_const()) {
      k.atom = repeated_k->args[0];
      v.atom = repeated_v->args[0];
      SkipTransposes(k);
      SkipTransposes(v);
    }
    // The number of keys and of values was compared where the program multiplied by values.
    const Dim shared = DimOf(k, 'H');
    const bool is_grouped = shared.is_const() && match.shape[1].is_const() && shared.value() > 0 &&
                            match.shape[1].value() % shared.value() == 0;
    if (DimOf(q, 'B') != match.shape[0] || DimOf(k, 'B') != match.shape[0] ||
        DimOf(v, 'B') != match.shape[0] || DimOf(q, 'H') != match.shape[1] ||
        (shared != match.shape[1] && !is_grouped) || DimOf(v, 'H') != shared ||
        DimOf(q, 'S') != match.shape[2] || DimOf(k, 'S') != match.shape[3] ||
        Dim::ProvablyDifferent(DimOf(v, 'S'), match.shape[3])) {
      return false;
    }
    std::vector<Atom> args = {q.atom, k.atom, v.atom};
    std::string score;
    for (Step& step : match.steps) {
      if (!Broadcasts(step, match, out)) return false;
      score += (score.empty() ? "" : " ") + step.name;
      args.insert(args.end(), step.args.begin(), step.args.end());
    }
    // (batch, heads, queries, elements), then as the program has it.
    const std::vector<Dim>& root = *ShapeOf(block_.bindings[position].var);
    std::string layout = "BHSD";
    size_t last = position;
    bool has_heads = false;
    if (const OpCall* view = OnlyUser(last); view != nullptr && view->op->is_view) {
      const Var* var = block_.bindings[user_.at(block_.bindings[last].var->id)].var;
      const std::vector<Dim>& to = *ShapeOf(var);
      if (to.size() == 4 && SameMatrices(root, to) && to[0] == match.shape[0] &&
          to[1] == match.shape[1]) {
        last = at_.at(var->id);
        has_heads = true;
      }
    }
    if (const OpCall* turn = has_heads ? OnlyUser(last) : nullptr;
        turn != nullptr && turn->op->name == "transpose") {
      const auto axes = turn->attrs.OptionalInts("axes");
      if (axes && axes->size() == 4 && ((*axes)[3] == 3 || (*axes)[3] == -1)) {
        for (size_t i = 0; i < 4; ++i) {
          layout[i] = kLetters[static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + 4 : (*axes)[i])];
        }
        last = user_.at(block_.bindings[last].var->id);
      }
    }
    Attrs attrs;
    attrs.Set("q_layout", q.layout);
    attrs.Set("k_layout", k.layout);
    attrs.Set("v_layout", v.layout);
    attrs.Set("out_layout", layout);
    attrs.Set("score", score);
    const Var* var = block_.bindings[last].var;
    BindingBuilder builder(m_, span_, out);
    if (has_heads) {
      builder.BindCall(var, "nn.attention", std::move(args), attrs);
    } else {
      const Var* heads =
          MakeVar(m_, "",
                  MakeTensorType({match.shape[0], match.shape[1], match.shape[2], DimOf(v, 'D')},
                                 DType::kFloat32),
                  span_);
      builder.BindCall(heads, "nn.attention", std::move(args), attrs);
      Attrs view;
      view.Set("newshape", DimList(root));
      builder.BindCall(var, "reshape", {heads}, view);
    }
    replaced_[last] = std::move(out);
    return true;
  }

  // Whether the one kernel is. Constant keys or values are weights, which products read packed; and
  // a single unit of work (kernels/codegen/contraction/attention.h) keeps one thread busy.
  static bool IsFaster(const std::vector<Dim>& shape, const Atom& keys, const Atom& values) {
    constexpr int64_t kUnit = 32;  // queries
    const bool is_one_unit =
        (shape[0] * shape[1]).is_const(1) && shape[2].is_const() && shape[2].value() <= kUnit;
    return AsVar(keys) != nullptr && AsVar(values) != nullptr && !is_one_unit;
  }

  // The call that alone uses what binding i defines, in this block; or null.
  const OpCall* OnlyUser(size_t i) const {
    const Var* var = block_.bindings[i].var;
    auto user = user_.find(var->id);
    if (!IsUsedOnce(var) || user == user_.end()) return nullptr;
    return block_.bindings[user->second].value->As<OpCall>();
  }

  const Module& m_;
  const Block& block_;
  const UseCounts& uses_;
  std::unordered_map<uint32_t, size_t> at_;    // bindings by their variable
  std::unordered_map<uint32_t, size_t> user_;  // the last call that uses a variable
  mutable std::unordered_map<const Constant*, std::vector<Dim>> constant_shapes_;
  Span span_;  // of the match
  std::unordered_map<size_t, std::vector<Binding>> replaced_;
};

const Block* FuseIn(const Module& m, const Block& block, const UseCounts& uses) {
  auto replaced = BlockMatcher(m, block, uses).Run();
  Block out;
  out.result = block.result;
  bool changed = !replaced.empty();
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const Binding& b = block.bindings[i];
    if (auto at = replaced.find(i); at != replaced.end()) {
      out.bindings.insert(out.bindings.end(), at->second.begin(), at->second.end());
      continue;
    }
    const Expr* e =
        MapBlocks(m, b.value, [&](const Block& inner) { return FuseIn(m, inner, uses); });
    changed = changed || e != b.value;
    out.bindings.push_back({b.var, e});
  }
  return changed ? m.arena->New<Block>(std::move(out)) : &block;
}

}  // namespace

Module FuseAttention(const Module& m) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    UseCounts uses;
    ForEachUseInside(m, *f->body, [&](const Var* v) { ++uses[v->id]; });
    const Block* body = FuseIn(m, *f->body, uses);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir

#include "compiler/rules/fuse_attention.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compiler/rules/own_rules.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/builder.h"
#include "kernels/op/attention.h"

namespace relayvm::rules {
namespace {

using ir::Atom;
using ir::Binding;
using ir::OpCall;

// A tensor of rank 4 and the order of its dims: batch, heads, positions (S), elements (D).
constexpr std::string_view kLetters = "BHSD";
struct Heads {
  Atom atom;
  std::string layout;
};

// Writes the attention that a program spells out at one place.
class Writer {
 public:
  Writer(const Place& place, std::vector<Binding>& out, std::string* reason)
      : m_(place.module),
        place_(place),
        out_(out),
        reason_(reason),
        queries_(place.hole(0)),
        keys_(place.hole(1)),
        values_(place.hole(2)) {
    // Steps from the root: what may follow the product, the product, ..., the scores' product.
    const auto& steps = place.match.steps;
    span_ = FirstStep("product").value->span;
    values_transposed_ = FirstStep("product").way->label == "transposed";
    keys_transposed_ = steps.back().way->label == "transposed";
    // (batch * heads, queries, keys), or with heads apart where they are so the first time.
    scores_ = ShapeOf(steps.back().var);
    for (auto step = steps.rbegin(); step->part->name != "softmax"; ++step) {
      if (scores_.size() < 4 && ShapeOf(step->var).size() == 4) scores_ = ShapeOf(step->var);
      if (step->part->name == "score") steps_.push_back(*step);
    }
  }

  bool Write() {
    const std::vector<Dim> scores = scores_;
    if (const auto heads = HeadsBefore()) {
      scores_ = {heads->first, heads->second, scores[1], scores[2]};
      if (IsFaster() && Call()) return true;
      out_.clear();
      scores_ = scores;
    }
    if (scores_.size() == 2) scores_.insert(scores_.begin(), Dim(1));
    if (scores_.size() == 3) scores_.insert(scores_.begin() + 1, Dim(1));
    return IsFaster() && Call();
  }

 private:
  bool Fail(const char* reason) {
    *reason_ = reason;
    return false;
  }
  // From the root, of a part that is there.
  const Step& FirstStep(std::string_view part) const {
    return *std::ranges::find(place_.match.steps, part,
                              [](const Step& s) -> std::string_view { return s.part->name; });
  }
  // Of tensors.
  std::vector<Dim> ShapeOf(const Atom& a) const {
    return ir::AtomType(m_, a)->As<TensorType>()->shape;
  }
  // What a view gives other dims before the last two, where it has four, or nullopt.
  std::optional<Atom> FourDims(const Atom& view) const {
    const OpCall* call = place_.CallOf(view, "view");
    return call != nullptr && ShapeOf(call->args[0]).size() == 4 ? std::optional(call->args[0])
                                                                 : std::nullopt;
  }
  // Of matrices (batch * heads, x, y): the two, where an operand is a view of (batch, heads, x, y).
  std::optional<std::pair<Dim, Dim>> HeadsBefore() const {
    if (scores_.size() != 3) return std::nullopt;
    for (const Atom& a : {queries_, keys_, values_}) {
      const auto from = FourDims(a);
      if (!from) continue;
      const std::vector<Dim> dims = ShapeOf(*from);
      if (dims[0] * dims[1] == scores_[0]) return std::pair(dims[0], dims[1]);
    }
    return std::nullopt;
  }
  // Whether the one kernel is. Constant keys or values are weights, which products read packed; and
  // a single unit of work (kernels/codegen/contraction/attention.h) keeps one thread busy.
  bool IsFaster() {
    constexpr int64_t kUnit = 32;  // queries
    if (ir::AsVar(keys_) == nullptr || ir::AsVar(values_) == nullptr)
      return Fail("constant keys or values are weights, which products read packed");
    if ((scores_[0] * scores_[1]).is_const(1) && scores_[2].is_const() &&
        scores_[2].value() <= kUnit)
      return Fail("there are too few queries for more than one thread");
    return true;
  }

  // --- Operands ---

  // A tensor (batch * heads, x, y), or (x, y), as (batch, heads, x, y); nullopt where it is not
  // proved to be one.
  std::optional<Atom> WithHeads(const Atom& a) {
    const std::vector<Dim> shape = ShapeOf(a);
    const Dim &batch = scores_[0], &heads = scores_[1];
    const size_t rank = shape.size();
    if (rank == 4) return a;
    if (const auto from = FourDims(a)) {
      const std::vector<Dim> dims = ShapeOf(*from);
      if (dims[0] == batch && dims[1] == heads) return from;
    }
    if ((rank == 3 ? shape[0] : Dim(1)) != batch * heads) return std::nullopt;
    return View(a, {batch, heads, shape[rank - 2], shape[rank - 1]});
  }
  Atom View(const Atom& a, const std::vector<Dim>& shape) {
    const DType dtype = ir::AtomType(m_, a)->As<TensorType>()->dtype;
    const ir::Var* var = ir::MakeVar(m_, "", ir::MakeTensorType(shape, dtype), span_);
    return ir::BindingBuilder(m_, span_, out_).Reshape(a, ir::DimsOf(shape), var);
  }

  // The order of dims before a transposition, where they have this one after it.
  static std::string Before(const OpCall& transpose, const std::string& layout) {
    const auto given = transpose.attrs.OptionalInts("axes");
    const auto rank = static_cast<int64_t>(layout.size());
    std::string before = layout;
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t axis = given ? given->at(static_cast<size_t>(i)) : rank - 1 - i;
      before[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = layout[static_cast<size_t>(i)];
    }
    return before;
  }

  // Without the transpositions that made it.
  void SkipTransposes(Heads& heads) const {
    while (const OpCall* call = place_.CallOf(heads.atom, "transposed"))
      heads = {call->args[0], Before(*call, heads.layout)};
  }

  // What a repetition along the heads repeats so often, or null.
  const OpCall* RepeatOf(const Heads& heads) const {
    const OpCall* call = place_.CallOf(heads.atom, "repeated");
    if (call == nullptr || !call->attrs.OptionalInt("axis")) return nullptr;
    int64_t axis = *call->attrs.OptionalInt("axis");
    if (axis < 0) axis += 4;
    const bool is_head = static_cast<size_t>(axis) == heads.layout.find('H');
    return is_head && ShapeOf(call->args[0])[static_cast<size_t>(axis)].is_const() ? call : nullptr;
  }

  // Transposed matrices, (heads, x, y) or (batch, x, y), without their transposition.
  std::optional<Heads> TurnedMatrices(const Atom& a, bool is_turned) {
    const OpCall* call = place_.CallOf(a, "transposed");
    const std::vector<Dim> shape = ShapeOf(a);
    const bool is_batch_one = scores_[0].is_const(1);
    if (call == nullptr || shape.size() != 3 || (!is_batch_one && !scores_[1].is_const(1)) ||
        shape[0] != scores_[0] * scores_[1])
      return std::nullopt;
    const std::string before =
        Before(*call, (is_batch_one ? "H" : "B") + std::string(is_turned ? "DS" : "SD"));
    std::vector<Dim> dims = ShapeOf(call->args[0]);
    dims.insert(dims.begin(), Dim(1));
    return Heads{View(call->args[0], dims), (is_batch_one ? "B" : "H") + before};
  }

  std::optional<Heads> HeadsOf(const Atom& a, bool is_turned) {
    if (auto heads = TurnedMatrices(a, is_turned)) return heads;
    const std::optional<Atom> atom = WithHeads(a);
    if (!atom) return std::nullopt;
    Heads heads{*atom, is_turned ? "BHDS" : "BHSD"};
    SkipTransposes(heads);
    return heads;
  }
  // A dim by its letter.
  Dim DimOf(const Heads& heads, char letter) const {
    return ShapeOf(heads.atom)[heads.layout.find(letter)];
  }

  // Whether a step's operand is broadcast to the scores of rank 4; made so.
  bool Broadcasts(Atom& operand, const std::vector<Dim>& scores) {
    std::vector<Dim> dims = ShapeOf(operand);
    if (dims.size() > scores.size()) return false;
    if (dims.size() == 3 && scores.size() == 3 && !dims[0].is_const(1)) {
      // Not one number for each batch and head, of several heads.
      const bool is_matrix = dims[1] == scores[1] && dims[2] == scores[2];
      if (dims[0] != scores[0] || (!is_matrix && !scores_[1].is_const(1))) return false;
      const std::optional<Atom> atom = WithHeads(operand);
      if (!atom) return false;
      operand = *atom;
      dims = {scores_[0], scores_[1], dims[1], dims[2]};
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is_const(1)) continue;
      // The step gave the scores' own shape: it was equal, or is 1.
      if (Dim::ProvablyDifferent(dims[i], scores_[4 - dims.size() + i])) return false;
    }
    return true;
  }

  // --- The call ---

  // False, and nothing is to be replaced, where operands are not proved to be (batch, heads, x, y).
  bool Call() {
    // What follows the product has the type that attention has.
    const auto* product = FirstStep("product").value->As<OpCall>();
    for (const OpCall* call : place_.Calls()) {
      ir::KeepGuards(m_, *call, span_, out_);
      if (call == product) break;
    }
    auto queries = HeadsOf(queries_, false);
    auto keys = HeadsOf(keys_, !keys_transposed_);
    auto values = HeadsOf(values_, values_transposed_);
    if (!queries || !keys || !values)
      return Fail("operands are not proved to be (batch * heads, positions, elements)");
    Heads &q = *queries, &k = *keys, &v = *values;
    const OpCall* repeated_k = RepeatOf(k);
    const OpCall* repeated_v = RepeatOf(v);
    if (repeated_k != nullptr && repeated_v != nullptr &&
        repeated_k->attrs.Int("repeats") == repeated_v->attrs.Int("repeats") &&
        scores_[1].is_const()) {
      k.atom = repeated_k->args[0];
      v.atom = repeated_v->args[0];
      SkipTransposes(k);
      SkipTransposes(v);
    }
    if (!Agree(q, k, v))
      return Fail("the sizes of queries, keys and values are not proved to agree");
    AttentionForm form{q.layout, k.layout, v.layout, std::string(kLetters), ""};
    std::vector<Atom> args = {q.atom, k.atom, v.atom};
    for (const Step& step : steps_) {
      form.score += (form.score.empty() ? "" : " ") + step.way->label;
      for (Atom operand : step.Operands()) {
        if (!Broadcasts(operand, ShapeOf(step.var)))
          return Fail("an operand of the scores is not one for (batch, heads, queries, keys)");
        args.push_back(operand);
      }
    }
    return Bind(form, std::move(args), {scores_[0], scores_[1], scores_[2], DimOf(v, 'D')});
  }

  bool Agree(const Heads& q, const Heads& k, const Heads& v) const {
    const Dim shared = DimOf(k, 'H');
    const bool is_grouped = shared.is_const() && scores_[1].is_const() && shared.value() > 0 &&
                            scores_[1].value() % shared.value() == 0;
    // The number of keys and of values was compared where the program multiplied by values.
    return DimOf(q, 'B') == scores_[0] && DimOf(k, 'B') == scores_[0] &&
           DimOf(v, 'B') == scores_[0] && DimOf(q, 'H') == scores_[1] &&
           (shared == scores_[1] || is_grouped) && DimOf(v, 'H') == shared &&
           DimOf(q, 'S') == scores_[2] && DimOf(k, 'S') == scores_[3] &&
           !Dim::ProvablyDifferent(DimOf(v, 'S'), scores_[3]);
  }

  // Binds the root to (batch, heads, queries, elements), as the program has it.
  bool Bind(AttentionForm& form, std::vector<Atom> args, const std::vector<Dim>& shape) {
    const Step& first = place_.match.steps.front();
    const bool has_heads = first.part->name == "heads";
    if (has_heads) {
      if (const auto axes = first.variables.find("axes"); axes != first.variables.end()) {
        const auto& list = std::get<AttrList>(axes->second.value);
        for (size_t i = 0; i < 4; ++i) {
          const int64_t axis = std::get<Dim>(list[i].value).value();
          form.out[i] = kLetters[static_cast<size_t>(axis < 0 ? axis + 4 : axis)];
        }
      }
      const std::vector<Dim> parted = ShapeOf(FirstStep("view").var);
      if (parted[0] != shape[0] || parted[1] != shape[1])
        return Fail("the result is parted by other batches and heads");
    }
    const NamedCall call = AttentionCall(form);
    ir::BindingBuilder builder(m_, span_, out_);
    if (has_heads) {
      builder.BindCall(place_.root.var, call.op, std::move(args), call.attrs);
    } else {
      const ir::Var* heads = ir::MakeVar(m_, "", ir::MakeTensorType(shape, DType::kFloat32), span_);
      builder.BindCall(heads, call.op, std::move(args), call.attrs);
      builder.Reshape(heads, ir::DimsOf(ShapeOf(place_.root.var)), place_.root.var);
    }
    return true;
  }

  const ir::Module& m_;
  const Place& place_;
  std::vector<Binding>& out_;
  std::string* reason_;
  Atom queries_, keys_, values_;
  bool keys_transposed_ = false, values_transposed_ = false;  // (.., elements, positions)
  std::vector<Step> steps_;                                   // of the score, the first one first
  std::vector<Dim> scores_;                                   // (batch, heads, queries, keys)
  ir::Span span_;                                             // of the product with the values
};

}  // namespace

ir::Module FuseAttention(const ir::Module& m, Report* report) {
  const auto make = [](const Place& place, std::vector<Binding>& out, std::string* reason) {
    return Writer(place, out, reason).Write();
  };
  return ReplacePatterns(m, AttentionPatterns(), make, report);
}

}  // namespace relayvm::rules

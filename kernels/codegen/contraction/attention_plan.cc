// Recognises attention, and decides where things are in scratch.
#include "kernels/codegen/contraction/attention_plan.h"

#include <algorithm>
#include <unordered_set>

#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/rewriter.h"

namespace relayvm::codegen {
namespace {

using te::Expr;
using te::ExprKind;
using te::Tensor;

// The dims, or strides, of a tensor in the order "BHSD".
std::array<Dim, 4> DimsOf(const Tensor& t, const std::string& layout) {
  std::array<Dim, 4> dims;
  for (size_t i = 0; i < 4; ++i) dims[i] = t->shape[layout.find("BHSD"[i])];
  return dims;
}

HeadTensor HeadsOf(const Tensor& t, const std::string& layout) {
  HeadTensor out{t, {}};
  Dim stride = 1;
  for (size_t d = 4; d-- > 0; stride = stride * t->shape[d]) {
    out.strides[std::string_view("BHSD").find(layout[d])] = stride;
  }
  return out;
}

// Whether the expression, or a computation that it loads, reads memory of a rank above 0.
bool ReadsMemory(const Expr& e) {
  std::vector<Tensor> work;
  std::unordered_set<const te::TensorNode*> seen;
  const auto visit = [&](const Expr& root) {
    ForEachNode(root, [&](const te::ExprNode& node) {
      if (node.tensor && seen.insert(node.tensor.get()).second) work.push_back(node.tensor);
    });
  };
  visit(e);
  while (!work.empty()) {
    const Tensor t = work.back();
    work.pop_back();
    if (!t->is_placeholder()) {
      visit(t->body);
    } else if (t->rank() > 0) {
      return true;
    }
  }
  return false;
}

// Rows of scores take the place of panels in scratch.
void FitRows(AttentionDetail& d) {
  if (!d.value_size.is_const() || d.value_size.value() < 4 || d.value_size.value() % 4 != 0) return;
  if (!d.keys.strides[3].is_const(1) || !d.values.strides[3].is_const(1)) return;
  d.row_lanes = d.lanes;
  while (d.value_size.value() % d.row_lanes != 0) d.row_lanes /= 2;
  d.row_vectors = 4;
  while (d.value_size.value() / d.row_lanes % d.row_vectors != 0) --d.row_vectors;
  d.row_keys = kKeyBlock * d.panel / kRowsTogether;
}

bool Loads(const Expr& e, const Tensor& tensor) {
  bool found = false;
  ForEachNode(e, [&](const te::ExprNode& node) { found = found || node.tensor == tensor; });
  return found;
}

// Whether the operator computes an attention that this kernel can.
bool Suits(const KernelSpec& spec) {
  if (spec.outputs.size() != 1) return false;
  const te::TensorNode& out = *spec.outputs[0];
  if (out.hint != te::ScheduleHint::kAttention || !out.attention || out.hint_inputs.size() != 5) {
    return false;
  }
  const auto is_float32 = [](const auto& t) { return t->dtype == DType::kFloat32; };
  return HaveSizesOfMemory(out) && std::ranges::all_of(out.hint_inputs, is_float32) &&
         out.dtype == DType::kFloat32 && out.attention->layouts[3].ends_with('D') &&
         IsMemory(spec, out.hint_inputs[1]) && IsMemory(spec, out.hint_inputs[2]);
}

void SetTensors(const KernelSpec& spec, AttentionDetail& d) {
  const te::TensorNode& out = *spec.outputs[0];
  const auto& layouts = out.attention->layouts;
  d.queries = out.hint_inputs[0];
  d.query_layout = layouts[0];
  d.keys = HeadsOf(out.hint_inputs[1], layouts[1]);
  d.values = HeadsOf(out.hint_inputs[2], layouts[2]);
  d.result = HeadsOf(spec.outputs[0], layouts[3]);
  const std::array<Dim, 4> q = DimsOf(d.queries, layouts[0]), k = DimsOf(d.keys.tensor, layouts[1]);
  d.batch = q[0];
  d.heads = q[1];
  d.num_queries = q[2];
  d.key_size = q[3];
  d.num_keys = k[2];
  d.value_size = DimsOf(d.values.tensor, layouts[2])[3];
  if (q[1].is_const() && k[1].is_const() && k[1].value() > 0) d.group = q[1].value() / k[1].value();
}

// Scratch of a unit, by what is asked for.
class Scratch {
 public:
  explicit Scratch(int64_t panel) : panel_(panel) {}
  // Where so many rows of a panel's elements begin.
  Dim Reserve(const Dim& rows, int64_t bytes) {
    Dim at = size_;
    size_ = size_ + Dim::CeilDiv(rows * (panel_ * bytes), 64) * 64;
    return at;
  }
  const Dim& size() const { return size_; }

 private:
  int64_t panel_;
  Dim size_ = 0;
};

// What is made of a product's score, by blocks and by rows, with room for the tables of what it
// reads besides.
void SetScore(const te::TensorNode& out, AttentionDetail& d, Scratch& scratch) {
  const Tensor& product = out.hint_inputs[3];
  const te::TensorNode& score = *out.hint_inputs[4];
  d.axes = score.axes;
  d.first_key = te::MakeAxis("first_key", d.num_keys);
  d.first_query = te::MakeAxis("first_query", d.num_queries);
  d.product = te::Placeholder("product", {}, DType::kFloat32, -1);
  const Expr local_query = te::AxisValue(d.axes[2]) - te::AxisValue(d.first_query);
  const Expr local_key = te::AxisValue(d.axes[3]) - te::AxisValue(d.first_key);
  d.score =
      Rewriter([&](const Expr& e) -> Expr {
        // A choice between loads is filled in as one: what is not chosen may be no memory.
        if (e->kind == ExprKind::kSelect && Loads(e, product)) return nullptr;
        if (e->kind != ExprKind::kLoad && e->kind != ExprKind::kSelect) return nullptr;
        if (e->tensor == product) return te::Load(d.product, {});
        if (!MentionsAxis(e, d.axes[2]) || !MentionsAxis(e, d.axes[3]) || !ReadsMemory(e)) {
          return e;
        }
        AttentionDetail::Table table{e, nullptr, scratch.Reserve(kTableKeys, DTypeBytes(e->dtype))};
        table.local = te::Placeholder("table", {kTableKeys, d.panel}, e->dtype, -1);
        d.tables.push_back(table);
        return te::Load(table.local, {local_key, local_query});
      }).Rewrite(score.body);
  d.has_steps = d.score->kind != ExprKind::kLoad || d.score->tensor != d.product;

  d.row_score = Rewriter([&](const Expr& e) -> Expr {
                  if (e->kind != ExprKind::kLoad) return nullptr;
                  return e->tensor == product ? te::Load(d.product, {}) : e;
                }).Rewrite(score.body);
}

}  // namespace

std::optional<ContractionPlan> PlanAttention(const KernelSpec& spec,
                                             const ContractionTarget& target) {
  if (!Suits(spec)) return std::nullopt;
  auto detail = std::make_shared<AttentionDetail>();
  AttentionDetail& d = *detail;
  d.target = target;
  SetTensors(spec, d);
  d.lanes = static_cast<unsigned>(target.vector_bytes / sizeof(float));
  d.panel = 2 * int64_t{d.lanes};
  if (IsMemory(spec, d.queries) && d.query_layout.ends_with('D') && d.key_size.is_const() &&
      d.key_size.value() % d.lanes == 0) {
    d.query_rows = HeadsOf(d.queries, d.query_layout);
  }
  d.unit_panels = std::max<int64_t>(kUnitQueries / d.panel, 1);
  if (d.num_queries.is_const()) {
    const int64_t panels = (d.num_queries.value() + d.panel - 1) / d.panel;
    d.unit_panels = std::clamp<int64_t>(panels, 1, d.unit_panels);
    const int64_t rest = d.num_queries.value() % d.panel;
    d.has_narrow_panels = rest > 0 && rest <= d.lanes;
    d.has_whole_panels = d.num_queries.value() > d.lanes;
  }
  d.units = Dim::CeilDiv(d.num_queries, d.panel * d.unit_panels);

  const auto whole = [&](const Dim& rows) {
    return Dim::CeilDiv(rows, d.lanes) * int64_t{d.lanes};
  };
  constexpr int64_t kFloat = sizeof(float);
  constexpr auto kStates = static_cast<int64_t>(QueryState::kStates);
  Scratch scratch(d.panel);
  d.q_pitch = whole(d.key_size) * d.panel;
  d.o_pitch = whole(d.value_size) * d.panel;
  d.row_pitch = kStates * d.panel;
  SetScore(*spec.outputs[0], d, scratch);
  // Rows of tables may be of 8 bytes.
  int64_t bytes = kFloat;
  for (const AttentionDetail::Table& table : d.tables)
    bytes = std::max<int64_t>(bytes, DTypeBytes(table.value->dtype));
  d.q_offset = scratch.Reserve(whole(d.key_size) * d.unit_panels, kFloat);
  d.s_offset = scratch.Reserve(Dim::Max(kTableKeys, whole(d.key_size)), bytes);
  d.o_offset = scratch.Reserve(whole(d.value_size) * d.unit_panels, kFloat);
  d.row_offset = scratch.Reserve(kStates * d.unit_panels, kFloat);
  const bool are_rows = d.values.strides[3].is_const(1) && d.values.strides[2] != d.value_size;
  d.copies_values = are_rows && d.unit_panels > 1;
  if (d.copies_values)
    d.v_offset = scratch.Reserve(Dim::CeilDiv(whole(d.value_size) * kTableKeys, d.panel), kFloat);
  FitRows(d);

  ContractionPlan plan;
  plan.scratch_bytes = scratch.size();
  plan.parallel_extent = d.batch * d.heads * d.units;
  // Work of a unit in multiply-adds, with what reading keys and values costs.
  const Dim work = Dim::Max(1, (Dim::Min(d.num_queries, d.panel * d.unit_panels) + 8) * d.num_keys *
                                   (d.key_size + d.value_size + 16));
  plan.grain = Dim::Max(1, Dim::CeilDiv(kTaskWork, work));
  plan.attention = std::move(detail);
  return plan;
}

}  // namespace relayvm::codegen

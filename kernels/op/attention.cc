// nn.attention: softmax(score(q . k)) . v, as one operator.
//
// Written by the compiler where a program spells attention out
// (compiler/rules/fuse_attention.h); TVM has no such operator. Arguments: queries,
// keys, values, then what the steps of the score read.
//   q_layout ...  the order of the dims: B batch, H heads, S positions, D elements of a head. Keys
//                 and values may have fewer heads than queries: each serves as many in a row.
//   score         the steps from a product q . k to its score, in order, separated by spaces:
//                 add, subtract, multiply, divide   with the next argument, on the right
//                 where                             next ? score : the one after
//                 where_not                         next ? the one after : score
//                 tanh
//                 Their arguments are broadcast to (batch, heads, queries, keys).
// Tested by attention_test.cc.
#include "kernels/op/attention.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/nn_helpers.h"

namespace relayvm {
namespace {

using nn::Indices;
using te::Expr;
using te::Tensor;

// A step of a score: its arguments besides the score.
struct ScoreStep {
  std::string_view name;
  size_t args;
  bool has_condition;  // the first of them is bool
};
constexpr ScoreStep kScoreSteps[] = {
    {"add", 1, false},  {"subtract", 1, false}, {"multiply", 1, false}, {"divide", 1, false},
    {"where", 2, true}, {"where_not", 2, true}, {"tanh", 0, false}};

Result<std::vector<ScoreStep>> StepsOf(const Attrs& attrs) {
  constexpr size_t kMostSteps = 64;
  std::vector<ScoreStep> steps;
  std::string_view text = attrs.String("score");
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    const auto* step = std::ranges::find(kScoreSteps, name, &ScoreStep::name);
    if (step == std::end(kScoreSteps)) {
      return Invalid(
          "score: expected add, subtract, multiply, divide, where, where_not or tanh, "
          "found \"{}\"",
          name);
    }
    if (steps.size() == kMostSteps) return Invalid("score: more than {} steps", kMostSteps);
    steps.push_back(*step);
  }
  return steps;
}

// Where each of `letters` stands in a layout.
Result<std::vector<size_t>> PlacesIn(const Attrs& attrs, std::string_view attr) {
  const std::string& layout = attrs.String(attr);
  std::vector<size_t> places;
  for (char letter : std::string_view("BHSD")) places.push_back(layout.find(letter));
  if (layout.size() != 4 || std::ranges::count(places, std::string::npos) > 0) {
    return Invalid("{}: expected the letters B, H, S and D in some order, found \"{}\"", attr,
                   layout);
  }
  return places;
}

// `dims` (batch, heads, positions, elements) in the order of a layout.
template <typename T>
std::vector<T> Arrange(const std::vector<T>& dims, const std::vector<size_t>& places) {
  std::vector<T> out(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) out[places[i]] = dims[i];
  return out;
}

Result<OpResult> InferAttention(TypeContext& tc) {
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<ScoreStep> steps, StepsOf(tc.attrs()));
  size_t args = 3;
  for (const ScoreStep& step : steps) args += step.args;
  if (tc.num_args() != args) {
    return Invalid("expected {} arguments (three and those of the score), found {}", args,
                   tc.num_args());
  }
  constexpr std::string_view kNames[] = {"queries", "keys", "values"};
  constexpr std::string_view kLayouts[] = {"q_layout", "k_layout", "v_layout"};
  const DType dtype = tc.tensor(0).dtype;
  if (!IsFloat(dtype)) return Invalid("queries: expected floats, found {}", DTypeName(dtype));
  std::vector<Dim> dims[3];
  for (size_t i = 0; i < 3; ++i) {
    RELAYVM_RETURN_IF_ERROR(RequireRank(tc.tensor(i), 4, kNames[i]));
    RELAYVM_RETURN_IF_ERROR(
        nn::RequireSameDType(dtype, tc.tensor(i).dtype, "the dtypes of queries, keys and values"));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<size_t> places, PlacesIn(tc.attrs(), kLayouts[i]));
    for (size_t place : places) dims[i].push_back(tc.tensor(i).shape[place]);
  }
  auto& [q, k, v] = dims;
  for (const auto& other : {k, v}) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(q[0], other[0], "the batches of queries and keys"));
  }
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(k[1], v[1], "the heads of keys and values"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(k[2], v[2], "the lengths of keys and values"));
  RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(q[3], k[3], "the sizes of queries and keys"));
  if (!q[1].is_const() || !k[1].is_const()) {
    RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(q[1], k[1], "the heads of queries and keys"));
  } else if (k[1].value() < 1 ? q[1].value() != k[1].value() : q[1].value() % k[1].value() != 0) {
    return Invalid("the heads of queries, {}, are no multiple of those of keys, {}", q[1].value(),
                   k[1].value());
  }
  const std::vector<Dim> scores = {q[0], q[1], q[2], k[2]};
  size_t at = 3;
  for (const ScoreStep& step : steps) {
    for (size_t i = 0; i < step.args; ++i, ++at) {
      const TensorType& t = tc.tensor(at);
      const DType expected = step.has_condition && i == 0 ? DType::kBool : dtype;
      RELAYVM_RETURN_IF_ERROR(
          nn::RequireSameDType(expected, t.dtype, "the dtypes of a score and of its step"));
      if (t.shape.size() > 4) return Invalid("a step of the score has rank {}", t.shape.size());
      for (size_t d = 0; d < t.shape.size(); ++d) {
        const Dim& score = scores[4 - t.shape.size() + d];
        constexpr std::string_view kWhat = "the shapes of scores and of their step";
        RELAYVM_ASSIGN_OR_RETURN(const Dim both, tc.Broadcast(t.shape[d], score, kWhat));
        RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(both, score, kWhat));
      }
    }
  }
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<size_t> out, PlacesIn(tc.attrs(), "out_layout"));
  return OpResult(TensorType{Arrange(std::vector<Dim>{q[0], q[1], q[2], v[3]}, out), dtype});
}

Expr Apply(const ScoreStep& step, Expr score, const Expr* args) {
  if (step.name == "tanh") return te::Unary(te::UnaryOp::kTanh, std::move(score));
  if (step.name == "where") return te::Select(args[0], std::move(score), args[1]);
  if (step.name == "where_not") return te::Select(args[0], args[1], std::move(score));
  const te::BinaryOp op = step.name == "add"        ? te::BinaryOp::kAdd
                          : step.name == "subtract" ? te::BinaryOp::kSubtract
                          : step.name == "multiply" ? te::BinaryOp::kMultiply
                                                    : te::BinaryOp::kDivide;
  return te::Binary(op, std::move(score), args[0]);
}

// t at the last of `at`, 0 where its extent is 1; `shape` is that of the scores. Where only running
// tells whether an extent is 1, it is asked.
Expr LoadBroadcast(const Tensor& t, const Indices& at, const std::vector<Dim>& shape) {
  const size_t skip = shape.size() - t->shape.size();
  Indices indices(at.begin() + static_cast<ptrdiff_t>(skip), at.end());
  const std::function<Expr(size_t)> from = [&](size_t d) -> Expr {
    if (d == indices.size()) return te::Load(t, indices);
    const Dim& extent = t->shape[d];
    if (extent == shape[skip + d]) return from(d + 1);
    Expr all = extent.is_const(1) ? nullptr : from(d + 1);
    const Expr index = std::exchange(indices[d], Int(0));
    Expr one = from(d + 1);
    indices[d] = index;
    if (!all) return one;
    return te::Select(te::DimValue(extent) == Int(1), std::move(one), std::move(all));
  };
  return from(0);
}

std::vector<Tensor> ComputeAttention(const ComputeContext& c) {
  std::vector<size_t> places[4];
  constexpr std::string_view kLayouts[] = {"q_layout", "k_layout", "v_layout", "out_layout"};
  for (size_t i = 0; i < 4; ++i) places[i] = *PlacesIn(c.attrs, kLayouts[i]);
  const auto dim = [&](size_t arg, size_t i) { return c.inputs[arg]->shape[places[arg][i]]; };
  const Dim batch = dim(0, 0), heads = dim(0, 1), queries = dim(0, 2), keys = dim(1, 2);
  const auto shared_head = [&](const Expr& head) {
    if (dim(1, 1) == heads) return head;
    const Dim shared = dim(1, 1);
    if (!shared.is_const() || !heads.is_const() || shared.value() < 1) return head;
    return FloorDivExpr(head, Int(heads.value() / shared.value()));
  };
  const auto load = [&](size_t arg, const std::vector<Expr>& at) {
    return te::Load(c.inputs[arg], Arrange(at, places[arg]));
  };
  const DType dtype = c.outputs[0].dtype;
  const std::vector<Dim> rows = {batch, heads, queries};
  std::vector<Dim> shape = rows;
  shape.push_back(keys);

  const Tensor product = te::Compute("attention_product", shape, [&](const Indices& i) {
    const te::Axis d = te::MakeAxis("d", dim(0, 3));
    const Expr at = te::AxisValue(d);
    return te::Reduce(
        te::ReduceKind::kSum,
        load(0, {i[0], i[1], i[2], at}) * load(1, {i[0], shared_head(i[1]), i[3], at}), {d}, dtype);
  });
  const std::vector<ScoreStep> steps = *StepsOf(c.attrs);
  const Tensor score = te::Compute("attention_score", shape, [&](const Indices& i) {
    Expr value = te::Load(product, i);
    size_t arg = 3;
    for (const ScoreStep& step : steps) {
      std::vector<Expr> args;
      for (size_t a = 0; a < step.args; ++a)
        args.push_back(LoadBroadcast(c.inputs[arg++], i, shape));
      value = Apply(step, std::move(value), args.data());
    }
    return value;
  });
  const auto over_keys = [&](const char* name, te::ReduceKind kind, const Tensor& of) {
    return te::Compute(name, rows, [&](const Indices& i) {
      const te::Axis n = te::MakeAxis("n", keys);
      return te::Reduce(kind, te::Load(of, {i[0], i[1], i[2], te::AxisValue(n)}), {n}, dtype);
    });
  };
  const Tensor max = over_keys("attention_max", te::ReduceKind::kMax, score);
  const Tensor weight = te::Compute("attention_weight", shape, [&](const Indices& i) {
    return nn::SoftmaxExp(te::Load(score, i) - te::Load(max, {i[0], i[1], i[2]}));
  });
  const Tensor sum = over_keys("attention_sum", te::ReduceKind::kSum, weight);
  const Tensor out = te::Compute("attention", c.outputs[0].shape, [&](const Indices& at) {
    std::vector<Expr> i;
    for (size_t place : places[3]) i.push_back(at[place]);
    const te::Axis n = te::MakeAxis("n", keys);
    const Expr key = te::AxisValue(n);
    const Expr share =
        nn::Divide(te::Load(weight, {i[0], i[1], i[2], key}), te::Load(sum, {i[0], i[1], i[2]}));
    return te::Reduce(te::ReduceKind::kSum, share * load(2, {i[0], shared_head(i[1]), key, i[3]}),
                      {n}, dtype);
  });
  auto hinted = std::make_shared<te::TensorNode>(*out);
  hinted->hint = te::ScheduleHint::kAttention;
  hinted->hint_inputs = {c.inputs[0], c.inputs[1], c.inputs[2], product, score};
  auto hint = std::make_shared<te::AttentionHint>();
  for (size_t i = 0; i < 4; ++i) hint->layouts[i] = c.attrs.String(kLayouts[i]);
  hinted->attention = std::move(hint);
  return {hinted};
}

constexpr std::string_view kName = "nn.attention";

}  // namespace

NamedCall AttentionCall(const AttentionForm& form) {
  NamedCall call{kName, {}};
  call.attrs.Set("q_layout", form.queries);
  call.attrs.Set("k_layout", form.keys);
  call.attrs.Set("v_layout", form.values);
  call.attrs.Set("out_layout", form.out);
  call.attrs.Set("score", form.score);
  return call;
}

void DefineAttention(OpTable& table) {
  OpDef op;
  op.name = kName;
  op.num_args = -1;
  for (std::string_view name : {"q_layout", "k_layout", "v_layout", "out_layout"}) {
    op.attrs.push_back({name, AttrKind::kString, false, "BHSD"});
  }
  op.attrs.push_back({"score", AttrKind::kString, false, ""});
  op.fusion = FusionClass::kOutElementwise;
  // A block of queries is packed, and a score's step reads each element once for each head: both
  // may be computed on the way. Keys and values are read many times.
  op.computes_arg = [](size_t arg) { return arg == 0 || arg >= 3; };
  op.infer = InferAttention;
  op.compute = ComputeAttention;
  table.Add(std::move(op));
}

}  // namespace relayvm

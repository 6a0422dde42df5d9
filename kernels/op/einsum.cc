// einsum: sums of products over labelled axes, as numpy defines it. Labels may repeat within an
// operand (a diagonal),
// "..." stands for broadcast axes, and without "->" the result has the labels that occur once, in
// alphabetical order.
#include <algorithm>
#include <cctype>
#include <map>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

using te::Expr;

// The labels of one operand: a letter an axis. The axes that "..." covers get the codes kEllipsis +
// n, the last axis n = 0.
constexpr int kEllipsis = 256;

struct Equation {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

// `text` is "ij...k"; `rank` is the operand's, or -1 for the result, whose ellipsis then covers
// `ellipsis` axes.
Result<std::vector<int>> ParseLabels(std::string_view text, int rank, int ellipsis) {
  std::vector<int> labels;
  int letters = 0;
  for (char c : text) letters += std::isalpha(static_cast<unsigned char>(c)) ? 1 : 0;
  bool seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (std::isalpha(static_cast<unsigned char>(c))) {
      labels.push_back(c);
    } else if (text.substr(i, 3) == "..." && !seen) {
      seen = true;
      int covered = rank >= 0 ? rank - letters : ellipsis;
      for (int n = covered; n-- > 0;) labels.push_back(kEllipsis + n);
      i += 2;
    } else {
      return Invalid("equation: unexpected '{}' in \"{}\"", c, text);
    }
  }
  if (rank >= 0 && static_cast<int>(labels.size()) != rank) {
    return Invalid("equation: \"{}\" does not fit an operand of rank {}", text, rank);
  }
  return labels;
}

Result<Equation> ParseEquation(const std::string& given, const std::vector<int>& ranks) {
  std::string text;
  for (char c : given) {
    if (c != ' ') text += c;
  }
  size_t arrow = text.find("->");
  std::string inputs = text.substr(0, arrow);
  Equation equation;
  int ellipsis = 0;
  size_t begin = 0;
  while (true) {
    size_t end = std::min(inputs.find(',', begin), inputs.size());
    size_t n = equation.operands.size();
    if (n >= ranks.size()) break;
    RELAYVM_ASSIGN_OR_RETURN(
        std::vector<int> labels,
        ParseLabels(std::string_view(inputs).substr(begin, end - begin), ranks[n], 0));
    for (int label : labels) ellipsis = std::max(ellipsis, label - kEllipsis + 1);
    equation.operands.push_back(std::move(labels));
    begin = end + 1;
    if (end == inputs.size()) break;
  }
  auto commas = static_cast<size_t>(std::count(inputs.begin(), inputs.end(), ','));
  if (commas + 1 != ranks.size()) {
    return Invalid("equation \"{}\" has {} operands, the call {}", given, commas + 1, ranks.size());
  }
  std::map<int, int> uses;
  for (const auto& labels : equation.operands) {
    for (int label : labels) ++uses[label];
  }
  if (arrow != std::string::npos) {
    RELAYVM_ASSIGN_OR_RETURN(equation.result,
                             ParseLabels(std::string_view(text).substr(arrow + 2), -1, ellipsis));
    for (int label : equation.result) {
      bool twice = std::count(equation.result.begin(), equation.result.end(), label) > 1;
      if (!uses.contains(label) || twice) {
        return Invalid("equation \"{}\": the result has label {} {}", given,
                       static_cast<char>(label), twice ? "twice" : "that no operand has");
      }
    }
    return equation;
  }
  for (int n = ellipsis; n-- > 0;) equation.result.push_back(kEllipsis + n);
  for (const auto& [label, count] : uses) {
    if (label < kEllipsis && count == 1) equation.result.push_back(label);
  }
  return equation;
}

// What dims broadcast to, given that they do: those that are not 1 are equal.
Dim BroadcastOf(const std::vector<Dim>& dims) {
  std::vector<Dim> others;  // than the constant 1, each once
  for (const Dim& d : dims) {
    if (d.is_const(1) || std::find(others.begin(), others.end(), d) != others.end()) continue;
    if (d.is_const()) return d;
    others.push_back(d);
  }
  if (others.empty()) return 1;
  if (others.size() == 1) return others[0];
  // The largest is the extent, but 1 with 0 is 0: nothing may be read of an operand that is empty.
  Dim largest = others[0];
  Dim smallest = Dim::Min(1, others[0]);
  for (const Dim& d : others) {
    largest = Dim::Max(largest, d);
    smallest = Dim::Min(smallest, d);
  }
  return largest * smallest;
}

// The extent of each label.
std::map<int, Dim> LabelDims(const Equation& equation,
                             const std::vector<std::vector<Dim>>& shapes) {
  std::map<int, std::vector<Dim>> all;
  for (size_t n = 0; n < shapes.size(); ++n) {
    for (size_t i = 0; i < shapes[n].size(); ++i) {
      all[equation.operands[n][i]].push_back(shapes[n][i]);
    }
  }
  std::map<int, Dim> dims;
  for (const auto& [label, of_label] : all) dims[label] = BroadcastOf(of_label);
  return dims;
}

std::vector<int> Ranks(const std::vector<TensorType>& types) {
  std::vector<int> ranks;
  for (const TensorType& t : types) ranks.push_back(t.rank());
  return ranks;
}

Result<OpResult> InferEinsum(TypeContext& ctx) {
  const std::vector<TensorType>& fields = ctx.arg(0).tensors;
  RELAYVM_RETURN_IF_ERROR(RequireNumber(fields[0], "operands"));
  for (const TensorType& t : fields) RELAYVM_RETURN_IF_ERROR(RequireSameDType(fields[0], t));
  RELAYVM_ASSIGN_OR_RETURN(Equation equation,
                           ParseEquation(ctx.attrs().String("equation"), Ranks(fields)));
  std::map<int, Dim> dims;
  for (size_t n = 0; n < fields.size(); ++n) {
    for (size_t i = 0; i < fields[n].shape.size(); ++i) {
      const Dim& d = fields[n].shape[i];
      auto [it, added] = dims.try_emplace(equation.operands[n][i], d);
      if (added) continue;
      RELAYVM_ASSIGN_OR_RETURN(it->second, ctx.Broadcast(it->second, d, "dims of one label"));
    }
  }
  TensorType out{{}, fields[0].dtype};
  for (int label : equation.result) out.shape.push_back(dims.at(label));
  return OpResult(std::move(out));
}

std::vector<te::Tensor> ComputeEinsum(const ComputeContext& ctx) {
  std::vector<int> ranks;
  std::vector<std::vector<Dim>> shapes;
  for (const te::Tensor& t : ctx.inputs) {
    ranks.push_back(t->rank());
    shapes.push_back(t->shape);
  }
  Equation equation = *ParseEquation(ctx.attrs.String("equation"), ranks);
  std::map<int, Dim> dims = LabelDims(equation, shapes);
  const std::vector<Dim>& out = ctx.outputs[0].shape;
  for (size_t k = 0; k < out.size(); ++k) dims[equation.result[k]] = out[k];
  return {te::Compute("einsum", out, [&](const ExprList& i) {
    std::map<int, Expr> index;
    for (size_t k = 0; k < i.size(); ++k) index[equation.result[k]] = i[k];
    std::vector<te::Axis> reduced;
    for (const auto& [label, extent] : dims) {
      if (index.contains(label)) continue;
      reduced.push_back(te::MakeAxis("k" + std::to_string(reduced.size()), extent));
      index[label] = te::AxisValue(reduced.back());
    }
    Expr product;
    for (size_t n = 0; n < ctx.inputs.size(); ++n) {
      ExprList at;
      std::vector<Dim> extents;
      for (int label : equation.operands[n]) {
        at.push_back(index.at(label));
        extents.push_back(dims.at(label));
      }
      Expr value = LoadBroadcast(ctx.inputs[n], extents, at);
      product = product ? product * value : value;
    }
    if (reduced.empty()) return product;
    return te::Reduce(te::ReduceKind::kSum, product, std::move(reduced), product->dtype);
  })};
}

}  // namespace

void DefineEinsum(OpTable& table) {
  OpDef def;
  def.name = "einsum";
  def.tuple_args = {0};
  def.attrs = {Required("equation", AttrKind::kString)};
  def.fusion = FusionClass::kReduction;
  def.infer = InferEinsum;
  def.compute = ComputeEinsum;
  table.Add(std::move(def));
}

}  // namespace relayvm

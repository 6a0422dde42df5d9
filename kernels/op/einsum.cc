// einsum: sums of products over labelled axes, as numpy defines it. Labels may repeat within an
// operand (a diagonal),
// "..." stands for broadcast axes, and without "->" the result has the labels that occur once, in
// alphabetical order. Of floats it becomes products of matrices, pair by pair.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

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

// --- As products of pairs ---

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::ranges::count(labels, label) > 0; }

// What products of pairs of operands are, told by labels alone.
class Pairs {
 public:
  struct Groups {
    Labels batch, rows, columns, summed;
    bool has_own_sums = false;  // a label that one of the two has, and nothing else needs

    // Each has labels of its own, and they share some that nothing else needs.
    bool IsMatrixProduct() const {
      return !rows.empty() && !columns.empty() && !summed.empty() && !has_own_sums;
    }
    // How the matrices must lie, so that they are read as they are.
    bool IsPlain(const Labels& a) const { return a == Join({batch, rows, summed}); }
    bool IsFlipped(const Labels& a) const { return a == Join({batch, summed, rows}); }
  };

  Pairs(std::vector<Labels> operands, const Labels& result, const std::map<int, Dim>& dims)
      : operands_(std::move(operands)), result_(result), dims_(dims) {}

  Groups GroupsOf(size_t first, size_t second) const {
    const Labels &a = operands_[first], &b = operands_[second];
    Groups g;
    for (int label : a) {
      const bool needed = IsNeeded(label, first, second);
      if (Has(b, label)) {
        (needed ? g.batch : g.summed).push_back(label);
      } else {
        g.rows.push_back(label);
        g.has_own_sums = g.has_own_sums || !needed;
      }
    }
    for (int label : b) {
      if (Has(a, label)) continue;
      g.columns.push_back(label);
      g.has_own_sums = g.has_own_sums || !IsNeeded(label, first, second);
    }
    return g;
  }

  // The labels of the product: of what is no product of matrices in an order that suits the others,
  // so that what comes next reads it as it is.
  Labels LabelsOf(size_t first, size_t second) const {
    const Groups g = GroupsOf(first, second);
    if (g.IsMatrixProduct()) return Join({g.batch, g.rows, g.columns});
    Labels shared, own, summed;
    const auto take = [&](const Labels& from) {
      for (int label : from) {
        if (Has(shared, label) || Has(own, label) || Has(summed, label)) continue;
        if (!Has(operands_[first], label) && !Has(operands_[second], label)) continue;
        const bool others = IsOfOthers(label, first, second);
        (!others ? own : Has(result_, label) ? shared : summed).push_back(label);
      }
    };
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (i != first && i != second) take(operands_[i]);
    }
    take(result_);
    return first == 0 ? Join({shared, own, summed}) : Join({shared, summed, own});
  }

  // The pair with which the least is computed, in all: of a few operands; of many the one that
  // costs least itself. (The best order of all is dear to find; numpy's "greedy" is like this one.)
  std::pair<size_t, size_t> Best() const {
    std::pair<size_t, size_t> best = {0, 1};
    Search(operands_.size() <= kFew, &best);
    return best;
  }

  static Labels Join(std::initializer_list<Labels> parts) {
    Labels all;
    for (const Labels& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

 private:
  static constexpr size_t kFew = 5;
  // What an element costs that is moved, or is multiplied outside of a product of matrices, or is
  // written; as multiplications within one.
  static constexpr double kMove = 16, kSingle = 10, kWrite = 4;

  double SizeOf(const Labels& labels) const {
    constexpr double kOpen = 64;
    double size = 1;
    for (int label : labels) {
      const Dim& d = dims_.at(label);
      size *= d.is_const() ? static_cast<double>(d.value()) : kOpen;
    }
    return size;
  }

  bool IsOfOthers(int label, size_t first, size_t second) const {
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (i != first && i != second && Has(operands_[i], label)) return true;
    }
    return false;
  }
  bool IsNeeded(int label, size_t first, size_t second) const {
    return Has(result_, label) || IsOfOthers(label, first, second);
  }

  double CostOf(size_t first, size_t second) const {
    const Groups g = GroupsOf(first, second);
    const double all = SizeOf(Join({g.batch, g.rows, g.columns, g.summed}));
    const double written = kWrite * SizeOf(LabelsOf(first, second));
    if (!g.IsMatrixProduct()) return kSingle * all + written;
    const Groups flipped = {g.batch, g.columns, g.rows, g.summed};
    const Labels &a = operands_[first], &b = operands_[second];
    const bool a_fits = g.IsPlain(a) || g.IsFlipped(a);
    const bool b_fits = flipped.IsPlain(b) || flipped.IsFlipped(b);
    return all + written + (a_fits ? 0 : kMove * SizeOf(a)) + (b_fits ? 0 : kMove * SizeOf(b));
  }

  Pairs After(size_t first, size_t second) const {
    Pairs next = *this;
    next.operands_[first] = LabelsOf(first, second);
    next.operands_.erase(next.operands_.begin() + static_cast<ptrdiff_t>(second));
    return next;
  }

  // The cost of the best order, from its first pair on.
  double Search(bool to_the_end, std::pair<size_t, size_t>* best = nullptr) const {
    if (operands_.size() == 1) return operands_[0] == result_ ? 0 : kMove * SizeOf(operands_[0]);
    double least = HUGE_VAL;
    for (size_t i = 0; i < operands_.size(); ++i) {
      for (size_t k = i + 1; k < operands_.size(); ++k) {
        const double cost = CostOf(i, k) + (to_the_end ? After(i, k).Search(true) : 0);
        if (cost >= least) continue;
        least = cost;
        if (best != nullptr) *best = {i, k};
      }
    }
    return least;
  }

  std::vector<Labels> operands_;
  Labels result_;
  std::map<int, Dim> dims_;
};

// Writes products of two operands, over labels that the others or the result need and those that
// they alone have, until one is left.
class PairwiseProduct {
 public:
  PairwiseProduct(CallWriter& writer, std::map<int, Dim> dims, Labels result)
      : w_(writer), dims_(std::move(dims)), result_(std::move(result)) {}

  // Operand number `field` of the call.
  void Add(size_t field, const std::vector<Dim>& shape, Labels labels) {
    std::vector<Dim> whole;
    for (int label : labels) whole.push_back(dims_.at(label));
    is_whole_.push_back(whole == shape);
    operands_.push_back({field, std::move(labels)});
  }

  CallWriter::Value Run() {
    for (size_t n = 0; n < operands_.size(); ++n) {
      Operand& x = operands_[n];
      x.value = w_.Field(0, n);
      if (is_whole_[n]) continue;
      // Open dims of one label, of which one may be 1.
      AttrList shape;
      for (int label : x.labels) shape.emplace_back(dims_.at(label));
      Attrs attrs;
      attrs.Set("shape", AttrValue(std::move(shape)));
      x.value = w_.Call("broadcast_to", {x.value}, attrs);
    }
    while (operands_.size() > 1) {
      const auto [first, second] = PairsNow().Best();
      const Operand product = Product(first, second);
      operands_.erase(operands_.begin() + static_cast<ptrdiff_t>(second));
      operands_[first] = product;
    }
    return Einsum({operands_[0]}, result_).value;
  }

  // Whether the two are a product of matrices.
  bool IsMatrixProduct(size_t first, size_t second) const {
    return PairsNow().GroupsOf(first, second).IsMatrixProduct();
  }

 private:
  struct Operand {
    CallWriter::Value value;
    Labels labels;
  };

  Pairs PairsNow() const {
    std::vector<Labels> labels;
    for (const Operand& x : operands_) labels.push_back(x.labels);
    return {std::move(labels), result_, dims_};
  }

  Dim Product(const Labels& labels) const {
    Dim product(1);
    for (int label : labels) product = product * dims_.at(label);
    return product;
  }

  Operand Transposed(const Operand& x, const Labels& order) {
    if (x.labels == order) return x;
    std::vector<int64_t> axes;
    for (int label : order) axes.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
    return {w_.Transpose(x.value, axes), order};
  }

  Operand Product(size_t first, size_t second) {
    const Pairs pairs = PairsNow();
    const Pairs::Groups g = pairs.GroupsOf(first, second);
    const Labels labels = pairs.LabelsOf(first, second);
    if (!g.IsMatrixProduct()) return Einsum({operands_[first], operands_[second]}, labels);
    const bool flip_a = g.IsFlipped(operands_[first].labels);
    const bool flip_b = operands_[second].labels != Pairs::Join({g.batch, g.summed, g.columns});
    const auto matrix = [&](size_t i, const Labels& outer, const Labels& inner) {
      const Operand x = Transposed(operands_[i], Pairs::Join({g.batch, outer, inner}));
      if (outer.size() == 1 && inner.size() == 1 && g.batch.size() <= 1) return x.value;
      AttrList shape{Product(outer), Product(inner)};
      if (!g.batch.empty()) shape.insert(shape.begin(), Product(g.batch));
      return w_.Reshape(x.value, std::move(shape));
    };
    const auto a = flip_a ? matrix(first, g.summed, g.rows) : matrix(first, g.rows, g.summed);
    const auto b =
        flip_b ? matrix(second, g.columns, g.summed) : matrix(second, g.summed, g.columns);
    Attrs attrs;
    attrs.Set("transpose_a", flip_a);
    attrs.Set("transpose_b", flip_b);
    CallWriter::Value product =
        w_.Call(g.batch.empty() ? "nn.matmul" : "nn.batch_matmul", {a, b}, attrs);
    if (labels.size() != (g.batch.empty() ? 2u : 3u)) {
      AttrList shape;
      for (int label : labels) shape.emplace_back(dims_.at(label));
      product = w_.Reshape(product, std::move(shape));
    }
    return {product, labels};
  }

  // What is no product of matrices, by the operator itself; a mere change of order as a
  // transposition.
  Operand Einsum(const std::vector<Operand>& of, const Labels& kept) {
    if (of.size() == 1 && std::ranges::is_permutation(of[0].labels, kept))
      return Transposed(of[0], kept);
    std::map<int, char> letters;
    const auto text = [&](const Labels& labels) {
      std::string out;
      for (int label : labels) {
        const auto next = static_cast<char>((letters.size() < 26 ? 'a' : 'A' - 26) +
                                            static_cast<int>(letters.size()));
        out += letters.try_emplace(label, next).first->second;
      }
      return out;
    };
    std::string equation;
    std::vector<CallWriter::Value> fields;
    for (const Operand& x : of) {
      equation += (fields.empty() ? "" : ",") + text(x.labels);
      fields.push_back(x.value);
    }
    equation += "->" + text(kept);
    Attrs attrs;
    attrs.Set("equation", equation);
    return {w_.Call("einsum", {w_.Tuple(fields)}, attrs), kept};
  }

  CallWriter& w_;
  std::map<int, Dim> dims_;
  Labels result_;
  std::vector<Operand> operands_;
  std::vector<bool> is_whole_;  // by operand: it has each label's whole extent
};

// Of floats, without diagonals and dims that are known to be broadcast.
std::optional<std::vector<CallWriter::Value>> DecomposeEinsum(CallWriter& writer) {
  const std::vector<TensorType> types = writer.tensors(0);
  const DType dtype = types[0].dtype;
  if (types.size() < 2 || (dtype != DType::kFloat32 && dtype != DType::kFloat64))
    return std::nullopt;
  const auto equation = ParseEquation(writer.attrs().String("equation"), Ranks(types));
  if (!equation.ok()) return std::nullopt;
  std::vector<std::vector<Dim>> shapes;
  for (size_t n = 0; n < types.size(); ++n) {
    shapes.push_back(types[n].shape);
    const Labels& labels = equation->operands[n];
    for (int label : labels) {
      if (std::ranges::count(labels, label) > 1) return std::nullopt;
    }
  }
  std::map<int, Dim> dims = LabelDims(*equation, shapes);
  for (size_t n = 0; n < types.size(); ++n) {
    for (size_t i = 0; i < shapes[n].size(); ++i) {
      // What is known to be broadcast is read where it is, not made whole.
      if (shapes[n][i].is_const(1) && !dims.at(equation->operands[n][i]).is_const(1))
        return std::nullopt;
    }
  }
  constexpr size_t kLetters = 52;
  if (dims.size() > kLetters) return std::nullopt;
  PairwiseProduct product(writer, std::move(dims), equation->result);
  for (size_t n = 0; n < types.size(); ++n) product.Add(n, types[n].shape, equation->operands[n]);
  if (types.size() == 2 && !product.IsMatrixProduct(0, 1)) return std::nullopt;
  return std::vector<CallWriter::Value>{product.Run()};
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
  def.decompose = DecomposeEinsum;
  table.Add(std::move(def));
}

}  // namespace relayvm

// Ensembles of decision trees. All trees of all rows walk down at once: a table of where each
// stands (rows, trees), and one step of all for each level; leaves lead to themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/learn.h"
#include "compiler/ir/scalar.h"

namespace relayvm::import {

namespace {

enum class BranchMode : uint8_t {
  kLessEqual,
  kLess,
  kGreaterEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kLeaf
};

struct Forest {
  struct Node {
    BranchMode mode;
    double feature, split, missing;  // missing: 1 where NaN goes to `yes`
    double yes = 0, no = 0;          // nodes; a leaf's are its own
  };
  struct Weight {
    size_t node;
    int64_t target;
    double value;
  };
  std::vector<Node> nodes;
  std::vector<double> roots;
  std::vector<Weight> weights;
  bool is_double = false;
  bool is_paired = false;  // see Paired

  double size() const { return static_cast<double>(nodes.size()); }
  double highest() const { return std::ranges::max(nodes, {}, &Node::feature).feature; }
  void AddLeaf() { nodes.push_back({BranchMode::kLeaf, 0, 0, 0, size(), size()}); }
};

std::optional<BranchMode> ModeOf(std::string_view name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE", "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "LEAF"};
  const auto* const at = std::find(std::begin(kNames), std::end(kNames), name);
  if (at == std::end(kNames)) return std::nullopt;
  return static_cast<BranchMode>(at - std::begin(kNames));
}

// Attribute `name`, or the constant of `name`_as_tensor, or of a tensor by that name.
std::vector<double> Numbers(NodeContext& n, const std::string& name, Forest* forest = nullptr) {
  const std::string tensor_name = name + "_as_tensor";
  const bool plain = !n.HasAttr(tensor_name);
  if (plain && n.op_type() != "TreeEnsemble") return n.Floats(name);
  const Value tensor = n.Tensor(plain ? name : tensor_name);
  if (tensor.constant == nullptr) return {};
  const DType dtype = tensor.dtype();
  if (dtype != DType::kFloat64 && dtype != DType::kFloat32 && dtype != DType::kUInt8)
    return n.Unsupported("{}: elements of {} are not supported", name, DTypeName(dtype));
  if (forest != nullptr && dtype == DType::kFloat64) forest->is_double = true;
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.constant->size(); ++i)
    out.push_back(ir::NumberAt(*tensor.constant, i));
  return out;
}

// The attribute, of as many elements as expected, or an error.
template <typename T>
std::vector<T> OfSize(NodeContext& n, const std::string& name, std::vector<T> list, size_t size) {
  if (list.size() != size) n.Fail("{}: expected {} numbers, found {}", name, size, list.size());
  list.resize(size);
  return list;
}
std::vector<int64_t> Ints(NodeContext& n, const std::string& name, size_t size) {
  return OfSize(n, name, n.Ints(name), size);
}
std::vector<double> Numbers(NodeContext& n, const std::string& name, size_t size,
                            Forest* forest = nullptr) {
  return OfSize(n, name, Numbers(n, name, forest), size);
}
// Where NaN goes to `yes`; by default nowhere.
std::vector<int64_t> Missing(NodeContext& n, size_t size) {
  std::vector<int64_t> missing = n.Ints("nodes_missing_value_tracks_true");
  if (missing.empty()) missing.resize(size, 0);
  return OfSize(n, "nodes_missing_value_tracks_true", std::move(missing), size);
}

// Weights of leaves named by their tree and node: target_* or class_*.
bool ReadWeights(NodeContext& n, const std::string& prefix,
                 const std::map<std::pair<int64_t, int64_t>, size_t>& places, Forest& f) {
  const std::vector<int64_t> targets = n.Ints(prefix + "_ids");
  const size_t count = targets.size();
  const std::vector<int64_t> nodes = Ints(n, prefix + "_nodeids", count),
                             trees = Ints(n, prefix + "_treeids", count);
  const std::vector<double> values = Numbers(n, prefix + "_weights", count);
  if (!n.b().status().ok()) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto node = places.find({trees[i], nodes[i]});
    if (node == places.end()) {
      return n.Fail("a weight names node {} of tree {}, which there is not", nodes[i], trees[i]),
             false;
    }
    // What is not a leaf is passed by.
    if (f.nodes[node->second].mode == BranchMode::kLeaf)
      f.weights.push_back({node->second, targets[i], values[i]});
  }
  return true;
}

// TreeEnsembleRegressor and TreeEnsembleClassifier: one list of nodes, each with its tree and
// number.
std::optional<Forest> ReadTrees(NodeContext& n, const std::string& prefix) {
  Forest f;
  const std::vector<int64_t> trees = n.Ints("nodes_treeids");
  const size_t count = trees.size();
  if (count == 0) return n.Fail("nodes_treeids: expected nodes");
  const std::vector<int64_t> ids = Ints(n, "nodes_nodeids", count),
                             features = Ints(n, "nodes_featureids", count),
                             yes = Ints(n, "nodes_truenodeids", count),
                             no = Ints(n, "nodes_falsenodeids", count), missing = Missing(n, count);
  const std::vector<std::string> modes = OfSize(n, "nodes_modes", n.Strings("nodes_modes"), count);
  const std::vector<double> splits = Numbers(n, "nodes_values", count, &f);
  if (!n.b().status().ok()) return std::nullopt;
  std::map<std::pair<int64_t, int64_t>, size_t> places;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair(trees[i], ids[i]), i).second)
      return n.Fail("node {} of tree {} is there twice", ids[i], trees[i]);
  }
  std::vector<bool> is_child(count, false);
  for (size_t i = 0; i < count; ++i) {
    const auto mode = ModeOf(modes[i]);
    if (!mode) return n.Unsupported("nodes_modes: '{}' is not supported", modes[i]);
    if (*mode == BranchMode::kLeaf) {
      f.AddLeaf();
      continue;
    }
    Forest::Node node{*mode, static_cast<double>(features[i]), splits[i],
                      static_cast<double>(missing[i] != 0)};
    for (const auto& [to, child] : {std::pair(yes[i], &node.yes), std::pair(no[i], &node.no)}) {
      const auto found = places.find({trees[i], to});
      if (found == places.end()) {
        return n.Fail("node {} of tree {} leads to node {}, which there is not", ids[i], trees[i],
                      to);
      }
      *child = static_cast<double>(found->second);
      is_child[found->second] = true;
    }
    f.nodes.push_back(node);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_child[i]) f.roots.push_back(static_cast<double>(i));
  }
  if (!ReadWeights(n, prefix, places, f)) return std::nullopt;
  return f;
}

constexpr double kMember = 6;  // BRANCH_MEMBER

// BRANCH_MEMBER: a node for each number of its set, which stand one after the other up to NaN.
bool AddMembers(NodeContext& n, const std::vector<double>& modes, Forest& f) {
  const std::vector<double> members = Numbers(n, "membership_values", &f);
  auto at = members.begin();
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] != kMember) continue;
    const auto end = std::find_if(at, members.end(), [](double v) { return std::isnan(v); });
    if (end == members.end()) {
      n.Fail("membership_values: expected a set that ends with NaN for each BRANCH_MEMBER");
      return false;
    }
    f.nodes[i].split = *at;  // NaN of an empty set
    Forest::Node other = f.nodes[i];
    other.missing = 0;
    for (size_t last = i; at != end && ++at != end; last = f.nodes.size() - 1) {
      f.nodes[last].no = f.size();
      other.split = *at;
      f.nodes.push_back(other);
    }
    at = end + 1;
  }
  return true;
}

// TreeEnsemble: branches and leaves in lists of their own. Leaves stand behind the branches.
std::optional<Forest> ReadEnsemble(NodeContext& n) {
  Forest f;
  const std::vector<int64_t> features = n.Ints("nodes_featureids"),
                             targets = n.Ints("leaf_targetids"), roots = n.Ints("tree_roots");
  const size_t count = features.size(), leaves = targets.size();
  if (count == 0) return n.Fail("nodes_featureids: expected nodes");
  const std::vector<int64_t> yes = Ints(n, "nodes_truenodeids", count),
                             no = Ints(n, "nodes_falsenodeids", count),
                             yes_leaf = Ints(n, "nodes_trueleafs", count),
                             no_leaf = Ints(n, "nodes_falseleafs", count),
                             missing = Missing(n, count);
  const std::vector<double> splits = Numbers(n, "nodes_splits", count, &f),
                            modes = Numbers(n, "nodes_modes", count),
                            values = Numbers(n, "leaf_weights", leaves);
  if (!n.b().status().ok()) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    if (!(modes[i] >= 0 && modes[i] <= kMember))
      return n.Fail("nodes_modes: expected 0 to 6, found {}", modes[i]);
    Forest::Node node{modes[i] == kMember ? BranchMode::kEqual : static_cast<BranchMode>(modes[i]),
                      static_cast<double>(features[i]), splits[i],
                      static_cast<double>(missing[i] != 0)};
    for (const auto& [to, leaf, child] :
         {std::tuple(yes[i], yes_leaf[i], &node.yes), std::tuple(no[i], no_leaf[i], &node.no)}) {
      if (to < 0 || to >= static_cast<int64_t>(leaf != 0 ? leaves : count)) {
        return n.Fail("node {} leads to {} {}, which there is not", i, leaf != 0 ? "leaf" : "node",
                      to);
      }
      *child = static_cast<double>(leaf != 0 ? to + static_cast<int64_t>(count) : to);
    }
    f.nodes.push_back(node);
  }
  for (size_t i = 0; i < leaves; ++i) {
    f.weights.push_back({f.nodes.size(), targets[i], values[i]});
    f.AddLeaf();
  }
  if (!AddMembers(n, modes, f)) return std::nullopt;
  for (const int64_t root : roots) {
    if (root < 0 || root >= static_cast<int64_t>(count))
      return n.Fail("tree_roots: there is no node {}", root);
    f.roots.push_back(static_cast<double>(root));
  }
  return f;
}

// Steps from the roots to the lowest leaf. An error where nodes lead back to themselves.
std::optional<int64_t> DepthOf(NodeContext& n, const Forest& f) {
  const auto each_child = [&](size_t node, const auto& fn) {
    if (f.nodes[node].mode == BranchMode::kLeaf) return;
    fn(static_cast<size_t>(f.nodes[node].yes));
    fn(static_cast<size_t>(f.nodes[node].no));
  };
  std::vector<size_t> parents(f.nodes.size(), 0), ready;
  for (size_t i = 0; i < parents.size(); ++i) each_child(i, [&](size_t c) { ++parents[c]; });
  for (size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] == 0) ready.push_back(i);
  }
  std::vector<int64_t> depth(f.nodes.size(), 0);
  for (size_t i = 0; i < ready.size(); ++i) {
    each_child(ready[i], [&](size_t c) {
      depth[c] = std::max(depth[c], depth[ready[i]] + 1);
      if (--parents[c] == 0) ready.push_back(c);
    });
  }
  if (ready.size() == parents.size()) return *std::max_element(depth.begin(), depth.end());
  return n.Fail("nodes lead back to themselves: expected trees");
}

// The same trees with `no` right behind `yes`, so that a step looks up one of them: a comparison
// that does not hold adds 1. Leaves compare with NaN and lead to themselves thus. As they are where
// a node has several parents. REQUIRES: nodes do not lead back to themselves.
Forest Paired(const Forest& f) {
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> place(f.nodes.size(), kNone), order;
  const auto add = [&](size_t node) {
    if (place[node] != kNone) return false;
    place[node] = order.size();
    order.push_back(node);
    return true;
  };
  for (const double root : f.roots) {
    if (!add(static_cast<size_t>(root))) return f;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const Forest::Node& node = f.nodes[order[i]];
    if (node.mode == BranchMode::kLeaf) continue;
    if (!add(static_cast<size_t>(node.yes)) || !add(static_cast<size_t>(node.no))) return f;
  }
  // NaN differs from all: where that is all that is asked, leaves hold.
  const bool leaves_hold = std::ranges::all_of(f.nodes, [](const Forest::Node& node) {
    return node.mode == BranchMode::kNotEqual || node.mode == BranchMode::kLeaf;
  });
  Forest paired;
  paired.is_double = f.is_double;
  paired.is_paired = true;
  const auto moved = [&](double node) {
    return static_cast<double>(place[static_cast<size_t>(node)]);
  };
  for (const size_t old : order) {
    Forest::Node node = f.nodes[old];
    if (node.mode == BranchMode::kLeaf) {
      node.split = std::numeric_limits<double>::quiet_NaN();
      node.no = paired.size();
      node.yes = leaves_hold ? node.no : node.no - 1;
    } else {
      node.yes = moved(node.yes);
      node.no = moved(node.no);
    }
    paired.nodes.push_back(node);
  }
  for (const double root : f.roots) paired.roots.push_back(moved(root));
  for (const Forest::Weight& w : f.weights) {
    if (place[w.node] != kNone) paired.weights.push_back({place[w.node], w.target, w.value});
  }
  return paired;
}

Term Compare(BranchMode mode, const Term& x, const Term& split) {
  switch (mode) {
    case BranchMode::kLess:
      return x < split;
    case BranchMode::kGreaterEqual:
      return x >= split;
    case BranchMode::kGreater:
      return x > split;
    case BranchMode::kEqual:
      return Equal(x, split);
    case BranchMode::kNotEqual:
      return Not(Equal(x, split));
    default:
      return x <= split;
  }
}

// Of rows (rows, width), which node is next.
class Step {
 public:
  // `start`: (rows, 1), where each row begins among all features.
  Step(const Forest& f, const Term& features, const Term& start)
      : f_(f), features_(features.Reshape({-1})), start_(start) {
    for (const Forest::Node& node : f.nodes) {
      if (node.mode != BranchMode::kLeaf) modes_.insert(node.mode);
      misses_ |= node.missing > 0;
    }
    shift_ = static_cast<int>(std::ceil(std::log2(f.highest() + 1)));
    packs_ = std::ldexp(f.size(), shift_) <= INT32_MAX;
  }

  // The nodes that follow these: (rows, trees).
  Term From(const Term& node) const {
    std::optional<Term> packed;
    if (packs_)
      packed = Of(node, [&](const Node& at) { return std::ldexp(at.yes, shift_) + at.feature; });
    const Term column = packed ? packed->Call("bitwise_and", packed->Number(std::exp2(shift_) - 1))
                               : Of(node, &Node::feature);
    const Term holds = Holds(node, features_.Take(start_ + column, 0));
    const Term yes =
        packed ? packed->Call("right_shift", packed->Number(shift_)) : Of(node, &Node::yes);
    if (f_.is_paired) return yes + Not(holds).As(DType::kInt32);
    return Select(holds, yes, Of(node, &Node::no));
  }

 private:
  using Node = Forest::Node;

  // Whether what the nodes ask holds for `value`.
  Term Holds(const Term& node, const Term& value) const {
    const Term split = Of(node, &Node::split, value.dtype());
    std::optional<Term> holds;
    for (const BranchMode mode : modes_) {
      const Term here = Compare(mode, value, split);
      holds = !holds
                  ? here
                  : Select(Equal(Of(node, &Node::mode), static_cast<double>(mode)), here, *holds);
    }
    if (!misses_) return *holds;
    return Or(*holds, And(value.Call("isnan"), Of(node, &Node::missing) > 0));
  }

  // A number of each of the nodes.
  template <typename Number>
  Term Of(const Term& node, Number number, DType dtype = DType::kInt32) const {
    std::vector<double> numbers;
    for (const Node& at : f_.nodes) numbers.push_back(static_cast<double>(std::invoke(number, at)));
    const auto count = static_cast<int64_t>(numbers.size());
    return Table(node.b(), numbers, {count}, dtype).Take(node, 0);
  }

  const Forest& f_;
  Term features_, start_;
  std::set<BranchMode> modes_;  // of branches
  bool misses_ = false;         // NaN goes its own way somewhere
  // One look-up for both where they fit: the feature below, where it leads above.
  int shift_;
  bool packs_;
};

// The nodes at which the trees end: (rows, trees), int32. `depth`: steps from the roots at most.
std::optional<Term> Leaves(NodeContext& n, const Forest& f, int64_t depth) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  x = x.As(f.is_double || x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32);
  if (x.rank() == 1) x = x.Expand(0);
  if (x.rank() != 2) return n.Fail("expected rows of features");
  const Dim features = x.value().dim(1);
  const double most = static_cast<double>(features.is_const() ? features.value() : INT32_MAX);
  for (const auto& [mode, feature, split, missing, yes, no] : f.nodes) {
    if (feature < 0 || feature >= most)
      return n.Fail("nodes_featureids: expected 0 to {}, found {}", most - 1, feature);
  }
  Term width = Extent(b, x, 1);
  if (!features.is_const()) {  // rows must have the features that the trees ask for
    width = Term(b, InRange(b, width > f.highest(), width));
  }
  const Term row = RangeOf(b, x, 0).As(DType::kInt32).Expand(1);
  const Term roots = Table(b, f.roots, {1, static_cast<int64_t>(f.roots.size())}, DType::kInt32);
  const TypedBuilder::State initial = {b.Int(0), row * 0 + roots};
  if (depth == 0) return Term(b, initial[1]);
  const Step step(f, x, row * width.As(DType::kInt32));
  const TypedBuilder::State last = b.While(
      initial,
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < static_cast<double>(depth); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        return {Term(b, s[0]) + 1, step.From({b, s[1]})};
      });
  if (!b.status().ok() || last.size() != 2) return std::nullopt;
  return Term(b, last[1]);
}

// A forest, and where its trees end for each row: (rows, trees).
struct Walked {
  Forest forest;
  Term leaves;
};
std::optional<Walked> Walk(NodeContext& n, const Forest& forest) {
  const auto depth = DepthOf(n, forest);
  if (!depth) return std::nullopt;
  Forest paired = Paired(forest);
  const auto leaves = Leaves(n, paired, *depth);
  if (!leaves) return std::nullopt;
  return Walked{std::move(paired), *leaves};
}

// Weights of leaves joined over the trees: (rows, targets).
std::optional<Term> Joined(NodeContext& n, const Walked& walked, int64_t targets,
                           const std::string& how) {
  TypedBuilder& b = n.b();
  const Forest& f = walked.forest;
  const bool sums = how == "SUM" || how == "AVERAGE", least = how == "MIN";
  if (!sums && !least && how != "MAX")
    return n.Unsupported("aggregate_function '{}' is not supported", how);
  const double none = sums    ? 0
                      : least ? std::numeric_limits<double>::infinity()
                              : -std::numeric_limits<double>::infinity();
  std::vector<double> weights(f.nodes.size() * static_cast<size_t>(targets), none);
  for (const Forest::Weight& w : f.weights) {
    if (w.target < 0 || w.target >= targets)
      return n.Fail("a leaf's target: expected 0 to {}, found {}", targets - 1, w.target);
    double& weight = weights[w.node * static_cast<size_t>(targets) + static_cast<size_t>(w.target)];
    weight = sums    ? weight + w.value
             : least ? std::min(weight, w.value)
                     : std::max(weight, w.value);
  }
  const DType real = f.is_double ? DType::kFloat64 : DType::kFloat32;
  const Term found = Table(b, weights, {static_cast<int64_t>(f.nodes.size()), targets}, real)
                         .Take(walked.leaves, 0);
  Term y = found.Over(sums ? "sum" : least ? "min" : "max", {1}, false);
  if (!sums) y = Select(Equal(Abs(y), std::numeric_limits<double>::infinity()), y.Number(0), y);
  if (how == "AVERAGE") y = y / static_cast<double>(f.roots.size());
  return y;
}

// base_values: one for each target. Nullopt and an error for another number; none: zeros.
std::optional<Term> WithBase(NodeContext& n, const Term& y, int64_t targets) {
  const std::vector<double> base = Numbers(n, "base_values");
  if (base.empty()) return y;
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != targets)
    return n.Fail("base_values: expected {}, found {}", targets, base.size());
  return y + Table(n.b(), base, {static_cast<int64_t>(base.size())}, y.dtype());
}

// As in ONNX Runtime, where a file has several for a leaf of one target.
void KeepFirstWeights(Forest& f) {
  std::vector<bool> has_weight(f.nodes.size());
  std::erase_if(f.weights, [&](const Forest::Weight& w) {
    const bool is_first = !has_weight[w.node];
    has_weight[w.node] = true;
    return !is_first;
  });
}

Outputs TreeEnsembleRegressor(NodeContext& n) {
  auto forest = ReadTrees(n, "target");
  if (!forest || !n.b().status().ok()) return {};
  const int64_t targets = n.Count("n_targets", 1);
  if (targets < 1) return n.Fail("n_targets: expected 1 or more");
  if (targets == 1) KeepFirstWeights(*forest);
  const auto walked = Walk(n, *forest);
  if (!walked) return {};
  const auto sum = Joined(n, *walked, targets, n.String("aggregate_function", "SUM"));
  const auto y = sum ? WithBase(n, *sum, targets) : std::nullopt;
  if (!y) return {};
  return {Transformed(n, y->As(DType::kFloat32), n.String("post_transform", "NONE"))};
}

Outputs TreeEnsemble(NodeContext& n) {
  const auto forest = ReadEnsemble(n);
  if (!forest || !n.b().status().ok()) return {};
  constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const int64_t how = n.Int("aggregate_function", 1), after = n.Int("post_transform", 0),
                targets = n.Count("n_targets", 1);
  if (how < 0 || how > 3 || after < 0 || after > 4 || targets < 1) {
    return n.Fail(
        "expected an aggregate_function of 0 to 3, a post_transform of 0 to 4 and targets");
  }
  const auto walked = Walk(n, *forest);
  const auto y = walked ? Joined(n, *walked, targets, kAggregates[how]) : std::nullopt;
  if (!y) return {};
  return {Transformed(n, y->As(n.Input(0).dtype()), kTransforms[after])};
}

Outputs TreeEnsembleClassifier(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Labels labels = ClassLabels(n, "classlabels_int64s", "classlabels_strings");
  auto forest = ReadTrees(n, "class");
  if (!forest || !b.status().ok()) return {};
  const auto classes = static_cast<int64_t>(labels.size());
  if (classes < 1) return n.Fail("classlabels_int64s: expected labels");
  std::set<int64_t> weighed;
  bool positive = true;
  for (const Forest::Weight& w : forest->weights) {
    weighed.insert(w.target);
    positive &= w.value >= 0;
  }
  const std::string how = n.String("post_transform", "NONE");
  if (classes == 2 && weighed.size() == 1) {
    // One score for two classes: that of the second. Weights that are never negative are a
    // probability.
    const bool second = *weighed.begin() == 1;
    for (Forest::Weight& w : forest->weights) w.target = 0;
    const auto walked = Walk(n, *forest);
    const auto sum = walked ? Joined(n, *walked, 1, "SUM") : std::nullopt;
    if (!sum) return {};
    const std::vector<double> base = Numbers(n, "base_values");
    Term score = sum->As(DType::kFloat32);
    if (!base.empty()) score = score + base.back();
    const Term label =
        LabelsOf(n, (score.Reshape({-1}) > (positive ? 0.5 : 0.0)).As(DType::kInt64), labels);
    const auto both = [&](const Term& no, const Term& yes) {
      return Term(b, b.Concat({no, yes}, 1));
    };
    if (second) return {label, Transformed(n, both(score * 0, score), how)};
    if (base.size() == 2) return {label, Transformed(n, both(score, score * 0), how)};
    // As ONNX Runtime: the first class alone has a number.
    if (how == "PROBIT") return {label, both(Transformed(n, score, how), score * 0)};
    if (how == "LOGISTIC") return {label, both(-score, score).Call("sigmoid")};
    return {label, both(positive ? 1.0 - score : -score, score)};
  }
  auto walked = Walk(n, *forest);
  const auto sum = walked ? Joined(n, *walked, classes, "SUM") : std::nullopt;
  const auto based = sum ? WithBase(n, *sum, classes) : std::nullopt;
  if (!based) return {};
  const Term scores = based->As(DType::kFloat32);
  Term candidates = scores;
  const bool may_lose = std::any_of(forest->weights.begin(), forest->weights.end(),
                                    [](const Forest::Weight& w) { return w.value <= 0; });
  if (classes > 2 && may_lose && Numbers(n, "base_values").empty()) {
    // As ONNX Runtime: a class that no leaf of the row has a weight for is not the row's.
    for (Forest::Weight& w : walked->forest.weights) w.value = 1;
    const auto voted = Joined(n, *walked, classes, "MAX");
    if (!voted) return {};
    const double none = -std::numeric_limits<double>::infinity();
    candidates = Select(*voted > 0, scores, scores.Number(none));
  }
  const Term label = LabelsOf(n, candidates.Call("argmax", {{"axis", AttrList{1}}}), labels);
  return {label, Transformed(n, scores, how)};
}

constexpr OperatorDef kTreesOperators[] = {
    {"TreeEnsemble", 1, 1, TreeEnsemble, 5, kLearning},
    {"TreeEnsembleClassifier", 1, 1, TreeEnsembleClassifier, 1, kLearning},
    {"TreeEnsembleRegressor", 1, 1, TreeEnsembleRegressor, 1, kLearning},
};

}  // namespace

std::span<const OperatorDef> TreeOperators() { return kTreesOperators; }

}  // namespace relayvm::import

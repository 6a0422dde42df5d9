// Ensembles of decision trees. All trees of all rows walk down at once: a table of where each
// stands (rows, trees), and one step of all for each level; leaves lead to themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/learn.h"

namespace relayvm::import {

namespace {

using Outputs = std::vector<Value>;

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
  // By node. `yes` and `no` are nodes; a leaf's are its own.
  std::vector<double> feature, split, yes, no, missing;  // missing: 1 where NaN goes to `yes`
  std::vector<BranchMode> mode;
  std::vector<double> roots;
  struct Weight {
    size_t node;
    int64_t target;
    double value;
  };
  std::vector<Weight> weights;
  bool is_double = false;
  bool is_paired = false;  // see Paired
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
  std::vector<double> out;
  const auto read = [&]<typename T>(T) {
    for (int64_t i = 0; i < tensor.constant->size(); ++i) {
      T element;
      std::memcpy(&element, tensor.constant->data.data() + static_cast<size_t>(i) * sizeof(T),
                  sizeof element);
      out.push_back(static_cast<double>(element));
    }
  };
  if (tensor.dtype() == DType::kFloat64) {
    if (forest != nullptr) forest->is_double = true;
    read(double{});
  } else if (tensor.dtype() == DType::kFloat32) {
    read(float{});
  } else if (tensor.dtype() == DType::kUInt8) {
    read(uint8_t{});
  } else {
    n.Unsupported(
        fmt::format("{}: elements of {} are not supported", name, DTypeName(tensor.dtype())));
  }
  return out;
}

bool SameSize(NodeContext& n, size_t found, size_t expected, const char* what) {
  if (found == expected) return true;
  n.Fail(fmt::format("{}: expected {} numbers, found {}", what, expected, found));
  return false;
}

// Weights of leaves named by their tree and node: target_* or class_*.
bool ReadWeights(NodeContext& n, const std::string& prefix,
                 const std::map<std::pair<int64_t, int64_t>, size_t>& places, Forest& f) {
  const std::vector<int64_t> targets = n.Ints(prefix + "_ids"), nodes = n.Ints(prefix + "_nodeids"),
                             trees = n.Ints(prefix + "_treeids");
  const std::vector<double> values = Numbers(n, prefix + "_weights");
  if (!SameSize(n, nodes.size(), targets.size(), "nodeids") ||
      !SameSize(n, trees.size(), targets.size(), "treeids") ||
      !SameSize(n, values.size(), targets.size(), "weights")) {
    return false;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto node = places.find({trees[i], nodes[i]});
    if (node == places.end()) {
      return n.Fail(fmt::format("a weight names node {} of tree {}, which there is not", nodes[i],
                                trees[i])),
             false;
    }
    // What is not a leaf is passed by.
    if (f.mode[node->second] == BranchMode::kLeaf)
      f.weights.push_back({node->second, targets[i], values[i]});
  }
  return true;
}

// TreeEnsembleRegressor and TreeEnsembleClassifier: one list of nodes, each with its tree and
// number.
std::optional<Forest> ReadTrees(NodeContext& n, const std::string& prefix) {
  Forest f;
  const std::vector<int64_t> trees = n.Ints("nodes_treeids"), ids = n.Ints("nodes_nodeids"),
                             features = n.Ints("nodes_featureids"),
                             yes = n.Ints("nodes_truenodeids"), no = n.Ints("nodes_falsenodeids"),
                             missing = n.Ints("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = n.Strings("nodes_modes");
  f.split = Numbers(n, "nodes_values", &f);
  const size_t count = trees.size();
  if (count == 0) return n.Fail("nodes_treeids: expected nodes"), std::nullopt;
  if (!SameSize(n, ids.size(), count, "nodes_nodeids") ||
      !SameSize(n, features.size(), count, "nodes_featureids") ||
      !SameSize(n, yes.size(), count, "nodes_truenodeids") ||
      !SameSize(n, no.size(), count, "nodes_falsenodeids") ||
      !SameSize(n, modes.size(), count, "nodes_modes") ||
      !SameSize(n, f.split.size(), count, "nodes_values") ||
      (!missing.empty() &&
       !SameSize(n, missing.size(), count, "nodes_missing_value_tracks_true"))) {
    return std::nullopt;
  }
  std::map<std::pair<int64_t, int64_t>, size_t> places;
  for (size_t i = 0; i < count; ++i) {
    if (!places.emplace(std::pair(trees[i], ids[i]), i).second) {
      return n.Fail(fmt::format("node {} of tree {} is there twice", ids[i], trees[i])),
             std::nullopt;
    }
  }
  std::vector<bool> is_child(count, false);
  for (size_t i = 0; i < count; ++i) {
    const auto mode = ModeOf(modes[i]);
    if (!mode) {
      return n.Unsupported(fmt::format("nodes_modes: '{}' is not supported", modes[i])),
             std::nullopt;
    }
    f.mode.push_back(*mode);
    f.feature.push_back(*mode == BranchMode::kLeaf ? 0 : static_cast<double>(features[i]));
    f.missing.push_back(missing.empty() ? 0 : static_cast<double>(missing[i] != 0));
    for (const bool side : {true, false}) {
      size_t next = i;
      if (*mode != BranchMode::kLeaf) {
        const auto found = places.find({trees[i], side ? yes[i] : no[i]});
        if (found == places.end()) {
          return n.Fail(fmt::format("node {} of tree {} leads to node {}, which there is not",
                                    ids[i], trees[i], side ? yes[i] : no[i])),
                 std::nullopt;
        }
        next = found->second;
        is_child[next] = true;
      }
      (side ? f.yes : f.no).push_back(static_cast<double>(next));
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_child[i]) f.roots.push_back(static_cast<double>(i));
  }
  if (!ReadWeights(n, prefix, places, f)) return std::nullopt;
  return f;
}

// TreeEnsemble: branches and leaves in lists of their own. Leaves stand behind the branches.
std::optional<Forest> ReadEnsemble(NodeContext& n) {
  Forest f;
  const std::vector<int64_t> features = n.Ints("nodes_featureids"),
                             yes = n.Ints("nodes_truenodeids"), no = n.Ints("nodes_falsenodeids"),
                             yes_leaf = n.Ints("nodes_trueleafs"),
                             no_leaf = n.Ints("nodes_falseleafs"),
                             missing = n.Ints("nodes_missing_value_tracks_true"),
                             targets = n.Ints("leaf_targetids"), roots = n.Ints("tree_roots");
  f.split = Numbers(n, "nodes_splits", &f);
  const std::vector<double> modes = Numbers(n, "nodes_modes"), values = Numbers(n, "leaf_weights");
  const size_t count = features.size(), leaves = targets.size();
  if (!SameSize(n, yes.size(), count, "nodes_truenodeids") ||
      !SameSize(n, no.size(), count, "nodes_falsenodeids") ||
      !SameSize(n, yes_leaf.size(), count, "nodes_trueleafs") ||
      !SameSize(n, no_leaf.size(), count, "nodes_falseleafs") ||
      !SameSize(n, f.split.size(), count, "nodes_splits") ||
      !SameSize(n, modes.size(), count, "nodes_modes") ||
      !SameSize(n, values.size(), leaves, "leaf_weights") ||
      (!missing.empty() &&
       !SameSize(n, missing.size(), count, "nodes_missing_value_tracks_true"))) {
    return std::nullopt;
  }
  constexpr double kMember = 6;
  for (size_t i = 0; i < count; ++i) {
    if (!(modes[i] >= 0 && modes[i] <= kMember)) {
      return n.Fail(fmt::format("nodes_modes: expected 0 to 6, found {}", modes[i])), std::nullopt;
    }
    f.mode.push_back(modes[i] == kMember ? BranchMode::kEqual : static_cast<BranchMode>(modes[i]));
    f.feature.push_back(static_cast<double>(features[i]));
    f.missing.push_back(missing.empty() ? 0 : static_cast<double>(missing[i] != 0));
    for (const bool side : {true, false}) {
      const bool leaf = (side ? yes_leaf : no_leaf)[i] != 0;
      const int64_t to = (side ? yes : no)[i];
      if (to < 0 || to >= static_cast<int64_t>(leaf ? leaves : count)) {
        return n.Fail(fmt::format("node {} leads to {} {}, which there is not", i,
                                  leaf ? "leaf" : "node", to)),
               std::nullopt;
      }
      (side ? f.yes : f.no)
          .push_back(static_cast<double>(leaf ? to + static_cast<int64_t>(count) : to));
    }
  }
  for (size_t i = 0; i < leaves; ++i) {
    f.mode.push_back(BranchMode::kLeaf);
    for (auto* list : {&f.feature, &f.split, &f.missing}) list->push_back(0);
    for (auto* list : {&f.yes, &f.no}) list->push_back(static_cast<double>(count + i));
    f.weights.push_back({count + i, targets[i], values[i]});
  }
  // BRANCH_MEMBER: a node for each number of its set, which stand one after the other up to NaN.
  const std::vector<double> members = Numbers(n, "membership_values", &f);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] != kMember) continue;
    size_t last = i;
    const double otherwise = f.no[i];
    f.split[i] = std::numeric_limits<double>::quiet_NaN();  // of an empty set
    for (bool first = true; at < members.size() && !std::isnan(members[at]); ++at, first = false) {
      if (!first) {
        f.mode.push_back(BranchMode::kEqual);
        f.feature.push_back(f.feature[i]);
        f.missing.push_back(0);
        f.split.push_back(0);
        f.yes.push_back(f.yes[i]);
        f.no.push_back(otherwise);
        f.no[last] = static_cast<double>(f.mode.size() - 1);
        last = f.mode.size() - 1;
      }
      f.split[last] = members[at];
    }
    if (at == members.size()) {
      return n.Fail("membership_values: expected a set that ends with NaN for each BRANCH_MEMBER"),
             std::nullopt;
    }
    ++at;
  }
  for (const int64_t root : roots) {
    if (root < 0 || root >= static_cast<int64_t>(count)) {
      return n.Fail(fmt::format("tree_roots: there is no node {}", root)), std::nullopt;
    }
    f.roots.push_back(static_cast<double>(root));
  }
  return f;
}

// Steps from the roots to the lowest leaf. An error where nodes lead back to themselves.
std::optional<int64_t> DepthOf(NodeContext& n, const Forest& f) {
  const auto each_child = [&](size_t node, const auto& fn) {
    if (f.mode[node] == BranchMode::kLeaf) return;
    fn(static_cast<size_t>(f.yes[node]));
    fn(static_cast<size_t>(f.no[node]));
  };
  std::vector<size_t> parents(f.mode.size(), 0), ready;
  for (size_t i = 0; i < parents.size(); ++i) each_child(i, [&](size_t c) { ++parents[c]; });
  for (size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] == 0) ready.push_back(i);
  }
  std::vector<int64_t> depth(f.mode.size(), 0);
  for (size_t i = 0; i < ready.size(); ++i) {
    each_child(ready[i], [&](size_t c) {
      depth[c] = std::max(depth[c], depth[ready[i]] + 1);
      if (--parents[c] == 0) ready.push_back(c);
    });
  }
  if (ready.size() == parents.size()) return *std::max_element(depth.begin(), depth.end());
  n.Fail("nodes lead back to themselves: expected trees");
  return std::nullopt;
}

// The same trees with `no` right behind `yes`, so that a step looks up one of them: a comparison
// that does not hold adds 1. Leaves compare with NaN and lead to themselves thus. As they are where
// a node has several parents. REQUIRES: nodes do not lead back to themselves.
Forest Paired(const Forest& f) {
  const size_t count = f.mode.size();
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> place(count, kNone), order;
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
    const size_t node = order[i];
    if (f.mode[node] == BranchMode::kLeaf) continue;
    if (!add(static_cast<size_t>(f.yes[node])) || !add(static_cast<size_t>(f.no[node]))) return f;
  }
  // NaN differs from all: where that is all that is asked, leaves hold.
  const bool leaves_hold = std::all_of(f.mode.begin(), f.mode.end(), [](BranchMode mode) {
    return mode == BranchMode::kNotEqual || mode == BranchMode::kLeaf;
  });
  Forest paired;
  paired.is_double = f.is_double;
  paired.is_paired = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t node = order[i];
    const bool is_leaf = f.mode[node] == BranchMode::kLeaf;
    const auto self = static_cast<double>(i);
    const auto child = [&](double of) {
      return static_cast<double>(place[static_cast<size_t>(of)]);
    };
    paired.mode.push_back(f.mode[node]);
    paired.feature.push_back(f.feature[node]);
    paired.split.push_back(is_leaf ? std::numeric_limits<double>::quiet_NaN() : f.split[node]);
    paired.missing.push_back(is_leaf ? 0 : f.missing[node]);
    paired.yes.push_back(!is_leaf ? child(f.yes[node]) : leaves_hold ? self : self - 1);
    paired.no.push_back(!is_leaf ? child(f.no[node]) : self);
  }
  for (const double root : f.roots) {
    paired.roots.push_back(static_cast<double>(place[static_cast<size_t>(root)]));
  }
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

// The nodes at which the trees end: (rows, trees), int32. `depth`: steps from the roots at most.
std::optional<Term> Leaves(NodeContext& n, const Forest& f, int64_t depth) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const DType real =
      f.is_double || x.dtype() == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  x = x.As(real);
  if (x.rank() == 1) x = x.Expand(0);
  if (x.rank() != 2) return n.Fail("expected rows of features"), std::nullopt;
  const Dim features = x.value().dim(1);
  const double most = static_cast<double>(features.is_const() ? features.value() : INT32_MAX);
  for (const double feature : f.feature) {
    if (feature < 0 || feature >= most) {
      return n.Fail(fmt::format("nodes_featureids: expected 0 to {}, found {}", most - 1, feature)),
             std::nullopt;
    }
  }
  Term width = Extent(b, x, 1);
  if (!features.is_const()) {  // rows must have the features that the trees ask for
    const double highest = *std::max_element(f.feature.begin(), f.feature.end());
    width = Term(b, InRange(b, width > highest, width));
  }
  const auto count = static_cast<int64_t>(f.mode.size());
  const auto table = [&](const std::vector<double>& values, DType dtype) {
    return Table(b, values, {count}, dtype);
  };
  const Term feature = table(f.feature, DType::kInt32), split = table(f.split, real),
             yes = table(f.yes, DType::kInt32), no = table(f.no, DType::kInt32);
  // One look-up for both where they fit: the feature below, where it leads above.
  const double shift =
      std::ceil(std::log2(*std::max_element(f.feature.begin(), f.feature.end()) + 1));
  const bool packs = std::ldexp(static_cast<double>(count), static_cast<int>(shift)) <= INT32_MAX;
  std::vector<double> both;
  for (size_t i = 0; packs && i < f.mode.size(); ++i)
    both.push_back(std::ldexp(f.yes[i], static_cast<int>(shift)) + f.feature[i]);
  std::set<BranchMode> modes(f.mode.begin(), f.mode.end());
  modes.erase(BranchMode::kLeaf);
  std::vector<double> codes;
  for (const BranchMode mode : f.mode) codes.push_back(static_cast<double>(mode));
  const bool missing =
      std::any_of(f.missing.begin(), f.missing.end(), [](double v) { return v > 0; });
  const Term flat = x.Reshape({-1});
  const Term row = RangeOf(b, x, 0).As(DType::kInt32).Expand(1);
  const Term roots = Table(b, f.roots, {1, static_cast<int64_t>(f.roots.size())}, DType::kInt32);
  const Term start = row * width.As(DType::kInt32);
  const auto step = [&](const Term& node) {
    std::optional<Term> packed;
    if (packs) packed = table(both, DType::kInt32).Take(node, 0);
    const Term column = packed ? packed->Call("bitwise_and", packed->Number(std::exp2(shift) - 1))
                               : feature.Take(node, 0);
    const Term value = flat.Take(start + column, 0), at = split.Take(node, 0);
    std::optional<Term> taken;
    for (const BranchMode mode : modes) {
      const Term holds = Compare(mode, value, at);
      if (!taken) {
        taken = holds;
      } else {
        const Term own =
            Equal(table(codes, DType::kInt32).Take(node, 0), static_cast<double>(mode));
        taken = Select(own, holds, *taken);
      }
    }
    if (missing) {
      const Term follows = table(f.missing, DType::kInt32).Take(node, 0) > 0;
      taken = Or(*taken, And(value.Call("isnan"), follows));
    }
    const Term next =
        packed ? packed->Call("right_shift", packed->Number(shift)) : yes.Take(node, 0);
    if (f.is_paired) return next + Not(*taken).As(DType::kInt32);
    return Select(*taken, next, no.Take(node, 0));
  };
  const TypedBuilder::State initial = {b.Int(0), row * 0 + roots};
  if (depth == 0) return Term(b, initial[1]);
  const TypedBuilder::State last = b.While(
      initial,
      [&](const TypedBuilder::State& s) { return Term(b, s[0]) < static_cast<double>(depth); },
      [&](const TypedBuilder::State& s) -> TypedBuilder::State {
        return {Term(b, s[0]) + 1, step({b, s[1]})};
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
  if (!sums && !least && how != "MAX") {
    return n.Unsupported(fmt::format("aggregate_function '{}' is not supported", how)),
           std::nullopt;
  }
  const double none = sums    ? 0
                      : least ? std::numeric_limits<double>::infinity()
                              : -std::numeric_limits<double>::infinity();
  std::vector<double> weights(f.mode.size() * static_cast<size_t>(targets), none);
  for (const Forest::Weight& w : f.weights) {
    if (w.target < 0 || w.target >= targets) {
      return n.Fail(
                 fmt::format("a leaf's target: expected 0 to {}, found {}", targets - 1, w.target)),
             std::nullopt;
    }
    double& weight = weights[w.node * static_cast<size_t>(targets) + static_cast<size_t>(w.target)];
    weight = sums    ? weight + w.value
             : least ? std::min(weight, w.value)
                     : std::max(weight, w.value);
  }
  const DType real = f.is_double ? DType::kFloat64 : DType::kFloat32;
  const Term found = Table(b, weights, {static_cast<int64_t>(f.mode.size()), targets}, real)
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
  if (base.size() != 1 && static_cast<int64_t>(base.size()) != targets) {
    return n.Fail(fmt::format("base_values: expected {}, found {}", targets, base.size())),
           std::nullopt;
  }
  return y + Table(n.b(), base, {static_cast<int64_t>(base.size())}, y.dtype());
}

Outputs TreeEnsembleRegressor(NodeContext& n) {
  const auto forest = ReadTrees(n, "target");
  if (!forest || !n.b().status().ok()) return {};
  const int64_t targets = n.Count("n_targets", 1);
  if (targets < 1) return n.Fail("n_targets: expected 1 or more");
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

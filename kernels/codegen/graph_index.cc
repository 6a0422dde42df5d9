// The normal form of int64 arithmetic, and what can be proved about it.
//
// Two rules do most of the work. Division splits a sum by what the divisor divides:
//   floordiv(i*W + j, W) = i + floordiv(j, W) = i      where 0 <= j < W
//   floordiv(i*6 + j, 12) = floordiv(i, 2)             where 0 <= j < 6
// and a sum puts together what a reshape took apart:
//   floordiv(x, W)*W + floormod(x, W) = x
#include <algorithm>
#include <limits>
#include <span>

#include "kernels/codegen/graph.h"
#include "kernels/te/scalar.h"

namespace relayvm::codegen {

using te::BinaryOp;

namespace {

bool NonNegative(const Dim& d) {
  auto low = d.LowerBound();
  return low && *low >= 0;
}
bool NonPositive(const Dim& d) {
  auto high = d.UpperBound();
  return high && *high <= 0;
}
bool Divides(const Dim& divisor, const Dim& d) { return Dim::FloorMod(d, divisor).is_const(0); }

// Dims do not wrap: only sums with numbers of modest size are kept as such.
bool Modest(const Dim& d) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  if (d.is_const()) return d.value() > -kLimit && d.value() < kLimit;
  for (const Dim& x : d.operands()) {
    if (!Modest(x)) return false;
  }
  return true;
}

}  // namespace

// --- Sums ---

Graph::Sum Graph::ToSum(const Node* n) {
  if (n->kind != NodeKind::kLinear) return {{{n, Dim(1)}}, Dim(0)};
  Sum sum;
  for (size_t i = 0; i < n->operands.size(); ++i)
    sum.terms.push_back({n->operands[i], n->coefficients[i]});
  sum.constant = n->dim;
  return sum;
}

void Graph::AddTerm(Sum& sum, const Node* n, const Dim& coefficient) {
  if (n->kind == NodeKind::kLinear) {
    for (size_t i = 0; i < n->operands.size(); ++i)
      AddTerm(sum, n->operands[i], n->coefficients[i] * coefficient);
    sum.constant = sum.constant + n->dim * coefficient;
    return;
  }
  auto it = std::lower_bound(sum.terms.begin(), sum.terms.end(), n->id,
                             [](const Term& t, uint32_t id) { return t.node->id < id; });
  if (it == sum.terms.end() || it->node != n) {
    if (!coefficient.is_const(0)) sum.terms.insert(it, {n, coefficient});
    return;
  }
  it->coefficient = it->coefficient + coefficient;
  if (it->coefficient.is_const(0)) sum.terms.erase(it);
}

// Applies floordiv(x, d)*d*c + floormod(x, d)*c = x*c once, and the same with a further remainder
// around: floormod(floordiv(y, a), b)*a*c + floormod(y, a)*c = floormod(y, a*b)*c.
bool Graph::MergeDivMod(Sum& sum) {
  auto divisor_of = [](const Node* n, BinaryOp op) -> const Node* {
    bool matches = n->kind == NodeKind::kBinary && n->binary == op &&
                   n->operands[1]->kind == NodeKind::kLinear && n->operands[1]->operands.empty();
    return matches ? n->operands[1] : nullptr;
  };
  for (const Term& term : sum.terms) {
    const Node* divisor = divisor_of(term.node, BinaryOp::kFloorMod);
    if (divisor == nullptr) continue;
    const Node* x = term.node->operands[0];
    Dim d = divisor->dim;
    Dim wanted = term.coefficient * d;
    const Node* quotient = FloorDiv(x, d);
    Sum parts = ToSum(quotient);
    if (parts.terms.size() == 1) {
      // Other parts of the quotient are already elsewhere in the sum; only this atom must be there.
      const Node* atom = parts.terms[0].node;
      Dim scaled = wanted * parts.terms[0].coefficient;
      for (const Term& other : sum.terms) {
        if (other.node != atom || !(other.coefficient == scaled)) continue;
        Term mod = term;
        AddTerm(sum, mod.node, Dim(0) - mod.coefficient);
        AddTerm(sum, atom, Dim(0) - scaled);
        AddTerm(sum, x, mod.coefficient);
        sum.constant = sum.constant - parts.constant * wanted;
        return true;
      }
    }
    for (const Term& other : sum.terms) {
      const Node* outer = divisor_of(other.node, BinaryOp::kFloorMod);
      if (outer == nullptr || other.node == term.node || !(other.coefficient == wanted)) continue;
      if (other.node->operands[0] != quotient) continue;
      Term mod = term;
      Term upper = other;
      Dim product = d * outer->dim;
      AddTerm(sum, mod.node, Dim(0) - mod.coefficient);
      AddTerm(sum, upper.node, Dim(0) - upper.coefficient);
      AddTerm(sum, FloorMod(x, product), mod.coefficient);
      return true;
    }
  }
  return false;
}

const Node* Graph::FromSum(Sum sum) {
  while (sum.terms.size() > 1 && MergeDivMod(sum)) {
  }
  if (sum.terms.size() == 1 && sum.constant.is_const(0) && sum.terms[0].coefficient.is_const(1)) {
    return sum.terms[0].node;
  }
  Node n{.kind = NodeKind::kLinear, .dtype = DType::kInt64};
  for (Term& term : sum.terms) {
    n.operands.push_back(term.node);
    n.coefficients.push_back(std::move(term.coefficient));
  }
  n.dim = std::move(sum.constant);
  return Intern(std::move(n));
}

const Node* Graph::DimOf(const Dim& dim) {
  return Intern(Node{.kind = NodeKind::kLinear, .dtype = DType::kInt64, .dim = dim});
}

const Node* Graph::Add(const Node* a, const Node* b) {
  if (a->IsConstInt(0)) return b;
  if (b->IsConstInt(0)) return a;
  Sum sum = ToSum(a);
  AddTerm(sum, b, Dim(1));
  return FromSum(std::move(sum));
}

const Node* Graph::Scale(const Node* a, const Dim& factor) {
  if (factor.is_const(1)) return a;
  if (factor.is_const(0)) return DimOf(Dim(0));
  Sum sum;
  AddTerm(sum, a, factor);
  return FromSum(std::move(sum));
}

const Node* Graph::Flatten(const std::vector<Dim>& shape, const std::vector<const Node*>& indices) {
  Sum sum;
  Dim stride(1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].is_const(1)) continue;  // the index is 0
    AddTerm(sum, indices[i], stride);
    stride = stride * shape[i];
  }
  return FromSum(std::move(sum));
}

// --- Bounds ---

const Node* Graph::Checked(const Node* value, const Node* least, const Node* end, int64_t number) {
  const Bounds v = BoundsOf(value), low = BoundsOf(least), high = BoundsOf(end);
  if (v.low && v.high && low.high && high.low && NonNegative(*v.low - *low.high) &&
      NonNegative(*high.low - Dim(1) - *v.high)) {
    return value;
  }
  return Intern(Node{.kind = NodeKind::kChecked,
                     .dtype = DType::kInt64,
                     .operands = {value, least, end},
                     .int_value = number});
}

// An index that counts from the end where it is negative: v < 0 ? v + n : v, where v is in -n..n-1.
std::optional<Bounds> Graph::BoundsOfWrapped(const Node* n) {
  const Node* condition = n->operands[0];
  const Node* v = n->operands[2];
  if (condition->kind != NodeKind::kBinary || condition->binary != BinaryOp::kLess ||
      condition->operands[0] != v || !condition->operands[1]->IsConstInt(0)) {
    return std::nullopt;
  }
  const Node* added = Add(n->operands[1], Scale(v, Dim(-1)));
  if (added->kind != NodeKind::kLinear || !added->operands.empty()) return std::nullopt;
  const Bounds inner = BoundsOf(v);
  if (!inner.low || !inner.high || !NonNegative(added->dim + *inner.low)) return std::nullopt;
  return Bounds{Dim(0), Dim::Max(added->dim - Dim(1), *inner.high)};
}

namespace {

// fn(x, y) where both are known.
template <typename Fn>
std::optional<Dim> Both(const std::optional<Dim>& x, const std::optional<Dim>& y, const Fn& fn) {
  return x && y ? std::optional<Dim>(fn(*x, *y)) : std::nullopt;
}

Bounds BoundsOfBinary(const Node* n, const Bounds& x, const Bounds& y) {
  const Node* right = n->operands[1];
  const Dim& d = right->dim;
  const bool divides =
      right->kind == NodeKind::kLinear && right->operands.empty() && NonNegative(d);
  switch (n->binary) {
    case BinaryOp::kMin: {
      const auto high = Both(x.high, y.high, Dim::Min);
      return {Both(x.low, y.low, Dim::Min), high ? high : (x.high ? x.high : y.high)};
    }
    case BinaryOp::kMax: {
      const auto low = Both(x.low, y.low, Dim::Max);
      return {low ? low : (x.low ? x.low : y.low), Both(x.high, y.high, Dim::Max)};
    }
    case BinaryOp::kFloorDivide: {
      Bounds b;
      if (divides && x.low && NonNegative(*x.low)) b.low = Dim(0);
      if (divides && x.high) b.high = Dim::FloorDiv(*x.high, d);
      return b;
    }
    case BinaryOp::kFloorMod:
      return divides ? Bounds{Dim(0), d - Dim(1)} : Bounds{};
    default:
      return {};
  }
}

Bounds BoundsOfDType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {Dim(0), Dim(1)};
    case DType::kUInt8:
      return {Dim(0), Dim(255)};
    case DType::kUInt16:
      return {Dim(0), Dim(65535)};
    case DType::kUInt32:
      return {Dim(0), std::nullopt};
    default:
      return {};
  }
}

}  // namespace

Bounds Graph::BoundsOfLinear(const Node* n) {
  Bounds b{n->dim, n->dim};
  for (size_t i = 0; i < n->operands.size(); ++i) {
    Bounds term = BoundsOf(n->operands[i]);
    const Dim& c = n->coefficients[i];
    if (NonPositive(c)) {
      std::swap(term.low, term.high);
    } else if (!NonNegative(c)) {
      term = {};
    }
    const auto add = [&c](const Dim& sum, const Dim& bound) { return sum + bound * c; };
    b = {Both(b.low, term.low, add), Both(b.high, term.high, add)};
  }
  return b;
}

Bounds Graph::BoundsOf(const Node* n) {
  if (const auto found = bounds_.find(n); found != bounds_.end()) return found->second;
  Bounds b;
  switch (n->kind) {
    case NodeKind::kAxis:
      b = {Dim(0), n->axis->extent - Dim(1)};
      break;
    case NodeKind::kLinear:
      b = BoundsOfLinear(n);
      break;
    case NodeKind::kChecked:
      b.low = BoundsOf(n->operands[1]).low;
      if (const Bounds end = BoundsOf(n->operands[2]); end.high) b.high = *end.high - Dim(1);
      break;
    case NodeKind::kSelect:
      if (const auto wrapped = BoundsOfWrapped(n)) {
        b = *wrapped;
      } else {
        const Bounds x = BoundsOf(n->operands[1]), y = BoundsOf(n->operands[2]);
        b = {Both(x.low, y.low, Dim::Min), Both(x.high, y.high, Dim::Max)};
      }
      break;
    case NodeKind::kBinary:
      if (n->dtype == DType::kInt64)
        b = BoundsOfBinary(n, BoundsOf(n->operands[0]), BoundsOf(n->operands[1]));
      break;
    case NodeKind::kCast:
      if (n->dtype == DType::kInt64) b = BoundsOfDType(n->operands[0]->dtype);
      break;
    default:
      break;
  }
  return bounds_[n] = b;
}

bool Graph::Within(const Node* n, const Dim& extent) {
  Bounds b = BoundsOf(n);
  return b.low && b.high && NonNegative(*b.low) && NonNegative(extent - Dim(1) - *b.high);
}

// --- Division ---

// a = divisor * quotient + rest, exactly.
struct Graph::Split {
  Sum quotient;
  Sum rest;
};

Graph::Split Graph::SplitBy(const Node* a, const Dim& divisor) {
  Split split;
  Sum sum = ToSum(a);
  for (const Term& term : sum.terms) {
    if (Divides(divisor, term.coefficient)) {
      AddTerm(split.quotient, term.node, Dim::FloorDiv(term.coefficient, divisor));
    } else {
      AddTerm(split.rest, term.node, term.coefficient);
    }
  }
  bool divisible =
      Divides(divisor, sum.constant) || (sum.constant.is_const() && divisor.is_const());
  if (divisible) {
    split.quotient.constant = Dim::FloorDiv(sum.constant, divisor);
    split.rest.constant = Dim::FloorMod(sum.constant, divisor);
  } else {
    split.rest.constant = sum.constant;
  }
  return split;
}

const Node* Graph::FloorDiv(const Node* a, const Dim& divisor) {
  if (divisor.is_const(1)) return a;
  Split split = SplitBy(a, divisor);
  const Node* quotient = FromSum(split.quotient);
  const Node* rest = FromSum(split.rest);
  if (Within(rest, divisor)) return quotient;
  // floordiv(g*large + small, g*d) = floordiv(large, d) where 0 <= small < g
  for (const Term& term : split.rest.terms) {
    const Dim& g = term.coefficient;
    if (g.is_const(1) || !NonNegative(g) || !Divides(g, divisor)) continue;
    Split by_g = SplitBy(rest, g);
    if (!Within(FromSum(by_g.rest), g)) continue;
    return Add(quotient, FloorDiv(FromSum(by_g.quotient), Dim::FloorDiv(divisor, g)));
  }
  if (rest->kind == NodeKind::kBinary && rest->binary == BinaryOp::kFloorDivide &&
      rest->operands[1]->kind == NodeKind::kLinear && rest->operands[1]->operands.empty()) {
    return Add(quotient, FloorDiv(rest->operands[0], rest->operands[1]->dim * divisor));
  }
  const Node* atom = Intern(Node{.kind = NodeKind::kBinary,
                                 .dtype = DType::kInt64,
                                 .operands = {rest, DimOf(divisor)},
                                 .binary = BinaryOp::kFloorDivide});
  return Add(quotient, atom);
}

const Node* Graph::FloorMod(const Node* a, const Dim& divisor) {
  if (divisor.is_const(1)) return DimOf(Dim(0));
  Split split = SplitBy(a, divisor);
  const Node* rest = FromSum(split.rest);
  if (Within(rest, divisor)) return rest;
  for (const Term& term : split.rest.terms) {
    const Dim& g = term.coefficient;
    if (g.is_const(1) || !NonNegative(g) || !Divides(g, divisor)) continue;
    Split by_g = SplitBy(rest, g);
    const Node* small = FromSum(by_g.rest);
    if (!Within(small, g)) continue;
    return Add(Scale(FloorMod(FromSum(by_g.quotient), Dim::FloorDiv(divisor, g)), g), small);
  }
  if (rest->kind == NodeKind::kBinary && rest->binary == BinaryOp::kFloorMod &&
      rest->operands[1]->kind == NodeKind::kLinear && rest->operands[1]->operands.empty() &&
      Divides(divisor, rest->operands[1]->dim)) {
    return FloorMod(rest->operands[0], divisor);
  }
  return Intern(Node{.kind = NodeKind::kBinary,
                     .dtype = DType::kInt64,
                     .operands = {rest, DimOf(divisor)},
                     .binary = BinaryOp::kFloorMod});
}

// --- Sizes of one ---

namespace {

// The dim that is compared with 1, or null.
const Dim* ComparedWithOne(const Node* n) {
  const auto is_dim = [](const Node* x) {
    return x->kind == NodeKind::kLinear && x->operands.empty();
  };
  const bool is_comparison = n->kind == NodeKind::kBinary && n->binary == BinaryOp::kEqual &&
                             is_dim(n->operands[0]) && n->operands[1]->IsConstInt(1);
  return is_comparison ? &n->operands[0]->dim : nullptr;
}

// The parts of a size as broadcasting makes it, max(parts...) * min(1, parts...), where the second
// factor leaves out parts that are never 0; or the size alone. It is 1 exactly where all parts are:
// where the product of two that are not negative is 1, no part is above it and none below.
std::span<const Dim> PartsOfBroadcast(const Dim& d) {
  const std::span<const Dim> whole(&d, 1);
  const std::span<const Dim> factors = d.kind() == Dim::Kind::kMul ? d.operands() : whole;
  std::span<const Dim> parts, limits;
  for (const Dim& factor : factors) {
    if (!NonNegative(factor)) return whole;
    if (factor.kind() == Dim::Kind::kMax && parts.empty()) {
      parts = factor.operands();
    } else if (factor.kind() == Dim::Kind::kMin && limits.empty()) {
      limits = factor.operands();
    } else {
      return whole;
    }
  }
  const auto has = [](std::span<const Dim> dims, const Dim& d) {
    return std::find(dims.begin(), dims.end(), d) != dims.end();
  };
  for (const Dim& part : parts) {
    if (!has(limits, part) && !NonNegative(part - Dim(1))) return whole;
  }
  for (const Dim& limit : limits) {
    if (!limit.is_const(1) && !has(parts, limit)) return whole;
  }
  return parts.empty() ? whole : parts;
}

}  // namespace

bool Graph::Implies(const Node* condition, const Node* other) {
  if (condition == other) return true;
  const Dim* is_one = ComparedWithOne(condition);
  const Dim* is_one_too = ComparedWithOne(other);
  if (is_one == nullptr || is_one_too == nullptr) return false;
  const std::span<const Dim> parts = PartsOfBroadcast(*is_one);
  const std::span<const Dim> fewer = PartsOfBroadcast(*is_one_too);
  return std::includes(parts.begin(), parts.end(), fewer.begin(), fewer.end());
}

// --- Binary operators that simplify ---

const Node* Graph::CompareInts(BinaryOp op, const Node* a, const Node* b) {
  if (op == BinaryOp::kGreater) return CompareInts(BinaryOp::kLess, b, a);
  if (op == BinaryOp::kGreaterEqual) return CompareInts(BinaryOp::kLessEqual, b, a);
  Bounds d = BoundsOf(Add(b, Scale(a, Dim(-1))));
  auto truth = [this](bool v) { return Int(v, DType::kBool); };
  bool positive = d.low && NonNegative(*d.low - Dim(1));
  bool negative = d.high && NonPositive(*d.high + Dim(1));
  switch (op) {
    case BinaryOp::kLess:
      if (positive) return truth(true);
      return d.high && NonPositive(*d.high) ? truth(false) : nullptr;
    case BinaryOp::kLessEqual:
      if (d.low && NonNegative(*d.low)) return truth(true);
      return negative ? truth(false) : nullptr;
    default: {
      if (positive || negative) return truth(op == BinaryOp::kNotEqual);
      bool zero = d.low && d.high && d.low->is_const(0) && d.high->is_const(0);
      return zero ? truth(op == BinaryOp::kEqual) : nullptr;
    }
  }
}

// Powers with an exponent that needs no logarithm.
const Node* Graph::SimplifyPower(const Node* x, double exponent) {
  DType t = x->dtype;
  if (exponent == 1) return x;
  if (exponent == 2) return Binary(BinaryOp::kMultiply, x, x);
  // Halves would round the square.
  if (exponent == 3 && (t == DType::kFloat32 || t == DType::kFloat64))
    return Binary(BinaryOp::kMultiply, Binary(BinaryOp::kMultiply, x, x), x);
  if (exponent == -1) return Binary(BinaryOp::kDivide, Float(1, t), x);
  if (exponent != 0.5 && exponent != -0.5) return nullptr;
  // Unlike the root, the power takes -0 as 0 and -infinity as infinity.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Node* positive = Binary(BinaryOp::kAdd, x, Float(0, t));
  const Node* root = Unary(exponent > 0 ? te::UnaryOp::kSqrt : te::UnaryOp::kRsqrt, positive);
  const Node* is_infinite = Binary(BinaryOp::kEqual, x, Float(-kInfinity, t));
  return Select(is_infinite, Float(exponent > 0 ? kInfinity : 0, t), root);
}

const Node* Graph::SimplifyBinary(BinaryOp op, const Node* a, const Node* b) {
  if (op == BinaryOp::kPower && b->kind == NodeKind::kFloat)
    return SimplifyPower(a, b->float_value);
  auto is_dim = [](const Node* n) {
    return n->kind == NodeKind::kLinear && n->operands.empty() && Modest(n->dim);
  };
  if (a->dtype == DType::kBool) {
    auto is = [](const Node* n, int64_t v) {
      return n->kind == NodeKind::kInt && n->int_value == v;
    };
    if (op == BinaryOp::kAnd && (is(a, 1) || is(b, 0))) return b;
    if (op == BinaryOp::kAnd && (is(b, 1) || is(a, 0))) return a;
    if (op == BinaryOp::kOr && (is(a, 0) || is(b, 1))) return b;
    if (op == BinaryOp::kOr && (is(b, 0) || is(a, 1))) return a;
    return nullptr;
  }
  if (a->dtype != DType::kInt64) return nullptr;
  if (te::IsComparison(op)) return CompareInts(op, a, b);
  switch (op) {
    case BinaryOp::kAdd:
      return Add(a, b);
    case BinaryOp::kSubtract:
      return Add(a, Scale(b, Dim(-1)));
    case BinaryOp::kMultiply:
      if (is_dim(b)) return Scale(a, b->dim);
      if (is_dim(a)) return Scale(b, a->dim);
      return nullptr;
    case BinaryOp::kFloorDivide:
    case BinaryOp::kFloorMod: {
      // Only a divisor that is certainly not negative; a zero extent is never divided by.
      if (!is_dim(b) || !NonNegative(b->dim) || b->dim.is_const(0)) return nullptr;
      return op == BinaryOp::kFloorDivide ? FloorDiv(a, b->dim) : FloorMod(a, b->dim);
    }
    case BinaryOp::kMin:
    case BinaryOp::kMax: {
      Bounds d = BoundsOf(Add(b, Scale(a, Dim(-1))));
      if (d.low && NonNegative(*d.low)) return op == BinaryOp::kMin ? a : b;
      if (d.high && NonPositive(*d.high)) return op == BinaryOp::kMin ? b : a;
      return nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace relayvm::codegen

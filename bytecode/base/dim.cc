#include "bytecode/base/dim.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "bytecode/base/dim_int32.h"

namespace relayvm {

struct Dim::Node {
  Kind kind;
  uint32_t symbol_id = 0;
  bool nonnegative = true;
  std::string name;
  std::vector<Dim> operands;
  // Kept because expressions share their parts: walking them as trees would take exponential time.
  size_t hash = 0;
  bool contains_any = false;
  uint32_t size = 1;  // nodes as a tree, at most UINT32_MAX
  std::optional<int64_t> low, high;
};

namespace {

std::optional<int64_t> Bound(const Dim& d, int sign);

size_t Mix(size_t h, size_t v) { return h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2)); }

// Sizes that no machine has stay huge: arithmetic saturates instead of wrapping into something that
// looks like a size.
int64_t AddInt(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

int64_t SubInt(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_sub_overflow(a, b, &r)) return r;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

int64_t MulInt(int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

// REQUIRES: b != 0.
int64_t FloorDivInt(int64_t a, int64_t b) {
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

// The greatest common divisor; that of INT64_MIN and 0 saturates like all else.
int64_t GcdInt(int64_t a, int64_t b) {
  auto magnitude = [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : uint64_t(x); };
  uint64_t g = std::gcd(magnitude(a), magnitude(b));
  return g > uint64_t{INT64_MAX} ? INT64_MAX : static_cast<int64_t>(g);
}

// REQUIRES: b != 0. The result has the sign of b.
int64_t FloorModInt(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

constexpr bool FitsInt32(int64_t v) { return v == static_cast<int32_t>(v); }

// Products of sums are multiplied out up to this many terms; a larger one keeps its sums as
// factors. Beyond it two equal expressions may compare unequal, which costs a guard, never a wrong
// answer.
constexpr size_t kMaxTerms = 12;

}  // namespace

// Builds nodes in canonical form. A sum is handled as a map from monomial (an ordered product of
// atoms) to coefficient.
struct DimBuilder {
  using Monomial = std::vector<Dim>;  // ordered atoms; empty for the constant term
  struct MonomialLess {
    bool operator()(const Monomial& a, const Monomial& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  using Sum = std::map<Monomial, int64_t, MonomialLess>;

  static Dim Make(Dim::Kind kind, std::vector<Dim> operands) {
    auto node = std::make_shared<Dim::Node>();
    node->kind = kind;
    size_t h = static_cast<size_t>(kind) * 0x51ed270b;
    for (const Dim& d : operands) h = Mix(h, d.Hash());
    node->hash = h;
    uint64_t size = 1;
    for (const Dim& d : operands) {
      size += d.Size();
      node->contains_any = node->contains_any || d.ContainsAny();
    }
    node->size = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX));
    node->operands = std::move(operands);
    auto* raw = node.get();
    Dim result{std::shared_ptr<const Dim::Node>(std::move(node))};
    raw->low = Bound(result, 1);
    raw->high = Bound(result, -1);
    return result;
  }

  static Dim MakeLeaf(Dim::Kind kind, uint32_t id, std::string name, bool nonnegative) {
    auto node = std::make_shared<Dim::Node>();
    node->kind = kind;
    node->symbol_id = id;
    node->name = std::move(name);
    node->nonnegative = nonnegative;
    node->contains_any = kind == Dim::Kind::kAny;
    if (nonnegative) node->low = 0;
    node->hash = Mix(static_cast<size_t>(kind), id * 2654435761U);
    return Dim(std::shared_ptr<const Dim::Node>(std::move(node)));
  }

  static void AddTo(Sum& sum, Monomial atoms, int64_t coefficient) {
    int64_t& c = sum[std::move(atoms)];
    c = AddInt(c, coefficient);
  }

  // `minus` subtracts: a negated coefficient could saturate, and d - d would not be 0.
  static void AddTerm(Sum& sum, const Dim& term, bool minus = false) {
    if (term.kind() == Dim::Kind::kAdd) {
      for (const Dim& t : term.operands()) AddTerm(sum, t, minus);
      return;
    }
    int64_t coefficient = 1;
    Monomial atoms;
    if (term.is_const()) {
      coefficient = term.value();
    } else if (term.kind() == Dim::Kind::kMul) {
      for (const Dim& f : term.operands()) {
        if (f.is_const()) {
          coefficient = MulInt(coefficient, f.value());
        } else {
          atoms.push_back(f);
        }
      }
    } else {
      atoms.push_back(term);
    }
    int64_t& c = sum[std::move(atoms)];
    c = minus ? SubInt(c, coefficient) : AddInt(c, coefficient);
  }

  static Sum ToSum(const Dim& d) {
    Sum sum;
    AddTerm(sum, d);
    return sum;
  }

  static Dim FromMonomial(const Monomial& atoms, int64_t coefficient) {
    if (atoms.empty()) return Dim(coefficient);
    if (atoms.size() == 1 && coefficient == 1) return atoms[0];
    std::vector<Dim> factors(atoms.begin(), atoms.end());
    if (coefficient != 1) factors.push_back(Dim(coefficient));
    return Make(Dim::Kind::kMul, std::move(factors));
  }

  static Dim FromSum(const Sum& sum) {
    std::vector<Dim> terms;
    int64_t constant = 0;
    for (const auto& [atoms, coefficient] : sum) {
      if (coefficient == 0) continue;
      if (atoms.empty()) {
        constant = coefficient;
      } else {
        terms.push_back(FromMonomial(atoms, coefficient));
      }
    }
    if (terms.empty()) return Dim(constant);
    if (constant != 0) terms.push_back(Dim(constant));
    if (terms.size() == 1) return terms[0];
    return Make(Dim::Kind::kAdd, std::move(terms));
  }

  // a = quotient * b + rest, term by term: the quotient takes as much as it can.
  static std::pair<Sum, Sum> Divide(const Dim& a, const Dim& b) {
    Sum quotient;
    Sum rest;
    Sum divisor = ToSum(b);
    if (divisor.size() != 1) return {quotient, ToSum(a)};
    const auto& [b_atoms, b_coefficient] = *divisor.begin();
    for (const auto& [atoms, coefficient] : ToSum(a)) {
      Monomial left;
      size_t j = 0;
      for (const Dim& atom : atoms) {
        if (j < b_atoms.size() && atom == b_atoms[j]) {
          ++j;
        } else {
          left.push_back(atom);
        }
      }
      if (j < b_atoms.size() || b_coefficient == 0) {
        AddTo(rest, atoms, coefficient);
        continue;
      }
      AddTo(quotient, left, FloorDivInt(coefficient, b_coefficient));
      AddTo(rest, atoms, FloorModInt(coefficient, b_coefficient));
    }
    return {quotient, rest};
  }

  // floordiv(r, b) for a rest that Divide left, b a positive constant: common factors cancel,
  // nested divisions join.
  static Dim ReducedFloorDiv(const Dim& r, int64_t b) {
    Sum sum = ToSum(r);
    int64_t constant = 0;
    int64_t common = b;
    for (const auto& [atoms, coefficient] : sum) {
      if (atoms.empty()) {
        constant = coefficient;
      } else {
        common = GcdInt(common, coefficient);
      }
    }
    if (common > 1) {
      Sum reduced;
      for (const auto& [atoms, coefficient] : sum) {
        AddTo(reduced, atoms, FloorDivInt(coefficient, common));
      }
      return Dim::FloorDiv(FromSum(reduced), Dim(b / common));
    }
    // floordiv(floordiv(x, a) + c, b) == floordiv(x + a*c, a*b)
    Dim inner = FromSum(sum) - Dim(constant);
    if (inner.kind() == Dim::Kind::kFloorDiv && inner.operands()[1].is_const()) {
      int64_t a = inner.operands()[1].value();
      int64_t product;
      if (a > 0 && !__builtin_mul_overflow(a, b, &product)) {
        return Dim::FloorDiv(inner.operands()[0] + Dim(MulInt(a, constant)), Dim(product));
      }
    }
    return Make(Dim::Kind::kFloorDiv, {r, Dim(b)});
  }

  static Dim MinMax(Dim::Kind kind, const Dim& a, const Dim& b) {
    std::vector<Dim> all;
    for (const Dim* d : {&a, &b}) {
      if (d->kind() == kind) {
        all.insert(all.end(), d->operands().begin(), d->operands().end());
      } else {
        all.push_back(*d);
      }
    }
    // Keep what no other operand dominates for every value of the symbols. Of operands that
    // dominate each other (equal, though maybe written differently) the first stays.
    std::sort(all.begin(), all.end());
    auto dominates = [&](const Dim& x, const Dim& y) {
      auto low = (kind == Dim::Kind::kMin ? y - x : x - y).LowerBound();
      return low && *low >= 0;
    };
    std::vector<Dim> kept;
    for (const Dim& d : all) {
      auto dominates_d = [&](const Dim& k) { return dominates(k, d); };
      if (std::any_of(kept.begin(), kept.end(), dominates_d)) continue;
      std::erase_if(kept, [&](const Dim& k) { return dominates(d, k); });
      kept.push_back(d);
    }
    if (kept.size() == 1) return kept[0];
    return Make(kind, std::move(kept));
  }
};

Dim Dim::Any() {
  static const Dim kAnyDim = DimBuilder::MakeLeaf(Kind::kAny, 0, "?", false);
  return kAnyDim;
}

Dim Dim::Symbol(uint32_t id, std::string name, bool nonnegative) {
  return DimBuilder::MakeLeaf(Kind::kSymbol, id, std::move(name), nonnegative);
}

Dim::Kind Dim::kind() const { return node_ ? node_->kind : Kind::kConst; }
uint32_t Dim::symbol_id() const { return node_->symbol_id; }
const std::string& Dim::symbol_name() const { return node_->name; }
bool Dim::symbol_nonnegative() const { return node_->nonnegative; }
std::span<const Dim> Dim::operands() const {
  return node_ ? std::span<const Dim>(node_->operands) : std::span<const Dim>();
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(AddInt(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b);
  return DimBuilder::FromSum(sum);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(SubInt(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b, /*minus=*/true);
  return DimBuilder::FromSum(sum);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(MulInt(a.value(), b.value()));
  if (a.is_const(0) || b.is_const(0)) return Dim(0);
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  if (a.is_any() || b.is_any()) return Dim::Any();
  DimBuilder::Sum product;
  auto left = DimBuilder::ToSum(a);
  auto right = DimBuilder::ToSum(b);
  auto keeps_sums = [](const DimBuilder::Sum& sum) {
    return std::any_of(sum.begin(), sum.end(), [](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(),
                         [](const Dim& atom) { return atom.kind() == Dim::Kind::kAdd; });
    });
  };
  if (left.size() * right.size() > kMaxTerms || keeps_sums(left) || keeps_sums(right)) {
    if (left.size() > 1) left = {{{a}, 1}};
    if (right.size() > 1) right = {{{b}, 1}};
  }
  for (const auto& [atoms_a, ca] : left) {
    for (const auto& [atoms_b, cb] : right) {
      DimBuilder::Monomial atoms(atoms_a);
      atoms.insert(atoms.end(), atoms_b.begin(), atoms_b.end());
      std::sort(atoms.begin(), atoms.end());
      DimBuilder::AddTo(product, std::move(atoms), MulInt(ca, cb));
    }
  }
  return DimBuilder::FromSum(product);
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const() && b.value() != 0) return Dim(FloorDivInt(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Any();
  if (b.is_const(0)) return DimBuilder::Make(Kind::kFloorDiv, {a, b});  // see Evaluate
  if (b.is_const(1)) return a;
  if (a == b) return Dim(1);
  auto [quotient, rest] = DimBuilder::Divide(a, b);
  Dim q = DimBuilder::FromSum(quotient);
  Dim r = DimBuilder::FromSum(rest);
  if (r.is_const(0)) return q;
  auto low = r.LowerBound();
  auto room = (b - r).LowerBound();
  if (low && *low >= 0 && room && *room >= 1) return q;
  if (b.is_const() && b.value() > 0) return q + DimBuilder::ReducedFloorDiv(r, b.value());
  return q + DimBuilder::Make(Kind::kFloorDiv, {r, b});
}

Dim Dim::FloorMod(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const() && b.value() != 0) {
    return Dim(FloorModInt(a.value(), b.value()));
  }
  if (a.is_any() || b.is_any()) return Any();
  if (b.is_const(0)) return DimBuilder::Make(Kind::kFloorMod, {a, b});
  if (b.is_const(1) || a == b) return Dim(0);
  Dim r = DimBuilder::FromSum(DimBuilder::Divide(a, b).second);
  if (r.is_const(0)) return r;
  auto low = r.LowerBound();
  auto room = (b - r).LowerBound();
  if (low && *low >= 0 && room && *room >= 1) return r;
  return DimBuilder::Make(Kind::kFloorMod, {r, b});
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) { return FloorDiv(a + b - Dim(1), b); }

Dim Dim::Min(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(std::min(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Any();
  return DimBuilder::MinMax(Kind::kMin, a, b);
}

Dim Dim::Max(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(std::max(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Any();
  return DimBuilder::MinMax(Kind::kMax, a, b);
}

Dim Int32Dim(const Dim& a) {
  if (a.is_const()) return Dim(static_cast<int32_t>(a.value()));
  if (a.is_any()) return a;
  auto low = a.LowerBound();
  auto high = a.UpperBound();
  if (low && high && FitsInt32(*low) && FitsInt32(*high)) return a;
  return DimBuilder::Make(kInt32Dim, {a});
}

int Dim::Compare(const Dim& a, const Dim& b) {
  if (a.node_ == b.node_) return a.value_ < b.value_ ? -1 : (a.value_ > b.value_ ? 1 : 0);
  if (a.kind() != b.kind()) return a.kind() < b.kind() ? -1 : 1;
  if (a.kind() == Kind::kSymbol) {
    if (a.symbol_id() != b.symbol_id()) return a.symbol_id() < b.symbol_id() ? -1 : 1;
    return 0;
  }
  auto x = a.operands();
  auto y = b.operands();
  if (x.size() != y.size()) return x.size() < y.size() ? -1 : 1;
  for (size_t i = 0; i < x.size(); ++i) {
    if (int c = Compare(x[i], y[i]); c != 0) return c;
  }
  return 0;
}

namespace {

// The known bound of an expression from below (sign = 1) or from above (sign = -1).
std::optional<int64_t> KnownBound(const Dim& d, int sign) {
  return sign > 0 ? d.LowerBound() : d.UpperBound();
}

// The bound of an expression from those of its operands.
std::optional<int64_t> Bound(const Dim& d, int sign) {
  if (d.kind() == kInt32Dim) return sign > 0 ? INT32_MIN : INT32_MAX;
  switch (d.kind()) {
    case Dim::Kind::kConst:
      return d.value();
    case Dim::Kind::kAny:
      return std::nullopt;
    case Dim::Kind::kSymbol:
      if (sign > 0 && d.symbol_nonnegative()) return 0;
      return std::nullopt;
    case Dim::Kind::kAdd: {
      int64_t total = 0;
      for (const Dim& t : d.operands()) {
        auto b = KnownBound(t, sign);
        if (!b || __builtin_add_overflow(total, *b, &total)) return std::nullopt;
      }
      return total;
    }
    case Dim::Kind::kMul: {
      int64_t coefficient = 1;
      int64_t low = 1;
      int64_t high = 1;
      bool bounded = true;
      for (const Dim& f : d.operands()) {
        if (f.is_const()) {
          coefficient = f.value();
          continue;
        }
        auto lb = KnownBound(f, 1);
        if (!lb || *lb < 0 || __builtin_mul_overflow(low, *lb, &low)) return std::nullopt;
        auto ub = KnownBound(f, -1);
        bounded = bounded && ub && !__builtin_mul_overflow(high, *ub, &high);
      }
      bool want_low = (sign > 0) == (coefficient >= 0);
      int64_t result;
      if (!want_low && !bounded) return std::nullopt;
      if (__builtin_mul_overflow(want_low ? low : high, coefficient, &result)) return std::nullopt;
      return result;
    }
    case Dim::Kind::kFloorDiv: {
      const Dim& b = d.operands()[1];
      auto x = KnownBound(d.operands()[0], sign);
      if (b.is_const() && b.value() > 0 && x) return FloorDivInt(*x, b.value());
      auto low = KnownBound(d.operands()[0], 1);
      auto divisor = KnownBound(b, 1);
      if (sign > 0 && low && *low >= 0 && divisor && *divisor > 0) return 0;
      return std::nullopt;
    }
    case Dim::Kind::kFloorMod: {
      const Dim& b = d.operands()[1];
      if (b.is_const() && b.value() > 0) return sign > 0 ? 0 : b.value() - 1;
      auto divisor = KnownBound(b, 1);
      if (sign > 0 && divisor && *divisor > 0) return 0;
      return std::nullopt;
    }
    case Dim::Kind::kMin:
    case Dim::Kind::kMax: {
      // The best of what is known: min is bounded above by each operand, below only by all of them.
      bool any_suffices = (d.kind() == Dim::Kind::kMin) == (sign < 0);
      std::optional<int64_t> best;
      for (const Dim& x : d.operands()) {
        auto b = KnownBound(x, sign);
        if (!b) {
          if (any_suffices) continue;
          return std::nullopt;
        }
        if (!best) {
          best = b;
        } else {
          bool take_min = d.kind() == Dim::Kind::kMin;
          best = take_min ? std::min(*best, *b) : std::max(*best, *b);
        }
      }
      return best;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> Dim::LowerBound() const { return node_ ? node_->low : value_; }
std::optional<int64_t> Dim::UpperBound() const { return node_ ? node_->high : value_; }

bool Dim::ProvablyDifferent(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  Dim difference = a - b;
  auto low = difference.LowerBound();
  auto high = difference.UpperBound();
  if ((low && *low > 0) || (high && *high < 0)) return true;
  // 4n and 6m + 1: the difference is odd.
  if (difference.kind() != Kind::kAdd) return false;
  int64_t common = 0;
  int64_t constant = 0;
  for (const Dim& term : difference.operands()) {
    if (term.is_const()) {
      constant = term.value();
      continue;
    }
    bool scaled = term.kind() == Kind::kMul && term.operands().back().is_const();
    common = GcdInt(common, scaled ? term.operands().back().value() : 1);
  }
  return common != 0 && constant % common != 0;
}

bool Dim::ContainsAny() const { return node_ != nullptr && node_->contains_any; }
size_t Dim::Size() const { return node_ ? node_->size : 1; }

void Dim::ForEachSymbol(const std::function<void(const Dim&)>& fn) const {
  std::vector<uint32_t> seen;
  std::unordered_set<const Node*> visited;
  std::function<void(const Dim&)> walk = [&](const Dim& d) {
    if (d.is_symbol()) {
      if (std::find(seen.begin(), seen.end(), d.symbol_id()) != seen.end()) return;
      seen.push_back(d.symbol_id());
      fn(d);
      return;
    }
    if (d.Size() > kMaxTerms && !visited.insert(d.node_.get()).second) return;
    for (const Dim& x : d.operands()) walk(x);
  };
  walk(*this);
}

namespace {

// `d` with what fn makes of each operand, in canonical form.
Dim Rebuilt(const Dim& d, const std::function<Dim(const Dim& operand)>& fn) {
  std::vector<Dim> ops;
  bool changed = false;
  for (const Dim& operand : d.operands()) {
    ops.push_back(fn(operand));
    changed = changed || !(ops.back() == operand);
  }
  if (!changed) return d;
  if (d.kind() == kInt32Dim) return Int32Dim(ops[0]);
  if (d.kind() == Dim::Kind::kFloorDiv) return Dim::FloorDiv(ops[0], ops[1]);
  if (d.kind() == Dim::Kind::kFloorMod) return Dim::FloorMod(ops[0], ops[1]);
  Dim result = ops[0];
  for (size_t i = 1; i < ops.size(); ++i) {
    switch (d.kind()) {
      case Dim::Kind::kAdd:
        result = result + ops[i];
        break;
      case Dim::Kind::kMul:
        result = result * ops[i];
        break;
      case Dim::Kind::kMin:
        result = Dim::Min(result, ops[i]);
        break;
      default:
        result = Dim::Max(result, ops[i]);
        break;
    }
  }
  return result;
}

}  // namespace

Dim WithoutInt32(const Dim& d, std::vector<Dim>* assumed) {
  auto without = [&](const Dim& operand) { return WithoutInt32(operand, assumed); };
  if (d.kind() != kInt32Dim) return Rebuilt(d, without);
  Dim plain = without(d.operands()[0]);
  if (assumed != nullptr && !(Int32Dim(plain) == plain)) assumed->push_back(plain);
  return plain;
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(const Dim&)>& fn) const {
  switch (kind()) {
    case Kind::kConst:
    case Kind::kAny:
      return *this;
    case Kind::kSymbol: {
      auto replacement = fn(*this);
      return replacement ? *replacement : *this;
    }
    default:
      return Rebuilt(*this, [&](const Dim& operand) { return operand.Substitute(fn); });
  }
}

std::optional<int64_t> Dim::Evaluate(
    const std::function<std::optional<int64_t>(uint32_t)>& fn) const {
  if (is_const()) return value();
  if (is_any()) return std::nullopt;
  if (is_symbol()) return fn(symbol_id());
  std::optional<int64_t> result;
  for (const Dim& d : operands()) {
    auto v = d.Evaluate(fn);
    if (!v) return std::nullopt;
    if (!result) {
      result = v;
      continue;
    }
    int64_t a = *result;
    int64_t out = 0;
    switch (kind()) {
      case Kind::kAdd:
        if (__builtin_add_overflow(a, *v, &out)) return std::nullopt;
        break;
      case Kind::kMul:
        if (__builtin_mul_overflow(a, *v, &out)) return std::nullopt;
        break;
      case Kind::kFloorDiv:
      case Kind::kFloorMod:
        if (*v == 0 || (a == INT64_MIN && *v == -1)) return std::nullopt;
        out = kind() == Kind::kFloorDiv ? FloorDivInt(a, *v) : FloorModInt(a, *v);
        break;
      case Kind::kMin:
        out = std::min(a, *v);
        break;
      default:
        out = std::max(a, *v);
        break;
    }
    result = out;
  }
  if (kind() == kInt32Dim) result = static_cast<int32_t>(*result);
  return result;
}

size_t Dim::Hash() const { return node_ ? node_->hash : std::hash<int64_t>()(value_); }

Dim ProductOf(std::span<const Dim> dims) {
  Dim product(1);
  for (const Dim& d : dims) product = product * d;
  return product;
}

}  // namespace relayvm

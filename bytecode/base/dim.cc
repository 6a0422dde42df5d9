#include "bytecode/base/dim.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "bytecode/base/dim_node.h"

namespace relayvm {

using dim_internal::Bound;
using dim_internal::FloorDivInt;
using dim_internal::FloorModInt;
using dim_internal::GcdInt;

namespace {

size_t Mix(size_t h, size_t v) { return h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2)); }

constexpr bool FitsInt32(int64_t v) { return v == static_cast<int32_t>(v); }

// Products of sums are multiplied out up to this many terms; a larger one keeps its sums as
// factors. Beyond it two equal expressions may compare unequal, which costs a guard, never a wrong
// answer.
constexpr size_t kMaxTerms = 12;

// Coefficients under a divisor b are from 0 to b - 1; under one above this, those nearest to 0.
// Else floordiv(n - m, b) would be floordiv(n + m*(b - 1), b) - m, a product that need not fit 64
// bits.
constexpr int64_t kLargeDivisor = INT32_MAX;

}  // namespace

// Builds nodes in canonical form. A sum is handled as a map from monomial (an ordered product of
// atoms) to coefficient; one with a coefficient beyond 64 bits is not `exact`, and is nothing.
struct DimBuilder {
  using Monomial = std::vector<Dim>;  // ordered atoms; empty for the constant term
  struct MonomialLess {
    bool operator()(const Monomial& a, const Monomial& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
  struct Sum {
    std::map<Monomial, int64_t, MonomialLess> terms;
    bool exact = true;
  };

  static Dim Make(Dim::Kind kind, std::vector<Dim> operands, bool verbatim = false) {
    auto node = std::make_shared<Dim::Node>();
    node->kind = kind;
    node->verbatim = verbatim;
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

  // a + b or a * b as it was asked for. A product ends with no negative constant: its last operand,
  // where that is one, is read as a coefficient, and taken out with its sign.
  static Dim Verbatim(Dim::Kind kind, Dim a, Dim b) {
    if (b < a) std::swap(a, b);
    if (kind == Dim::Kind::kMul && a.is_const() && b.is_const()) {
      const bool has_least = a.is_const(INT64_MIN) || b.is_const(INT64_MIN);
      if (has_least && a.is_const(INT64_MIN)) std::swap(a, b);
      if (!has_least && b.value() < 0) {
        const Dim positive(-a.value());
        a = Dim(-b.value());
        b = positive;
      }
    }
    return Make(kind, {std::move(a), std::move(b)}, /*verbatim=*/true);
  }

  static void AddTo(Sum& sum, Monomial atoms, int64_t coefficient, bool minus = false) {
    int64_t& c = sum.terms[std::move(atoms)];
    const bool overflows = minus ? __builtin_sub_overflow(c, coefficient, &c)
                                 : __builtin_add_overflow(c, coefficient, &c);
    sum.exact = sum.exact && !overflows;
  }

  // `minus` subtracts: a negated coefficient could overflow, and d - d would not be 0.
  static void AddTerm(Sum& sum, const Dim& term, bool minus = false) {
    const bool verbatim = term.node_ != nullptr && term.node_->verbatim;
    if (term.kind() == Dim::Kind::kAdd && !verbatim) {
      for (const Dim& t : term.operands()) AddTerm(sum, t, minus);
      return;
    }
    int64_t coefficient = 1;
    Monomial atoms;
    if (term.is_const()) {
      coefficient = term.value();
    } else if (term.kind() == Dim::Kind::kMul && !verbatim) {
      for (const Dim& f : term.operands()) {
        if (f.is_const()) {
          coefficient = f.value();
        } else {
          atoms.push_back(f);
        }
      }
    } else {
      atoms.push_back(term);
    }
    AddTo(sum, std::move(atoms), coefficient, minus);
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

  // REQUIRES: sum.exact.
  static Dim FromSum(const Sum& sum) {
    std::vector<Dim> terms;
    int64_t constant = 0;
    for (const auto& [atoms, coefficient] : sum.terms) {
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
  static std::pair<Dim, Dim> Divide(const Dim& a, const Dim& b) {
    Sum quotient;
    Sum rest;
    const Sum divisor = ToSum(b), dividend = ToSum(a);
    if (divisor.terms.size() != 1) return {Dim(0), a};
    const auto& [b_atoms, b_coefficient] = *divisor.terms.begin();
    for (const auto& [atoms, coefficient] : dividend.terms) {
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
      if (coefficient == INT64_MIN && b_coefficient == -1) return {Dim(0), a};
      int64_t times = FloorDivInt(coefficient, b_coefficient);
      int64_t more = FloorModInt(coefficient, b_coefficient);
      if (b_coefficient > kLargeDivisor && more > b_coefficient / 2) {
        times += 1;  // of magnitude far below what overflows, by so large a divisor
        more -= b_coefficient;
      }
      AddTo(quotient, left, times);
      AddTo(rest, atoms, more);
    }
    if (!quotient.exact || !rest.exact) return {Dim(0), a};
    return {FromSum(quotient), FromSum(rest)};
  }

  // Whether `atom` is min(1, x, ...) in a product with each x, none of them negative, which it does
  // not change: n*min(1, n) is n.
  static bool IsOneOf(const Dim& atom, const Monomial& product) {
    if (atom.kind() != Dim::Kind::kMin) return false;
    if (std::ranges::find(atom.operands(), Dim(1)) == atom.operands().end()) return false;
    return std::ranges::all_of(atom.operands(), [&](const Dim& x) {
      if (x.is_const()) return true;
      auto low = x.LowerBound();
      return low && *low >= 0 && std::ranges::find(product, x) != product.end();
    });
  }

  // floordiv(r, b) for a rest that Divide left, b a positive constant: common factors cancel,
  // nested divisions join.
  static Dim ReducedFloorDiv(const Dim& r, int64_t b) {
    Sum sum = ToSum(r);
    int64_t constant = 0;
    int64_t common = b;
    for (const auto& [atoms, coefficient] : sum.terms) {
      if (atoms.empty()) {
        constant = coefficient;
      } else {
        common = GcdInt(common, coefficient);
      }
    }
    if (common > 1) {
      Sum reduced;
      for (const auto& [atoms, coefficient] : sum.terms) {
        AddTo(reduced, atoms, FloorDivInt(coefficient, common));
      }
      return Dim::FloorDiv(FromSum(reduced), Dim(b / common));
    }
    // floordiv(floordiv(x, a) + c, b) == floordiv(x + a*c, a*b)
    Dim inner = FromSum(sum) - Dim(constant);
    if (inner.kind() == Dim::Kind::kFloorDiv && inner.operands()[1].is_const()) {
      int64_t a = inner.operands()[1].value();
      int64_t product, moved;
      if (a > 0 && !__builtin_mul_overflow(a, b, &product) &&
          !__builtin_mul_overflow(a, constant, &moved)) {
        return Dim::FloorDiv(inner.operands()[0] + Dim(moved), Dim(product));
      }
    }
    return Make(Dim::Kind::kFloorDiv, {r, Dim(b)});
  }

  static Dim MinMax(Dim::Kind kind, const Dim& a, const Dim& b) {
    struct Part {
      Dim dim;
      bool of_a;
    };
    std::vector<Part> all;
    const auto add = [&](const Dim& d, bool of_a) {  // a and b may be one object
      for (const Dim& part : d.kind() == kind ? d.operands() : std::span(&d, 1))
        all.push_back({part, of_a});
    };
    add(a, true);
    add(b, false);
    // Keep what no other operand dominates for every value of the symbols. Of operands that
    // dominate each other (equal, though maybe written differently) the first stays.
    std::sort(all.begin(), all.end(), [](const Part& x, const Part& y) {
      const int order = Dim::Compare(x.dim, y.dim);
      return order != 0 ? order < 0 : x.of_a && !y.of_a;
    });
    const bool is_min = kind == Dim::Kind::kMin;
    std::function<bool(const Dim&, const Dim&)> dominates = [&](const Dim& x, const Dim& y) {
      if (x.is_symbol() && y.is_symbol()) return x == y;
      auto low = (is_min ? y - x : x - y).LowerBound();
      if (low && *low >= 0) return true;
      // max(n, min(m, n)) is n.
      return y.kind() == (is_min ? Dim::Kind::kMax : Dim::Kind::kMin) &&
             std::ranges::any_of(y.operands(), [&](const Dim& part) { return dominates(x, part); });
    };
    // Those of one canonical form do not dominate each other.
    std::vector<Part> kept;
    for (const Part& d : all) {
      auto dominates_d = [&](const Part& k) { return k.of_a != d.of_a && dominates(k.dim, d.dim); };
      if (std::any_of(kept.begin(), kept.end(), dominates_d)) continue;
      std::erase_if(kept,
                    [&](const Part& k) { return k.of_a != d.of_a && dominates(d.dim, k.dim); });
      kept.push_back(d);
    }
    if (kept.size() == 1) return kept[0].dim;
    std::vector<Dim> operands;
    operands.reserve(kept.size());
    for (Part& part : kept) operands.push_back(std::move(part.dim));
    return Make(kind, std::move(operands));
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
  if (int64_t sum;
      a.is_const() && b.is_const() && !__builtin_add_overflow(a.value(), b.value(), &sum))
    return Dim(sum);
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b);
  return sum.exact ? DimBuilder::FromSum(sum) : DimBuilder::Verbatim(Dim::Kind::kAdd, a, b);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (int64_t difference;
      a.is_const() && b.is_const() && !__builtin_sub_overflow(a.value(), b.value(), &difference))
    return Dim(difference);
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b, /*minus=*/true);
  return sum.exact ? DimBuilder::FromSum(sum)
                   : DimBuilder::Verbatim(Dim::Kind::kAdd, a, b * Dim(-1));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (int64_t product;
      a.is_const() && b.is_const() && !__builtin_mul_overflow(a.value(), b.value(), &product))
    return Dim(product);
  if (a.is_const(0) || b.is_const(0)) return Dim(0);
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  if (a.is_any() || b.is_any()) return Dim::Any();
  DimBuilder::Sum product;
  auto left = DimBuilder::ToSum(a).terms;
  auto right = DimBuilder::ToSum(b).terms;
  auto keeps_sums = [](const auto& terms) {
    return std::any_of(terms.begin(), terms.end(), [](const auto& term) {
      return std::any_of(term.first.begin(), term.first.end(),
                         [](const Dim& atom) { return atom.kind() == Dim::Kind::kAdd; });
    });
  };
  // A number multiplies terms and makes none.
  const bool grows = !a.is_const() && !b.is_const() && left.size() * right.size() > kMaxTerms;
  if (grows || keeps_sums(left) || keeps_sums(right)) {
    if (left.size() > 1) left = {{{a}, 1}};
    if (right.size() > 1) right = {{{b}, 1}};
  }
  for (const auto& [atoms_a, ca] : left) {
    for (const auto& [atoms_b, cb] : right) {
      DimBuilder::Monomial atoms(atoms_a);
      atoms.insert(atoms.end(), atoms_b.begin(), atoms_b.end());
      std::sort(atoms.begin(), atoms.end());
      auto is_min = [](const Dim& atom) { return atom.kind() == Dim::Kind::kMin; };
      if (std::ranges::any_of(atoms, is_min)) {
        const DimBuilder::Monomial all = atoms;
        std::erase_if(atoms, [&](const Dim& atom) { return DimBuilder::IsOneOf(atom, all); });
      }
      int64_t coefficient;
      if (__builtin_mul_overflow(ca, cb, &coefficient))
        return DimBuilder::Verbatim(Dim::Kind::kMul, a, b);
      DimBuilder::AddTo(product, std::move(atoms), coefficient);
    }
  }
  return product.exact ? DimBuilder::FromSum(product) : DimBuilder::Verbatim(Dim::Kind::kMul, a, b);
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return Any();
  // Without a value: see Evaluate.
  if (b.is_const(0) || (a.is_const(INT64_MIN) && b.is_const(-1)))
    return DimBuilder::Make(Kind::kFloorDiv, {a, b});
  if (a.is_const() && b.is_const()) return Dim(FloorDivInt(a.value(), b.value()));
  if (b.is_const(1)) return a;
  if (a == b) return Dim(1);
  const auto [q, r] = DimBuilder::Divide(a, b);
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
  const Dim r = DimBuilder::Divide(a, b).second;
  if (r.is_const(0)) return r;
  auto low = r.LowerBound();
  auto room = (b - r).LowerBound();
  if (low && *low >= 0 && room && *room >= 1) return r;
  return DimBuilder::Make(Kind::kFloorMod, {r, b});
}

Dim Dim::CeilDiv(const Dim& a, const Dim& b) {
  // The same; a + b may be beyond 64 bits where the quotient is not.
  if (a.is_const() && b.is_const() && b.value() > 0) {
    const int64_t more = FloorModInt(a.value(), b.value()) != 0 ? 1 : 0;
    return Dim(FloorDivInt(a.value(), b.value()) + more);
  }
  if (b.is_const() && b.value() > 0) return FloorDiv(a - Dim(1), b) + Dim(1);
  return FloorDiv(a + b - Dim(1), b);
}

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

Dim Dim::Int32(const Dim& a) {
  if (a.is_const()) return Dim(static_cast<int32_t>(a.value()));
  if (a.is_any()) return a;
  auto low = a.LowerBound();
  auto high = a.UpperBound();
  if (low && high && FitsInt32(*low) && FitsInt32(*high)) return a;
  return DimBuilder::Make(Kind::kInt32, {a});
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

bool Dim::ContainsAny() const { return node_ != nullptr && node_->contains_any; }
size_t Dim::Size() const { return node_ ? node_->size : 1; }

size_t Dim::Hash() const { return node_ ? node_->hash : std::hash<int64_t>()(value_); }

Dim ProductOf(std::span<const Dim> dims) {
  Dim product(1);
  for (const Dim& d : dims) product = product * d;
  return product;
}

}  // namespace relayvm

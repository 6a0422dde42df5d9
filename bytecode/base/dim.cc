#include "bytecode/base/dim.h"

#include <algorithm>
#include <map>
#include <utility>

namespace relayvm {

struct Dim::Node {
  Kind kind;
  uint32_t symbol_id = 0;
  bool nonnegative = true;
  std::string name;
  std::vector<Dim> operands;
  size_t hash = 0;
};

namespace {

size_t Mix(size_t h, size_t v) { return h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2)); }

int64_t FloorDivInt(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace

// Builds nodes in canonical form. A sum is handled as a map from monomial (an ordered product of atoms) to coefficient.
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
    node->operands = std::move(operands);
    return Dim(std::shared_ptr<const Dim::Node>(std::move(node)));
  }

  static Dim MakeLeaf(Dim::Kind kind, uint32_t id, std::string name, bool nonnegative) {
    auto node = std::make_shared<Dim::Node>();
    node->kind = kind;
    node->symbol_id = id;
    node->name = std::move(name);
    node->nonnegative = nonnegative;
    node->hash = Mix(static_cast<size_t>(kind), id * 2654435761U);
    return Dim(std::shared_ptr<const Dim::Node>(std::move(node)));
  }

  static void AddTerm(Sum& sum, const Dim& term, int64_t scale) {
    if (term.is_const()) {
      sum[{}] += term.value() * scale;
      return;
    }
    if (term.kind() == Dim::Kind::kAdd) {
      for (const Dim& t : term.operands()) AddTerm(sum, t, scale);
      return;
    }
    int64_t coefficient = scale;
    Monomial atoms;
    if (term.kind() == Dim::Kind::kMul) {
      for (const Dim& f : term.operands()) {
        if (f.is_const()) {
          coefficient *= f.value();
        } else {
          atoms.push_back(f);
        }
      }
    } else {
      atoms.push_back(term);
    }
    sum[std::move(atoms)] += coefficient;
  }

  static Sum ToSum(const Dim& d) {
    Sum sum;
    AddTerm(sum, d, 1);
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

  // a = quotient * b + rest, term by term: the quotient takes what divides exactly.
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
      bool divides = j == b_atoms.size() && b_coefficient != 0;
      if (divides && coefficient % b_coefficient == 0) {
        quotient[left] += coefficient / b_coefficient;
      } else if (divides && atoms.empty()) {
        quotient[{}] += FloorDivInt(coefficient, b_coefficient);
        rest[{}] += coefficient - FloorDivInt(coefficient, b_coefficient) * b_coefficient;
      } else {
        rest[atoms] += coefficient;
      }
    }
    return {quotient, rest};
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
    // Drop each operand that another one dominates for every value of the symbols.
    std::vector<Dim> kept;
    for (size_t i = 0; i < all.size(); ++i) {
      bool dominated = false;
      for (size_t j = 0; j < all.size() && !dominated; ++j) {
        if (i == j) continue;
        Dim difference = kind == Dim::Kind::kMin ? all[i] - all[j] : all[j] - all[i];
        auto low = difference.LowerBound();
        if (!low || *low < 0) continue;
        bool equal = difference.is_const(0);
        dominated = !equal || j < i;
      }
      if (!dominated) kept.push_back(all[i]);
    }
    if (kept.size() == 1) return kept[0];
    std::sort(kept.begin(), kept.end());
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
  if (a.is_const() && b.is_const()) return Dim(a.value() + b.value());
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b, 1);
  return DimBuilder::FromSum(sum);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(a.value() - b.value());
  if (a.is_any() || b.is_any()) return Dim::Any();
  auto sum = DimBuilder::ToSum(a);
  DimBuilder::AddTerm(sum, b, -1);
  return DimBuilder::FromSum(sum);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return Dim(a.value() * b.value());
  if (a.is_const(0) || b.is_const(0)) return Dim(0);
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  if (a.is_any() || b.is_any()) return Dim::Any();
  DimBuilder::Sum product;
  auto left = DimBuilder::ToSum(a);
  auto right = DimBuilder::ToSum(b);
  for (const auto& [atoms_a, ca] : left) {
    for (const auto& [atoms_b, cb] : right) {
      DimBuilder::Monomial atoms(atoms_a);
      atoms.insert(atoms.end(), atoms_b.begin(), atoms_b.end());
      std::sort(atoms.begin(), atoms.end());
      product[std::move(atoms)] += ca * cb;
    }
  }
  return DimBuilder::FromSum(product);
}

Dim Dim::FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const() && b.value() != 0) return Dim(FloorDivInt(a.value(), b.value()));
  if (a.is_any() || b.is_any()) return Any();
  if (b.is_const(1)) return a;
  if (a == b) return Dim(1);
  auto [quotient, rest] = DimBuilder::Divide(a, b);
  Dim q = DimBuilder::FromSum(quotient);
  Dim r = DimBuilder::FromSum(rest);
  if (r.is_const(0)) return q;
  auto low = r.LowerBound();
  auto room = (b - r).LowerBound();
  if (low && *low >= 0 && room && *room >= 1) return q;
  return q + DimBuilder::Make(Kind::kFloorDiv, {r, b});
}

Dim Dim::FloorMod(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const() && b.value() != 0) {
    return Dim(a.value() - FloorDivInt(a.value(), b.value()) * b.value());
  }
  if (a.is_any() || b.is_any()) return Any();
  if (b.is_const(1)) return Dim(0);
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

// The bound of an expression from below (sign = 1) or from above (sign = -1).
std::optional<int64_t> Bound(const Dim& d, int sign) {
  switch (d.kind()) {
    case Dim::Kind::kConst: return d.value();
    case Dim::Kind::kAny: return std::nullopt;
    case Dim::Kind::kSymbol:
      if (sign > 0 && d.symbol_nonnegative()) return 0;
      return std::nullopt;
    case Dim::Kind::kAdd: {
      int64_t total = 0;
      for (const Dim& t : d.operands()) {
        auto b = Bound(t, sign);
        if (!b) return std::nullopt;
        total += *b;
      }
      return total;
    }
    case Dim::Kind::kMul: {
      int64_t coefficient = 1;
      int64_t low = 1;
      bool bounded = true;
      int64_t high = 1;
      for (const Dim& f : d.operands()) {
        if (f.is_const()) {
          coefficient = f.value();
          continue;
        }
        auto lb = Bound(f, 1);
        if (!lb || *lb < 0) return std::nullopt;
        low *= *lb;
        auto ub = Bound(f, -1);
        if (ub) {
          high *= *ub;
        } else {
          bounded = false;
        }
      }
      bool want_low = (sign > 0) == (coefficient >= 0);
      if (want_low) return low * coefficient;
      if (bounded) return high * coefficient;
      return std::nullopt;
    }
    case Dim::Kind::kFloorDiv: {
      const Dim& b = d.operands()[1];
      auto x = Bound(d.operands()[0], sign);
      if (b.is_const() && b.value() > 0 && x) return FloorDivInt(*x, b.value());
      auto low = Bound(d.operands()[0], 1);
      auto divisor = Bound(b, 1);
      if (sign > 0 && low && *low >= 0 && divisor && *divisor >= 0) return 0;
      return std::nullopt;
    }
    case Dim::Kind::kFloorMod: {
      const Dim& b = d.operands()[1];
      if (!b.is_const() || b.value() <= 0) return std::nullopt;
      return sign > 0 ? 0 : b.value() - 1;
    }
    case Dim::Kind::kMin:
    case Dim::Kind::kMax: {
      // The best of what is known: min is bounded above by each operand, below only by all of them.
      bool any_suffices = (d.kind() == Dim::Kind::kMin) == (sign < 0);
      std::optional<int64_t> best;
      for (const Dim& x : d.operands()) {
        auto b = Bound(x, sign);
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

std::optional<int64_t> Dim::LowerBound() const { return Bound(*this, 1); }
std::optional<int64_t> Dim::UpperBound() const { return Bound(*this, -1); }

bool Dim::ProvablyDifferent(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  Dim difference = a - b;
  auto low = difference.LowerBound();
  auto high = difference.UpperBound();
  return (low && *low > 0) || (high && *high < 0);
}

bool Dim::ContainsAny() const {
  if (is_any()) return true;
  auto ops = operands();
  return std::any_of(ops.begin(), ops.end(), [](const Dim& d) { return d.ContainsAny(); });
}

void Dim::ForEachSymbol(const std::function<void(const Dim&)>& fn) const {
  std::vector<uint32_t> seen;
  std::function<void(const Dim&)> walk = [&](const Dim& d) {
    if (d.is_symbol()) {
      if (std::find(seen.begin(), seen.end(), d.symbol_id()) != seen.end()) return;
      seen.push_back(d.symbol_id());
      fn(d);
      return;
    }
    for (const Dim& x : d.operands()) walk(x);
  };
  walk(*this);
}

Dim Dim::Substitute(const std::function<std::optional<Dim>(const Dim&)>& fn) const {
  switch (kind()) {
    case Kind::kConst:
    case Kind::kAny: return *this;
    case Kind::kSymbol: {
      auto replacement = fn(*this);
      return replacement ? *replacement : *this;
    }
    default: break;
  }
  std::vector<Dim> ops;
  bool changed = false;
  for (const Dim& d : operands()) {
    ops.push_back(d.Substitute(fn));
    changed = changed || !(ops.back() == d);
  }
  if (!changed) return *this;
  Dim result = ops[0];
  if (kind() == Kind::kFloorDiv) return FloorDiv(ops[0], ops[1]);
  if (kind() == Kind::kFloorMod) return FloorMod(ops[0], ops[1]);
  for (size_t i = 1; i < ops.size(); ++i) {
    switch (kind()) {
      case Kind::kAdd: result = result + ops[i]; break;
      case Kind::kMul: result = result * ops[i]; break;
      case Kind::kMin: result = Min(result, ops[i]); break;
      default: result = Max(result, ops[i]); break;
    }
  }
  return result;
}

std::optional<int64_t> Dim::Evaluate(const std::function<std::optional<int64_t>(uint32_t)>& fn) const {
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
        out = FloorDivInt(a, *v);
        if (kind() == Kind::kFloorMod) out = a - out * *v;
        break;
      case Kind::kMin: out = std::min(a, *v); break;
      default: out = std::max(a, *v); break;
    }
    result = out;
  }
  return result;
}

namespace {
void Print(const Dim& d, bool in_product, std::string& out) {
  auto list = [&](const char* separator, bool product) {
    bool first = true;
    for (const Dim& x : d.operands()) {
      if (!first) out += separator;
      first = false;
      Print(x, product, out);
    }
  };
  switch (d.kind()) {
    case Dim::Kind::kConst: out += std::to_string(d.value()); return;
    case Dim::Kind::kAny: out += "?"; return;
    case Dim::Kind::kSymbol: out += d.symbol_name(); return;
    case Dim::Kind::kAdd:
      if (in_product) out += "(";
      list(" + ", false);
      if (in_product) out += ")";
      return;
    case Dim::Kind::kMul: list("*", true); return;
    case Dim::Kind::kFloorDiv: out += "floordiv("; break;
    case Dim::Kind::kFloorMod: out += "floormod("; break;
    case Dim::Kind::kMin: out += "min("; break;
    case Dim::Kind::kMax: out += "max("; break;
  }
  list(", ", false);
  out += ")";
}
}  // namespace

std::string Dim::ToString() const {
  std::string out;
  Print(*this, false, out);
  return out;
}

size_t Dim::Hash() const { return node_ ? node_->hash : std::hash<int64_t>()(value_); }

Dim ProductOf(std::span<const Dim> dims) {
  Dim product(1);
  for (const Dim& d : dims) product = product * d;
  return product;
}

std::string ShapeToString(std::span<const Dim> dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += dims[i].ToString();
  }
  return out + ")";
}

}  // namespace relayvm

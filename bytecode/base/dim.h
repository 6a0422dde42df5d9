// Dim: a tensor dimension as a symbolic integer expression with identity.
//
// A Dim is an integer, a named symbol, an expression over them (+ * floordiv floormod min max), or
// "any" (an unknown without identity, legal only inside types of containers and functions; see
// compiler/ir/type.h). Every Dim is kept in canonical form, so two Dims are equal as expressions
// exactly when operator== says so:
//   sum      := ordered terms, the constant last; a term is coefficient * ordered product of atoms
//   atom     := symbol | floordiv(e, e) | floormod(e, e) | min(e...) | max(e...)
//            |  int32(e) | a sum, in products that are too large to multiply out
//            |  e + e | e * e, whose numbers would not fit 64 bits: as asked for, equal to no other
// int32(e) is e as an int32 holds it, wrapped: what a tensor of int32 holds. A size never is one.
// Immutable value type, one pointer or integer wide; sharing is by reference count. Thread-safe to
// read. Tested by dim_test.cc.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace relayvm {

class Dim {
 public:
  enum class Kind : uint8_t {
    kConst,
    kAny,
    kSymbol,
    kAdd,
    kMul,
    kFloorDiv,
    kFloorMod,
    kMin,
    kMax,
    kInt32
  };

  Dim() = default;    // the constant 0
  Dim(int64_t value)  // NOLINT(google-explicit-constructor): dims mix with integers
      : value_(value) {}
  static Dim Any();
  // A symbol is identified by `id` alone; `name` is for people. `nonnegative` says that its value
  // is never below 0 (true of every tensor dimension; false for a number read from a tensor).
  static Dim Symbol(uint32_t id, std::string name, bool nonnegative = true);

  Kind kind() const;
  bool is_const() const { return node_ == nullptr; }
  bool is_const(int64_t v) const { return node_ == nullptr && value_ == v; }
  bool is_any() const { return kind() == Kind::kAny; }
  bool is_symbol() const { return kind() == Kind::kSymbol; }
  // REQUIRES: is_const().
  int64_t value() const { return value_; }
  // REQUIRES: is_symbol().
  uint32_t symbol_id() const;
  const std::string& symbol_name() const;
  bool symbol_nonnegative() const;
  // Operands of kAdd, kMul (at least 2), kFloorDiv, kFloorMod (2), kMin, kMax (at least 2), kInt32
  // (1); empty otherwise.
  std::span<const Dim> operands() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Rounds toward minus infinity. A division that the canonical form cancels (n*4 floordiv 4) is
  // taken as exact.
  static Dim FloorDiv(const Dim& a, const Dim& b);
  static Dim FloorMod(const Dim& a, const Dim& b);
  static Dim CeilDiv(const Dim& a, const Dim& b);  // floordiv(a + b - 1, b)
  static Dim Min(const Dim& a, const Dim& b);
  static Dim Max(const Dim& a, const Dim& b);
  // int32(a); `a` itself where its bounds say that it fits.
  static Dim Int32(const Dim& a);

  // Equality of canonical forms. Any equals Any (as syntax; it does not say that two unknowns are
  // the same number).
  friend bool operator==(const Dim& a, const Dim& b) {
    return a.Hash() == b.Hash() && Compare(a, b) == 0;
  }
  // A total order on canonical forms, the same in every run.
  static int Compare(const Dim& a, const Dim& b);
  friend bool operator<(const Dim& a, const Dim& b) { return Compare(a, b) < 0; }

  // Bounds that hold for every value of the symbols, where known.
  std::optional<int64_t> LowerBound() const;
  std::optional<int64_t> UpperBound() const;
  // True when a != b for every value of the symbols (for example 3 and 4, n and n + 1).
  static bool ProvablyDifferent(const Dim& a, const Dim& b);

  bool ContainsAny() const;
  // Nodes of the expression as a tree.
  size_t Size() const;
  // Calls fn once for each distinct symbol, in order of first occurrence.
  void ForEachSymbol(const std::function<void(const Dim& symbol)>& fn) const;
  // Replaces each symbol by what fn gives (nullopt: keeps it) and re-canonicalises.
  Dim Substitute(const std::function<std::optional<Dim>(const Dim& symbol)>& fn) const;
  // This with each int32(x) replaced by x. It has the same value where the x fit int32; these are
  // added to `assumed`, each after those inside it.
  Dim WithoutInt32(std::vector<Dim>* assumed = nullptr) const;
  // The value when fn knows every symbol. Division by zero and overflow give nullopt.
  std::optional<int64_t> Evaluate(
      const std::function<std::optional<int64_t>(uint32_t id)>& fn) const;

  // "3", "?", "n", "n*4 + 1", "floordiv(n, 2)", "max(n, m)".
  std::string ToString() const;
  size_t Hash() const;

 private:
  struct Node;
  friend struct DimBuilder;
  explicit Dim(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  int64_t value_ = 0;
  std::shared_ptr<const Node> node_;
};

// The product of all dims (1 when empty).
Dim ProductOf(std::span<const Dim> dims);
// "(1, n, ?)", "(3)" for one.
std::string ShapeToString(std::span<const Dim> dims);

}  // namespace relayvm

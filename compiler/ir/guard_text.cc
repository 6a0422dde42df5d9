#include "compiler/ir/guard_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/message.h"

namespace relayvm::ir {
namespace {

// Factors of a product that is written out.
constexpr size_t kMaxFactors = 6;

class GuardWriter {
 public:
  std::string Value(const Dim& d) {
    if (d.is_const()) return std::to_string(d.value());
    auto at = std::find(values_.begin(), values_.end(), d);
    size_t index = static_cast<size_t>(at - values_.begin());
    if (at == values_.end()) values_.push_back(d);
    return fmt::format("{{{}}}", index);
  }
  static bool IsShortProduct(const Dim& d) {
    return d.kind() == Dim::Kind::kMul && d.operands().size() <= kMaxFactors;
  }
  std::string Formula(const Dim& d) {
    if (!IsShortProduct(d)) return Value(d);
    std::string out;
    for (const Dim& factor : d.operands()) {
      if (!out.empty()) out += " x ";
      out += Value(factor);
    }
    return out;
  }
  std::vector<Dim> Take() { return std::move(values_); }

 private:
  std::vector<Dim> values_;
};

}  // namespace

GuardText TextOf(const Guard& guard) {
  GuardWriter writer;
  std::string left = writer.Formula(guard.left);
  std::string right = GuardWriter::IsShortProduct(guard.left) ? writer.Value(guard.right)
                                                              : writer.Formula(guard.right);
  std::string relation;
  switch (guard.kind) {
    case Guard::Kind::kEqual:
      relation = fmt::format("{} does not equal {}", left, right);
      break;
    case Guard::Kind::kAtLeast:
      // A bound that is known stands for what it bounds.
      relation = guard.right.is_const(0) ? fmt::format("{} is negative", left)
                 : guard.left.is_const()
                     ? fmt::format("expected at most {}, found {}", left, right)
                     : fmt::format("expected at least {}, found {}", right, left);
      break;
    case Guard::Kind::kBroadcastable:
      relation = fmt::format("{} and {} do not broadcast", left, right);
      break;
  }
  return {EscapeMessage(guard.message) + ": " + relation, writer.Take()};
}

bool Holds(Guard::Kind kind, int64_t left, int64_t right) {
  switch (kind) {
    case Guard::Kind::kEqual:
      return left == right;
    case Guard::Kind::kAtLeast:
      return left >= right;
    case Guard::Kind::kBroadcastable:
      return left == right || left == 1 || right == 1;
  }
  return false;
}

}  // namespace relayvm::ir

#include "tools/serve/memory_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "bytecode/memory_report.h"
#include "bytecode/program.h"

namespace relayvm::serve {

// sum: product {+ product | - product}   product: primary {* primary}
// primary: number | name | name(sum, ...) | (sum)
class FormulaParser {
 public:
  FormulaParser(std::string_view text, const FunctionSignature& function)
      : text_(text), function_(function) {}

  std::optional<MemoryFormula> Parse() {
    if (!Sum() || !text_.empty()) return std::nullopt;
    if (!CheckSizeFormula(formula_.steps_, formula_.places_.size(), /*shape=*/false).ok())
      return std::nullopt;
    return std::move(formula_);
  }

 private:
  using Kind = SizeStep::Kind;
  static constexpr int kMaxDepth = 64;

  bool Take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void Push(Kind kind, int64_t value = 0) { formula_.steps_.push_back({kind, value}); }

  bool Sum() {
    if (++depth_ > kMaxDepth || !Product()) return false;
    for (;;) {
      const bool is_minus = text_.starts_with(" - ");
      if (!is_minus && !text_.starts_with(" + ")) break;
      text_.remove_prefix(3);
      if (!Product()) return false;
      Push(is_minus ? Kind::kSub : Kind::kAdd);
    }
    --depth_;
    return true;
  }

  bool Product() {
    if (!Primary()) return false;
    while (Take("*")) {
      if (!Primary()) return false;
      Push(Kind::kMul);
    }
    return formula_.steps_.size() <= kMaxSizeSteps;
  }

  bool Primary() {
    if (Take("(")) return Sum() && Take(")");
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error == std::errc()) {
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      Push(Kind::kConst, number);
      return true;
    }
    const size_t length = std::min(text_.find_first_of(" ,()*+"), text_.size());
    const std::string_view name = text_.substr(0, length);
    if (name.empty()) return false;
    text_.remove_prefix(length);
    if (Take("()")) {  // a call of which nothing is known
      Push(Kind::kConst, 0);
      return true;
    }
    if (Take("(")) return Arguments(name);
    Name(name);
    return true;
  }

  bool Arguments(std::string_view function) {
    const Kind kind = function == "max"        ? Kind::kMax
                      : function == "min"      ? Kind::kMin
                      : function == "floordiv" ? Kind::kFloorDiv
                      : function == "floormod" ? Kind::kFloorMod
                                               : Kind::kDim;
    if (kind == Kind::kDim || !Sum()) return false;
    while (Take(", ")) {
      if (!Sum()) return false;
      Push(kind);
    }
    return Take(")");
  }

  void Name(std::string_view name) {
    for (size_t i = 0; i < function_.inputs.size(); ++i) {
      const NamedType& input = function_.inputs[i];
      if (input.type.kind != TypeInfo::Kind::kTensor) continue;
      for (size_t d = 0; d < input.type.dims.size(); ++d) {
        if (input.type.dims[d].name != name && fmt::format("{}.shape[{}]", input.name, d) != name)
          continue;
        Push(Kind::kScalar, static_cast<int64_t>(formula_.places_.size()));
        formula_.places_.push_back({i, d});
        return;
      }
    }
    Push(Kind::kConst, 0);
  }

  std::string_view text_;
  const FunctionSignature& function_;
  MemoryFormula formula_;
  int depth_ = 0;
};

std::optional<MemoryFormula> MemoryFormula::Parse(std::string_view text,
                                                  const FunctionSignature& function) {
  return FormulaParser(text, function).Parse();
}

std::optional<MemoryFormula> MemoryFormula::Of(const Executable& executable,
                                               const FunctionSignature& function) {
  const ExportInfo* exported = executable.FindExport(function.name);
  if (exported == nullptr) return std::nullopt;
  const MemoryReport report = ReportMemory(executable.program(), exported->function);
  return Parse(report.total_bytes.empty() ? report.peak_bytes : report.total_bytes, function);
}

int64_t MemoryFormula::Evaluate(std::span<const Value> inputs) const {
  std::vector<int64_t> dims;
  for (const Place& place : places_) {
    const bool is_there = place.input < inputs.size() && inputs[place.input].is_tensor() &&
                          place.dim < inputs[place.input].dims().size();
    dims.push_back(is_there ? inputs[place.input].dims()[place.dim] : 0);
  }
  return std::max<int64_t>(EvaluateSize(steps_, dims.data()).value_or(INT64_MAX), 0);
}

}  // namespace relayvm::serve

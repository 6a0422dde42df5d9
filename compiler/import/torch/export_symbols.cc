#include "compiler/import/torch/export_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace relayvm::import::torch {

namespace {

constexpr int kMostDepth = 100;
constexpr size_t kMostText = size_t{1} << 16;
constexpr size_t kMostSize = 1000;  // of an expression

class Parser {
 public:
  Parser(std::string_view text, const std::function<Dim(const std::string&)>& symbol)
      : text_(text), symbol_(symbol) {}

  Result<Dim> Run() {
    if (text_.size() > kMostText) return Wrong("a shorter expression");
    Dim d = Sum();
    Blank();
    if (ok_ && at_ != text_.size()) ok_ = false;
    if (!ok_) return Wrong("an expression of sizes");
    return d;
  }

 private:
  Status Wrong(std::string_view expected) const {
    return {StatusCode::kInvalidInput,
            fmt::format("size '{}': expected {}", text_.substr(0, 80), expected)};
  }
  void Blank() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(std::string_view token) {
    Blank();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  Dim Failed() {
    ok_ = false;
    return Dim::Any();
  }

  static Dim Checked(const Dim& d) { return d.Size() > kMostSize ? Dim::Any() : d; }
  static Dim Both(const Dim& x, const Dim& y, Dim (*fn)(const Dim&, const Dim&)) {
    if (x.ContainsAny() || y.ContainsAny()) return Dim::Any();
    return Checked(fn(x, y));
  }
  static Dim Plus(const Dim& x, const Dim& y) { return x + y; }
  static Dim Minus(const Dim& x, const Dim& y) { return x - y; }
  static Dim Times(const Dim& x, const Dim& y) { return x * y; }
  static Dim Quotient(const Dim& x, const Dim& y) {
    return y.is_const(0) ? Dim::Any() : Dim::FloorDiv(x, y);
  }
  static Dim Rest(const Dim& x, const Dim& y) {
    return y.is_const(0) ? Dim::Any() : Dim::FloorMod(x, y);
  }
  static Dim Power(const Dim& x, const Dim& y) {
    if (!y.is_const() || y.value() < 0 || y.value() > 8) return Dim::Any();
    Dim out(1);
    for (int64_t i = 0; i < y.value(); ++i) out = out * x;
    return out;
  }

  // --- Plain text: + - * // % and brackets ---

  Dim Sum() {
    if (++depth_ > kMostDepth) return Failed();
    Dim x = Take("-") ? Both(Dim(0), Product(), Minus) : Product();
    while (ok_) {
      if (Take("+")) {
        x = Both(x, Product(), Plus);
      } else if (Take("-")) {
        x = Both(x, Product(), Minus);
      } else {
        break;
      }
    }
    --depth_;
    return x;
  }
  Dim Product() {
    Dim x = Raised();
    while (ok_) {
      if (Take("//")) {
        x = Both(x, Raised(), Quotient);
      } else if (Take("*")) {
        x = Both(x, Raised(), Times);
      } else if (Take("%")) {
        x = Both(x, Raised(), Rest);
      } else {
        break;
      }
    }
    return x;
  }
  Dim Raised() {
    const Dim x = Atom();
    return ok_ && Take("**") ? Both(x, Atom(), Power) : x;
  }
  Dim Atom() {
    Blank();
    if (Take("(")) {
      const Dim x = Sum();
      return Take(")") ? x : Failed();
    }
    if (at_ >= text_.size()) return Failed();
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    };
    const size_t from = at_;
    if (text_[at_] == '-') ++at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string word(text_.substr(from, at_ - from));
    if (word.empty()) return Failed();
    if (std::isdigit(static_cast<unsigned char>(word.back())) != 0 &&
        (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-')) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc()) return Failed();
      return end == word.data() + word.size() ? Dim(value) : Dim::Any();
    }
    if (Take("(")) return Function(word);
    return symbol_(word);
  }

  // --- srepr: calls ---

  Dim Function(const std::string& name) {
    if (name == "Symbol" || name == "Dummy") return SymbolOf();
    if (++depth_ > kMostDepth) return Failed();
    std::vector<Dim> arguments;
    while (ok_ && !Take(")")) {
      if (at_ >= text_.size()) return Failed();
      if (SkipOption()) continue;
      arguments.push_back(Sum());
      Take(",");
    }
    --depth_;
    if (!ok_) return Dim::Any();
    return Applied(name, arguments);
  }
  // 'precision=53', "'100.0'": parts of floats.
  bool SkipOption() {
    Blank();
    size_t end = at_;
    if (text_[end] == '\'' || text_[end] == '"') {
      const size_t close = text_.find(text_[end], end + 1);
      if (close == std::string_view::npos) {
        ok_ = false;
        return true;
      }
      at_ = close + 1;
      Take(",");
      return true;
    }
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    if (end == at_ || end >= text_.size() || text_[end] != '=') return false;
    at_ = end + 1;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ')') ++at_;
    Take(",");
    return true;
  }
  Dim SymbolOf() {
    Blank();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return Failed();
    const size_t close = text_.find(text_[at_], at_ + 1);
    if (close == std::string_view::npos) return Failed();
    const std::string name(text_.substr(at_ + 1, close - at_ - 1));
    at_ = text_.find(')', close);
    if (at_ == std::string_view::npos || name.empty()) {
      at_ = text_.size();
      return Failed();
    }
    ++at_;
    return symbol_(name);
  }

  static Dim Applied(const std::string& name, const std::vector<Dim>& a) {
    const auto fold = [&](Dim (*fn)(const Dim&, const Dim&)) {
      Dim x = a[0];
      for (size_t i = 1; i < a.size(); ++i) x = Both(x, a[i], fn);
      return x;
    };
    if (a.empty()) return Dim::Any();
    if (name == "Integer" || name == "Identity" || name == "TruncToInt") return a[0];
    if (name == "Add") return fold(Plus);
    if (name == "Mul") return fold(Times);
    if (name == "Max") return fold(Dim::Max);
    if (name == "Min") return fold(Dim::Min);
    if (a.size() == 3 && name == "ModularIndexing")
      return Both(Both(a[0], a[1], Quotient), a[2], Rest);
    if (a.size() != 2) return Dim::Any();
    if (name == "FloorDiv" || name == "CleanDiv") return Both(a[0], a[1], Quotient);
    if (name == "CeilDiv") return Both(a[0], a[1], Dim::CeilDiv);
    if (name == "Mod" || name == "PythonMod") return Both(a[0], a[1], Rest);
    if (name == "Pow" || name == "PowByNatural") return Both(a[0], a[1], Power);
    return Dim::Any();
  }

  std::string_view text_;
  const std::function<Dim(const std::string&)>& symbol_;
  size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
};

}  // namespace

Result<Dim> ParseSymbolic(std::string_view text,
                          const std::function<Dim(const std::string& name)>& symbol) {
  return Parser(text, symbol).Run();
}

}  // namespace relayvm::import::torch

// Calls of PyTorch's operators as text, and what they give: rows of values without either importer.
//
//   aten::conv2d(R[1,2,5,5], R[3,2,3,3|41], None, [2,2], 'same')
//   aten::max_pool2d_with_indices(R[1,1,4,4], [2,2]).1
//   aten::gather(R[2,3], 1, T[2,1]{0,2}:i64)
//
// R[dims|step]: small numbers of both signs (composite/testing.h), T[dims]{numbers}: those, behind
// the colon f32, f64, f16, i64, i32, u8, i8, b; O('type', state): an object; .1: a result.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/composite/testing.h"
#include "compiler/import/torch/operator.h"

namespace relayvm::import::torch::testing {

class CallText {
 public:
  // `open`: the dims of the first float32 tensor are not known when compiling.
  CallText(import::testing::Graph& g, std::string_view text, bool open)
      : g_(g), rest_(text), open_(open) {}

  // What the call gives.
  Argument Value() {
    Skip();
    if (rest_.empty()) return Wrong("a value");
    const char c = rest_[0];
    if (c == '[') return Argument::List(Items('[', ']'));
    if (c == '(') return Argument::Tuple(Items('(', ')'));
    if (c == '\'') return Argument::String(Text());
    if (c == '-' || std::isdigit(c) != 0) return Number();
    if (rest_.starts_with("R[") || rest_.starts_with("T[")) return Tensor();
    if (rest_.starts_with("O(")) return Instance();
    return Word();
  }

 private:
  Argument Wrong(std::string_view expected) {
    FAIL("expected " << std::string(expected) << " at '" << std::string(rest_) << "'");
    return {};
  }
  void Skip() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool Take(char c) {
    Skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view While(bool (*belongs)(char)) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), belongs);
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::vector<Argument> Items(char open, char close) {
    std::vector<Argument> items;
    Take(open);
    while (!Take(close)) {
      items.push_back(Value());
      if (!Take(',') && (rest_.empty() || rest_[0] != close)) {
        Wrong("a comma");
        break;
      }
    }
    return items;
  }
  std::string Text() {
    rest_.remove_prefix(1);
    std::string text(While([](char c) { return c != '\''; }));
    Take('\'');
    return text;
  }
  Argument Number() {
    const std::string text(
        While([](char c) { return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '+'; }));
    if (text.find_first_of(".einf") == std::string::npos) return Argument::Int(std::stoll(text));
    return Argument::Float(std::stod(text));
  }
  std::vector<double> Numbers(char open, char close) {
    std::vector<double> numbers;
    for (const Argument& a : Items(open, close)) numbers.push_back(a.number());
    return numbers;
  }
  Argument Tensor() {
    const bool ramp = rest_[0] == 'R';
    rest_.remove_prefix(2);
    std::vector<int64_t> shape;
    int64_t step = 37, count = 1;
    while (!Take(']')) {
      if (Take('|')) {
        step = Number().integer;
        continue;
      }
      shape.push_back(Number().integer);
      count *= shape.back();
      Take(',');
    }
    const std::vector<double> values =
        ramp ? import::testing::Graph::Numbers(count, step) : Numbers('{', '}');
    REQUIRE(values.size() == static_cast<size_t>(count));
    DType dtype = DType::kFloat32;
    if (Take(':')) {
      constexpr std::pair<std::string_view, DType> kTypes[] = {
          {"f64", DType::kFloat64}, {"f16", DType::kFloat16}, {"i64", DType::kInt64},
          {"i32", DType::kInt32},   {"u8", DType::kUInt8},    {"i8", DType::kInt8},
          {"b", DType::kBool},      {"i16", DType::kInt16}};
      const std::string_view name = While([](char c) { return std::isalnum(c) != 0; });
      for (const auto& [text, type] : kTypes) {
        if (name == text) dtype = type;
      }
    }
    if (open_ && dtype == DType::kFloat32) {
      open_ = false;
      return g_.Input(values, shape);
    }
    return g_.Constant(values, shape, dtype);
  }
  Argument Instance() {
    rest_.remove_prefix(1);
    std::vector<Argument> parts = Items('(', ')');
    REQUIRE(parts.size() == 2);
    auto object = std::make_shared<Object>();
    object->type = parts[0].text;
    object->state = parts[1];
    return Argument::OfObject(std::move(object));
  }
  Argument Word() {
    const std::string name(
        While([](char c) { return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '.'; }));
    if (name == "None") return {};
    if (name == "True" || name == "False") return Argument::Bool(name == "True");
    if (name == "inf") return Argument::Float(HUGE_VAL);
    if (!Take('(')) return Wrong("a call");
    std::vector<Argument> positional;
    std::vector<KeywordArgument> keywords;
    while (!Take(')')) {
      Skip();
      const size_t equal = rest_.find('=');
      const bool named = equal != std::string_view::npos &&
                         std::all_of(rest_.begin(), rest_.begin() + static_cast<int64_t>(equal),
                                     [](char c) { return std::isalnum(c) != 0 || c == '_'; });
      if (named) {
        const std::string key(rest_.substr(0, equal));
        rest_.remove_prefix(equal + 1);
        keywords.push_back({key, Value()});
      } else {
        positional.push_back(Value());
      }
      if (!Take(',') && (rest_.empty() || rest_[0] != ')')) return Wrong("a comma");
    }
    return Called(name, positional, keywords);
  }
  Argument Called(const std::string& name, const std::vector<Argument>& positional,
                  const std::vector<KeywordArgument>& keywords) {
    auto bound = ChooseOverload(name, positional, keywords);
    REQUIRE_MESSAGE(bound.ok(), bound.status().message());
    Call call(g_.b, *bound->op, std::move(bound->arguments));
    Results results = bound->op->def->convert(call);
    REQUIRE_MESSAGE(g_.b.status().ok(), g_.b.status().message());
    if (bound->op->def->takes == Takes::kMoves && !results.empty())
      results[0].quantised = call.Arg(size_t{0}).quantised;
    size_t result = 0;
    if (rest_.size() > 1 && rest_[0] == '.' && std::isdigit(rest_[1]) != 0) {
      Take('.');
      result = static_cast<size_t>(Number().integer);
    }
    REQUIRE(result < results.size());
    return results[result];
  }

  import::testing::Graph& g_;
  std::string_view rest_;
  bool open_;
};

// The numbers of what a call gives; of a list those of all, one after the other.
inline std::vector<double> Evaluated(std::string_view text, bool open = false) {
  import::testing::Graph g;
  const Argument a = CallText(g, text, open).Value();
  if (a.is_known_number()) return {a.number()};
  if (!a.is_list()) return g.Run(a.value);
  std::vector<import::Value> flat;
  for (const Argument& item : a.items)
    flat.push_back(g.b.Reshape(g.b.Cast(item.value, DType::kFloat32), {-1}));
  return g.Run(g.b.Concat(flat, 0));
}

struct CallCase {
  const char* text;
  std::vector<double> expected;
};
inline void CheckCalls(std::initializer_list<CallCase> cases) {
  for (const CallCase& c : cases) {
    CAPTURE(c.text);
    import::testing::CheckNear(Evaluated(c.text), c.expected);
  }
}

}  // namespace relayvm::import::torch::testing

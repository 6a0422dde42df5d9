// Rule files: definitions `rule @name(holes) { pattern or pattern => replacement }`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/frontend/parser_impl.h"
#include "compiler/ir/large_stack.h"

namespace relayvm::frontend {

Result<ParsedRules> ParseRules(std::string name, std::string text,
                               const CustomOperators& operators) {
  return ir::WithLargeStack(
      [&] { return Parser(std::move(name), std::move(text), operators).RunRules(); });
}

Result<ParsedRules> Parser::RunRules() {
  in_rules_ = true;
  ParsedRules rules;
  if (ReadVersion() && Peek().kind != TokenKind::kEnd && FindDefinitions()) {
    for (const Definition& d : definitions_) {
      if (!ParseRule(d, &rules)) break;
    }
  }
  if (!failed() && metadata_at_)
    Fail(StatusCode::kUnsupported, SpanOf(*metadata_at_, *metadata_at_ + 1),
         "a rule file has no metadata: write attributes and constants where they are");
  if (failed()) return status_;
  rules.module = std::move(module_);
  return rules;
}

bool Parser::ParseRule(const Definition& definition, ParsedRules* rules) {
  MoveTo(definition.begin);
  Take();
  const Token name = Take();
  ParsedRule rule;
  rule.name = name.text;
  rule.span = SpanOf(name);
  ir::Function function;
  function.name = name.text;
  function.span = rule.span;
  const size_t mark = locals_.Mark();
  current_function_ = ++num_functions_;
  constant_holes_ = &rule.constants;
  std::vector<NodeId> sides;
  bool is_replacement = false;
  bool ok = ParseParams(&function) && Expect("{", "at the start of a rule");
  while (ok) {
    const Token first = Peek();
    const NodeId side = ParseExpr();
    if (side == kNoNode) return false;
    sides.push_back(side);
    rule.sides.push_back(graph_.span(side).line == 0 ? SpanOf(first) : graph_.span(side));
    if (is_replacement) break;
    is_replacement = Accept("=>");
    if (is_replacement || AcceptWord("or")) continue;
    FailExpected("'=>' and the replacement, or 'or' and another pattern");
    return false;
  }
  if (!ok || !Expect("}", "at the end of a rule")) return false;
  locals_.Release(mark);
  const NodeId body = graph_.Tuple(std::move(sides), rule.span);
  auto lowered = graph_.Lower(graph_.MakeFunction(std::move(function), body));
  if (!lowered.ok()) {
    status_ = lowered.status();
    return false;
  }
  rule.function = *lowered;
  rules->rules.push_back(std::move(rule));
  return true;
}

bool IsComparison(const Token& t) {
  constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<", "<=", ">", ">="};
  return std::ranges::any_of(kComparisons, [&](std::string_view c) { return t.Is(c); });
}

void Parser::NoteWritten(const std::vector<ParsedAttr>& written, Attrs* attrs) {
  AttrList names, conditions;
  for (const ParsedAttr& a : written) {
    if (a.comparison.empty()) {
      names.emplace_back(a.name);
    } else {
      conditions.emplace_back(AttrList{AttrValue(a.name), AttrValue(a.comparison), a.value});
    }
  }
  attrs->Set(kWrittenAttr, std::move(names));
  attrs->Set(kConditionsAttr, std::move(conditions));
}

}  // namespace relayvm::frontend

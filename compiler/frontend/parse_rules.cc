// Rule files: definitions of rules, patterns and parts (rules.h).
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
  const Token word = Take();
  const Token name = Take();
  ParsedRule rule;
  rule.kind = word.IsWord("rule")      ? ParsedRule::Kind::kRule
              : word.IsWord("pattern") ? ParsedRule::Kind::kPattern
                                       : ParsedRule::Kind::kPart;
  rule.name = name.text;
  rule.span = SpanOf(name);
  ir::Function function;
  function.name = name.text;
  function.span = rule.span;
  const size_t mark = locals_.Mark();
  current_function_ = ++num_functions_;
  constant_holes_ = &rule.constants;
  formulas_ = &rule.formulas;
  std::vector<NodeId> sides;
  const bool has_replacement = rule.kind == ParsedRule::Kind::kRule;
  bool is_replacement = false;
  std::vector<std::string> attr_names;
  bool ok = ParseParams(&function, &attr_names) && Expect("{", "at the start of a rule");
  while (ok) {
    const Token first = Peek();
    const NodeId side = ParseExpr();
    if (side == kNoNode) return false;
    sides.push_back(side);
    rule.sides.push_back(graph_.span(side).line == 0 ? SpanOf(first) : graph_.span(side));
    if (is_replacement) break;
    if (!ParseLabel(&rule.labels.emplace_back()) ||
        !ParseConditions(&rule.conditions.emplace_back())) {
      return false;
    }
    is_replacement = has_replacement && Accept("=>");
    if (is_replacement || AcceptWord("or")) continue;
    if (!has_replacement && PeekIs("}")) break;
    FailExpected(fmt::format("{}, {} and a condition, or 'or' and another pattern",
                             has_replacement ? "'=>' and the replacement" : "'}'",
                             rule.conditions.back().empty() ? "'if'" : "'and'"));
    return false;
  }
  if (!ok || !Expect("}", "at the end of a rule") || !ParseConditions(&rule.common)) return false;
  if (Peek().kind != TokenKind::kEnd && !StartsRule(Peek())) {
    FailExpected(rule.common.empty() ? "'if' and a condition, or another rule"
                                     : "'and' and a condition, or another rule");
    return false;
  }
  locals_.Release(mark);
  if (rule.kind == ParsedRule::Kind::kPart) parts_.insert(name.text);
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
  AttrList names, conditions, formulas;
  for (const ParsedAttr& a : written) {
    if (a.formula) {
      formulas.emplace_back(
          AttrList{AttrValue(a.name), AttrValue(static_cast<int64_t>(formulas_->size()))});
      formulas_->push_back(*a.formula);
    } else if (a.comparison.empty()) {
      names.emplace_back(a.name);
    } else {
      conditions.emplace_back(AttrList{AttrValue(a.name), AttrValue(a.comparison), a.value});
    }
  }
  attrs->Set(kWrittenAttr, std::move(names));
  attrs->Set(kConditionsAttr, std::move(conditions));
  attrs->Set(kFormulasAttr, std::move(formulas));
}

bool Parser::ParseRuleAttr(ParsedAttr* attr) {
  const Token first = Peek();
  const bool is_formula =
      first.kind == TokenKind::kVariable || first.Is("[") || first.Is("(") || StartsCall();
  if (!is_formula) return ParseAttrValue(attr);
  Formula formula;
  if (!ParseFormula(&formula)) return false;
  if (formula.kind == Formula::Kind::kValue) {
    attr->value = std::move(formula.value);
    return true;
  }
  if (!attr->comparison.empty()) {
    Fail(StatusCode::kInvalidInput, formula.span,
         fmt::format("attribute {} is compared with a value: compare formulas after the pattern, "
                     "{}=$a ... if $a {} ...",
                     attr->name, attr->name, attr->comparison));
    return false;
  }
  attr->formula = std::move(formula);
  return true;
}

// Right behind a '.': the number, or that of what holds the number's name.
std::optional<uint32_t> Parser::ParseRuleField() {
  if (const auto index = lexer_.ProjectionIndex())
    return *index < kOpenField ? index : std::nullopt;
  if (Peek().kind != TokenKind::kVariable) return std::nullopt;
  const Token name = Take();
  const auto position = static_cast<uint32_t>(formulas_->size());
  formulas_->push_back({Formula::Kind::kVariable, {}, name.text, {}, SpanOf(name)});
  return kOpenField + position;
}

// What names the way in which a part matches.
bool Parser::ParseLabel(std::string* label) {
  if (!AcceptWord("as")) return true;
  if (Peek().kind != TokenKind::kIdentifier) {
    FailExpected("a word after 'as'");
    return false;
  }
  *label = Take().text;
  return true;
}

// @name?(...): the function that a part's use calls.
NodeId Parser::ParsePart() {
  const Token name = Take();
  if (!parts_.contains(name.text)) {
    Suggestion suggestion(name.text);
    for (const std::string& part : parts_) suggestion.Consider(part);
    Fail(name, globals_.contains(name.text)
                   ? fmt::format("@{} is no part that is defined above", name.text)
                   : fmt::format("unknown part @{}{}", name.text, suggestion.Text("@")));
    return kNoNode;
  }
  std::string mark;
  for (const char* one : {"?", "*", "+"}) {
    if (mark.empty() && Accept(one)) mark = one;
  }
  if (!PeekIs("(")) {
    FailExpected(mark.empty() ? "'?', '*', '+' or '(' after the name of a part"
                              : "'(' and the rest of the pattern");
    return kNoNode;
  }
  return graph_.Use(module_.arena->New(ir::GlobalVar{name.text + mark}), SpanOf(name));
}

bool Parser::ParseConditions(std::vector<Formula>* conditions) {
  if (!AcceptWord("if")) return true;
  do {
    Formula left;
    if (!ParseFormula(&left)) return false;
    if (IsComparison(Peek())) {
      Formula both{Formula::Kind::kCall, {}, Take().text, {}, left.span};
      both.args.push_back(std::move(left));
      if (!ParseFormula(&both.args.emplace_back())) return false;
      left = std::move(both);
    }
    conditions->push_back(std::move(left));
  } while (AcceptWord("and"));
  return true;
}

bool Parser::ParseFormula(Formula* formula) {
  if (!ParseProduct(formula)) return false;
  for (int terms = 0; PeekIs("+") || PeekIs("-"); ++terms) {
    if (terms == kMaxTypeNesting) return FailLong(*formula);
    Formula sum{Formula::Kind::kCall, {}, Take().text, {}, formula->span};
    sum.args.push_back(std::move(*formula));
    if (!ParseProduct(&sum.args.emplace_back())) return false;
    *formula = std::move(sum);
  }
  return true;
}

bool Parser::ParseProduct(Formula* formula) {
  if (!ParseFactor(formula)) return false;
  for (int factors = 0; Accept("*"); ++factors) {
    if (factors == kMaxTypeNesting) return FailLong(*formula);
    Formula product{Formula::Kind::kCall, {}, "*", {}, formula->span};
    product.args.push_back(std::move(*formula));
    if (!ParseFactor(&product.args.emplace_back())) return false;
    *formula = std::move(product);
  }
  return true;
}

bool Parser::ParseFactor(Formula* formula) {
  Nesting nesting(this, kMaxTypeNesting);
  if (!nesting.ok()) return false;
  const Token first = Peek();
  formula->span = SpanOf(first);
  if (first.kind == TokenKind::kVariable) {
    Take();
    formula->kind = Formula::Kind::kVariable;
    formula->name = first.text;
  } else if (first.kind == TokenKind::kLocal || first.kind == TokenKind::kGlobal) {
    Take();
    formula->kind = Formula::Kind::kHole;
    formula->name = (first.kind == TokenKind::kGlobal ? "@" : "") + first.text;
  } else if (first.Is("(")) {
    Take();
    if (!ParseFormula(formula) || !Expect(")", "after a formula")) return false;
  } else if (first.Is("[")) {
    Take();
    formula->kind = Formula::Kind::kCall;
    formula->name = "list";
    if (!ParseFormulas("]", &formula->args)) return false;
    AttrList values;
    for (const Formula& f : formula->args) {
      if (f.kind == Formula::Kind::kValue) values.push_back(f.value);
    }
    if (values.size() == formula->args.size()) {
      *formula = {Formula::Kind::kValue, AttrValue(std::move(values)), {}, {}, formula->span};
    }
  } else if (StartsCall()) {
    Take();
    Take();
    formula->kind = Formula::Kind::kCall;
    formula->name = first.text;
    if (!ParseFormulas(")", &formula->args)) return false;
  } else {
    ParsedAttr value{"formula"};
    if (!ParseAttrValue(&value)) return false;
    if (value.is_expression) {
      Fail(first, "expected a number, a text, $name, %hole or a function in a formula");
      return false;
    }
    formula->value = std::move(value.value);
    return true;
  }
  for (int places = 0; formula->kind != Formula::Kind::kValue && Accept("["); ++places) {
    if (places == kMaxTypeNesting) return FailLong(*formula);
    Formula element{Formula::Kind::kCall, {}, "[]", {}, formula->span};
    element.args.push_back(std::move(*formula));
    if (!ParseFormula(&element.args.emplace_back()) || !Expect("]", "after a place in a list"))
      return false;
    *formula = std::move(element);
  }
  return true;
}

bool Parser::FailLong(const Formula& formula) {
  Fail(StatusCode::kInvalidInput, formula.span,
       fmt::format("a formula has {} operators in a row at most", kMaxTypeNesting));
  return false;
}

bool Parser::ParseFormulas(std::string_view close, std::vector<Formula>* formulas) {
  if (Accept(close)) return true;
  do {
    if (PeekIs(close)) break;  // after the last comma
    if (!ParseFormula(&formulas->emplace_back())) return false;
  } while (Accept(","));
  return Expect(close, "after a list of formulas");
}

bool Parser::StartsCall() {
  if (Peek().kind != TokenKind::kIdentifier) return false;
  Lexer ahead = lexer_;
  return ahead.Next().Is("(");
}

}  // namespace relayvm::frontend

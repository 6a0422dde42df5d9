// The values of formulas: attributes that a replacement computes, and conditions of patterns.
// Private to compiler/rules. Pure functions. Tested by formulas_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/rules/rules.h"

namespace relayvm::rules {

// What variables and holes stand for.
struct FormulaScope {
  const ir::Module& module;
  const Rule& rule;
  const std::map<std::string, AttrValue>& variables;
  const std::map<uint32_t, ir::Atom>& images;  // of holes, by Var::id
};

// None where it has no value, as of an element that a list lacks: then *reason says why. A
// condition is a bool. Dims that are no numbers are equal, or different, where that is proved.
std::optional<AttrValue> Evaluate(const frontend::Formula& f, const FormulaScope& scope,
                                  std::string* reason);
// A condition, and what its sides are here.
std::string WhyNot(const frontend::Formula& condition, const FormulaScope& scope);
// `found COMPARISON expected`; of a list and a number: of each element.
bool Compare(const AttrValue& found, const std::string& comparison, const AttrValue& expected);

// What a formula's function tells of, for people: as in "make WORDS 3".
enum class About : uint8_t { kNothing, kAttribute, kDType, kShape, kConstant };
struct Words {
  std::string_view text;  // {0}, {1}: its arguments
  About about = About::kNothing;
};
Words WordsOf(std::string_view function);

// An error at its place of what no function, variable or hole is.
Status CheckFormula(const ir::Module& m, const Rule& rule, const frontend::Formula& f,
                    const std::set<std::string>& variables, const std::set<uint32_t>& holes);

// What a rule says of a call's attributes (kWrittenAttr, kConditionsAttr, kFormulasAttr): nothing
// of one that is spelled as an operator sign, such as %x + %y, which has none.
const AttrList& SaidOf(const ir::OpCall& call, const char* name);
// Of one of kFormulasAttr: the attribute's name, and what it is.
std::pair<std::string, const frontend::Formula&> FormulaOf(const Rule& rule, const AttrValue& said);
// What an operator call of a rule has without what is said of patterns. Those that are not written
// are taken from `like`, unless that is null.
Attrs OperatorAttrs(const ir::OpCall& call, const Attrs* like);

// As rules spell it.
std::string ToText(const AttrValue& v);
std::string ToText(const frontend::Formula& f);

}  // namespace relayvm::rules

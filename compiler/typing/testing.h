// What the tests of type inference share: text in, types and guards out as text.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "compiler/frontend/parser.h"
#include "compiler/ir/walk.h"
#include "compiler/testing.h"
#include "compiler/typing/infer.h"

namespace relayvm::typing {

inline constexpr const char* kListType = "type List[A] { Cons(A, List[A]), Nil, }\n";

inline Result<ir::Module> Typed(const std::string& source) {
  auto parsed = frontend::ParseRelay("test.relay", "#[version = \"0.0.5\"]\n" + source);
  if (!parsed.ok()) return parsed.status();
  return InferTypes(*parsed);
}

// REQUIRES: `source` is well typed.
inline ir::Module MustType(const std::string& source) {
  auto module = Typed(source);
  INFO(source, "\n", module.status().ToString());
  REQUIRE(module.ok());
  return std::move(module).value();
}

using ir::ForEachBinding;

inline std::string Signature(const ir::Module& m, const std::string& function = "main") {
  return ir::TypeToString(ir::FunctionTypeOf(*m.functions.at(function)));
}

// The type of the first variable called `name` that a binding, parameter or pattern of @main makes.
inline const ir::Var* FindVar(const ir::Module& m, const std::string& name) {
  const ir::Var* found = nullptr;
  auto see = [&](const ir::Var* v) {
    if (found == nullptr && v->name == name) found = v;
  };
  std::function<void(const ir::Pattern&)> see_pattern = [&](const ir::Pattern& p) {
    if (p.var != nullptr) see(p.var);
    for (const ir::Pattern& field : p.fields) see_pattern(field);
  };
  const ir::Function& main = *m.functions.at("main");
  for (const ir::Var* p : main.params) see(p);
  ForEachBinding(*main.body, [&](const ir::Binding& b) {
    see(b.var);
    if (auto* f = b.value->As<ir::FunctionExpr>()) {
      for (const ir::Var* p : f->function->params) see(p);
    }
    if (auto* match = b.value->As<ir::MatchExpr>()) {
      for (const ir::MatchClause& c : match->clauses) see_pattern(c.pattern);
    }
  });
  REQUIRE_MESSAGE(found != nullptr, name);
  return found;
}

inline std::string TypeOf(const ir::Module& m, const std::string& name) {
  return ir::TypeToString(FindVar(m, name)->type);
}

// The messages of all guards, one a line.
inline std::string Guards(const ir::Module& m) {
  std::string out;
  for (const auto& [name, function] : m.functions) {
    ForEachBinding(*function->body, [&](const ir::Binding& b) {
      if (auto* g = b.value->As<ir::Guard>()) out += g->message + "\n";
    });
  }
  return out;
}

}  // namespace relayvm::typing

// For tests of passes: programs from text, and a module as a short line to compare.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "compiler/ir/ir.h"
#include "compiler/ir/walk.h"
#include "compiler/testing.h"
#include "compiler/typing/infer.h"

namespace relayvm::ir {

inline Module Retyped(const Module& m) {
  auto typed = Retype(m);
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  return std::move(typed).value();
}

inline Module Typed(const std::string& text) {
  auto typed = InferTypes(Parsed(text));
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  return std::move(typed).value();
}

// What a block does, in order: operators by name, "call f", "fn{...}", "if{...}{...}",
// "match{...}", "closure f", "fused{...}", "dims", "shape", "tuple", ".0", "=", "ref", "read",
// "write", "guard", "stated", "trap".
inline std::string Outline(const Block& block) {
  std::string out;
  for (const Binding& b : block.bindings) {
    std::string one;
    const Expr& e = *b.value;
    if (const auto* x = e.As<OpCall>()) one = x->op->name;
    if (const auto* x = e.As<CallExpr>()) {
      const auto* g = std::get_if<const GlobalVar*>(&x->callee);
      const auto* k = std::get_if<const Constructor*>(&x->callee);
      one = g != nullptr ? "call " + (*g)->name : (k != nullptr ? (*k)->name : "call");
    }
    if (const auto* x = e.As<PrimitiveCall>()) one = "fused{" + Outline(*x->function->body) + "}";
    if (e.As<ShapeValue>() != nullptr) one = "dims";
    if (e.As<ShapeByRule>() != nullptr) one = "shape";
    if (e.As<MakeTuple>() != nullptr) one = "tuple";
    if (const auto* x = e.As<TupleGet>()) one = "." + std::to_string(x->index);
    if (e.As<AtomExpr>() != nullptr) one = "=";
    if (e.As<RefCreate>() != nullptr) one = "ref";
    if (e.As<RefRead>() != nullptr) one = "read";
    if (e.As<RefWrite>() != nullptr) one = "write";
    if (e.As<Guard>() != nullptr) one = "guard";
    if (e.As<Stated>() != nullptr) one = "stated";
    if (e.As<Trap>() != nullptr) one = "trap";
    if (const auto* x = e.As<MakeClosure>()) {
      one = "closure/" + std::to_string(x->captured.size());
    }
    if (e.As<FunctionExpr>() != nullptr) one = "fn";
    if (e.As<IfExpr>() != nullptr) one = "if";
    if (e.As<MatchExpr>() != nullptr) one = "match";
    ForEachBlock(e, [&](const Block& inner) { one += "{" + Outline(inner) + "}"; });
    // What symbols stand for goes without saying.
    if (e.As<DimOf>() != nullptr || e.As<ElementOf>() != nullptr) continue;
    out += (out.empty() ? "" : " ") + one;
  }
  return out;
}

inline std::string Outline(const Module& m, const std::string& function = "main") {
  auto at = m.functions.find(function);
  return at == m.functions.end() ? "(none)" : Outline(*at->second->body);
}

}  // namespace relayvm::ir

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "compiler/reference/interpreter.h"

namespace relayvm::reference {

std::string ValueEvent::Name() const { return var.name.empty() ? "" : "%" + var.name; }

ir::Span ValueEvent::span() const { return expr != nullptr ? expr->span : var.span; }

std::string ValueEvent::Operation() const {
  if (expr == nullptr)
    return std::ranges::find(function.params, &var) != function.params.end() ? "parameter"
                                                                             : "pattern";
  return std::visit(
      ir::Overloaded{
          [](const ir::OpCall& x) -> std::string { return x.op->name; },
          [](const ir::CallExpr& x) -> std::string {
            if (const auto* g = std::get_if<const ir::GlobalVar*>(&x.callee))
              return "@" + (*g)->name;
            if (const auto* c = std::get_if<const ir::Constructor*>(&x.callee)) return (*c)->name;
            return "call";
          },
          [](const ir::HostCall& x) -> std::string { return "@" + x.name; },
          [](const ir::PrimitiveCall&) -> std::string { return "fused"; },
          [](const ir::IfExpr&) -> std::string { return "if"; },
          [](const ir::MatchExpr&) -> std::string { return "match"; },
          [](const ir::MakeTuple&) -> std::string { return "tuple"; },
          [](const ir::TupleGet& x) -> std::string { return fmt::format(".{}", x.index); },
          [](const ir::FunctionExpr&) -> std::string { return "fn"; },
          [](const ir::RefCreate&) -> std::string { return "ref"; },
          [](const ir::RefRead&) -> std::string { return "ref_read"; },
          [](const ir::RefWrite&) -> std::string { return "ref_write"; },
          [](const auto&) -> std::string { return "let"; },
      },
      expr->node);
}

}  // namespace relayvm::reference

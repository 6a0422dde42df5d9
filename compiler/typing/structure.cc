#include "compiler/typing/structure.h"

#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <utility>

#include "bytecode/verifier.h"
#include "compiler/ir/walk.h"

namespace relayvm::typing {
namespace {

bool IsTypeVar(const ir::Type& t) { return t != nullptr && t->As<ir::TypeVar>() != nullptr; }

class StructureChecker {
 public:
  explicit StructureChecker(const ir::Module& module) : module_(module) {}

  Status Run() {
    if (module_.arena == nullptr || module_.ids == nullptr) {
      return InvalidInput("the module has no arena or no source of ids");
    }
    for (const auto& [name, def] : module_.types) {
      for (const ir::Type& p : def.params) {
        if (!IsTypeVar(p)) return InvalidInput(fmt::format("a parameter of type {} is none", name));
      }
      for (const ir::Constructor* c : def.constructors) {
        if (c == nullptr) return InvalidInput(fmt::format("type {} lacks a constructor", name));
      }
    }
    for (const auto& [id, symbol] : module_.symbols) {
      if (symbol.value == nullptr || symbol.source == nullptr) {
        return InvalidInput(fmt::format("symbol {} has no variable", id));
      }
    }
    for (const auto& [name, function] : module_.functions) {
      if (function == nullptr) return InvalidInput(fmt::format("@{} is missing", name));
      if (function->body == nullptr) return InvalidInput(fmt::format("@{} has no body", name));
      Status s = Function(*function);
      if (!s.ok()) return s.WithContext("@" + name);
    }
    return OkStatus();
  }

 private:
  Status Function(const ir::Function& f) {
    if (!seen_.insert(&f).second) return OkStatus();  // calls may share a primitive function
    if (f.body == nullptr) return InvalidInput("a function has no body");
    for (const ir::Type& p : f.type_params) {
      if (!IsTypeVar(p)) return InvalidInput("a type parameter is none");
    }
    for (const ir::Var* p : f.params) {
      if (p == nullptr) return InvalidInput("a parameter is missing");
    }
    return Block(f.body);
  }

  Status Block(const ir::Block* block) {
    if (block == nullptr) return InvalidInput("a block is missing");
    for (const ir::Binding& b : block->bindings) {
      if (b.var == nullptr) return InvalidInput("a binding has no variable");
      if (b.value == nullptr) return InvalidInput(fmt::format("%{} has no value", b.var->name));
      RELAYVM_RETURN_IF_ERROR(Value(*b.value));
    }
    return Operand(block->result);
  }

  Status Value(const ir::Expr& e) {
    if (auto* call = e.As<ir::OpCall>()) RELAYVM_RETURN_IF_ERROR(Operator(*call));
    if (auto* closure = e.As<ir::MakeClosure>();
        closure != nullptr && closure->function == nullptr) {
      return InvalidInput("a closure has no function");
    }
    Status status;
    ir::ForEachAtom(e, [&](const ir::Atom& a) {
      if (status.ok()) status = Operand(a);
    });
    RELAYVM_RETURN_IF_ERROR(status);
    if (auto* branch = e.As<ir::IfExpr>()) {
      RELAYVM_RETURN_IF_ERROR(Block(branch->then_block));
      return Block(branch->else_block);
    }
    if (auto* match = e.As<ir::MatchExpr>()) {
      for (const ir::MatchClause& clause : match->clauses) {
        RELAYVM_RETURN_IF_ERROR(Pattern(clause.pattern));
        RELAYVM_RETURN_IF_ERROR(Block(clause.body));
      }
      return OkStatus();
    }
    const ir::Function* function = nullptr;
    if (auto* f = e.As<ir::FunctionExpr>()) {
      function = f->function;
    } else if (auto* call = e.As<ir::PrimitiveCall>()) {
      function = call->function;
    } else {
      return OkStatus();
    }
    return function == nullptr ? InvalidInput("a function is missing") : Function(*function);
  }

  Status Operator(const ir::OpCall& call) {
    if (call.op == nullptr) return InvalidInput("a call has no operator");
    RELAYVM_RETURN_IF_ERROR(CompleteAttrs(*call.op, call.attrs).status());
    for (const AttrField& field : call.op->attrs) {
      // Those of any kind say nothing to a relation.
      if (field.kind == AttrKind::kAny || call.attrs.Find(field.name) != nullptr) continue;
      return InvalidInput(fmt::format("{}: attribute {} is missing", call.op->name, field.name));
    }
    return OkStatus();
  }

  Status Pattern(const ir::Pattern& p) {
    if (p.kind == ir::Pattern::Kind::kVar && p.var == nullptr) {
      return InvalidInput("a pattern has no variable");
    }
    if (p.kind == ir::Pattern::Kind::kConstructor) {
      RELAYVM_RETURN_IF_ERROR(Constructor(p.constructor));
    }
    for (const ir::Pattern& field : p.fields) RELAYVM_RETURN_IF_ERROR(Pattern(field));
    return OkStatus();
  }

  Status Operand(const ir::Atom& a) {
    if (auto* constructor = std::get_if<const ir::Constructor*>(&a)) {
      return Constructor(*constructor);
    }
    if (auto* constant = std::get_if<const ir::Constant*>(&a)) return Constant(*constant);
    if (std::visit([](auto* pointer) { return pointer == nullptr; }, a)) {
      return InvalidInput("an operand is missing");
    }
    return OkStatus();
  }

  Status Constructor(const ir::Constructor* c) {
    if (c == nullptr) return InvalidInput("a constructor is missing");
    auto def = module_.types.find(c->adt);
    if (def == module_.types.end()) return InvalidInput(fmt::format("there is no type {}", c->adt));
    const auto& known = def->second.constructors;
    if (c->tag >= known.size() || known[c->tag]->name != c->name ||
        known[c->tag]->fields.size() != c->fields.size()) {
      return InvalidInput(
          fmt::format("type {} has no constructor {} of tag {}", c->adt, c->name, c->tag));
    }
    return OkStatus();
  }

  Status Constant(const ir::Constant* c) {
    if (c == nullptr) return InvalidInput("a constant is missing");
    if (c->value.shape.size() > kMaxTensorRank) {
      return InvalidInput(fmt::format("a constant has {} dimensions, a tensor has at most {}",
                                      c->value.shape.size(), kMaxTensorRank));
    }
    int64_t bytes = DTypeBytes(c->value.dtype);
    for (int64_t d : c->value.shape) {
      if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes)) {
        return InvalidInput("a constant has no valid shape");
      }
    }
    if (static_cast<size_t>(bytes) == c->value.data.size()) return OkStatus();
    return InvalidInput(
        fmt::format("a constant has {} bytes, its type needs {}", c->value.data.size(), bytes));
  }

  const ir::Module& module_;
  std::unordered_set<const ir::Function*> seen_;
};

}  // namespace

Status CheckStructure(const ir::Module& module) { return StructureChecker(module).Run(); }

}  // namespace relayvm::typing

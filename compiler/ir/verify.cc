#include "compiler/ir/verify.h"

#include "compiler/ir/region.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

// Equality of types but for dims, type parameters and what is not known. REQUIRES: neither is null.
bool SameStructure(const Type& a, const Type& b);

bool SameStructures(const std::vector<Type>& a, const std::vector<Type>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameStructure);
}

bool SameStructure(const Type& a, const Type& b) {
  // A generic function's or type's parameters stand for anything.
  if (a->As<TypeVar>() != nullptr || b->As<TypeVar>() != nullptr) return true;
  if (a == b || (a->is_large() && TypeEquals(a, b))) return true;
  if (a->node.index() != b->node.index()) return false;
  if (const auto* x = a->As<TensorType>()) {
    const auto* y = b->As<TensorType>();
    return x->dtype == y->dtype && x->shape.size() == y->shape.size();
  }
  if (const auto* x = a->As<TupleType>())
    return SameStructures(x->fields, b->As<TupleType>()->fields);
  if (const auto* x = a->As<RefType>()) return SameStructure(x->value, b->As<RefType>()->value);
  if (const auto* x = a->As<AdtType>()) {
    const auto* y = b->As<AdtType>();
    return x->name == y->name && SameStructures(x->args, y->args);
  }
  if (const auto* x = a->As<FunctionType>()) {
    const auto* y = b->As<FunctionType>();
    return SameStructures(x->params, y->params) && SameStructure(x->result, y->result);
  }
  return true;
}

class Verifier {
 public:
  Verifier(const Module& m, const VerifyOptions& options) : m_(m), options_(options) {}

  Status Run() {
    for (const auto& [name, function] : m_.functions) {
      where_ = "@" + name;
      // Lambda lifting leaves captured variables bound where they were and makes them parameters.
      if (options_.lifted) bound_.clear();
      if (function == nullptr) return Fail({}, "there is no function under the name");
      RELAYVM_RETURN_IF_ERROR(CheckFunction(*function));
      if (!scope_.empty()) return Fail(function->span, "a scope is left open");
    }
    return OkStatus();
  }

 private:
  Status Fail(Span span, const std::string& what) const {
    return m_.sources->Error(StatusCode::kInternal, span,
                             fmt::format("the IR of {} is broken: {}", where_, what));
  }

  // --- Scopes ---

  size_t Open() const { return scope_.size(); }
  void Close(size_t mark) {
    while (scope_.size() > mark) {
      in_scope_.erase(scope_.back()->id);
      scope_.pop_back();
    }
  }

  Status Bind(const Var* var, Span span) {
    if (var == nullptr) return Fail(span, "a binding without a variable");
    if (!bound_.insert(var->id).second) {
      return Fail(span, fmt::format("%{} (number {}) is bound twice", var->name, var->id));
    }
    in_scope_.emplace(var->id, var);
    scope_.push_back(var);
    return options_.typed ? CheckType(var, span) : OkStatus();
  }

  Status CheckType(const Var* var, Span span) {
    if (var->type == nullptr || var->type->has_infer_var) {
      return Fail(span, fmt::format("%{} (number {}) has no type", var->name, var->id));
    }
    return OkStatus();
  }

  // Every symbol that the binding reads has a value that is bound by now.
  Status CheckSymbols(const Binding& b) {
    if (!options_.typed) return OkStatus();
    Status status;
    const auto& scope = outer_ != nullptr ? *outer_ : in_scope_;
    ForEachSymbol(b, [&](const Dim& symbol) {
      if (!status.ok()) return;
      auto at = m_.symbols.find(symbol.symbol_id());
      if (at == m_.symbols.end()) {
        status = Fail(b.value->span, fmt::format("no variable gives the symbol {} of %{}",
                                                 symbol.symbol_name(), b.var->name));
      } else if (at->second.source->id != b.var->id && !scope.contains(at->second.value->id)) {
        status = Fail(b.value->span,
                      fmt::format("the symbol {} of %{} is the value of %{} (number {}), which is "
                                  "not in scope",
                                  symbol.symbol_name(), b.var->name, at->second.value->name,
                                  at->second.value->id));
      }
    });
    return status;
  }

  // --- Atoms ---

  Status CheckAtom(const Atom& atom, Span span) {
    if (const auto* v = std::get_if<const Var*>(&atom)) {
      if (*v == nullptr) return Fail(span, "an operand is missing");
      auto at = in_scope_.find((*v)->id);
      if (at == in_scope_.end()) {
        return Fail(span, fmt::format("%{} (number {}) is not in scope", (*v)->name, (*v)->id));
      }
      if (at->second != *v) {
        return Fail(span, fmt::format("%{} is another variable of number {} than the one bound",
                                      (*v)->name, (*v)->id));
      }
      return OkStatus();
    }
    if (const auto* g = std::get_if<const GlobalVar*>(&atom)) {
      if (*g == nullptr || !m_.functions.contains((*g)->name)) {
        return Fail(span, fmt::format("there is no function @{}", *g ? (*g)->name : ""));
      }
      return OkStatus();
    }
    if (const auto* c = std::get_if<const Constructor*>(&atom)) {
      if (*c == nullptr || !m_.types.contains((*c)->adt)) {
        return Fail(span, "a constructor of no type");
      }
      return OkStatus();
    }
    return std::get<const Constant*>(atom) == nullptr ? Fail(span, "an operand is missing")
                                                      : OkStatus();
  }

  Status Expect(const Type& found, const Type& expected, Span span, const char* what) const {
    if (!options_.typed || expected == nullptr || found == nullptr) return OkStatus();
    if (SameStructure(found, expected)) return OkStatus();
    return Fail(span, fmt::format("{} has the type {}, and its place is for {}", what,
                                  TypeToString(found), TypeToString(expected)));
  }

  Status ExpectCount(size_t found, size_t expected, Span span, const std::string& what) const {
    if (found == expected) return OkStatus();
    return Fail(span, fmt::format("{}: {} operands for {} parameters", what, found, expected));
  }

  // --- Functions and blocks ---

  Status CheckFunction(const Function& f) {
    size_t mark = Open();
    for (const Var* p : f.params) RELAYVM_RETURN_IF_ERROR(Bind(p, f.span));
    if (f.body == nullptr) return Fail(f.span, "a function without a body");
    if (options_.typed && (f.result_type == nullptr || f.result_type->has_infer_var)) {
      return Fail(f.span, "the function has no result type");
    }
    RELAYVM_RETURN_IF_ERROR(CheckBlock(*f.body, f.result_type, f.span, "the function's result"));
    Close(mark);
    return OkStatus();
  }

  Status CheckBlock(const Block& block, const Type& type, Span span, const char* what) {
    size_t mark = Open();
    for (const Binding& b : block.bindings) {
      if (b.value == nullptr) return Fail(span, "a binding without a value");
      // A function may call itself by the variable that it is bound to.
      bool recursive = b.value->As<FunctionExpr>() != nullptr;
      if (recursive) RELAYVM_RETURN_IF_ERROR(Bind(b.var, b.value->span));
      RELAYVM_RETURN_IF_ERROR(CheckExpr(*b.value, b.var));
      RELAYVM_RETURN_IF_ERROR(CheckSymbols(b));
      if (!recursive) RELAYVM_RETURN_IF_ERROR(Bind(b.var, b.value->span));
    }
    RELAYVM_RETURN_IF_ERROR(CheckAtom(block.result, span));
    RELAYVM_RETURN_IF_ERROR(Expect(AtomType(m_, block.result), type, span, what));
    Close(mark);
    return OkStatus();
  }

  Status CheckExpr(const Expr& e, const Var* var) {
    Status status;
    ForEachAtom(e, [&](const Atom& a) {
      if (status.ok()) status = CheckAtom(a, e.span);
    });
    RELAYVM_RETURN_IF_ERROR(status);
    const Type type = var == nullptr ? nullptr : var->type;
    return std::visit([&](const auto& x) { return Check(x, type, e.span); }, e.node);
  }

  // --- Kinds of expressions ---

  Status Check(const AtomExpr& x, const Type& type, Span span) {
    return Expect(AtomType(m_, x.atom), type, span, "the value");
  }
  Status Check(const Stated& x, const Type& type, Span span) {
    return Expect(AtomType(m_, x.value), type, span, "the value");
  }
  Status Check(const OpCall& x, const Type&, Span span) {
    if (x.op == nullptr) return Fail(span, "a call of no operator");
    if (x.op->num_args < 0) return OkStatus();
    return ExpectCount(x.args.size(), static_cast<size_t>(x.op->num_args), span, x.op->name);
  }
  Status Check(const FunctionExpr& x, const Type&, Span span) {
    if (options_.lifted) return Fail(span, "a function literal after lambda lifting");
    return CheckFunction(*x.function);
  }
  Status Check(const IfExpr& x, const Type& type, Span span) {
    RELAYVM_RETURN_IF_ERROR(CheckBlock(*x.then_block, type, span, "a branch's result"));
    return CheckBlock(*x.else_block, type, span, "a branch's result");
  }
  Status Check(const ElementOf& x, const Type&, Span span) {
    if (!options_.typed) return OkStatus();
    const Type held = AtomType(m_, x.tensor);  // a constant's is made here
    const auto* tensor = held->As<TensorType>();
    bool integers = tensor != nullptr && !IsFloat(tensor->dtype) && tensor->dtype != DType::kString;
    return integers ? OkStatus() : Fail(span, "an element of what is no integer tensor");
  }
  Status Check(const ShapeByRule& x, const Type& type, Span span) {
    if (!options_.typed) return OkStatus();
    const auto* tensor = type->As<TensorType>();
    const Dim rank(static_cast<int64_t>(x.shape.rank));
    bool fits = tensor != nullptr && tensor->shape == std::vector<Dim>{rank};
    return fits ? OkStatus() : Fail(span, "a shape of another rank than its type says");
  }
  Status Check(const ShapeValue&, const Type&, Span) { return OkStatus(); }
  Status Check(const MakeTuple&, const Type&, Span) { return OkStatus(); }
  Status Check(const HostCall& x, const Type&, Span span) {
    const auto* type = x.type == nullptr ? nullptr : x.type->As<FunctionType>();
    if (type == nullptr) return Fail(span, "a call of the host without a type");
    return ExpectCount(x.args.size(), type->params.size(), span, "host function " + x.name);
  }
  Status Check(const RefCreate&, const Type&, Span) { return OkStatus(); }
  Status Check(const RefRead&, const Type&, Span) { return OkStatus(); }
  Status Check(const RefWrite&, const Type&, Span) { return OkStatus(); }
  Status Check(const Guard&, const Type&, Span) { return OkStatus(); }
  Status Check(const Trap&, const Type&, Span) { return OkStatus(); }

  Status Check(const DimOf& dim, const Type&, Span span) {
    if (!options_.typed) return OkStatus();
    Type type = AtomType(m_, dim.value);
    for (uint32_t field : dim.path) {
      const auto* tuple = type->As<TupleType>();
      if (tuple == nullptr || field >= tuple->fields.size()) {
        return Fail(span, fmt::format("field {} of a {}", field, TypeToString(type)));
      }
      type = tuple->fields[field];
    }
    const auto* tensor = type->As<TensorType>();
    if (tensor != nullptr && dim.axis < tensor->shape.size()) return OkStatus();
    return Fail(span, fmt::format("dimension {} of a {}", dim.axis, TypeToString(type)));
  }

  Status Check(const CallExpr& call, const Type&, Span span) {
    RELAYVM_RETURN_IF_ERROR(CheckAtom(call.callee, span));
    if (!options_.typed) return OkStatus();
    Type callee = AtomType(m_, call.callee);
    const auto* function = callee->As<FunctionType>();
    if (function == nullptr) return Fail(span, "the callee is not a function");
    RELAYVM_RETURN_IF_ERROR(ExpectCount(call.args.size(), function->params.size(), span, "a call"));
    for (size_t i = 0; i < call.args.size(); ++i) {
      RELAYVM_RETURN_IF_ERROR(
          Expect(AtomType(m_, call.args[i]), function->params[i], span, "an argument"));
    }
    return OkStatus();
  }

  Status Check(const PrimitiveCall& call, const Type&, Span span) {
    RELAYVM_RETURN_IF_ERROR(
        ExpectCount(call.args.size(), call.function->params.size(), span, "a fused group"));
    if (IsRegion(*call.function)) return OkStatus();  // another engine's: its symbols are its own
    // The group sees its parameters alone; its symbols are those of the place where it runs.
    std::unordered_map<uint32_t, const Var*> outer;
    std::swap(outer, in_scope_);
    outer_ = &outer;
    Status status = CheckFunction(*call.function);
    outer_ = nullptr;
    std::swap(outer, in_scope_);
    for (const Binding& b : call.function->body->bindings) {
      bool allowed = b.value->As<OpCall>() != nullptr || b.value->As<MakeTuple>() != nullptr ||
                     b.value->As<TupleGet>() != nullptr || b.value->As<AtomExpr>() != nullptr ||
                     b.value->As<ShapeValue>() != nullptr;
      if (status.ok() && !allowed) status = Fail(span, "a fused group holds more than operators");
    }
    return status;
  }

  Status Check(const TupleGet& get, const Type& type, Span span) {
    if (!options_.typed) return OkStatus();
    Type tuple_type = AtomType(m_, get.tuple);
    const auto* tuple = tuple_type->As<TupleType>();
    if (tuple == nullptr || get.index >= tuple->fields.size()) {
      return Fail(span, fmt::format("field {} of a {}", get.index, TypeToString(tuple_type)));
    }
    return Expect(tuple->fields[get.index], type, span, "the field");
  }

  Status Check(const MakeClosure& closure, const Type&, Span span) {
    auto code = m_.functions.find(closure.function->name);
    if (code == m_.functions.end()) {
      return Fail(span, fmt::format("there is no function @{}", closure.function->name));
    }
    if (closure.captured.size() > code->second->params.size()) {
      return Fail(span, fmt::format("@{} has no parameters for {} captured values",
                                    closure.function->name, closure.captured.size()));
    }
    return OkStatus();
  }

  Status Check(const MatchExpr& match, const Type& type, Span span) {
    if (match.clauses.empty()) return Fail(span, "a match without clauses");
    for (const MatchClause& clause : match.clauses) {
      size_t mark = Open();
      RELAYVM_RETURN_IF_ERROR(CheckPattern(clause.pattern, span));
      RELAYVM_RETURN_IF_ERROR(CheckBlock(*clause.body, type, span, "a clause's result"));
      Close(mark);
    }
    return OkStatus();
  }

  Status CheckPattern(const Pattern& pattern, Span span) {
    if (pattern.kind == Pattern::Kind::kVar) return Bind(pattern.var, span);
    if (pattern.kind == Pattern::Kind::kConstructor) {
      if (pattern.constructor == nullptr) return Fail(span, "a pattern without its constructor");
      RELAYVM_RETURN_IF_ERROR(ExpectCount(pattern.fields.size(), pattern.constructor->fields.size(),
                                          span, "the pattern " + pattern.constructor->name));
    }
    for (const Pattern& f : pattern.fields) RELAYVM_RETURN_IF_ERROR(CheckPattern(f, span));
    return OkStatus();
  }

  const Module& m_;
  VerifyOptions options_;
  std::string where_;
  std::unordered_set<uint32_t> bound_;  // in the whole module so far
  std::unordered_map<uint32_t, const Var*> in_scope_;
  const std::unordered_map<uint32_t, const Var*>* outer_ = nullptr;  // inside a fused group
  std::vector<const Var*> scope_;                                    // in the order of binding
};

}  // namespace

Status VerifyModule(const Module& module, const VerifyOptions& options) {
  return Verifier(module, options).Run();
}

}  // namespace relayvm::ir

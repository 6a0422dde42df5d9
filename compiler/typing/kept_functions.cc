#include "compiler/typing/kept_functions.h"

#include <algorithm>

#include "compiler/ir/walk.h"

namespace relayvm::typing {
namespace {

bool SameTypes(const std::map<std::string, ir::TypeDef>& a,
               const std::map<std::string, ir::TypeDef>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.constructors == y.second.constructors;
  });
}

}  // namespace

const ir::Function* KeptFunctions::Before(const ir::Module& module, const std::string& name) {
  if (module.typed == nullptr) return nullptr;
  auto at = module.typed->functions.find(name);
  return at == module.typed->functions.end() ? nullptr : at->second;
}

bool KeptFunctions::AreAllOf(const ir::Module& module) {
  return module.typed != nullptr && SameTypes(module.typed->types, module.types) &&
         module.typed->functions == module.functions;
}

KeptFunctions::KeptFunctions(const ir::Module& module) {
  if (module.typed == nullptr || !SameTypes(module.typed->types, module.types)) return;
  for (const auto& [name, f] : module.functions) {
    if (Before(module, name) == f) kept_.insert(f);
  }
  if (kept_.empty()) return;
  for (const auto& [name, f] : module.functions) {
    if (!kept_.contains(f)) Walk(*f);
  }
  for (const auto& [name, f] : module.typed->functions) {
    if (!kept_.contains(f)) Walk(*f);
  }
  for (const auto& [id, symbol] : module.symbols) {
    if (IsReleased(symbol.value->id) || IsReleased(symbol.source->id)) free_symbols_.insert(id);
  }
}

void KeptFunctions::Release(const ir::Function* f) {
  if (kept_.erase(f) != 0) Walk(*f);
}

void KeptFunctions::Add(const ir::Var* var) {
  released_vars_.insert(var->id);
  if (var->type == nullptr || !var->type->has_open_dim) return;
  ir::ForEachDim(var->type, [&](const Dim& d) {
    d.ForEachSymbol([&](const Dim& s) { free_symbols_.insert(s.symbol_id()); });
  });
}

void KeptFunctions::Walk(const ir::Function& f) {
  for (const ir::Var* p : f.params) Add(p);
  if (f.body == nullptr) return;
  ir::ForEachBinding(*f.body, [&](const ir::Binding& b) {
    Add(b.var);
    if (auto* made = b.value->As<ir::FunctionExpr>()) {
      for (const ir::Var* p : made->function->params) Add(p);
    } else if (auto* match = b.value->As<ir::MatchExpr>()) {
      for (const ir::MatchClause& c : match->clauses)
        ir::ForEachVar(c.pattern, [&](const ir::Var* v) { Add(v); });
    }
  });
}

}  // namespace relayvm::typing

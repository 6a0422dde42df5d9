#include "compiler/ir/effects.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/walk.h"

namespace relayvm::ir {

Effects::Effects(const Module& m, Of what) : what_(what) {
  // Direct effects, then their callers until nothing changes.
  std::unordered_map<std::string, std::vector<std::string>> callers;
  std::vector<std::string> work;
  for (const auto& [name, f] : m.functions) {
    bool direct = false;
    const std::string& caller = name;
    Scan(*f->body, direct, [&](const std::string& callee) { callers[callee].push_back(caller); });
    if (direct && effectful_.insert(name).second) work.push_back(name);
  }
  while (!work.empty()) {
    const std::string name = std::move(work.back());
    work.pop_back();
    for (const std::string& caller : callers[name]) {
      if (effectful_.insert(caller).second) work.push_back(caller);
    }
  }
}

bool Effects::HasEffect(const Expr& e) const {
  bool effect = false;
  ScanExpr(e, effect,
           [&](const std::string& callee) { effect = effect || effectful_.contains(callee); });
  return effect;
}

void Effects::ScanExpr(const Expr& e, bool& effect, const OnCall& on_call) const {
  if (e.As<RefWrite>() != nullptr || e.As<HostCall>() != nullptr || e.As<Guard>() != nullptr ||
      e.As<Stated>() != nullptr || e.As<Trap>() != nullptr) {
    effect = true;
  }
  if (what_ == Of::kMoving && (e.As<RefCreate>() != nullptr || e.As<RefRead>() != nullptr))
    effect = true;
  if (const auto* match = e.As<MatchExpr>(); match != nullptr && !match->complete) effect = true;
  if (const auto* call = e.As<CallExpr>()) {
    if (const auto* g = std::get_if<const GlobalVar*>(&call->callee)) {
      on_call((*g)->name);
    } else if (std::holds_alternative<const Var*>(call->callee)) {
      effect = true;
    }
  }
  if (e.As<FunctionExpr>() != nullptr) return;  // making a closure runs nothing
  ForEachBlock(e, [&](const Block& b) { Scan(b, effect, on_call); });
}

void Effects::Scan(const Block& block, bool& effect, const OnCall& on_call) const {
  for (const Binding& b : block.bindings) ScanExpr(*b.value, effect, on_call);
}

}  // namespace relayvm::ir

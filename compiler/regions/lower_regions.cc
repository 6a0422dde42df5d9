#include "compiler/regions/lower_regions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/rewrite.h"
#include "compiler/regions/region_json.h"
#include "compiler/transforms/simplify/inline.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using ir::Binding;

const rules::RuleSet* PatternsOf(const std::vector<EnginePattern>& engines,
                                 const std::string& engine) {
  const auto at = std::ranges::find(engines, engine, &EnginePattern::engine);
  return at == engines.end() ? nullptr : at->patterns.get();
}

bool IsOf(const std::vector<EnginePattern>& engines, const ir::Function& f) {
  return std::ranges::count(engines, ir::TextAttr(f, ir::kCompilerAttr), &EnginePattern::engine) >
         0;
}

// A region that is ready to be called.
struct Sealed {
  const ir::Function* function;
  ir::Region region;
  RegionJson json;
};

Result<Sealed> Seal(const ir::Module& m, const std::string& name, const ir::Function& f,
                    const std::vector<EnginePattern>& engines) {
  Sealed sealed;
  ir::Region& region = sealed.region;
  region.engine = ir::TextAttr(f, ir::kCompilerAttr);
  region.name = name;
  RELAYVM_ASSIGN_OR_RETURN(sealed.json, MakeRegionJson(m, f, PatternsOf(engines, region.engine)));
  region.json = sealed.json.text;
  region.symbols = sealed.json.symbols;
  region.num_constants = static_cast<uint32_t>(sealed.json.constants.size());
  std::vector<ir::Type> params;
  for (const ir::Var* p : f.params) params.push_back(p->type);
  for (const ir::Constant* c : sealed.json.constants) params.push_back(ir::ConstantType(*c));
  for (const ir::Type& t : params) region.argument_dims.push_back(t->As<TensorType>()->shape);
  sealed.function = ir::MakeRegionFunction(m, region, params, f.result_type, f.span);
  return sealed;
}

void Replace(const ir::Module& m, const Binding& b, const Sealed& sealed,
             std::vector<Binding>& out) {
  const ir::Span span = b.value->span;
  std::vector<Atom> args = b.value->As<ir::CallExpr>()->args;
  for (const ir::Constant* c : sealed.json.constants) args.emplace_back(c);
  std::vector<TensorType> types;
  for (const Atom& a : args) types.push_back(*ir::AtomType(m, a)->As<TensorType>());
  ir::Region guards = sealed.region;
  guards.symbols.clear();
  for (const ir::Guard& g : sealed.json.guards) {
    guards.symbols.push_back(g.left);
    guards.symbols.push_back(g.right);
  }
  const std::vector<Dim> numbers = ir::SymbolsOfCall(guards, types);
  for (size_t i = 0; i < sealed.json.guards.size(); ++i) {
    ir::Guard guard = sealed.json.guards[i];
    guard.left = numbers[2 * i];
    guard.right = numbers[2 * i + 1];
    guard.is_kept = true;
    const bool holds =
        guard.left == guard.right ||
        (guard.left.is_const() && guard.right.is_const() &&
         guard.kind == ir::Guard::Kind::kAtLeast && guard.left.value() >= guard.right.value());
    if (holds) continue;
    const ir::Var* unit = ir::MakeVar(m, "", ir::UnitType(), span);
    out.push_back({unit, ir::MakeExpr(m, std::move(guard), span)});
  }
  out.push_back(
      {b.var, ir::MakeExpr(m, ir::PrimitiveCall{sealed.function, std::move(args)}, span)});
}

}  // namespace

Result<ir::Module> LowerRegions(const ir::Module& m, const std::vector<EnginePattern>& engines) {
  std::map<std::string, Sealed> sealed;
  for (const auto& [name, f] : m.functions) {
    if (!IsOf(engines, *f)) continue;
    RELAYVM_ASSIGN_OR_RETURN(Sealed one, Seal(m, name, *f, engines));
    sealed.emplace(name, std::move(one));
  }
  ir::Module out = m;
  if (!sealed.empty()) {
    out = ir::RewriteModule(m, [&](const Binding& b, std::vector<Binding>& bindings) {
      const auto* call = b.value->As<ir::CallExpr>();
      const auto* callee =
          call == nullptr ? nullptr : std::get_if<const ir::GlobalVar*>(&call->callee);
      const auto at = callee == nullptr ? sealed.end() : sealed.find((*callee)->name);
      if (at == sealed.end()) {
        bindings.push_back(b);
        return;
      }
      Replace(m, b, at->second, bindings);
    });
    std::set<std::string> mentioned;
    for (const auto& [name, f] : out.functions) {
      ir::ForEachGlobal(
          *f->body, [&](const ir::GlobalVar& g, const ir::CallExpr*) { mentioned.insert(g.name); });
    }
    for (const auto& [name, one] : sealed) {
      if (!mentioned.contains(name) && name != out.entry) out.functions.erase(name);
    }
  }
  return ir::Inline(out);
}

bool HasRegions(const ir::Module& m) {
  bool found = false;
  for (const auto& [name, f] : m.functions) {
    ir::ForEachBinding(*f->body, [&](const Binding& b) {
      const auto* call = b.value->As<ir::PrimitiveCall>();
      found = found || (call != nullptr && ir::IsRegion(*call->function));
    });
  }
  return found;
}

Result<std::vector<std::pair<std::string, std::string>>> RegionJsons(
    const ir::Module& m, const std::vector<EnginePattern>& engines) {
  std::map<std::string, std::string> found;
  for (const auto& [name, f] : m.functions) {
    if (!ir::TextAttr(*f, ir::kCompilerAttr).empty()) {
      RELAYVM_ASSIGN_OR_RETURN(
          const RegionJson json,
          MakeRegionJson(m, *f, PatternsOf(engines, ir::TextAttr(*f, ir::kCompilerAttr))));
      found[name] = json.text;
    }
    ir::ForEachBinding(*f->body, [&](const Binding& b) {
      const auto* call = b.value->As<ir::PrimitiveCall>();
      if (call == nullptr) return;
      if (const auto region = ir::RegionOf(*call->function)) found[region->name] = region->json;
    });
  }
  return std::vector<std::pair<std::string, std::string>>(found.begin(), found.end());
}

}  // namespace relayvm::regions

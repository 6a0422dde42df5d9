#include "compiler/regions/cut_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"

namespace relayvm::regions {
namespace {

constexpr size_t kNothing = SIZE_MAX;

// Names a value that is there already.
bool IsName(const ir::Expr& e) {
  return e.As<ir::TupleGet>() != nullptr || e.As<ir::MakeTuple>() != nullptr ||
         e.As<ir::AtomExpr>() != nullptr;
}

const std::string* CalleeOf(const ir::Expr& e) {
  const auto* call = e.As<ir::CallExpr>();
  const auto* global = call == nullptr ? nullptr : std::get_if<const ir::GlobalVar*>(&call->callee);
  return global == nullptr ? nullptr : &(*global)->name;
}

}  // namespace

CutRegions::CutRegions(const ir::Module& m) : m_(m), effects_(m, ir::Effects::Of::kMoving) {
  for (const auto& [name, f] : m.functions) FindCalls(*f->body);
}

// Recurses with the nesting of blocks.
void CutRegions::FindCalls(const ir::Block& block) {
  for (size_t i = 0; i < block.bindings.size(); ++i) {
    const ir::Binding& b = block.bindings[i];
    bound_.emplace(b.var->id, b.value);
    if (const std::string* callee = CalleeOf(*b.value))
      calls_.try_emplace(*callee, Site{&block, i});
    ir::ForEachBlock(*b.value, [&](const ir::Block& inner) { FindCalls(inner); });
  }
}

void CutRegions::MakeGraph(const ir::Block& block) {
  if (graph_.block == &block) return;
  const size_t size = block.bindings.size();
  graph_ = {&block, {}, Edges(size), Edges(size)};
  for (size_t i = 0; i < size; ++i) {
    const ir::Binding& b = block.bindings[i];
    graph_.index[b.var->id] = i;
    const auto need = [&](const ir::Var* v) {
      const auto at = graph_.index.find(v->id);
      if (at == graph_.index.end() || at->second == i) return;
      graph_.needs[i].push_back(at->second);
      graph_.readers[at->second].push_back(i);
    };
    ir::ForEachUse(m_, b, need);
    ir::ForEachBlock(*b.value,
                     [&](const ir::Block& inner) { ir::ForEachUseInside(m_, inner, need); });
  }
}

std::string CutRegions::RegionOf(const ir::Expr& e, const std::string& engine) const {
  const std::string* callee = CalleeOf(e);
  const auto at = callee == nullptr ? m_.functions.end() : m_.functions.find(*callee);
  const bool is_region =
      at != m_.functions.end() && ir::TextAttr(*at->second, ir::kCompilerAttr) == engine;
  return is_region ? *callee : "";
}

std::vector<size_t> CutRegions::Beside(size_t from, const Edges& edges,
                                       const std::string& engine) const {
  std::vector<size_t> found, open = edges[from];
  std::vector<bool> seen(edges.size(), false);
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const ir::Expr& e = *graph_.block->bindings[at].value;
    if (!RegionOf(e, engine).empty()) found.push_back(at);
    if (IsName(e)) open.insert(open.end(), edges[at].begin(), edges[at].end());
  }
  return found;
}

std::vector<bool> CutRegions::Reach(size_t from, const Edges& edges) {
  std::vector<bool> seen(edges.size(), false);
  std::vector<size_t> open = {from};
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    for (const size_t next : edges[at]) {
      if (seen[next]) continue;
      seen[next] = true;
      open.push_back(next);
    }
  }
  return seen;
}

std::string CutRegions::Describe(const ir::Binding& b) const {
  const ir::Expr& e = *b.value;
  const auto* call = e.As<ir::OpCall>();
  const std::string* callee = CalleeOf(e);
  std::string what = "an expression";
  if (call != nullptr) what = call->op->name;
  if (callee != nullptr) what = "@" + *callee;
  if (e.As<ir::Guard>() != nullptr) what = "a guard";
  if (e.As<ir::Stated>() != nullptr) what = "a stated type";
  if (e.As<ir::RefCreate>() != nullptr || e.As<ir::RefRead>() != nullptr ||
      e.As<ir::RefWrite>() != nullptr)
    what = "a reference's use";
  if (e.As<ir::IfExpr>() != nullptr || e.As<ir::MatchExpr>() != nullptr) what = "a branch";
  const std::string place = m_.sources->Place(b.value->span);
  return place.empty() ? what : fmt::format("{} ({})", what, place);
}

size_t CutRegions::Between(size_t first, size_t last) const {
  const std::vector<bool> after = Reach(first, graph_.readers), before = Reach(last, graph_.needs);
  size_t found = kNothing;
  for (size_t i = first + 1; i < last; ++i) {
    const ir::Expr& e = *graph_.block->bindings[i].value;
    if (!after[i] || !before[i] || IsName(e)) continue;
    // An operator says more than a call.
    if (found == kNothing || e.As<ir::OpCall>() != nullptr) found = i;
  }
  return found;
}

size_t CutRegions::BarrierBetween(size_t first, size_t last) const {
  for (size_t i = first + 1; i < last; ++i) {
    const ir::Expr& e = *graph_.block->bindings[i].value;
    if (e.As<ir::Guard>() != nullptr || e.As<ir::Stated>() != nullptr || effects_.HasEffect(e))
      return i;
  }
  return kNothing;
}

std::optional<Cut> CutRegions::AcrossBranches(size_t at, const std::string& engine) const {
  const ir::Binding& b = graph_.block->bindings[at];
  std::string region;
  // An operand of a region outside.
  ir::ForEachAtom(*b.value, [&](const ir::Atom& a) {
    const ir::Var* v = ir::AsVar(a);
    auto found = v == nullptr || graph_.index.contains(v->id) ? bound_.end() : bound_.find(v->id);
    const auto* get = found == bound_.end() ? nullptr : found->second->As<ir::TupleGet>();
    if (get != nullptr && ir::AsVar(get->tuple) != nullptr)
      found = bound_.find(ir::AsVar(get->tuple)->id);
    if (found != bound_.end() && region.empty()) region = RegionOf(*found->second, engine);
  });
  // Its value is an operand of a region inside.
  for (const size_t reader : graph_.readers[at]) {
    ir::ForEachBlock(*graph_.block->bindings[reader].value, [&](const ir::Block& inner) {
      ir::ForEachBinding(inner, [&](const ir::Binding& call) {
        const std::string name = RegionOf(*call.value, engine);
        if (name.empty() || !region.empty()) return;
        ir::ForEachAtom(*call.value, [&](const ir::Atom& a) {
          if (ir::AsVar(a) == b.var) region = name;
        });
      });
    });
  }
  if (region.empty()) return std::nullopt;
  return Cut{fmt::format("and a branch or a function stands between it and {}: regions do not "
                         "cross those",
                         region),
             fmt::format("compute it where {} is computed", region)};
}

std::optional<Cut> CutRegions::Of(const std::string& name, const std::string& engine) {
  const auto site = calls_.find(name);
  if (site == calls_.end()) return std::nullopt;
  MakeGraph(*site->second.block);
  const size_t at = site->second.index;
  const auto& bindings = graph_.block->bindings;
  for (const bool is_before : {true, false}) {
    const Edges& edges = is_before ? graph_.needs : graph_.readers;
    for (const size_t beside : Beside(at, edges, engine)) {
      const size_t first = std::min(at, beside), last = std::max(at, beside);
      const std::string region = RegionOf(*bindings[beside].value, engine);
      if (const size_t i = Between(first, last); i != kNothing) {
        const std::string what = Describe(bindings[i]);
        return Cut{
            fmt::format("but not with {0}, which {1} it: {2} is native and reads what "
                        "comes of {3}, so a value would leave the region and come back",
                        region, is_before ? "feeds" : "reads", what, is_before ? region : "it"),
            fmt::format("let {} run {} too (its own row says how), or read the value only "
                        "before it or only behind it",
                        engine, what)};
      }
      if (const size_t i = BarrierBetween(first, last); i != kNothing) {
        const std::string what = Describe(bindings[i]);
        return Cut{fmt::format("but not with {}: {} stands between them and keeps its place",
                               region, what),
                   bindings[i].value->As<ir::Guard>() != nullptr
                       ? "state the sizes that it compares (--shape)"
                       : fmt::format("move {} before both or behind them", what)};
      }
    }
  }
  return AcrossBranches(at, engine);
}

}  // namespace relayvm::regions

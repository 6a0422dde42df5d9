#include "compiler/typing/rank_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/rest.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

Status WhyNot(std::string reason) { return {StatusCode::kInvalidInput, std::move(reason)}; }

Type WithoutDims(const Type& t) {
  if (const auto* tensor = t->As<TensorType>()) {
    return MakeTensorType(std::vector<Dim>(tensor->shape.size(), Dim::Any()), tensor->dtype);
  }
  if (const auto* tuple = t->As<TupleType>()) {
    TupleType out;
    for (const Type& f : tuple->fields) out.fields.push_back(WithoutDims(f));
    return MakeType(std::move(out));
  }
  return t;
}

std::string WrapName(const std::string& name) { return name + ".wrap"; }

}  // namespace

const Block* RankSums::MapLeaves(const Block& block, const MixedValues& mixed,
                                 const std::function<const Block*(const Block&)>& fn) {
  const Binding* tail = mixed.Tail(block);
  if (tail == nullptr) return fn(block);
  Block out = block;
  const Var* result = MakeVar(m_, "", nullptr, tail->value->span);
  out.bindings.back() = {
      result, MapBlocks(m_, tail->value, [&](const Block& b) { return MapLeaves(b, mixed, fn); })};
  out.result = result;
  return m_.arena->New<Block>(std::move(out));
}

Binding RankSums::Matched(const Binding& b, const Var* sum, const Sum& of) const {
  const Span span = b.value->span;
  MatchExpr match{sum, {}, true};
  for (const auto& [key, constructor] : of.constructors) {
    const Var* v = MakeVar(m_, "", nullptr, span);
    Pattern field{Pattern::Kind::kVar, v, nullptr, {}, span};
    Pattern pattern{Pattern::Kind::kConstructor, nullptr, constructor, {field}, span};
    match.clauses.push_back({std::move(pattern), m_.arena->New<Block>(Block{{}, v})});
  }
  return {b.var, MakeExpr(m_, std::move(match), span)};
}

Result<size_t> RankSums::Make(const std::map<std::string, const Function*>& functions,
                              const MixedValues& mixed) {
  if (functions.empty()) return size_t{0};
  // Those whose types are all known go first; if there are none, they call each other.
  std::map<std::string, const Function*> known;
  for (const auto& [name, f] : functions) {
    bool is_known = true;
    mixed.ForEachLeaf(*f->body, [&](const Block& leaf) {
      is_known = is_known && mixed.TypeOf(leaf.result) != nullptr;
    });
    if (is_known) known.emplace(name, f);
  }
  const bool recursive = known.empty();
  const auto& chosen = recursive ? functions : known;
  std::map<std::string, Type> shared;
  for (const auto& [name, f] : chosen) {
    std::map<std::string, Type> types;
    mixed.ForEachLeaf(*f->body, [&](const Block& leaf) {
      const Type t = mixed.TypeOf(leaf.result);
      if (t != nullptr) types.emplace(TypeToString(WithoutDims(t), false), WithoutDims(t));
    });
    if (recursive) {
      shared.insert(types.begin(), types.end());
    } else {
      RELAYVM_RETURN_IF_ERROR(Define(name, *f, types));
    }
  }
  if (recursive) {
    for (const auto& [name, f] : chosen) RELAYVM_RETURN_IF_ERROR(Define(name, *f, shared));
  }
  for (const auto& [name, f] : chosen)
    m_.functions[name] = GivesSum(name, *f, sums_.at(name), mixed);
  RELAYVM_RETURN_IF_ERROR(Wrap(m_, [&](const Atom& a) { return mixed.TypeOf(a); }));
  const auto match_result = [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<CallExpr>();
    const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
    if (g == nullptr || !chosen.contains((*g)->name)) {
      out.push_back(b);
      return;
    }
    const Var* sum = MakeVar(m_, "", nullptr, b.value->span);
    out.push_back({sum, b.value});
    out.push_back(Matched(b, sum, sums_.at((*g)->name)));
  };
  size_t made = 0;
  for (auto& [name, f] : m_.functions) {
    const Block* body = RewriteBlock(m_, *f->body, match_result);
    if (body == f->body) continue;
    made += CountBindings(*body) - std::min(CountBindings(*f->body), CountBindings(*body));
    f = WithBody(m_, *f, body);
  }
  return made;
}

Status RankSums::Define(const std::string& name, const Function& f,
                        const std::map<std::string, Type>& types) {
  bool is_value = false;
  for (const auto& [other, g] : m_.functions) {
    ForEachGlobal(*g->body, [&](const GlobalVar& global, const CallExpr* call) {
      is_value = is_value || (global.name == name && call == nullptr);
    });
  }
  if (is_value)
    return WhyNot(fmt::format("they are the result of @{}, which is used as a value", name));
  if (types.size() < 2)
    return WhyNot(fmt::format("they are the result of @{}, which calls itself", name));
  Sum& sum = sums_[name];
  sum.name = name + ".ranks";
  while (m_.types.contains(sum.name)) sum.name += "_";
  sum.type_params = f.type_params;
  TypeDef def{sum.name, f.type_params, {}, f.span};
  for (const auto& [key, type] : types) {
    const auto tag = static_cast<uint32_t>(def.constructors.size());
    def.constructors.push_back(m_.arena->New<Constructor>(
        Constructor{fmt::format("{}.of{}", name, tag + 1), sum.name, tag, {type}}));
    sum.constructors[key] = def.constructors.back();
  }
  m_.types[sum.name] = std::move(def);
  // What waits for its type.
  Function wrap;
  wrap.name = WrapName(name);
  wrap.span = f.span;
  wrap.type_params = f.type_params;
  const Type value = MakeType(TypeVar{m_.ids->Next(), "value"});
  wrap.type_params.push_back(value);
  wrap.params.push_back(MakeVar(m_, "value", value, f.span));
  wrap.result_type = MakeType(AdtType{sum.name, f.type_params});
  const Var* result = MakeVar(m_, "", wrap.result_type, f.span);
  Block body{{{result, MakeExpr(m_, Trap{"a value without a type"}, f.span)}}, result};
  wrap.body = m_.arena->New<Block>(std::move(body));
  m_.functions[WrapName(name)] = m_.arena->New<Function>(std::move(wrap));
  return OkStatus();
}

const Function* RankSums::GivesSum(const std::string& name, const Function& f, const Sum& sum,
                                   const MixedValues& mixed) {
  const GlobalVar* wrap = m_.arena->New<GlobalVar>(GlobalVar{WrapName(name)});
  Function copy = f;
  copy.result_type = MakeType(AdtType{sum.name, sum.type_params});
  copy.body = MapLeaves(*f.body, mixed, [&](const Block& leaf) {
    Block out = leaf;
    const Span span = leaf.bindings.empty() ? f.span : leaf.bindings.back().value->span;
    const Var* result = MakeVar(m_, "", nullptr, span);
    out.bindings.push_back({result, MakeExpr(m_, CallExpr{wrap, {leaf.result}}, span)});
    out.result = result;
    return m_.arena->New<Block>(std::move(out));
  });
  return m_.arena->New<Function>(std::move(copy));
}

Status RankSums::Wrap(Module& m, const std::function<Type(const Atom&)>& type_of) const {
  std::unordered_map<std::string, const Sum*> sums;
  for (const auto& [name, sum] : sums_) sums[WrapName(name)] = &sum;
  Status failure;
  const auto wrap = [&](const Binding& b, std::vector<Binding>& out) {
    out.push_back(b);
    const auto* call = b.value->As<CallExpr>();
    const auto* g = call == nullptr ? nullptr : std::get_if<const GlobalVar*>(&call->callee);
    const auto at = g == nullptr ? sums.end() : sums.find((*g)->name);
    if (at == sums.end()) return;
    const Type type = type_of(call->args[0]);
    if (type == nullptr) return;
    const auto& constructors = at->second->constructors;
    const auto constructor = constructors.find(TypeToString(WithoutDims(type), false));
    if (constructor == constructors.end()) {
      failure = WhyNot(fmt::format("one that calls of functions by themselves give is {}",
                                   TypeToString(type, false)));
      return;
    }
    out.back().value = MakeExpr(m, CallExpr{constructor->second, call->args}, b.value->span);
  };
  for (auto& [name, f] : m.functions) {
    const Block* body = RewriteBlock(m, *f->body, wrap);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return failure;
}

}  // namespace relayvm::ir

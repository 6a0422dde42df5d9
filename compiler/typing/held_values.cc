#include "compiler/typing/held_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace relayvm::ir {
namespace {

constexpr size_t kMostDirect = 32;
constexpr size_t kHeldTogether = 16, kFewestHeld = 8;
constexpr size_t kHoldersTogether = 16;
// Symbols that several values share and that one of them brings along.
constexpr size_t kMostSymbols = 8;

using Uses = std::unordered_map<uint32_t, size_t>;

void CountSymbols(const Dim& d, Uses& uses) {
  d.ForEachSymbol([&](const Dim& s) { ++uses[s.symbol_id()]; });
}
void CountSymbols(const Type& t, Uses& uses) {
  if (t == nullptr || !t->has_open_dim) return;
  ForEachDim(t, [&](const Dim& d) { CountSymbols(d, uses); });
}

bool IsOfTensors(const Type& t) {
  if (t->As<TensorType>() != nullptr) return true;
  const auto* tuple = t->As<TupleType>();
  return tuple != nullptr && std::ranges::all_of(tuple->fields, IsOfTensors);
}

// Of what holds tensors elsewhere, symbols can't be stated anew.
bool CanBeHeld(const Type& t) {
  if (t == nullptr || t->has_infer_var) return false;
  if (IsOfTensors(t)) return true;
  Uses uses;
  CountSymbols(t, uses);
  return uses.empty();
}

// Sizes and conditions: what is known of their elements gets lost where they are held.
bool IsSmallInteger(const Type& t) {
  const auto* tensor = t->As<TensorType>();
  return tensor != nullptr && tensor->shape.size() <= 1 && !IsFloat(tensor->dtype);
}

// The last one of `values` that has a symbol that several have, for each, stays what it is.
std::set<const Var*> Witnesses(const std::vector<HeldValues::Value>& values, const Uses& uses) {
  std::set<const Var*> witnesses;
  std::set<uint32_t> seen;
  for (size_t i = values.size(); i-- > 0 && seen.size() < kMostSymbols;) {
    const auto* tensor = TensorOf(values[i].type);
    if (tensor == nullptr) continue;
    for (const Dim& d : tensor->shape) {
      if (!d.is_symbol() || uses.at(d.symbol_id()) < 2 || !seen.insert(d.symbol_id()).second)
        continue;
      witnesses.insert(values[i].original);
    }
  }
  return witnesses;
}

std::vector<HeldValues::Value> TakeLast(std::vector<HeldValues::Value>& direct,
                                        const std::set<const Var*>& witnesses) {
  std::set<const Var*> taken;
  for (const bool small_integers : {false, true}) {
    for (size_t i = direct.size(); i-- > 0 && taken.size() < kHeldTogether;) {
      if (!CanBeHeld(direct[i].type) || witnesses.contains(direct[i].original)) continue;
      if (IsSmallInteger(direct[i].type) == small_integers) taken.insert(direct[i].original);
    }
  }
  if (taken.size() < kFewestHeld) return {};
  std::vector<HeldValues::Value> held;
  for (const auto& v : direct) {
    if (taken.contains(v.original)) held.push_back(v);
  }
  std::erase_if(direct, [&](const auto& v) { return taken.contains(v.original); });
  return held;
}

Type WithoutOpenDims(const Type& t) {
  return MapDims(t, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
}

size_t TopLevel(const std::vector<HeldValues::Holder>& holders) {
  size_t top = 0;
  for (const auto& h : holders) top = std::max(top, h.layout->level);
  return top;
}

}  // namespace

std::string NumberedSpelling::Of(const Type& t) {
  TypeSpelling spelling;
  spelling.dim = [&](const Dim& d) { return Of(d); };
  spelling.var = [](const TypeVar& v) { return fmt::format("t{}", v.id); };
  return TypeToString(t, spelling);
}

Dim NumberedSpelling::Numbered(const Dim& d) {
  return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
    const auto next = static_cast<uint32_t>(symbols_.size());
    const auto [at, is_new] = numbers_.try_emplace(s.symbol_id(), next);
    if (is_new) symbols_.push_back(s);
    return Dim::Symbol(at->second, fmt::format("s{}", at->second), s.symbol_nonnegative());
  });
}

const Type& HeldValues::TypeOf(const Holder& h) { return h.layout->type; }

HeldValues::State HeldValues::Passed(const State& given,
                                     const std::function<Type(const Var*)>& type_of) {
  std::unordered_map<uint32_t, Dim> dims;
  for (const auto& [var, type] : given.known) {
    const Type now = type_of(var);
    const TensorType *from = TensorOf(type), *to = TensorOf(now);
    if (from == nullptr || to == nullptr || from->shape.size() != to->shape.size()) continue;
    for (size_t i = 0; i < from->shape.size(); ++i) {
      if (from->shape[i].is_symbol()) dims.emplace(from->shape[i].symbol_id(), to->shape[i]);
    }
  }
  State passed{given.holders, given.index, {}, {}};
  for (Holder& h : passed.holders) {
    for (Dim& d : h.dims) {
      d = d.Substitute([&](const Dim& s) -> std::optional<Dim> {
        const auto at = dims.find(s.symbol_id());
        return at == dims.end() ? std::nullopt : std::optional(at->second);
      });
    }
  }
  return passed;
}

void HeldValues::Hold(const Scope& scope, const std::vector<Type>& others,
                      std::vector<Value>& direct, State& state, std::vector<Binding>& out) {
  if (direct.size() <= kMostDirect) return;
  Uses uses;
  for (const Type& t : others) CountSymbols(t, uses);
  for (const Value& v : direct) CountSymbols(v.type, uses);
  for (const Holder& h : state.holders) {
    for (const Dim& d : h.dims) CountSymbols(d, uses);
  }
  const std::set<const Var*> witnesses = Witnesses(direct, uses);
  bool changed = false;
  while (direct.size() > kMostDirect) {
    const std::vector<Value> values = TakeLast(direct, witnesses);
    if (values.empty()) break;
    state.holders.push_back(HoldValues(scope, values, uses, out));
    changed = true;
  }
  if (!changed) return;
  for (size_t level = 0; level <= TopLevel(state.holders);) {
    std::vector<Holder> here, rest;
    for (const Holder& h : state.holders) {
      const bool taken = h.layout->level == level && here.size() < kHoldersTogether;
      (taken ? here : rest).push_back(h);
    }
    if (here.size() == kHoldersTogether) {
      rest.push_back(HoldHolders(scope, here, out));
      state.holders = std::move(rest);
    } else {
      ++level;
    }
  }
  Index index;
  for (const Holder& h : state.holders) {
    for (const auto& [v, field] : h.layout->fields) index.emplace(v, h.layout);
  }
  state.index = std::make_shared<const Index>(std::move(index));
}

HeldValues::Holder HeldValues::HoldValues(const Scope& scope, const std::vector<Value>& values,
                                          const Uses& uses, std::vector<Binding>& out) {
  Layout layout;
  std::string key;
  NumberedSpelling numbered;
  std::vector<Type> fields;
  std::vector<Atom> images;
  for (const Value& v : values) {
    const Type type = MapDims(v.type, [&](const Dim& d) {
      if (d.is_const() || d.is_any()) return d;
      bool shared = true;
      d.ForEachSymbol([&](const Dim& s) { shared = shared && uses.at(s.symbol_id()) > 1; });
      return shared ? numbered.Numbered(d) : Dim::Any();
    });
    key += fmt::format("{}: {}; ", v.original->id, TypeToString(type));
    layout.fields[v.original] = layout.values.size();
    layout.values.push_back(v.original);
    layout.value_types.push_back(type);
    layout.first_dims.push_back(0);
    fields.push_back(WithoutOpenDims(v.type));
    images.push_back(v.image);
  }
  const Layout* defined = Define(scope, key, std::move(layout), std::move(fields));
  return Make(scope, defined, numbered.symbols(), std::move(images), out);
}

HeldValues::Holder HeldValues::HoldHolders(const Scope& scope, const std::vector<Holder>& holders,
                                           std::vector<Binding>& out) {
  Layout layout;
  std::string key;
  std::vector<Dim> dims;
  std::vector<Type> fields;
  std::vector<Atom> images;
  layout.level = holders[0].layout->level + 1;
  for (const Holder& h : holders) {
    key += h.layout->constructor->name + "; ";
    for (const auto& [v, field] : h.layout->fields) layout.fields[v] = layout.holders.size();
    layout.holders.push_back(h.layout);
    layout.first_dims.push_back(dims.size());
    dims.insert(dims.end(), h.dims.begin(), h.dims.end());
    fields.push_back(h.layout->type);
    images.push_back(h.var);
  }
  const Layout* defined = Define(scope, key, std::move(layout), std::move(fields));
  return Make(scope, defined, std::move(dims), std::move(images), out);
}

const HeldValues::Layout* HeldValues::Define(const Scope& scope, const std::string& key,
                                             Layout layout, std::vector<Type> fields) {
  std::string whole = key;
  for (const Type& t : scope.type_params) whole += fmt::format("[t{}]", t->As<TypeVar>()->id);
  const Layout*& known = known_[whole];
  if (known != nullptr) return known;
  std::string name;
  size_t number = layouts_.size();
  do {
    name = fmt::format("{}.held{}", scope.function, ++number);
  } while (m_.types.contains(name));
  layout.constructor = m_.arena->New<Constructor>(Constructor{name, name, 0, std::move(fields)});
  layout.type = MakeType(AdtType{name, scope.type_params});
  m_.types[name] = TypeDef{name, scope.type_params, {layout.constructor}, scope.span};
  layouts_.push_back(std::move(layout));
  return known = &layouts_.back();
}

HeldValues::Holder HeldValues::Make(const Scope& scope, const Layout* layout, std::vector<Dim> dims,
                                    std::vector<Atom> fields, std::vector<Binding>& out) {
  const Var* var = MakeVar(m_, "held", nullptr, scope.span);
  out.push_back({var, MakeExpr(m_, CallExpr{layout->constructor, std::move(fields)}, scope.span)});
  return {var, layout, std::move(dims)};
}

const Var* HeldValues::Field(const Var* holder, const Layout& layout, size_t field, Span span,
                             State& state, std::vector<Binding>& out) {
  const Var*& known = state.inner[{holder, field}];
  if (known != nullptr) return known;
  const std::string name = layout.level == 0 ? layout.values[field]->name : "held";
  const Var* v = MakeVar(m_, name, nullptr, span);
  Pattern pattern{Pattern::Kind::kConstructor, nullptr, layout.constructor, {}, span};
  pattern.fields.resize(layout.first_dims.size());
  for (Pattern& p : pattern.fields) p.span = span;
  pattern.fields[field] = {Pattern::Kind::kVar, v, nullptr, {}, span};
  MatchExpr match{holder, {}, true};
  match.clauses.push_back({std::move(pattern), m_.arena->New<Block>(Block{{}, v})});
  known = MakeVar(m_, name, nullptr, span);
  out.push_back({known, MakeExpr(m_, std::move(match), span)});
  return known;
}

std::pair<const Var*, Type> HeldValues::ReadOne(const Var* original, Span span, State& state,
                                                std::vector<Binding>& out) {
  const Layout* layout = state.index->at(original);
  const auto holder = std::ranges::find(state.holders, layout, &Holder::layout);
  const Var* var = holder->var;
  size_t first_dim = 0;
  for (;;) {
    const size_t field = layout->fields.at(original);
    var = Field(var, *layout, field, span, state, out);
    first_dim += layout->first_dims[field];
    if (layout->level == 0) {
      const Type type = MapDims(layout->value_types[field], [&](const Dim& d) {
        return d.is_any() ? d : d.Substitute([&](const Dim& s) -> std::optional<Dim> {
          return holder->dims[first_dim + s.symbol_id()];
        });
      });
      return {var, type};
    }
    layout = layout->holders[field];
  }
}

void HeldValues::Read(const std::vector<const Var*>& wanted, Span span, State& state, AtomMap& map,
                      std::vector<Binding>& out) {
  std::vector<const Var*> originals;
  TupleType types;
  MakeTuple tuple;
  Uses uses;
  for (const Var* v : wanted) {
    if (map.contains(v->id) || !state.Holds(v)) continue;
    const auto [var, type] = ReadOne(v, span, state, out);
    map[v->id] = var;
    Uses symbols;
    CountSymbols(type, symbols);
    if (symbols.empty()) continue;
    for (const auto& [symbol, count] : symbols) uses[symbol] += count;
    originals.push_back(v);
    tuple.fields.push_back(var);
    types.fields.push_back(type);
  }
  // One that the function has brings each symbol along.
  TupleType witness_types;
  MakeTuple witnesses;
  std::set<uint32_t> seen;
  for (const auto& [var, type] : state.known) {
    const auto* tensor = TensorOf(type);
    bool is_witness = false;
    for (size_t i = 0; tensor != nullptr && i < tensor->shape.size(); ++i) {
      const Dim& d = tensor->shape[i];
      is_witness =
          (d.is_symbol() && uses.contains(d.symbol_id()) && seen.insert(d.symbol_id()).second) ||
          is_witness;
    }
    if (!is_witness) continue;
    witnesses.fields.push_back(var);
    witness_types.fields.push_back(type);
  }
  const bool related =
      !seen.empty() || std::ranges::any_of(uses, [](const auto& use) { return use.second > 1; });
  if (!related) return;
  const size_t first = witnesses.fields.size();
  witnesses.fields.insert(witnesses.fields.end(), tuple.fields.begin(), tuple.fields.end());
  witness_types.fields.insert(witness_types.fields.end(), types.fields.begin(), types.fields.end());
  const Var* all = MakeVar(m_, "", nullptr, span);
  out.push_back({all, MakeExpr(m_, std::move(witnesses), span)});
  const Var* stated = MakeVar(m_, "", nullptr, span);
  out.push_back({stated, MakeExpr(m_,
                                  Stated{all, MakeType(std::move(witness_types)),
                                         "what branches of several ranks share"},
                                  span)});
  for (size_t i = 0; i < originals.size(); ++i) {
    const Var* v = MakeVar(m_, originals[i]->name, nullptr, span);
    out.push_back({v, MakeExpr(m_, TupleGet{stated, static_cast<uint32_t>(first + i)}, span)});
    map[originals[i]->id] = v;
    state.known.emplace_back(v, types.fields[i]);
  }
}

}  // namespace relayvm::ir

#include "compiler/ir/region.h"

#include <map>
#include <utility>

namespace relayvm::ir {
namespace {

constexpr const char* kJson = "region_json";
constexpr const char* kNumConstants = "region_constants";
constexpr const char* kArgumentDims = "region_arguments";
constexpr const char* kSymbols = "region_symbols";

AttrList ListOf(const std::vector<Dim>& dims) { return AttrList(dims.begin(), dims.end()); }

std::vector<Dim> DimsIn(const AttrValue& value) {
  std::vector<Dim> dims;
  for (const AttrValue& d : std::get<AttrList>(value.value)) dims.push_back(std::get<Dim>(d.value));
  return dims;
}

}  // namespace

std::string TextAttr(const Function& f, const char* name) {
  const auto at = f.attrs.find(name);
  const auto* text = at == f.attrs.end() ? nullptr : std::get_if<std::string>(&at->second.value);
  return text == nullptr ? "" : *text;
}

const Function* MakeRegionFunction(const Module& m, const Region& region,
                                   const std::vector<Type>& params, const Type& result, Span span) {
  Function f;
  f.name = region.name;
  for (const Type& t : params) f.params.push_back(MakeVar(m, "", t, span));
  f.result_type = result;
  f.span = span;
  AttrList arguments;
  for (const std::vector<Dim>& dims : region.argument_dims) arguments.emplace_back(ListOf(dims));
  f.attrs = {{"Primitive", Dim(1)},
             {kCompilerAttr, region.engine},
             {kGlobalSymbolAttr, region.name},
             {kJson, region.json},
             {kNumConstants, Dim(region.num_constants)},
             {kArgumentDims, std::move(arguments)},
             {kSymbols, ListOf(region.symbols)}};
  const Var* value = MakeVar(m, "", result, span);
  Block body;
  body.bindings.push_back({value, MakeExpr(m, Trap{"a region runs on its engine"}, span)});
  body.result = value;
  f.body = m.arena->New<Block>(std::move(body));
  return m.arena->New<Function>(std::move(f));
}

bool IsRegion(const Function& f) { return f.attrs.contains(kJson); }

std::optional<Region> RegionOf(const Function& f) {
  if (!IsRegion(f)) return std::nullopt;
  Region region;
  region.engine = TextAttr(f, kCompilerAttr);
  region.name = TextAttr(f, kGlobalSymbolAttr);
  region.json = TextAttr(f, kJson);
  region.num_constants =
      static_cast<uint32_t>(std::get<Dim>(f.attrs.at(kNumConstants).value).value());
  for (const AttrValue& dims : std::get<AttrList>(f.attrs.at(kArgumentDims).value))
    region.argument_dims.push_back(DimsIn(dims));
  region.symbols = DimsIn(f.attrs.at(kSymbols));
  return region;
}

namespace {

// What the symbols of a region stand for in a call.
class CallDims {
 public:
  CallDims(const Region& region, const std::vector<TensorType>& args) {
    for (size_t a = 0; a < args.size(); ++a) {
      for (size_t i = 0; i < args[a].shape.size(); ++i) {
        const Dim& own = region.argument_dims[a][i];
        if (own.is_symbol()) values_.try_emplace(own.symbol_id(), args[a].shape[i]);
      }
    }
  }
  Dim Of(const Dim& d) const {
    return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
      const auto at = values_.find(s.symbol_id());
      return at == values_.end() ? std::nullopt : std::optional(at->second);
    });
  }

 private:
  std::map<uint32_t, Dim> values_;
};

}  // namespace

std::vector<Dim> SymbolsOfCall(const Region& region, const std::vector<TensorType>& args) {
  const CallDims dims(region, args);
  std::vector<Dim> symbols;
  for (const Dim& d : region.symbols) symbols.push_back(dims.Of(d));
  return symbols;
}

Type ResultOfCall(const Function& region, const std::vector<TensorType>& args) {
  const CallDims dims(*RegionOf(region), args);
  return MapDims(region.result_type, [&](const Dim& d) { return dims.Of(d); });
}

}  // namespace relayvm::ir

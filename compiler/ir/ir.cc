#include "compiler/ir/ir.h"

namespace relayvm::ir {
Module MakeModule() {
  Module m;
  m.arena = std::make_shared<Arena>();
  m.sources = std::make_shared<SourceMap>();
  m.ids = std::make_shared<IdSource>();
  m.strings = std::make_shared<StringTable>();
  return m;
}

const Var* MakeVar(const Module& m, std::string name, Type type, Span span) {
  return m.arena->New<Var>(Var{m.ids->Next(), std::move(name), std::move(type), span});
}

const Constant* MakeConstant(const Module& m, HostTensor value, std::string name) {
  return MakeConstant(m, std::move(value), std::move(name), nullptr);
}

const Constant* MakeConstant(const Module& m, HostTensor value, std::string name,
                             std::shared_ptr<const Recipe> recipe) {
  return m.arena->New<Constant>(Constant{std::move(value), std::move(name), std::move(recipe)});
}

Type ConstantType(const Constant& c) {
  return MakeTensorType(std::vector<Dim>(c.value.shape.begin(), c.value.shape.end()),
                        c.value.dtype);
}

Type FunctionTypeOf(const Function& f) {
  FunctionType type{f.type_params, {}, f.result_type};
  for (const Var* p : f.params) type.params.push_back(p->type);
  return MakeType(std::move(type));
}

Type ConstructorType(const Module& m, const Constructor& c) {
  auto it = m.types.find(c.adt);
  std::vector<Type> params = it == m.types.end() ? std::vector<Type>() : it->second.params;
  return MakeType(FunctionType{params, c.fields, MakeType(AdtType{c.adt, params})});
}

Type AtomType(const Module& m, const Atom& a) {
  if (auto* var = std::get_if<const Var*>(&a)) return (*var)->type;
  if (auto* constant = std::get_if<const Constant*>(&a)) return ConstantType(**constant);
  if (auto* constructor = std::get_if<const Constructor*>(&a)) {
    return ConstructorType(m, **constructor);
  }
  auto it = m.functions.find(std::get<const GlobalVar*>(a)->name);
  return it == m.functions.end() ? Type() : FunctionTypeOf(*it->second);
}

}  // namespace relayvm::ir

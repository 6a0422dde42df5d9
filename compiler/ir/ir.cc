#include "compiler/ir/ir.h"

namespace relayvm::ir {
const Var* MakeVar(const Module& m, std::string name, Type type, Span span) {
  return m.arena->New<Var>(Var{m.ids->Next(), std::move(name), std::move(type), span});
}

const Constant* MakeConstant(const Module& m, HostTensor value, std::string name) {
  return m.arena->New<Constant>(Constant{std::move(value), std::move(name)});
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

void ForEachAtom(const Expr& e, const std::function<void(const Atom&)>& fn) {
  auto each = [&](const std::vector<Atom>& atoms) {
    for (const Atom& a : atoms) fn(a);
  };
  if (auto* atom = e.As<AtomExpr>()) fn(atom->atom);
  if (auto* op_call = e.As<OpCall>()) each(op_call->args);
  if (auto* call = e.As<CallExpr>()) {
    fn(call->callee);
    each(call->args);
  }
  if (auto* primitive = e.As<PrimitiveCall>()) each(primitive->args);
  if (auto* tuple = e.As<MakeTuple>()) each(tuple->fields);
  if (auto* get = e.As<TupleGet>()) fn(get->tuple);
  if (auto* closure = e.As<MakeClosure>()) each(closure->captured);
  if (auto* if_expr = e.As<IfExpr>()) fn(if_expr->condition);
  if (auto* match = e.As<MatchExpr>()) fn(match->data);
  if (auto* create = e.As<RefCreate>()) fn(create->value);
  if (auto* read = e.As<RefRead>()) fn(read->ref);
  if (auto* write = e.As<RefWrite>()) {
    fn(write->ref);
    fn(write->value);
  }
}

void ForEachBlock(const Expr& e, const std::function<void(const Block&)>& fn) {
  if (auto* x = e.As<IfExpr>()) {
    fn(*x->then_block);
    fn(*x->else_block);
  } else if (auto* match = e.As<MatchExpr>()) {
    for (const MatchClause& c : match->clauses) fn(*c.body);
  } else if (auto* function = e.As<FunctionExpr>()) {
    fn(*function->function->body);
  }
}

}  // namespace relayvm::ir

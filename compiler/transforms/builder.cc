#include "compiler/transforms/builder.h"

#include <cassert>
#include <cstring>

#include "compiler/ir/scalar.h"

namespace relayvm::ir {
namespace {

const Expr* MakeCall(const Module& m, std::string_view name, std::vector<Atom> args,
                     const Attrs& given, Span span) {
  const OpDef* op = OpTable::Get().Find(name);
  assert(op != nullptr && "passes use operators that exist");
  Result<Attrs> attrs = CompleteAttrs(*op, given);
  assert(attrs.ok() && "passes give valid attributes");
  return MakeExpr(m, OpCall{op, std::move(args), std::move(attrs).value()}, span);
}

}  // namespace

AttrList Ints(const std::vector<int64_t>& values) { return AttrList(values.begin(), values.end()); }

Attrs AttrsOf(std::initializer_list<std::pair<const char*, AttrValue>> values) {
  Attrs attrs;
  for (const auto& [name, value] : values) attrs.Set(name, value);
  return attrs;
}

Atom BindingBuilder::Call(std::string_view op, std::vector<Atom> args, const Attrs& given) {
  const Var* v = MakeVar(m_, "", nullptr, span_);
  BindCall(v, op, std::move(args), given);
  return v;
}

Atom BindingBuilder::Tuple(std::vector<Atom> fields) {
  const Var* v = MakeVar(m_, "", nullptr, span_);
  out_.push_back({v, MakeExpr(m_, MakeTuple{std::move(fields)}, span_)});
  return v;
}

Atom BindingBuilder::Scalar(double value, DType dtype) {
  return MakeConstant(m_, IsFloat(dtype) ? FloatScalar(dtype, value)
                                         : IntScalar(dtype, static_cast<int64_t>(value)));
}

void BindingBuilder::BindCall(const Var* var, std::string_view op, std::vector<Atom> args,
                              const Attrs& given) {
  out_.push_back({var, MakeCall(m_, op, std::move(args), given, span_)});
}

void BindingBuilder::BindAtom(const Var* var, Atom atom) {
  out_.push_back({var, MakeExpr(m_, AtomExpr{atom}, span_)});
}

}  // namespace relayvm::ir

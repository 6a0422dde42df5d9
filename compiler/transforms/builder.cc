#include "compiler/transforms/builder.h"

#include <cassert>
#include <cstring>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_set>

#include "compiler/ir/scalar.h"
#include "compiler/typing/op_typing.h"

namespace relayvm::ir {
namespace {

// What the type relation of a call sees that is typed already.
class TypedHost final : public typing::OpHost {
 public:
  TypedHost(const Module& m, const OpCall& call) : m_(m), call_(call) {}

  std::vector<Dim> Elements(size_t i, int64_t size) override {
    std::vector<Dim> elements;
    if (const Constant* constant = ConstantArg(i)) {
      for (int64_t n : typing::IntegerElements(constant->value)) elements.emplace_back(n);
    } else if (const Var* v = AsVar(call_.args[i])) {
      if (auto at = m_.contents.find(v->id); at != m_.contents.end()) elements = at->second;
    }
    while (std::ssize(elements) < size) elements.push_back(Unknown());
    return elements;
  }
  Dim Element(size_t, int64_t) override { return Unknown(); }
  const Constant* ConstantArg(size_t i) override {
    const auto* constant = std::get_if<const Constant*>(&call_.args[i]);
    return constant == nullptr ? nullptr : *constant;
  }
  Dim NewSymbol(std::string_view) override { return Unknown(); }
  typing::Broadcasts& broadcasts() override { return broadcasts_; }

  // Whether all symbols of the guard stand for something before the call.
  bool Knows(const Guard& guard) const {
    bool known = true;
    for (const Dim* d : {&guard.left, &guard.right}) {
      d->ForEachSymbol([&](const Dim& s) { known = known && !unknown_.contains(s.symbol_id()); });
    }
    return known;
  }

 private:
  Dim Unknown() {
    const Dim symbol = Dim::Symbol(m_.ids->Next(), "", /*nonnegative=*/false);
    unknown_.insert(symbol.symbol_id());
    return symbol;
  }

  const Module& m_;
  const OpCall& call_;
  typing::Broadcasts broadcasts_;
  std::unordered_set<uint32_t> unknown_;
};

}  // namespace

void KeepGuards(const Module& m, const OpCall& call, Span span, std::vector<Binding>& out) {
  std::vector<Type> types;
  for (const Atom& a : call.args) types.push_back(AtomType(m, a));
  TypedHost host(m, call);
  auto args = typing::ArgTypes(*call.op, types);
  if (!args.ok()) return;
  auto typing = typing::TypeOp(*call.op, call.attrs, *args, host);
  if (!typing.ok()) return;  // type inference has found that already
  std::set<std::tuple<Guard::Kind, Dim, Dim>> kept;
  for (Guard& guard : typing->guards) {
    if (!host.Knows(guard) || !kept.emplace(guard.kind, guard.left, guard.right).second) continue;
    guard.is_kept = true;
    out.push_back({MakeVar(m, "", UnitType(), span), MakeExpr(m, std::move(guard), span)});
  }
}

AttrList Ints(const std::vector<int64_t>& values) { return AttrList(values.begin(), values.end()); }

AttrList DimsOf(const std::vector<Dim>& shape) { return AttrList(shape.begin(), shape.end()); }

Attrs AttrsOf(std::initializer_list<std::pair<const char*, AttrValue>> values) {
  Attrs attrs;
  for (const auto& [name, value] : values) attrs.Set(name, value);
  return attrs;
}

Atom BindingBuilder::Call(std::string_view name, std::vector<Atom> args, const Attrs& given,
                          const Var* as) {
  const OpDef* op = OpTable::Get().Find(name);
  assert(op != nullptr && "passes use operators that exist");
  Result<Attrs> attrs = CompleteAttrs(*op, given);
  assert(attrs.ok() && "passes give valid attributes");
  const Var* var = as != nullptr ? as : MakeVar(m_, "", nullptr, span_);
  OpCall call{op, std::move(args), std::move(attrs).value()};
  out_.push_back({var, MakeExpr(m_, std::move(call), span_)});
  return var;
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

void BindingBuilder::BindAtom(const Var* var, Atom atom) {
  out_.push_back({var, MakeExpr(m_, AtomExpr{atom}, span_)});
}

}  // namespace relayvm::ir

#include "compiler/transforms/simplify/resolve_aliases.h"

#include <unordered_map>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

class AliasResolver final : public Substitution {
 public:
  using Substitution::Substitution;

 private:
  bool Consume(const Var* var, const Expr& value, Block&) override {
    // Each tuple is made before its fields are read.
    if (const auto* tuple = value.As<MakeTuple>()) tuples_[var->id] = tuple->fields;
    const auto* alias = value.As<AtomExpr>();
    const Atom* image = alias == nullptr ? FieldOf(value) : &alias->atom;
    if (image == nullptr || !MayStandFor(*var, *image, alias != nullptr)) return false;
    Map(var, *image);
    return true;
  }

  const Atom* FieldOf(const Expr& value) const {
    const auto* get = value.As<TupleGet>();
    const Var* tuple = get == nullptr ? nullptr : AsVar(get->tuple);
    const auto at = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
    return at == tuples_.end() ? nullptr : &at->second.at(get->index);
  }

  // Only where the variable does not sharpen the type.
  bool MayStandFor(const Var& var, const Atom& image, bool is_alias) const {
    const Var* source = AsVar(image);
    if (is_alias && (source == nullptr || var.type == nullptr)) return true;
    if (var.type == nullptr || (source != nullptr && source->type == nullptr)) return false;
    return TypeEquals(var.type, AtomType(m_, image));
  }

  std::unordered_map<uint32_t, std::vector<Atom>> tuples_;  // their fields, by Var::id
};

}  // namespace

Module ResolveAliases(const Module& m) { return AliasResolver(m).Run(); }

}  // namespace relayvm::ir

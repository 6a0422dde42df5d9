#include "compiler/transforms/simplify/common_subexpressions.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

void AppendAttr(const AttrValue& v, std::string& key) {
  if (const auto* list = std::get_if<AttrList>(&v.value)) {
    key += '[';
    for (const AttrValue& x : *list) AppendAttr(x, key);
    key += ']';
  } else if (const auto* s = std::get_if<std::string>(&v.value)) {
    key += fmt::format("\"{}:{}\"", s->size(), *s);
  } else if (const auto* d = std::get_if<Dim>(&v.value)) {
    key += fmt::format("i{};", d->ToString());
  } else if (const auto* x = std::get_if<double>(&v.value)) {
    key += fmt::format("f{};", *x);
  } else if (const auto* b = std::get_if<bool>(&v.value)) {
    key += *b ? "T" : "F";
  } else {
    key += 'N';
  }
}

class Deduplicator final : public Substitution {
 public:
  using Substitution::Substitution;

 private:
  bool Consume(const Var* var, const Expr& value, Block&) override {
    std::string key = Key(value);
    if (key.empty()) return false;
    auto [at, inserted] = known_.emplace(key, var);
    if (inserted) {
      added_.push_back(std::move(key));
    } else if (CompatibleTypes(at->second->type, var->type)) {
      Map(var, at->second);
      return true;
    }
    return false;
  }
  void EnterBlock() override { marks_.push_back(added_.size()); }
  void LeaveBlock() override {
    while (added_.size() > marks_.back()) {
      known_.erase(added_.back());
      added_.pop_back();
    }
    marks_.pop_back();
  }

  // A call whose type has symbols of its own (a size that only running tells) is the same value all
  // the same, but its symbols are those of its own variable: only equal types are merged.
  static bool CompatibleTypes(const Type& a, const Type& b) {
    if (a == nullptr || b == nullptr) return a == b;
    return TypeEquals(a, b);
  }

  static void AppendAtom(const Atom& a, std::string& key) {
    if (const Var* v = AsVar(a)) {
      key += fmt::format("v{},", v->id);
    } else if (const auto* c = std::get_if<const Constant*>(&a)) {
      key += ConstantKey(**c);
    } else if (const auto* g = std::get_if<const GlobalVar*>(&a)) {
      key += fmt::format("@{},", (*g)->name);
    } else {
      key += fmt::format("k{},", static_cast<const void*>(std::get<const Constructor*>(a)));
    }
  }

  static std::string ConstantKey(const Constant& c) {
    constexpr size_t kSmall = 64;
    if (c.value.data.size() > kSmall) return fmt::format("c{},", static_cast<const void*>(&c));
    std::string key = fmt::format("s{}", DTypeName(c.value.dtype));
    for (int64_t d : c.value.shape) key += fmt::format(":{}", d);
    for (std::byte b : c.value.data) key += fmt::format(".{}", std::to_integer<int>(b));
    return key + ",";
  }

  // Empty: not to be merged.
  static std::string Key(const Expr& e) {
    std::string key;
    if (const auto* call = e.As<OpCall>()) {
      key = call->op->name + "(";
      for (const Atom& a : call->args) AppendAtom(a, key);
      for (const auto& [name, value] : call->attrs.values()) {
        key += name + "=";
        AppendAttr(value, key);
      }
    } else if (const auto* tuple = e.As<MakeTuple>()) {
      key = "(";
      for (const Atom& a : tuple->fields) AppendAtom(a, key);
    } else if (const auto* get = e.As<TupleGet>()) {
      key = fmt::format(".{} ", get->index);
      AppendAtom(get->tuple, key);
    }
    return key;
  }

  std::unordered_map<std::string, const Var*> known_;
  std::vector<std::string> added_;  // keys to forget when their block ends
  std::vector<size_t> marks_;       // for each open block: the keys added before it
};

}  // namespace

Module EliminateCommonSubexpressions(const Module& m) { return Deduplicator(m).Run(); }

}  // namespace relayvm::ir

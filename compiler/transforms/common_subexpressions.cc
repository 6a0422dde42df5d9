#include "compiler/transforms/common_subexpressions.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "compiler/transforms/copy.h"
#include "compiler/transforms/rewrite.h"

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

class Deduplicator {
 public:
  explicit Deduplicator(const Module& m) : m_(m) {}

  const Block* Run(const Block& block) {
    Block out;
    out.bindings.reserve(block.bindings.size());
    bool changed = false;
    size_t mark = added_.size();
    for (const Binding& b : block.bindings) {
      const Expr* e = MapAtoms(m_, b.value, [&](const Atom& a) { return Image(a); });
      e = MapBlocks(m_, e, [&](const Block& inner) { return Run(inner); });
      changed = changed || e != b.value;
      std::string key = Key(*e);
      if (!key.empty()) {
        auto [at, inserted] = known_.emplace(key, b.var);
        if (!inserted && CompatibleTypes(at->second->type, b.var->type)) {
          map_[b.var->id] = at->second;
          changed = true;
          continue;
        }
        if (inserted) added_.push_back(std::move(key));
      }
      out.bindings.push_back({b.var, e});
    }
    out.result = Image(block.result);
    changed = changed || !(out.result == block.result);
    while (added_.size() > mark) {
      known_.erase(added_.back());
      added_.pop_back();
    }
    return changed ? m_.arena->New<Block>(std::move(out)) : &block;
  }

 private:
  // A call whose type has symbols of its own (a size that only running tells) is the same value all
  // the same, but its symbols are those of its own variable: only equal types are merged.
  static bool CompatibleTypes(const Type& a, const Type& b) {
    if (a == nullptr || b == nullptr) return a == b;
    return TypeEquals(a, b);
  }

  Atom Image(const Atom& a) const {
    const Var* v = AsVar(a);
    auto at = v == nullptr ? map_.end() : map_.find(v->id);
    return at == map_.end() ? a : at->second;
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

  const Module& m_;
  AtomMap map_;
  std::unordered_map<std::string, const Var*> known_;
  std::vector<std::string> added_;  // keys to forget when their block ends
};

}  // namespace

Module EliminateCommonSubexpressions(const Module& m) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Block* body = Deduplicator(m).Run(*f->body);
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir

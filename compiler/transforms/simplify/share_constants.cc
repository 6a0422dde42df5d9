#include "compiler/transforms/simplify/share_constants.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

constexpr size_t kLeastBytes = 65;

class Sharer {
 public:
  // The first constant that is as this one.
  const Constant* Of(const Constant* constant) {
    const HostTensor& value = constant->value;
    if (value.data.size() < kLeastBytes) return constant;
    const auto [at, is_new] = known_.try_emplace(constant, constant);
    if (!is_new) return at->second;
    Group& group = groups_[{value.dtype, value.shape}];
    if (!group.is_read && !group.all.empty()) {
      group.is_read = true;
      group.by_sample.emplace(SampleOf(group.all[0]->value), group.all[0]);
    }
    group.all.push_back(constant);
    if (!group.is_read) return constant;
    const std::string sample = SampleOf(value);
    const auto [first, last] = group.by_sample.equal_range(sample);
    for (auto other = first; other != last; ++other) {
      if (!IsSame(other->second->value, value)) continue;
      is_found_ = true;
      return at->second = other->second;
    }
    group.by_sample.emplace(sample, constant);
    return constant;
  }
  bool is_found() const { return is_found_; }

 private:
  struct Group {
    std::vector<const Constant*> all;
    bool is_read = false;  // there are two and more
    std::multimap<std::string, const Constant*> by_sample;
  };

  // Words from all over the bytes, and the last ones.
  static std::string SampleOf(const HostTensor& t) {
    constexpr size_t kWords = 64, kWord = 8;
    const SharedBytes bytes = t.data.Loaded();
    const auto* data = reinterpret_cast<const char*>(bytes.data());
    const size_t step = std::max(bytes.size() / kWords, kWord);
    std::string sample;
    for (size_t at = 0; at + kWord <= bytes.size(); at += step) sample.append(data + at, kWord);
    return sample.append(data + bytes.size() - kWord, kWord);
  }
  static bool IsSame(const HostTensor& a, const HostTensor& b) {
    if (a.data.identity() == b.data.identity()) return true;
    const SharedBytes x = a.data.Loaded(), y = b.data.Loaded();
    const bool is_same = std::memcmp(x.data(), y.data(), x.size()) == 0;
    x.DropPages();
    y.DropPages();
    return is_same;
  }

  std::map<std::tuple<DType, std::vector<int64_t>>, Group> groups_;
  std::unordered_map<const Constant*, const Constant*> known_;
  bool is_found_ = false;
};

void ForEachConstant(const Block& block, const std::function<void(const Constant*)>& fn) {
  const auto atom = [&](const Atom& a) {
    if (const auto* constant = std::get_if<const Constant*>(&a)) fn(*constant);
  };
  for (const Binding& b : block.bindings) {
    std::visit(
        [&](const auto& node) {
          VisitParts(node, Overloaded{[&](const Atom& a) { atom(a); },
                                      [&](const Block* inner) { ForEachConstant(*inner, fn); },
                                      [&](const Function* f) { ForEachConstant(*f->body, fn); },
                                      kIgnoreRest});
        },
        b.value->node);
  }
}

}  // namespace

Module ShareConstants(const Module& m) {
  Sharer sharer;
  for (const auto& [name, function] : m.functions)
    ForEachConstant(*function->body, [&](const Constant* c) { sharer.Of(c); });
  if (!sharer.is_found()) return m;
  const auto shared = [&](const Atom& atom) -> Atom {
    const auto* constant = std::get_if<const Constant*>(&atom);
    return constant == nullptr ? atom : Atom(sharer.Of(*constant));
  };
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    out.push_back({b.var, MapAtoms(m, b.value, shared)});
  });
}

}  // namespace relayvm::ir

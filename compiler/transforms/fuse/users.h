// Who uses a variable, as bindings of the block that defines it. Tested by fuse_test.cc.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/walk.h"

namespace relayvm::ir {

// Of each variable that a binding of the function defines, the bindings of the same block that use
// it, those that hold a use in a nested block included; null for the block's result. One walk over
// the function finds all of them, however deep it nests.
class Users {
 public:
  Users(const Module& m, const Block& body) : m_(m) { Visit(body); }

  const std::vector<const Var*>& Of(const Var& var) const {
    static const std::vector<const Var*> kNobody;
    auto at = users_.find(var.id);
    return at == users_.end() ? kNobody : at->second;
  }

 private:
  void Visit(const Block& block) {
    size_t depth = current_.size();
    current_.push_back(nullptr);
    for (const Binding& b : block.bindings) {
      depth_[b.var->id] = depth;
      current_[depth] = b.var;
      ForEachUse(m_, b, [&](const Var* v) { Use(*v); });
      ForEachBlock(*b.value, [&](const Block& inner) { Visit(inner); });
    }
    current_[depth] = nullptr;
    if (const Var* v = AsVar(block.result)) Use(*v);
    current_.pop_back();
  }
  void Use(const Var& v) {
    auto defined = depth_.find(v.id);
    if (defined == depth_.end()) return;  // a parameter, or of a pattern
    const Var* user = current_[defined->second];
    std::vector<const Var*>& all = users_[v.id];
    if (all.empty() || all.back() != user) all.push_back(user);
  }

  const Module& m_;
  std::vector<const Var*> current_;             // the open bindings, outermost first
  std::unordered_map<uint32_t, size_t> depth_;  // of the block that defines a variable
  std::unordered_map<uint32_t, std::vector<const Var*>> users_;
};

}  // namespace relayvm::ir

// Rebuilds tensor expressions with other nodes in the place of some, without simplifying: the shape
// of an expression stays. Not thread-safe. Tested through contraction/contraction_test.cc and
// immediates_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/te/te.h"

namespace relayvm::codegen {

// `fn` gives the replacement of a node; null keeps the node and rebuilds its operands. Each shared
// node is visited once.
class Rewriter {
 public:
  using Fn = std::function<te::Expr(const te::Expr&)>;
  explicit Rewriter(Fn fn) : fn_(std::move(fn)) {}

  te::Expr Rewrite(const te::Expr& root) {
    std::vector<std::pair<te::Expr, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [e, operands_done] = std::move(stack.back());
      stack.pop_back();
      if (done_.contains(e.get())) continue;
      if (!operands_done) {
        if (te::Expr replacement = fn_(e)) {
          done_[e.get()] = replacement;
          kept_.push_back(e);
          continue;
        }
        stack.emplace_back(e, true);
        for (const te::Expr& operand : e->operands) stack.emplace_back(operand, false);
        continue;
      }
      done_[e.get()] = Rebuild(e);
      kept_.push_back(e);
    }
    return done_.at(root.get());
  }

 private:
  te::Expr Rebuild(const te::Expr& e) {
    bool changed = false;
    std::vector<te::Expr> operands;
    for (const te::Expr& operand : e->operands) {
      operands.push_back(done_.at(operand.get()));
      changed = changed || operands.back().get() != operand.get();
    }
    if (!changed) return e;
    auto node = std::make_shared<te::ExprNode>(*e);
    node->operands = std::move(operands);
    return node;
  }

  Fn fn_;
  std::unordered_map<const te::ExprNode*, te::Expr> done_;
  std::vector<te::Expr> kept_;  // nodes whose addresses are keys
};

}  // namespace relayvm::codegen

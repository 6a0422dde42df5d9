// Surface DAG to A-normal form.
//
// A node is evaluated once, in the innermost block (function body, branch, match clause) that
// dominates all its uses, when it is first needed there: nothing runs in a branch that doesn't need
// it, nothing runs twice; what stands before a loop runs before it (Graph::first_inside). Operands
// evaluate left to right; the value of a let evaluates at its let, so effects on references keep
// their order. (TVM: ToBasicBlockNormalForm.) Iterative: the native
// stack does not grow with the program. Nesting of blocks is limited to kMaxBlockDepth, because the
// passes that follow recurse with it. Tested by to_anf_test.cc.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace relayvm::ir {

inline constexpr uint32_t kMaxBlockDepth = 10'000;

// Lowers the functions of one module, one after the other.
class AnfBuilder {
 public:
  AnfBuilder(const Module& module, const Graph& graph) : module_(module), graph_(graph) {}

  // REQUIRES: `function` is a kFunction node.
  Result<const Function*> Lower(NodeId function);

 private:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  struct BlockState {
    uint32_t parent;
    uint32_t depth;
    NodeId since;  // nodes before this one are evaluated further out
    std::vector<Binding> bindings;
  };
  struct NodeState {
    uint32_t epoch = 0;               // of the Lower() call that this state belongs to
    uint32_t block = kNoBlock;        // where it is evaluated
    uint32_t first_block = kNoBlock;  // the first of the blocks it opens
    bool done = false;
    Atom atom = static_cast<const Var*>(nullptr);  // its value, when done
  };
  struct Variable {
    const Var* var;
    uint32_t block;  // that binds it
    uint32_t epoch;
  };
  struct Work {
    NodeId node;
    uint32_t step;
    const Var* bind;  // the let's variable that takes the value, or null
  };

  std::vector<NodeId> PostOrder(NodeId root);
  Status PlaceNodes(const std::vector<NodeId>& order, NodeId root);
  uint32_t NewBlock(uint32_t parent, NodeId since);
  uint32_t CommonBlock(uint32_t a, uint32_t b) const;
  bool IsWithin(uint32_t block, uint32_t outer) const;

  // One step of the node on top of `stack_`: demands its next operand, or finishes it.
  Status Step();
  Status StepLet(Work& work, const Node& node);
  // Pushes operand `i` unless it is done.
  bool Demand(NodeId operand, const Var* bind);
  Status Finish(const Work& work, const Node& node);
  Status ValueOf(const Work& work, const Node& node, ExprVariant* value);
  Status PlainValueOf(const Node& node, ExprVariant* value);
  // The value of a done operand, checked to be in scope in `block`.
  Status Use(NodeId operand, uint32_t block, Atom* atom);
  Status TakeBlock(uint32_t block, NodeId result, const Block** out);
  // Notes that `var` is bound in `block`. Gives the variable that stands for it: itself, or a copy
  // if an earlier function has bound it (TVM prints functions that share variables).
  const Var* Declare(const Var* var, uint32_t block);
  const Var* Bind(uint32_t block, const Var* var, const Expr* value);
  void DeclareParams(NodeId function);
  void DeclarePattern(Pattern& pattern, uint32_t block);
  void RenameParams(Function& function);

  const Module& module_;
  const Graph& graph_;
  uint32_t epoch_ = 0;
  std::vector<NodeState> states_;
  std::vector<BlockState> blocks_;
  std::unordered_map<const Var*, Variable> variables_;  // those bound so far
  std::vector<Work> stack_;
};

}  // namespace relayvm::ir

// The surface form: what graph_builder.h makes and to_anf.h turns into A-normal form, and what
// from_anf.h makes of that again.
//
// Expressions are nodes of a DAG in one vector, named by position; operands come before their
// users. A shared expression (%0 = ...) is a node that several others mention. Variables are the
// IR's own.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = UINT32_MAX;

enum class NodeKind : uint8_t {
  kAtom,      // `atom`
  kOperator,  // a bare operator: ops[payload]; for frontends, never in finished graphs
  kOpCall,    // ops[payload](operands)
  kCall,      // operands[0](operands[1...])
  kTuple,
  kTupleGet,  // field `payload` of operands[0]
  kLet,       // lets[payload][i] = operands[i], one after the other; the last operand is the value
  kFunction,  // functions[payload]; operands[0] is the body
  kIf,        // condition, then, else
  kMatch,     // matches[payload]; data, then the clauses' bodies
  kHostCall,  // hosts[payload](operands)
  kRefCreate,
  kRefRead,
  kRefWrite,
  kExpr,  // exprs[payload] with the operands in place of its own; no nested blocks
};

struct Node {
  NodeKind kind;
  Span span;
  std::vector<NodeId> operands;
  uint32_t payload = 0;
  Atom atom = static_cast<const Var*>(nullptr);
  // That the value is bound to, where no let says another one; null: a new one. Not of atoms and
  // lets.
  const Var* bind = nullptr;

  // True if operand `i` is evaluated in a block of its own (a branch, a clause, a function's body).
  bool OpensBlock(size_t i) const {
    if (kind == NodeKind::kFunction) return true;
    return (kind == NodeKind::kIf || kind == NodeKind::kMatch) && i > 0;
  }
};

struct OpPayload {
  const OpDef* op;
  Attrs attrs;
};
struct HostPayload {
  std::string name;
  Type type;
};
struct MatchPayload {
  std::vector<Pattern> patterns;
  bool complete;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<OpPayload> ops;
  std::vector<std::vector<const Var*>> lets;
  std::vector<Function> functions;  // without body
  std::vector<MatchPayload> matches;
  std::vector<HostPayload> hosts;
  std::vector<const Expr*> exprs;
  // Of functions that are loops: nodes before this one stand before the loop, and are evaluated
  // there, once, even where only its turns use them.
  std::unordered_map<NodeId, NodeId> first_inside;
};

}  // namespace relayvm::ir

// Walks over the IR: the parts of a node, what a binding reads, and expressions with other parts.
//
// `VisitParts` is the one place that knows which kind of node has which parts; a kind that it
// forgets does not compile. All other walks of the compiler are made of it. Tested by ir_test.cc
// and walk_test.cc.
#pragma once

#include <functional>
#include <type_traits>
#include <variant>

#include "compiler/ir/ir.h"

namespace relayvm::ir {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// The last of the functions given to VisitParts: for parts that the caller does not care for.
inline constexpr auto kIgnoreRest = [](const auto&) {};

// Calls `fn` on each part of one alternative of ExprVariant: its Atoms, Blocks (const Block*),
// Functions (const Function*: a literal's or a primitive's), Patterns, and Dims. `Node` may be
// const; if it is not, `fn` may write the parts.
template <typename Node, typename Fn>
void VisitParts(Node& node, Fn&& fn) {
  using T = std::remove_const_t<Node>;
  auto each = [&](auto& parts) {
    for (auto& part : parts) fn(part);
  };
  if constexpr (std::is_same_v<T, AtomExpr>) {
    fn(node.atom);
  } else if constexpr (std::is_same_v<T, OpCall>) {
    each(node.args);
  } else if constexpr (std::is_same_v<T, CallExpr>) {
    fn(node.callee);
    each(node.args);
  } else if constexpr (std::is_same_v<T, PrimitiveCall>) {
    each(node.args);
    fn(node.function);
  } else if constexpr (std::is_same_v<T, ShapeValue>) {
    each(node.elements);
  } else if constexpr (std::is_same_v<T, MakeTuple>) {
    each(node.fields);
  } else if constexpr (std::is_same_v<T, TupleGet>) {
    fn(node.tuple);
  } else if constexpr (std::is_same_v<T, FunctionExpr>) {
    fn(node.function);
  } else if constexpr (std::is_same_v<T, MakeClosure>) {
    each(node.captured);
  } else if constexpr (std::is_same_v<T, IfExpr>) {
    fn(node.condition);
    fn(node.then_block);
    fn(node.else_block);
  } else if constexpr (std::is_same_v<T, MatchExpr>) {
    fn(node.data);
    for (auto& clause : node.clauses) {
      fn(clause.pattern);
      fn(clause.body);
    }
  } else if constexpr (std::is_same_v<T, HostCall>) {
    each(node.args);
  } else if constexpr (std::is_same_v<T, RefCreate>) {
    fn(node.value);
  } else if constexpr (std::is_same_v<T, RefRead>) {
    fn(node.ref);
  } else if constexpr (std::is_same_v<T, RefWrite>) {
    fn(node.ref);
    fn(node.value);
  } else if constexpr (std::is_same_v<T, Guard>) {
    fn(node.left);
    fn(node.right);
  } else if constexpr (std::is_same_v<T, DimOf>) {
    fn(node.value);
  } else if constexpr (std::is_same_v<T, Stated>) {
    fn(node.value);  // the symbols of its type are its own
  } else if constexpr (std::is_same_v<T, ShapeByRule>) {
    each(node.shape.data);
    each(node.shape.numbers);
  } else if constexpr (std::is_same_v<T, Trap>) {
    // nothing
  } else {
    static_assert(std::is_same_v<T, ElementOf>, "a kind of node without its parts");
    fn(node.tensor);
  }
}

// Calls fn on every operand of `e` (not into nested blocks).
void ForEachAtom(const Expr& e, const std::function<void(const Atom&)>& fn);
// Calls fn on every nested block of `e`: branches, clauses, the body of a FunctionExpr.
void ForEachBlock(const Expr& e, const std::function<void(const Block&)>& fn);
// Calls fn on every binding of the block and of the blocks inside it; a binding before what it
// holds.
void ForEachBinding(const Block& block, const std::function<void(const Binding&)>& fn);
// Calls fn on every function of the module that the block mentions, nested blocks included: `call`
// is the call whose callee it is, null for any other mention.
void ForEachGlobal(const Block& block,
                   const std::function<void(const GlobalVar&, const CallExpr* call)>& fn);
// Calls fn on every variable that the pattern binds.
void ForEachVar(const Pattern& pattern, const std::function<void(const Var*)>& fn);

// Calls fn on every variable that running `binding` reads, nested blocks apart: its operands, and
// the values of the symbols that its expression and the sizes of its result and of its operands
// mention. A symbol that the binding itself defines is not read. This is the one answer to "what
// does a binding use"; atoms alone are not.
void ForEachUse(const Module& m, const Binding& binding, const std::function<void(const Var*)>& fn);
// Calls fn on every symbol that ForEachUse looks up.
void ForEachSymbol(const Binding& binding, const std::function<void(const Dim& symbol)>& fn);
// The variables that ForEachUse gives for the bindings of the block and of the blocks inside it,
// and the results of these blocks.
void ForEachUseInside(const Module& m, const Block& block,
                      const std::function<void(const Var*)>& fn);

// The expression with each operand replaced; the same node when nothing changes. Not into nested
// blocks. `fn` may be called more than once for an operand.
const Expr* MapAtoms(const Module& m, const Expr* e, const std::function<Atom(const Atom&)>& fn);
// The expression with each nested block replaced (branches, clauses, the body of a FunctionExpr).
const Expr* MapBlocks(const Module& m, const Expr* e,
                      const std::function<const Block*(const Block&)>& fn);
// The function with another body.
const Function* WithBody(const Module& m, const Function& f, const Block* body);

}  // namespace relayvm::ir

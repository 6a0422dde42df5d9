// Relay in A-normal form: the compiler's one intermediate representation.
//
// A Block is a list of bindings and a result; every operand is an Atom (a variable, a constant, a
// global function or a constructor). Nested blocks stand only in `if`, `match` and functions, so a
// pass is a loop over bindings and recurses with the nesting of the source, never with the length
// of a program: a chain of 100,000 lets is one vector. The frontends produce this form at once
// (sharing of graph bindings is resolved there: a shared expression is bound in the innermost block
// that dominates its uses).
//
// Nodes are immutable once built, owned by the Module's arena and shared by the modules that passes
// derive from it. A variable is bound once (its id is unique in the module, and in its function
// once lambda lifting has made captured variables parameters); passes that copy code
// make new variables. Thread-compatible. Tested by ir_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/string_table.h"
#include "compiler/ir/arena.h"
#include "compiler/ir/source.h"
#include "compiler/ir/type.h"
#include "kernels/op/op.h"
#include "kernels/te/evaluate.h"

namespace relayvm::ir {

struct Function;
struct Block;

struct Var {
  uint32_t id;
  std::string name;  // for people; may be any text, may repeat. Empty: a temporary
  Type type;         // after type inference never null
  Span span;
};

// How a constant is made of tensors that take less room: by a builtin (Builtin::makes_constants).
struct Recipe {
  std::string builtin;
  std::vector<int64_t> params;
  std::vector<HostTensor> inputs;
};

struct Constant {
  HostTensor value;  // of strings: ids of the module's table
  std::string name;  // of a bound parameter; else empty
  // Null, or what gives the same bytes when a program is loaded: files hold its inputs then.
  std::shared_ptr<const Recipe> recipe = nullptr;
};

struct GlobalVar {  // a function of the module, by name
  std::string name;
};

struct Constructor {
  std::string name;
  std::string adt;           // the type definition it belongs to
  uint32_t tag;              // position in the definition
  std::vector<Type> fields;  // may mention the definition's type parameters
};

// An operand. Exactly one alternative; pointers are owned by the arena.
using Atom = std::variant<const Var*, const Constant*, const GlobalVar*, const Constructor*>;

// --- Values that a binding may have ---

struct AtomExpr {  // %x = %y
  Atom atom;
};
struct OpCall {  // a call of an operator. Attributes are complete.
  const OpDef* op;
  std::vector<Atom> args;
  Attrs attrs;
};
struct CallExpr {  // a call of a global function, a constructor or a function value
  Atom callee;
  std::vector<Atom> args;
  std::vector<Type> type_args;  // of a generic callee, after inference
};
struct PrimitiveCall {  // after fusion: a group of operator calls that becomes one kernel
  const Function*
      function;  // its body holds only OpCalls, MakeTuple and TupleGet; attrs has "Primitive"
  std::vector<Atom> args;
};
struct MakeTuple {
  std::vector<Atom> fields;
};
struct TupleGet {
  Atom tuple;
  uint32_t index;
};
struct FunctionExpr {  // a closure over the variables in scope
  const Function* function;
};
struct MakeClosure {  // after lambda lifting: a closure whose code is a global function; captured
                      // values are its first params
  const GlobalVar* function;
  std::vector<Atom> captured;
};
struct IfExpr {
  Atom condition;
  const Block* then_block;
  const Block* else_block;
};

struct Pattern {
  enum class Kind : uint8_t { kWildcard, kVar, kConstructor, kTuple };
  Kind kind = Kind::kWildcard;
  const Var* var = nullptr;                  // kVar
  const Constructor* constructor = nullptr;  // kConstructor
  std::vector<Pattern> fields;               // kConstructor, kTuple
  Span span;
};
struct MatchClause {
  Pattern pattern;
  const Block* body;
};
struct MatchExpr {
  Atom data;
  std::vector<MatchClause> clauses;
  bool complete = true;  // `match`: the clauses must be exhaustive; `match?`: a value that none
                         // matches is a run-time error
};
// What the host is called for: the body of a function that the program declares without one
// (IsHostFunction). An effect: it may be neither dropped, doubled nor moved over another one. Its
// variable's dims are whatever comes back.
struct HostCall {
  std::string name;  // that the host registers
  Type type;         // as declared, a function type; the symbols of it are its own
  std::vector<Atom> args;
};
struct RefCreate {
  Atom value;
};
struct RefRead {
  Atom ref;
};
struct RefWrite {  // value is the unit tuple
  Atom ref, value;
};
// Made by type inference: at run time `left == right` (or `left >= right`) must hold, else the
// program fails with `message`. Binds a unit variable. Passes keep it before the operations that
// need it.
struct Guard {
  enum class Kind : uint8_t { kEqual, kAtLeast, kBroadcastable /* equal, or one of them 1 */ };
  Kind kind;
  Dim left, right;
  std::string message;
  // Of a call whose place a pass gave to others (transforms/builder.h): type inference, which makes
  // all other guards anew, keeps it.
  bool is_kept = false;
};

// The same value, of which the program states the type: `let %y: Tensor[(2, ?), float32] = %value`.
// Made by the check of the source, and where a call is replaced by the body of its callee, for its
// arguments. Every pass keeps it; type inference takes the numbers in `type` as known from here on
// and puts guards before it that check them. In `type`, a symbol that occurs several times stands
// for dims that must be equal: from here on they are the one where it first occurs.
struct Stated {
  Atom value;
  Type type;
  std::string what;  // "%y", "result of @f"
};

// What can't go on: the program fails with `message`. Its variable may have any type.
struct Trap {
  std::string message;
};

// An integer tensor of rank 0 or 1 whose elements are dimension expressions (what shape_of and
// arithmetic on it gives).
struct ShapeValue {
  std::vector<Dim> elements;
};

// Made by type inference before the call of a view whose shape numbers decide: its dims, as an
// int64 tensor of rank 1 that only ElementOf reads. Exact, or the program fails with an error of
// `what` ("dyn.reshape").
struct ShapeByRule {
  RuledShape shape;
  std::string what;
};

// Made by type inference: what a symbol stands for, as an int64 scalar (see Symbols below).
// Dimension `axis` of the tensor that `path` leads to through tuples: {} for a tensor, {1} for the
// second field of a pair.
struct DimOf {
  Atom value;
  std::vector<uint32_t> path;
  uint32_t axis;
};
// The element at flat position `index` of an integer tensor. It is read where it is first needed:
// there a guard on the tensor's length, where that is dynamic, stands before.
struct ElementOf {
  Atom tensor;
  int64_t index;
};

using ExprVariant =
    std::variant<AtomExpr, OpCall, CallExpr, PrimitiveCall, ShapeValue, MakeTuple, TupleGet,
                 FunctionExpr, MakeClosure, IfExpr, MatchExpr, HostCall, RefCreate, RefRead,
                 RefWrite, Guard, DimOf, ElementOf, Stated, Trap, ShapeByRule>;
struct Expr {
  ExprVariant node;
  Span span;

  template <typename T>
  const T* As() const {
    return std::get_if<T>(&node);
  }
};

struct Binding {
  const Var* var;
  const Expr* value;
};
struct Block {
  std::vector<Binding> bindings;
  Atom result;
};

struct Function {
  std::string name;  // for people
  std::vector<Type> type_params;
  std::vector<const Var*> params;
  Type result_type;  // null when not declared and not yet inferred
  const Block* body;
  std::map<std::string, AttrValue> attrs;  // Primitive, Inline, ...
  Span span;
};
// The attribute of functions that the host provides: 1, or the name that it registers if that is
// another one. Their body is a HostCall (and what type inference adds); passes leave it as it is.
inline constexpr const char* kHostAttr = "host";
inline bool IsHostFunction(const Function& f) { return f.attrs.contains(kHostAttr); }

// --- Symbols ---

// A symbol in a dimension stands for the value of an integer scalar variable. The variable is bound
// as any other, to a DimOf or an ElementOf, or it is a scalar of the program that a size is read
// from; so whoever mentions the symbol uses the variable:
//
//   fn (%x: Tensor[(x.0, 4), float32], %s: Tensor[(2), int64]) {
//     let %x.0 = dim(%x, 0);                       // symbols[x.0] = {%x.0, %x}
//     let %s[1] = element(%s, 1);                  // symbols[s[1]] = {%s[1], %s}
//     let %y: Tensor[(s[1]), int8] = dyn.zeros(%s) // uses %s[1]; walk.h's ForEachUse says so
//
// Types of a variable may mention symbols that are bound after it (its own dims); only what is
// computed by its type needs them.
struct SymbolValue {
  const Var* value;   // an integer scalar
  const Var* source;  // the variable whose dim or element it is; `value` itself when it is neither
};
using SymbolTable = std::map<uint32_t, SymbolValue>;

// --- Module ---

struct TypeDef {
  std::string name;
  std::vector<Type> params;  // TypeVars
  std::vector<const Constructor*> constructors;
  Span span;
};

// The functions and types of a module as type inference left them. Nodes are immutable: a function
// of the module that is still the same node has its types.
struct TypedParts {
  std::map<std::string, const Function*> functions;
  std::map<std::string, TypeDef> types;
};

struct Module {
  std::shared_ptr<Arena> arena;
  std::shared_ptr<SourceMap> sources;
  std::shared_ptr<IdSource>
      ids;  // fresh numbers for Var::id, TypeVar::id, InferVar::id and symbols
  std::shared_ptr<StringTable> strings;  // of its constants; only grows
  std::map<std::string, const Function*> functions;
  std::map<std::string, TypeDef> types;
  SymbolTable symbols;
  // Elements, row-major, of small integer tensors where type inference found them as dimension
  // expressions; by Var::id.
  std::map<uint32_t, std::vector<Dim>> contents;
  std::shared_ptr<const TypedParts> typed;  // of the last type inference; may be null
  std::string entry = "main";
};

// --- Helpers ---

// Without functions and types.
Module MakeModule();
template <typename T>
const Expr* MakeExpr(const Module& m, T node, Span span) {
  return m.arena->New<Expr>(Expr{ExprVariant(std::move(node)), span});
}
const Var* MakeVar(const Module& m, std::string name, Type type, Span span);
const Constant* MakeConstant(const Module& m, HostTensor value, std::string name = "");
const Constant* MakeConstant(const Module& m, HostTensor value, std::string name,
                             std::shared_ptr<const Recipe> recipe);

// Type of an atom: a variable's, a constant's tensor type, a global function's (FunctionTypeOf), a
// constructor's.
Type AtomType(const Module& m, const Atom& a);
Type ConstantType(const Constant& c);
Type FunctionTypeOf(const Function& f);
Type ConstructorType(const Module& m, const Constructor& c);

inline const Var* AsVar(const Atom& a) {
  const auto* v = std::get_if<const Var*>(&a);
  return v == nullptr ? nullptr : *v;
}

}  // namespace relayvm::ir

// One run of type inference over a module. InferTypes (infer.cc) runs it until no type widens, then
// has Rebuild make the result.
//
// Functions are taken callees first, bindings in order. The type of a binding follows from the
// types of its operands; where these are unknown yet (an unannotated parameter of a closure, the
// result of a function that calls itself), the binding waits for the slot that is unknown and its
// variable gets a slot of its own. What still waits at the end cannot be inferred.
//
// Dims in types of variables are expressions over visible symbols. An Any in tensor position is
// opened when the variable's type is first looked at: it becomes a symbol that the variable
// defines. Not thread-safe. Tested by infer_test.cc, errors_test.cc.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/typing/call_graph.h"
#include "compiler/typing/infer.h"
#include "compiler/typing/kept_functions.h"
#include "compiler/typing/op_typing.h"
#include "compiler/typing/solver.h"

namespace relayvm::typing {

// A function while it is being typed: a global one, a closure, or the body of a primitive call.
struct FunctionState {
  const ir::Function* function = nullptr;
  std::string name;
  Place outside;  // where the function is defined
  ScopeId scope = 0;
  bool recursive = false;  // mentioned before its body was typed
  bool done = false;
  bool kept = false;             // it has its types already
  std::vector<ir::Type> params;  // as others see them: a slot where nothing is written
  ir::Type declared_result;      // prepared; null when not declared
  ir::Type result;  // of the body, in terms of parameter symbols; while recursive: the same for all
                    // calls
};

// A variable while it is being typed:
//
//   (no type) --its binding is typed---> defined --someone looks--> read --no slot is left--> settled
//       |                                   ^
//       +--its binding waits--> promised ---+
//
// promised  A slot stands for the type that the binding will have; others use it. The slot is
//           `guessed`: what flows into it says nothing about symbols, until Define says what it is.
//           A call that waits for its own result is `loose` when nothing else moves: then the slot is
//           its type.
// defined   `type` may be a slot and hold Any. An `alias`, and a `tuple` of known fields, are of the
//           types that what they stand for has by then.
// read      Any in tensors is opened: others know the symbols, which stay. Slots may still be filled.
// settled   `type` is complete and final.
struct VarState {
  ir::Type type;  // may hold slots and Any
  Place place;
  bool settled = false;               // `type` is complete and opened
  bool read = false;                  // someone saw its structure
  FunctionState* function = nullptr;  // the function that it is bound to
  std::optional<ir::Atom> alias;      // it is the same value as this
  const ir::MakeTuple* tuple = nullptr;
  std::shared_ptr<const std::vector<Dim>> elements;             // of a small integer tensor
  std::vector<std::optional<std::vector<Dim>>> field_elements;  // of the tensors of a tuple
  bool leaf_elements = false;  // `elements` are the variable's own element symbols
  bool is_size = false;        // its elements are never negative: made of sizes, or a ShapeByRule's
};

// What a run is for.
enum class Purpose {
  kCheck,   // of the source: finds its errors
  kRetype,  // of what a pass made of checked code: a binding that can't be typed is not reached when
            // the program runs, or fails there, and becomes a trap
};

// What a run finds out about a binding besides the type of its variable.
struct Outcome {
  std::vector<ir::Guard> guards;          // stand before it
  std::vector<ir::Type> type_args;        // of a call of a generic function
  std::vector<ir::Binding> before;        // bindings that inference adds before it
  std::map<size_t, const ir::Var*> args;  // arguments that inference replaces in it
  std::optional<std::string> dead_end;    // why it can't be typed: its block ends here
};

class Inference {
 public:
  Inference(const ir::Module& module, Purpose purpose, Widenings* widenings);

  // Types the whole module. The results below are valid when it succeeds and must_rerun() is false.
  Status Run();
  bool must_rerun() const { return solver_.must_rerun(); }

  // --- Results, for Rebuild ---
  ir::Type Final(const ir::Type& t) const { return solver_.Zonk(t, ir::UnitType()); }
  ir::Type FinalType(const ir::Var* var);
  ir::Type FinalType(const ir::Atom& a);
  ir::Type FinalResult(const ir::Function* function);
  // Of the binding of `var`; null when there is nothing to say.
  const Outcome* OutcomeOf(const ir::Var* var) const;
  // True when the types of both sides say all that a binding states.
  bool IsProved(const ir::Binding& stated);
  const KeptFunctions& kept() const { return kept_; }
  // After Run, also when it fails.
  MixedRanks TakeMixedRanks();
  struct Element {
    uint32_t symbol;
    const ir::Var* var;
    int64_t index;
  };
  const std::vector<Element>& elements() const { return element_symbols_; }
  // The symbols that are dims of `var` before all else: where its type has them.
  struct DefinedDim {
    Dim symbol;
    std::vector<uint32_t> path;
    uint32_t axis;
  };
  std::vector<DefinedDim> DimsDefinedBy(const ir::Var* var) const;
  // The elements of `var` as expressions; null when unknown or its own symbols.
  const std::vector<Dim>* Contents(const ir::Var* var) const;
  // A dim that the input mentions outside of types, in terms of this run's symbols.
  Dim Translate(const Dim& d);

 private:
  // A binding that is being typed.
  struct Item {
    const ir::Binding* binding;
    Place place;
    uint32_t slot_index = 1;  // of the next slot that belongs to it
    ir::Type promised;        // what its variable's type is while it waits
    std::vector<ir::Type> type_args;
    uint32_t blocked_on = 0;  // the slot
    bool loose = false;       // take a result that is still unknown as it is
    bool done = false;
    bool in_continuation = false;
  };
  using MaybeType = std::optional<ir::Type>;  // nullopt: blocked

  // inference.cc: variables
  const ir::Type& TypeOf(const ir::Var* var);
  Result<ir::Type> TypeOf(const ir::Atom& a);
  static ir::Type KnownType(const ir::Var* var, const ir::Type& type);
  void DefineVar(const ir::Var* var, ir::Type type, Place place);
  ir::Type Open(const ir::Var* var, const ir::Type& t, std::vector<int>& path);
  Dim OpenedDim(const ir::Var* var, const std::vector<int>& path);
  std::optional<Dim> DeclaredSymbol(const ir::Var* var, const std::vector<int>& path) const;
  void LearnMeanings(const ir::Type& declared, const ir::Type& inferred);
  Result<ir::Type> PrepareDeclared(const ir::Type& t, Place place, ir::Span span);
  // Checks `value` against the type written for it, but for the dims of its tensors: what these
  // must be is a statement. `place`: of the value.
  Status Annotate(const ir::Atom& value, const ir::Type& written, Place place, ir::Span span,
                  const std::string& what, bool new_ref = false);
  Status GuardStatement(const ir::Binding& binding);
  // `inferred` with what `declared` promises: constants, and what is known of its symbols.
  using DimMap = std::map<uint32_t, Dim>;
  static Dim Substitute(const Dim& d, const DimMap& known);
  ir::Type Refine(const ir::Type& inferred, const ir::Type& declared, const DimMap& known);
  // The failure with its place, unless it has one.
  Status ErrorAt(ir::Span span, const Status& status);
  Status Located(ir::Span span, const Status& status) const;
  Status ErrorAt(ir::Span span, std::string_view message);
  std::string NameOf(const ir::Atom& a) const;
  Place Now(ScopeId scope) { return {scope, scopes_.Tick()}; }
  ir::Type NewSlot(Item& item, bool guessed = false);

  // elements.cc: contents of small integer tensors
  ir::Atom Canonical(const ir::Atom& a) const;
  std::optional<std::vector<Dim>> ElementsOf(const ir::Atom& a);
  std::vector<Dim> ElementsOrSymbols(const ir::Atom& a, int64_t size);
  // Element `index` of a variable, an integer tensor of any length.
  Dim ElementAt(const ir::Atom& a, int64_t index);
  Dim NewElementSymbol(const ir::Var* var, int64_t index);
  std::vector<Dim> FloatElements(const ir::Var* call, size_t arg, const ir::Var* var, int64_t size);
  Dim NameDim(const ir::Var* call, const Dim& d);
  std::vector<Dim> ShapeOfCall(const ir::Var* call, const std::string& what, RuledShape shape);
  bool IsSize(const ir::Atom& a);
  void NoteSize(const ir::Var* var, const ir::OpCall& call, const TensorType& result);
  void TrackElements(const ir::Var* var, const ir::OpCall& call, const OpResult& result,
                     const std::vector<ArgType>& args);

  // scalar_steps.cc: dims that operators on scalars compute before a call
  Result<Dim> ComputeDim(const ir::Var* call, const std::vector<ir::Atom>& args,
                         std::span<const ScalarStep> steps);
  // The last step's result. A tensor as first operand makes one; new variables have that name.
  Result<ir::Atom> RunSteps(const ir::Var* call, const std::string& name,
                            const std::vector<ir::Atom>& args, std::span<const ScalarStep> steps);
  Result<ir::Atom> ScalarCall(const ir::Var* call, const std::string& name, const ScalarStep& step,
                              std::vector<ir::Atom> operands);
  ir::Atom DimScalar(const ir::Var* call, const Dim& d);
  void RememberScalarCall(const ir::Var* var, const OpDef& op, const Attrs& attrs,
                          const std::vector<ir::Atom>& args);
  std::optional<std::string> ScalarCallKey(const OpDef& op, const Attrs& attrs,
                                           const std::vector<ir::Atom>& args) const;
  const ir::Var* VisibleOf(const std::vector<const ir::Var*>& vars, Place from);

  // infer_function.cc: functions, blocks, waiting
  Status CheckTypeDefs();
  Status InferComponents();
  Status InferFunction(FunctionState& state);
  Status InferComponent(const Component& component, std::set<const ir::Function*>& changed);
  bool KeepsSignature(FunctionState& state, const ir::Function* before);
  // Whether a symbol of an earlier run is free to stand for what it stood for.
  bool MayAdopt(uint32_t symbol) const {
    return !scopes_.IsDefined(symbol) && kept_.IsFree(symbol);
  }
  Status FinishFunction(FunctionState& state, const ir::Type& body_type);
  Status InferBlock(const ir::Block& block, ScopeId scope, ir::Type* result);
  Status InferBinding(const ir::Binding& binding, ScopeId scope);
  // Whether the failure of a binding is one of the program as it runs, not of the compiler.
  bool IsDeadEnd(const Status& s) const;
  bool MayEndDead() const { return purpose_ == Purpose::kRetype || in_continuation_; }
  void AddDeadEnd(const ir::Var* var, const Status& why);
  Status EndBlock(const ir::Block& block, const ir::Binding& at, ScopeId scope);
  Status Finish(Item& item, ir::Type type);
  Status RunWoken();
  Status RunStalled();
  Status ImplyArgTypes(const ir::OpCall& call);
  Status Stuck();
  ir::Type FunctionValueType(FunctionState& state);
  ir::Type FinalFunctionType(FunctionState& state);
  ir::Type ResultForCall(FunctionState& state);
  FunctionState& NewFunctionState(const ir::Function* f, std::string name, Place outside);
  Status DeclareParams(FunctionState& state);

  // Whether a call has the type that the last run gave it: one of floats without symbols, as its
  // operands have, still. Nothing else follows from such a call.
  bool KeepsType(const ir::Binding& binding, const ir::OpCall& call);

  // infer_expr.cc, infer_call.cc: one Infer for each kind of expression
  Result<MaybeType> InferExpr(Item& item);
  Result<MaybeType> Infer(Item& item, const ir::AtomExpr& e);
  Result<MaybeType> Infer(Item& item, const ir::OpCall& call);
  Result<MaybeType> Infer(Item& item, const ir::CallExpr& call);
  Result<MaybeType> Infer(Item& item, const ir::PrimitiveCall& call);
  Result<MaybeType> InferRegion(Item& item, const ir::PrimitiveCall& call);
  Result<MaybeType> Infer(Item& item, const ir::ShapeValue& shape);
  Result<MaybeType> Infer(Item& item, const ir::MakeTuple& e);
  Result<MaybeType> Infer(Item& item, const ir::TupleGet& get);
  Result<MaybeType> Infer(Item& item, const ir::FunctionExpr& e);
  Result<MaybeType> Infer(Item& item, const ir::MakeClosure& e);
  Result<MaybeType> Infer(Item& item, const ir::IfExpr& e);
  Result<MaybeType> Infer(Item& item, const ir::MatchExpr& e);
  Result<MaybeType> Infer(Item& item, const ir::HostCall& call);
  Result<MaybeType> Infer(Item& item, const ir::RefCreate& e);
  Result<MaybeType> Infer(Item& item, const ir::RefRead& e);
  Result<MaybeType> Infer(Item& item, const ir::RefWrite& e);
  Result<MaybeType> Infer(Item& item, const ir::Guard& e);
  Result<MaybeType> Infer(Item& item, const ir::DimOf& e);
  Result<MaybeType> Infer(Item& item, const ir::ElementOf& e);
  Result<MaybeType> Infer(Item& item, const ir::Stated& e);
  Result<MaybeType> Infer(Item& item, const ir::Trap& e);
  Result<MaybeType> Infer(Item& item, const ir::ShapeByRule& e);
  Status JoinBranches(Item& item, const std::vector<const ir::Block*>& blocks,
                      const std::vector<ir::Type>& types, const ir::Type& result, const char* what);
  Result<ir::Type> ContentOf(Item& item, const ir::Atom& ref);
  void Restate(const ir::Var* var, const Dim& d);
  Status InferPattern(Item& item, const ir::Pattern& p, const ir::Type& type, ScopeId scope);
  // The argument types of an operator call; nullopt and item.blocked_on when one is unknown.
  Result<std::optional<std::vector<ArgType>>> KnownArgTypes(Item& item, const OpDef& op,
                                                            const std::vector<ir::Atom>& args);
  // `var` is another name for the atom.
  Result<MaybeType> InferAlias(const ir::Var* var, const ir::Atom& atom);

  // infer_call.cc: calls of functions
  struct Callee {
    std::string name;
    std::vector<ir::Type> type_params;
    std::vector<ir::Type> params;
    std::vector<const ir::Var*> param_vars;  // of a known function
    ir::Type result;
    Place outside;  // whose symbols the result may mention
  };
  Result<MaybeType> ApplyCallee(Item& item, Callee callee, const std::vector<ir::Atom>& args);
  // By a type parameter's id.
  using TypeArgs = std::map<uint32_t, ir::Type>;
  TypeArgs Instantiate(Item& item, const Callee& callee);
  struct Argument {
    ir::Type type;
    std::string what;  // for messages
  };
  Status FlowArguments(const std::vector<Argument>& args, const TypeArgs& instance, Callee& callee);
  Result<MaybeType> CallUnknown(Item& item, const ir::Type& callee, const ir::CallExpr& call);
  Callee KnownCallee(FunctionState& state);
  struct DimEquation {
    Dim expected, actual;
    std::string what;
  };
  struct DimMatch {
    std::set<uint32_t> bound;  // the symbols to find values for
    DimMap dims;               // those found
    std::vector<DimEquation> equations;
    std::set<std::pair<ir::Type, ir::Type>> seen;  // parts of large types
    // Whether it mentions a symbol without a value.
    bool IsOpen(const Dim& d) const;
  };
  void MatchDims(const ir::Type& expected, const ir::Type& actual, const std::string& what,
                 DimMatch& match);
  // What the symbols of a statement's type stand for where they first occur, and that they stand
  // for it elsewhere.
  DimMatch MatchStated(const ir::Stated& stated, const ir::Type& actual);
  ir::Type ResultOf(const Callee& callee, const TypeArgs& instance, const DimMatch& match);
  // Equations about symbols that have no value say nothing.
  Result<std::vector<ir::Guard>> GuardEquations(const DimMatch& match) const;

  void AddCheck(ir::Type actual, ir::Type expected, ir::Span span, std::string what,
                bool inside = false);

  // What the containers and functions that flow through calls must satisfy; dims there cannot be
  // guarded. Checked at the end.
  struct ContainerCheck {
    ir::Type actual, expected;
    ir::Span span;
    std::string what;
    bool inside;  // tensors are inside a container
  };
  Status CheckContainers();
  Status CheckTypeParams();

  const ir::Module& module_;
  Purpose purpose_;
  KeptFunctions kept_;
  Scopes scopes_;
  Solver solver_;
  Broadcasts broadcasts_;
  std::unordered_map<const ir::Var*, VarState> vars_;
  std::map<std::pair<uint32_t, std::vector<int>>, Dim> opened_;
  std::unordered_map<uint32_t, Dim> meanings_;  // symbols of the input that this run replaced
  std::map<std::pair<uint32_t, int64_t>, uint32_t> old_elements_;  // element symbols of the input
  std::unordered_map<uint32_t, uint32_t> old_symbols_;  // of the input, by the id of their value
  std::vector<Element> element_symbols_;
  std::deque<FunctionState> function_states_;
  std::unordered_map<std::string_view, FunctionState*> globals_;
  std::unordered_map<const ir::Function*, FunctionState*> by_function_;
  std::deque<Item> items_;  // those that have ever waited
  std::unordered_map<const ir::Var*, Outcome> outcomes_;
  struct DimHash {
    size_t operator()(const Dim& d) const { return d.Hash(); }
  };
  std::unordered_map<Dim, std::vector<Dim>, DimHash> named_dims_;  // the symbols of an expression
  // Variables with the shapes that rules give; by rule, rank, zeros, data and numbers.
  using ShapeKey = std::tuple<ShapeRule, size_t, uint64_t, std::vector<Dim>, std::vector<Dim>>;
  static ShapeKey KeyOf(const RuledShape& s) {
    return {s.rule, s.rank, s.zeros, s.data, s.numbers};
  }
  std::map<ShapeKey, std::vector<const ir::Var*>> ruled_shapes_;
  std::map<std::pair<const ir::Var*, int64_t>, Dim> single_elements_;  // see ElementAt
  // What the program or an earlier run computes already.
  std::unordered_map<Dim, std::vector<const ir::Var*>, DimHash> dim_scalars_;
  std::unordered_map<std::string, std::vector<const ir::Var*>> scalar_calls_;
  std::vector<ContainerCheck> checks_;
  std::vector<const ir::Binding*> statements_;
  ir::TypeMemo<bool> checked_types_;  // see PrepareDeclared
  ir::TypeMemo<ir::Type> prepared_types_;
  // Those that KeepsType may hold of, as the last run left them.
  std::unordered_map<const ir::Expr*, const ir::Var*> typed_calls_;
  bool any_dead_end_ = false;
  MixedRanks mixed_;
  std::set<const ir::Block*> mixed_blocks_;  // whose result is one of mixed_
  bool in_continuation_ = false;             // what is typed now is part of one
  bool running_woken_ = false;
  bool error_located_ = false;

  friend class CallHost;
};

}  // namespace relayvm::typing

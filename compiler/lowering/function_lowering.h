// Lowers one function of the A-normal form to MIR.
//
// Every variable has a Location that says where its value can be had: in a scalar register (rank-0
// values), in an object register, in a slot of the frame's arena (tensors of static shape that do
// not escape), as a constant, or as a tuple whose fields are known apart and need no object.
// Conversions between these are made when first needed and remembered while the block in which they
// were made is open. Dimension expressions become scalar arithmetic the same way.
//
// function_lowering.cc holds blocks, control flow and data; lower_scalar.cc scalar operators;
// lower_dim.cc dims; lower_kernel.cc operators that become kernels; lower_kernel_sizes.cc checks of
// sizes that exist only in a kernel; lower_match.cc matches. Tested by lower_test.cc. Not
// thread-safe.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/lowering/mir.h"
#include "compiler/lowering/module_lowering.h"

namespace relayvm::ir {
struct Region;
}

namespace relayvm::lower {

struct Value;
struct TensorNumber;
struct Decision;  // of a match
struct MatchRow;

// Where a value is. Several alternatives may hold at once (a scalar and its box).
struct Location {
  std::optional<Reg> scalar;
  std::optional<Reg> object;
  std::optional<uint32_t> slot;
  const ir::Constant* constant = nullptr;
  std::optional<std::vector<Value>> fields;    // of a tuple; the dims of a ShapeByRule
  std::shared_ptr<const TensorNumber> number;  // not yet read into a register
  std::map<uint32_t, Location*> parts;         // of an object: fields that were read
  bool is_number() const { return scalar.has_value() || number != nullptr; }
};

struct Value {
  ir::Type type;
  Location* location = nullptr;  // owned by the FunctionLowering
};

// A scalar that a tensor object holds, a dim or an element: it is read where it is first needed, so
// that a branch that does not need it does not read it.
struct TensorNumber {
  Value value;
  std::vector<std::pair<uint32_t, ir::Type>> path;  // to the tensor, through tuples
  bool is_dim = false;
  int64_t index = 0;  // of the axis or of the element
};

class FunctionLowering {
 public:
  FunctionLowering(ModuleLowering& module, const FunctionTask& task);

  // The function's MIR, not yet analysed.
  Result<MFunction> Lower();
  bool returns_scalar() const { return result_bank_ == Bank::kScalar; }

 private:
  // --- Emission (function_lowering.cc) ---
  Reg NewScalar() { return out_.num_scalars++; }
  Reg NewObject() { return out_.num_objects++; }
  Label NewLabel() { return out_.num_labels++; }
  MInst& Emit(Opcode op, std::vector<MOperand> operands);
  void Bind(Label label);
  Location* NewLocation() { return &locations_.emplace_back(); }
  Value ScalarValue(ir::Type type, Reg reg);
  Value ObjectValue(ir::Type type, Reg reg);

  // What is remembered inside a branch is forgotten when it closes.
  size_t OpenScope() { return undo_.size(); }
  void CloseScope(size_t mark);

  // --- Values ---
  Value AtomValue(const ir::Atom& atom);
  void BindVar(const ir::Var* var, Value value);
  Reg ScalarOf(const Value& value);
  Reg ObjectOf(const Value& value);
  MBuffer BufferOf(const Value& value);
  std::vector<uint32_t> ObjectsOf(const std::vector<ir::Atom>& atoms);
  Value FieldOf(const Value& tuple, uint32_t index, const ir::Type& type);

  // --- Blocks and control (function_lowering.cc) ---
  Status LowerFunctionBody();
  // The checks of the sizes that were promised to be bounded.
  void LowerBounds();
  Status LowerAdapter();
  Status LowerConstructor();
  void FindEscapes(const ir::Block& block, bool result_escapes);
  // In tail position the block returns from the function and gives no value.
  Result<std::optional<Value>> LowerBlock(const ir::Block& block, bool tail);
  // One Lower for each kind of expression: emits it, and binds the variable to its value.
  Status LowerBinding(const ir::Binding& binding);
  Status Lower(const ir::Var* var, const ir::AtomExpr& e);
  Status Lower(const ir::Var* var, const ir::CallExpr& e);
  Status Lower(const ir::Var* var, const ir::MakeTuple& e);
  Status Lower(const ir::Var* var, const ir::TupleGet& e);
  Status Lower(const ir::Var* var, const ir::FunctionExpr& e);
  Status Lower(const ir::Var* var, const ir::MakeClosure& e);
  Status Lower(const ir::Var* var, const ir::IfExpr& e);
  Status Lower(const ir::Var* var, const ir::MatchExpr& e);
  Status Lower(const ir::Var* var, const ir::HostCall& call);
  Status Lower(const ir::Var* var, const ir::RefCreate& e);
  Status Lower(const ir::Var* var, const ir::RefRead& e);
  Status Lower(const ir::Var* var, const ir::RefWrite& e);
  Status Lower(const ir::Var* var, const ir::Guard& guard);
  Status Lower(const ir::Var* var, const ir::DimOf& e);
  Status Lower(const ir::Var* var, const ir::ElementOf& e);
  Status Lower(const ir::Var* var, const ir::ShapeByRule& e);
  Status Lower(const ir::Var* var, const ir::Stated& e);
  Status Lower(const ir::Var* var, const ir::Trap& e);
  Status Lower(const ir::Var* var, const ir::OpCall& call);  // these in lower_kernel.cc
  Status Lower(const ir::Var* var, const ir::PrimitiveCall& call);
  Status Lower(const ir::Var* var, const ir::ShapeValue& value);
  Status BindResult(const ir::Var* var, Value value);
  Value TupleOf(const ir::Type& type, std::vector<Value> fields);
  void Return(const Value& value);
  Result<Value> LowerCall(const ir::CallExpr& call, const ir::Type& type);
  Status LowerTailCall(const ir::CallExpr& call, const ir::Type& type);
  void SplitArguments(const std::vector<ir::Atom>& args, const Convention& convention,
                      std::vector<uint32_t>& scalars, std::vector<uint32_t>& objects);
  // A register that both branches write, for a value of `type`; and the write.
  Value MergeTarget(const ir::Type& type);
  void MoveTo(const Value& target, const Value& value);
  Result<Value> LowerIf(const ir::IfExpr& e, const ir::Type& type, bool tail);
  Reg ReadNumber(const TensorNumber& number);

  // --- Matches (lower_match.cc) ---
  Result<Value> LowerMatch(const ir::MatchExpr& e, const ir::Type& type, bool tail, ir::Span span);
  struct MatchState;
  Status LowerDecision(MatchState& state, const Decision& node, std::vector<Value> columns);
  Status LowerLeaf(MatchState& state, const MatchRow& row, const std::vector<Value>& columns);

  // --- Dims (lower_dim.cc) ---
  Reg ConstI(int64_t value);
  // Exact, or the program fails with the name of what has the size: dim_owner_.
  Reg EmitDim(const Dim& dim);
  Reg EmitSum(const Dim& sum);
  Reg EmitDimOp(Opcode op, Reg left, Reg right);
  std::vector<uint32_t> EmitDims(const std::vector<Dim>& dims);

  // --- Scalars (lower_scalar.cc) ---
  // The scalar register of an operator call that is no kernel (ir::IsScalarCall), or nothing.
  // `inputs` are the arguments, tuples flattened.
  std::optional<Reg> LowerScalarOp(const ir::OpCall& call, const std::vector<Value>& inputs,
                                   const ir::Type& type);
  class ScalarCompiler;

  // --- Kernels (lower_kernel.cc) ---
  Status LowerView(const ir::Var* var, const Value& source);
  // What a call passes to a builtin: kernels/runtime/builtin.h.
  struct BuiltinArgs {
    KernelInfo info;
    std::vector<uint32_t> scalars;
    std::vector<MBuffer> buffers;
  };
  // A tensor's dtype, rank and dims, and its buffer but for where it is.
  void Describe(const TensorType& t, bool written, BuiltinArgs& args);
  Status LowerRegion(const ir::Var* var, const ir::PrimitiveCall& call, const ir::Region& region);
  Status LowerBuiltin(const ir::Var* var, const ir::OpCall& call, const BuiltinCall& builtin,
                      const std::vector<Value>& inputs);
  void BindCounts(const ir::Var* var, const std::vector<TensorType>& outputs,
                  const std::vector<uint32_t>& slots);
  // Two tensors whose elements are those of their concatenation in order, where the first one has a
  // size of its own: it may be one that grows.
  bool MayAppend(const ir::OpCall& call) const;
  // Appends the second one to the memory of the first, if that dies here and nobody else holds it.
  bool LowerAppend(const ir::Var* var, const ir::OpCall& call, const std::vector<Value>& inputs);
  Status LowerWideConcatenation(const ir::Var* var, const ir::OpCall& call,
                                std::vector<Value> inputs);

  // --- Subviews of tensors (lower_subviews.cc) ---
  // A split whose parts are read where they stand in the whole.
  bool LowerSubviews(const ir::Var* var, const ir::OpCall& call, const std::vector<Value>& inputs);
  // A concatenation whose tensors are made where they stand in the whole: their slots become
  // subviews of its own. Those that cannot are copied there, if they are the lesser part; else
  // false.
  Result<bool> ConcatenateInPlace(const ir::Var* var, const ir::OpCall& call,
                                  const std::vector<Value>& inputs);
  bool MayBeSubview(const Value& value, const std::vector<Value>& all) const;
  Result<Value> CopyOf(const Value& value);
  struct KernelGroup;
  Status LowerKernel(const ir::Var* var, KernelGroup& group);
  // The call of one kernel; appends its results, whose types are the next of `types`. `may_reuse`:
  // it may overwrite operands that die.
  Status AddBatched(codegen::BatchedKernel* batched, const Dim& b, const KernelSpec& spec,
                    const KernelInterface& interface, uint32_t kernel);
  Status EmitKernel(const KernelSpec& spec, const std::vector<Value>& inputs,
                    const std::vector<TensorType>& types, bool escapes, bool may_reuse,
                    std::vector<Value>& results);
  // Checks the sizes that only exist inside a kernel.
  Status CheckInnerSizes(const std::vector<TensorType>& results,
                         const std::vector<te::Tensor>& inputs,
                         const std::vector<te::Tensor>& outputs);
  // The size of a tensor, or the most that it can be; nothing when that is not known.
  std::optional<uint64_t> StaticBytes(const TensorType& type) const;
  // Memory for a result: a slot, a new tensor, or the memory of `reuse` when it dies here.
  Value AllocateTensor(const TensorType& type, bool escapes, const Value* reuse);
  Value AllocateResult(const TensorType& type, bool escapes, const Value* reuse);
  void BindResults(const ir::Var* var, std::vector<Value> results, bool is_tuple);

  ModuleLowering& module_;
  const FunctionTask& task_;
  MFunction out_;
  Bank result_bank_ = Bank::kObject;
  ir::Span span_;          // of the binding being lowered
  std::string dim_owner_;  // whose sizes are computed there, for messages: "dyn.tile"

  std::deque<Location> locations_;
  std::unordered_map<uint32_t, Value> vars_;  // by Var::id
  std::unordered_set<uint32_t> escapes_;      // Var::id of values that must be objects
  std::unordered_map<uint32_t, size_t>
      remaining_;  // Var::id: uses not yet lowered, nested ones included
  struct DimHash {
    size_t operator()(const Dim& d) const { return d.Hash(); }
  };
  std::unordered_map<Dim, Reg, DimHash> dim_registers_;
  // Steps on the way to dims: what sums, products and limits of many begin with, they share.
  using DimStep = std::tuple<Opcode, Reg, Reg>;
  std::map<DimStep, Reg> dim_steps_;
  // How to forget: a remembered location part, a remembered step, or a remembered dim.
  struct Undo {
    std::optional<Reg>* part = nullptr;
    Dim dim;
    std::optional<DimStep> step = std::nullopt;
  };
  std::vector<Undo> undo_;
  void Remember(std::optional<Reg>& part, Reg reg);
};

}  // namespace relayvm::lower

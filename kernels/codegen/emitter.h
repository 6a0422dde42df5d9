// Emits tensor expressions as LLVM IR: as scalars for one index tuple, or as vectors along one
// axis. Schedules (loops.cc, contraction.cc) own the loops and bind axes; the emitter owns what an
// expression means. Not thread-safe; one an LLVM function. Tested through kernel_compiler_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels/codegen/graph.h"
#include "kernels/te/te.h"

namespace llvm {
class Type;
class Value;
}  // namespace llvm

namespace relayvm::codegen {

class Builder;
class Ops;
class Reducer;

// One axis whose value is base, base + 1, ... base + lanes - 1 across the lanes of a vector. With
// `mask` (a vector of i1), lanes that are off are neither loaded nor trusted; at least one is on.
struct VectorAxis {
  const te::AxisNode* axis = nullptr;
  llvm::Value* base = nullptr;  // i64
  unsigned lanes = 1;
  llvm::Value* mask = nullptr;  // null: all on
};

// Whether vectors may be taken of it by bytes (Instructions::TakeByBytes).
bool MayBeByteTable(const te::TensorNode& tensor);

class Emitter {
 public:
  // `graph`: whose nodes EmitNode takes; null: one of its own.
  explicit Emitter(Builder& builder, Graph* graph = nullptr);
  ~Emitter();

  // --- What names stand for; later bindings replace earlier ones. ---
  void BindSymbol(uint32_t symbol_id, llvm::Value* i64);
  void BindAxis(const te::AxisNode* axis, llvm::Value* i64);
  // The memory of a tensor: row-major, compact, extents by its shape. `constant`: nothing writes it
  // while the kernel runs.
  void BindBuffer(const te::TensorNode* tensor, llvm::Value* pointer, bool constant = false);
  // The tensor's value at whatever index it is loaded: a by-value scalar, an accumulator. In
  // EmitVector a scalar is splat, a vector must have the axis' lanes.
  void BindValue(const te::TensorNode* tensor, llvm::Value* value);

  // About how many operations one evaluation of `n` is, with the extents of the reductions inside;
  // for ForPolled (contraction/ir.h).
  llvm::Value* EmitWork(const Node* n);

  // --- Emission at the builder's insertion point (which may move to a new block). ---
  llvm::Value* EmitDim(const Dim& dim);  // i64
  // The memory type of dtype: i8 for bool, half for float16, i16 for bfloat16 ...
  llvm::Type* MemoryType(DType dtype);
  // The type expressions of dtype have in registers: i1 for bool, float for float16 and bfloat16
  // (rounded to their dtype).
  llvm::Type* ValueType(DType dtype);
  // A computed tensor that is loaded and not bound is inlined: its body is emitted at the index.
  llvm::Value* Emit(const te::Expr& e);
  llvm::Value* EmitVector(const te::Expr& e, const VectorAxis& axis);
  // Row-major address of tensor[indices] (i64 values).
  llvm::Value* ElementAddress(const te::TensorNode* tensor,
                              const std::vector<llvm::Value*>& indices);
  // Converts between the memory and the register form of dtype (scalars or vectors) and stores.
  void Store(llvm::Value* value, DType dtype, llvm::Value* pointer);
  void StoreVector(llvm::Value* value, DType dtype, llvm::Value* pointer,
                   llvm::Value* mask = nullptr);

  // --- The same on graph nodes. Loads must be kLoad of bound tensors. ---
  Graph& graph() { return graph_; }
  llvm::Value* EmitNode(const Node* n);
  llvm::Value* EmitNodeVector(const Node* n, const VectorAxis& axis);
  // Stores `value`, a scalar or a vector along `axis`, at the flat index `index` of the tensor's
  // buffer.
  void StoreAt(const te::TensorNode* tensor, const Node* index, llvm::Value* value,
               const VectorAxis* axis);
  // For a load that is contiguous along `along` but not along axis.axis: its vectors along `axis`
  // for along = first, first + 1,
  // ... first + axis.lanes - 1, by loading rows and transposing them in registers. `count`: the
  // elements of `axis` that are left, at least 1 (lanes past them are arbitrary); null: enough.
  std::vector<llvm::Value*> LoadTransposed(const Node* load, const te::AxisNode* along,
                                           llvm::Value* first, const VectorAxis& axis,
                                           llvm::Value* count);
  // Computes sums over the same axes in one loop, so that what they share is computed once; in the
  // open scope they are what EmitNode gives, and EmitNodeVector where `axis` is not null. Without
  // it they run as vectors along one of their own axes, where that is contiguous.
  void SumTogether(const std::vector<const Node*>& sums, const VectorAxis* axis);
  // In the open scope, `load` along the current vector axis is this vector.
  void SetVector(const Node* load, llvm::Value* vector) { scopes_.back().vector[load] = vector; }
  // Makes `axis` the one that EmitNodeVector continues with.
  void UseVectorAxis(const VectorAxis& axis);
  // Values that are emitted while a scope is open are reused until it closes. Between opening and
  // closing, the insertion point must stay dominated by where it was, and axes must not be bound
  // again. Without a scope nothing is reused.
  void OpenScope();
  void CloseScope();
  Ops& ops() { return *ops_; }
  // How many lanes a vector has in which the widest element of `n` fills a register.
  unsigned LanesFor(const Node* n);
  // The same, of smaller registers where an axis of this extent would not fill one.
  unsigned LanesFor(const Node* n, const Dim& extent);

 private:
  struct Values {
    std::unordered_map<const Node*, llvm::Value*> scalar, vector;
  };
  struct TopLevel;  // opens a scope for one public call
  struct Accumulator;
  struct Address {  // the index of a vector load or store: base + stride * lane, or one index a
                    // lane
    const Node* uniform = nullptr;
    Dim stride;
    bool affine = false;
  };

  const Node* Lower(const te::Expr& e);
  bool Varies(const Node* n);
  llvm::Value* EmitDimExpression(const Dim& dim);
  llvm::Value* Scalar(const Node* n);
  llvm::Value* ScalarNew(const Node* n);
  llvm::Value* Vector(const Node* n);
  llvm::Value* VectorNew(const Node* n);
  llvm::Value* Splat(llvm::Value* v);
  llvm::Value* Apply(const Node* n, const std::vector<llvm::Value*>& operands);
  llvm::Value* LinearScalar(const Node* n);
  llvm::Value* LinearVector(const Node* n);
  llvm::Value* FixedPointProduct(const Node* n);
  llvm::Value* Check(const Node* n, bool vector);
  llvm::Value* DivideIndex(const Node* n, llvm::Value* x, llvm::Value* y);
  llvm::Value* LoadScalar(const Node* n);
  llvm::Value* LoadVector(const Node* n);
  llvm::Value* LoadVectorAt(const Node* n, const Node* index, llvm::Value* mask);
  llvm::Value* LoadByBytes(const Node* n, const Node* index);
  llvm::Value* LoadChosen(const Node* n, const Node* index, llvm::Value* mask);
  llvm::Value* LoadRepeated(const Node* n, const Node* index, llvm::Value* mask);
  llvm::Value* LoadNear(const Node* n, const Node* index, llvm::Value* mask);
  llvm::Value* LoadRun(const Node* n, llvm::Value* first, unsigned count, llvm::Value* mask);
  llvm::Value* Gather(const Node* n, llvm::Value* base, llvm::Value* offsets, llvm::Value* mask);
  llvm::Value* Mark(const Node* n, llvm::Value* load);
  const Node* IrregularTerm(const Node* index, const Node*& rest, Dim& coefficient);
  llvm::Value* Choose(llvm::Value* condition, const std::function<llvm::Value*(bool)>& emit);
  llvm::Value* LoadStrided(const Node* n, llvm::Value* first, unsigned stride, llvm::Value* mask);
  llvm::Value* LoadStridedParts(const Node* n, llvm::Value* first, unsigned stride);
  llvm::Value* ScalarSelect(const Node* n, bool vector_sides, bool may_compute_both = true);
  llvm::Value* VectorSelect(const Node* n);
  llvm::Value* SelectLanes(const Node* n);
  llvm::Value* HoldsForAll(const Node* condition);
  const Node* WithUniformFirst(const Node* n);
  std::vector<const te::AxisNode*> AxesOfMasksFirst(const Node* n);
  void EmitShared(const Node* a, const Node* b, bool vector);
  llvm::Value* ReduceScalar(const Node* n);
  llvm::Value* ReduceVector(const Node* n);
  llvm::Value* ReduceAlongVector(const Node* n, const te::AxisNode* axis);
  struct AlongVector;
  std::vector<llvm::Value*> LineAlongVector(AlongVector& r, llvm::Value* work,
                                            std::vector<llvm::Value*> state);
  void StepAlongVector(AlongVector& r, std::vector<llvm::Value*>& carried, size_t first,
                       llvm::Value* base, llvm::Value* mask);
  std::vector<llvm::Value*> VectorStep(Reducer& reducer, const Node* n, const Node* position,
                                       const std::vector<llvm::Value*>& state, llvm::Value* mask);
  const te::AxisNode* VectorReduceAxis(const Node* n);
  void SplatFactors(const std::vector<const Node*>& sums);
  std::vector<llvm::Value*> SumAlongVector(const std::vector<const Node*>& sums,
                                           const te::AxisNode* axis);
  std::vector<llvm::Value*> SumOfLanes(std::vector<Reducer>& reducers,
                                       const std::vector<llvm::Value*>& vectors,
                                       std::vector<llvm::Value*> sums);
  std::vector<llvm::Value*> ReduceLoops(
      const Node* n, const std::vector<const te::AxisNode*>& axes, size_t level,
      const std::vector<llvm::Value*>& carried, llvm::Value* work,
      const std::function<std::vector<llvm::Value*>(const std::vector<llvm::Value*>&)>& body);
  Address AddressOf(const Node* index);
  llvm::Value* Named(llvm::Value* sum, size_t terms);
  llvm::Value* Pointer(const te::TensorNode* tensor, llvm::Value* index);
  llvm::Value* MaskFor(bool in_range);

  Builder& b_;
  std::unique_ptr<Ops> ops_;
  std::unique_ptr<Graph> own_graph_;
  Graph& graph_;
  std::unique_ptr<Lowering> lowering_;  // null when bindings changed what is inlined
  std::unordered_map<uint32_t, llvm::Value*> symbols_;
  struct HashOfDim {
    size_t operator()(const Dim& d) const { return d.Hash(); }
  };
  std::unordered_map<Dim, llvm::Value*, HashOfDim> dims_;  // of expressions
  std::unordered_map<const te::AxisNode*, llvm::Value*> axes_;
  struct Buffer {
    llvm::Value* pointer;
    bool constant;
  };
  std::unordered_map<const te::TensorNode*, Buffer> buffers_;
  std::unordered_map<const te::TensorNode*, llvm::Value*> values_;
  std::unordered_map<const Node*, bool> varies_;
  std::vector<Values> scopes_;
  VectorAxis vector_;                   // axis null: scalar emission
  llvm::Value* select_mask_ = nullptr;  // lanes of the selects around, without vector_.mask
};

}  // namespace relayvm::codegen

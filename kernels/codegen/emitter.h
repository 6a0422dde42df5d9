// Emits tensor expressions as LLVM IR: as scalars for one index tuple, or as vectors along one axis. Schedules (loops.cc,
// contraction.cc) own the loops and bind axes; the emitter owns what an expression means.
// Not thread-safe; one an LLVM function. Tested through kernel_compiler_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "kernels/te/te.h"

namespace llvm {
class IRBuilderBase;
class Type;
class Value;
}  // namespace llvm

namespace relayvm::codegen {

// One axis whose value is base, base + 1, ... base + lanes - 1 across the lanes of a vector. With `mask` (a vector of i1), lanes
// that are off are neither loaded nor trusted.
struct VectorAxis {
  const te::AxisNode* axis = nullptr;
  llvm::Value* base = nullptr;  // i64
  unsigned lanes = 1;
  llvm::Value* mask = nullptr;  // null: all on
};

class Emitter {
 public:
  explicit Emitter(llvm::IRBuilderBase& builder);

  // --- What names stand for; later bindings replace earlier ones. ---
  void BindSymbol(uint32_t symbol_id, llvm::Value* i64);
  void BindAxis(const te::AxisNode* axis, llvm::Value* i64);
  // The memory of a tensor: row-major, compact, extents by its shape.
  void BindBuffer(const te::TensorNode* tensor, llvm::Value* pointer);
  // The tensor's value at whatever index it is loaded: a by-value scalar, an accumulator. In EmitVector a scalar is splat, a
  // vector must have the axis' lanes.
  void BindValue(const te::TensorNode* tensor, llvm::Value* value);

  // --- Emission at the builder's insertion point (which may move to a new block). ---
  llvm::Value* EmitDim(const Dim& dim);  // i64
  // The memory type of dtype: i8 for bool, half for float16, i16 for bfloat16 ...
  llvm::Type* MemoryType(DType dtype);
  // The type expressions of dtype have in registers: i1 for bool, float for float16 arithmetic's own half, float for bfloat16.
  llvm::Type* ValueType(DType dtype);
  // A computed tensor that is loaded and not bound is inlined: its body is emitted at the index.
  llvm::Value* Emit(const te::Expr& e);
  llvm::Value* EmitVector(const te::Expr& e, const VectorAxis& axis);
  // Row-major address of tensor[indices] (i64 values).
  llvm::Value* ElementAddress(const te::TensorNode* tensor, const std::vector<llvm::Value*>& indices);
  // Converts between the memory and the register form of dtype (scalars or vectors) and stores.
  void Store(llvm::Value* value, DType dtype, llvm::Value* pointer);
  void StoreVector(llvm::Value* value, DType dtype, llvm::Value* pointer, llvm::Value* mask = nullptr);

 private:
  llvm::IRBuilderBase& builder_;
  std::unordered_map<uint32_t, llvm::Value*> symbols_;
  std::unordered_map<const te::AxisNode*, llvm::Value*> axes_;
  std::unordered_map<const te::TensorNode*, llvm::Value*> buffers_;
  std::unordered_map<const te::TensorNode*, llvm::Value*> values_;
};

}  // namespace relayvm::codegen

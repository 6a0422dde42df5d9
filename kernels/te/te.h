// Tensor expressions: operators defined once, on symbolic extents.
//
// A Tensor is a placeholder (an input) or a computation: for each index tuple of its axes, a scalar
// expression that may load other tensors and reduce over further axes. The one definition serves
//   - the reference evaluator (kernels/te/evaluate.h): plain loops, obviously right,
//   - the symbolic evaluator, which computes contents of small shape tensors as Dims at compile
//     time,
//   - code generation (kernels/codegen/), which fuses, schedules and emits LLVM IR.
// Nodes are immutable and shared. Index expressions have dtype int64. Thread-safe to read.
// Tested by te_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/dtype.h"

namespace relayvm {
struct ConvForm;    // kernels/op/problem.h
struct WeightForm;  // kernels/op/weight_forms.h
}  // namespace relayvm

namespace relayvm::te {

struct ExprNode;
struct TensorNode;
using Expr = std::shared_ptr<const ExprNode>;
using Tensor = std::shared_ptr<const TensorNode>;

// A loop variable. Spatial axes index the output; reduce axes are bound by a kReduce expression.
struct AxisNode {
  std::string name;
  Dim extent;
};
using Axis = std::shared_ptr<const AxisNode>;  // identity is the pointer

enum class ExprKind : uint8_t {
  kIntImm,    // int_value, of any integer dtype or bool
  kFloatImm,  // float_value, of any float dtype
  kAxis,      // the value of `axis` (int64)
  kDim,       // the value of `dim` (int64)
  kLoad,      // tensor[operands...]; the indices are in range whenever the expression is evaluated
  kUnary,     // unary(operands[0])
  kBinary,    // binary(operands[0], operands[1]), both of the same dtype
  kCast,  // operands[0] converted to dtype: float to int truncates toward zero; to bool is x != 0
  kReinterpret,  // bit cast, same width
  kSelect,   // operands[0] ? operands[1] : operands[2]; only the chosen side is evaluated (a load
             // may be guarded so)
  kReduce,   // reduce over `axes` of operands[0]; see ReduceKind
  kChecked,  // operands[0], an int64 that must be in operands[1]..operands[2]-1: where it is not,
             // the evaluation fails, and says that check int_value did
};

// Semantics are those of reference/operators: integer arithmetic wraps; kDivide and kMod truncate
// on integers. Integer division by zero gives 0 (never a trap). kMax/kMin are a > b ? a : b and a <
// b ? a : b.
enum class UnaryOp : uint8_t {
  kNegative,
  kAbs,
  kSign,
  kNot /* logical for bool, bitwise else */,
  kExp,
  kSoftmaxExp /* of x <= 0: e^x, but 0 below LeastSoftmaxExp */,
  kLog,
  kLog2,
  kLog10,
  kSqrt,
  kRsqrt,
  kSigmoid,
  kTanh,
  kErf,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kFloor,
  kCeil,
  kTrunc,
  kRound /* half away from zero */,
  kRoundEven,
  kIsNan,
  kIsInf,
  kIsFinite,  // result bool
};
// The least x whose e^x, and what sums of some such weights leave of it, is a normal number: others
// are next to nothing beside a softmax's largest weight, which is 1, and cost a processor a hundred
// cycles wherever they are read.
constexpr double LeastSoftmaxExp(DType t) { return t == DType::kFloat64 ? -708 : -87; }
enum class BinaryOp : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kMod,
  kFloorMod,
  kMin,
  kMax,
  kPower,
  kAtan2,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,  // on bool: logical
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,  // result bool
};

// The reduction of an empty range is the identity: 0, 1, lowest, highest, true, false; index 0 for
// arg reductions. kMax/kMin ignore NaN. kArgMax/kArgMin give the row-major position within `axes`
// as `dtype`; ties go to the first (select_last: to the last).
enum class ReduceKind : uint8_t { kSum, kProd, kMax, kMin, kAll, kAny, kArgMax, kArgMin };

struct ExprNode {
  ExprKind kind;
  DType dtype;
  std::vector<Expr> operands;  // for kLoad: the indices
  int64_t int_value = 0;
  double float_value = 0;
  UnaryOp unary{};
  BinaryOp binary{};
  ReduceKind reduce{};
  bool select_last = false;
  Axis axis;               // kAxis
  std::vector<Axis> axes;  // kReduce
  Dim dim;                 // kDim
  Tensor tensor;           // kLoad
};

// What a computation is to the scheduler, where its loop nest alone does not say it well. A hint
// never changes meaning: the body is complete. What each role of a contraction requires:
// kernels/codegen/contraction/contraction.h.
enum class ScheduleHint : uint8_t { kNone, kDense, kBatchMatmul, kConv, kPool, kAttention };

// The order of the dims of queries, keys, values and result of a kAttention computation: a
// permutation of "BHSD" (batch, heads, positions, elements of a head) each. inputs: those three,
// the products of queries and keys (batch, heads, queries, keys), and the scores that are made of
// these.
struct AttentionHint {
  std::string layouts[4];
};

struct TensorNode {
  std::string name;
  std::vector<Dim> shape;
  DType dtype;
  // Placeholder when body is null. `input_index` is its position among the inputs of the
  // computation it belongs to.
  int input_index = -1;
  std::vector<Axis> axes;  // one a dimension, extent == shape
  Expr body;
  ScheduleHint hint = ScheduleHint::kNone;
  // kDense, kBatchMatmul: [data, weight]; kConv: [data, kernel]; kAttention: see AttentionHint. The
  // tensors that the hint speaks of, as loaded by body or by what it loads.
  std::vector<Tensor> hint_inputs;
  bool transpose_a = false,
       transpose_b = false;  // kDense (transpose_b: weight is (units, in)), kBatchMatmul
  const WeightForm* weight_form = nullptr;  // kDense: what the weight is packed as
  std::shared_ptr<const ConvForm> conv;     // kConv
  std::shared_ptr<const AttentionHint> attention;

  bool is_placeholder() const { return body == nullptr; }
  int rank() const { return static_cast<int>(shape.size()); }
};

// --- Building ---

Expr IntImm(int64_t value, DType dtype = DType::kInt64);
Expr FloatImm(double value, DType dtype);
Expr Const(double value, DType dtype);  // of any dtype
Expr DimValue(const Dim& dim);          // folds to IntImm when constant
Expr AxisValue(const Axis& axis);
Expr Load(const Tensor& tensor, std::vector<Expr> indices);
Expr Unary(UnaryOp op, Expr x);
Expr Binary(BinaryOp op, Expr a, Expr b);  // simplifies x+0, x*1, constants
Expr Cast(Expr x, DType dtype);            // the identity when x has it already
Expr Reinterpret(Expr x, DType dtype);
Expr Select(Expr condition, Expr if_true, Expr if_false);
// `number` tells the checks of a kernel apart, from 1 on (RelayvmKernelFault::given).
Expr Checked(Expr value, Expr least, Expr end, int64_t number);
// A sum or product of bfloat16 is made in float32, as are the products that it sums, and rounded
// once; of float16 it is rounded at each step, in the order of the axes.
Expr Reduce(ReduceKind kind, Expr body, std::vector<Axis> axes, DType dtype,
            bool select_last = false);

inline Expr operator+(Expr a, Expr b) { return Binary(BinaryOp::kAdd, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) {
  return Binary(BinaryOp::kSubtract, std::move(a), std::move(b));
}
inline Expr operator*(Expr a, Expr b) {
  return Binary(BinaryOp::kMultiply, std::move(a), std::move(b));
}
inline Expr operator<(Expr a, Expr b) {
  return Binary(BinaryOp::kLess, std::move(a), std::move(b));
}
inline Expr operator>=(Expr a, Expr b) {
  return Binary(BinaryOp::kGreaterEqual, std::move(a), std::move(b));
}
inline Expr operator==(Expr a, Expr b) {
  return Binary(BinaryOp::kEqual, std::move(a), std::move(b));
}
inline Expr operator&&(Expr a, Expr b) {
  return Binary(BinaryOp::kAnd, std::move(a), std::move(b));
}
inline Expr operator||(Expr a, Expr b) { return Binary(BinaryOp::kOr, std::move(a), std::move(b)); }

Axis MakeAxis(std::string name, Dim extent);
Tensor Placeholder(std::string name, std::vector<Dim> shape, DType dtype, int input_index);
// body is called with one index expression a dimension.
using BodyFn = std::function<Expr(const std::vector<Expr>& indices)>;
Tensor Compute(std::string name, std::vector<Dim> shape, const BodyFn& body);

// Replaces axes by expressions (null: keep) and placeholders by tensors (null: keep), sharing what
// is unchanged.
Expr SubstituteAxes(const Expr& e, const std::function<Expr(const Axis&)>& axis_fn);
// The computation `t` with each placeholder (found by input_index) replaced by
// `inputs[input_index]`.
Tensor ReplaceInputs(const Tensor& t, const std::vector<Tensor>& inputs);

// Appends the tensors that `e` loads, each once.
void CollectLoads(const Expr& e, std::vector<Tensor>& loads);

std::string ToString(const Expr& e);
std::string ToString(const Tensor& t);

}  // namespace relayvm::te

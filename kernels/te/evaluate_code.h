// What Evaluate runs: each computation becomes straight-line code over slots, which runs on blocks
// of consecutive elements. Internal to the evaluator; tested by evaluate_test.cc.
//
//   CompileBody  expression -> Code (instructions; Select and Reduce hold nested Code). A node
//                without loads is placed in the outermost Code that knows its axes, so index
//                arithmetic does not repeat in reduction loops.
//   Machine      runs Code on up to kBlock lanes at once. A slot is one Scalar a lane. Under a
//                Select, lanes that are off are masked: they compute garbage, but load nothing.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"
#include "kernels/te/te.h"

namespace relayvm::te {

inline constexpr int kBlock = 256;

struct Code;

struct Instruction {
  ExprKind kind;
  DType dtype;          // of the result
  DType operand_dtype;  // of operands[0]
  UnaryOp unary{};
  BinaryOp binary{};
  ReduceKind reduce{};
  bool select_last = false;
  uint32_t result = 0;
  std::vector<uint32_t> operands;
  Scalar constant{};
  const HostTensor* tensor = nullptr;  // kLoad
  const TensorNode* node = nullptr;    // kLoad, for messages
  std::vector<int64_t> strides;        // kLoad
  // kSelect: one Code a side; kReduce: the first is the body.
  std::unique_ptr<Code> first, second;
  std::vector<uint32_t> axis_slots;  // kReduce
  std::vector<int64_t> extents;      // kReduce
};

struct Code {
  std::vector<Instruction> instructions;
  uint32_t result = 0;
};

// A computation's body as code, whose slots 0 .. rank-1 hold the axes.
struct CompiledBody {
  std::unique_ptr<Code> code;
  uint32_t num_slots = 0;
};
// `tensors` gives the values that are loaded, which the code refers to.
using TensorFn = std::function<const HostTensor*(const TensorNode*)>;
Result<CompiledBody> CompileBody(const Tensor& t, const SymbolFn& symbols, const TensorFn& tensors);

class Machine {
 public:
  using Mask = const uint8_t*;  // one a lane, 0 is off; null: all on

  explicit Machine(uint32_t num_slots) : memory_(static_cast<size_t>(num_slots) * kBlock) {}

  Scalar* slot(uint32_t i) { return memory_.data() + static_cast<size_t>(i) * kBlock; }
  // REQUIRES: lanes <= kBlock; the slots of axes are set.
  Status Run(const Code& code, int lanes, Mask mask);

 private:
  Status RunLoad(const Instruction& in, Scalar* out, int lanes, Mask mask);
  void RunBinary(const Instruction& in, Scalar* out, int lanes);
  Status RunSelect(const Instruction& in, Scalar* out, int lanes, Mask mask);
  Status RunChecked(const Instruction& in, Scalar* out, int lanes, Mask mask);
  Status RunReduce(const Instruction& in, Scalar* out, int lanes, Mask mask);
  template <typename Fn>
  void Lanes(const Instruction& in, Scalar* out, int lanes, Fn fn);

  std::vector<Scalar> memory_;
};

}  // namespace relayvm::te

// Random numbers from an explicit generator (a uint64[10] key): random.threefry_generate
// random.threefry_split random.uniform random.normal random.multinomial. All but the split return
// (next generator, values). The algorithm is in kernels/runtime/random.cc. Stateless. Tested by
// random_test.cc.
#include <fmt/format.h>

#include <utility>

#include "kernels/op/define.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/shape_rules.h"

namespace relayvm {
namespace {

Status RequireGenerator(TypeContext& tc) {
  const TensorType& key = tc.tensor(0);
  if (key.dtype != DType::kUInt64) {
    return Invalid("the key has dtype {}, expected uint64", DTypeName(key.dtype));
  }
  RELAYVM_RETURN_IF_ERROR(RequireRank(key, 1, "the key"));
  return tc.RequireEqual(key.shape[0], 10, "the words of the key");
}

Result<std::vector<Dim>> OutShape(TypeContext& tc) {
  std::vector<Dim> shape = tc.attrs().Dims("out_shape");
  RELAYVM_RETURN_IF_ERROR(RequireSizes(tc, shape));
  return shape;
}

TensorType GeneratorType() { return {{10}, DType::kUInt64}; }

OpDef RandomOp(std::string name, int num_args, std::string builtin) {
  OpDef op;
  op.name = std::move(name);
  op.num_args = num_args;
  op.builtin = [builtin = std::move(builtin)](const ComputeContext&) -> BuiltinCall {
    return {builtin, {}};
  };
  return op;
}

OpDef GenerateOp() {
  OpDef op = RandomOp("random.threefry_generate", 1, "threefry_generate");
  op.attrs = {Required("out_shape", AttrKind::kDims)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireGenerator(tc));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, OutShape(tc));
    return OpResult::Tuple({GeneratorType(), TensorType{std::move(shape), DType::kUInt64}});
  };
  return op;
}

OpDef SplitOp() {
  OpDef op = RandomOp("random.threefry_split", 1, "threefry_split");
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireGenerator(tc));
    return OpResult::Tuple({GeneratorType(), GeneratorType()});
  };
  return op;
}

// Arguments: key, then two scalars (low and high, or mean and scale).
OpDef DistributionOp(std::string name, std::string builtin) {
  OpDef op = RandomOp(std::move(name), 3, std::move(builtin));
  op.attrs = {Required("out_shape", AttrKind::kDims),
              Optional("out_dtype", AttrKind::kDType, "float32")};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireGenerator(tc));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> shape, OutShape(tc));
    const DType dtype = DTypeOr(tc.attrs(), "out_dtype", DType::kFloat32);
    if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
      return Invalid("out_dtype is {}, expected float32 or float64", DTypeName(dtype));
    }
    for (size_t i : {1, 2}) {
      for (const Dim& d : tc.tensor(i).shape) {
        RELAYVM_RETURN_IF_ERROR(tc.RequireEqual(d, 1, fmt::format("a dim of scalar {}", i)));
      }
    }
    return OpResult::Tuple({GeneratorType(), TensorType{std::move(shape), dtype}});
  };
  return op;
}

OpDef MultinomialOp() {
  OpDef op = RandomOp("random.multinomial", 2, "random_multinomial");
  op.attrs = {Optional("num_samples", AttrKind::kInt, 1)};
  op.infer = [](TypeContext& tc) -> Result<OpResult> {
    RELAYVM_RETURN_IF_ERROR(RequireGenerator(tc));
    const TensorType& probabilities = tc.tensor(1);
    const int64_t samples = tc.attrs().Int("num_samples");
    RELAYVM_RETURN_IF_ERROR(RequireFloat(probabilities, "probs"));
    if (probabilities.rank() < 1) return Invalid("probs has rank 0, expected at least 1");
    if (samples < 0) return Invalid("num_samples is {}", samples);
    RELAYVM_RETURN_IF_ERROR(
        RequireHolds(tc, DType::kInt32, probabilities.shape.back() - 1, "the last index"));
    std::vector<Dim> shape = probabilities.shape;
    shape.back() = samples;
    return OpResult::Tuple({GeneratorType(), TensorType{std::move(shape), DType::kInt32}});
  };
  return op;
}

}  // namespace

void DefineRandom(OpTable& table) {
  table.Add(GenerateOp());
  table.Add(SplitOp());
  table.Add(DistributionOp("random.uniform", "random_uniform"));
  table.Add(DistributionOp("random.normal", "random_normal"));
  table.Add(MultinomialOp());
}

}  // namespace relayvm

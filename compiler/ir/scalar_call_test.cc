#include "compiler/ir/scalar_call.h"

#include <doctest/doctest.h>

namespace relayvm::ir {
namespace {

bool Check(const char* op, const std::vector<Type>& args, const Type& result,
           const Attrs& given = {}) {
  OpCall call{OpTable::Get().Find(op), {}, *CompleteAttrs(*OpTable::Get().Find(op), given)};
  return IsScalarCall(call, args, result);
}

TEST_CASE("calls on scalars are instructions where their expression has no loop") {
  const Type i32 = MakeScalarType(DType::kInt32);
  const Type u8 = MakeScalarType(DType::kUInt8);
  const Type f16 = MakeScalarType(DType::kFloat16);
  const Type vector = MakeTensorType({4}, DType::kInt32);
  for (const char* op : {"add", "floor_mod", "left_shift", "bitwise_xor", "maximum"}) {
    CAPTURE(op);
    CHECK(Check(op, {i32, i32}, i32));
    CHECK(Check(op, {u8, u8}, u8));
    CHECK(!Check(op, {vector, vector}, vector));
  }
  CHECK(Check("bitwise_not", {i32}, i32));
  CHECK(!Check("add", {f16, f16}, f16));
  CHECK(!Check("sum", {vector}, i32));
}

}  // namespace
}  // namespace relayvm::ir

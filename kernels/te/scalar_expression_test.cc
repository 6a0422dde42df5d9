#include "kernels/te/scalar_expression.h"

#include <doctest/doctest.h>

namespace relayvm::te {
namespace {

TEST_CASE("arithmetic on scalars is a scalar expression; loops, positions and halves are not") {
  Tensor x = Placeholder("x", {}, DType::kInt32, 0);
  Tensor v = Placeholder("v", {4}, DType::kInt32, 1);
  Tensor h = Placeholder("h", {}, DType::kFloat16, 2);
  auto make = [](Expr e) {
    return IsScalarExpression(Compute("t", {}, [&](const std::vector<Expr>&) { return e; }));
  };
  Expr load = Load(x, {});
  CHECK(make(load));
  CHECK(make(Select(load < IntImm(3, DType::kInt32), load + load, load)));
  Tensor sum = Compute("sum", {}, [&](const std::vector<Expr>&) { return load + load; });
  CHECK(make(Load(sum, {}) * load));
  CHECK(make(DimValue(Dim::Symbol(1, "n"))));
  Expr checked = Checked(Load(Placeholder("i", {}, DType::kInt64, 4), {}), IntImm(0), IntImm(9), 1);
  CHECK(make(checked + IntImm(1)));
  CHECK(make(Select(checked < IntImm(3), IntImm(1), IntImm(2))));
  CHECK(!make(Select(load < IntImm(3, DType::kInt32), checked, IntImm(2))));
  CHECK(!make(Load(v, {IntImm(0)})));
  CHECK(!make(Cast(Load(h, {}), DType::kFloat32)));
  CHECK(!make(Cast(load, DType::kFloat16)));
  CHECK(!IsScalarExpression(x));
  Axis axis = MakeAxis("k", 4);
  CHECK(!make(Reduce(ReduceKind::kSum, Load(v, {AxisValue(axis)}), {axis}, DType::kInt32)));
  CHECK(!IsScalarExpression(
      Compute("row", {2}, [&](const std::vector<Expr>& i) { return i[0] + i[0]; })));
  // What kernels approximate is theirs.
  Expr real = Load(Placeholder("f", {}, DType::kFloat32, 3), {});
  CHECK(make(Unary(UnaryOp::kSqrt, real)));
  CHECK(make(Binary(BinaryOp::kPower, load, load)));
  CHECK(!make(Unary(UnaryOp::kExp, real)));
  CHECK(!make(Unary(UnaryOp::kTanh, load)));
  CHECK(!make(Binary(BinaryOp::kPower, real, real)));
  CHECK(!make(Binary(BinaryOp::kAtan2, load, load)));
  Expr large = load;
  for (int i = 0; i < 100; ++i) large = large * load;
  CHECK(!make(large));
}

}  // namespace
}  // namespace relayvm::te

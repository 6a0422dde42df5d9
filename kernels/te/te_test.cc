#include "kernels/te/te.h"

#include <doctest/doctest.h>

#include "kernels/te/evaluate.h"

namespace relayvm::te {
namespace {

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");

TEST_CASE("builders simplify integer arithmetic") {
  Axis axis = MakeAxis("i", kN);
  Expr i = AxisValue(axis);
  struct Case {
    Expr e;
    const char* text;
  };
  for (const Case& c : {
           Case{i + IntImm(0), "i"},
           Case{IntImm(0) + i, "i"},
           Case{i * IntImm(1), "i"},
           Case{i * IntImm(0), "0"},
           Case{i - IntImm(0), "i"},
           Case{i - i, "0"},
           Case{(i + IntImm(2)) + IntImm(3), "(i + 5)"},
           Case{Binary(BinaryOp::kFloorDivide, i, IntImm(1)), "i"},
           Case{Binary(BinaryOp::kFloorMod, i, IntImm(1)), "0"},
           Case{IntImm(7) * IntImm(6), "42"},
           Case{Binary(BinaryOp::kFloorDivide, IntImm(-7), IntImm(2)), "-4"},
           Case{Binary(BinaryOp::kDivide, IntImm(-7), IntImm(2)), "-3"},
           Case{Binary(BinaryOp::kDivide, IntImm(7), IntImm(0)), "0"},
           Case{DimValue(kN) + DimValue(kM * Dim(2)), "n + m*2"},
           Case{DimValue(kN) * DimValue(kN), "n*n"},
           Case{DimValue(kN) < DimValue(kN + Dim(1)), "true"},
           Case{DimValue(kN) >= IntImm(0), "true"},
           Case{(i < IntImm(4)) && IntImm(1, DType::kBool), "(i < 4)"},
           Case{(i < IntImm(4)) || IntImm(1, DType::kBool), "true"},
           Case{Select(IntImm(0, DType::kBool), i, IntImm(3)), "3"},
           Case{Cast(IntImm(300), DType::kUInt8), "uint8(44)"},
           Case{Cast(Const(2.75, DType::kFloat32), DType::kInt32), "int32(2)"},
           Case{Const(1, DType::kFloat32) + Const(2, DType::kFloat32), "3f"},
           Case{AxisValue(MakeAxis("one", 1)), "0"},
       }) {
    CHECK(ToString(c.e) == c.text);
  }
}

TEST_CASE("floats keep what rounding and signed zeros say") {
  Tensor x = Placeholder("x", {}, DType::kFloat32, 0);
  Expr v = Load(x, {});
  CHECK(ToString(v * Const(1, DType::kFloat32)) == "x[]");
  CHECK(ToString(v + Const(0, DType::kFloat32)) == "(x[] + 0f)");
  CHECK(ToString(v * Const(0, DType::kFloat32)) == "(x[] * 0f)");
}

TEST_CASE("ToString of a tensor") {
  Tensor x = Placeholder("x", {kN, 4}, DType::kFloat32, 0);
  Tensor sum = Compute("sum", {kN}, [&](const std::vector<Expr>& i) {
    Axis k = MakeAxis("k", 4);
    return Reduce(ReduceKind::kSum, Unary(UnaryOp::kExp, Load(x, {i[0], AxisValue(k)})), {k},
                  DType::kFloat32);
  });
  CHECK(ToString(x) == "x: float32[n, 4]");
  CHECK(ToString(sum) == "sum: float32[n] = (i0) => sum(exp(x[i0, k]), k < 4)");
}

TEST_CASE("SubstituteAxes shares what is unchanged") {
  Axis axis = MakeAxis("i", kN);
  Axis other = MakeAxis("j", kM);
  Tensor x = Placeholder("x", {kM}, DType::kFloat32, 0);
  Expr kept = Unary(UnaryOp::kExp, Load(x, {AxisValue(other)}));
  Expr e = kept * Cast(AxisValue(axis), DType::kFloat32);
  Expr replaced = SubstituteAxes(e, [&](const Axis& a) { return a == axis ? IntImm(3) : nullptr; });
  CHECK(ToString(replaced) == "(exp(x[j]) * 3f)");
  CHECK(replaced->operands[0].get() == kept.get());
}

TEST_CASE("ReplaceInputs goes through chains of any length, each tensor once") {
  Tensor x = Placeholder("x", {2}, DType::kFloat32, 0);
  auto next = [](const Tensor& t) {
    return Compute("t", t->shape,
                   [&](const std::vector<Expr>& i) { return Load(t, i) + Load(t, i); });
  };
  Tensor chain = x;
  std::vector<Tensor> all;  // kept, so that the chain is not destroyed by recursion
  all.reserve(20000);
  for (int i = 0; i < 20000; ++i) all.push_back(chain = next(chain));
  Tensor y = Placeholder("y", {2}, DType::kFloat32, 0);
  Tensor replaced = ReplaceInputs(chain, {y});
  CHECK(replaced.get() != chain.get());
  Tensor t = replaced;
  std::vector<Tensor> seen;
  while (!t->is_placeholder()) {
    CHECK(t->body->operands[0]->tensor.get() == t->body->operands[1]->tensor.get());
    seen.push_back(t);
    t = t->body->operands[0]->tensor;
  }
  CHECK(seen.size() == 20000);
  CHECK(t.get() == y.get());
  CHECK(ReplaceInputs(chain, {nullptr}).get() == chain.get());
  // Release from the outside in.
  t = nullptr;
  replaced = nullptr;
  for (Tensor& s : seen) s = nullptr;
  chain = nullptr;
  while (!all.empty()) all.pop_back();
}

}  // namespace
}  // namespace relayvm::te

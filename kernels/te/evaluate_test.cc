#include "kernels/te/evaluate.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "bytecode/base/dim.h"
#include "kernels/te/scalar.h"

namespace relayvm::te {
namespace {

const Dim kN = Dim::Symbol(1, "n");
const Dim kM = Dim::Symbol(2, "m");
constexpr double kInfinity = std::numeric_limits<double>::infinity();

HostTensor Make(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  HostTensor t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  t.data = SharedBytes::Zeros(values.size() * static_cast<size_t>(DTypeBytes(dtype)));
  for (size_t i = 0; i < values.size(); ++i) {
    Scalar s = IsFloat(dtype) ? FloatScalar(RoundToDType(values[i], dtype))
                              : ApplyCast(DType::kFloat64, dtype, FloatScalar(values[i]));
    WriteElement(dtype, s, t.data.Mutable().data() + i * static_cast<size_t>(DTypeBytes(dtype)));
  }
  return t;
}

std::vector<double> Values(const HostTensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.size(); ++i) {
    Scalar s = ReadElement(t.dtype, t.data.data() + i * DTypeBytes(t.dtype));
    out.push_back(IsFloat(t.dtype) ? s.f : static_cast<double>(s.i));
  }
  return out;
}

SymbolFn Symbols(int64_t n, int64_t m = 0) {
  return [n, m](uint32_t id) -> std::optional<int64_t> { return id == 1 ? n : m; };
}

Result<HostTensor> Run(const Tensor& t, const std::vector<HostTensor>& inputs,
                       const SymbolFn& symbols) {
  std::vector<const HostTensor*> pointers;
  pointers.reserve(inputs.size());
  for (const HostTensor& input : inputs) pointers.push_back(&input);
  return Evaluate(t, pointers, symbols);
}

TEST_CASE("elementwise, over more elements than a block") {
  Tensor x = Placeholder("x", {kN, 3}, DType::kFloat32, 0);
  Tensor y = Compute("y", {kN, 3}, [&](const std::vector<Expr>& i) {
    return Load(x, i) * Const(2, DType::kFloat32) + Cast(i[0], DType::kFloat32);
  });
  for (int64_t n : {0, 1, 100, 1000}) {
    std::vector<double> values;
    for (int64_t i = 0; i < n * 3; ++i) values.push_back(static_cast<double>(i % 17));
    auto result = Run(y, {Make(DType::kFloat32, {n, 3}, values)}, Symbols(n));
    REQUIRE(result.ok());
    std::vector<double> got = Values(*result);
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t row = i / 3;
      CHECK(got[i] == values[i] * 2 + static_cast<double>(row));
    }
  }
}

TEST_CASE("reductions: identities, NaN, ties") {
  struct Case {
    ReduceKind kind;
    std::vector<double> values;
    double want;
    bool last = false;
  };
  const double nan = std::nan("");
  for (const Case& c : {
           Case{ReduceKind::kSum, {}, 0},
           Case{ReduceKind::kProd, {}, 1},
           Case{ReduceKind::kMax, {}, -kInfinity},
           Case{ReduceKind::kMin, {}, kInfinity},
           Case{ReduceKind::kArgMax, {}, 0},
           Case{ReduceKind::kSum, {1, 2, 3.5}, 6.5},
           Case{ReduceKind::kMax, {nan, -3, -1, nan}, -1},
           Case{ReduceKind::kMin, {nan, -3, -1}, -3},
           Case{ReduceKind::kArgMax, {1, 5, 5, 2}, 1},
           Case{ReduceKind::kArgMax, {1, 5, 5, 2}, 2, true},
           Case{ReduceKind::kArgMin, {4, 0, 7, 0}, 1},
           Case{ReduceKind::kArgMax, {-kInfinity, -kInfinity}, 0},
           Case{ReduceKind::kArgMax, {nan, 1}, 1},
       }) {
    Tensor x = Placeholder("x", {kN}, DType::kFloat32, 0);
    Tensor y = Compute("y", {}, [&](const std::vector<Expr>&) {
      Axis k = MakeAxis("k", kN);
      bool is_arg = c.kind >= ReduceKind::kArgMax;
      return Reduce(c.kind, Load(x, {AxisValue(k)}), {k}, is_arg ? DType::kInt32 : DType::kFloat32,
                    c.last);
    });
    int64_t n = static_cast<int64_t>(c.values.size());
    auto result = Run(y, {Make(DType::kFloat32, {n}, c.values)}, Symbols(n));
    REQUIRE(result.ok());
    CHECK(Values(*result)[0] == c.want);
  }
}

// The sum of x[k] * y[k].
Tensor Product(DType t) {
  Tensor x = Placeholder("x", {kN}, t, 0);
  Tensor y = Placeholder("y", {kN}, t, 1);
  return Compute("product", {}, [&](const std::vector<Expr>&) {
    Axis k = MakeAxis("k", kN);
    return Reduce(ReduceKind::kSum, Load(x, {AxisValue(k)}) * Load(y, {AxisValue(k)}), {k}, t);
  });
}

TEST_CASE("sums of products round each step in float16, once in bfloat16") {
  struct Case {
    DType dtype;
    std::vector<double> x, y;
    double want;
  };
  constexpr double kHalf = 1 + 0x1p-10, kBrain = 1 + 0x1p-7;  // the next after 1
  const Case cases[] = {
      {DType::kFloat16, {2048, 1, 1}, {1, 1, 1}, 2048},
      {DType::kFloat16, {1, 1, 2048}, {1, 1, 1}, 2050},
      {DType::kFloat16, {kHalf, -1}, {kHalf, 1 + 0x1p-9}, 0},
      {DType::kFloat16, {256, -1}, {256, 1}, kInfinity},
      {DType::kBFloat16, {256, 1, 1}, {1, 1, 1}, 258},
      {DType::kBFloat16, {kBrain, -1}, {kBrain, 1 + 0x1p-6}, 0x1p-14},
      {DType::kFloat32, {2048, 1, 1}, {1, 1, 1}, 2050},
  };
  for (const Case& c : cases) {
    int64_t n = static_cast<int64_t>(c.x.size());
    auto result =
        Run(Product(c.dtype), {Make(c.dtype, {n}, c.x), Make(c.dtype, {n}, c.y)}, Symbols(n));
    REQUIRE(result.ok());
    CHECK(Values(*result) == std::vector<double>{c.want});
  }
}

TEST_CASE("a select guards the loads of its sides") {
  Tensor x = Placeholder("x", {kN}, DType::kFloat32, 0);
  Tensor padded = Compute("padded", {kN + Dim(2)}, [&](const std::vector<Expr>& i) {
    Expr inside = (i[0] >= IntImm(1)) && (i[0] < DimValue(kN + Dim(1)));
    return Select(inside, Load(x, {i[0] - IntImm(1)}), Const(-1, DType::kFloat32));
  });
  auto result = Run(padded, {Make(DType::kFloat32, {3}, {5, 6, 7})}, Symbols(3));
  REQUIRE(result.ok());
  CHECK(Values(*result) == std::vector<double>{-1, 5, 6, 7, -1});
  Tensor unguarded =
      Compute("bad", {kN + Dim(1)}, [&](const std::vector<Expr>& i) { return Load(x, i); });
  result = Run(unguarded, {Make(DType::kFloat32, {3}, {5, 6, 7})}, Symbols(3));
  REQUIRE(!result.ok());
  CHECK(result.status().message() == "index 3 out of range for dimension 0 of x, which is 3");
}

TEST_CASE(
    "intermediate tensors, reductions inside reductions, index arithmetic hoisted out of them") {
  Tensor x = Placeholder("x", {kN, kM}, DType::kInt64, 0);
  Tensor rows = Compute("rows", {kN}, [&](const std::vector<Expr>& i) {
    Axis k = MakeAxis("k", kM);
    return Reduce(ReduceKind::kSum, Load(x, {i[0], AxisValue(k)}), {k}, DType::kInt64);
  });
  Tensor total = Compute("total", {2}, [&](const std::vector<Expr>& i) {
    Axis k = MakeAxis("k", kN);
    Axis j = MakeAxis("j", kM);
    Expr inner =
        Reduce(ReduceKind::kMax, Load(x, {AxisValue(k), AxisValue(j)}) * (i[0] + IntImm(1)), {j},
               DType::kInt64);
    return Reduce(ReduceKind::kSum, Load(rows, {AxisValue(k)}) + inner, {k}, DType::kInt64);
  });
  auto result = Run(total, {Make(DType::kInt64, {2, 3}, {1, 2, 3, 4, 5, 6})}, Symbols(2, 3));
  REQUIRE(result.ok());
  CHECK(Values(*result) == std::vector<double>{30, 39});
}

TEST_CASE("errors name the input or dimension") {
  Tensor x = Placeholder("x", {kN}, DType::kFloat32, 0);
  Tensor y = Compute("y", {kN}, [&](const std::vector<Expr>& i) { return Load(x, i); });
  CHECK(Evaluate(y, {}, Symbols(1)).status().message() == "no value for input 0 (x)");
  auto wrong = Run(y, {Make(DType::kInt32, {1}, {1})}, Symbols(1));
  CHECK(wrong.status().message() == "input 0 (x) is not a float32 tensor of shape (n)");
  auto unknown =
      Run(y, {Make(DType::kFloat32, {1}, {1})}, [](uint32_t) { return std::optional<int64_t>(); });
  CHECK(unknown.status().message() == "dimension 0 of x is not known");
}

TEST_CASE("float16 and bfloat16 convert exactly and round to nearest even") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float half = HalfToFloat(static_cast<uint16_t>(bits));
    float brain = BFloat16ToFloat(static_cast<uint16_t>(bits));
    if (!std::isnan(half)) CHECK(DoubleToHalf(half) == bits);
    if (!std::isnan(brain)) CHECK(DoubleToBFloat16(brain) == bits);
  }
  CHECK(DoubleToHalf(65519.99) == 0x7bff);
  CHECK(DoubleToHalf(65520) == 0x7c00);
  CHECK(DoubleToHalf(0x1p-25) == 0);
  CHECK(DoubleToHalf(0x1.00001p-25) == 1);
  // Just above a tie in double, a tie in float: rounded once.
  CHECK(DoubleToHalf(1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(DoubleToHalf(1 + 0x1p-11) == 0x3c00);
  CHECK(DoubleToBFloat16(1 + 0x1p-8 + 0x1p-40) == 0x3f81);
}

TEST_CASE("integer operators wrap and never trap") {
  auto binary = [](BinaryOp op, DType t, int64_t a, int64_t b) {
    return ApplyBinary(op, t, IntScalar(a), IntScalar(b)).i;
  };
  CHECK(binary(BinaryOp::kAdd, DType::kInt8, 127, 1) == -128);
  CHECK(binary(BinaryOp::kMultiply, DType::kUInt8, 16, 17) == 16);
  CHECK(binary(BinaryOp::kDivide, DType::kInt64, INT64_MIN, -1) == INT64_MIN);
  CHECK(binary(BinaryOp::kMod, DType::kInt64, INT64_MIN, -1) == 0);
  CHECK(binary(BinaryOp::kDivide, DType::kInt32, 5, 0) == 0);
  CHECK(binary(BinaryOp::kFloorMod, DType::kInt32, -7, 3) == 2);
  CHECK(binary(BinaryOp::kMod, DType::kInt32, -7, 3) == -1);
  CHECK(binary(BinaryOp::kDivide, DType::kUInt64, -1, 2) == INT64_MAX);
  CHECK(binary(BinaryOp::kLess, DType::kUInt64, 1, -1) == 1);
  CHECK(binary(BinaryOp::kShiftLeft, DType::kInt32, 1, 40) == 0);
  CHECK(binary(BinaryOp::kShiftRight, DType::kInt32, -8, 40) == -1);
  CHECK(binary(BinaryOp::kPower, DType::kInt32, 3, 4) == 81);
  CHECK(binary(BinaryOp::kPower, DType::kInt32, -1, -3) == -1);
  CHECK(ApplyCast(DType::kFloat32, DType::kUInt8, FloatScalar(300)).i == 44);
  CHECK(ApplyCast(DType::kFloat32, DType::kInt32, FloatScalar(1e20)).i == INT32_MAX);
  CHECK(ApplyCast(DType::kFloat32, DType::kInt32, FloatScalar(std::nan(""))).i == 0);
  CHECK(ApplyCast(DType::kInt64, DType::kFloat32, IntScalar((int64_t{1} << 24) + 1)).f == 16777216);
}

// --- Symbolic ---

std::optional<std::vector<Dim>> Symbolic(const Tensor& t,
                                         std::vector<std::optional<std::vector<Dim>>> inputs) {
  return EvaluateSymbolic(t, inputs);
}

TEST_CASE("shape arithmetic evaluates to dims") {
  Tensor shape = Placeholder("shape", {3}, DType::kInt64, 0);
  std::vector<Dim> dims = {kN, kM, Dim(4)};
  Tensor taken = Compute(
      "taken", {2}, [&](const std::vector<Expr>& i) { return Load(shape, {IntImm(2) - i[0]}); });
  CHECK(Symbolic(taken, {dims}) == std::vector<Dim>{Dim(4), kM});
  Tensor joined = Compute("joined", {4}, [&](const std::vector<Expr>& i) {
    return Select(i[0] < IntImm(3), Load(shape, {i[0]}), IntImm(-1));
  });
  CHECK(Symbolic(joined, {dims}) == std::vector<Dim>{kN, kM, Dim(4), Dim(-1)});
  Tensor product = Compute("product", {}, [&](const std::vector<Expr>&) {
    Axis k = MakeAxis("k", 3);
    return Reduce(ReduceKind::kProd, Load(shape, {AxisValue(k)}), {k}, DType::kInt64);
  });
  CHECK(Symbolic(product, {dims}) == std::vector<Dim>{kN * kM * Dim(4)});
  Tensor halves = Compute("halves", {3}, [&](const std::vector<Expr>& i) {
    return Cast(Binary(BinaryOp::kDivide, Load(shape, i), IntImm(2)), DType::kInt32);
  });
  CHECK(Symbolic(halves, {dims}) == std::vector<Dim>{Dim::Int32(Dim::FloorDiv(kN, 2)),
                                                     Dim::Int32(Dim::FloorDiv(kM, 2)), Dim(2)});
  Tensor largest = Compute("largest", {}, [&](const std::vector<Expr>&) {
    Axis k = MakeAxis("k", 3);
    return Reduce(ReduceKind::kMax, Load(shape, {AxisValue(k)}), {k}, DType::kInt64);
  });
  CHECK(Symbolic(largest, {dims}) == std::vector<Dim>{Dim::Max(Dim::Max(kN, kM), Dim(4))});
}

// Every step is taken in the dtype of its operands: what an int32 may not hold is wrapped there.
TEST_CASE("arithmetic of narrow integers wraps in dims") {
  Tensor shape = Placeholder("shape", {2}, DType::kInt32, 0);
  std::vector<Dim> dims = {Dim::Int32(kN), Dim::Int32(kM)};
  Dim n = dims[0];
  auto one = [&](const Expr& e) {
    return Symbolic(Compute("one", {}, [&](const std::vector<Expr>&) { return e; }), {dims});
  };
  Expr x = Load(shape, {IntImm(0)});
  Expr y = Load(shape, {IntImm(1)});
  auto is = [&](const Expr& e, const Dim& d) { return one(e) == std::vector<Dim>{d}; };
  CHECK(is(Cast(DimValue(kN), DType::kInt32), n));
  CHECK(is(x + y, Dim::Int32(n + dims[1])));
  CHECK(is(x * y, Dim::Int32(n * dims[1])));
  Dim half = Dim::FloorDiv(Dim::Max(n, 0), 2) - Dim::FloorDiv(Dim::Max(Dim(0) - n, 0), 2);
  CHECK(half.WithoutInt32() == Dim::FloorDiv(kN, 2));
  CHECK(is(Binary(BinaryOp::kDivide, x, IntImm(2, DType::kInt32)), half));
  CHECK(is(Cast(x, DType::kInt64) + Cast(y, DType::kInt64), n + dims[1]));
  CHECK(!one(Cast(Cast(x, DType::kInt8), DType::kInt32)));
  CHECK(!one(Cast(Cast(x, DType::kUInt32), DType::kInt32)));
}

TEST_CASE("what is not known stays unknown, and only what depends on it") {
  Tensor shape = Placeholder("shape", {2}, DType::kInt64, 0);
  Tensor other = Placeholder("other", {2}, DType::kInt64, 1);
  Tensor first =
      Compute("first", {1}, [&](const std::vector<Expr>&) { return Load(shape, {IntImm(0)}); });
  std::vector<Dim> partly = {kN, Dim::Any()};
  CHECK(Symbolic(first, {partly, std::nullopt}) == std::vector<Dim>{kN});
  Tensor second =
      Compute("second", {1}, [&](const std::vector<Expr>&) { return Load(shape, {IntImm(1)}); });
  CHECK(!Symbolic(second, {partly, std::nullopt}));
  Tensor mixed = Compute(
      "mixed", {2}, [&](const std::vector<Expr>& i) { return Load(shape, i) + Load(other, i); });
  CHECK(!Symbolic(mixed, {partly, std::nullopt}));
  Tensor dynamic = Compute("dynamic", {kN}, [&](const std::vector<Expr>& i) { return i[0]; });
  CHECK(!Symbolic(dynamic, {}));
  Tensor undecided = Compute("undecided", {}, [&](const std::vector<Expr>&) {
    return Select(Load(shape, {IntImm(0)}) < IntImm(5), IntImm(1), IntImm(2));
  });
  CHECK(!Symbolic(undecided, {partly, std::nullopt}));
}

}  // namespace
}  // namespace relayvm::te

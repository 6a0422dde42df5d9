// Every operator on every dtype, as vectors and as scalars, on every target level, against the
// meaning in te/scalar.h.

#include <limits>

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;
using te::Tensor;
using te::UnaryOp;

const Dim kN = Dim::Symbol(1, "n");
constexpr int kNumUnary = static_cast<int>(UnaryOp::kIsFinite) + 1;
constexpr int kNumBinary = static_cast<int>(BinaryOp::kGreaterEqual) + 1;

// Edge values of the dtype, then small ones.
std::vector<te::Scalar> ValuesOf(DType t) {
  std::vector<te::Scalar> values;
  if (IsFloat(t)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (double v : {0.0,          -0.0,   1.0,    -1.0,    2.5,   -2.5,    3.0,       0.5,
                     -0.5,         1.5,    100.0,  -7.25,   1e-5,  60000.0, kInfinity, -kInfinity,
                     std::nan(""), 1e-7,   2.0,    -3.0,    255.0, 256.5,   -129.0,    3e9,
                     -3e9,         0x1p62, 0x1p63, -0x1p63, 1e19,  -1e19}) {
      values.push_back(te::FloatScalar(te::RoundToDType(v, t)));
    }
    return values;
  }
  for (int64_t v : {int64_t{0},         int64_t{1},
                    int64_t{-1},        int64_t{2},
                    int64_t{3},         int64_t{-7},
                    int64_t{7},         int64_t{8},
                    int64_t{100},       int64_t{127},
                    int64_t{-128},      int64_t{255},
                    int64_t{32767},     int64_t{65537},
                    int64_t{INT32_MIN}, int64_t{INT32_MAX},
                    INT64_MIN,          INT64_MAX,
                    int64_t{31},        int64_t{63},
                    int64_t{64},        (int64_t{1} << 53) + 1,
                    int64_t{16777217}}) {
    values.push_back(te::IntScalar(WrapInteger(v, t)));
  }
  return values;
}

// All pairs of values, as two tensors.
std::pair<HostTensor, HostTensor> Pairs(DType t) {
  std::vector<te::Scalar> values = ValuesOf(t);
  int64_t n = static_cast<int64_t>(values.size() * values.size());
  HostTensor x = MakeTensor(t, {n});
  HostTensor y = MakeTensor(t, {n});
  int64_t i = 0;
  for (te::Scalar a : values) {
    for (te::Scalar b : values) {
      te::WriteElement(t, a, x.data.Mutable().data() + i * DTypeBytes(t));
      te::WriteElement(t, b, y.data.Mutable().data() + i * DTypeBytes(t));
      ++i;
    }
  }
  return {x, y};
}

struct OpCase {
  std::string name;
  DType from;
  std::function<Expr(const Expr&, const Expr&)> body;
  double tolerance = 0;
};

std::vector<OpCase> AllCases() {
  std::vector<OpCase> cases;
  for (int d = 0; d < kNumDTypes; ++d) {
    DType t = static_cast<DType>(d);
    std::string suffix = " " + std::string(DTypeName(t));
    for (int op = 0; op < kNumUnary; ++op) {
      UnaryOp unary = static_cast<UnaryOp>(op);
      bool is_math = unary >= UnaryOp::kExp && unary <= UnaryOp::kAtanh;
      if (is_math && !IsFloat(t)) continue;
      const auto body = [unary](const Expr& x, const Expr&) {
        if (unary != UnaryOp::kSoftmaxExp) return te::Unary(unary, x);
        return te::Unary(unary, te::Unary(UnaryOp::kNegative, te::Unary(UnaryOp::kAbs, x)));
      };
      cases.push_back({"unary " + std::to_string(op) + suffix, t, body, is_math ? 3e-7 : 0});
    }
    for (int op = 0; op < kNumBinary; ++op) {
      BinaryOp binary = static_cast<BinaryOp>(op);
      if (binary == BinaryOp::kAtan2 && !IsFloat(t)) continue;
      bool is_shift = binary == BinaryOp::kShiftLeft || binary == BinaryOp::kShiftRight;
      if (is_shift && IsFloat(t)) continue;
      bool is_math = binary == BinaryOp::kPower || binary == BinaryOp::kAtan2;
      cases.push_back({"binary " + std::to_string(op) + suffix, t,
                       [binary](const Expr& x, const Expr& y) { return te::Binary(binary, x, y); },
                       is_math ? 3e-7 : 0});
    }
    for (int other = 0; other < kNumDTypes; ++other) {
      DType to = static_cast<DType>(other);
      cases.push_back({"cast to " + std::string(DTypeName(to)) + suffix, t,
                       [to](const Expr& x, const Expr&) { return te::Cast(x, to); }, 0});
      if (DTypeBytes(to) != DTypeBytes(t) || to == DType::kBool) continue;
      cases.push_back({"reinterpret as " + std::string(DTypeName(to)) + suffix, t,
                       [to](const Expr& x, const Expr&) { return te::Reinterpret(x, to); }, 0});
    }
  }
  return cases;
}

// NaN payloads may differ; everything else is equal, or within the tolerance.
void CheckSame(const HostTensor& got, const HostTensor& want, double tolerance, const HostTensor& x,
               const HostTensor& y) {
  int failures = 0;
  for (int64_t i = 0; i < want.size() && failures < 2; ++i) {
    te::Scalar g = Element(got, i);
    te::Scalar w = Element(want, i);
    bool same = g.i == w.i;
    if (IsFloat(want.dtype)) {
      double rounding =
          want.dtype == DType::kFloat16 ? 2e-3 : (want.dtype == DType::kBFloat16 ? 1e-2 : 1);
      double allowed = tolerance == 0 ? 0 : (rounding == 1 ? tolerance : rounding);
      same = (std::isnan(g.f) && std::isnan(w.f)) ||
             (g.f == w.f && (std::signbit(g.f) == std::signbit(w.f) || tolerance != 0)) ||
             (tolerance != 0 && std::abs(g.f - w.f) <= allowed * std::max(1e-300, std::abs(w.f))) ||
             (tolerance != 0 && DTypeBytes(want.dtype) == 2 && std::abs(g.f - w.f) <= 1e-7);
    }
    if (same) continue;
    ++failures;
    auto text = [](const HostTensor& t, int64_t at) {
      te::Scalar s = Element(t, at);
      return IsFloat(t.dtype) ? fmt::format("{}", s.f) : fmt::format("{}", s.i);
    };
    CHECK_MESSAGE(false, fmt::format("({}, {}) gives {} instead of {}", text(x, i), text(y, i),
                                     text(got, i), text(want, i)));
  }
}

void CheckTarget(const char* cpu) {
  KernelOptions options;
  options.machine = MachineNamed(cpu);
  KernelHarness harness(options);
  std::vector<OpCase> cases = AllCases();
  std::vector<size_t> kernels;
  std::vector<Tensor> outputs;
  for (const OpCase& c : cases) {
    KernelSpec spec;
    spec.name = c.name;
    spec.inputs = {te::Placeholder("x", {kN}, c.from, 0), te::Placeholder("y", {kN}, c.from, 1)};
    spec.outputs = {te::Compute("z", {kN}, [&](const std::vector<Expr>& i) {
      return c.body(te::Load(spec.inputs[0], i), te::Load(spec.inputs[1], i));
    })};
    outputs.push_back(spec.outputs[0]);
    kernels.push_back(harness.Add(spec));
  }
  harness.Finish();
  for (size_t k = 0; k < cases.size(); ++k) {
    auto [x, y] = Pairs(cases[k].from);
    std::vector<const HostTensor*> pointers = {&x, &y};
    SymbolValues symbols = {{1, x.size()}};
    auto want = te::Evaluate(outputs[k], pointers, SymbolsOf(symbols));
    REQUIRE(want.ok());
    INFO(cases[k].name, " on ", cpu);
    CheckSame(harness.Run(kernels[k], {x, y}, symbols)[0], *want, cases[k].tolerance, x, y);
  }
}

TEST_CASE("operators on every dtype: native") { CheckTarget("native"); }
TEST_CASE("operators on every dtype: x86-64-v3") { CheckTarget("x86-64-v3"); }
TEST_CASE("operators on every dtype: x86-64-v2") { CheckTarget("x86-64-v2"); }

}  // namespace
}  // namespace relayvm

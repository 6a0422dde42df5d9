// Every elementary function against libm in higher precision: random bit patterns over all
// arguments, dense samples where functions do their work, and special values; as vectors and as
// scalars. The tables are the stated error bounds; for float32 a run over all arguments shows them.

#include <bit>
#include <cfenv>
#include <functional>
#include <limits>

#include "kernels/codegen/kernel_harness.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Tensor;
using te::UnaryOp;
using Real = long double;

struct Function {
  const char* name;
  UnaryOp op;
  Real (*reference)(Real);
  double ulps32, ulps64;
  double low, high;  // where it does its work
};

Real Sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real Rsqrt(Real x) { return 1 / std::sqrt(x); }

const Function kFunctions[] = {
    {"exp", UnaryOp::kExp, std::exp, 1.0, 1.0, -110, 100},
    {"log", UnaryOp::kLog, std::log, 0.85, 1.0, 0, 20},

    {"log2", UnaryOp::kLog2, std::log2, 0.51, 2.25, 0, 20},
    {"log10", UnaryOp::kLog10, std::log10, 0.51, 2.25, 0, 20},
    {"sqrt", UnaryOp::kSqrt, std::sqrt, 0.5, 0.5, 0, 100},
    {"rsqrt", UnaryOp::kRsqrt, Rsqrt, 1.5, 1.5, 0, 100},
    {"sigmoid", UnaryOp::kSigmoid, Sigmoid, 2.0, 2.0, -110, 30},
    {"tanh", UnaryOp::kTanh, std::tanh, 1.72, 1.5, -10, 10},
    {"erf", UnaryOp::kErf, std::erf, 1.6, 4.5, -7, 7},
    {"sin", UnaryOp::kSin, std::sin, 0.51, 2.5, -100, 100},
    {"cos", UnaryOp::kCos, std::cos, 0.51, 2.5, -100, 100},
    {"tan", UnaryOp::kTan, std::tan, 0.51, 3.5, -100, 100},
    {"asin", UnaryOp::kAsin, std::asin, 0.51, 2.25, -1.1, 1.1},
    {"acos", UnaryOp::kAcos, std::acos, 0.51, 2.25, -1.1, 1.1},
    {"atan", UnaryOp::kAtan, std::atan, 0.51, 1.25, -10, 10},
    {"sinh", UnaryOp::kSinh, std::sinh, 0.51, 2.0, -90, 90},
    {"cosh", UnaryOp::kCosh, std::cosh, 0.51, 2.0, -90, 90},
    {"asinh", UnaryOp::kAsinh, std::asinh, 0.51, 3.0, -10, 10},
    {"acosh", UnaryOp::kAcosh, std::acosh, 0.51, 3.0, 0.9, 10},
    {"atanh", UnaryOp::kAtanh, std::atanh, 0.51, 3.0, -1.1, 1.1},
};

// The distance of `got` from `want` in units of the last place of dtype's number nearest to `want`.
template <typename T>
double UlpError(T got, Real want) {
  T nearest = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got) ? 0 : 1e9;
  if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0 : 1e9;
  if (nearest == 0 && got == 0) return std::signbit(nearest) == std::signbit(got) ? 0 : 1e9;
  Real unit =
      std::nextafter(std::abs(nearest), std::numeric_limits<T>::infinity()) - std::abs(nearest);
  return static_cast<double>(std::abs(static_cast<Real>(got) - want) / unit);
}

template <typename T>
std::vector<T> Samples(double low, double high, uint32_t seed) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  std::vector<T> samples = {0,
                            T(-0.0),
                            1,
                            -1,
                            2,
                            -2,
                            T(0.5),
                            T(-0.5),
                            T(M_PI),
                            T(M_PI_2),
                            T(1e5),
                            T(1e6),
                            T(1e7),
                            T(-1e9),
                            T(1e22),
                            T(3e38),
                            kInfinity,
                            -kInfinity,
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::denorm_min(),
                            -std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max(),
                            -std::numeric_limits<T>::max(),
                            std::nextafter(T(1), T(0)),
                            std::nextafter(T(1), T(2))};
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) samples.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  std::uniform_real_distribution<double> uniform(low, high);
  for (int i = 0; i < 20000; ++i) samples.push_back(static_cast<T>(uniform(random)));
  std::uniform_real_distribution<double> near_one(0.5, 2);
  for (int i = 0; i < 5000; ++i) samples.push_back(static_cast<T>(near_one(random)));
  return samples;
}

template <typename T>
HostTensor ToTensor(const std::vector<T>& values, std::vector<int64_t> shape) {
  HostTensor t = MakeTensor(sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64, std::move(shape));
  std::memcpy(t.data.Mutable().data(), values.data(), values.size() * sizeof(T));
  return t;
}

template <typename T>
T ValueAt(const HostTensor& t, size_t i) {
  T v;
  std::memcpy(&v, t.data.data() + i * sizeof(T), sizeof(T));
  return v;
}

const Dim kN = Dim::Symbol(1, "n");

KernelSpec UnarySpec(const Function& f, DType dtype, bool scalar) {
  // A reduction of one element over an axis of unknown extent keeps the body out of vectors.
  Tensor x = te::Placeholder("x", {kN}, dtype, 0);
  KernelSpec spec;
  spec.name = f.name;
  spec.inputs = {x};
  if (scalar) {
    spec.inputs = {te::Placeholder("x", {}, dtype, 0)};
    spec.by_value = {true};
    spec.outputs = {te::Compute("y", {}, [&](const std::vector<te::Expr>&) {
      return te::Unary(f.op, te::Load(spec.inputs[0], {}));
    })};
  } else {
    spec.outputs = {te::Compute("y", {kN}, [&](const std::vector<te::Expr>& i) {
      return te::Unary(f.op, te::Load(x, i));
    })};
  }
  return spec;
}

template <typename T>
void CheckFunction(KernelHarness& harness, const Function& f, size_t vector_kernel,
                   size_t scalar_kernel, double bound) {
  std::vector<T> samples = Samples<T>(f.low, f.high, 7);
  int64_t n = static_cast<int64_t>(samples.size());
  HostTensor out = harness.Run(vector_kernel, {ToTensor(samples, {n})}, {{1, n}})[0];
  double worst = 0;
  T where = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    double error = UlpError(ValueAt<T>(out, i), f.reference(samples[i]));
    if (error > worst) {
      worst = error;
      where = samples[i];
    }
  }
  INFO(std::string(f.name), sizeof(T) * 8, " worst at ", where);
  CHECK(worst <= bound);
  for (size_t i = 0; i < 200; ++i) {
    T got = ValueAt<T>(harness.Run(scalar_kernel, {ToTensor<T>({samples[i]}, {})}, {})[0], 0);
    CHECK(UlpError(got, f.reference(samples[i])) <= bound);
  }
}

void CheckAll(const char* cpu) {
  KernelOptions options;
  options.machine = MachineNamed(cpu);
  KernelHarness harness(options);
  std::vector<std::array<size_t, 4>> kernels;
  for (const Function& f : kFunctions) {
    kernels.push_back({harness.Add(UnarySpec(f, DType::kFloat32, false)),
                       harness.Add(UnarySpec(f, DType::kFloat32, true)),
                       harness.Add(UnarySpec(f, DType::kFloat64, false)),
                       harness.Add(UnarySpec(f, DType::kFloat64, true))});
  }
  harness.Finish();
  for (size_t i = 0; i < kernels.size(); ++i) {
    const Function& f = kFunctions[i];
    CheckFunction<float>(harness, f, kernels[i][0], kernels[i][1], f.ulps32);
    CheckFunction<double>(harness, f, kernels[i][2], kernels[i][3], f.ulps64);
  }
}

TEST_CASE("elementary functions keep their error bounds") { CheckAll("native"); }
TEST_CASE("elementary functions keep their error bounds without FMA") { CheckAll("x86-64-v2"); }

// Neighbouring floats around `at`, 2^15 on each side.
std::vector<float> Neighbours(float at) {
  std::vector<float> x;
  const int middle = std::bit_cast<int>(at);
  for (int i = -(1 << 15); i < 1 << 15; ++i) x.push_back(std::bit_cast<float>(middle + i));
  return x;
}

// Around the places where the functions change their formula, or their results their exponent, and
// the exponential inside its power of two.
TEST_CASE("sigmoid, tanh and erf are monotonic in float32") {
  for (const char* cpu : {"native", "x86-64-v2"}) {
    KernelOptions options;
    options.machine = MachineNamed(cpu);
    KernelHarness harness(options);
    std::vector<std::pair<const Function*, size_t>> kernels;
    for (const Function& f : kFunctions) {
      if (f.op != UnaryOp::kSigmoid && f.op != UnaryOp::kTanh && f.op != UnaryOp::kErf) continue;
      kernels.emplace_back(&f, harness.Add(UnarySpec(f, DType::kFloat32, false)));
    }
    harness.Finish();
    CHECK(kernels.size() == 3);
    for (const auto& [f, kernel] : kernels) {
      for (float at : {0.01f, 0.3465736f, 0.51986f, 0.549306f, 0.625f, 0.875f, 0.8664f, 1.039721f,
                       1.2130f, 2.0f, 2.5f, 3.8f, 4.0f, 8.66f, 9.0f, 16.64f, 87.34f}) {
        std::vector<float> x = Neighbours(at);
        const int64_t n = static_cast<int64_t>(x.size());
        for (float sign : {1.0f, -1.0f}) {
          for (float& v : x) v = std::copysign(v, sign);
          const HostTensor y = harness.Run(kernel, {ToTensor(x, {n})}, {{1, n}})[0];
          size_t falls = 0;
          for (size_t i = 1; i < x.size(); ++i) {
            falls += (ValueAt<float>(y, i) - ValueAt<float>(y, i - 1)) * sign < 0;
          }
          CHECK_MESSAGE(falls == 0, f->name, " around ", sign * at);
        }
      }
    }
  }
}

struct Function2 {
  const char* name;
  BinaryOp op;
  Real (*reference)(Real, Real);
  double ulps32, ulps64;
};

const Function2 kFunctions2[] = {
    {"power", BinaryOp::kPower, std::pow, 0.51, 1.25},
    {"atan2", BinaryOp::kAtan2, std::atan2, 0.51, 2.0},
    {"fmod", BinaryOp::kMod, std::fmod, 0, 0},
};

template <typename T>
void CheckFunction2(KernelHarness& harness, const Function2& f, size_t kernel, double bound) {
  std::vector<T> special = Samples<T>(-30, 30, 3);
  special.resize(26);
  std::vector<T> x;
  std::vector<T> y;
  for (T a : special) {
    for (T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  // Near the largest number an exact product has no room.
  const T largest = std::numeric_limits<T>::max();
  for (T by : {T(127.5), T(3), largest / 3, largest / T(1.5)}) {
    x.push_back(largest);
    y.push_back(by);
  }
  std::vector<T> more_x = Samples<T>(0, 50, 11);
  std::vector<T> more_y = Samples<T>(-20, 20, 12);
  x.insert(x.end(), more_x.begin(), more_x.end());
  y.insert(y.end(), more_y.begin(), more_y.end());
  int64_t n = static_cast<int64_t>(x.size());
  HostTensor out = harness.Run(kernel, {ToTensor(x, {n}), ToTensor(y, {n})}, {{1, n}})[0];
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double error = UlpError(ValueAt<T>(out, i), f.reference(x[i], y[i]));
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  INFO(std::string(f.name), sizeof(T) * 8, " worst at ", x[where], ", ", y[where], ": ",
       ValueAt<T>(out, where));
  CHECK(worst <= bound);
}

// Exponents that are constants: those that need no logarithm, and their neighbours.
template <typename T>
void CheckConstantPowers(DType dtype) {
  constexpr double kExponents[] = {-2, -1, -0.5, 0.5, 1, 2, 3, 4, 2.5};
  KernelHarness harness;
  for (double exponent : kExponents) {
    KernelSpec spec;
    spec.name = "power";
    spec.inputs = {te::Placeholder("x", {kN}, dtype, 0)};
    spec.outputs = {te::Compute("z", {kN}, [&](const std::vector<te::Expr>& at) {
      return te::Binary(BinaryOp::kPower, te::Load(spec.inputs[0], at),
                        te::FloatImm(exponent, dtype));
    })};
    harness.Add(spec);
  }
  harness.Finish();
  const std::vector<T> x = Samples<T>(-30, 30, 5);
  const auto n = static_cast<int64_t>(x.size());
  for (size_t e = 0; e < std::size(kExponents); ++e) {
    const HostTensor out = harness.Run(e, {ToTensor(x, {n})}, {{1, n}})[0];
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = UlpError(ValueAt<T>(out, i), std::pow(Real{x[i]}, Real{kExponents[e]}));
      INFO(x[i], " to the power of ", kExponents[e], " is ", ValueAt<T>(out, i));
      REQUIRE(error <= 1.5);
    }
  }
}

TEST_CASE("powers with constant exponents") {
  CheckConstantPowers<float>(DType::kFloat32);
  CheckConstantPowers<double>(DType::kFloat64);
}

TEST_CASE("power, atan2 and remainder") {
  for (const char* cpu : {"native", "x86-64-v2"}) {
    KernelOptions options;
    options.machine = MachineNamed(cpu);
    KernelHarness harness(options);
    std::vector<std::array<size_t, 2>> kernels;
    for (const Function2& f : kFunctions2) {
      std::array<size_t, 2> pair{};
      for (int i = 0; i < 2; ++i) {
        DType dtype = i == 0 ? DType::kFloat32 : DType::kFloat64;
        KernelSpec spec;
        spec.name = f.name;
        spec.inputs = {te::Placeholder("x", {kN}, dtype, 0), te::Placeholder("y", {kN}, dtype, 1)};
        spec.outputs = {te::Compute("z", {kN}, [&](const std::vector<te::Expr>& at) {
          return te::Binary(f.op, te::Load(spec.inputs[0], at), te::Load(spec.inputs[1], at));
        })};
        pair[static_cast<size_t>(i)] = harness.Add(spec);
      }
      kernels.push_back(pair);
    }
    harness.Finish();
    for (size_t i = 0; i < kernels.size(); ++i) {
      // Without FMA the exact product of huge numbers overflows inside: those are not promised
      // there.
      CheckFunction2<float>(harness, kFunctions2[i], kernels[i][0], kFunctions2[i].ulps32);
      if (std::string(cpu) == "native" && CpuFeatures::OfThisMachine().Has("fma")) {
        CheckFunction2<double>(harness, kFunctions2[i], kernels[i][1], kFunctions2[i].ulps64);
      }
    }
  }
}

// A kernel with `count` outputs, each the function of inputs of its own.
KernelSpec ManySpec(const std::string& name, DType dtype, size_t arity, int count,
                    const std::function<te::Expr(const std::vector<te::Expr>&)>& fn) {
  KernelSpec spec;
  spec.name = name;
  for (int k = 0; k < count; ++k) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < arity; ++i) {
      inputs.push_back(te::Placeholder("x", {kN}, dtype, static_cast<int>(spec.inputs.size())));
      spec.inputs.push_back(inputs.back());
    }
    spec.outputs.push_back(te::Compute("y", {kN}, [&](const std::vector<te::Expr>& at) {
      std::vector<te::Expr> loads;
      for (const Tensor& x : inputs) loads.push_back(te::Load(x, at));
      return fn(loads);
    }));
  }
  return spec;
}

template <typename T>
void CheckMany(const std::string& name, size_t arity,
               const std::function<te::Expr(const std::vector<te::Expr>&)>& fn) {
  constexpr int kMany = 12;
  constexpr DType kDType = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  KernelHarness harness;
  harness.Add(ManySpec(name, kDType, arity, 1, fn));
  harness.Add(ManySpec(name, kDType, arity, kMany, fn));
  harness.Finish();
  std::vector<HostTensor> one, many;
  for (size_t i = 0; i < arity; ++i) {
    std::vector<T> values = Samples<T>(-4, 4, 5 + static_cast<uint32_t>(i));
    values.resize(1003);  // and a rest
    one.push_back(ToTensor(values, {static_cast<int64_t>(values.size())}));
  }
  for (int k = 0; k < kMany; ++k) many.insert(many.end(), one.begin(), one.end());
  const HostTensor want = harness.Run(0, one, {{1, one[0].shape[0]}})[0];
  for (const HostTensor& got : harness.Run(1, many, {{1, one[0].shape[0]}})) {
    CHECK_MESSAGE(std::memcmp(got.data.data(), want.data.data(), want.data.size()) == 0, name,
                  sizeof(T) * 8);
  }
}

TEST_CASE("what a kernel has many of has the bits of one") {
  for (const Function& f : kFunctions) {
    const auto fn = [&](const std::vector<te::Expr>& x) { return te::Unary(f.op, x[0]); };
    CheckMany<float>(f.name, 1, fn);
    CheckMany<double>(f.name, 1, fn);
  }
  for (const Function2& f : kFunctions2) {
    const auto fn = [&](const std::vector<te::Expr>& x) { return te::Binary(f.op, x[0], x[1]); };
    CheckMany<float>(f.name, 2, fn);
    CheckMany<double>(f.name, 2, fn);
  }
}

// As masks make many of them. Underflow costs some processors a hundred cycles for each vector.
TEST_CASE("exponentials of what is far below zero are zero, and nothing underflows") {
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    CAPTURE(DTypeName(dtype));
    KernelHarness harness;
    const size_t kernel = harness.Add(UnarySpec(kFunctions[0], dtype, false));
    harness.Finish();
    const auto check = [&](const auto& samples) {
      using T = typename std::decay_t<decltype(samples)>::value_type;
      const auto n = static_cast<int64_t>(samples.size());
      const HostTensor x = ToTensor<T>(samples, {n});
      std::feclearexcept(FE_ALL_EXCEPT);
      const HostTensor out = harness.Run(kernel, {x}, {{1, n}})[0];
      CHECK(std::fetestexcept(FE_UNDERFLOW) == 0);
      for (size_t i = 0; i < samples.size(); ++i) CHECK(ValueAt<T>(out, i) == 0);
    };
    if (dtype == DType::kFloat32) {
      check(std::vector<float>(37, -std::numeric_limits<float>::infinity()));
      check(std::vector<float>(37, -1e9F));
      check(std::vector<float>(37, -177));
    } else {
      check(std::vector<double>(37, -std::numeric_limits<double>::infinity()));
      check(std::vector<double>(37, -1419));
    }
  }
}

template <typename T>
void CheckSoftmaxExp(DType dtype, const char* cpu) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T least = static_cast<T>(te::LeastSoftmaxExp(dtype));
  KernelHarness harness({.machine = MachineNamed(cpu)});
  const size_t kernel = harness.Add(
      UnarySpec({"softmax_exp", UnaryOp::kSoftmaxExp, std::exp, 0, 0, 0, 0}, dtype, false));
  harness.Finish();
  std::vector<T> samples = {0,
                            T(-0.0),
                            least,
                            std::nextafter(least, -kInfinity),
                            -1e9F,
                            -kInfinity,
                            std::numeric_limits<T>::quiet_NaN()};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(1.3 * least, 0);
  for (int i = 0; i < 50000; ++i) samples.push_back(static_cast<T>(uniform(random)));
  const auto n = static_cast<int64_t>(samples.size());
  std::feclearexcept(FE_ALL_EXCEPT);
  const HostTensor out = harness.Run(kernel, {ToTensor<T>(samples, {n})}, {{1, n}})[0];
  CHECK(std::fetestexcept(FE_UNDERFLOW) == 0);
  double worst = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Real want = samples[i] < least ? 0 : std::exp(static_cast<Real>(samples[i]));
    const T got = ValueAt<T>(out, i);
    worst = std::max(worst, UlpError(got, want));
    CHECK((got == 0 || std::isnan(got) || std::isnormal(got)));
  }
  CHECK(worst <= 1.0);
}

// Masks of -100 give weights that float32 holds as denormal numbers alone.
TEST_CASE("a softmax's weights are exponentials, and none of them is denormal") {
  for (const char* cpu : {"native", "x86-64-v2"}) {
    CAPTURE(cpu);
    CheckSoftmaxExp<float>(DType::kFloat32, cpu);
    CheckSoftmaxExp<double>(DType::kFloat64, cpu);
  }
}

}  // namespace
}  // namespace relayvm

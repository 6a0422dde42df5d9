#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/verify.h"
#include "compiler/reference/interpreter.h"
#include "compiler/rules/own_rules.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"
#include "kernels/runtime/half.h"

namespace relayvm::rules {
namespace {

// Zeros of both signs, infinities, NaN, the ends of ranges; a second parameter starts elsewhere.
HostTensor Special(const TensorType& type, size_t shift) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> floats = {0.0,  -0.0, 1,   -1,     inf,    -inf, std::nan(""),
                                      1e-6, -2.5, 0.5, 6.0e-8, -6.5e4, 3};
  const std::vector<int64_t> integers = {0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 7};
  HostTensor t{type.dtype, {}, {}};
  for (const Dim& d : type.shape) t.shape.push_back(d.is_const() ? d.value() : 3);
  const size_t bytes = static_cast<size_t>(DTypeBytes(type.dtype));
  std::vector<std::byte> data(static_cast<size_t>(t.size()) * bytes);
  for (size_t i = 0; i < static_cast<size_t>(t.size()); ++i) {
    const double number = floats[(i + shift) % floats.size()];
    const int64_t integer = integers[(i + shift) % integers.size()];
    const auto single = static_cast<float>(number);
    const uint16_t half = FloatToHalf(single);
    const bool truth = (i + shift) % 2 == 0;
    const void* from = &integer;  // of narrow ones the low bytes
    if (type.dtype == DType::kFloat32) from = &single;
    if (type.dtype == DType::kFloat64) from = &number;
    if (type.dtype == DType::kFloat16) from = &half;
    if (type.dtype == DType::kBool) from = &truth;
    std::memcpy(data.data() + i * bytes, from, bytes);
  }
  t.data = SharedBytes(std::move(data));
  return t;
}

HostTensor Run(const ir::Module& m) {
  std::vector<reference::Value> inputs;
  for (const ir::Var* p : m.functions.at("main")->params) {
    inputs.push_back(reference::MakeTensor(Special(*p->type->As<TensorType>(), inputs.size() * 5)));
  }
  auto result = reference::Run(m, "main", inputs);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *reference::TensorOf(*result);
}

// The bits of both, but for those of NaN.
bool Same(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  const size_t bytes = static_cast<size_t>(DTypeBytes(a.dtype));
  const auto is_nan = [&](const std::byte* at) {
    float single = 0;
    double number = 0;
    uint16_t half = 0;
    if (a.dtype == DType::kFloat32) std::memcpy(&single, at, 4);
    if (a.dtype == DType::kFloat64) std::memcpy(&number, at, 8);
    if (a.dtype == DType::kFloat16) std::memcpy(&half, at, 2);
    return std::isnan(single) || std::isnan(number) || std::isnan(HalfToFloat(half));
  };
  for (size_t i = 0; i < static_cast<size_t>(a.size()) * bytes; i += bytes) {
    const std::byte *x = a.data.data() + i, *y = b.data.data() + i;
    if (std::memcmp(x, y, bytes) != 0 && !(is_nan(x) && is_nan(y))) return false;
  }
  return true;
}

TEST_CASE("each of the compiler's own rules applies and keeps every bit") {
  const std::string x = "%x: Tensor[(?, 13), float32]", y = ", %y: Tensor[(?, 13), float32]";
  const std::string d = "%x: Tensor[(4, 13), float64]", h = "%x: Tensor[(4, 13), float16]";
  const std::string i = "%x: Tensor[(?, 8), int32]", l = "%x: Tensor[(?, 8), int64]";
  const std::string s = "%x: Tensor[(3, 13), float32]", z = ", %y: Tensor[(3, 13), float32]";
  const std::string c = "%x: Tensor[(2, 13, 3), float32]", f = "%x: Tensor[(2, 3, 13, 2), float32]";
  struct Case {
    std::string rule, params, body, rest;
  };
  const std::vector<Case> cases = {
      {"times_one", x, "multiply(%x, 1f)", ""},
      {"times_one", x, "multiply(1f, %x)", ""},
      {"times_one", x, "divide(%x, 1f)", ""},
      {"times_one_f64", d, "multiply(%x, 1f64)", ""},
      {"times_one_f64", d, "multiply(1f64, %x)", ""},
      {"times_one_f64", d, "divide(%x, 1f64)", ""},
      {"times_one_f16", h, "multiply(%x, 1f16)", ""},
      {"times_one_f16", h, "multiply(1f16, %x)", ""},
      {"times_one_f16", h, "divide(%x, 1f16)", ""},
      {"minus_zero", x, "subtract(%x, 0f)", ""},
      {"", x, "subtract(%x, -0f)", "subtract"},
      {"", x, "add(%x, 0f)", "add"},
      {"minus_zero_f64", d, "subtract(%x, 0f64)", ""},
      {"minus_zero_f16", h, "subtract(%x, 0f16)", ""},
      {"nothing_i32", i, "add(%x, 0)", ""},
      {"nothing_i32", i, "add(0, %x)", ""},
      {"nothing_i32", i, "subtract(%x, 0)", ""},
      {"nothing_i32", i, "multiply(%x, 1)", ""},
      {"nothing_i32", i, "multiply(1, %x)", ""},
      {"nothing_i32", i, "floor_divide(%x, 1)", ""},
      {"nothing_i64", l, "add(%x, 0i64)", ""},
      {"nothing_i64", l, "add(0i64, %x)", ""},
      {"nothing_i64", l, "subtract(%x, 0i64)", ""},
      {"nothing_i64", l, "multiply(%x, 1i64)", ""},
      {"nothing_i64", l, "multiply(1i64, %x)", ""},
      {"nothing_i64", l, "floor_divide(%x, 1i64)", ""},
      {"negative_twice", x, "negative(negative(%x))", ""},
      {"negative_twice", i, "negative(negative(%x))", ""},
      {"", "%x: Tensor[(3), uint8]", "abs(negative(%x))", "negative abs"},
      {"plus_negative", s + z, "add(%x, negative(%y))", "subtract"},
      {"plus_negative", s + z, "add(negative(%y), %x)", "subtract"},
      {"minus_negative", s + z, "subtract(%x, negative(%y))", "add"},
      {"negative_times_negative", s + z, "multiply(negative(%x), negative(%y))", "multiply"},
      {"abs_twice", x, "abs(abs(%x))", "abs"},
      {"relu_twice", x, "nn.relu(nn.relu(%x))", "nn.relu"},
      {"floor_twice", x, "let %t = floor(%x); add(%t, floor(%t))", "floor add"},
      {"ceil_twice", x, "ceil(ceil(%x))", "ceil"},
      {"round_twice", x, "round(round(%x))", "round"},
      {"trunc_twice", x, "trunc(trunc(%x))", "trunc"},
      {"extreme_of_one", x, "maximum(%x, %x)", ""},
      {"extreme_of_one", x, "minimum(%x, %x)", ""},
      {"either", x, "where(less(%x, 0f), %x, %x)", ""},
      {"", s, "where(ones(shape=[2, 3, 13], dtype=\"bool\"), %x, %x)", "ones where"},
      {"not_equal", s + z, "logical_not(equal(%x, %y))", "not_equal"},
      {"equal", s + z, "logical_not(not_equal(%x, %y))", "equal"},
      {"same_dtype", x, "cast(%x, dtype=\"float32\")", ""},
      {"", x, "cast(%x, dtype=\"float64\")", "cast"},
      {"same_dtype", x + y, "cast_like(%x, %y)", ""},
      {"same_shape", s, "reshape(%x, newshape=[3, -1])", ""},
      {"same_shape", s + z, "reshape_like(%x, %y)", ""},
      {"same_shape", s, "broadcast_to(%x, shape=[3, 13])", ""},
      {"", s, "broadcast_to(%x, shape=[1, 3, 13])", "broadcast_to"},
      {"same_shape", s + z, "broadcast_to_like(%x, %y)", ""},
      {"same_shape", s + z, "collapse_sum_like(%x, %y)", ""},
      {"same_shape", s + z, "slice_like(%x, %y)", ""},
      {"same_shape", x, "squeeze(%x, axis=[])", ""},
      {"same_shape", x, "tile(%x, reps=[1, 1])", ""},
      {"same_shape", x, "repeat(%x, repeats=1, axis=0)", ""},
      {"flat", x, "nn.batch_flatten(%x)", ""},
      {"one_part", x, "concatenate((%x,), axis=0)", ""},
      {"reshapes", s, "reshape(reshape(%x, newshape=[39]), newshape=[13, 3])", "reshape"},
      {"transposes", f, "transpose(transpose(%x, axes=[0, 2, 3, 1]), axes=[0, 2, 3, 1])",
       "transpose"},
      {"transposes", c, "transpose(transpose(%x, axes=[-1, 0, 1]))", "transpose"},
      {"transposes_nothing", c, "transpose(%x, axes=[0, 1, -1])", ""},
      {"reversed_back", c, "reverse(reverse(%x, axis=1), axis=-2)", ""},
      {"", c, "reverse(reverse(%x, axis=1), axis=2)", "reverse reverse"},
      {"pads", s,
       "nn.pad(nn.pad(%x, 2f, pad_width=[[1, 0], [0, 2]]), 2f, pad_width=[[3, 1], [1, 0]])",
       "nn.pad"},
      {"", s, "nn.pad(nn.pad(%x, 2f, pad_width=[[1, 0], [0, 2]]), 3f, pad_width=[[3, 1], [1, 0]])",
       "nn.pad nn.pad"},
      {"", s, "nn.pad(nn.pad(%x, 2f, pad_width=[[-1, 0], [0, 2]]), 2f, pad_width=[[3, 1], [1, 0]])",
       "nn.pad nn.pad"},
      {"casts", i, "cast(cast(%x, dtype=\"int64\"), dtype=\"float32\")", "cast"},
      {"casts", i, "cast(cast(%x, dtype=\"float64\"), dtype=\"int8\")", "cast"},
      {"casts", h, "cast(cast(%x, dtype=\"float32\"), dtype=\"float64\")", "cast"},
      {"", x, "cast(cast(%x, dtype=\"float16\"), dtype=\"float32\")", "cast cast"},
      {"", i, "cast(cast(%x, dtype=\"float32\"), dtype=\"float64\")", "cast cast"},
      {"", i, "cast(cast(%x, dtype=\"uint64\"), dtype=\"float64\")", "cast cast"},
      {"clips", x, "clip(clip(%x, a_min=-1f, a_max=2f), a_min=0f, a_max=6f)", "clip"},
      {"clips", x, "clip(clip(%x, a_min=-3f, a_max=-2f), a_min=0f, a_max=6f)", "clip"},
      {"clips", i, "clip(clip(%x, a_min=-1.5f, a_max=1e12f), a_min=-9f, a_max=1e5f)", "clip"},
      {"", x, "clip(clip(%x, a_min=2f, a_max=1f), a_min=0f, a_max=6f)", "clip clip"},
  };
  const auto checked = ReadRules("simplify.relay", kSimplifyText);
  CHECK_MESSAGE(checked.ok(), checked.status().message());
  std::map<std::string, int> left;  // alternatives of a rule that no program was for
  for (const Rule& rule : SimplifyRules().rules) ++left[rule.name];
  for (const Case& one : cases) {
    CAPTURE(one.body);
    const ir::Module m =
        ir::EliminateDeadCode(ir::Typed("def @main(" + one.params + ") { " + one.body + " }"));
    Report report;
    auto simple = ApplyRules(m, SimplifyRules(), {}, &report);
    REQUIRE_MESSAGE(simple.ok(), simple.status().message());
    CHECK(report.applied == (one.rule.empty() ? std::map<std::string, size_t>()
                                              : std::map<std::string, size_t>{{one.rule, 1}}));
    CHECK(ir::Outline(*simple) == one.rest);
    for (const ir::Binding& b : simple->functions.at("main")->body->bindings) {
      CHECK(b.value->As<ir::AtomExpr>() == nullptr);  // fusion takes it for another use
    }
    CHECK(ir::VerifyModule(*simple, {.typed = true}).ok());
    CHECK(Same(Run(m), Run(*simple)));
    if (!report.applied.empty()) --left[one.rule];
  }
  for (const auto& [name, count] : left) {
    CAPTURE(name);
    CHECK(count <= 0);
  }
}

}  // namespace
}  // namespace relayvm::rules

#include "kernels/codegen/schedule_space.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

// relu(x . w + bias) of (rows, 64) and (64, columns).
struct Case {
  Dim rows = Dim::Symbol(1, "m");
  int64_t columns = 48;
  DType dtype = DType::kFloat32;
  bool with_bias = true, with_relu = true;
  const char* name = "product";
};
KernelSpec Product(const Case& c) {
  std::vector<te::Tensor> in = {Input({c.rows, 64}, 0, c.dtype),
                                Input({64, c.columns}, 1, c.dtype)};
  te::Tensor t = Apply("nn.matmul", {}, in, {c.rows, c.columns}, c.dtype);
  if (c.with_bias) {
    in.push_back(Input({c.columns}, 2, c.dtype));
    t = AddBias(t, in[2], 1);
  }
  return Spec(c.name, in, {c.with_relu ? Relu(t) : t});
}

KernelSpec Convolution(int64_t channels, int64_t groups, int64_t stride) {
  Attrs attrs;
  attrs.Set("channels", channels);
  attrs.Set("groups", groups);
  attrs.Set("kernel_size", AttrList{3, 3});
  attrs.Set("strides", AttrList{stride, stride});
  attrs.Set("padding", AttrList{1, 1, 1, 1});
  const std::vector<te::Tensor> in = {Input({1, 32, 56, 56}, 0),
                                      Input({channels, 32 / groups, 3, 3}, 1)};
  const int64_t extent = 56 / stride;
  return Spec("convolution", in,
              {Apply("nn.conv2d", attrs, in, {1, channels, extent, extent}, DType::kFloat32)});
}

TEST_CASE("a key tells apart what computes something else, and nothing else") {
  const KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  const std::string key = ScheduleKey(Product({}), options);
  CHECK(key.size() == 32);
  CHECK(ScheduleKey(Product({.rows = Dim::Symbol(77, "batch")}), options) == key);
  CHECK(ScheduleKey(Product({.name = "other"}), options) == key);
  std::set<std::string> keys = {key};
  for (const Case& c :
       {Case{.rows = 17}, Case{.rows = 18}, Case{.rows = Dim::Symbol(1, "m") * 2},
        Case{.columns = 49}, Case{.dtype = DType::kFloat64}, Case{.with_bias = false},
        Case{.with_relu = false}, Case{.with_bias = false, .with_relu = false}}) {
    CHECK(keys.insert(ScheduleKey(Product(c), options)).second);
  }
  for (const auto& [channels, groups, stride] :
       {std::array<int64_t, 3>{32, 1, 1}, {32, 1, 2}, {64, 1, 1}, {32, 32, 1}}) {
    const KernelSpec spec = Convolution(channels, groups, stride);
    CHECK(keys.insert(ScheduleKey(spec, options)).second);
    KernelOptions fast = options;  // perhaps by Winograd's transforms
    fast.exact = !fast.exact;
    CHECK(keys.insert(ScheduleKey(spec, fast)).second);
  }
}

TEST_CASE("every schedule of the space is legal, and they are tens") {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const KernelOptions options{.machine = MachineNamed(cpu)};
    for (const KernelSpec& spec : {Product({}), Product({.rows = 17}), Product({.columns = 3}),
                                   Product({.dtype = DType::kFloat64}), Convolution(64, 1, 2)}) {
      CAPTURE(cpu);
      const std::vector<TileSchedule> space = ScheduleSpace(spec, options);
      CHECK(space.size() >= 8);
      CHECK(space.size() < 100);
      for (size_t i = 0; i < space.size(); ++i) {
        CAPTURE(ToString(space[i]));
        CHECK(space[i] != TileSchedule());
        CHECK(std::find(space.begin(), space.begin() + static_cast<ptrdiff_t>(i), space[i]) ==
              space.begin() + static_cast<ptrdiff_t>(i));
        KernelOptions asked = options;
        asked.schedule_for = [&](const KernelSpec&) { return space[i]; };
        KernelCompiler compiler(asked);
        auto added = compiler.Add(spec);
        CHECK_MESSAGE(added.ok(), added.status().ToString());
      }
    }
  }
}

TEST_CASE("what has one way to be computed has no space") {
  const KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  CHECK(ScheduleSpace(Convolution(32, 32, 1), options).empty());
  const te::Tensor x = Input({Dim::Symbol(1, "m"), 8}, 0);
  const KernelSpec relu = Spec("relu", {x}, {Relu(x)});
  CHECK(ScheduleSpace(relu, options).empty());
  CHECK(WhyNoSchedule(relu, options, {4, 8, 0}) == "it is no product or convolution");
  CHECK(WhyNoSchedule(relu, options, {}).empty());
  CHECK(WhyNoSchedule(Convolution(32, 32, 1), options, {4, 8, 0}) ==
        "its outputs are summed one by one");
  // Packed rows that somebody asks for have a bound.
  KernelSpec deep = Product({});
  const std::vector<te::Tensor> in = {Input({Dim::Symbol(1, "m"), 1 << 20}, 0),
                                      Input({1 << 20, 48}, 1)};
  deep = Spec("deep", in, {Apply("nn.matmul", {}, in, {Dim::Symbol(1, "m"), 48}, DType::kFloat32)});
  CHECK(WhyNoSchedule(deep, options, {0, 0, 4096}).find("packed rows") != std::string::npos);
}

TEST_CASE("a schedule by name goes before one that is asked for") {
  KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  options.schedules["named"] = {2, 8, 0};
  int asked = 0;
  options.schedule_for = [&](const KernelSpec&) {
    ++asked;
    return TileSchedule{4, 8, 0};
  };
  KernelCompiler compiler(options);
  REQUIRE(compiler.Add(Product({.name = "named"})).ok());
  CHECK(asked == 0);
  // Schedules are part of what makes two kernels the same.
  auto other = compiler.Add(Product({.name = "other"}));
  REQUIRE(other.ok());
  CHECK(other->id == 1);
  CHECK(asked == 1);
}

TEST_CASE("the cost model: full tiles are near the least, thin ones are not") {
  const KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  auto estimate = [&](const TileSchedule& schedule, int64_t rows) {
    auto e = EstimateKernel(Product({}), options, schedule, [&](uint32_t id) {
      return id == 1 ? std::optional(rows) : std::nullopt;
    });
    REQUIRE(e.has_value());
    CHECK(e->least > 0);
    CHECK(e->cycles >= e->least);
    return *e;
  };
  CHECK(estimate({}, 600).share() > 0.5);
  CHECK(estimate({1, 8, 0}, 600).share() < 0.4);
  // 7 rows as 6 and 1, or 4 and 3.
  CHECK(estimate({4, 16, 0}, 8).cycles < estimate({6, 16, 0}, 8).cycles * 1.1);
  CHECK(estimate({}, 600).cycles > 50 * estimate({}, 6).cycles);
  auto none = EstimateKernel(Product({}), options, {}, [](uint32_t) { return std::nullopt; });
  CHECK(!none.has_value());
  auto negative = EstimateKernel(Product({}), options, {}, [](uint32_t) { return -3; });
  CHECK(!negative.has_value());
  auto direct = EstimateKernel(Convolution(32, 32, 1), options, {}, [](uint32_t) { return 1; });
  REQUIRE(direct.has_value());
  CHECK(direct->cycles > direct->least);
}

}  // namespace
}  // namespace relayvm

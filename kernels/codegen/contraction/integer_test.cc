// Products of uint8 and int8 in words of four against the evaluator's plain loops, bit for bit,
// over the whole range of both, on every target that this machine runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/codegen/contraction/amx_emulator.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/contraction/harness.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/op/step_order.h"

namespace relayvm {
namespace {

using te::Tensor;

const Dim kRows = Dim::Symbol(1, "m");

// Bytes of the whole range; of two in five, those furthest from 0 alone, which overflow 16 bits; of
// two more, weights whose neighbours sum up to -128 to 128, but a few that have 1 more
// (sorted_quads.h).
HostTensor Bytes(DType dtype, std::vector<int64_t> shape, uint32_t seed) {
  HostTensor t = MakeTensor(dtype, std::move(shape));
  std::mt19937 random(seed);
  auto* bytes = reinterpret_cast<uint8_t*>(t.data.Mutable().data());
  const bool extreme = seed % 5 < 2;
  const uint8_t furthest = dtype == DType::kUInt8 ? 0xff : 0x80;
  for (size_t i = 0; i < t.data.size(); ++i) {
    bytes[i] = extreme ? furthest : static_cast<uint8_t>(random());
  }
  const uint32_t more_in = seed % 5 == 2 ? 64 : 1000000;
  if (dtype == DType::kUInt8 || seed % 5 < 2 || seed % 5 > 3) return t;
  for (size_t i = 0; i < t.data.size(); ++i) {
    const int size = random() % 2 == 0 ? 64 : static_cast<int>(random() % 65);
    const int more = random() % more_in == 0 ? 1 : 0;
    bytes[i] = static_cast<uint8_t>(random() % 4 == 0 ? -size - more : size + more);
  }
  return t;
}

// Whether input 2 is the order of the steps of input 1 (step_order.h).
bool IsOrdered(const KernelSpec& spec) { return spec.name.starts_with("ordered"); }

class Cases {
 public:
  explicit Cases(std::string cpu)
      : cpu_(std::move(cpu)),
        harness_({.machine = MachineNamed(cpu_), .opt_level = cpu_ == "native" ? 1 : 0}) {}

  // `depth`: of a packed weight, whose padding along K is 0.
  void Add(const KernelSpec& spec, std::vector<SymbolValues> values = {{}}, int64_t depth = -1) {
    const auto plan = codegen::PlanContraction(spec, {MachineNamed(cpu_)});
    REQUIRE_MESSAGE(plan.has_value(), spec.name);
    CHECK_MESSAGE(plan->detail->panel_form == codegen::PanelForm::kQuads, spec.name);
    cases_.push_back({harness_.Add(spec), spec, std::move(values), depth});
  }

  void Check() {
    harness_.Finish();
    uint32_t seed = 0;
    for (const Case& c : cases_) {
      for (const SymbolValues& values : c.values) {
        std::string at;
        for (const auto& [id, value] : values) at += fmt::format(" {}", value);
        INFO(cpu_, " ", c.spec.name, at);
        CheckOne(c, values, seed += 2);
      }
    }
  }

 private:
  struct Case {
    size_t kernel;
    KernelSpec spec;
    std::vector<SymbolValues> values;
    int64_t depth;
  };

  void CheckOne(const Case& c, const SymbolValues& values, uint32_t seed) {
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < c.spec.inputs.size(); ++i) {
      const Tensor& t = c.spec.inputs[i];
      const auto shape = ShapeOf(t, values);
      const auto of_input = seed + static_cast<uint32_t>(i);
      inputs.push_back(DTypeBytes(t->dtype) == 1 ? Bytes(t->dtype, shape, of_input)
                                                 : RandomTensor(t->dtype, shape, of_input));
    }
    if (c.depth >= 0) {
      HostTensor& weight = inputs[1];
      const int64_t words = weight.shape[1], row = weight.shape[2] * 4;
      for (int64_t i = 0; i < weight.size(); ++i) {
        const int64_t k = i / row % words * 4 + i % 4;
        if (k >= c.depth) weight.data.Mutable().data()[i] = std::byte{0};
      }
    }
    if (IsOrdered(c.spec)) inputs[2] = StepOrder(inputs[1]);
    std::vector<const HostTensor*> pointers;
    for (const HostTensor& t : inputs) pointers.push_back(&t);
    const auto want = te::Evaluate(c.spec.outputs[0], pointers, SymbolsOf(values));
    REQUIRE_MESSAGE(want.ok(), want.status().ToString());
    for (uint32_t piece : {0, 1}) {
      const std::vector<HostTensor> got = harness_.Run(c.kernel, inputs, values, piece);
      KernelHarness::CheckNear(got[0], *want, 0);
    }
  }

  std::string cpu_;
  KernelHarness harness_;
  std::vector<Case> cases_;
};

Attrs InInt32(std::initializer_list<std::pair<const char*, AttrValue>> more = {}) {
  Attrs attrs;
  attrs.Set("out_dtype", "int32");
  for (const auto& [name, value] : more) attrs.Set(name, value);
  return attrs;
}

// As float32 kernels of QLinearConv end: scaled, rounded to even, within uint8.
Tensor Requantised(const Tensor& sum) {
  return Map(sum, [](const te::Expr& x, const auto&) {
    const te::Expr steps =
        te::Unary(te::UnaryOp::kRoundEven,
                  te::Cast(x, DType::kFloat32) * te::FloatImm(0.00123, DType::kFloat32)) +
        te::FloatImm(7, DType::kFloat32);
    return te::Cast(
        te::Binary(te::BinaryOp::kMin,
                   te::Binary(te::BinaryOp::kMax, steps, te::FloatImm(0, DType::kFloat32)),
                   te::FloatImm(255, DType::kFloat32)),
        DType::kUInt8);
  });
}

std::vector<SymbolValues> SomeRows(const std::string& cpu) {
  // Where AMX begins, a tile, two, more.
  if (cpu == "sapphirerapids") return {{{1, 0}}, {{1, 8}}, {{1, 9}}, {{1, 17}}, {{1, 33}}};
  return {{{1, 0}}, {{1, 1}}, {{1, 5}}, {{1, 12}}, {{1, 29}}};
}

TEST_CASE("dense products of bytes whose weights are made when they run") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    Cases cases(cpu);
    for (bool transposed : {true, false}) {
      for (int64_t k : {0, 1, 3, 4, 65, 130, 2051}) {
        for (int64_t n : {1, 7, 33}) {
          if ((k > 200) != (n == 7)) continue;
          const Tensor data = Input({kRows, k}, 0, DType::kUInt8);
          const std::vector<Dim> shape =
              transposed ? std::vector<Dim>{n, k} : std::vector<Dim>{k, n};
          const Tensor weight = Input(shape, 1, DType::kInt8);
          const Tensor product = Apply("nn.matmul", InInt32({{"transpose_b", transposed}}),
                                       {data, weight}, {kRows, n}, DType::kInt32);
          cases.Add(Spec(fmt::format("matmul_{}_{}_{}", transposed, k, n), {data, weight},
                         {n == 33 ? Requantised(product) : product}),
                    SomeRows(cpu));
        }
      }
    }
    // Symbolic in K and in the columns.
    const Dim k = Dim::Symbol(2, "k"), n = Dim::Symbol(3, "n");
    const Tensor data = Input({kRows, k}, 0, DType::kUInt8);
    const Tensor weight = Input({n, k}, 1, DType::kInt8);
    cases.Add(Spec("symbolic", {data, weight},
                   {Apply("nn.dense", InInt32(), {data, weight}, {kRows, n}, DType::kInt32)}),
              {{{1, 3}, {2, 0}, {3, 5}}, {{1, 13}, {2, 77}, {3, 40}}, {{1, 0}, {2, 9}, {3, 0}}});
    cases.Check();
  }
}

TEST_CASE("sums of bytes wrap as int32 does") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    Cases cases(cpu);
    const int64_t k = (1 << 16) + 3;                       // of 255 * -128: beyond 2^31
    const int64_t rows = cpu == "sapphirerapids" ? 9 : 2;  // enough for AMX
    const Tensor data = Input({rows, k}, 0, DType::kUInt8);
    const Tensor weight = Input({cpu == "sapphirerapids" ? 9 : 3, k}, 1, DType::kInt8);
    const KernelSpec spec = Spec(
        "long", {data, weight},
        {Apply("nn.dense", InInt32(), {data, weight}, {rows, weight->shape[0]}, DType::kInt32)});
    for (int i = 0; i < 5; ++i) cases.Add(spec);
    cases.Check();
  }
}

TEST_CASE("batches of products of bytes") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    Cases cases(cpu);
    for (bool transposed : {true, false}) {
      for (int64_t shared : {0, 1, 2}) {  // which side has one batch for all
        const Dim k = Dim::Symbol(2, "k");
        const int64_t n = 21;
        const Dim of_b = shared == 2 ? 1 : 3;
        const Tensor a = Input({shared == 1 ? 1 : 3, kRows, k}, 0, DType::kUInt8);
        const Tensor b =
            Input(transposed ? std::vector<Dim>{of_b, n, k} : std::vector<Dim>{of_b, k, n}, 1,
                  DType::kInt8);
        const Tensor product = Apply("nn.batch_matmul", InInt32({{"transpose_b", transposed}}),
                                     {a, b}, {3, kRows, n}, DType::kInt32);
        cases.Add(Spec(fmt::format("batch_{}_{}", transposed, shared), {a, b}, {product}),
                  {{{1, 1}, {2, 64}}, {{1, 14}, {2, 37}}, {{1, 4}, {2, 0}}});
      }
    }
    cases.Check();
  }
}

TEST_CASE("steps of constant weights are sorted where bytes are multiplied in pairs") {
  for (const std::string& cpu : Targets()) {
    const Machine machine = MachineNamed(cpu);
    const bool has_pairs = machine.vector_bytes == 32 && machine.dots.quads == nullptr;
    const int64_t width = codegen::PreferredPanelWidth(machine);
    for (const bool packed : {true, false}) {
      const Tensor data = Input({29, 64}, 0, DType::kUInt8);
      const Tensor weight =
          Input(packed ? std::vector<Dim>{1, 16, width, 4} : std::vector<Dim>{width, 64}, 1,
                DType::kInt8);
      const Tensor product =
          packed ? Apply("nn.contrib_dense_pack",
                         InInt32({{"units", width}, {"in_units", int64_t{64}}}), {data, weight},
                         {29, width}, DType::kInt32)
                 : Apply("nn.dense", InInt32(), {data, weight}, {29, width}, DType::kInt32);
      const auto plan =
          codegen::PlanContraction(Spec("dense", {data, weight}, {product}), {MachineNamed(cpu)});
      REQUIRE(plan.has_value());
      CHECK(plan->detail->sorts_steps == (packed && has_pairs));
    }
  }
}

TEST_CASE("dense products of bytes with packed weights, and data that is made on the way") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    Cases cases(cpu);
    const int64_t width = codegen::PreferredPanelWidth(MachineNamed(cpu));
    for (int64_t k : {0, 3, 4, 66, 2055}) {
      for (int64_t n : {1, 9, 64, 75}) {
        if (k > 66 && (n < 64 || (n == 64 && cpu == "sapphirerapids"))) continue;
        const Tensor weight =
            Input({(n + width - 1) / width, (k + 3) / 4, width, 4}, 1, DType::kInt8);
        const Tensor data = Input({kRows, k}, 0, n == 9 ? DType::kFloat32 : DType::kUInt8);
        const Tensor bytes = n == 9 ? Map(data,
                                          [](const te::Expr& x, const auto&) {
                                            return te::Cast(te::Unary(te::UnaryOp::kAbs, x) *
                                                                te::FloatImm(60, DType::kFloat32),
                                                            DType::kUInt8);
                                          })
                                    : data;
        const Tensor product =
            Apply("nn.contrib_dense_pack", InInt32({{"units", n}, {"in_units", k}}),
                  {bytes, weight}, {kRows, n}, DType::kInt32);
        cases.Add(Spec(fmt::format("packed_{}_{}", k, n), {data, weight},
                       {n == 64 ? Requantised(product) : product}),
                  SomeRows(cpu), k);
      }
    }
    cases.Check();
  }
}

TEST_CASE("products of bytes with constant weights go by the order of their steps") {
  for (const std::string& cpu : Targets()) {
    Cases cases(cpu);
    const bool orders = codegen::OrdersSteps(MachineNamed(cpu));
    for (int64_t k : {0, 3, 4, 66, 260, 2055}) {
      for (int64_t n : {1, 8, 75}) {
        const int64_t panels = (n + kOrderedColumns - 1) / kOrderedColumns, words = (k + 3) / 4;
        const Tensor data = Input({kRows, k}, 0, DType::kUInt8);
        const Tensor weight = Input({panels, words, kOrderedColumns, 4}, 1, DType::kInt8);
        const Tensor order = Input({panels, kOrderHead + words}, 2, DType::kInt32);
        const Tensor product =
            Apply("nn.contrib_dense_ordered", InInt32({{"units", n}, {"in_units", k}}),
                  {data, weight, order}, {kRows, n}, DType::kInt32);
        const KernelSpec spec = Spec(fmt::format("ordered_{}_{}", k, n), {data, weight, order},
                                     {n == 8 ? Requantised(product) : product});
        const auto plan = codegen::PlanContraction(spec, {MachineNamed(cpu)});
        REQUIRE(plan.has_value());
        CHECK((plan->detail->step_order != nullptr) == orders);
        // Each of these has weights of another kind.
        for (int i = 0; i < 5; ++i) cases.Add(spec, SomeRows(cpu), k);
      }
    }
    cases.Check();
  }
}

TEST_CASE("an order that is none reads no step that is none") {
  KernelHarness harness({.machine = MachineNamed("x86-64-v3")});
  if (!Runs("x86-64-v3")) return;
  const int64_t steps = 7;
  const Tensor data = Input({13, steps * 4}, 0, DType::kUInt8);
  const Tensor weight = Input({1, steps, kOrderedColumns, 4}, 1, DType::kInt8);
  const Tensor order = Input({1, kOrderHead + steps}, 2, DType::kInt32);
  const Tensor product = Apply("nn.contrib_dense_ordered",
                               InInt32({{"units", kOrderedColumns}, {"in_units", steps * 4}}),
                               {data, weight, order}, {13, kOrderedColumns}, DType::kInt32);
  const size_t kernel = harness.Add(Spec("ordered", {data, weight, order}, {product}));
  harness.Finish();
  const HostTensor x = RandomTensor(DType::kUInt8, {13, steps * 4}, 1);
  HostTensor w = MakeTensor(DType::kInt8, {1, steps, kOrderedColumns, 4});
  std::ranges::fill(w.data.Mutable(), std::byte{3});
  HostTensor wrong = MakeTensor(DType::kInt32, {1, kOrderHead + steps});
  std::ranges::fill(wrong.data.Mutable(), std::byte{0xff});
  auto* begins = reinterpret_cast<int32_t*>(wrong.data.Mutable().data()) + kOrderBegins;
  std::fill_n(begins, kOrderedColumns, 0);
  const HostTensor got = harness.Run(kernel, {x, w, wrong}, {})[0];
  // All are the last one: three pairs and a step that is alone.
  const auto* bytes = reinterpret_cast<const uint8_t*>(x.data.data());
  for (int64_t row = 0; row < 13; ++row) {
    int sum = 0;
    for (int64_t i = 1; i <= 4; ++i) sum += bytes[(row + 1) * steps * 4 - i];
    for (int64_t column = 0; column < kOrderedColumns; ++column) {
      const int32_t is = reinterpret_cast<const int32_t*>(got.data.data())[row * 8 + column];
      CHECK(is == sum * 3 * steps);
    }
  }
}

struct Conv {
  std::vector<int64_t> input, kernel;
  int64_t in_channels, out_channels;
  int64_t stride = 1, padding = 0, dilation = 1, groups = 1, batch = 1;
  bool packs_rows = false, channels_last = false, symbolic = false;
  bool is_ordered = false;  // channels last
};

AttrList Repeat(int64_t value, size_t n) { return AttrList(n, AttrValue(value)); }

void AddTo(Cases& cases, const Conv& c) {
  const size_t spatial = c.input.size();
  const std::string letters = std::string("DHW").substr(3 - spatial);
  SymbolValues symbols;
  auto extent = [&](uint32_t id, int64_t value) -> Dim {
    if (!c.symbolic) return value;
    symbols[id] = value;
    return Dim::Symbol(id, "s" + std::to_string(id));
  };
  std::vector<Dim> data_shape = {extent(1, c.batch)}, out_shape = data_shape;
  for (size_t s = 0; s < spatial; ++s) {
    data_shape.push_back(extent(static_cast<uint32_t>(2 + s), c.input[s]));
    const int64_t window = (c.kernel[s] - 1) * c.dilation + 1;
    out_shape.push_back(Dim::FloorDiv(data_shape.back() + (2 * c.padding - window), c.stride) + 1);
  }
  const auto channel_at = static_cast<ptrdiff_t>(c.channels_last ? spatial + 1 : 1);
  data_shape.insert(data_shape.begin() + channel_at, c.in_channels);
  out_shape.insert(out_shape.begin() + channel_at, c.out_channels);
  std::vector<Dim> kernel(c.kernel.begin(), c.kernel.end());
  const int64_t words = c.in_channels / c.groups / 4;
  std::string layout;
  if (c.is_ordered) {
    layout = "O" + letters + "I8o4i";
    kernel.insert(kernel.begin(), c.out_channels / kOrderedColumns);
    kernel.insert(kernel.end(), {words, kOrderedColumns, 4});
  } else if (c.channels_last) {
    layout = letters + "IO4i";
    kernel.insert(kernel.end(), {words, c.out_channels, 4});
  } else {
    layout = "OI" + letters + (c.packs_rows ? "8o4i" : "4i");
    kernel.insert(kernel.begin(), {c.out_channels / (c.packs_rows ? 8 : 1), words});
    if (c.packs_rows) kernel.emplace_back(8);
    kernel.emplace_back(4);
  }
  const Tensor data = Input(data_shape, 0, DType::kUInt8);
  const Tensor weight = Input(kernel, 1, DType::kInt8);
  const Tensor bias = Input({c.out_channels}, c.is_ordered ? 3 : 2, DType::kInt32);
  int64_t steps = words;
  for (const int64_t taps : c.kernel) steps *= taps;
  const Tensor order =
      Input({c.out_channels / kOrderedColumns, kOrderHead + steps}, 2, DType::kInt32);
  std::vector<Tensor> inputs = {data, weight};
  if (c.is_ordered) inputs.push_back(order);
  const Attrs attrs =
      InInt32({{"strides", Repeat(c.stride, spatial)},
               {"padding", Repeat(c.padding, spatial)},
               {"dilation", Repeat(c.dilation, spatial)},
               {"groups", c.groups},
               {"data_layout", c.channels_last ? "N" + letters + "C" : "NC" + letters},
               {"kernel_layout", layout}});
  const Tensor sum =
      Apply(c.is_ordered ? "nn.contrib_conv2d_ordered" : fmt::format("nn.conv{}d", spatial), attrs,
            inputs, out_shape, DType::kInt32);
  inputs.push_back(bias);
  cases.Add(Spec(fmt::format("{}conv{}d_{}x{}_{}_{}", c.is_ordered ? "ordered_" : "", spatial,
                             c.in_channels, c.out_channels, layout, c.symbolic),
                 inputs, {Requantised(AddBias(sum, bias, static_cast<size_t>(channel_at)))}),
            {symbols});
}

TEST_CASE("convolutions of bytes, channels first and last") {
  const amx::Emulator emulator;
  for (const std::string& cpu : TargetsWithAmx()) {
    Cases cases(cpu);
    std::vector<Conv> convs = {
        {{9, 35}, {3, 3}, 8, 8, 1, 1},
        {{9, 35}, {3, 3}, 8, 16, 2, 1},
        {{7, 7}, {1, 1}, 16, 24},
        {{14, 14}, {3, 3}, 64, 8, 1, 1},
        {{30, 33}, {7, 7}, 4, 8, 2, 3},
        {{17, 20}, {3, 3}, 4, 16, 3, 2},
        {{12, 40}, {3, 2}, 8, 8, 1, 0, 2},
        {{8, 8}, {1, 1}, 8, 16, 2},
        {{6, 9}, {3, 3}, 16, 32, 1, 1, 1, 2},
        {{5, 6}, {3, 3}, 300, 8, 1, 1},
        {{50}, {5}, 12, 8, 1, 2},
        {{4, 5, 9}, {2, 3, 3}, 4, 8, 1, 1},
        {{7, 7}, {3, 3}, 8, 8, 1, 1, 1, 1, 3},
    };
    for (Conv c : convs) {
      for (bool symbolic : {false, true}) {
        if (symbolic && cpu == "x86-64-v4") continue;  // as "native"
        c.symbolic = symbolic;
        c.packs_rows = false;
        c.channels_last = true;
        AddTo(cases, c);
        if (cpu == "sapphirerapids") continue;  // channels first, without AMX
        c.is_ordered =
            codegen::OrdersSteps(MachineNamed(cpu)) && c.kernel.size() == 2 && c.groups == 1;
        if (c.is_ordered) AddTo(cases, c);
        c.is_ordered = false;
        c.channels_last = false;
        AddTo(cases, c);
        c.packs_rows = true;
        if (codegen::PreferredKernelRows(MachineNamed(cpu)) == 8 &&
            c.out_channels / c.groups % 8 == 0) {
          AddTo(cases, c);
        }
      }
    }
    // Numbers of rows that are no whole tiles.
    for (int64_t outs : {5, 13}) AddTo(cases, {{6, 21}, {3, 3}, 8, outs, 1, 1});
    cases.Check();
  }
}

// Ties, numbers around the limits and far beyond them, infinities, NaN and -0.
HostTensor HardFloats(int64_t size) {
  HostTensor t = MakeTensor(DType::kFloat32, {size});
  auto* out = reinterpret_cast<float*>(t.data.Mutable().data());
  const float inf = std::numeric_limits<float>::infinity();
  const float hard[] = {-0.0F,  0.5F,    1.5F,   2.5F,  -0.5F,  -1.5F,  254.5F,  255.5F,    -127.5F,
                        -128.5, -129.5F, 126.5F, 300.F, -300.F, 0x1p31, -0x1p31, 0x1.8p31F, -0x1p40,
                        inf,    -inf,    NAN,    0.49F, 127.0F, 3e9F,   -3e9F,   65535.5F};
  for (int64_t i = 0; i < size; ++i) out[i] = hard[static_cast<size_t>(i) % std::size(hard)];
  return t;
}

TEST_CASE("float32 to integers, and through bytes back, is the evaluator's on every target") {
  const auto real = [](double v) { return te::FloatImm(v, DType::kFloat32); };
  const auto clip = [&](const te::Expr& x, double low, double high) {
    return te::Binary(te::BinaryOp::kMax, te::Binary(te::BinaryOp::kMin, x, real(high)), real(low));
  };
  const auto round = [](const te::Expr& x) { return te::Unary(te::UnaryOp::kRoundEven, x); };
  for (const std::string& cpu : Targets()) {
    KernelHarness harness({.machine = MachineNamed(cpu), .opt_level = 2});
    const int64_t size = 26 * 17 + 5;
    const Tensor x = Input({size}, 0);
    std::vector<Tensor> results;
    for (DType t : {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16, DType::kInt32}) {
      results.push_back(Map(x, [&](const te::Expr& e, const auto&) { return te::Cast(e, t); }));
    }
    for (DType t : {DType::kInt8, DType::kUInt8}) {
      const double low = t == DType::kInt8 ? -128 : 0;
      for (double zero : {0.0, 3.0}) {
        const auto bytes = [&](const te::Expr& e) {
          const te::Expr steps = zero == 0 ? round(e) : round(e) + real(zero);
          return te::Cast(clip(steps, low, low + 255), t);
        };
        results.push_back(Map(x, [&](const te::Expr& e, const auto&) { return bytes(e); }));
        results.push_back(Map(x, [&](const te::Expr& e, const auto&) {
          return te::Cast(te::Cast(bytes(e), DType::kInt32), DType::kFloat32);
        }));
      }
      // Limits within the range, and what is not rounded before.
      results.push_back(Map(x, [&](const te::Expr& e, const auto&) {
        return te::Cast(te::Cast(clip(e, low, 100), t), DType::kFloat32);
      }));
      // Limits beyond it.
      results.push_back(Map(x, [&](const te::Expr& e, const auto&) {
        return te::Cast(te::Cast(clip(e, -1000, 1000), t), DType::kFloat32);
      }));
    }
    std::vector<size_t> kernels;
    for (size_t i = 0; i < results.size(); ++i) {
      kernels.push_back(harness.Add(Spec(fmt::format("cast_{}", i), {x}, {results[i]})));
    }
    harness.Finish();
    const HostTensor input = HardFloats(size);
    const std::vector<const HostTensor*> inputs = {&input};
    for (size_t i = 0; i < results.size(); ++i) {
      INFO(cpu, " result ", i);
      const auto want = te::Evaluate(results[i], inputs, SymbolsOf({}));
      REQUIRE(want.ok());
      const HostTensor got = harness.Run(kernels[i], {input}, {})[0];
      // Bit for bit: -0 is not 0.
      CHECK(std::equal(got.data.begin(), got.data.end(), want->data.begin(), want->data.end()));
    }
  }
}

TEST_CASE("an image asks for the feature of byte products only where its kernels use it") {
  const Machine native = Machine::Native();
  const Tensor data = Input({4, 64}, 0, DType::kUInt8);
  const Tensor weight = Input({32, 64}, 1, DType::kInt8);
  const Tensor product = Apply("nn.dense", InInt32(), {data, weight}, {4, 32}, DType::kInt32);
  for (const std::string& cpu : Targets()) {
    KernelHarness harness({.machine = MachineNamed(cpu)});
    harness.Add(Spec("dense", {data, weight}, {product}));
    harness.Finish();
    const bool asks = harness.image().cpu_features.find("vnni") != std::string::npos;
    CHECK(asks == (cpu == "native" && native.dots.quads != nullptr));
  }
}

}  // namespace
}  // namespace relayvm

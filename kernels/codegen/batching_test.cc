// Kernels of many calls against the kernel of one call, bit for bit: dense layers of each form of
// weights, few rows, with what is computed before and after the product.
#include "kernels/codegen/batching.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/codegen/contraction/harness.h"
#include "kernels/te/batch.h"

namespace relayvm {
namespace {

using te::Tensor;

const Dim kCalls = Dim::Symbol(77, "calls");

struct Size {
  int64_t rows, depth, units;
};

// What is made of the product x (rows, depth) by w, w's inputs at 1.
using MakeSpec = KernelSpec (*)(const Size& size);

Tensor Dense(const Size& s, const Tensor& x, const Tensor& w) {
  Attrs attrs;
  attrs.Set("units", s.units);
  return Apply("nn.dense", attrs, {x, w}, {s.rows, s.units}, DType::kFloat32);
}
Tensor DensePack(const Size& s, const Tensor& x, const std::vector<Tensor>& w) {
  Attrs attrs;
  attrs.Set("units", s.units);
  attrs.Set("in_units", s.depth);
  std::vector<Tensor> inputs = {x};
  inputs.insert(inputs.end(), w.begin(), w.end());
  return Apply("nn.contrib_dense_pack", attrs, inputs, {s.rows, s.units}, DType::kFloat32);
}
Tensor Sigmoid(const Tensor& t) {
  return Map(t, [](const te::Expr& x, const auto&) { return te::Unary(te::UnaryOp::kSigmoid, x); });
}

KernelSpec Plain(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0), w = Input({s.units, s.depth}, 1);
  return Spec("plain", {x, w}, {Dense(s, x, w)});
}
// Two results: with a bias and a residual, and the sigmoid of that.
KernelSpec WithEpilogue(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0), w = Input({s.units, s.depth}, 1);
  const Tensor bias = Input({s.units}, 2), residual = Input({s.rows, s.units}, 3);
  const Tensor sum = AddTensor(AddBias(Dense(s, x, w), bias, 1), residual);
  return Spec("epilogue", {x, w, bias, residual}, {sum, Sigmoid(sum)});
}
KernelSpec WithPrologue(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0), w = Input({s.units, s.depth}, 1);
  return Spec("prologue", {x, w}, {Relu(Dense(s, Relu(x), w))});
}
KernelSpec Packed(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0);
  const Tensor w = Input({(s.units + 31) / 32, s.depth, 32}, 1), bias = Input({s.units}, 2);
  return Spec("packed", {x, w, bias}, {Sigmoid(AddBias(DensePack(s, x, {w}), bias, 1))});
}
KernelSpec PackedPrologue(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0);
  const Tensor w = Input({(s.units + 7) / 8, s.depth, 8}, 1);
  return Spec("packed_prologue", {x, w}, {DensePack(s, Relu(x), {w})});
}
KernelSpec PackedPairs(const Size& s) {
  const Tensor x = Input({s.rows, s.depth}, 0);
  const Tensor w = Input({(s.units + 31) / 32, (s.depth + 1) / 2, 32, 2}, 1, DType::kBFloat16);
  return Spec("pairs", {x, w}, {DensePack(s, x, {w})});
}

HostTensor RandomInput(const KernelSpec& spec, size_t i, uint32_t seed) {
  const Tensor& t = spec.inputs[i];
  return RandomTensor(t->dtype, ShapeOf(t, {}), seed + static_cast<uint32_t>(i) + 1);
}
std::vector<HostTensor> RandomInputs(const KernelSpec& spec, uint32_t seed) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < spec.inputs.size(); ++i) inputs.push_back(RandomInput(spec, i, seed));
  return inputs;
}

// Kernels of one call with their batched forms, compiled together and compared.
class Pairs {
 public:
  explicit Pairs(const KernelOptions& options) : harness_(options), asked_(options) {}

  void Add(KernelSpec spec) {
    auto batched = asked_.Batched(spec, kCalls);
    REQUIRE_MESSAGE(batched != nullptr, spec.name);
    spec.order = batched->order_of_one;
    const size_t one = harness_.Add(spec), many = harness_.Add(batched->spec);
    pairs_.push_back({std::move(spec), std::move(batched), one, many});
  }
  void Check(const std::vector<int64_t>& numbers_of_calls) {
    harness_.Finish();
    for (const Pair& pair : pairs_) {
      INFO(pair.spec.name, " ", ShapeToString(pair.spec.inputs[0]->shape), " ",
           ShapeToString(pair.spec.inputs[1]->shape));
      for (int64_t calls : numbers_of_calls) Check(pair, calls);
    }
  }

 private:
  struct Pair {
    KernelSpec spec;
    std::unique_ptr<codegen::BatchedKernel> batched;
    size_t one, many;
  };

  void Check(const Pair& pair, int64_t calls) {
    const std::vector<HostTensor> shared = RandomInputs(pair.spec, 1);
    std::vector<std::vector<HostTensor>> expected;
    std::vector<HostTensor> together = shared;
    for (size_t i = 0; i < together.size(); ++i) {
      if (pair.batched->shared[i]) continue;
      const Tensor& input = pair.batched->spec.inputs[i];
      together[i] = MakeTensor(input->dtype, ShapeOf(input, {{77, calls}}));
    }
    for (int64_t call = 0; call < calls; ++call) {
      std::vector<HostTensor> own = shared;
      for (size_t i = 0; i < own.size(); ++i) {
        if (pair.batched->shared[i]) continue;
        own[i] = RandomInput(pair.spec, i, static_cast<uint32_t>(100 * (call + 1)));
        const size_t bytes = own[i].data.size();
        std::memcpy(together[i].data.Mutable().data() + static_cast<size_t>(call) * bytes,
                    own[i].data.data(), bytes);
      }
      expected.push_back(harness_.Run(pair.one, own, {}));
    }
    // In small pieces too, which is how threads share them.
    for (uint32_t piece : {0U, 1U}) {
      const std::vector<HostTensor> found = harness_.Run(pair.many, together, {{77, calls}}, piece);
      for (size_t o = 0; o < found.size(); ++o) {
        const size_t bytes = expected[0][o].data.size();
        int64_t differ = 0;
        for (size_t call = 0; call < expected.size(); ++call) {
          differ += std::memcmp(found[o].data.data() + call * bytes, expected[call][o].data.data(),
                                bytes) != 0;
        }
        INFO(calls, " calls, output ", o);
        CHECK(differ == 0);
      }
    }
  }

  KernelHarness harness_;
  KernelCompiler asked_;
  std::vector<Pair> pairs_;
};

TEST_CASE("batched kernels give each call the bits that it has alone") {
  for (const std::string& level : Targets()) {
    CAPTURE(level);
    // LLVM takes most of the time: all of its passes and all sizes on one target.
    const bool is_native = level == "native";
    Pairs pairs({.machine = MachineNamed(level), .opt_level = is_native ? 3 : 1});
    std::vector<Size> sizes = {{1, 523, 131}, {3, 300, 222}, {7, 263, 259}};
    if (is_native)
      sizes.insert(sizes.end(), {{1, 256, 256}, {1, 40000, 2}, {2, 301, 222}, {4, 1100, 64}});
    for (MakeSpec make : {Plain, WithEpilogue, WithPrologue, Packed, PackedPrologue, PackedPairs}) {
      for (const Size& size : sizes) pairs.Add(make(size));
    }
    pairs.Check({1, 2, 5, 13, 70});
  }
}

TEST_CASE("batched kernels give those bits whatever operator follows the product") {
  constexpr size_t kOutputs = 6;
  const Size size{1, 300, 222};
  for (bool packed : {false, true}) {
    Pairs pairs({.opt_level = 1});
    std::vector<Tensor> outputs;
    const Tensor x = Input({1, 300}, 0), y = Input({1, 222}, 2);
    const Tensor w = packed ? Input({7, 300, 32}, 1) : Input({222, 300}, 1);
    Tensor product = packed ? DensePack(size, x, {w}) : Dense(size, x, w);
    auto add = [&](const Tensor& output) {
      outputs.push_back(output);
      if (outputs.size() < kOutputs) return;
      pairs.Add(Spec(fmt::format("operators_{}", packed), {x, w, y}, outputs));
      outputs.clear();
      product = packed ? DensePack(size, x, {w}) : Dense(size, x, w);
    };
    using te::BinaryOp;
    for (auto op = static_cast<int>(te::UnaryOp::kNegative);
         op <= static_cast<int>(te::UnaryOp::kRoundEven); ++op) {
      const auto unary = static_cast<te::UnaryOp>(op);
      if (unary == te::UnaryOp::kNot) continue;
      add(te::Compute("unary", product->shape, [&](const std::vector<te::Expr>& i) {
        return te::Unary(unary, te::Load(product, i) * te::Load(y, i));
      }));
    }
    for (BinaryOp op : {BinaryOp::kSubtract, BinaryOp::kDivide, BinaryOp::kMod, BinaryOp::kFloorMod,
                        BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kPower, BinaryOp::kAtan2,
                        BinaryOp::kFloorDivide}) {
      add(te::Compute("binary", product->shape, [&](const std::vector<te::Expr>& i) {
        return te::Binary(op, te::Load(y, i), te::Load(product, i));
      }));
    }
    while (!outputs.empty()) add(Relu(product));
    pairs.Check({3, 21});
  }
}

// Packed products of m rows: with an epilogue that reads rows, and a prologue.
KernelSpec OpenRows(const Dim& m, int64_t depth, int64_t units, int64_t width) {
  const Tensor x = Input({m, depth}, 0), w = Input({(units + width - 1) / width, depth, width}, 1);
  const Tensor bias = Input({units}, 2), residual = Input({m, units}, 3);
  Attrs attrs;
  attrs.Set("units", units);
  attrs.Set("in_units", depth);
  const Tensor product =
      Apply("nn.contrib_dense_pack", attrs, {Relu(x), w}, {m, units}, DType::kFloat32);
  const Tensor sum = AddTensor(AddBias(product, bias, 1), residual);
  return Spec("open_rows", {x, w, bias, residual}, {sum, Sigmoid(sum)});
}

TEST_CASE("calls of any rows get the bits that they have alone") {
  const Dim m = Dim::Symbol(1, "m");
  const std::vector<int64_t> rows = {23, 1, 2, 64, 3, 12, 13, 1, 40};
  for (const std::string& level : Targets()) {
    CAPTURE(level);
    const KernelOptions options{.machine = MachineNamed(level),
                                .opt_level = level == "native" ? 3 : 1};
    KernelHarness harness(options);
    KernelCompiler asked(options);
    struct Pair {
      KernelSpec spec;
      size_t one, all;
    };
    std::vector<Pair> pairs;
    for (const auto& [depth, units, width] :
         {std::array<int64_t, 3>{523, 131, 32}, {256, 256, 16}, {1100, 64, 8}, {301, 222, 24}}) {
      KernelSpec spec = OpenRows(m, depth, units, width);
      const auto batched = asked.Batched(spec, kCalls);
      REQUIRE(batched != nullptr);
      CHECK(batched->rows == m);
      CHECK(batched->shared == std::vector<bool>{false, true, true, false});
      spec.order = batched->order_of_one;
      const size_t one = harness.Add(spec);
      pairs.push_back({std::move(spec), one, harness.Add(batched->spec)});
    }
    harness.Finish();
    for (const Pair& pair : pairs) {
      INFO(ShapeToString(pair.spec.inputs[1]->shape));
      int64_t all_rows = 0;
      std::vector<std::vector<std::byte>> given(4), expected(2);
      std::vector<HostTensor> own;
      for (const int64_t n : rows) {
        for (size_t i = 0; i < 4; ++i) {
          if ((i == 1 || i == 2) && all_rows > 0) continue;  // shared
          const HostTensor t = RandomTensor(DType::kFloat32, ShapeOf(pair.spec.inputs[i], {{1, n}}),
                                            static_cast<uint32_t>(10 * all_rows) + 7);
          given[i].insert(given[i].end(), t.data.data(), t.data.data() + t.data.size());
          if (own.size() <= i) own.emplace_back();
          own[i] = t;
        }
        const auto found = harness.Run(pair.one, own, {{1, n}});
        for (size_t o = 0; o < 2; ++o)
          expected[o].insert(expected[o].end(), found[o].data.data(),
                             found[o].data.data() + found[o].data.size());
        all_rows += n;
      }
      std::vector<HostTensor> together = own;
      for (const size_t i : {size_t{0}, size_t{3}}) {
        together[i] = MakeTensor(DType::kFloat32, ShapeOf(pair.spec.inputs[i], {{1, all_rows}}));
        std::memcpy(together[i].data.Mutable().data(), given[i].data(), given[i].size());
      }
      for (uint32_t piece : {0U, 1U}) {
        const auto found = harness.Run(pair.all, together, {{77, all_rows}}, piece);
        for (size_t o = 0; o < 2; ++o) {
          REQUIRE(found[o].data.size() == expected[o].size());
          CHECK(std::memcmp(found[o].data.data(), expected[o].data(), expected[o].size()) == 0);
        }
      }
    }
  }
}

TEST_CASE("kernels that have no batched form") {
  KernelCompiler compiler({});
  auto has = [&](const KernelSpec& spec) { return compiler.Batched(spec, kCalls) != nullptr; };
  CHECK(has(Plain({1, 512, 512})));
  CHECK_FALSE(has(Plain({64, 512, 512})));  // arithmetic bounds it
  CHECK_FALSE(has(Plain({1, 16, 16})));     // it takes less time than waiting
  const Tensor x = Input({1, 4096}, 0), y = Input({1, 4096}, 1);
  CHECK_FALSE(has(Spec("sum", {x, y}, {AddTensor(x, y)})));
  // Rows that are not known: sums of few and of many are made in other orders.
  const Dim m = Dim::Symbol(1, "m");
  const Tensor rows = Input({m, 512}, 0), w = Input({512, 512}, 1);
  Attrs attrs;
  attrs.Set("units", int64_t{512});
  CHECK_FALSE(has(
      Spec("rows", {rows, w}, {Apply("nn.dense", attrs, {rows, w}, {m, 512}, DType::kFloat32)})));
  // A row that is made of others' rows, or of its place.
  CHECK(has(OpenRows(m, 512, 512, 32)));
  const KernelSpec open = OpenRows(m, 512, 512, 32);
  const auto with = [&](const te::BodyFn& body) {
    KernelSpec spec = open;
    spec.outputs = {te::Compute("other", {m, 512}, body)};
    return spec;
  };
  const Tensor& sum = open.outputs[0];
  CHECK(has(with([&](const auto& i) { return te::Load(sum, i); })));
  CHECK_FALSE(has(with([&](const auto& i) {
    return te::Load(sum, {te::DimValue(m) - te::IntImm(1) - i[0], i[1]});
  })));
  CHECK_FALSE(
      has(with([&](const auto& i) { return te::Load(sum, i) * te::Cast(i[0], DType::kFloat32); })));
  // The data is the weight too.
  const Tensor square = Input({4, 16384}, 0);
  Attrs units;
  units.Set("units", int64_t{4});
  CHECK_FALSE(has(Spec("gram", {square},
                       {Apply("nn.dense", units, {square, square}, {4, 4}, DType::kFloat32)})));
}

TEST_CASE("a leading axis: what is shared stays as it is") {
  const Tensor x = Input({1, 3}, 0), w = Input({2, 3}, 1), bias = Input({2}, 2);
  Attrs attrs;
  attrs.Set("units", int64_t{2});
  const Tensor product = Apply("nn.dense", attrs, {x, w}, {1, 2}, DType::kFloat32);
  const Tensor doubled =
      Map(bias, [](const te::Expr& e, const auto&) { return e + e; });  // shared too
  const te::Batch batch = te::AddLeadingAxis({x, w, bias}, {false, true, true},
                                             {AddBias(product, doubled, 1), doubled}, kCalls);
  CHECK(batch.inputs[0]->shape == std::vector<Dim>{kCalls, 1, 3});
  CHECK(batch.inputs[1] == w);
  CHECK(batch.outputs[0]->shape == std::vector<Dim>{kCalls, 1, 2});
  CHECK(batch.outputs[1] == doubled);
  CHECK(te::ToString(batch.outputs[0]) ==
        "map: float32[calls, 1, 2] = (b, i0, i1) => (dense[b, 0, i1] + map[i1])");
}

}  // namespace
}  // namespace relayvm

// How kernels use AMX: which they are, that each thread and each turn has its tiles configured, and
// that none are left behind. That products are right is in weights_test.cc and integer_test.cc, for
// the same target.
#include "kernels/codegen/contraction/amx.h"

#include <thread>

#include "kernels/codegen/contraction/amx_emulator.h"
#include "kernels/codegen/contraction/harness.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm {
namespace {

using te::Tensor;

const Dim kRows = Dim::Symbol(1, "m");

struct Sizes {
  Dim rows = kRows;
  int64_t depth = 100, columns = 70;
};

// x . w + bias, the weights packed in pairs of bfloat16.
KernelSpec PairsSpec(const Sizes& s) {
  const int64_t width = codegen::PreferredPanelWidth(MachineNamed("sapphirerapids")),
                panels = (s.columns + width - 1) / width;
  const Tensor data = Input({s.rows, s.depth}, 0);
  const Tensor weight = Input({panels, (s.depth + 1) / 2, width, 2}, 1, DType::kBFloat16);
  const Tensor bias = Input({s.columns}, 2);
  Attrs attrs;
  attrs.Set("units", s.columns);
  attrs.Set("in_units", s.depth);
  const Tensor product =
      Apply("nn.contrib_dense_pack", attrs, {data, weight}, {s.rows, s.columns}, DType::kFloat32);
  return Spec("pairs", {data, weight, bias}, {AddBias(product, bias, 1)});
}

// uint8 . int8
KernelSpec BytesSpec(const Sizes& s) {
  const Tensor data = Input({s.rows, s.depth}, 0, DType::kUInt8);
  const Tensor weight = Input({s.columns, s.depth}, 1, DType::kInt8);
  Attrs attrs;
  attrs.Set("out_dtype", "int32");
  return Spec("bytes", {data, weight},
              {Apply("nn.dense", attrs, {data, weight}, {s.rows, s.columns}, DType::kInt32)});
}

KernelImage Compile(const KernelSpec& spec, const std::string& cpu) {
  KernelCompiler compiler({.machine = MachineNamed(cpu), .opt_level = 0, .keep_assembly = true});
  REQUIRE(compiler.Add(spec).ok());
  auto image = compiler.Finish();
  REQUIRE_MESSAGE(image.ok(), image.status().ToString());
  return std::move(*image);
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("products of more than a few rows are AMX's, for a target that has it") {
  struct Case {
    KernelSpec spec;
    const char *features, *instruction;
  };
  for (const Case& c :
       {Case{PairsSpec({}), "x86-64-v4,amx-bf16,amx-tile,avx512bf16", "tdpbf16ps"},
        Case{PairsSpec({.rows = 9}), "x86-64-v4,amx-bf16,amx-tile,avx512bf16", "tdpbf16ps"},
        Case{PairsSpec({.rows = 8}), "x86-64-v4,avx512bf16", nullptr},
        Case{BytesSpec({}), "x86-64-v4,amx-int8,amx-tile,avx512vnni", "tdpbusd"},
        Case{BytesSpec({.columns = 8}), "x86-64-v4,avx512vnni", nullptr},
        Case{BytesSpec({.rows = 8}), "x86-64-v4,avx512vnni", nullptr}}) {
    const KernelImage image = Compile(c.spec, "sapphirerapids");
    CHECK(image.cpu_features == c.features);
    for (const char* instruction : {"tdpbf16ps", "tdpbusd"}) {
      const bool is_expected =
          c.instruction != nullptr && std::string(c.instruction) == instruction;
      CHECK(Contains(image.assembly, instruction) == is_expected);
    }
    CHECK(Contains(image.assembly, "ldtilecfg") == (c.instruction != nullptr));
    CHECK(Contains(image.assembly, "tilerelease") == (c.instruction != nullptr));
  }
  CHECK(Compile(PairsSpec({}), "x86-64-v4").cpu_features == "x86-64-v4");
}

TEST_CASE(
    "the cost model knows AMX: of many rows several times as fast as vectors are, of few about as "
    "fast") {
  auto cycles = [](const std::string& cpu, int64_t rows) {
    const KernelSpec spec = BytesSpec({.depth = 512, .columns = 256});
    const auto estimate =
        EstimateKernel(spec, {.machine = MachineNamed(cpu)}, {}, [&](uint32_t) { return rows; });
    REQUIRE(estimate.has_value());
    CHECK(estimate->cycles >= estimate->least);
    return estimate->cycles;
  };
  // Which has no instruction for quads: two products and sums for each.
  CHECK(cycles("sapphirerapids", 4) < cycles("x86-64-v4", 4));
  CHECK(cycles("sapphirerapids", 4) * 2 > cycles("x86-64-v4", 4));
  CHECK(cycles("sapphirerapids", 512) * 4 < cycles("x86-64-v4", 512));
}

TEST_CASE("what asks for another order of sums, or another tile, does without AMX") {
  const codegen::ContractionTarget target{MachineNamed("sapphirerapids")};
  KernelSpec ordered = PairsSpec({});
  ordered.order = {SumOrder::Form::kTiles, 1};
  CHECK(PlanContraction(ordered, target)->amx == nullptr);
  ordered = BytesSpec({});
  ordered.order = {SumOrder::Form::kTiles, 1};
  CHECK(PlanContraction(ordered, target)->amx != nullptr);  // of integers any order is the same
  codegen::ContractionTarget chosen = target;
  chosen.schedule = {4, 32, 0};
  CHECK(PlanContraction(PairsSpec({}), chosen)->amx == nullptr);
  chosen.schedule = {0, 0, 64};
  const auto plan = PlanContraction(PairsSpec({}), chosen);
  REQUIRE(plan->amx != nullptr);
  CHECK(plan->amx->row_block == 64);
  CHECK(!codegen::OrderOf(*PlanContraction(PairsSpec({.rows = 9}), target)).has_value());
}

// --- Runs ---

// A kernel with what it is called with, and what it is to give.
class Run {
 public:
  Run(const KernelSpec& spec, int64_t rows)
      : harness_({.machine = MachineNamed("sapphirerapids")}) {
    const size_t kernel = harness_.Add(spec);
    harness_.Finish();
    const SymbolValues values = {{1, rows}};
    std::vector<HostTensor> inputs;
    for (const Tensor& t : spec.inputs) {
      inputs.push_back(
          RandomTensor(t->dtype, ShapeOf(t, values), static_cast<uint32_t>(inputs.size()) + 1));
    }
    want_ = harness_.Run(kernel, inputs, values)[0];
    for (const HostTensor& t : inputs) AddBuffer(t);
    AddBuffer(want_);
    std::memset(memory_.back().data(), 0, want_.data.size());
    scalars_ = {rows};
    function_ = harness_.function(kernel);
    auto value_of = [&](const Dim& d) { return *d.Evaluate(SymbolsOf(values)); };
    units_ = static_cast<uint32_t>(value_of(harness_.interface(kernel).parallel_extent));
    scratch_bytes_ = static_cast<size_t>(value_of(harness_.interface(kernel).scratch_bytes));
  }

  int32_t operator()(uint32_t begin, uint32_t end,
                     RelayvmKernelEnv env = {sizeof(RelayvmKernelEnv), 1}) {
    GuardedBuffer scratch(scratch_bytes_);
    const RelayvmKernelArgs args{buffers_.data(), scalars_.data(), scratch.data()};
    return function_(&env, &args, begin, end);
  }
  uint32_t units() const { return units_; }
  bool IsRight() {
    return std::memcmp(memory_.back().data(), want_.data.data(), want_.data.size()) == 0;
  }

 private:
  void AddBuffer(const HostTensor& t) {
    memory_.emplace_back(t.data.size());
    CopyBytes(t.data.data(), t.data.size(), memory_.back().data());
    buffers_.push_back(memory_.back().data());
  }

  KernelHarness harness_;
  HostTensor want_;
  std::vector<GuardedBuffer> memory_;
  std::vector<void*> buffers_;
  std::vector<int64_t> scalars_;
  RelayvmKernelFn function_;
  uint32_t units_;
  size_t scratch_bytes_;
};

bool AreTilesReleased() {
  amx::Config stored;
  asm volatile("sttilecfg %0" : "=m"(stored));
  return stored.palette == 0;
}

TEST_CASE("each thread that runs a piece has its tiles configured, and releases them") {
  if (!HasSapphireRapids()) return;
  const amx::Emulator emulator;
  for (const KernelSpec& spec : {PairsSpec({}), BytesSpec({})}) {
    Run run(spec, 300);
    REQUIRE(run.units() >= 6);
    std::atomic<uint32_t> next{0}, released{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (uint32_t unit = next++; unit < run.units(); unit = next++) {
          run(unit, unit + 1);
          released += AreTilesReleased() ? 1 : 0;
        }
      });
    }
    for (std::thread& t : threads) t.join();
    CHECK(released == run.units());
    CHECK(run.IsRight());
  }
  CHECK(amx::Fault() == nullptr);
}

// What runs on the thread while the kernel waits.
std::atomic<int> polls, held;
int32_t Poll(const RelayvmKernelEnv* /*env*/) {
  ++polls;
  held += AreTilesReleased() ? 0 : 1;
  amx::Config other{};
  other.palette = 1;
  other.rows[0] = 1;
  other.row_bytes[0] = 4;
  asm volatile("ldtilecfg %0\n\ttilerelease" : : "m"(other));
  return 0;
}
int32_t Stop(const RelayvmKernelEnv* /*env*/) {
  ++polls;
  return RELAYVM_KERNEL_STOPPED;
}

TEST_CASE("a kernel that asks whether to go on holds no tiles meanwhile") {
  if (!HasSapphireRapids()) return;
  const amx::Emulator emulator;
  Run run(PairsSpec({.depth = 1200, .columns = 256}), 64);
  polls = held = 0;
  RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
  env.poll = Poll;
  CHECK(run(0, run.units(), env) == 0);
  CHECK(polls > 0);
  CHECK(held == 0);
  CHECK(run.IsRight());
  polls = 0;
  env.poll = Stop;
  CHECK(run(0, run.units(), env) == RELAYVM_KERNEL_STOPPED);
  CHECK(polls == 1);
  CHECK(AreTilesReleased());
  CHECK(amx::Fault() == nullptr);
}

}  // namespace
}  // namespace relayvm

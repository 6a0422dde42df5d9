#include "compiler/tuner/tuner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/tuner/bench.h"
#include "kernels/codegen/contraction/harness.h"
#include "kernels/codegen/schedule_space.h"

namespace relayvm::tuner {
namespace {

const Dim kN = Dim::Symbol(1, "n");

// (n, depth) by (depth, 48), and relu.
KernelSpec Product(int64_t depth, const char* name = "product") {
  const std::vector<te::Tensor> in = {Input({kN, depth}, 0), Input({depth, 48}, 1)};
  return Spec(name, in, {Relu(Apply("nn.matmul", {}, in, {kN, 48}, DType::kFloat32))});
}
KernelSpec Elementwise() {
  const te::Tensor x = Input({kN, 8}, 0);
  return Spec("relu", {x}, {Relu(x)});
}

constexpr std::chrono::milliseconds kLong{60'000};
// Not --exact, as the compiler has it.
const KernelOptions kOptions{.opt_level = 1, .exact = false};

// A machine where a schedule takes what `time` says.
struct Outcome {
  TuneReport report;
  TileSchedule schedule;  // of Product(64), in the book
};
Outcome TuneOn(const std::function<double(const TileSchedule&, int64_t n)>& time,
               const SampleSizes& samples = {}) {
  ScheduleBook book({}, kOptions, nullptr);
  TuneOptions tune;
  tune.budget = kLong;
  tune.most_candidates = 6;
  tune.samples = samples;
  tune.time_of = [&](const TileSchedule& s, const Sample& sample) { return time(s, sample.at(1)); };
  const KernelSpec product = Product(64);
  auto report = Tune({product, Elementwise(), product}, {}, kOptions, tune, &book);
  REQUIRE_MESSAGE(report.ok(), report.status().message());
  CHECK(report->with_alternatives == 1);
  CHECK(report->left_out.empty());
  REQUIRE(report->measured.size() == 1);
  return {std::move(*report), book.ScheduleFor(product)};
}

TEST_CASE("what is faster at every sample is kept, and is what the book says") {
  std::vector<TileSchedule> asked;
  TuneOn([&](const TileSchedule& s, int64_t) {
    if (s != TileSchedule() && std::ranges::find(asked, s) == asked.end()) asked.push_back(s);
    return 1000;
  });
  REQUIRE(asked.size() > 2);
  for (const TileSchedule& best : {asked.front(), asked.back()}) {
    const Outcome o = TuneOn([&](const TileSchedule& s, int64_t n) {
      return static_cast<double>(n) * (s == best ? 700 : s == TileSchedule() ? 1000 : 800);
    });
    CHECK(o.schedule == best);
    const ScheduleRecord& record = o.report.measured[0];
    CHECK(record.schedule == best);
    CHECK(record.key == ScheduleKey(Product(64), kOptions));
    CHECK(record.target == ScheduleTarget(kOptions));
    CHECK(record.machine == MachineName());
    CHECK(record.kernel == "product");
    using Extents = std::vector<std::pair<std::string, std::vector<int64_t>>>;
    CHECK(record.extents == Extents{{"n", {1, 16, 128}}});
    CHECK(record.base_ns == std::vector<double>{1000, 16000, 128000});
    CHECK(record.ns == std::vector<double>{700, 11200, 89600});
  }
}

TEST_CASE("what is not faster, or slower at a sample, is not kept") {
  const Outcome same = TuneOn([](const TileSchedule&, int64_t) { return 1000; });
  CHECK(same.schedule == TileSchedule());
  CHECK(same.report.measured[0].schedule == TileSchedule());
  CHECK(same.report.measured[0].ns == same.report.measured[0].base_ns);
  const Outcome mixed = TuneOn([](const TileSchedule& s, int64_t n) {
    return s == TileSchedule() ? 1000 : n == 16 ? 1050 : 500;
  });
  CHECK(mixed.schedule == TileSchedule());
  // Where that sample is not asked for, it is.
  const Outcome without = TuneOn(
      [](const TileSchedule& s, int64_t n) {
        return s == TileSchedule() ? 1000 : n == 16 ? 1050 : 500;
      },
      {{"n", {1, 128}}});
  CHECK(without.schedule != TileSchedule());
  // Faster when all are timed, which is in 4 turns at 3 samples, and not when it counts.
  std::map<std::string, int> calls;
  const Outcome luck = TuneOn([&](const TileSchedule& s, int64_t) {
    return s == TileSchedule() || ++calls[ToString(s)] > 12 ? 1000 : 900;
  });
  CHECK(luck.schedule == TileSchedule());
}

TEST_CASE("real times: what is found gives the same results, and is found again in the log") {
  ScheduleBook book({}, kOptions, nullptr);
  TuneOptions tune;
  tune.budget = std::chrono::milliseconds(300);
  std::vector<std::string> progress;
  tune.on_progress = [&](const std::string& what) { progress.push_back(what); };
  auto report = Tune({Product(64), Product(65)}, {}, kOptions, tune, &book);
  REQUIRE_MESSAGE(report.ok(), report.status().message());
  CHECK(report->with_alternatives == 2);
  CHECK(!progress.empty());
  std::string log;
  for (const ScheduleRecord& r : report->measured) log += FormatRecord(r);
  auto records = ParseScheduleLog(log, "t.log");
  REQUIRE_MESSAGE(records.ok(), records.status().message());
  ScheduleBook again(*records, kOptions, [](const std::string& w) { FAIL(w); });
  for (const ScheduleRecord& r : report->measured) {
    const KernelSpec spec = Product(r.key == ScheduleKey(Product(64), kOptions) ? 64 : 65);
    CHECK(again.ScheduleFor(spec) == book.ScheduleFor(spec));
  }
  // What is known is left alone.
  const size_t measured = report->measured.size();
  tune.budget = std::chrono::milliseconds(1);
  report = Tune({Product(64), Product(65)}, {}, kOptions, tune, &again);
  REQUIRE(report.ok());
  CHECK(report->known == measured);
}

TEST_CASE("kernels run on random data: results of all schedules agree, and a wrong one shows") {
  const KernelSpec spec = Product(64);
  std::vector<TileSchedule> schedules = ScheduleSpace(spec, kOptions);
  schedules.insert(schedules.begin(), TileSchedule());
  auto kernels = CompileKernels(spec, kOptions, schedules);
  REQUIRE_MESSAGE(kernels.ok(), kernels.status().message());
  for (const int64_t n : {1, 7, 100}) {
    auto bench = Bench::Make(spec, {{1, n}}, 1 << 20);
    REQUIRE(bench.ok());
    auto expected = bench->Run((*kernels)[0]);
    REQUIRE(expected.ok());
    for (const CompiledKernel& kernel : *kernels) {
      auto found = bench->Run(kernel);
      REQUIRE(found.ok());
      const Status same = CompareResults(*found, *expected);
      CHECK_MESSAGE(same.ok(), same.message());
      CHECK(bench->Time(kernel, 3) > 0);
    }
    auto wrong = bench->Run((*kernels)[0]);
    const float off = 1e6F;
    std::memcpy(&(*wrong)[0].data.Mutable()[4], &off, sizeof off);
    const Status status = CompareResults(*wrong, *expected);
    REQUIRE(!status.ok());
    CHECK(status.message().starts_with("element 1 of result 0 is 1000000 instead of "));
  }
  CHECK(Bench::Make(spec, {{1, 1 << 20}}, 1 << 20).status().code() ==
        StatusCode::kResourceExhausted);
  CHECK(Bench::Make(spec, {{1, 0}}, 1 << 20).status().code() == StatusCode::kInvalidArgument);
  CHECK(Bench::Make(spec, {}, 1 << 20).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("sizes that no program lets meet do no harm") {
  // x and y are of one length in every program that comes to this kernel.
  const Dim m = Dim::Symbol(2, "m");
  const te::Tensor x = Input({kN, 64}, 0), w = Input({64, 48}, 1), y = Input({m, 48}, 2);
  const te::Tensor product = Apply("nn.matmul", {}, {x, w}, {kN, 48}, DType::kFloat32);
  const KernelSpec spec = Spec("product", {x, w, y}, {AddTensor(product, y)});
  const TileSchedule other = ScheduleSpace(spec, kOptions).back();
  auto kernels = CompileKernels(spec, kOptions, std::vector<TileSchedule>{{}, other});
  REQUIRE_MESSAGE(kernels.ok(), kernels.status().message());
  for (const auto& [n, length] : {std::pair(100'000, 1), {1, 100'000}, {7, 7}}) {
    auto bench = Bench::Make(spec, {{1, n}, {2, length}}, 64 << 20);
    REQUIRE_MESSAGE(bench.ok(), bench.status().message());
    auto first = bench->Run((*kernels)[0]), second = bench->Run((*kernels)[1]);
    REQUIRE(first.ok());
    CHECK(CompareResults(*second, *first).ok());
  }
}

TEST_CASE("random tensors of every dtype, repeated where they are long") {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
        DType::kUInt8, DType::kInt32, DType::kInt64, DType::kUInt32, DType::kBool}) {
    CAPTURE(DTypeName(dtype));
    HostTensor t = MakeTensor(dtype, {300'001});
    FillRandom(t);
    double low = 100, high = -100;
    for (int64_t i = 0; i < t.size(); ++i) {
      const te::Scalar s = Element(t, i);
      const double x = IsFloat(dtype) ? s.f : static_cast<double>(s.i);
      low = std::min(low, x);
      high = std::max(high, x);
    }
    CHECK(low >= (IsFloat(dtype) ? -1 : 0));
    CHECK(high <= (IsFloat(dtype) ? 1 : dtype == DType::kBool ? 1 : 7));
    CHECK(high > low);
  }
}

TEST_CASE("names that no dim has, and machines that cannot measure") {
  ScheduleBook book({}, kOptions, nullptr);
  TuneOptions tune;
  tune.budget = std::chrono::milliseconds(1);
  tune.samples["q"] = {1};
  auto report = Tune({Product(64)}, {{"batch", {1}}}, kOptions, tune, &book);
  REQUIRE(!report.ok());
  CHECK(report.status().code() == StatusCode::kInvalidArgument);
  CHECK(report.status().message() ==
        "--shape-samples q: no open dimension has that name; there are batch, n");
  CHECK(CheckMachine(kOptions).ok());
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const auto missing = CpuFeatures::OfThisMachine().Missing(cpu);
    const Status status = CheckMachine({.machine = MachineNamed(cpu)});
    CHECK(status.ok() == missing.empty());
    if (!status.ok()) CHECK(status.message().find(missing[0]) != std::string::npos);
  }
}

// --- The line that says whether it would pay ---

// (n, 64) by (64, columns).
KernelSpec Wide(const Dim& rows, int64_t columns) {
  const std::vector<te::Tensor> in = {Input({rows, 64}, 0), Input({64, columns}, 1)};
  return Spec("wide", in, {Apply("nn.matmul", {}, in, {rows, columns}, DType::kFloat32)});
}

TEST_CASE("kernels without alternatives, good ones and small parts of a program do not count") {
  const KernelOptions options{.machine = MachineNamed("x86-64-v3")};
  const ScheduleBook empty({}, options, nullptr);
  auto count = [&](const std::vector<KernelSpec>& kernels) {
    return CountPoorKernels(kernels, {}, options, empty);
  };
  CHECK(count({}) == 0);
  CHECK(count({Elementwise()}) == 0);
  CHECK(count({Wide(480, 512)}) == 0);
  // 17 columns as 2 panels of 16; one of 24 is less.
  const KernelSpec thin = Wide(480, 17);
  CHECK(count({thin}) == 1);
  CHECK(count({thin, thin, Elementwise()}) == 1);
  CHECK(count({thin, Wide(480, 512)}) == 1);
  CHECK(count({thin, Wide(4800, 512)}) == 0);
  // What was measured is as good as it gets.
  ScheduleBook known({}, options, nullptr);
  known.Set(ScheduleKey(thin, options), {});
  CHECK(CountPoorKernels({thin}, {}, options, known) == 0);
}

}  // namespace
}  // namespace relayvm::tuner

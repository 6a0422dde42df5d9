// What the provider does when oneDNN fails, or memory runs out: every call of oneDNN in turn, and
// every allocation in turn, while regions are created, prepared and run. Each gives its result or a
// status and says why; nothing that was created is lost or used after its end; the same region
// works when the fault is gone.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"
#include "vm/engines/dnnl/faulty_library_test.h"

namespace relayvm::onednn_testing {
namespace {

const FaultyLibrary& Faulty() {
  static const FaultyLibrary& faulty = []() -> const FaultyLibrary& {
    void* library = dlopen(RELAYVM_DNNL_FAULTY, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, dlerror());
    return *reinterpret_cast<const FaultyLibrary* (*)()>(dlsym(library, "faulty_library"))();
  }();
  return faulty;
}

// A provider to which the faulty library is oneDNN.
const RelayvmRegionProvider* FaultyProvider() {
  static const RelayvmRegionProvider* const provider = [] {
    const RelayvmRegionProvider* copy = CopyOfProvider();
    const char* version = nullptr;
    RelayvmRegionError error = {};
    setenv("RELAYVM_DNNL_LIBRARY", RELAYVM_DNNL_FAULTY, 1);
    // Its one object for good is the engine.
    Faulty().fail(0, 0, dnnl_out_of_memory);
    CHECK(copy->open(&version, &error) == RELAYVM_REGION_OUT_OF_MEMORY);
    Faulty().fail(0, 0, dnnl_success);
    const int32_t status = copy->open(&version, &error);
    unsetenv("RELAYVM_DNNL_LIBRARY");
    REQUIRE_MESSAGE(status == RELAYVM_REGION_OK, error.message);
    CHECK(Faulty().live() == 1);
    return copy;
  }();
  return provider;
}

// --- Regions ---

struct Case {
  struct Sizes {
    Dims symbols;
    std::vector<Tensor> inputs;
    uint32_t threads = 1;
    std::vector<Tensor> expected;
  };
  std::string what;
  Net net;
  std::vector<Sizes> runs;
  double tolerance = 1e-3;
  // What is computed where nothing fails; whether it can be computed on this machine.
  bool Expect() {
    int32_t status = 0;
    const TestRegion region(net, &status);
    if (status == RELAYVM_REGION_UNSUPPORTED) return false;
    for (Sizes& run : runs) run.expected = region.Run(run.symbols, run.inputs, run.threads);
    return true;
  }
};

Tensor Bytes(const Dims& dims, uint32_t seed) {
  return Map(Random(dims, seed), [](float v) { return std::round(v * 100); });
}

Case Convolutions() {
  Case c{.what = "convolutions of open sizes with steps", .net = {}, .runs = {}};
  const Shape shape = {"n", 16, "h", "w"};
  const Net::Attributes same = {{"padding", {"1", "1"}}};
  Net& net = c.net;
  const int x = net.Input(shape), w = net.Const(Random({16, 16, 3, 3}, 1));
  const int b = net.Const(Random({16}, 2)), g = net.Const(Random({16, 4, 3, 3}, 3));
  const int first = net.Kernel("nn.conv2d", {x, w, b}, shape, same, {"bias input=2", "relu"});
  const int second = net.Kernel("nn.conv2d", {first, g, x, first}, shape,
                                {{"padding", {"1", "1"}}, {"groups", {"4"}}},
                                {"multiply input=2", "sum input=3", "clip min=-1 max=2"});
  net.Head(net.Kernel("nn.conv2d", {second, w, second}, shape, same, {"sum input=2", "mish"}));
  net.Head(first);
  for (const Dims& size : {Dims{1, 4, 5}, {2, 3, 3}, {1, 4, 5}, {0, 2, 2}}) {
    c.runs.push_back(
        {size, {Random({size[0], 16, size[1], size[2]}, 4)}, c.runs.size() == 1 ? 2U : 1U, {}});
  }
  return c;
}

Case Fixed() {
  Case c{
      .what = "a transposed convolution, pools and images of fixed sizes", .net = {}, .runs = {}};
  Net& net = c.net;
  const int x = net.Input({1, 5, 6, 8}), w = net.Const(Random({8, 8, 2, 2}, 1));
  const int up =
      net.Kernel("nn.conv2d_transpose", {x, w}, {1, 10, 12, 8},
                 {{"strides", {"2", "2"}}, {"data_layout", {"NHWC"}}, {"kernel_layout", {"IOHW"}}},
                 {"relu", "abs"});
  const int pool =
      net.Kernel("nn.max_pool2d", {up}, {1, 5, 6, 8},
                 {{"pool_size", {"2", "2"}}, {"strides", {"2", "2"}}, {"layout", {"NHWC"}}});
  const int both = net.Kernel("concatenate", {pool, x}, {1, 5, 6, 16}, {{"axis", {"3"}}});
  const int resized = net.Kernel("image.resize2d", {both}, {1, 10, 12, 16},
                                 {{"size", {"10", "12"}},
                                  {"layout", {"NHWC"}},
                                  {"method", {"linear"}},
                                  {"coordinate_transformation_mode", {"half_pixel"}}},
                                 {"tanh"});
  net.Head(net.Kernel("mean", {resized}, {1, 16}, {{"axis", {"1", "2"}}}));
  net.Head(resized);
  c.runs.push_back({{}, {Random({1, 5, 6, 8}, 4)}, 1, {}});
  c.runs.push_back({{}, {Random({1, 5, 6, 8}, 5)}, 1, {}});
  return c;
}

Case Products() {
  Case c{.what = "products, normalisations and softmax", .net = {}, .runs = {}};
  Net& net = c.net;
  const Shape shape = {2, "n", 16};
  const int x = net.Input(shape), w = net.Const(Random({16, 16}, 1)),
            b = net.Const(Random({16}, 2));
  const int slope = net.Const(Random({16}, 3));
  const int dense =
      net.Kernel("nn.dense", {x, w, b, x}, shape, {}, {"bias input=2", "gelu", "add input=3"});
  const int norm = net.Kernel("nn.layer_norm", {dense, b, slope}, shape, {{"axis", {"-1"}}});
  const int matrix =
      net.Kernel("nn.batch_matmul", {norm, x}, {2, "n", "n"}, {{"transpose_b", {"1"}}});
  const int soft = net.Kernel("nn.softmax", {matrix}, {2, "n", "n"}, {{"axis", {"-1"}}});
  const int mixed = net.Kernel("nn.batch_matmul", {soft, x}, shape, {{"transpose_b", {"0"}}},
                               {"leaky_relu alpha=0.1"});
  const int ones = net.Const(Map(Random({16}, 5), [](float v) { return std::abs(v) + 1; }));
  const int stats =
      net.Kernel("nn.batch_norm", {mixed, b, slope, b, ones}, shape, {{"axis", {"2"}}});
  net.Head(net.Kernel("nn.prelu", {stats, slope}, shape, {{"axis", {"2"}}}));
  for (const int64_t n : {3, 4, 3}) c.runs.push_back({{n}, {Random({2, n, 16}, 4)}, 1, {}});
  return c;
}

Case Quantised() {
  Case c{.what = "quantised products", .net = {}, .runs = {}, .tolerance = 0};
  Net& net = c.net;
  const Shape shape = {"n", 16, "h", 7};
  const Net::Attributes same = {{"padding", {"1", "1"}}, {"out_dtype", {"int32"}}};
  const int x = net.Input(shape, DType::kInt8);
  const int w = net.Const(Bytes({16, 16, 3, 3}, 1), DType::kInt8);
  const int zero = net.Const({{}, {3}}, DType::kInt32), none = net.Const({{}, {0}}, DType::kInt32);
  const int s = net.Const({{}, {0.5F}}), from = net.Const({{}, {0.001F}});
  const int b = net.Const(Bytes({16}, 2), DType::kInt32);
  const std::string requantize =
      "requantize input=7 input=8 input=9 input=10 axis=1 rounding=UPWARD dtype=int8";
  const int first = net.Kernel("qnn.conv2d", {x, w, zero, none, s, s, b, from, none, s, zero},
                               shape, same, {"bias input=6", requantize, "relu"}, DType::kInt8);
  net.Head(
      net.Kernel("qnn.conv2d",
                 {first, w, zero, none, s, s, b, from, none, s, zero, x, s, zero, s, none, s, zero},
                 shape, same,
                 {"bias input=6", requantize,
                  "sum input=11 input=12 input=13 input=14 input=15 input=16 input=17"},
                 DType::kInt8));
  for (const Dims& size : {Dims{1, 4}, {2, 3}, {0, 3}}) {
    c.runs.push_back(
        {size, {Bytes({size[0], 16, size[1], 7}, 3)}, c.runs.size() == 1 ? 2U : 1U, {}});
  }
  return c;
}

std::vector<Case> Cases() { return {Convolutions(), Fixed(), Products(), Quantised()}; }

bool IsClose(const std::vector<Tensor>& found, const Case& c, const Case::Sizes& run) {
  if (found.size() != run.expected.size()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<float>& expected = run.expected[i].data;
    if (found[i].dims != run.expected[i].dims) return false;
    for (size_t k = 0; k < expected.size(); ++k) {
      if (!(std::abs(found[i].data[k] - expected[k]) <= c.tolerance * (1 + std::abs(expected[k]))))
        return false;
    }
  }
  return true;
}

// --- Calls of oneDNN that fail ---

struct Fault {
  dnnl_status_t status;
  int32_t code;         // that the provider gives for it
  int64_t first, step;  // the calls that fail in turn
};
constexpr Fault kFaults[] = {
    {dnnl_out_of_memory, RELAYVM_REGION_OUT_OF_MEMORY, 0, 1},
    {dnnl_runtime_error, RELAYVM_REGION_FAILED, 0, 3},
    {dnnl_unimplemented, RELAYVM_REGION_UNSUPPORTED, 1, 3},
};

// What came of a region's creation and runs with a fault somewhere.
struct Outcome {
  int good = 0, told = 0;
};

// A result that is good, or `code` and why.
void CheckOutcome(int32_t found, const std::string& message, int32_t code, bool is_right,
                  Outcome* outcome) {
  if (found == RELAYVM_REGION_OK) {
    ++outcome->good;
    CHECK(is_right);
    return;
  }
  ++outcome->told;
  CAPTURE(message);
  CHECK(found == code);
  CHECK(!message.empty());
}

// One creation of the region, and its runs, with what fails now; then the runs without faults.
// `provider` is asked; `end_faults` ends them.
Outcome CreateAndRun(const Case& c, int32_t code, const RelayvmRegionProvider* provider,
                     const std::function<void()>& end_faults) {
  Outcome outcome;
  int32_t status = 0;
  std::string message;
  const TestRegion region(c.net, &status, &message, provider);
  CheckOutcome(status, message, code, true, &outcome);
  if (status != RELAYVM_REGION_OK) return outcome;
  for (const Case::Sizes& run : c.runs) {
    const std::vector<Tensor> y =
        region.Run(run.symbols, run.inputs, run.threads, &status, &message);
    CheckOutcome(status, message, code, IsClose(y, c, run), &outcome);
  }
  end_faults();
  for (const Case::Sizes& run : c.runs)
    CHECK(IsClose(region.Run(run.symbols, run.inputs, run.threads), c, run));
  return outcome;
}

TEST_CASE("each call of oneDNN fails in turn") {
  if (Provider() == nullptr) return;
  const RelayvmRegionProvider* provider = FaultyProvider();
  const FaultyLibrary& faulty = Faulty();
  for (Case& c : Cases()) {
    CAPTURE(c.what);
    if (!c.Expect()) continue;
    for (const Fault& fault : kFaults) {
      CAPTURE(fault.status);
      Outcome all;
      bool failed = true;
      int64_t call = fault.first;
      for (; failed; call += fault.step) {
        CAPTURE(call);
        faulty.fail(call, 0, fault.status);
        const auto end = [&] {
          failed = faulty.faults() != 0;
          faulty.fail(0, 0, dnnl_success);
        };
        const Outcome outcome = CreateAndRun(c, fault.code, provider, end);
        all.good += outcome.good;
        all.told += outcome.told;
        faulty.fail(0, 0, dnnl_success);
        CHECK(faulty.live() == 1);
      }
      CHECK(call > 100);
      CHECK(all.told > 20);
      CHECK(all.good > 20);
    }
  }
  CHECK(faulty.misuses() == 0);
}

TEST_CASE("several threads run one region while calls of oneDNN fail") {
  if (Provider() == nullptr) return;
  const RelayvmRegionProvider* provider = FaultyProvider();
  const FaultyLibrary& faulty = Faulty();
  for (Case& c : Cases()) {
    CAPTURE(c.what);
    if (!c.Expect()) continue;
    for (const Fault& fault : kFaults) {
      faulty.fail(0, 0, dnnl_success);
      std::atomic<int> wrong = 0, good = 0, told = 0;
      {
        const TestRegion region(c.net, nullptr, nullptr, provider);
        faulty.fail(5, 97, fault.status);
        std::vector<std::thread> threads;
        for (size_t t = 0; t < 4; ++t) {
          threads.emplace_back([&, t] {
            for (size_t k = 0; k < 60; ++k) {
              const Case::Sizes& run = c.runs[(k + t) % c.runs.size()];
              int32_t found = 0;
              std::string message;
              const std::vector<Tensor> y =
                  region.Run(run.symbols, run.inputs, run.threads, &found, &message);
              const bool is_good = found == RELAYVM_REGION_OK;
              ++(is_good ? good : told);
              if (is_good ? !IsClose(y, c, run) : found != fault.code || message.empty()) ++wrong;
            }
          });
        }
        for (std::thread& t : threads) t.join();
        faulty.fail(0, 0, dnnl_success);
        for (const Case::Sizes& run : c.runs)
          CHECK(IsClose(region.Run(run.symbols, run.inputs, run.threads), c, run));
      }
      CHECK(wrong == 0);
      CHECK(good > 0);
      CHECK(told > 0);
      CHECK(faulty.live() == 1);
    }
  }
  CHECK(faulty.misuses() == 0);
}

// --- Memory that runs out ---

// Allocations of this thread in the provider, and not in oneDNN, until one fails.
thread_local bool is_counting = false;
thread_local int64_t allocations_left = -1;

bool AllocationFails() {
  if (!is_counting || Faulty().is_inside()) return false;
  return allocations_left-- == 0;
}

// The faulty provider's functions, with allocations counted in them.
template <auto kMember, typename... Args>
int32_t Counted(Args... args) {
  is_counting = true;
  const int32_t status = (FaultyProvider()->*kMember)(args...);
  is_counting = false;
  return status;
}
template <auto kMember, typename... Args>
constexpr auto CountedAs(int32_t (*RelayvmRegionProvider::* /*member*/)(Args...)) {
  return &Counted<kMember, Args...>;
}
const RelayvmRegionProvider* CountedProvider() {
  static const RelayvmRegionProvider provider = [] {
    RelayvmRegionProvider counted = *FaultyProvider();
    counted.create = CountedAs<&RelayvmRegionProvider::create>(&RelayvmRegionProvider::create);
    counted.prepare = CountedAs<&RelayvmRegionProvider::prepare>(&RelayvmRegionProvider::prepare);
    counted.run = CountedAs<&RelayvmRegionProvider::run>(&RelayvmRegionProvider::run);
    return counted;
  }();
  return &provider;
}

TEST_CASE("each allocation of the provider fails in turn") {
  if (Provider() == nullptr) return;
  const RelayvmRegionProvider* provider = CountedProvider();
  Faulty().fail(0, 0, dnnl_success);
  for (Case& c : Cases()) {
    CAPTURE(c.what);
    if (!c.Expect()) continue;
    bool failed = true;
    Outcome all;
    int64_t allocation = 0;
    for (; failed; allocation += 2) {
      CAPTURE(allocation);
      allocations_left = allocation;
      const auto end = [&] {
        failed = allocations_left < 0;
        allocations_left = -1;
      };
      const Outcome outcome = CreateAndRun(c, RELAYVM_REGION_OUT_OF_MEMORY, provider, end);
      all.good += outcome.good;
      all.told += outcome.told;
      CHECK(Faulty().live() == 1);
    }
    CHECK(all.told > 100);
  }
  CHECK(Faulty().misuses() == 0);
}

}  // namespace
}  // namespace relayvm::onednn_testing

// What the provider allocates by, for the whole of the tests.
static void* Allocate(std::size_t bytes) {
  if (relayvm::onednn_testing::AllocationFails()) return nullptr;
  return std::malloc(std::max<std::size_t>(bytes, 1));
}
// Not seen by callers, which know of no malloc.
__attribute__((noinline)) static void Release(void* memory) { std::free(memory); }
void* operator new(std::size_t bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  return Allocate(bytes);
}
void* operator new(std::size_t bytes) {
  void* const memory = Allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { Release(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { Release(memory); }
void operator delete(void* memory, const std::nothrow_t& /*nothrow*/) noexcept { Release(memory); }

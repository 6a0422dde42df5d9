// The example engines' providers, opened as runtimes open them, on regions that are given as JSON.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bytecode/region_abi.h"

namespace {

struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> data;
};
Tensor Numbered(std::vector<int64_t> dims, int seed) {
  Tensor t{std::move(dims), {}};
  size_t count = 1;
  for (const int64_t d : t.dims) count *= static_cast<size_t>(d);
  for (size_t i = 0; i < count; ++i)
    t.data.push_back(static_cast<float>((i * 7 + static_cast<size_t>(seed)) % 13) - 6.0F);
  return t;
}
RelayvmRegionTensor View(Tensor& t) {
  return {t.data.data(), t.dims.data(), static_cast<uint32_t>(t.dims.size()), 11};
}

const RelayvmRegionProvider& Provider(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  void* symbol = dlsym(library, RELAYVM_REGION_PROVIDER_SYMBOL);
  REQUIRE(symbol != nullptr);
  const RelayvmRegionProvider* provider = reinterpret_cast<RelayvmRegionProviderFn>(symbol)();
  REQUIRE(provider->abi == RELAYVM_REGION_ABI);
  REQUIRE(provider->struct_size == sizeof(RelayvmRegionProvider));
  return *provider;
}

// Null where the engine is not on this machine.
const RelayvmRegionProvider* Opened(const char* path, const std::string& name) {
  const RelayvmRegionProvider& provider = Provider(path);
  CHECK(provider.engine == name);
  const char* version = nullptr;
  RelayvmRegionError error = {};
  if (const int32_t status = provider.open(&version, &error); status != RELAYVM_REGION_OK) {
    CHECK(status == RELAYVM_REGION_UNSUPPORTED);
    MESSAGE("left out: ", error.message);
    return nullptr;
  }
  CHECK(std::string(version) != "");
  return &provider;
}

// --- Regions ---

std::string Node(const std::string& op, const std::string& shape, const std::string& inputs = "",
                 const std::string& attrs = "") {
  return R"({"op": ")" + op + R"(", "name": "a", "attrs": {"dtype": [["float32"]], "shape": [[[)" +
         shape + "]]]" + (attrs.empty() ? "" : ", " + attrs) + "}" +
         (inputs.empty() ? "" : R"(, "inputs": [)" + inputs + "]") + "}";
}
std::string Kernel(const std::string& op, const std::string& shape, const std::string& inputs,
                   const std::string& steps = "", const std::string& attrs = "") {
  return Node("kernel", shape, inputs,
              R"("operator": [[")" + op + "\"]]" +
                  (steps.empty() ? "" : R"(, "post_ops": [[)" + steps + "]]") +
                  (attrs.empty() ? "" : ", " + attrs));
}
std::string Region(const std::vector<std::string>& nodes, const std::string& heads,
                   const std::string& symbols = "") {
  std::string all;
  for (const std::string& node : nodes) all += (all.empty() ? "" : ", ") + node;
  return R"({"nodes": [)" + all + R"(], "heads": [)" + heads + R"(], "symbols": [)" + symbols +
         "]}";
}

// One region of a provider. A message in the place of what fails.
class Loaded {
 public:
  Loaded(const RelayvmRegionProvider& p, const std::string& json,
         std::vector<Tensor> constants = {})
      : provider_(p), constants_(std::move(constants)) {
    std::vector<RelayvmRegionTensor> views;
    for (Tensor& t : constants_) views.push_back(View(t));
    status_ = p.create(json.data(), json.size(), views.data(), static_cast<uint32_t>(views.size()),
                       &region_, &error_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() {
    if (region_ != nullptr) provider_.destroy(region_);
  }

  int32_t status() const { return status_; }
  std::string message() const { return error_.message; }

  // The outputs, whose dims are given.
  std::vector<Tensor> Run(const std::vector<int64_t>& symbols, std::vector<Tensor> inputs,
                          const std::vector<std::vector<int64_t>>& results, bool stops = false) {
    REQUIRE_MESSAGE(region_ != nullptr, message());
    RelayvmPlan* plan = nullptr;
    uint64_t scratch_bytes = 0;
    status_ = provider_.prepare(region_, symbols.data(), static_cast<uint32_t>(symbols.size()), 1,
                                &plan, &scratch_bytes, &error_);
    if (status_ != RELAYVM_REGION_OK) return {};
    std::vector<Tensor> outputs;
    for (const auto& dims : results) outputs.push_back(Numbered(dims, 99));
    std::vector<RelayvmRegionTensor> in, out;
    for (Tensor& t : inputs) in.push_back(View(t));
    for (Tensor& t : outputs) out.push_back(View(t));
    RelayvmRegionEnv env = {sizeof(RelayvmRegionEnv), 1,
                            stops ? [](const RelayvmRegionEnv*) { return int32_t{1}; }
                                  : [](const RelayvmRegionEnv*) { return int32_t{0}; }};
    void* scratch =
        scratch_bytes == 0 ? nullptr : std::aligned_alloc(64, (scratch_bytes + 63) / 64 * 64);
    status_ = provider_.run(region_, plan, &env, in.data(), static_cast<uint32_t>(in.size()),
                            out.data(), static_cast<uint32_t>(out.size()), scratch, &error_);
    std::free(scratch);
    provider_.release(region_, plan);
    return outputs;
  }

 private:
  const RelayvmRegionProvider& provider_;
  std::vector<Tensor> constants_;
  RelayvmRegion* region_ = nullptr;
  int32_t status_ = 0;
  RelayvmRegionError error_ = {};
};

// --- blas ---

// a[m, k] b[k, n], each read through its strides, plus bias[n] where there is one.
std::vector<float> Product(const float* a, const float* b, const float* bias, size_t m, size_t n,
                           size_t k, bool transposes_a, bool transposes_b) {
  std::vector<float> c;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      float sum = bias == nullptr ? 0 : bias[j];
      for (size_t l = 0; l < k; ++l)
        sum += a[transposes_a ? l * m + i : i * k + l] * b[transposes_b ? j * k + l : l * n + j];
      c.push_back(sum);
    }
  }
  return c;
}

TEST_CASE("blas: products with and without a bias, of sizes that are known late") {
  const RelayvmRegionProvider* p = Opened(RELAYVM_BLAS_ENGINE, "blas");
  if (p == nullptr) return;
  const Tensor w = Numbered({4, 5}, 1), bias = Numbered({4}, 2);
  Loaded dense(*p,
               Region({Node("input", R"(2, "n0", 5)"), Node("const", "4, 5"), Node("const", "4"),
                       Kernel("nn.dense", R"(2, "n0", 4)", "[0, 0, 0], [1, 0, 0], [2, 0, 0]",
                              R"("bias input=2")")},
                      "[3, 0, 0]", R"("n0")"),
               {w, bias});
  for (const int64_t rows : {3, 1, 0, 8}) {
    const Tensor x = Numbered({2, rows, 5}, 3);
    const auto out = dense.Run({rows}, {x}, {{2, rows, 4}});
    REQUIRE_MESSAGE(dense.status() == RELAYVM_REGION_OK, dense.message());
    CHECK(out[0].data == Product(x.data.data(), w.data.data(), bias.data.data(),
                                 static_cast<size_t>(2 * rows), 4, 5, false, true));
  }
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const std::string attrs = std::string(R"("transpose_a": [[")") + (a ? "1" : "0") +
                                R"("]], "transpose_b": [[")" + (b ? "1" : "0") + "\"]]";
      Loaded product(*p,
                     Region({Node("input", a ? "5, 3" : "3, 5"), Node("input", b ? "4, 5" : "5, 4"),
                             Kernel("nn.matmul", "3, 4", "[0, 0, 0], [1, 0, 0]", "", attrs)},
                            "[2, 0, 0]"));
      const Tensor x = Numbered({a ? 5 : 3, a ? 3 : 5}, 4), y = Numbered({b ? 4 : 5, b ? 5 : 4}, 5);
      const auto out = product.Run({}, {x, y}, {{3, 4}});
      REQUIRE(product.status() == RELAYVM_REGION_OK);
      CHECK(out[0].data == Product(x.data.data(), y.data.data(), nullptr, 3, 4, 5, a, b));
    }
  }
}

TEST_CASE("blas: batches, one matrix for all of them, and products of products") {
  const RelayvmRegionProvider* p = Opened(RELAYVM_BLAS_ENGINE, "blas");
  if (p == nullptr) return;
  Loaded two(*p, Region({Node("input", "2, 3, 5"), Node("input", "1, 4, 5"),
                         Kernel("nn.batch_matmul", "2, 3, 4", "[0, 0, 0], [1, 0, 0]"),
                         Kernel("nn.batch_matmul", "2, 3, 3", "[2, 0, 0], [2, 0, 0]")},
                        "[2, 0, 0], [3, 0, 0]"));
  const Tensor x = Numbered({2, 3, 5}, 1), w = Numbered({1, 4, 5}, 2);
  const auto out = two.Run({}, {x, w}, {{2, 3, 4}, {2, 3, 3}});
  REQUIRE_MESSAGE(two.status() == RELAYVM_REGION_OK, two.message());
  for (size_t i = 0; i < 2; ++i) {
    const auto first =
        Product(x.data.data() + i * 15, w.data.data(), nullptr, 3, 4, 5, false, true);
    const auto second = Product(first.data(), first.data(), nullptr, 3, 3, 4, false, true);
    CHECK(std::equal(first.begin(), first.end(), out[0].data.begin() + static_cast<long>(i) * 12));
    CHECK(std::equal(second.begin(), second.end(), out[1].data.begin() + static_cast<long>(i) * 9));
  }
  two.Run({}, {x, w}, {{2, 3, 4}, {2, 3, 3}}, /*stops=*/true);
  CHECK(two.status() == RELAYVM_REGION_STOPPED);
}

// --- ccompiler ---

TEST_CASE("ccompiler: loops with broadcast operands, of sizes that are known late") {
  const RelayvmRegionProvider* p = Opened(RELAYVM_CCOMPILER_ENGINE, "ccompiler");
  if (p == nullptr) return;
  const Tensor row = Numbered({3}, 1);
  Loaded loops(*p,
               Region({Node("input", R"("n0", 3)"), Node("input", R"("n1", 1)"), Node("const", "3"),
                       Kernel("subtract", R"("n0", 3)", "[0, 0, 0], [2, 0, 0], [1, 0, 0]",
                              R"("multiply input=2", "add input=0")"),
                       Kernel("multiply", R"("n0", 3)", "[3, 0, 0], [3, 0, 0]")},
                      "[4, 0, 0]", R"("n0", "n1")"),
               {row});
  REQUIRE_MESSAGE(loops.status() == RELAYVM_REGION_OK, loops.message());
  const struct {
    int64_t n0, n1;
  } kSizes[] = {{4, 4}, {4, 1}, {0, 1}, {1, 1}};
  for (const auto& [n0, n1] : kSizes) {
    const Tensor x = Numbered({n0, 3}, 2), column = Numbered({n1, 1}, 3);
    const auto out = loops.Run({n0, n1}, {x, column}, {{n0, 3}});
    REQUIRE_MESSAGE(loops.status() == RELAYVM_REGION_OK, loops.message());
    for (size_t i = 0; i < x.data.size(); ++i) {
      const float y = (x.data[i] - row.data[i % 3]) * column.data[n1 == 1 ? 0 : i / 3] + x.data[i];
      CHECK(out[0].data[i] == y * y);
    }
  }
  loops.Run({4, 3}, {Numbered({4, 3}, 1), Numbered({3, 1}, 1)}, {{4, 3}});
  CHECK(loops.status() == RELAYVM_REGION_INVALID);
  CHECK(loops.message() == "an operand of another size");
}

TEST_CASE("tensors that are not the JSON's are neither read nor written") {
  for (const auto& [path, name] :
       {std::pair{RELAYVM_BLAS_ENGINE, "blas"}, std::pair{RELAYVM_CCOMPILER_ENGINE, "ccompiler"}}) {
    const RelayvmRegionProvider* p = Opened(path, name);
    if (p == nullptr) continue;
    const bool is_blas = std::string(name) == "blas";
    Loaded one(*p, Region({Node("input", R"("n0", 3)"), Node("input", "3, 3"),
                           is_blas ? Kernel("nn.dense", R"("n0", 3)", "[0, 0, 0], [1, 0, 0]")
                                   : Kernel("add", R"("n0", 3)", "[0, 0, 0], [0, 0, 0]")},
                          "[2, 0, 0]", R"("n0")"));
    const Tensor x = Numbered({2, 3}, 1), w = Numbered({3, 3}, 2), small = Numbered({1}, 3);
    one.Run({2}, {x, w}, {{2, 3}});
    CHECK_MESSAGE(one.status() == RELAYVM_REGION_OK, one.message());
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{1}, {2, 2}, {1, 2, 3}, {}}) {
      const auto out = one.Run({2}, {x, w}, {dims});
      CHECK(one.status() == RELAYVM_REGION_INVALID);
      CHECK(out[0].data == Numbered(dims, 99).data);
    }
    one.Run({1000}, {x, w}, {{1000, 3}});
    CHECK(one.status() == RELAYVM_REGION_INVALID);
    one.Run({2}, {x, small}, {{2, 3}});
    CHECK(one.status() == RELAYVM_REGION_INVALID);
  }
}

TEST_CASE("ccompiler: its folder is gone") {
  const RelayvmRegionProvider* p = Opened(RELAYVM_CCOMPILER_ENGINE, "ccompiler");
  if (p == nullptr) return;
  const auto folder = std::filesystem::temp_directory_path() / "engines_test.folder";
  std::filesystem::create_directories(folder);
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", folder.c_str(), 1);
  {
    Loaded sum(*p,
               Region({Node("input", ""), Kernel("add", "", "[0, 0, 0], [0, 0, 0]")}, "[1, 0, 0]"));
    CHECK(std::filesystem::is_empty(folder));
    CHECK(sum.Run({}, {Numbered({}, 5)}, {{}})[0].data[0] == Numbered({}, 5).data[0] * 2);
  }
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
  CHECK(std::filesystem::remove(folder));
}

// --- What is wrong ---

TEST_CASE("what an engine does not run, or no region is, is refused with a reason") {
  const RelayvmRegionProvider* p = Opened(RELAYVM_BLAS_ENGINE, "blas");
  if (p == nullptr) return;
  const std::string two = Node("input", "3, 5") + ", " + Node("input", "4, 5");
  const struct {
    std::string json;
    int32_t status;
    const char* message;
  } kCases[] = {
      {Region({two, Kernel("nn.relu", "3, 5", "[0, 0, 0]")}, "[2, 0, 0]"),
       RELAYVM_REGION_UNSUPPORTED, "nn.relu is no product"},
      {Region({two, Kernel("nn.dense", "3, 4", "[0, 0, 0], [1, 0, 0]", R"("relu")")}, "[2, 0, 0]"),
       RELAYVM_REGION_UNSUPPORTED, "step relu"},
      {Region({two, Kernel("nn.dense", "3, 4", "[0, 0, 0], [2, 0, 0]")}, "[2, 0, 0]"),
       RELAYVM_REGION_INVALID, "a kernel reads what does not stand before it"},
      {Region({two, Kernel("nn.dense", "3, 4", "[0, 0, 0], [1, 0, 0]", R"("bias input=7")")},
              "[2, 0, 0]"),
       RELAYVM_REGION_INVALID, "step bias input=7: there is no such input"},
      {Region({two}, "[5, 0, 0]"), RELAYVM_REGION_INVALID, "a head that is no node"},
      {Region({Node("input", "3, -5")}, "[0, 0, 0]"), RELAYVM_REGION_INVALID, "a dim below 0"},
      {Region({Node("input", R"("m")")}, "[0, 0, 0]"), RELAYVM_REGION_INVALID, ""},
      {Region({Node("const", "1")}, "[0, 0, 0]"), RELAYVM_REGION_INVALID,
       "another number of constants than the JSON's"},
      {"{", RELAYVM_REGION_INVALID, ""},
      {"[]", RELAYVM_REGION_INVALID, ""},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.json);
    const Loaded loaded(*p, c.json);
    CHECK(loaded.status() == c.status);
    CHECK(loaded.message() != "");
    if (c.message[0] != 0) CHECK(loaded.message() == c.message);
  }
  Loaded huge(*p, Region({Node("input", R"("n0", "n0")")}, "[0, 0, 0]", R"("n0")"));
  huge.Run({int64_t{1} << 40}, {}, {});
  CHECK(huge.status() == RELAYVM_REGION_INVALID);
  Loaded unlike(*p, Region({Node("input", R"("n0", 5)"), Node("input", R"(4, "n1")"),
                            Kernel("nn.dense", R"("n0", 4)", "[0, 0, 0], [1, 0, 0]")},
                           "[2, 0, 0]", R"("n0", "n1")"));
  unlike.Run({3, 6}, {}, {});
  CHECK(unlike.status() == RELAYVM_REGION_INVALID);
}

}  // namespace

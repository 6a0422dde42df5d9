#include "vm/engines/dnnl/dnnl_testing.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

namespace relayvm::onednn_testing {

int64_t Count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return count;
}

Tensor Random(const Dims& dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor t{dims, std::vector<float>(static_cast<size_t>(Count(dims)))};
  for (float& v : t.data) v = uniform(random);
  return t;
}

Tensor Map(Tensor t, const std::function<float(float)>& f) {
  for (float& v : t.data) v = f(v);
  return t;
}

namespace {

// Calls f with each index of these extents, in row-major order.
void ForEach(const Dims& dims, const std::function<void(const Dims&)>& f) {
  Dims at(dims.size(), 0);
  for (int64_t k = Count(dims); k > 0; --k) {
    f(at);
    for (size_t i = dims.size(); i-- > 0;) {
      if (++at[i] < dims[i]) break;
      at[i] = 0;
    }
  }
}

float At(const Tensor& t, const Dims& at) {
  int64_t offset = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) offset = offset * t.dims[i] + at[i];
  return t.data[static_cast<size_t>(offset)];
}

float AtBroadcast(const Tensor& t, Dims at) {
  at.erase(at.begin(), at.end() - static_cast<int64_t>(t.dims.size()));
  for (size_t i = 0; i < at.size(); ++i) at[i] = t.dims[i] == 1 ? 0 : at[i];
  return At(t, at);
}

}  // namespace

Tensor Transpose(const Tensor& t, const std::vector<int>& order) {
  Tensor result;
  for (const int axis : order) result.dims.push_back(t.dims[static_cast<size_t>(axis)]);
  ForEach(result.dims, [&](const Dims& at) {
    Dims from(at.size());
    for (size_t i = 0; i < order.size(); ++i) from[static_cast<size_t>(order[i])] = at[i];
    result.data.push_back(At(t, from));
  });
  return result;
}

Tensor Broadcast2(const Tensor& a, const Tensor& b, const std::function<float(float, float)>& f) {
  Tensor result;
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  for (size_t i = 0; i < rank; ++i) {
    const auto extent = [&](const Tensor& t) {
      const size_t missing = rank - t.dims.size();
      return i < missing ? 1 : t.dims[i - missing];
    };
    result.dims.push_back(extent(a) == 1 ? extent(b) : extent(a));
  }
  ForEach(result.dims, [&](const Dims& at) {
    result.data.push_back(f(AtBroadcast(a, at), AtBroadcast(b, at)));
  });
  return result;
}

Tensor AlongAxis(const Tensor& vector, int axis, int rank) {
  Tensor t = vector;
  t.dims.assign(static_cast<size_t>(rank), 1);
  t.dims[static_cast<size_t>(axis)] = Count(vector.dims);
  return t;
}

// --- Regions ---

std::vector<std::string> Texts(const Dims& numbers) {
  std::vector<std::string> texts;
  for (const int64_t v : numbers) texts.push_back(std::to_string(v));
  return texts;
}

Shape ShapeOf(const Dims& dims) { return {dims.begin(), dims.end()}; }

namespace {

std::string TypeText(const std::vector<Shape>& shapes, DType dtype) {
  std::vector<std::string> texts;
  const std::vector<std::string> dtypes(shapes.size(), fmt::format("\"{}\"", DTypeName(dtype)));
  for (const Shape& shape : shapes) {
    std::vector<std::string> dims;
    for (const Dim& d : shape) {
      dims.push_back(d.symbol.empty() ? std::to_string(d.value) : "\"" + d.symbol + "\"");
    }
    texts.push_back(fmt::format("[{}]", fmt::join(dims, ", ")));
  }
  return fmt::format(R"("dtype": [[{}]], "shape": [[{}]])", fmt::join(dtypes, ", "),
                     fmt::join(texts, ", "));
}

std::string TextsOf(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& t : texts) quoted.push_back("\"" + t + "\"");
  return fmt::format("[[{}]]", fmt::join(quoted, ", "));
}

}  // namespace

int Net::Add(std::string text, Shape shape, DType dtype) {
  for (const Dim& d : shape) {
    if (!d.symbol.empty() &&
        std::find(symbols_.begin(), symbols_.end(), d.symbol) == symbols_.end()) {
      symbols_.push_back(d.symbol);
    }
  }
  nodes_.push_back({std::move(text), std::move(shape), dtype, {}});
  return static_cast<int>(nodes_.size()) - 1;
}

int Net::Input(Shape shape, DType dtype) {
  inputs_.push_back(static_cast<int>(nodes_.size()));
  std::string text = fmt::format(R"({{"op": "input", "name": "i{}", "attrs": {{{}}}}})",
                                 inputs_.size() - 1, TypeText({shape}, dtype));
  return Add(std::move(text), std::move(shape), dtype);
}

int Net::Const(Tensor value, DType dtype) {
  Shape shape = ShapeOf(value.dims);
  std::string text = fmt::format(R"({{"op": "const", "name": "c{}", "attrs": {{{}}}}})",
                                 constants_.size(), TypeText({shape}, dtype));
  constants_.emplace_back(std::move(value), dtype);
  return Add(std::move(text), std::move(shape), dtype);
}

int Net::Kernel(const std::string& op, const std::vector<From>& inputs, Shape shape,
                const Attributes& attributes, const std::vector<std::string>& post_ops, DType dtype,
                const std::vector<Shape>& more_outputs) {
  std::vector<Shape> shapes = more_outputs;
  shapes.insert(shapes.begin(), shape);
  std::vector<std::string> refs;
  refs.reserve(inputs.size());
  for (const From& v : inputs) refs.push_back(fmt::format("[{}, {}, 0]", v.node, v.output));
  std::string attrs = TypeText(shapes, dtype);
  for (const auto& [name, values] : attributes) {
    attrs += fmt::format(R"(, "{}": {})", name, TextsOf(values));
  }
  if (!post_ops.empty()) attrs += fmt::format(R"(, "post_ops": {})", TextsOf(post_ops));
  std::string text = fmt::format(
      R"({{"op": "kernel", "name": "dnnl.{}", "inputs": [{}], "attrs": {{"num_inputs": "{}", )"
      R"("num_outputs": "1", "operator": [["{}"]], {}}}}})",
      op, fmt::join(refs, ", "), inputs.size(), op, attrs);
  const int added = Add(std::move(text), std::move(shape), dtype);
  nodes_.back().more_outputs = more_outputs;
  return added;
}

std::string Net::Json() const {
  std::vector<std::string> texts, heads, symbols;
  for (const Node& n : nodes_) texts.push_back(n.text);
  for (const From& h : heads_) heads.push_back(fmt::format("[{}, {}, 0]", h.node, h.output));
  for (const std::string& s : symbols_) symbols.push_back("\"" + s + "\"");
  return fmt::format(R"({{"nodes": [{}], "heads": [{}], "symbols": [{}]}})",
                     fmt::join(texts, ",\n"), fmt::join(heads, ", "), fmt::join(symbols, ", "));
}

Buffer::Buffer(const Tensor& t, DType dtype) : dims_(t.dims), dtype_(dtype) {
  constexpr size_t kAlignment = 64;
  const size_t n = t.data.size(), width = static_cast<size_t>(DTypeBytes(dtype));
  bytes_.resize(n * width + kAlignment);
  const auto at = reinterpret_cast<uintptr_t>(bytes_.data());
  data_ = bytes_.data() + (kAlignment - at % kAlignment) % kAlignment;
  for (size_t i = 0; i < n; ++i) {
    char* to = data_ + i * width;
    if (dtype == DType::kFloat32) {
      std::memcpy(to, &t.data[i], width);
    } else if (dtype == DType::kBFloat16) {
      uint32_t bits = 0;
      std::memcpy(&bits, &t.data[i], sizeof(bits));
      bits += 0x7FFFU + ((bits >> 16U) & 1U);
      const auto half = static_cast<uint16_t>(bits >> 16U);
      std::memcpy(to, &half, width);
    } else {
      const auto whole = static_cast<int32_t>(std::lround(t.data[i]));
      std::memcpy(to, &whole, width);
    }
  }
}

RelayvmRegionTensor Buffer::tensor() const {
  return {data_, dims_.data(), static_cast<uint32_t>(dims_.size()), static_cast<int32_t>(dtype_)};
}

Tensor Buffer::value() const {
  Tensor t{dims_, std::vector<float>(static_cast<size_t>(Count(dims_)))};
  const size_t width = static_cast<size_t>(DTypeBytes(dtype_));
  for (size_t i = 0; i < t.data.size(); ++i) {
    const char* from = data_ + i * width;
    if (dtype_ == DType::kFloat32) {
      std::memcpy(&t.data[i], from, width);
    } else if (dtype_ == DType::kBFloat16) {
      uint16_t half = 0;
      std::memcpy(&half, from, width);
      const uint32_t bits = static_cast<uint32_t>(half) << 16U;
      std::memcpy(&t.data[i], &bits, sizeof(bits));
    } else if (dtype_ == DType::kInt8) {
      t.data[i] = static_cast<float>(static_cast<int8_t>(*from));
    } else if (dtype_ == DType::kUInt8) {
      t.data[i] = static_cast<float>(static_cast<uint8_t>(*from));
    } else {
      int32_t whole = 0;
      std::memcpy(&whole, from, width);
      t.data[i] = static_cast<float>(whole);
    }
  }
  return t;
}

const RelayvmRegionProvider* Provider() {
  static const RelayvmRegionProvider* const provider = []() -> const RelayvmRegionProvider* {
    setenv("OMP_WAIT_POLICY", "passive", 0);  // spinning takes the processors from other tests
    void* library = dlopen(RELAYVM_DNNL_PROVIDER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, dlerror());
    const auto get =
        reinterpret_cast<RelayvmRegionProviderFn>(dlsym(library, RELAYVM_REGION_PROVIDER_SYMBOL));
    REQUIRE((get != nullptr));
    const RelayvmRegionProvider* found = get();
    const char* version = nullptr;
    RelayvmRegionError error = {};
    if (found->open(&version, &error) == RELAYVM_REGION_OK) return found;
    MESSAGE("skipped: ", error.message);
    return nullptr;
  }();
  return provider;
}

const RelayvmRegionProvider* CopyOfProvider() {
  static std::atomic<int> number = 0;
  const std::filesystem::path copy = std::filesystem::temp_directory_path() /
                                     fmt::format("relayvm_dnnl_{}_{}.so", getpid(), ++number);
  std::filesystem::copy_file(RELAYVM_DNNL_PROVIDER, copy,
                             std::filesystem::copy_options::overwrite_existing);
  void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(copy);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  return reinterpret_cast<RelayvmRegionProviderFn>(
      dlsym(library, RELAYVM_REGION_PROVIDER_SYMBOL))();
}

TestRegion::TestRegion(const Net& net, int32_t* status, std::string* message,
                       const RelayvmRegionProvider* provider)
    : provider_(provider), net_(net) {
  std::vector<RelayvmRegionTensor> tensors;
  constants_.reserve(net.constants().size());
  for (const auto& [value, dtype] : net.constants()) {
    constants_.emplace_back(value, dtype);
    tensors.push_back(constants_.back().tensor());
  }
  const std::string json = net.Json();
  RelayvmRegionError error = {};
  const int32_t code = provider_->create(json.data(), json.size(), tensors.data(),
                                         static_cast<uint32_t>(tensors.size()), &region_, &error);
  if (status == nullptr) REQUIRE_MESSAGE(code == RELAYVM_REGION_OK, error.message, "\n", json);
  if (status != nullptr) *status = code;
  if (message != nullptr) *message = error.message;
}

TestRegion::~TestRegion() {
  if (region_ != nullptr) provider_->destroy(region_);
}

Dims TestRegion::Resolve(const Shape& shape, const Dims& symbols) const {
  Dims dims;
  for (const Dim& d : shape) {
    const auto at = std::find(net_.symbols().begin(), net_.symbols().end(), d.symbol);
    dims.push_back(d.symbol.empty() ? d.value
                                    : symbols[static_cast<size_t>(at - net_.symbols().begin())]);
  }
  return dims;
}

std::vector<Tensor> TestRegion::Run(const Dims& symbols, const std::vector<Tensor>& inputs,
                                    uint32_t threads, int32_t* status, std::string* message) const {
  RelayvmPlan* plan = nullptr;
  uint64_t scratch_bytes = 0;
  RelayvmRegionError error = {};
  const auto said = [&](int32_t code) {
    if (status == nullptr)
      REQUIRE_MESSAGE(code == RELAYVM_REGION_OK, error.message, "\n", net_.Json());
    if (status != nullptr) *status = code;
    if (message != nullptr) *message = error.message;
    return code == RELAYVM_REGION_OK;
  };
  if (!said(provider_->prepare(region_, symbols.data(), static_cast<uint32_t>(symbols.size()),
                               threads, &plan, &scratch_bytes, &error))) {
    return {};
  }
  std::vector<Buffer> in, out;
  std::vector<RelayvmRegionTensor> in_tensors, out_tensors;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DType dtype = net_.nodes()[static_cast<size_t>(net_.inputs()[i])].dtype;
    in.emplace_back(inputs[i], dtype);
  }
  for (const From& h : net_.heads()) {
    const Net::Node& node = net_.nodes()[static_cast<size_t>(h.node)];
    const Shape& shape =
        h.output == 0 ? node.shape : node.more_outputs[static_cast<size_t>(h.output) - 1];
    Tensor t{Resolve(shape, symbols), {}};
    t.data.assign(static_cast<size_t>(Count(t.dims)), 77.0F);  // not what memory had before
    out.emplace_back(t, node.dtype);
  }
  for (const Buffer& b : in) in_tensors.push_back(b.tensor());
  for (const Buffer& b : out) out_tensors.push_back(b.tensor());
  const int64_t scratch_elements = static_cast<int64_t>(scratch_bytes / 4 + 1);
  const Buffer scratch(
      Tensor{{scratch_elements}, std::vector<float>(static_cast<size_t>(scratch_elements), NAN)},
      DType::kFloat32);
  const RelayvmRegionEnv env = {sizeof(RelayvmRegionEnv), threads,
                                [](const RelayvmRegionEnv*) -> int32_t { return 0; }};
  const int32_t code =
      provider_->run(region_, plan, &env, in_tensors.data(), static_cast<uint32_t>(in.size()),
                     out_tensors.data(), static_cast<uint32_t>(out.size()),
                     scratch_bytes == 0 ? nullptr : scratch.tensor().data, &error);
  provider_->release(region_, plan);
  if (!said(code)) return {};
  std::vector<Tensor> results;
  results.reserve(out.size());
  for (const Buffer& b : out) results.push_back(b.value());
  return results;
}

std::vector<Tensor> RunOnce(const Net& net, const Dims& symbols,
                            const std::vector<Tensor>& inputs) {
  return TestRegion(net).Run(symbols, inputs);
}

std::string Refusal(const Net& net) {
  int32_t status = 0;
  std::string message;
  const TestRegion region(net, &status, &message);
  return fmt::format("{}: {}", status, message);
}

std::string Refusal(const std::string& json) {
  RelayvmRegion* region = nullptr;
  RelayvmRegionError error = {};
  const int32_t status = Provider()->create(json.data(), json.size(), nullptr, 0, &region, &error);
  if (region != nullptr) Provider()->destroy(region);
  return fmt::format("{}: {}", status, static_cast<const char*>(error.message));
}

void CheckClose(const Tensor& found, const Tensor& expected, double tolerance) {
  REQUIRE(found.dims == expected.dims);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    double error = std::abs(double{found.data[i]} - double{expected.data[i]}) /
                   (1 + std::abs(double{expected.data[i]}));
    if (found.data[i] == expected.data[i]) error = 0;  // infinities
    if (!(error <= worst)) worst = error, where = i;
  }
  if (expected.data.empty()) return;
  CAPTURE(where);
  CAPTURE(found.data[where]);
  CAPTURE(expected.data[where]);
  CHECK(worst <= tolerance);
}

}  // namespace relayvm::onednn_testing

// Tensors that are subviews of others in a frame's arena: what is joined and split gives what it
// should, whatever else reads, overwrites or joins the same tensors, and no kernel is left that
// only copies. The oracle computes on vectors of floats as programs are made.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

std::vector<float> Run(const Compiled& compiled, const std::vector<int64_t>& dims,
                       const std::vector<float>& x) {
  auto executable = Executable::FromProgram(compiled.program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  auto y = (*invocation)->Run("main", {*Value::CopyTensor(DType::kFloat32, dims, x.data())});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  const auto* data = static_cast<const float*>(y->data());
  return {data, data + y->num_elements()};
}

// Kernels whose name starts so.
size_t CountKernels(const Compiled& compiled, const std::string& prefix) {
  const auto& kernels = compiled.program.kernels;
  return static_cast<size_t>(std::count_if(
      kernels.begin(), kernels.end(), [&](const auto& k) { return k.name.rfind(prefix, 0) == 0; }));
}

// A program on tensors of (1, channels, 4, 4), with its values.
class Net {
 public:
  explicit Net(uint32_t seed) : random_(seed) {
    Tensor x{"%x", kChannels, {}};
    for (int i = 0; i < kChannels * kPixels; ++i)
      x.data.push_back(static_cast<float>(static_cast<int>(random_() % 64)) - 32);
    tensors_.push_back(x);
    for (int i = 0; i < 14; ++i) Step();
    // Some are read at the end, when all subviews were made; the others die where they are used.
    result_ = Tensor{"", 1, std::vector<float>(kPixels, 0.0F)};
    std::string sum;
    for (const Tensor& t : tensors_) {
      if (random_() % 3 != 0 && &t != &tensors_.back()) continue;
      const std::string part = Let(fmt::format("sum({}, axis=[1], keepdims=True)", t.name));
      sum = sum.empty() ? part : Let(fmt::format("add({}, {})", sum, part));
      for (size_t i = 0; i < t.data.size(); ++i) result_.data[i % kPixels] += t.data[i];
    }
    text_ += fmt::format("  {}\n}}\n", sum);
  }

  std::string text() const {
    return fmt::format("def @main(%x: Tensor[(1, {}, 4, 4), float32]) {{\n{}", kChannels, text_);
  }
  const std::vector<float>& input() const { return tensors_[0].data; }
  const std::vector<float>& expected() const { return result_.data; }

  static constexpr int kChannels = 8, kPixels = 16;

 private:
  struct Tensor {
    std::string name;
    int channels;
    std::vector<float> data;
  };

  std::string Let(const std::string& value) {
    const std::string name = fmt::format("%v{}", count_++);
    text_ += fmt::format("  let {} = {};\n", name, value);
    return name;
  }
  // More often what was made last.
  const Tensor& Any() {
    const size_t back = std::min<size_t>(random_() % 5, tensors_.size() - 1);
    return tensors_[tensors_.size() - 1 - back];
  }
  void Add(const std::string& value, int channels, std::vector<float> data) {
    // Small integers, which floats hold.
    for (const float v : data) REQUIRE(std::abs(v) < 1 << 20);
    tensors_.push_back({Let(value), channels, std::move(data)});
  }

  void Step() {
    const Tensor x = Any();
    switch (random_() % 5) {
      case 0: {
        std::vector<float> y = x.data;
        for (float& v : y) v = std::max(v, 1.0F);
        Add(fmt::format("maximum({}, 1f)", x.name), x.channels, y);
        break;
      }
      case 1: {
        std::vector<float> y = x.data;
        for (float& v : y) v = -v;
        Add(fmt::format("negative({})", x.name), x.channels, y);
        break;
      }
      case 2:
      case 3: {
        std::string names;
        std::vector<float> y;
        int channels = 0;
        for (uint32_t i = 2 + random_() % 3; i > 0; --i) {
          const Tensor part = i == 1 ? x : Any();
          if (channels + part.channels > 64) continue;
          names += (names.empty() ? "" : ", ") + part.name;
          y.insert(y.end(), part.data.begin(), part.data.end());
          channels += part.channels;
        }
        if (channels > 0) Add(fmt::format("concatenate(({},), axis=1)", names), channels, y);
        break;
      }
      default: {
        if (x.channels % 2 != 0) break;
        const std::string parts =
            Let(fmt::format("split({}, indices_or_sections=2, axis=1)", x.name));
        const size_t half = x.data.size() / 2;
        for (const size_t i : {size_t{0}, size_t{1}}) {
          const auto begin = x.data.begin() + static_cast<std::ptrdiff_t>(i * half);
          Add(fmt::format("{}.{}", parts, i), x.channels / 2,
              {begin, begin + static_cast<std::ptrdiff_t>(half)});
        }
      }
    }
  }

  std::mt19937 random_;
  int count_ = 0;
  std::string text_;
  std::vector<Tensor> tensors_;
  Tensor result_;
};

TEST_CASE("random programs that join and split compute what they state") {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const Net net(seed);
    CAPTURE(seed);
    CAPTURE(net.text());
    CHECK(Run(Compile(net.text()), {1, Net::kChannels, 4, 4}, net.input()) == net.expected());
  }
}

TEST_CASE("static joins and splits leave no kernel that only copies") {
  struct Case {
    const char* what;
    const char* body;  // of %x: (1, 32, 8, 8)
    size_t copies;     // kernels that join, split or copy
  };
  const std::string conv =
      "nn.conv2d({}, ones(shape=[16, 32, 1, 1], dtype=\"float32\"), "
      "channels=16, kernel_size=[1, 1])";
  const Case cases[] = {
      {"a fire module's",
       "let %a = nn.relu({0});\n let %b = tanh({0});\n"
       "nn.global_avg_pool2d(concatenate((%a, %b), axis=1))",
       0},
      {"in rows",
       "let %a = nn.relu({0});\n let %b = nn.max_pool2d(concatenate((%a, tanh({0})), axis=1), "
       "pool_size=[3, 3], padding=[1, 1]);\n let %c = nn.max_pool2d(%b, pool_size=[3, 3], "
       "padding=[1, 1]);\n nn.global_avg_pool2d(concatenate((%b, %c), axis=1))",
       0},
      {"a shuffle's halves",
       "let %a = nn.relu({0});\n let %s = split(%a, indices_or_sections=2, axis=1);\n"
       "let %l = %s.0;\n let %r = nn.max_pool2d(%s.1, pool_size=[3, 3], padding=[1, 1]);\n"
       "nn.global_avg_pool2d(nn.max_pool2d(%l, pool_size=[2, 2]) ) ",
       0},
      {"the same twice",
       "let %a = nn.relu({0});\n"
       "nn.global_avg_pool2d(concatenate((%a, %a), axis=1))",
       1},
      {"a parameter",
       "let %a = nn.max_pool2d(%x, pool_size=[1, 1]);\n"
       "nn.global_avg_pool2d(concatenate((%x, %a), axis=1))",
       1},
      {"along the columns",
       "let %a = nn.relu({0});\n let %b = tanh({0});\n"
       "nn.global_avg_pool2d(concatenate((%a, %b), axis=3))",
       0},
      {"a result", "let %a = nn.relu({0});\n let %b = tanh({0});\n concatenate((%a, %b), axis=1)",
       0},
  };
  const std::string of_x = fmt::format(fmt::runtime(conv), "%x");
  for (const Case& c : cases) {
    CAPTURE(std::string(c.what));
    const Compiled compiled = Compile("def @main(%x: Tensor[(1, 32, 8, 8), float32]) {\n" +
                                      fmt::format(fmt::runtime(c.body), of_x) + "\n}\n");
    std::string names;
    for (const auto& k : compiled.program.kernels) names += k.name + " ";
    CAPTURE(names);
    CHECK(CountKernels(compiled, "concatenate") + CountKernels(compiled, "split") +
              CountKernels(compiled, "copy") + CountKernels(compiled, "fused_split") ==
          c.copies);
  }
}

}  // namespace
}  // namespace relayvm

// Products of (batch, sequence, k) tensors as importers write them, one of batch * sequence rows
// between two reshapes, with random operators behind: the result is that of an oracle which
// computes on vectors of floats as the program is made, in numbers that floats hold exactly. What
// follows a product alone is in its kernel.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using Sizes = std::vector<int64_t>;

// A tensor of the sequence: rows x columns.
using Rows = std::vector<float>;

class Program {
 public:
  Program(uint32_t seed, int steps, bool branches)
      : random_(seed), batch_(Pick({1, 2, 3})), length_(Pick({1, 4, 7})), columns_(Pick({8, 20})) {
    input = Numbers(rows() * columns_);
    values_ = {{"%x", input}};
    Product();
    for (int i = 0; i < steps; ++i) Step(branches);
    result = values_.back().numbers;
    const auto text = [&](const std::string& batch, const std::string& length) {
      return fmt::format("def @main(%x: Tensor[({}, {}, {}), float32]) {{\n{}  {}\n}}\n", batch,
                         length, columns_, body_, values_.back().name);
    };
    texts = {text(std::to_string(batch_), std::to_string(length_)),
             text(std::to_string(batch_), "?"), text("?", "?")};
  }

  Sizes dims() const { return {batch_, length_, columns_}; }
  Rows input;
  Rows result;
  std::vector<std::string> texts;  // of known and of open dims

 private:
  struct Named {
    std::string name;
    Rows numbers;
  };

  int64_t Pick(const Sizes& choices) { return choices[random_() % choices.size()]; }
  int64_t rows() const { return batch_ * length_; }
  Rows Numbers(int64_t n) {
    Rows out;
    for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(random_() % 3) - 1);
    return out;
  }
  void Let(const std::string& call, Rows numbers) {
    const std::string name = fmt::format("%t{}", count_++);
    body_ += fmt::format("  let {} = {};\n", name, call);
    values_.push_back({name, std::move(numbers)});
  }
  std::string Bound(const std::string& call) {
    const std::string name = fmt::format("%c{}", count_++);
    body_ += fmt::format("  let {} = {};\n", name, call);
    return name;
  }

  // Of the newest value most often, with weights 1 on two diagonals.
  void Product() {
    const Named from = values_.back();
    const std::string w = Bound(
        fmt::format("add(one_hot(arange(0, {0}, 1, dtype=\"int32\"), 1f, 0f, depth={0}, axis=-1, "
                    "dtype=\"float32\"), one_hot(arange(1, {1}, 1, dtype=\"int32\"), 1f, 0f, "
                    "depth={0}, axis=-1, "
                    "dtype=\"float32\"))",
                    columns_, columns_ + 1));
    Rows out(from.numbers.size());
    for (int64_t r = 0; r < rows(); ++r) {
      for (int64_t c = 0; c < columns_; ++c) {
        const auto at = [&](int64_t k) {
          return k < columns_ ? from.numbers[static_cast<size_t>(r * columns_ + k)] : 0.0F;
        };
        out[static_cast<size_t>(r * columns_ + c)] = at(c) + at(c + 1);
      }
    }
    const std::string product =
        Bound(fmt::format("nn.dense(reshape({}, newshape=[-1, {}]), {})", from.name, columns_, w));
    Let(fmt::format("reshape_like({}, %x)", product), std::move(out));
  }

  void Step(bool branches) {
    const Named from =
        branches && random_() % 4 == 0 ? values_[random_() % values_.size()] : values_.back();
    const auto with = [&](const std::string& op, const Rows& other,
                          const std::function<float(float, float)>& f) {
      Rows out = from.numbers;
      for (size_t i = 0; i < out.size(); ++i) out[i] = f(out[i], other[i % other.size()]);
      return std::pair(op, std::move(out));
    };
    const auto add = [](float a, float b) { return a + b; };
    const auto larger = [](float a, float b) { return std::max(a, b); };
    switch (random_() % (branches ? 9 : 6)) {
      case 0: {  // a bias, of one of three ranks
        Rows bias;
        for (int64_t i = 0; i < columns_; ++i) bias.push_back(static_cast<float>(i - 3));
        std::string name =
            Bound(fmt::format("arange(-3f, {}f, 1f, dtype=\"float32\")", columns_ - 3));
        for (int64_t n = Pick({0, 1, 2}); n > 0; --n)
          name = Bound(fmt::format("expand_dims({}, axis=0)", name));
        auto [op, out] = with("add", bias, add);
        const bool first = random_() % 2 == 0;
        return Let(
            fmt::format("{}({}, {})", op, first ? name : from.name, first ? from.name : name),
            std::move(out));
      }
      case 1:
        return Let(fmt::format("maximum({}, 1f)", from.name), with("maximum", {1}, larger).second);
      case 2:
        return Let(fmt::format("negative({})", from.name),
                   with("negative", {0}, [](float a, float) { return -a; }).second);
      case 3:  // a residual
        return Let(fmt::format("add({}, %x)", from.name), with("add", input, add).second);
      case 4:
        return Let(fmt::format("add({0}, nn.relu({0}))", from.name),
                   with("", {0}, [](float a, float) { return a + std::max(a, 0.0F); }).second);
      case 5:
        return Let(fmt::format("cast(cast({}, dtype=\"int32\"), dtype=\"float32\")", from.name),
                   Rows(from.numbers));
      case 6: {  // an older value
        const Named& other = values_[random_() % values_.size()];
        return Let(fmt::format("subtract({}, {})", from.name, other.name),
                   with("", other.numbers, [](float a, float b) { return a - b; }).second);
      }
      case 7: {  // what takes the greatest of each row off
        Rows out = from.numbers;
        for (int64_t r = 0; r < rows(); ++r) {
          const auto first = out.begin() + r * columns_;
          const float most = *std::max_element(first, first + columns_);
          std::transform(first, first + columns_, first, [&](float v) { return v - most; });
        }
        return Let(fmt::format("subtract({0}, max({0}, axis=[2], keepdims=True))", from.name),
                   std::move(out));
      }
      default:
        return Product();
    }
  }

  std::mt19937 random_;
  int64_t batch_, length_, columns_;
  int count_ = 0;
  std::string body_;
  std::vector<Named> values_;
};

void Check(const Program& program, const Compiled& compiled) {
  auto executable = Executable::FromProgram(compiled.program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  const Value x = *Value::CopyTensor(DType::kFloat32, program.dims(), program.input.data());
  auto y = (*invocation)->Run("main", {{x}});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  CHECK(Sizes(y->dims().begin(), y->dims().end()) == program.dims());
  const auto* data = static_cast<const float*>(y->data());
  CHECK(Rows(data, data + y->num_elements()) == program.result);
}

TEST_CASE("what follows a product of rows alone is one kernel with it") {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const Program program(seed, 4, false);
    for (const std::string& text : program.texts) {
      CAPTURE(seed);
      CAPTURE(text);
      const Compiled compiled = Compile(text);
      CHECK(compiled.program.kernels.size() == 1);
      Check(program, compiled);
    }
  }
}

TEST_CASE("random operators around products of rows") {
  for (uint32_t seed = 100; seed < 124; ++seed) {
    const Program program(seed, 9, true);
    for (const std::string& text : program.texts) {
      CAPTURE(seed);
      CAPTURE(text);
      Check(program, Compile(text));
    }
  }
}

}  // namespace
}  // namespace relayvm

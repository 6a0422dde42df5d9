// Each form against the numbers that its bits are said to hold, read here by hand; what kernels
// read of it is tested by kernels/codegen/contraction/weights_test.cc, what the compiler packs by
// compiler/transforms/products/pack_weights_test.cc.
#include "kernels/op/weight_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/op/op_helpers.h"
#include "kernels/op/testing.h"
#include "kernels/runtime/half.h"

namespace relayvm {
namespace {

// Rows of words or elements of a column of a block or panel.
struct Column {
  const std::byte* data;
  int64_t width;

  template <typename T>
  T Row(int64_t row) const {
    T value;
    std::memcpy(&value, data + row * width * static_cast<int64_t>(sizeof value), sizeof value);
    return value;
  }
};

struct Said {
  const char* name;
  int64_t bytes;  // that 32 weights take, scales included
  double error;   // at most, of the largest weight of a block; without blocks, of the weight
  double (*number)(const Column& column, int64_t k);
};
constexpr Said kSaid[] = {
    {"fp32", 128, 0, [](const Column& c, int64_t k) -> double { return c.Row<float>(k); }},
    {"fp16", 64, 0x1p-11,
     [](const Column& c, int64_t k) -> double { return HalfToFloat(c.Row<uint16_t>(k)); }},
    {"bf16", 64, 0x1p-8,
     [](const Column& c, int64_t k) -> double {
       return std::bit_cast<float>(c.Row<uint32_t>(k / 2) >> (k % 2 * 16) << 16);
     }},
    {"int8", 32, 0,
     [](const Column& c, int64_t k) -> double {
       return static_cast<int8_t>(c.Row<uint32_t>(k / 4) >> (k % 4 * 8));
     }},
    {"q8", 36, 0.5 / 127, [](const Column& c, int64_t k) -> double { return c.Row<int8_t>(k); }},
    // Where a weight is as far from 0 as the largest, on the other side.
    {"q4", 20, 1. / 8,
     [](const Column& c, int64_t k) -> double {
       return static_cast<int>(c.Row<uint32_t>(k / 8) >> (k % 8 * 4) & 15) - 8;
     }},
    {"q6", 28, 1. / 32,
     [](const Column& c, int64_t k) -> double {
       // Sixteen in three words.
       int number = 0;
       for (int64_t bit = k * 6 + 5; bit >= k * 6; --bit)
         number = number * 2 + static_cast<int>(c.Row<uint32_t>(bit / 32) >> (bit % 32) & 1);
       return number - 32;
     }},
};

int64_t CeilDiv32(int64_t n) { return (n + 31) / 32; }

// What kernels and the reference read of a packed weight, (k, n).
std::vector<te::Scalar> Evaluated(const WeightForm& form, const std::vector<HostTensor>& packed,
                                  int64_t n, int64_t k) {
  std::vector<te::Tensor> inputs;
  std::vector<const HostTensor*> values;
  for (const HostTensor& t : packed) {
    std::vector<Dim> shape(t.shape.begin(), t.shape.end());
    const DType dtype = form.in_words() && inputs.empty() ? DType::kUInt32 : t.dtype;
    if (dtype != t.dtype && shape.size() == 4 && form.block == 0) shape.pop_back();
    inputs.push_back(te::Placeholder("p", shape, dtype, static_cast<int>(inputs.size())));
    values.push_back(&t);
  }
  const int64_t width = packed[0].shape[form.block == 0 ? 2 : 3];
  const int64_t block = form.block == 0 ? 1 << 20 : form.block;
  const te::Tensor all = te::Compute("w", {k, n}, [&](const std::vector<te::Expr>& i) {
    const te::Expr panel = FloorDivExpr(i[1], Int(width)), column = FloorModExpr(i[1], Int(width));
    const te::Expr index = FloorDivExpr(i[0], Int(block));
    const te::Expr number = NumberOf(
        form, FloorModExpr(i[0], Int(block)),
        [&](const te::Expr& row) {
          return te::Load(inputs[0], form.block == 0
                                         ? std::vector<te::Expr>{panel, row, column}
                                         : std::vector<te::Expr>{panel, index, row, column});
        },
        nullptr);
    return form.block == 0 ? number : number * te::Load(inputs[1], {panel, index, column});
  });
  // Words are read as such.
  HostTensor words = packed[0];
  if (inputs[0]->dtype != words.dtype) {
    words.dtype = inputs[0]->dtype;
    if (form.block == 0) words.shape.pop_back();
    values[0] = &words;
  }
  auto result = te::Evaluate(all, values, [](uint32_t) { return std::nullopt; });
  REQUIRE_MESSAGE(result.ok(), result.status().ToString());
  return op_testing::Elements(*result);
}

TEST_CASE("a batch of weights is its matrices, one after the other") {
  std::vector<double> numbers(size_t{3} * 10 * 7);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 97);
  for (const WeightForm& form : WeightForms()) {
    if (form.block != 0 || form.given != DType::kFloat32) continue;
    for (bool transposed : {false, true}) {
      const HostTensor all = op_testing::F32({3, 10, 7}, numbers);
      const HostTensor packed = PackWeight(form, all, transposed, 4);
      const SharedBytes got = packed.data.Loaded();
      CHECK(packed.shape[0] == 3);
      for (int64_t b = 0; b < 3; ++b) {
        const HostTensor one =
            op_testing::F32({10, 7}, {numbers.begin() + b * 70, numbers.begin() + b * 70 + 70});
        const HostTensor expected = PackWeight(form, one, transposed, 4);
        const SharedBytes bytes = expected.data.Loaded();
        CHECK(std::equal(expected.shape.begin(), expected.shape.end(), packed.shape.begin() + 1));
        CHECK(std::memcmp(got.data() + static_cast<size_t>(b) * bytes.size(), bytes.data(),
                          bytes.size()) == 0);
      }
    }
  }
}

TEST_CASE("weights of each form are within its error, and read as its bits are said to be") {
  for (const WeightForm& form : WeightForms()) {
    CAPTURE(form.name);
    const auto* said =
        std::ranges::find_if(kSaid, [&](const Said& s) { return s.name == form.name; });
    REQUIRE_MESSAGE(said != std::end(kSaid), "no test says what the form is");
    struct Case {
      int64_t n, k, width;
      bool transposed;
    };
    for (const Case& c :
         {Case{1, 1, 8, true}, {5, 64, 4, false}, {33, 40, 16, true}, {70, 131, 32, false}}) {
      CAPTURE(c.k);
      std::vector<double> numbers;
      for (int64_t i = 0; i < c.n * c.k; ++i) {
        const double wave = std::sin(static_cast<double>(i) * 1.7) * (1 + i % 5);
        numbers.push_back(form.given == DType::kInt8 ? std::round(wave * 25) : wave);
      }
      const HostTensor w = op_testing::Host(
          form.given, c.transposed ? std::vector{c.n, c.k} : std::vector{c.k, c.n}, numbers);
      std::vector<HostTensor> packed = {PackWeight(form, w, c.transposed, c.width)};
      if (form.block != 0) packed.push_back(PackWeightScales(form, w, c.transposed, c.width));
      size_t bytes = 0;
      for (HostTensor& t : packed) {
        t.data = t.data.Loaded();
        bytes += t.data.size();
      }
      const int64_t panels = (c.n + c.width - 1) / c.width;
      CHECK(static_cast<int64_t>(bytes) <= panels * c.width * CeilDiv32(c.k) * said->bytes);
      const std::vector<te::Scalar> evaluated = Evaluated(form, packed, c.n, c.k);
      const int64_t block = form.block == 0 ? c.k : form.block;
      const int64_t rows = packed[0].shape[form.block == 0 ? 1 : 2];
      const int64_t blocks = form.block == 0 ? 1 : packed[0].shape[1];
      const int64_t row_bytes = form.in_words() ? 4 : DTypeBytes(form.stored);
      for (int64_t j = 0; j < c.n; ++j) {
        for (int64_t i = 0; i < c.k; ++i) {
          const auto given = [&](int64_t at) {
            return static_cast<double>(static_cast<float>(
                numbers[static_cast<size_t>(c.transposed ? j * c.k + at : at * c.n + j)]));
          };
          const int64_t of = j / c.width * blocks + i / block;
          const Column column{
              packed[0].data.data() + (of * rows * c.width + j % c.width) * row_bytes, c.width};
          double number = said->number(column, i % block), most = std::abs(given(i));
          if (form.block != 0) {
            float scale;
            std::memcpy(&scale, packed[1].data.data() + (of * c.width + j % c.width) * 4, 4);
            number = static_cast<float>(number) * scale;
            for (int64_t at = i / block * block; at < std::min(c.k, i / block * block + block);
                 ++at)
              most = std::max(most, std::abs(given(at)));
          }
          if (form.sum == DType::kFloat32)
            CHECK(evaluated[static_cast<size_t>(i * c.n + j)].f == number);
          CHECK(std::abs(number - given(i)) <= most * said->error * (1 + 1e-5));
        }
      }
    }
  }
}

TEST_CASE("blocks with what is no number are none; those of one number keep it") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const WeightForm& form : WeightForms()) {
    if (form.block == 0) continue;
    CAPTURE(form.name);
    const auto numbers_of = [&](const std::vector<double>& numbers) {
      const HostTensor w = op_testing::F32({1, form.block}, numbers);
      const std::vector<HostTensor> packed = {PackWeight(form, w, true, 4),
                                              PackWeightScales(form, w, true, 4)};
      return Evaluated(form, packed, 1, form.block);
    };
    const std::vector<double> ones(static_cast<size_t>(form.block), 1);
    for (const double bad : {kInfinity, -kInfinity, std::nan("")}) {
      std::vector<double> numbers = ones;
      numbers[3] = bad;
      for (const te::Scalar& got : numbers_of(numbers)) CHECK(std::isnan(got.f));
    }
    for (const double number : {0.0, -0.0, 1.0, -2.0, 1e-45, 3e38, -3e38}) {
      for (const te::Scalar& got : numbers_of(std::vector<double>(ones.size(), number)))
        CHECK(std::abs(got.f - number) <= std::abs(number) * 1e-6 + 2e-45);
    }
  }
}

TEST_CASE("words hold numbers of any bits") {
  for (int bits = 2; bits <= 16; ++bits) {
    CAPTURE(bits);
    const float furthest = -std::exp2(static_cast<float>(bits - 1));
    const WeightForm form = {.name = "any",
                             .stored = DType::kUInt32,
                             .packed_bits = bits,
                             .block = 64,
                             .furthest = furthest};
    REQUIRE(form.Rows(64) == 2 * bits);
    std::vector<double> numbers;
    for (int i = 0; i < 2 * 64; ++i)
      numbers.push_back(std::round(std::sin(i * 1.7) * (-furthest - 1)));
    numbers[5] = numbers[70] = furthest;  // so that the scale is 1
    const HostTensor w = op_testing::F32({2, 64}, numbers);
    const std::vector<HostTensor> packed = {PackWeight(form, w, true, 4),
                                            PackWeightScales(form, w, true, 4)};
    const std::vector<te::Scalar> got = Evaluated(form, packed, 2, 64);
    for (size_t i = 0; i < numbers.size(); ++i) CHECK(got[i % 64 * 2 + i / 64].f == numbers[i]);
  }
}

TEST_CASE("forms are found by name, by what they are stored as, and by their bits") {
  CHECK(FindWeightForm("q8")->stored == DType::kInt8);
  CHECK(FindWeightForm("q9") == nullptr);
  CHECK(WeightFormNames("precision") == "fp32 or bf16");
  CHECK(WeightFormOfPanels(DType::kFloat32, 3, DType::kFloat32) == nullptr);
  CHECK(WeightFormOfPanels(DType::kFloat16, 3, DType::kFloat16) == nullptr);
  CHECK(WeightFormOfPanels(DType::kFloat16, 3, DType::kFloat32) == FindWeightForm("fp16"));
  CHECK(WeightFormOfPanels(DType::kBFloat16, 4, DType::kFloat32) == FindWeightForm("bf16"));
  CHECK(WeightFormOfBlocks(DType::kUInt32, "") == FindWeightForm("q4"));
  CHECK(WeightFormOfBlocks(DType::kInt8, "q4") == nullptr);
  CHECK(WeightFormOfBits(8) == FindWeightForm("q8"));
  for (const WeightForm& form : WeightForms()) {
    // Names are told apart in options, and words hold whole blocks.
    CHECK(FindWeightForm(form.name) == &form);
    if (form.block != 0) CHECK(form.NumbersOf(form.Rows(form.block)) == form.block);
  }
}

}  // namespace
}  // namespace relayvm

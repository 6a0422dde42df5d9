#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

TEST_CASE("get_valid_counts compacts what passes") {
  const Array data = Make<float>({1, 4, 3}, {0, 0.9f, 1, 1, 0.2f, 2, -1, 0.8f, 3, 2, 0.6f, 4});
  const std::vector<Array> out = {Empty<int32_t>({1}), Empty<float>({1, 4, 3}),
                                  Empty<int32_t>({1, 4})};
  CallResult r = Call("get_valid_counts", {data, Make<float>({}, {0.5f})}, out, {0, 1});
  CHECK(r.outputs[0].as<int32_t>() == Ints{2});
  CHECK(r.outputs[1].as<float>() == Floats{0, 0.9f, 1, 2, 0.6f, 4, -1, -1, -1, -1, -1, -1});
  CHECK(r.outputs[2].as<int32_t>() == Ints{0, 3, -1, -1});
  r = Call("get_valid_counts", {data, Make<float>({}, {0.5f})}, out, {-1, 1});  // without ids
  CHECK(r.outputs[2].as<int32_t>() == Ints{0, 2, 3, -1});
  CHECK(Call("get_valid_counts", {data, Make<float>({}, {0.5f})}, out, {0, 3}).error != 0);
}

// Rows are (class, score, left, top, right, bottom).
const Array kBoxes =
    Make<float>({1, 5, 6}, {0,  0.8f, 1, 20,   25, 45, 1,  0.7f, 30, 60,   50,  80, 0,  0.4f, 4, 21,
                            19, 40,   2, 0.9f, 35, 61, 52, 79,   1,  0.5f, 100, 60, 70, 110});

struct Nms {
  int64_t force_suppress = 0, top_k = -1, return_indices = 0, invalid_to_bottom = 0;
  int32_t most = -1;
  float threshold = 0.7f;

  CallResult Run() const {
    std::vector<Array> out;
    if (return_indices != 0) {
      out = {Empty<int32_t>({1, 5}), Empty<int32_t>({1, 1})};
    } else {
      out = {Empty<float>({1, 5, 6})};
    }
    return Call(return_indices != 0 ? "non_max_suppression_indices" : "non_max_suppression",
                {kBoxes, Make<int32_t>({1}, {4}), Make<int32_t>({1, 5}, {0, 1, 3, 4, -1}),
                 Make<int32_t>({}, {most}), Make<float>({}, {threshold})},
                out, {force_suppress, top_k, 2, 1, 0, return_indices, invalid_to_bottom});
  }
};

TEST_CASE("non_max_suppression orders by score and suppresses overlaps") {
  Floats rows = Nms{}.Run().outputs[0].as<float>();
  CHECK(Floats(rows.begin(), rows.begin() + 2) == Floats{2, 0.9f});
  CHECK(Floats(rows.begin() + 6, rows.begin() + 8) == Floats{0, 0.8f});
  CHECK(rows[12] == 1);   // another class: kept
  CHECK(rows[18] == 0);   // little overlap: kept
  CHECK(rows[24] == -1);  // beyond valid_count
  // Across classes the third is suppressed, in place or moved to the end.
  rows = Nms{.force_suppress = 1, .threshold = 0.5f}.Run().outputs[0].as<float>();
  CHECK(rows[12] == -1);
  rows = Nms{.force_suppress = 1, .invalid_to_bottom = 1, .threshold = 0.5f}
             .Run()
             .outputs[0]
             .as<float>();
  CHECK(rows[12] == 0);
  CHECK(rows[18] == -1);
}

TEST_CASE("non_max_suppression returns indices, at most so many") {
  CallResult r = Nms{.force_suppress = 1, .return_indices = 1, .threshold = 0.5f}.Run();
  CHECK(r.outputs[0].as<int32_t>() == Ints{4, 0, 3, -1, -1});
  CHECK(r.outputs[1].as<int32_t>() == Ints{3});
  r = Nms{.top_k = 2, .return_indices = 1}.Run();
  CHECK(r.outputs[0].as<int32_t>() == Ints{4, 0, -1, -1, -1});
  r = Nms{.return_indices = 1, .most = 1}.Run();
  CHECK(r.outputs[0].as<int32_t>() == Ints{4, -1, -1, -1, -1});
  r = Nms{.return_indices = 1, .threshold = 0}.Run();  // no suppression, no order
  CHECK(r.outputs[0].as<int32_t>() == Ints{0, 1, 3, 4, -1});
}

TEST_CASE("all_class_nms in both forms") {
  const Array boxes = Make<float>({1, 6, 4}, {0, 0,  1, 1,  0, 0.1f,  1, 1.1f,  0, -0.1f, 1, 0.9f,
                                              0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100,   1, 101});
  const Array scores = Make<float>({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});
  const std::vector<Array> in = {boxes, scores, Make<int32_t>({}, {3}), Make<float>({}, {0.5f}),
                                 Make<float>({}, {0.4f})};
  CallResult r = Call("all_class_nms", in, {Empty<int64_t>({6, 3}), Empty<int64_t>({1})}, {});
  CHECK(r.outputs[1].as<int64_t>() == std::vector<int64_t>{2});
  std::vector<int64_t> rows = r.outputs[0].as<int64_t>();
  rows.resize(6);
  CHECK(rows == std::vector<int64_t>{0, 0, 3, 0, 0, 0});
  std::vector<Array> halves = in;
  for (const size_t i : {0U, 1U}) {
    std::vector<Float16> values;
    for (const float x : in[i].as<float>()) values.push_back(FromArithmetic<Float16>(x));
    halves[i] = Make<Float16>(in[i].dims, values);
  }
  for (const auto& given : {in, halves}) {
    r = Call("all_class_nms", given, {Empty<int32_t>({6, 3}), Empty<int64_t>({1})}, {});
    std::vector<int32_t> narrow = r.outputs[0].as<int32_t>();
    narrow.resize(6);
    CHECK(narrow == std::vector<int32_t>{0, 0, 3, 0, 0, 0});
  }
  r = Call("all_class_nms_tensorflow", in,
           {Empty<int64_t>({1, 6, 2}), Empty<float>({1, 6}), Empty<int64_t>({1})}, {});
  rows = r.outputs[0].as<int64_t>();
  rows.resize(4);
  CHECK(rows == std::vector<int64_t>{0, 3, 0, 0});
  CHECK(r.outputs[1].as<float>() == Floats{0.95f, 0.9f, 0, 0, 0, 0});
  CHECK(r.outputs[2].as<int64_t>() == std::vector<int64_t>{2});
}

int64_t Bits(double x) { return std::bit_cast<int64_t>(x); }

// By its definition: each class in order of score, a box against all that are kept.
template <typename T>
void CheckNms(int64_t n, int64_t most, double iou, double least) {
  constexpr int64_t kBatch = 2, kClasses = 3;
  uint32_t seed = 7;
  const auto random = [&] {
    seed = seed * 1664525 + 1013904223;
    return static_cast<T>(seed >> 16) / 65536;
  };
  std::vector<T> boxes, scores;
  for (int64_t i = 0; i < kBatch * n; ++i) {
    const T x = random() * 4, y = random() * 4, w = random(), h = random();
    // Corners come in any order.
    for (const T v : i % 2 == 0 ? std::array{x, y, x + w, y + h} : std::array{x + w, y, x, y + h})
      boxes.push_back(v);
  }
  for (int64_t i = 0; i < kBatch * kClasses * n; ++i) {
    const T score = std::floor(random() * 500) / 500;  // some are equal
    scores.push_back(i % 97 == 5 ? std::numeric_limits<T>::quiet_NaN() : score);
  }
  std::vector<int64_t> expected;
  for (int64_t line = 0; line < kBatch * kClasses; ++line) {
    const T* score = scores.data() + line * n;
    const T* box = boxes.data() + line / kClasses * n * 4;
    std::vector<int64_t> order, kept;
    for (int64_t i = 0; i < n; ++i) {
      if (static_cast<double>(score[i]) > least) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return score[a] > score[b]; });
    for (const int64_t i : order) {
      if (most >= 0 && static_cast<int64_t>(kept.size()) >= most) break;
      const auto covers = [&](int64_t k) {
        const auto side = [&](int64_t of, int axis, bool high) {
          const T a = box[of * 4 + axis], b = box[of * 4 + 2 + axis];
          return high ? std::max(a, b) : std::min(a, b);
        };
        T both = 1, area_i = 1, area_k = 1;
        for (const int axis : {0, 1}) {
          both *= std::max<T>(0, std::min(side(i, axis, true), side(k, axis, true)) -
                                     std::max(side(i, axis, false), side(k, axis, false)));
          area_i *= side(i, axis, true) - side(i, axis, false);
          area_k *= side(k, axis, true) - side(k, axis, false);
        }
        const T overlap = both / (area_i + area_k - both);
        return overlap > 0 && static_cast<double>(overlap) >= iou;
      };
      if (std::none_of(kept.begin(), kept.end(), covers)) kept.push_back(i);
    }
    for (const int64_t i : kept) {
      for (const int64_t v : {line / kClasses, line % kClasses, i}) expected.push_back(v);
    }
  }
  CAPTURE(n);
  CAPTURE(most);
  CAPTURE(iou);
  const int64_t room = kBatch * kClasses * n;
  const CallResult r =
      Call("all_class_nms",
           {Make<T>({kBatch, n, 4}, boxes), Make<T>({kBatch, kClasses, n}, scores),
            Make<int64_t>({1}, {most}), Make<double>({1}, {iou}), Make<double>({1}, {least})},
           {Empty<int64_t>({room, 3}), Empty<int64_t>({1})}, {});
  REQUIRE(r.error == 0);
  const int64_t found = r.outputs[1].template as<int64_t>()[0];
  REQUIRE(found == static_cast<int64_t>(expected.size() / 3));
  std::vector<int64_t> rows = r.outputs[0].template as<int64_t>();
  rows.resize(expected.size());
  CHECK(rows == expected);
}

TEST_CASE("all_class_nms of many boxes") {
  for (const int64_t n : {1, 9, 200, 3000}) {
    for (const int64_t most : {-1, 0, 1, 40}) {
      CheckNms<float>(n, most, 0.5, 0.1);
      CheckNms<double>(n, most, 0.3, -1);
      CheckNms<float>(n, most, 0.45, 0.9);
      CheckNms<float>(n, most, 0, 0);
    }
  }
  CheckNms<float>(500, -1, std::numeric_limits<double>::quiet_NaN(), 0.5);
  // Many are kept, and more than are found at first.
  CheckNms<float>(6000, -1, 0.999, -1);
  CheckNms<float>(3000, 2500, 0.4, -1);
  for (const int64_t most : {15, 16, 17, 23, 24, 100}) CheckNms<double>(64, most, 0.2, -1);
}

TEST_CASE("regular_nms selects in each class, then the best of all") {
  // Boxes 0 and 1 overlap by 9/11, box 2 stands apart, box 3 has no area. Column 0 is background.
  const Array boxes =
      Make<float>({1, 4, 4}, {0, 0, 1, 1, 0.1f, 0, 1.1f, 1, 2, 2, 3, 3, 5, 5, 5, 6});
  const Array scores =
      Make<float>({1, 4, 3}, {1, 0.9f, 0.3f, 1, 0.8f, 0.7f, 1, 0.5f, 0.1f, 1, 0.4f, 0.7f});
  const auto call = [&](int64_t most, int64_t per_class, double overlap, double least) {
    return Call("regular_nms", {boxes, scores},
                {Empty<float>({1, most, 4}), Empty<float>({1, most}), Empty<float>({1, most}),
                 Empty<int32_t>({1})},
                {per_class, 2, Bits(overlap), Bits(least)});
  };
  CallResult r = call(5, 10, 0.5, 0.35);
  CHECK(r.error == 0);
  CHECK(r.outputs[3].as<int32_t>() == Ints{5});
  CHECK(r.outputs[1].as<float>() == Floats{0, 1, 1, 0, 0});
  CHECK(r.outputs[2].as<float>() == Floats{0.9f, 0.7f, 0.7f, 0.5f, 0.4f});
  CHECK(r.outputs[0].as<float>() ==
        Floats{0, 0, 1, 1, 0.1f, 0, 1.1f, 1, 5, 5, 5, 6, 2, 2, 3, 3, 5, 5, 5, 6});
  r = call(4, 1, 0.5, 0.35);  // one of each class, the rest is 0
  CHECK(r.outputs[3].as<int32_t>() == Ints{2});
  CHECK(r.outputs[2].as<float>() == Floats{0.9f, 0.7f, 0, 0});
  r = call(2, 10, 0.9, 0.35);  // a limit above the overlap suppresses nothing
  CHECK(r.outputs[2].as<float>() == Floats{0.9f, 0.8f});
  r = call(0, 10, 0.5, 0.35);
  CHECK(r.outputs[3].as<int32_t>() == Ints{0});
}

TEST_CASE("roi_align averages samples between pixels") {
  // A ramp: the value at (y, x) is 10 y + x, so a bin's average is its centre's value.
  Floats ramp;
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) ramp.push_back(static_cast<float>(10 * y + x));
  }
  const Array rois = Make<float>({1, 5}, {0, 2, 4, 6, 8});  // at scale 0.5: (1, 2) to (3, 4)
  const Floats expected = {26 - 0.5f, 26 + 0.5f, 36 - 0.5f, 36 + 0.5f};
  for (int64_t ratio : {2, -1}) {
    CallResult r = Call("roi_align", {Make<float>({1, 1, 8, 8}, ramp), rois},
                        {Empty<float>({1, 1, 2, 2})}, {Bits(0.5), ratio, 0, 0, 0});
    for (int i = 0; i < 4; ++i)
      CHECK(r.outputs[0].as<float>()[i] == doctest::Approx(expected[i] + 0.5f + 0.5f));
    r = Call("roi_align", {Make<float>({1, 8, 8, 1}, ramp), rois}, {Empty<float>({1, 2, 2, 1})},
             {Bits(0.5), ratio, 1, 0, 0});
    for (int i = 0; i < 4; ++i)
      CHECK(r.outputs[0].as<float>()[i] == doctest::Approx(expected[i] + 0.5f + 0.5f));
  }
  // The mode of corners: one sample amid 11, 12, 21 and 22, each of which weighs a quarter.
  CHECK(Call("roi_align", {Make<float>({1, 1, 8, 8}, ramp), Make<float>({1, 5}, {0, 1, 1, 2, 2})},
             {Empty<float>({1, 1, 1, 1})}, {Bits(1), 1, 0, 2, 0})
            .outputs[0]
            .as<float>() == Floats{5.5f});
  // Aligned: half a pixel to the left and up, and no box is made larger.
  CallResult aligned = Call(
      "roi_align", {Make<float>({1, 1, 8, 8}, ramp), Make<float>({1, 5}, {0, 2.5f, 3.5f, 3, 4})},
      {Empty<float>({1, 1, 1, 1})}, {Bits(1), 2, 0, 0, 1});
  CHECK(aligned.outputs[0].as<float>()[0] == doctest::Approx(10 * 3.25f + 2.25f));
  CHECK(Call("roi_align", {Make<float>({1, 1, 8, 8}, ramp), Make<float>({1, 5}, {1, 0, 0, 1, 1})},
             {Empty<float>({1, 1, 2, 2})}, {Bits(1), 2, 0, 0, 0})
            .error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
  CHECK(Call("roi_align",
             {Make<float>({1, 1, 8, 8}, ramp), Make<float>({1, 5}, {0, 0, 0, 1e30f, 1e30f})},
             {Empty<float>({1, 1, 2, 2})}, {Bits(1), -1, 0, 0, 0})
            .error != 0);
}

// The average of a bin sample by sample, as the operator is defined.
double AverageOfBin(const std::vector<double>& map, int64_t height, int64_t width, double top,
                    double left, double bin_height, double bin_width, int64_t ratio) {
  const auto samples = [&](double bin) {
    return ratio > 0 ? ratio : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(bin)));
  };
  const int64_t ny = samples(bin_height), nx = samples(bin_width);
  double sum = 0;
  for (int64_t i = 0; i < ny * nx; ++i) {
    double y = top + (static_cast<double>(i / nx) + 0.5) * bin_height / static_cast<double>(ny);
    double x = left + (static_cast<double>(i % nx) + 0.5) * bin_width / static_cast<double>(nx);
    if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width))
      continue;
    y = std::clamp<double>(y, 0, static_cast<double>(height - 1));
    x = std::clamp<double>(x, 0, static_cast<double>(width - 1));
    const auto y0 = static_cast<int64_t>(y), x0 = static_cast<int64_t>(x);
    const double fy = y - static_cast<double>(y0), fx = x - static_cast<double>(x0);
    const auto at = [&](int64_t v, int64_t u) {
      return map[static_cast<size_t>(std::min(v, height - 1) * width + std::min(u, width - 1))];
    };
    sum += (1 - fy) * ((1 - fx) * at(y0, x0) + fx * at(y0, x0 + 1)) +
           fy * ((1 - fx) * at(y0 + 1, x0) + fx * at(y0 + 1, x0 + 1));
  }
  return ny * nx == 0 ? 0 : sum / static_cast<double>(ny * nx);
}

TEST_CASE("roi_align's averages: boxes of all sizes, inside, outside and reversed") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> values(-1, 1);
  struct Case {
    int64_t height, width, pooled_height, pooled_width, ratio;
    double size;  // of the boxes
  };
  for (const Case& c :
       {Case{9, 40, 3, 7, 2, 12}, Case{9, 40, 3, 7, 0, 12}, Case{30, 30, 7, 7, 1, 29},
        Case{30, 30, 2, 5, 3, 90}, Case{64, 300, 1, 2, 0, 280}, Case{1, 1, 2, 2, 2, 1},
        Case{30, 200, 7, 7, 2, 190}}) {
    const int64_t channels = 3, boxes = 12;
    std::vector<double> map(static_cast<size_t>(channels * c.height * c.width));
    for (double& v : map) v = values(random);
    std::vector<double> last = map, rois;
    for (int64_t i = 0; i < c.height * c.width; ++i)
      for (int64_t k = 0; k < channels; ++k)
        last[static_cast<size_t>(i * channels + k)] =
            map[static_cast<size_t>(k * c.height * c.width + i)];
    for (int64_t b = 0; b < boxes; ++b) {
      rois.push_back(0);
      for (int k = 0; k < 4; ++k) rois.push_back(values(random) * c.size);
    }
    const Array boxes_array = Make<double>({boxes, 5}, rois);
    for (int64_t aligned : {0, 1}) {
      const std::vector<int64_t> params = {Bits(0.75), c.ratio, 0, 0, aligned};
      const std::vector<double> first =
          Call("roi_align", {Make<double>({1, channels, c.height, c.width}, map), boxes_array},
               {Empty<double>({boxes, channels, c.pooled_height, c.pooled_width})}, params)
              .outputs[0]
              .as<double>();
      const std::vector<double> channels_last =
          Call("roi_align", {Make<double>({1, c.height, c.width, channels}, last), boxes_array},
               {Empty<double>({boxes, c.pooled_height, c.pooled_width, channels})},
               {Bits(0.75), c.ratio, 1, 0, aligned})
              .outputs[0]
              .as<double>();
      const int64_t bins = c.pooled_height * c.pooled_width;
      for (int64_t i = 0; i < boxes * channels * bins; ++i) {
        const int64_t box = i / (channels * bins), k = i / bins % channels, bin = i % bins;
        const auto corner = [&](int64_t j) {
          return rois[static_cast<size_t>(box * 5 + j)] * 0.75 - 0.5 * static_cast<double>(aligned);
        };
        double box_width = corner(3) - corner(1), box_height = corner(4) - corner(2);
        if (aligned == 0) {
          box_width = std::max(box_width, 1.0);
          box_height = std::max(box_height, 1.0);
        }
        const double bin_height = box_height / static_cast<double>(c.pooled_height),
                     bin_width = box_width / static_cast<double>(c.pooled_width);
        const int64_t py = bin / c.pooled_width, px = bin % c.pooled_width;
        const std::vector<double> channel(map.begin() + k * c.height * c.width,
                                          map.begin() + (k + 1) * c.height * c.width);
        const double expected = AverageOfBin(
            channel, c.height, c.width, corner(2) + static_cast<double>(py) * bin_height,
            corner(1) + static_cast<double>(px) * bin_width, bin_height, bin_width, c.ratio);
        CAPTURE(i);
        CHECK(std::abs(first[static_cast<size_t>(i)] - expected) < 1e-12);
        CHECK(std::abs(
                  channels_last[static_cast<size_t>(box * channels * bins + bin * channels + k)] -
                  expected) < 1e-12);
      }
    }
  }
}

TEST_CASE("roi_pool takes the largest of each bin") {
  Floats map;
  for (int i = 0; i < 16; ++i) map.push_back(static_cast<float>(i));
  CallResult r =
      Call("roi_pool",
           {Make<float>({1, 1, 4, 4}, map), Make<float>({2, 5}, {0, 0, 0, 3, 3, 0, 9, 9, 9, 9})},
           {Empty<float>({2, 1, 2, 2})}, {Bits(1), 0});
  CHECK(r.outputs[0].as<float>() == Floats{5, 7, 13, 15, 0, 0, 0, 0});
  r = Call("roi_pool", {Make<float>({1, 1, 4, 4}, map), Make<float>({1, 5}, {-1, 0, 0, 3, 3})},
           {Empty<float>({1, 1, 2, 2})}, {Bits(1), 0});
  CHECK(r.error == RELAYVM_KERNEL_INDEX_OUT_OF_RANGE);
}

TEST_CASE("proposal gives the best anchors that do not overlap") {
  // One anchor of ratio 1 and scale 1 at each of two pixels, stride 16, no deltas.
  const CallResult r =
      Call("proposal",
           {Make<float>({1, 2, 1, 2}, {0, 0, 0.3f, 0.6f}), Make<float>({1, 4, 1, 2}, Floats(8, 0)),
            Make<float>({1, 3}, {16, 32, 1})},
           {Empty<float>({3, 5})}, {16, 10, 3, 4, 0, Bits(0.5), 1, 1, Bits(1), Bits(1)});
  CHECK(r.error == 0);
  // The third result repeats the first.
  CHECK(r.outputs[0].as<float>() == Floats{0, 16, 0, 31, 15, 0, 0, 0, 15, 15, 0, 16, 0, 31, 15});
}

TEST_CASE("multibox_transform_loc decodes boxes of the likeliest class") {
  const std::vector<Array> in = {Make<float>({1, 3, 2}, {0.2f, 0.9f, 0.7f, 0.05f, 0.1f, 0.05f}),
                                 Make<float>({1, 8}, {1, 0, 0, 0, 0, 0, 0, 0}),
                                 Make<float>({1, 2, 4}, {0.2f, 0.2f, 0.4f, 0.6f, 0, 0, 1, 1})};
  const std::vector<Array> out = {Empty<float>({1, 2, 6}), Empty<int32_t>({1})};
  const auto params = [](int64_t clip, double threshold, int64_t background) {
    return std::vector<int64_t>{clip,      Bits(threshold), background, Bits(0.1),
                                Bits(0.1), Bits(0.2),       Bits(0.2)};
  };
  CallResult r = Call("multibox_transform_loc", in, out, params(0, 0.1, 0));
  CHECK(r.outputs[1].as<int32_t>() == Ints{1});
  const Floats expected = {0, 0.7f, 0.22f, 0.2f, 0.42f, 0.6f, -1, -1, -1, -1, -1, -1};
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(r.outputs[0].as<float>()[i] == doctest::Approx(expected[i]));
  }
  r = Call("multibox_transform_loc", in, out, params(1, 0.1, 1));
  CHECK(r.outputs[1].as<int32_t>() == Ints{2});
  CHECK(r.outputs[0].as<float>()[0] == 1);
  CHECK(r.outputs[0].as<float>()[6] == 0);
}

}  // namespace
}  // namespace relayvm::builtin_testing

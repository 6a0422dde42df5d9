#include "kernels/te/slices.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace relayvm::te {
namespace {

constexpr int64_t kChannels = 3;

Tensor Images(int64_t n, int index = 0) {
  return Placeholder("x", {Dim(n), Dim(kChannels)}, DType::kFloat32, index);
}

// Of a computation that is made for a number of images, in slices.
std::optional<std::vector<bool>> Sliced(const std::function<std::vector<Tensor>(int64_t n)>& make,
                                        int64_t images, size_t inputs = 1) {
  return SlicedInputs(make(8), make(images), inputs);
}

using Indices = std::vector<Expr>;

TEST_CASE("what reads its own image is the same for slices") {
  const auto scale = [](int64_t n) {
    const Tensor x = Images(n), b = Placeholder("b", {Dim(kChannels)}, DType::kFloat32, 1);
    const Tensor doubled =
        Compute("doubled", x->shape, [&](const Indices& i) { return Load(x, i) + Load(x, i); });
    return std::vector{Compute(
        "y", x->shape, [&](const Indices& i) { return Load(doubled, i) + Load(b, {i[1]}); })};
  };
  CHECK(Sliced(scale, 2, 2) == std::vector{true, false});
  CHECK(Sliced(scale, 1, 2) == std::vector{true, false});

  const auto sum = [](int64_t n) {
    const Tensor x = Images(n);
    return std::vector{Compute("y", {Dim(n)}, [&](const Indices& i) {
      const Axis c = MakeAxis("c", Dim(kChannels));
      return Reduce(ReduceKind::kSum, Load(x, {i[0], AxisValue(c)}), {c}, DType::kFloat32);
    })};
  };
  CHECK(Sliced(sum, 4) == std::vector{true});
}

TEST_CASE("a batch of one may have its place as a number") {
  const auto broadcast = [](int64_t n) {
    const Tensor x = Images(n);
    return std::vector{Compute("y", x->shape, [&](const Indices& i) {
      return Load(x, {n == 1 ? IntImm(0) : i[0], i[1]});
    })};
  };
  CHECK(Sliced(broadcast, 1) == std::vector{true});
  // Where there are two, the first one's is another.
  const auto first = [](int64_t n) {
    const Tensor x = Images(n);
    return std::vector{Compute("y", x->shape, [&](const Indices& i) {
      return Load(x, {n == 2 ? IntImm(0) : i[0], i[1]});
    })};
  };
  CHECK_FALSE(Sliced(first, 2));
}

TEST_CASE("what knows its place, its batch or other images is not") {
  struct Case {
    const char* name;
    std::function<Expr(const Tensor& x, const Indices& i, int64_t n)> body;
  };
  const Case cases[] = {
      {"the first image", [](auto& x, auto& i, int64_t) { return Load(x, {IntImm(0), i[1]}); }},
      {"the image behind it",
       [](auto& x, auto& i, int64_t n) {
         return Load(x, {Binary(BinaryOp::kMod, i[0] + IntImm(1), IntImm(n)), i[1]});
       }},
      {"its number", [](auto& x, auto& i,
                        int64_t) { return Load(x, {i[0], i[1]}) + Cast(i[0], DType::kFloat32); }},
      {"how many there are",
       [](auto& x, auto& i, int64_t n) {
         return Load(x, {i[0], i[1]}) + FloatImm(static_cast<double>(n), DType::kFloat32);
       }},
      {"all of them",
       [](auto& x, auto& i, int64_t n) {
         const Axis k = MakeAxis("k", Dim(n));
         return Reduce(ReduceKind::kSum, Load(x, {AxisValue(k), i[1]}), {k}, DType::kFloat32);
       }},
      {"its number as a channel",
       [](auto& x, auto& i, int64_t) {
         return Load(x, {i[0], Binary(BinaryOp::kMin, i[0], IntImm(kChannels - 1))});
       }},
      {"another computation",
       [](auto& x, auto& i, int64_t n) {
         const Expr e = Load(x, {i[0], i[1]});
         return n == 8 ? e + e : e * e;
       }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    CHECK_FALSE(Sliced(
        [&](int64_t n) {
          const Tensor x = Images(n);
          return std::vector{
              Compute("y", x->shape, [&](const Indices& i) { return c.body(x, i, n); })};
        },
        2));
  }
}

TEST_CASE("other inputs keep their sizes") {
  const auto table = [](int64_t n) {
    const Tensor x = Images(n), w = Placeholder("w", {Dim(n)}, DType::kFloat32, 1);
    return std::vector{
        Compute("y", x->shape, [&](const Indices& i) { return Load(x, i) + Load(w, {i[1]}); })};
  };
  CHECK_FALSE(Sliced(table, 4, 2));
}

}  // namespace
}  // namespace relayvm::te

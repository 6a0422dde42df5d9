#include "kernels/codegen/contraction/winograd_lines.h"

#include <cmath>
#include <utility>

#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

// factor * x + y.
Value* Fma(Builder& b, double factor, Value* x, Value* y) {
  return MultiplyAdd(b, ConstantLike(x, factor), x, y, false);
}

// Every `step`-th element of x followed by y, from the `first`-th on.
Value* Every(Builder& b, Value* x, Value* y, int step, int first) {
  const int lanes =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
  std::vector<int> mask;
  for (int i = 0; i < lanes; ++i) mask.push_back(first + step * i);
  return b.CreateShuffleVector(x, y, mask);
}

// The elements of x and y in turn: of their lower halves, of their upper ones.
std::pair<Value*, Value*> Zip(Builder& b, Value* x, Value* y) {
  const int lanes =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
  std::vector<int> low, high;
  for (int i = 0; i < lanes; ++i) {
    const int element = i / 2 + i % 2 * lanes;
    low.push_back(element);
    high.push_back(element + lanes / 2);
  }
  return {b.CreateShuffleVector(x, y, low), b.CreateShuffleVector(x, y, high)};
}

}  // namespace

Value* ConstantLike(Value* like, double value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

// --- Arithmetic ---

// Sums over odd and over even elements serve both points of a pair.
Vectors OfData(Builder& b, int64_t tile, const Vectors& d) {
  if (tile == 2) {
    return {b.CreateFSub(d[2], d[0]), b.CreateFAdd(d[1], d[2]), b.CreateFSub(d[2], d[1]),
            b.CreateFSub(d[3], d[1])};
  }
  const double low = std::sqrt(0.5), high = std::sqrt(2.0);
  Value* even_low = Fma(b, -2, d[2], d[4]);
  Value* odd_low = Fma(b, -2, d[1], d[3]);
  Value* even_high = Fma(b, -0.5, d[2], d[4]);
  Value* odd_high = Fma(b, -0.5, d[1], d[3]);
  return {b.CreateFAdd(Fma(b, -2.5, d[2], d[4]), d[0]),
          Fma(b, low, odd_low, even_low),
          Fma(b, -low, odd_low, even_low),
          Fma(b, high, odd_high, even_high),
          Fma(b, -high, odd_high, even_high),
          b.CreateFAdd(Fma(b, -2.5, d[3], d[5]), d[1])};
}

Vectors OfKernel(Builder& b, int64_t tile, const Vectors& g) {
  auto times = [&](Value* x, double factor) { return b.CreateFMul(x, ConstantLike(x, factor)); };
  // (g0 + point g1 + point^2 g2) / divisor, and that of -point.
  auto pair = [&](double point, double divisor) {
    Value* even = Fma(b, point * point / divisor, g[2], times(g[0], 1 / divisor));
    return Vectors{Fma(b, point / divisor, g[1], even), Fma(b, -point / divisor, g[1], even)};
  };
  if (tile == 2) {
    const Vectors ones = pair(1, 2);
    return {b.CreateFNeg(g[0]), ones[0], ones[1], g[2]};
  }
  const Vectors low = pair(std::sqrt(0.5), -1.5), high = pair(std::sqrt(2.0), 6);
  return {g[0], low[0], low[1], high[0], high[1], g[2]};
}

Vectors OfResult(Builder& b, int64_t tile, const Vectors& m) {
  if (tile == 2) {
    return {b.CreateFAdd(b.CreateFAdd(m[1], m[2]), m[0]),
            b.CreateFAdd(b.CreateFSub(m[1], m[2]), m[3])};
  }
  const double low = std::sqrt(0.5), high = std::sqrt(2.0);
  Value* sum_low = b.CreateFAdd(m[1], m[2]);
  Value* difference_low = b.CreateFSub(m[1], m[2]);
  Value* sum_high = b.CreateFAdd(m[3], m[4]);
  Value* difference_high = b.CreateFSub(m[3], m[4]);
  Value* half = b.CreateFMul(sum_low, ConstantLike(sum_low, 0.5));
  Value* part = b.CreateFMul(difference_low, ConstantLike(difference_low, low));
  return {
      b.CreateFAdd(b.CreateFAdd(sum_low, sum_high), m[0]), Fma(b, high, difference_high, part),
      Fma(b, 2, sum_high, half),
      Fma(b, high * high * high, difference_high, Fma(b, low * low * low, difference_low, m[5]))};
}

// --- Shuffles ---

Vectors TakeApart(Builder& b, int64_t tile, const Vectors& line) {
  Vectors columns;
  if (tile == 2) {
    columns = {Every(b, line[0], line[1], 2, 0), Every(b, line[0], line[1], 2, 1)};
  } else {
    Value *even[2], *odd[2];
    for (size_t half = 0; half < 2; ++half) {
      even[half] = Every(b, line[2 * half], line[2 * half + 1], 2, 0);
      odd[half] = Every(b, line[2 * half], line[2 * half + 1], 2, 1);
    }
    columns = {Every(b, even[0], even[1], 2, 0), Every(b, odd[0], odd[1], 2, 0),
               Every(b, even[0], even[1], 2, 1), Every(b, odd[0], odd[1], 2, 1)};
  }
  // The next tile's first columns are this one's last.
  Value* rest = line[static_cast<size_t>(tile)];
  for (int column = 0; column < 2; ++column) {
    Value* first = columns[static_cast<size_t>(column)];
    const int lanes =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(first->getType())->getNumElements());
    std::vector<int> mask;
    for (int i = 1; i < lanes; ++i) mask.push_back(i);
    mask.push_back(lanes + column);
    columns.push_back(b.CreateShuffleVector(first, rest, mask));
  }
  return columns;
}

Vectors PutTogether(Builder& b, int64_t tile, const Vectors& columns) {
  if (tile == 2) {
    auto [low, high] = Zip(b, columns[0], columns[1]);
    return {low, high};
  }
  auto [even_low, even_high] = Zip(b, columns[0], columns[2]);
  auto [odd_low, odd_high] = Zip(b, columns[1], columns[3]);
  auto [first, second] = Zip(b, even_low, odd_low);
  auto [third, fourth] = Zip(b, even_high, odd_high);
  return {first, second, third, fourth};
}

}  // namespace relayvm::codegen

// The random numbers of Relay: Threefry-4x64 with 20 rounds over a key, a path of splits and a
// counter (Salmon et al. 2011; Claessen and Palka 2013). A generator is uint64[10]:
//     key 0..3 | path 4, 5 | counter 6, 7 | place of the next step in the path, one bit of 8, 9
// Two things differ from the published cipher, and recorded programs depend on them: the mixing
// step adds its second word twice, and the last key addition is left out. Tested by random_test.cc.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

using Words = std::array<uint64_t, 4>;
using Generator = std::array<uint64_t, 10>;

constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                  {25, 33}, {46, 12}, {58, 22}, {32, 32}};
constexpr int kRounds = 20;

Words Threefry(const Generator& generator, Words words) {
  std::array<uint64_t, 5> key = {0, 0, 0, 0, 0x1BD11BDAA9FC1A22};
  for (int i = 0; i < 4; ++i) {
    key[i] = generator[i];
    key[4] ^= generator[i];
  }
  for (int round = 0; round < kRounds; ++round) {
    if (round % 4 == 0) {
      const int step = round / 4;
      for (int i = 0; i < 4; ++i) words[i] += key[(step + i) % 5];
      words[3] += static_cast<uint64_t>(step);
    }
    for (int j = 0; j < 2; ++j) {
      uint64_t &a = words[2 * j], &b = words[2 * j + 1];
      a += b;
      b = (a + b) ^ std::rotl(b, kRotations[round % 8][j]);
    }
    std::swap(words[1], words[3]);
  }
  return words;
}

Words PathAndCounter(const Generator& g) { return {g[4], g[5], g[6], g[7]}; }

// The place in the path, one step on.
void Advance(const Generator& from, Generator& to) {
  to[8] = from[8] >> 1;
  to[9] = from[8] == 1 ? uint64_t{1} << 63 : from[8] == 0 ? from[9] >> 1 : 0;
}

bool PathIsFull(const Generator& g) { return g[8] == 0 && g[9] == 0; }

Generator LoadGenerator(const TensorView& t) {
  Generator g;
  std::copy_n(t.as<const uint64_t>(), g.size(), g.begin());
  return g;
}
void StoreGenerator(const Generator& g, const TensorView& t) {
  std::copy(g.begin(), g.end(), t.as<uint64_t>());
}

// `count` random words; advances `g`.
KernelVector<uint64_t> Generate(const CallArgs& args, Generator& g, int64_t count) {
  if (g[7] >= ~uint64_t{0} - static_cast<uint64_t>(count)) {  // the counter has no room
    Generator next = {};
    if (PathIsFull(g)) {
      constexpr uint64_t kOnes = ~uint64_t{0};
      const Words key = Threefry(g, {kOnes, kOnes, kOnes, kOnes});
      std::copy(key.begin(), key.end(), next.begin());
      next[8] = uint64_t{1} << 63;
    } else {
      std::copy_n(g.begin(), 4, next.begin());
      next[4] = g[4] | g[8];
      next[5] = g[5] | g[9];
      Advance(g, next);
    }
    g = next;
  }
  auto out = args.NewVector<uint64_t>(count);
  const Words start = PathAndCounter(g);
  const int64_t blocks = count / 4;
  for (int64_t i = 0; i < blocks; ++i) {
    args.Work(16);
    Words words = start;
    for (uint64_t& w : words) w += static_cast<uint64_t>(i);
    words = Threefry(g, words);
    std::copy(words.begin(), words.end(), out.begin() + i * 4);
  }
  if (count % 4 != 0) {  // the rest comes from a block of its own
    Words words = start;
    words[3] += static_cast<uint64_t>(blocks * 4);
    words = Threefry(g, words);
    std::copy_n(words.begin(), count % 4, out.begin() + blocks * 4);
  }
  g[6] = 0;
  g[7] += static_cast<uint64_t>(blocks + (count % 4 != 0 ? 1 : 0)) * 4;
  return out;
}

// Numbers in [0, 1): the highest bits of each word as a fraction; for float of the word's lower
// half.
template <typename R>
KernelVector<R> Uniform(const CallArgs& args, Generator& g, int64_t count) {
  using Bits = std::conditional_t<std::is_same_v<R, float>, uint32_t, uint64_t>;
  constexpr int kWidth = std::numeric_limits<Bits>::digits;
  constexpr int kFraction = std::numeric_limits<R>::digits - 1;
  const KernelVector<uint64_t> words = Generate(args, g, count);
  auto out = args.NewVector<R>(count);
  for (size_t i = 0; i < words.size(); ++i) {
    args.Work(1);
    const Bits bits = static_cast<Bits>(words[i]) >> (kWidth - kFraction);
    out[i] = static_cast<R>(bits) / static_cast<R>(Bits{1} << kFraction);
  }
  return out;
}

template <typename Fn>
int32_t DispatchReal(DType t, Fn&& fn) {
  if (t == DType::kFloat32) return fn.template operator()<float>();
  if (t == DType::kFloat64) return fn.template operator()<double>();
  return RELAYVM_KERNEL_INVALID_ARGUMENT;
}

}  // namespace

int32_t ThreefryGenerate(const CallArgs& args) {
  Generator g = LoadGenerator(args[0]);
  const KernelVector<uint64_t> words = Generate(args, g, args[2].size());
  StoreGenerator(g, args[1]);
  args.Copy(args[2].data, words.data(), args[2].size() * static_cast<int64_t>(sizeof(uint64_t)));
  return RELAYVM_KERNEL_OK;
}

// A zero appended to the path makes the left generator, a one the right.
int32_t ThreefrySplit(const CallArgs& args) {
  const Generator g = LoadGenerator(args[0]);
  Generator left = g, right = g;
  if (PathIsFull(g)) {  // a new key, and an empty path
    left = {};
    const Words key = Threefry(g, PathAndCounter(g));
    std::copy(key.begin(), key.end(), left.begin());
    left[8] = uint64_t{1} << 62;
    right = left;
    right[4] = uint64_t{1} << 63;
  } else {
    Advance(g, left);
    Advance(g, right);
    right[4] = g[4] | g[8];
    right[5] = g[5] | g[9];
  }
  StoreGenerator(left, args[1]);
  StoreGenerator(right, args[2]);
  return RELAYVM_KERNEL_OK;
}

int32_t RandomUniform(const CallArgs& args) {
  return DispatchReal(args[4].dtype, [&]<typename R>() -> int32_t {
    Generator g = LoadGenerator(args[0]);
    const R low = LoadAs<R>(args[1], 0), high = LoadAs<R>(args[2], 0);
    const KernelVector<R> values = Uniform<R>(args, g, args[4].size());
    StoreGenerator(g, args[3]);
    R* out = args[4].as<R>();
    args.InBlocks(args[4].size(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = values[i] * (high - low) + low;
    });
    return RELAYVM_KERNEL_OK;
  });
}

// Box and Muller's transform of two halves of uniform numbers.
int32_t RandomNormal(const CallArgs& args) {
  return DispatchReal(args[4].dtype, [&]<typename R>() -> int32_t {
    Generator g = LoadGenerator(args[0]);
    const R mean = LoadAs<R>(args[1], 0), scale = LoadAs<R>(args[2], 0);
    const int64_t count = args[4].size();
    const KernelVector<R> values = Uniform<R>(args, g, 2 * count);
    StoreGenerator(g, args[3]);
    for (int64_t i = 0; i < count; ++i) {
      args.Work(16);
      const R radius = std::sqrt(R(-2) * std::log(R(1) - values[i]));
      const R angle = R(2 * std::numbers::pi) * values[count + i];
      args[4].as<R>()[i] = radius * std::sin(angle) * scale + mean;
    }
    return RELAYVM_KERNEL_OK;
  });
}

// That are looked at between two polls.
constexpr int64_t kChoicesAtOnce = 1 << 14;

// For each row of weights (negative ones count as 0): indices where the running sum of its
// probabilities first exceeds a uniform number.
int32_t RandomMultinomial(const CallArgs& args) {
  const TensorView &probabilities = args[1], &out = args[3];
  const int64_t choices = probabilities.dims[probabilities.rank - 1];
  const int64_t samples = out.dims[out.rank - 1];
  const int64_t rows = probabilities.Count(0, probabilities.rank - 1);
  if (choices == 0 && out.size() > 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  Generator g = LoadGenerator(args[0]);
  const KernelVector<float> values = Uniform<float>(args, g, rows * samples);
  StoreGenerator(g, args[2]);
  if (out.size() == 0) return RELAYVM_KERNEL_OK;
  auto sums = args.NewVector<float>(choices);
  for (int64_t r = 0; r < rows; ++r) {
    args.Work(4);
    float total = 0;
    for (int64_t begin = 0; begin < choices; begin += kChoicesAtOnce) {
      const int64_t end = std::min(choices, begin + kChoicesAtOnce);
      args.Work(end - begin);
      DispatchDType(probabilities.dtype, [&]<typename T>() {
        const T* row = probabilities.as<const T>() + r * choices;
        float sum = total;
        for (int64_t c = begin; c < end; ++c) {
          sums[c] = std::max(ConvertElement<float>(row[c]), 0.0f);
          sum += sums[c];
        }
        total = sum;
      });
    }
    for (int64_t begin = 0; begin < choices; begin += kChoicesAtOnce) {
      const int64_t end = std::min(choices, begin + kChoicesAtOnce);
      args.Work(end - begin);
      for (int64_t c = begin; c < end; ++c)
        sums[c] = sums[c] / total + (c > 0 ? sums[c - 1] : 0.0f);
    }
    for (int64_t s = 0; s < samples; ++s) {
      // The smallest positive distance; a distance that is not positive counts as 1.
      int64_t best = 0;
      float least = 0;
      for (int64_t begin = 0; begin < choices; begin += kChoicesAtOnce) {
        const int64_t end = std::min(choices, begin + kChoicesAtOnce);
        args.Work(end - begin);
        for (int64_t c = begin; c < end; ++c) {
          float distance = sums[c] - values[r * samples + s];
          if (!(distance > 0)) distance = 1;
          if (c == 0 || distance < least) {
            best = c;
            least = distance;
          }
        }
      }
      StoreIndex(out, r * samples + s, best);
    }
  }
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm

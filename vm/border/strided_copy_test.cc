#include "vm/border/strided_copy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace relayvm::vm {
namespace {

using Dims = std::vector<int64_t>;

// Element by element, from the definition.
std::vector<char> Expected(const char* from, const Dims& dims, const Dims& strides, size_t bytes) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<char> out;
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, offset = 0;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i]) offset += rest % dims[i] * strides[i];
    const char* element = from + offset * static_cast<int64_t>(bytes);
    out.insert(out.end(), element, element + bytes);
  }
  return out;
}

// Copies to `to_offset` bytes behind a line's start, with guards on both sides.
void CheckCopy(const std::vector<char>& memory, size_t begin, const Dims& dims, const Dims& strides,
               size_t bytes, size_t to_offset) {
  const std::vector<char> expected = Expected(memory.data() + begin, dims, strides, bytes);
  std::vector<char> buffer(expected.size() + 512, 77);
  char* line = buffer.data() + 64 + (-reinterpret_cast<uintptr_t>(buffer.data()) & 63);
  char* to = line + to_offset;
  CopyStrided(memory.data() + begin, dims, strides, bytes, to);
  const bool same = expected.empty() || std::memcmp(to, expected.data(), expected.size()) == 0;
  CAPTURE(bytes);
  CAPTURE(to_offset);
  CHECK(same);
  const char* end = to + expected.size();
  CHECK(std::all_of(buffer.data(), to, [](char c) { return c == 77; }));
  CHECK(std::all_of(end, static_cast<const char*>(buffer.data() + buffer.size()),
                    [](char c) { return c == 77; }));
}

std::vector<char> RandomBytes(size_t count) {
  std::mt19937 random(7);
  std::vector<char> bytes(count);
  for (char& b : bytes) b = static_cast<char>(random());
  return bytes;
}

TEST_CASE("strided copy: matrices are transposed, whatever their sizes and places") {
  const std::vector<char> memory = RandomBytes(size_t{1500} * 1100 * 8);
  for (size_t bytes : {1, 2, 4, 8}) {
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1},
                                 {3, 2},
                                 {16, 16},
                                 {64, 64},
                                 {65, 63},
                                 {1, 300},
                                 {300, 1},
                                 {257, 129},
                                 {1030, 70},
                                 {70, 1030}}) {
      for (size_t to_offset : {size_t{0}, 3 * bytes, 8 * bytes}) {
        // Column-major, then with rows that lie apart.
        CheckCopy(memory, 0, {rows, columns}, {1, rows}, bytes, to_offset);
        CheckCopy(memory, 5 * bytes, {rows, columns}, {1, rows + 7}, bytes, to_offset);
      }
    }
  }
  // Large enough to go past the caches.
  CheckCopy(memory, 0, {1031, 1029}, {1, 1031}, 4, 4);
  CheckCopy(memory, 0, {1500, 1100}, {1, 1500}, 8, 0);
}

TEST_CASE("strided copy: random views of up to five dims") {
  const std::vector<char> memory = RandomBytes(1 << 20);
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const size_t bytes = size_t{1} << random() % 4;
    const size_t rank = random() % 6;
    Dims sizes(rank), order(rank), dims(rank), strides(rank);
    for (int64_t& s : sizes) s = 1 + random() % 7;
    // The strides of a compact tensor of `sizes`, in another order, stepped, reversed, broadcast.
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    int64_t step = 1, begin = 0;
    for (size_t i = rank; i-- > 0;) {
      const auto to = static_cast<size_t>(order[i]);
      dims[to] = sizes[i];
      strides[to] = step;
      step *= sizes[i];
      switch (random() % 6) {
        case 0:
          begin += strides[to] * (dims[to] - 1);
          strides[to] = -strides[to];
          break;
        case 1:
          dims[to] = (dims[to] + 1) / 2;
          strides[to] *= 2;
          break;
        case 2:
          strides[to] = 0;
          break;
        default:
          break;
      }
    }
    CheckCopy(memory, static_cast<size_t>(begin) * bytes, dims, strides, bytes,
              random() % 64 / bytes * bytes);
  }
}

TEST_CASE("strided copy: nothing to copy") {
  char to = 77;
  CopyStrided(nullptr, Dims{0, 3}, Dims{5, 1}, 4, &to);
  CopyStrided(nullptr, Dims{3, 0}, Dims{-5, 1}, 1, &to);
  CHECK(to == 77);
}

}  // namespace
}  // namespace relayvm::vm

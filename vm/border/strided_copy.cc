// Dims that lie compactly one in the other are one; what is left is one of three cases: rows of
// neighbours (memcpy), planes whose other dim is compact (transposed), anything else (by elements).
//
// A plane is transposed in tiles. Of a tile, squares of vectors are transposed in registers and
// gathered in a buffer, so that whole rows go to memory; past the caches, without reading it first.
#include "vm/border/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace relayvm::vm {
namespace {

struct Dim {
  int64_t size;
  int64_t from, to;  // strides in bytes
};

// Outer dims first, without those of size 1, compact neighbours as one.
std::vector<Dim> Normalise(std::span<const int64_t> dims, std::span<const int64_t> strides,
                           int64_t element_bytes) {
  std::vector<Dim> out;
  int64_t to = element_bytes;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;  // its stride may be any
    const Dim dim{dims[i], strides[i] * element_bytes, to};
    to *= dims[i];
    if (!out.empty() && dim.from == out.back().from * out.back().size) {
      out.back().size *= dim.size;
    } else {
      out.push_back(dim);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

// Calls fn(offset in from, offset in to) for each index of `dims`.
template <typename Fn>
void ForEach(const std::vector<Dim>& dims, const Fn& fn) {
  std::vector<int64_t> index(dims.size(), 0);
  int64_t from = 0, to = 0;
  for (;;) {
    fn(from, to);
    size_t i = dims.size();
    for (; i > 0; --i) {
      const Dim& dim = dims[i - 1];
      from += dim.from;
      to += dim.to;
      if (++index[i - 1] < dim.size) break;
      from -= dim.from * dim.size;
      to -= dim.to * dim.size;
      index[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

template <typename T>
void CopyElements(const char* from, int64_t stride, int64_t count, char* to) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), from + i * stride, sizeof(T));
}

// --- Transpositions ---

template <typename T>
using Vector [[gnu::vector_size(16)]] = T;
template <typename T>
constexpr int kLanes = 16 / sizeof(T);
// A strip of columns is transposed tile by tile, kTileBytes of each of its rows in the result, down
// to kMaxRows: so the pages that are read stay in the TLB for the next strip.
template <typename T>
constexpr int64_t kStrip = sizeof(T) == 8 ? 32 : 64;
constexpr int64_t kTileBytes = 256;
constexpr int64_t kMaxRows = 1024;
constexpr int64_t kLineBytes = 64;
// Of the buffer: what is left of a line, a tile, and what whole vectors write beyond.
constexpr int64_t kRowBytes = kTileBytes + 2 * kLineBytes;

template <typename T, size_t... kLane>
void Interleave(Vector<T> a, Vector<T> b, Vector<T>* low, Vector<T>* high,
                std::index_sequence<kLane...>) {
  constexpr int n = kLanes<T>;
  *low = __builtin_shufflevector(a, b, (kLane / 2 + (kLane % 2) * n)...);
  *high = __builtin_shufflevector(a, b, (n / 2 + kLane / 2 + (kLane % 2) * n)...);
}

// A square of kLanes x kLanes elements. Each round interleaves rows i and i + n / 2.
template <typename T>
inline void TransposeSquare(const char* from, int64_t from_stride, char* to, int64_t to_stride,
                            const uint8_t* offsets) {
  constexpr int n = kLanes<T>;
  Vector<T> rows[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) std::memcpy(&rows[i], from + i * from_stride, 16);
#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2) {
    Vector<T> next[n];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i) {
      Interleave<T>(rows[i], rows[i + n / 2], &next[2 * i], &next[2 * i + 1],
                    std::make_index_sequence<n>());
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) std::memcpy(to + i * to_stride + offsets[i], &rows[i], 16);
}

// memcpy of lines (64 bytes each, aligned) that leaves `to` out of the caches.
void StreamLines(char* to, const char* from, int64_t bytes) {
#ifdef __SSE2__
  for (int64_t i = 0; i < bytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#else
  std::memcpy(to, from, static_cast<size_t>(bytes));
#endif
}

// to[j][i] = from[i][j] for `rows` i of `columns` j, where rows of `to` are kRowBytes apart and
// begin at offsets[j].
template <typename T>
void TransposeTile(const char* from, int64_t from_stride, int64_t rows, int64_t columns, char* to,
                   const uint8_t* offsets) {
  constexpr int64_t n = kLanes<T>, size = sizeof(T);
  constexpr int64_t kAhead = 16;  // rows
  const int64_t whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (int64_t i = 0; i < whole_rows; i += n) {
    for (int64_t r = i; r < i + n; ++r) {
      const char* ahead = from + (r + kAhead) * from_stride;
      for (int64_t line = 0; line < columns * size; line += kLineBytes)
        __builtin_prefetch(ahead + line, 0, 2);
    }
    for (int64_t j = 0; j < whole_columns; j += n) {
      TransposeSquare<T>(from + i * from_stride + j * size, from_stride,
                         to + j * kRowBytes + i * size, kRowBytes, offsets + j);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      std::memcpy(to + j * kRowBytes + offsets[j] + i * size, from + i * from_stride + j * size,
                  sizeof(T));
    }
  }
}

// The plane of `row` and `column`: row.from and column.to are any, column.from and row.to one
// element. With `stream`, whole lines go past the caches.
template <typename T>
void TransposePlane(const char* from, Dim row, Dim column, char* to, bool stream) {
  constexpr int64_t size = sizeof(T), strip = kStrip<T>, tile = kTileBytes / size;
  alignas(64) char buffer[strip * kRowBytes];
  // Of each column's row in the buffer, whose lines are lines of the result: what is in it.
  uint8_t begins[strip], ends[strip];
  for (int64_t top = 0; top < row.size; top += kMaxRows) {
    const int64_t bottom = std::min(top + kMaxRows, row.size);
    for (int64_t j = 0; j < column.size; j += strip) {
      const int64_t columns = std::min(strip, column.size - j);
      char* const out = to + j * column.to;
      for (int64_t k = 0; k < columns; ++k) {
        begins[k] = ends[k] =
            reinterpret_cast<uintptr_t>(out + k * column.to + top * size) % kLineBytes;
      }
      for (int64_t i = top; i < bottom; i += tile) {
        const int64_t rows = std::min(tile, bottom - i);
        TransposeTile<T>(from + i * row.from + j * size, row.from, rows, columns, buffer, ends);
        for (int64_t k = 0; k < columns; ++k) {
          char* made = buffer + k * kRowBytes;
          char* line = out + k * column.to + i * size - ends[k];  // the buffer's first
          const int64_t end = ends[k] + rows * size;
          const int64_t whole = end & -kLineBytes;
          int64_t at = 0;
          if (begins[k] != 0 && whole > 0) {
            std::memcpy(line + begins[k], made + begins[k], kLineBytes - begins[k]);
            at = kLineBytes;
            begins[k] = 0;
          }
          if (stream) {
            StreamLines(line + at, made + at, whole - at);
          } else {
            std::memcpy(line + at, made + at, static_cast<size_t>(whole - at));
          }
          if (whole > 0) std::memcpy(made, made + whole, kLineBytes);
          ends[k] = static_cast<uint8_t>(end - whole);
        }
      }
      for (int64_t k = 0; k < columns; ++k) {
        char* line = out + k * column.to + bottom * size - ends[k];
        std::memcpy(line + begins[k], buffer + k * kRowBytes + begins[k], ends[k] - begins[k]);
      }
    }
  }
}

// From this many bytes on the result is larger than what caches keep.
constexpr int64_t kStreamBytes = 4 << 20;

template <typename T>
void Copy(const char* from, std::vector<Dim> dims, char* to) {
  if (dims.empty()) {
    std::memcpy(to, from, sizeof(T));
    return;
  }
  const int64_t bytes = dims[0].to * dims[0].size;
  const Dim inner = dims.back();
  dims.pop_back();
  if (inner.from == sizeof(T)) {
    return ForEach(dims, [&](int64_t f, int64_t t) {
      std::memcpy(to + t, from + f, static_cast<size_t>(inner.size) * sizeof(T));
    });
  }
  const auto column =
      std::find_if(dims.begin(), dims.end(), [](const Dim& d) { return d.from == sizeof(T); });
  if (column == dims.end()) {
    return ForEach(dims, [&](int64_t f, int64_t t) {
      CopyElements<T>(from + f, inner.from, inner.size, to + t);
    });
  }
  const Dim transposed = *column;
  dims.erase(column);
  const bool stream = bytes >= kStreamBytes;
  ForEach(dims, [&](int64_t f, int64_t t) {
    TransposePlane<T>(from + f, inner, transposed, to + t, stream);
  });
#ifdef __SSE2__
  if (stream) _mm_sfence();
#endif
}

}  // namespace

void CopyStrided(const char* from, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 size_t element_bytes, char* to) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  std::vector<Dim> normal = Normalise(dims, strides, static_cast<int64_t>(element_bytes));
  switch (element_bytes) {
    case 1:
      return Copy<uint8_t>(from, std::move(normal), to);
    case 2:
      return Copy<uint16_t>(from, std::move(normal), to);
    case 4:
      return Copy<uint32_t>(from, std::move(normal), to);
    default:
      return Copy<uint64_t>(from, std::move(normal), to);
  }
}

}  // namespace relayvm::vm

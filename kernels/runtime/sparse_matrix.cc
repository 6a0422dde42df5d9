// Kernels on CSR and BSR matrices: values (nnz) or (blocks, rows, columns of a block), column
// indices, and where each row of (blocks of) entries begins. Tested by sparse_test.cc.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/store_index.h"

namespace relayvm {
namespace {

// Of an element that is read, and one that is written, a row of the matrix or an index away.
constexpr int64_t kStepCost = 2;
// Columns of an image that are worked on together; steps between two polls.
constexpr int64_t kColumnsAtOnce = 1 << 13;

// A sparse matrix whose indices were checked.
struct SparseMatrix {
  explicit SparseMatrix(const CallArgs& call)
      : args(call), columns(call.NewVector<int64_t>()), starts(call.NewVector<int64_t>()) {}

  const CallArgs& args;
  const TensorView* values = nullptr;
  int64_t block_rows = 1, block_columns = 1;
  KernelVector<int64_t> columns, starts;

  int64_t rows() const { return static_cast<int64_t>(starts.size()) - 1; }  // of blocks

  // False when an index is out of range for `width` columns of elements.
  bool Load(const TensorView& v, const TensorView& indices, const TensorView& indptr,
            int64_t width) {
    values = &v;
    if (v.rank == 3) {
      block_rows = v.dims[1];
      block_columns = v.dims[2];
    }
    const int64_t entries = v.dims[0];
    if ((v.rank != 1 && v.rank != 3) || indptr.size() < 1 || block_rows < 1 || block_columns < 1)
      return false;
    int64_t num_rows;
    if (__builtin_mul_overflow(indptr.size(), block_rows, &num_rows)) return false;
    const int64_t blocks = width / block_columns;  // side by side in the matrix
    columns.reserve(static_cast<size_t>(entries));
    for (int64_t i = 0; i < entries; ++i) {
      args.Work(1);
      columns.push_back(LoadIndex(indices, i));
      if (columns.back() < 0 || columns.back() >= blocks) return false;
    }
    starts.reserve(static_cast<size_t>(indptr.size()));
    for (int64_t i = 0; i < indptr.size(); ++i) {
      args.Work(1);
      starts.push_back(LoadIndex(indptr, i));
      if (starts.back() < 0 || starts.back() > entries || (i > 0 && starts[i] < starts[i - 1]))
        return false;
    }
    return true;
  }
};

// Calls fn(row, column, value index) for each element, which says itself what it does (Work).
template <typename Fn>
void ForEach(const SparseMatrix& m, const Fn& fn) {
  for (int64_t r = 0; r < m.rows(); ++r) {
    m.args.Work(1);
    for (int64_t e = m.starts[r]; e < m.starts[r + 1]; ++e) {
      for (int64_t i = 0; i < m.block_rows; ++i) {
        for (int64_t j = 0; j < m.block_columns; ++j) {
          fn(r * m.block_rows + i, m.columns[e] * m.block_columns + j,
             (e * m.block_rows + i) * m.block_columns + j);
        }
      }
    }
  }
}

template <typename T>
T MultiplyAdd(T sum, T x, Arithmetic<T> factor) {
  return FromArithmetic<T>(WrapAdd(ToArithmetic(sum), WrapMultiply(ToArithmetic(x), factor)));
}

// out[at(m, row)] += dense[m, column] * value, over m.
template <typename Out>
int32_t Multiply(const CallArgs& args, const TensorView& dense, const SparseMatrix& s,
                 int64_t lines, int64_t depth, const TensorView& out, const Out& at) {
  if (lines == 0) return RELAYVM_KERNEL_OK;
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    T* to = out.as<T>();
    args.Clear(out);
    const T *x = dense.as<const T>(), *w = s.values->as<const T>();
    ForEach(s, [&](int64_t row, int64_t column, int64_t value) {
      const Arithmetic<T> factor = ToArithmetic(w[value]);
      const auto add = [&](int64_t m) {
        T& sum = to[at(m, row)];
        sum = MultiplyAdd(sum, x[m * depth + column], factor);
      };
      if (lines <= kColumnsAtOnce) {
        args.Work(lines * kStepCost);
        for (int64_t m = 0; m < lines; ++m) add(m);
        return;
      }
      args.InBlocks(
          lines,
          [&](int64_t begin, int64_t end) {
            for (int64_t m = begin; m < end; ++m) add(m);
          },
          kStepCost);
    });
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace

int32_t SparseDense(const CallArgs& args) {
  const bool sparse_lhs = args.param(0) != 0;
  const TensorView &dense = args[0], &out = args[4];
  SparseMatrix s(args);
  if (!s.Load(args[1], args[2], args[3], dense.dims[1])) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  const int64_t lines = dense.dims[0], rows = s.rows() * s.block_rows;
  if (out.dims[0] != (sparse_lhs ? rows : lines) || out.dims[1] != (sparse_lhs ? lines : rows)) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  return Multiply(args, dense, s, lines, dense.dims[1], out, [&](int64_t m, int64_t row) {
    return sparse_lhs ? row * lines + m : m * rows + row;
  });
}

// A square kernel of odd size, stride 1, with borders of zeros, so that pixels stay as many. A row
// of the matrix is an output channel; its columns are taps and input channels: (y, x, channel) with
// NHWC, (channel, y, x) with NCHW.
int32_t SparseConv2d(const CallArgs& args) {
  const TensorView &data = args[0], &out = args[4];
  const bool channels_last = args.param(0) != 0;
  const int64_t size = args.param(1), taps = size * size;
  const int channel_axis = channels_last ? 3 : 1, height_axis = channels_last ? 1 : 2;
  const int64_t channels = data.dims[channel_axis];
  int64_t width;
  if (size % 2 == 0 || __builtin_mul_overflow(channels, taps, &width))
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  SparseMatrix s(args);
  if (!s.Load(args[1], args[2], args[3], width)) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  const int64_t rows = s.rows() * s.block_rows;
  if (!SameDims(data, out, channel_axis) || out.dims[channel_axis] != rows) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  if (out.size() == 0) return RELAYVM_KERNEL_OK;
  const int64_t images = data.dims[0], h = data.dims[height_axis], w = data.dims[height_axis + 1];
  const int64_t pixels = h * w;
  // Steps from pixel to pixel and from channel to channel.
  const int64_t data_pixel = channels_last ? channels : 1, out_pixel = channels_last ? rows : 1;
  const int64_t step = channels_last ? 1 : pixels;
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    T* to = out.as<T>();
    args.Clear(out);
    const T *from = data.as<const T>(), *weights = s.values->as<const T>();
    ForEach(s, [&](int64_t row, int64_t column, int64_t value) {
      const Arithmetic<T> factor = ToArithmetic(weights[value]);
      const int64_t tap = channels_last ? column / channels : column % taps;
      const int64_t channel = channels_last ? column % channels : column / taps;
      const int64_t dy = tap / size - size / 2, dx = tap % size - size / 2;
      const int64_t first = std::max<int64_t>(0, -dx), last = std::min(w, w - dx);
      const int64_t top = std::max<int64_t>(0, -dy), bottom = std::min(h, h - dy);
      args.Work(1);
      for (int64_t left = first; left < last; left += kColumnsAtOnce) {
        const int64_t right = std::min(last, left + kColumnsAtOnce);
        const int64_t lines = kColumnsAtOnce / (right - left);
        for (int64_t n = 0; n < images; ++n) {
          args.Work(1);
          const T* image = from + n * pixels * channels + channel * step;
          T* result = to + n * pixels * rows + row * step;
          for (int64_t y = top, polled = top; y < bottom; ++y) {
            if (y == polled) {
              polled = std::min(bottom, y + lines);
              args.Work((polled - y) * (right - left) * kStepCost);
            }
            for (int64_t x = left; x < right; ++x) {
              T& sum = result[(y * w + x) * out_pixel];
              sum = MultiplyAdd(sum, image[((y + dy) * w + x + dx) * data_pixel], factor);
            }
          }
        }
      }
    });
    return RELAYVM_KERNEL_OK;
  });
}

int32_t SparseAdd(const CallArgs& args) {
  const TensorView &dense = args[0], &out = args[4];
  SparseMatrix s(args);
  if (!s.Load(args[1], args[2], args[3], dense.dims[1])) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  if (s.rows() * s.block_rows > dense.dims[0]) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  const int64_t width = dense.dims[1];
  return DispatchDType(out.dtype, [&]<typename T>() -> int32_t {
    args.Copy(out.data, dense.data, dense.size() * static_cast<int64_t>(sizeof(T)));
    ForEach(s, [&](int64_t row, int64_t column, int64_t value) {
      args.Work(kStepCost);
      T& to = out.as<T>()[row * width + column];
      to = FromArithmetic<T>(
          WrapAdd(ToArithmetic(to), ToArithmetic(s.values->as<const T>()[value])));
    });
    return RELAYVM_KERNEL_OK;
  });
}

// A square CSR matrix: rows become columns.
int32_t SparseTranspose(const CallArgs& args) {
  SparseMatrix s(args);
  const int64_t rows = args[2].size() - 1;
  if (!s.Load(args[0], args[1], args[2], rows)) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
  // Else entries would belong to no row.
  if (s.starts.front() != 0 || s.starts.back() != args[0].dims[0]) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  const TensorView &values = args[3], &indices = args[4], &indptr = args[5];
  auto next = args.NewVector<int64_t>(rows + 1);
  const auto entries = static_cast<int64_t>(s.columns.size());
  const auto count = [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) ++next[s.columns[e] + 1];
  };
  args.InBlocks(entries, count, kStepCost);
  args.InBlocks(rows + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      if (r > 0) next[r] += next[r - 1];
      StoreFittingIndex(indptr, r, next[r]);
    }
  });
  const size_t bytes = static_cast<size_t>(DTypeBytes(values.dtype));
  ForEach(s, [&](int64_t row, int64_t column, int64_t value) {
    args.Work(CallArgs::kScattered);
    const int64_t to = next[column]++;
    std::memcpy(values.data + to * bytes, args[0].data + value * bytes, bytes);
    StoreFittingIndex(indices, to, row);
  });
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm

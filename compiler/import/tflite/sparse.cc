#include "compiler/import/tflite/sparse.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

namespace relayvm::import::tflite {

namespace fb = tflite_file;

namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;

Status Wrong(const std::string& what) { return {StatusCode::kInvalidInput, "sparse: " + what}; }

template <typename T>
std::vector<int64_t> NumbersOf(const flatbuffers::Vector<T>* v) {
  if (v == nullptr) return {};
  return {v->data(), v->data() + v->size()};
}

std::vector<int64_t> NumbersOf(fb::SparseIndexVector type, const void* table) {
  if (table == nullptr) return {};
  switch (type) {
    case fb::SparseIndexVector::Int32Vector:
      return NumbersOf(static_cast<const fb::Int32Vector*>(table)->values());
    case fb::SparseIndexVector::Uint16Vector:
      return NumbersOf(static_cast<const fb::Uint16Vector*>(table)->values());
    case fb::SparseIndexVector::Uint8Vector:
      return NumbersOf(static_cast<const fb::Uint8Vector*>(table)->values());
    default:
      return {};
  }
}

// A dim as it is stored, outermost first.
struct Level {
  int64_t extent = 0;  // of a dense one; else the extent of the dim
  bool is_dense = true;
  std::vector<int64_t> segments, indices;
  int64_t step = 0;  // of the flat place in the dense tensor
};

class Walk {
 public:
  Walk(std::vector<Level> levels, int64_t count, std::span<const std::byte> from,
       std::span<std::byte> to, size_t width)
      : levels_(std::move(levels)), count_(count), from_(from), to_(to), width_(width) {}

  // Level by level: `position` among all that is stored of the levels above, `place` in the tensor.
  Status Run(size_t level, int64_t position, int64_t place) {
    if (level == levels_.size()) {
      if (position >= count_) return Wrong("fewer values than places");
      const auto at = static_cast<size_t>(place) * width_;
      if (place < 0 || at + width_ > to_.size()) return Wrong("a place is out of range");
      std::memcpy(to_.data() + at, from_.data() + static_cast<size_t>(position) * width_, width_);
      return OkStatus();
    }
    const Level& l = levels_[level];
    if (l.is_dense) {
      for (int64_t i = 0; i < l.extent; ++i) {
        RELAYVM_RETURN_IF_ERROR(Run(level + 1, position * l.extent + i, place + i * l.step));
      }
      return OkStatus();
    }
    if (position + 1 >= static_cast<int64_t>(l.segments.size())) return Wrong("too few segments");
    const int64_t from = l.segments[static_cast<size_t>(position)];
    const int64_t to = l.segments[static_cast<size_t>(position) + 1];
    if (from < 0 || to < from || to > static_cast<int64_t>(l.indices.size()))
      return Wrong(fmt::format("a segment from {} to {} of {}", from, to, l.indices.size()));
    for (int64_t i = from; i < to; ++i) {
      const int64_t index = l.indices[static_cast<size_t>(i)];
      if (index < 0 || index >= l.extent)
        return Wrong(fmt::format("index {} is out of 0 to {}", index, l.extent - 1));
      RELAYVM_RETURN_IF_ERROR(Run(level + 1, i, place + index * l.step));
    }
    return OkStatus();
  }

 private:
  std::vector<Level> levels_;
  int64_t count_;
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  size_t width_;
};

// How many elements lie in blocks along each dim, and whose dim each block's is.
Status ReadLevels(const fb::SparsityParameters& format, const std::vector<int64_t>& shape,
                  std::vector<Level>* levels) {
  const std::vector<int64_t> order = NumbersOf(format.traversal_order());
  const std::vector<int64_t> blocks = NumbersOf(format.block_map());
  const size_t rank = shape.size(), all = rank + blocks.size();
  const size_t described = format.dim_metadata() == nullptr ? 0 : format.dim_metadata()->size();
  if (order.size() != all || described != all || all > 64) {
    return Wrong(fmt::format("{} dims and {} of blocks, described {}, in an order of {}", rank,
                             blocks.size(), described, order.size()));
  }
  std::vector<int64_t> steps(rank, 1), block(rank, 1);
  for (size_t i = rank; i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  for (size_t i = 0; i < all; ++i) {  // blocks have dense dims
    const int64_t at = order[i];
    if (at < 0 || at >= static_cast<int64_t>(all)) return Wrong(fmt::format("dim {}", at));
    if (at < static_cast<int64_t>(rank)) continue;
    const int64_t of = blocks[static_cast<size_t>(at) - rank];
    const int64_t extent = format.dim_metadata()->Get(static_cast<uint32_t>(i))->dense_size();
    if (of < 0 || of >= static_cast<int64_t>(rank) || extent < 1 || extent > kMostElements ||
        block[static_cast<size_t>(of)] != 1) {
      return Wrong(fmt::format("a block of {} along dim {}", extent, of));
    }
    block[static_cast<size_t>(of)] = extent;
  }
  std::vector<bool> seen(all, false);
  for (size_t i = 0; i < all; ++i) {
    const auto at = static_cast<size_t>(order[i]);
    const bool is_block = at >= rank;
    const auto dim = is_block ? static_cast<size_t>(blocks[at - rank]) : at;
    if (seen[at]) return Wrong(fmt::format("dim {} twice", at));
    seen[at] = true;
    if (shape[dim] % block[dim] != 0)
      return Wrong(fmt::format("blocks of {} in a dim of {}", block[dim], shape[dim]));
    const fb::DimensionMetadata& m = *format.dim_metadata()->Get(static_cast<uint32_t>(i));
    Level& l = levels->emplace_back();
    l.extent = is_block ? block[dim] : shape[dim] / block[dim];
    l.is_dense = m.format() == fb::DimensionType::DENSE;
    l.step = is_block ? steps[dim] : steps[dim] * block[dim];
    if (l.is_dense && m.dense_size() != l.extent)
      return Wrong(fmt::format("dim {} is {}, stored {}", at, l.extent, m.dense_size()));
    if (l.is_dense) continue;
    l.segments = NumbersOf(m.array_segments_type(), m.array_segments());
    l.indices = NumbersOf(m.array_indices_type(), m.array_indices());
  }
  return OkStatus();
}

}  // namespace

Result<HostTensor> DenseOf(const fb::SparsityParameters& format, const HostTensor& stored,
                           int64_t count) {
  int64_t elements = 1;
  for (const int64_t d : stored.shape) {
    if (d < 0 || __builtin_mul_overflow(elements, d, &elements) || elements > kMostElements)
      return Wrong("more than 2^31 elements with its zeros");
  }
  std::vector<Level> levels;
  RELAYVM_RETURN_IF_ERROR(ReadLevels(format, stored.shape, &levels));
  const auto width = static_cast<size_t>(DTypeBytes(stored.dtype));
  HostTensor dense{stored.dtype, stored.shape,
                   SharedBytes::Zeros(static_cast<size_t>(elements) * width)};
  const SharedBytes from = stored.data.Loaded();
  Walk walk(std::move(levels), count, {from.data(), from.size()}, dense.data.Mutable(), width);
  RELAYVM_RETURN_IF_ERROR(walk.Run(0, 0, 0));
  return dense;
}

}  // namespace relayvm::import::tflite

#include "compiler/transforms/views/rearrange.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace relayvm::ir {
namespace {

// One axis of the result: its extent, and how far apart its elements are, in elements.
struct Axis {
  int64_t extent;
  int64_t from;  // in the input
  int64_t to;    // in the result
};

// Elements of width bytes sizeof(T), at any address.
template <typename T>
void Copy(const std::byte* from, std::byte* to, const Axis& rows, const Axis& columns) {
  // Tiles, so that the lines of neither side leave the cache before they are used up.
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows.extent; r0 += kTile) {
    const int64_t r1 = std::min(rows.extent, r0 + kTile);
    for (int64_t c0 = 0; c0 < columns.extent; c0 += kTile) {
      const int64_t c1 = std::min(columns.extent, c0 + kTile);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) {
          std::memcpy(to + (r * rows.to + c * columns.to) * int64_t{sizeof(T)},
                      from + (r * rows.from + c * columns.from) * int64_t{sizeof(T)}, sizeof(T));
        }
      }
    }
  }
}

void CopyElements(int width, const std::byte* from, std::byte* to, const Axis& rows,
                  const Axis& columns) {
  switch (width) {
    case 1:
      return Copy<uint8_t>(from, to, rows, columns);
    case 2:
      return Copy<uint16_t>(from, to, rows, columns);
    case 4:
      return Copy<uint32_t>(from, to, rows, columns);
    default:
      return Copy<uint64_t>(from, to, rows, columns);
  }
}

// The axes of the result, outermost first.
void Permute(int width, const std::byte* from, std::byte* to, std::vector<Axis> axes) {
  // The last axis of the result and the one that is dense in the input are copied together.
  Axis columns{1, 1, 1};
  Axis rows{1, 1, 1};
  if (!axes.empty()) {
    columns = axes.back();
    axes.pop_back();
  }
  auto dense = std::ranges::find(axes, 1, &Axis::from);
  if (dense == axes.end() && !axes.empty()) dense = axes.end() - 1;
  if (dense != axes.end()) {
    rows = *dense;
    axes.erase(dense);
  }
  std::vector<int64_t> index(axes.size(), 0);
  for (;;) {
    CopyElements(width, from, to, rows, columns);
    size_t d = axes.size();
    for (; d-- > 0;) {
      from += axes[d].from * width;
      to += axes[d].to * width;
      if (++index[d] < axes[d].extent) break;
      from -= axes[d].from * axes[d].extent * width;
      to -= axes[d].to * axes[d].extent * width;
      index[d] = 0;
    }
    if (d == SIZE_MAX) return;
  }
}

}  // namespace

std::optional<HostTensor> PermuteAxes(const te::Tensor& result, const HostTensor& input) {
  const te::Expr& body = result->body;
  if (body == nullptr || body->kind != te::ExprKind::kLoad || !body->tensor->is_placeholder() ||
      body->operands.size() != result->axes.size())
    return std::nullopt;
  const size_t rank = result->axes.size();
  HostTensor out{input.dtype, {}, {}};
  for (const Dim& extent : result->shape) {
    if (!extent.is_const()) return std::nullopt;
    out.shape.push_back(extent.value());
  }
  if (out.size() != input.size()) return std::nullopt;
  // An axis of extent 1 stands in no index and needs no way: 0 is its only place.
  std::vector<Axis> axes;
  for (int64_t extent : out.shape) axes.push_back({extent, 0, 0});
  std::vector<bool> is_read(rank, false);
  int64_t from = 1;
  for (size_t d = rank; d-- > 0; from *= input.shape[d]) {
    if (input.shape[d] == 1) continue;
    const te::ExprNode& at = *body->operands[d];
    if (at.kind != te::ExprKind::kAxis) return std::nullopt;
    const auto axis =
        static_cast<size_t>(std::ranges::find(result->axes, at.axis) - result->axes.begin());
    if (axis == rank || is_read[axis] || out.shape[axis] != input.shape[d]) return std::nullopt;
    is_read[axis] = true;
    axes[axis].from = from;
  }
  int64_t to = 1;
  for (size_t d = rank; d-- > 0; to *= axes[d].extent) axes[d].to = to;
  out.data = SharedBytes::Lazy(
      input.data.size(), [input, axes = std::move(axes)](std::span<std::byte> bytes) {
        Permute(DTypeBytes(input.dtype), input.data.Loaded().data(), bytes.data(), axes);
        input.data.DropPages();
      });
  return out;
}

}  // namespace relayvm::ir

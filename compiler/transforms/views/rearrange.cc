#include "compiler/transforms/views/rearrange.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace relayvm::ir {
namespace {

// Results of this size that are no smaller than their input are not made before they are read.
constexpr size_t kLargeBytes = 64 << 10;

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
void Move(int width, const std::byte* from, std::byte* to, std::vector<Axis> axes) {
  Axis columns{1, 1, 1};
  Axis rows{1, 1, 1};
  if (!axes.empty()) {
    columns = axes.back();
    axes.pop_back();
  }
  const bool is_dense = columns.from == 1;
  if (!is_dense) {
    // The last axis of the result and the one that is dense in the input are copied together.
    auto dense = std::ranges::find(axes, 1, &Axis::from);
    if (dense == axes.end() && !axes.empty()) dense = axes.end() - 1;
    if (dense != axes.end()) {
      rows = *dense;
      axes.erase(dense);
    }
  }
  std::vector<int64_t> index(axes.size(), 0);
  for (;;) {
    if (is_dense) {
      std::memcpy(to, from, static_cast<size_t>(columns.extent * width));
    } else {
      CopyElements(width, from, to, rows, columns);
    }
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

// An index into one axis of the input: first + step * axis, or that of axis % period.
struct Index {
  int64_t first = 0;
  int64_t step = 0;    // 0: there is no axis
  int64_t period = 0;  // 0: none
  const te::AxisNode* axis = nullptr;
};

bool IsNumber(const te::Expr& e) { return e->kind == te::ExprKind::kIntImm; }

// The forms that operators make.
std::optional<Index> IndexOf(const te::Expr& e) {
  if (IsNumber(e)) return Index{.first = e->int_value};
  if (e->kind == te::ExprKind::kAxis) return Index{.step = 1, .axis = e->axis.get()};
  if (e->kind != te::ExprKind::kBinary) return std::nullopt;
  const bool is_left = IsNumber(e->operands[0]);
  if (is_left == IsNumber(e->operands[1])) return std::nullopt;
  const int64_t number = e->operands[is_left ? 0 : 1]->int_value;
  std::optional<Index> index = IndexOf(e->operands[is_left ? 1 : 0]);
  if (!index) return std::nullopt;
  const bool is_axis = index->first == 0 && index->step == 1 && index->period == 0;
  switch (e->binary) {
    case te::BinaryOp::kAdd:
      if (__builtin_add_overflow(index->first, number, &index->first)) return std::nullopt;
      return index;
    case te::BinaryOp::kMultiply:
      if (!is_axis) return std::nullopt;
      index->step = number;
      return index;
    case te::BinaryOp::kFloorMod:
      if (!is_axis || is_left || number <= 0) return std::nullopt;
      index->period = number;
      return index;
    default:
      return std::nullopt;
  }
}

// Whether the index stays in 0 .. extent-1 while its axis runs through `places`.
bool IsInside(const Index& index, int64_t places, int64_t extent) {
  if (index.first < 0 || index.first >= extent) return false;
  if (places == 1 || index.step == 0) return true;
  const int64_t room = index.step > 0 ? extent - 1 - index.first : index.first;
  if (index.step == INT64_MIN || std::abs(index.step) > room) return false;
  return places - 1 <= room / std::abs(index.step);
}

// Where the elements of the result are in the input, which holds all of them.
struct Places {
  int64_t first = 0;
  std::vector<Axis> axes;  // of the result, outermost first
};

// One axis after the other, in each of which the elements of both sides are evenly apart.
class AxisList {
 public:
  // Inside all that were added.
  void Add(const Axis& axis) {
    if (axis.extent == 1) return;
    if (!axes_.empty()) {
      Axis& outer = axes_.back();
      if (outer.from == axis.from * axis.extent && outer.to == axis.to * axis.extent) {
        outer = {outer.extent * axis.extent, axis.from, axis.to};
        return;
      }
    }
    axes_.push_back(axis);
  }
  std::vector<Axis> Take() && { return std::move(axes_); }

 private:
  std::vector<Axis> axes_;
};

// REQUIRES: neither shape has an extent of 0.
std::optional<Places> PlacesOf(const te::TensorNode& result, const std::vector<int64_t>& shape,
                               const std::vector<int64_t>& input_shape) {
  struct Use {
    int64_t from = 0, period = 0;
    int count = 0;
  };
  std::vector<Use> uses(shape.size());
  Places places;
  int64_t stride = 1;
  for (size_t d = input_shape.size(); d-- > 0; stride *= input_shape[d]) {
    const std::optional<Index> index = IndexOf(result.body->operands[d]);
    if (!index) return std::nullopt;
    size_t a = 0;
    while (a < shape.size() && result.axes[a].get() != index->axis) ++a;
    if (a == shape.size() && index->axis != nullptr) return std::nullopt;
    int64_t extent = a == shape.size() ? 1 : shape[a];
    if (index->period != 0 && index->period < extent) {
      if (extent % index->period != 0) return std::nullopt;
      extent = uses[a].period = index->period;
    }
    if (!IsInside(*index, extent, input_shape[d])) return std::nullopt;
    places.first += index->first * stride;
    if (a == shape.size()) continue;
    ++uses[a].count;
    if (extent > 1) uses[a].from += index->step * stride;
  }
  AxisList axes;
  int64_t to = 1;
  for (const int64_t extent : shape) to *= extent;
  for (size_t a = 0; a < shape.size(); ++a) {
    const Use& use = uses[a];
    to /= shape[a];
    if (use.period != 0 && use.count > 1) return std::nullopt;
    const int64_t extent = use.period != 0 ? use.period : shape[a];
    axes.Add({shape[a] / extent, 0, to * extent});
    axes.Add({extent, use.from, to});
  }
  places.axes = std::move(axes).Take();
  return places;
}

}  // namespace

std::optional<HostTensor> Rearranged(const te::Tensor& result, const HostTensor& input) {
  const te::Expr& body = result->body;
  if (body == nullptr || body->kind != te::ExprKind::kLoad || !body->tensor->is_placeholder() ||
      body->operands.size() != input.shape.size())
    return std::nullopt;
  HostTensor out{input.dtype, {}, {}};
  for (const Dim& extent : result->shape) {
    if (!extent.is_const()) return std::nullopt;
    out.shape.push_back(extent.value());
  }
  if (out.size() == 0) return out;
  if (input.size() == 0) return std::nullopt;
  std::optional<Places> places = PlacesOf(*result, out.shape, input.shape);
  if (!places) return std::nullopt;
  const int width = DTypeBytes(input.dtype);
  const auto bytes = static_cast<size_t>(out.size() * width);
  const std::vector<Axis>& axes = places->axes;
  const bool is_run = axes.empty() || (axes.size() == 1 && axes[0].from == 1);
  if (is_run && bytes == input.data.size()) {
    out.data = input.data;
    return out;
  }
  const auto first = static_cast<size_t>(places->first * width);
  // A part that kept much else in memory is copied.
  if (is_run && bytes >= input.data.size() / 2) {
    out.data = input.data.Slice(first, bytes);
    return out;
  }
  out.data = SharedBytes::Lazy(bytes, [input, axes, first, width](std::span<std::byte> to) {
    Move(width, input.data.Loaded().data() + first, to.data(), axes);
    input.data.DropPages();
  });
  // What many parts are taken of is not made for each of them whenever it is read.
  if (bytes < std::max(kLargeBytes, input.data.size())) out.data = out.data.Loaded();
  return out;
}

}  // namespace relayvm::ir

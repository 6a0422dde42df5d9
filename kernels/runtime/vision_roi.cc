// Kernels on regions of interest: roi_align, roi_pool, proposal; and multibox_transform_loc.
// Arithmetic is in float32 (float64 for float64 data). Tested by vision_test.cc.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/roi_average.h"

namespace relayvm {
namespace {

// Of a sample or pixel that may be far from the one before.
constexpr int64_t kPixelCost = 2;

double BitsToDouble(int64_t bits) { return std::bit_cast<double>(bits); }

// Feature maps and the pooled result in either layout.
struct RoiShape {
  int64_t batch, channels, height, width, pooled_height, pooled_width;
  bool channels_last;

  int64_t Data(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return channels_last ? ((n * height + y) * width + x) * channels + c
                         : ((n * channels + c) * height + y) * width + x;
  }
  int64_t Out(int64_t n, int64_t c, int64_t y, int64_t x) const {
    return channels_last ? ((n * pooled_height + y) * pooled_width + x) * channels + c
                         : ((n * channels + c) * pooled_height + y) * pooled_width + x;
  }
};

RoiShape ShapeOf(const TensorView& data, const TensorView& out, bool channels_last) {
  const int64_t *d = data.dims, *o = out.dims;
  if (channels_last) return {d[0], d[3], d[1], d[2], o[1], o[2], true};
  return {d[0], d[1], d[2], d[3], o[2], o[3], false};
}

bool SameChannels(const TensorView& data, const TensorView& out, bool channels_last) {
  const int axis = channels_last ? 3 : 1;
  return data.dims[axis] == out.dims[axis];
}

// `samples` of each of `bins` bins of a size, from `start` on.
template <typename R>
void FindSamples(const CallArgs& args, R start, R bin, int64_t bins, int64_t samples,
                 int64_t extent, int64_t stride, KernelVector<Between<R>>& found) {
  found.clear();
  for (int64_t b = 0; b < bins; ++b) {
    args.Work(1);
    for (int64_t g = 0; g < samples; ++g) {
      args.Work(1);
      R at = start + static_cast<R>(b) * bin +
             (static_cast<R>(g) + R(0.5)) * bin / static_cast<R>(samples);
      args.Push(found, {});
      if (!(at >= -1 && at <= static_cast<R>(extent)) || extent == 0) continue;
      at = std::min(std::max(at, R(0)), static_cast<R>(extent) - 1);
      const auto first = static_cast<int64_t>(std::floor(at));
      const R rest = at - static_cast<R>(first);
      found.back() = {first * stride, std::min(first + 1, extent - 1) * stride, 1 - rest, rest,
                      false};
    }
  }
}

// The greatest of the samples ys x xs of a map, or of their corners with their weights.
template <typename T, typename R>
[[gnu::noinline]] R MaxOfSamples(const T* map, std::span<const Between<R>> ys,
                                 std::span<const Between<R>> xs, bool of_corners, R value) {
  const auto pixel = [&](int64_t y, int64_t x) { return static_cast<R>(ToArithmetic(map[y + x])); };
  for (const Between<R>& y : ys) {
    for (const Between<R>& x : xs) {
      R sample = 0;
      if (!y.is_outside && !x.is_outside) {
        const R top_left = pixel(y.near, x.near), top_right = pixel(y.near, x.far);
        const R bottom_left = pixel(y.far, x.near), bottom_right = pixel(y.far, x.far);
        sample =
            of_corners
                ? std::max({y.near_weight * x.near_weight * top_left,
                            y.near_weight * x.far_weight * top_right,
                            y.far_weight * x.near_weight * bottom_left,
                            y.far_weight * x.far_weight * bottom_right})
                : y.near_weight * (x.near_weight * top_left + x.far_weight * top_right) +
                      y.far_weight * (x.near_weight * bottom_left + x.far_weight * bottom_right);
      }
      value = std::max(value, sample);
    }
  }
  return value;
}

// The maximum of a bin. Many samples in blocks of a row.
template <typename T, typename R>
R MaxOfBin(const CallArgs& args, const T* map, std::span<const Between<R>> ys,
           std::span<const Between<R>> xs, bool of_corners) {
  const auto samples = static_cast<int64_t>(ys.size()) * static_cast<int64_t>(xs.size());
  args.Work(std::min(samples, kBinAtOnce) + 1);
  if (samples == 0) return 0;
  R value = std::numeric_limits<R>::lowest();
  if (samples <= kBinAtOnce) return MaxOfSamples<T, R>(map, ys, xs, of_corners, value);
  for (size_t y = 0; y < ys.size(); ++y) {
    args.InBlocks(static_cast<int64_t>(xs.size()), [&](int64_t begin, int64_t end) {
      const auto line = xs.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      value = MaxOfSamples<T, R>(map, ys.subspan(y, 1), line, of_corners, value);
    });
  }
  return value;
}

}  // namespace

int32_t RoiAlign(const CallArgs& args) {
  const TensorView &data = args[0], &rois = args[1], &out = args[2];
  const double scale = BitsToDouble(args.param(0));
  const int64_t sample_ratio = args.param(1);
  const bool is_average = args.param(3) == 0, of_corners = args.param(3) == 2;
  const bool aligned = args.param(4) != 0;
  if (!SameChannels(data, out, args.param(2) != 0)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const RoiShape s = ShapeOf(data, out, args.param(2) != 0);
  return DispatchFloat(data.dtype, [&]<typename T>() -> int32_t {
    using R = Real<T>;
    auto ys = args.NewVector<Between<R>>(), xs = args.NewVector<Between<R>>();
    BinTaps<R> rows(args), columns(args);
    auto line = args.NewVector<R>();
    for (int64_t r = 0; r < rois.dims[0]; ++r) {
      args.Work(8);
      const auto roi = [&](int k) { return LoadAs<R>(rois, r * 5 + k); };
      const int64_t n = TruncateToInt64(roi(0));
      if (n < 0 || n >= s.batch) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
      if (out.size() == 0) continue;
      const R factor = static_cast<R>(scale);
      // Aligned: a pixel's value stands at its middle, and a box may be smaller than a pixel.
      const R shift = aligned ? R(0.5) : R(0);
      const R left = roi(1) * factor - shift, top = roi(2) * factor - shift;
      R roi_width = roi(3) * factor - shift - left, roi_height = roi(4) * factor - shift - top;
      if (!aligned) {
        roi_width = std::max(roi_width, R(1));
        roi_height = std::max(roi_height, R(1));
      }
      const R bin_height = roi_height / static_cast<R>(s.pooled_height);
      const R bin_width = roi_width / static_cast<R>(s.pooled_width);
      const auto grid = [&](R bin) {
        if (s.height == 0 || s.width == 0) return int64_t{1};  // all samples are 0
        return sample_ratio > 0 ? sample_ratio : TruncateToInt64(std::ceil(bin));
      };
      const int64_t grid_y = grid(bin_height), grid_x = grid(bin_width);
      // A box far larger than its map would take forever and means nothing.
      if (grid_y / 4 - 16 > s.height || grid_x / 4 - 16 > s.width) {
        return RELAYVM_KERNEL_INVALID_ARGUMENT;
      }
      const int64_t samples_y = std::max<int64_t>(grid_y, 0),
                    samples_x = std::max<int64_t>(grid_x, 0);
      FindSamples(args, top, bin_height, s.pooled_height, samples_y, s.height, s.Data(0, 0, 1, 0),
                  ys);
      FindSamples(args, left, bin_width, s.pooled_width, samples_x, s.width, s.Data(0, 0, 0, 1),
                  xs);
      if (is_average) {
        rows.Merge(ys, s.pooled_height, samples_y);
        columns.Merge(xs, s.pooled_width, samples_x);
      }
      const R samples = static_cast<R>(std::max<int64_t>(samples_y, 1)) *
                        static_cast<R>(std::max<int64_t>(samples_x, 1));
      for (int64_t c = 0; c < s.channels; ++c) {
        const T* map = data.as<const T>() + s.Data(n, c, 0, 0);
        const auto store = [&](int64_t py, int64_t px, R value) {
          out.as<T>()[s.Out(r, c, py, px)] = FromArithmetic<T>(static_cast<Arithmetic<T>>(value));
        };
        if (is_average) {
          SumBins<T, R>(args, map, rows, s.pooled_height, columns, s.pooled_width, !s.channels_last,
                        line, [&](int64_t py, int64_t px, R sum) { store(py, px, sum / samples); });
          continue;
        }
        for (int64_t py = 0; py < s.pooled_height; ++py) {
          const auto bin_y = std::span<const Between<R>>(ys).subspan(py * samples_y, samples_y);
          for (int64_t px = 0; px < s.pooled_width; ++px) {
            const auto bin_x = std::span<const Between<R>>(xs).subspan(px * samples_x, samples_x);
            store(py, px, MaxOfBin<T, R>(args, map, bin_y, bin_x, of_corners));
          }
        }
      }
    }
    return RELAYVM_KERNEL_OK;
  });
}

int32_t RoiPool(const CallArgs& args) {
  const TensorView &data = args[0], &rois = args[1], &out = args[2];
  const double scale = BitsToDouble(args.param(0));
  if (!SameChannels(data, out, args.param(1) != 0)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const RoiShape s = ShapeOf(data, out, args.param(1) != 0);
  return DispatchFloat(data.dtype, [&]<typename T>() -> int32_t {
    using R = Real<T>;
    constexpr R kEpsilon = R(0.00001);  // against rounding just before floor and ceil
    for (int64_t r = 0; r < rois.dims[0]; ++r) {
      args.Work(8);
      const auto corner = [&](int k) {
        return TruncateToInt64(std::round(LoadAs<R>(rois, r * 5 + k) * static_cast<R>(scale)));
      };
      const int64_t n = TruncateToInt64(LoadAs<R>(rois, r * 5));
      if (n < 0 || n >= s.batch) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
      if (out.size() == 0) continue;
      const int64_t left = corner(1), top = corner(2);
      const int64_t limit = int64_t{1} << 30;
      for (int k = 1; k <= 4; ++k) {
        if (corner(k) > limit || corner(k) < -limit) return RELAYVM_KERNEL_INVALID_ARGUMENT;
      }
      const R bin_width = static_cast<R>(std::max<int64_t>(corner(3) - left + 1, 1)) /
                          static_cast<R>(s.pooled_width);
      const R bin_height = static_cast<R>(std::max<int64_t>(corner(4) - top + 1, 1)) /
                           static_cast<R>(s.pooled_height);
      const auto first = [&](int64_t p, R bin, int64_t start, int64_t extent) {
        return std::clamp<int64_t>(
            TruncateToInt64(std::floor(static_cast<R>(p) * bin + kEpsilon)) + start, 0, extent);
      };
      const auto last = [&](int64_t p, R bin, int64_t start, int64_t extent) {
        return std::clamp<int64_t>(
            TruncateToInt64(std::ceil(static_cast<R>(p + 1) * bin - kEpsilon)) + start, 0, extent);
      };
      for (int64_t py = 0; py < s.pooled_height; ++py) {
        const int64_t y0 = first(py, bin_height, top, s.height);
        const int64_t y1 = last(py, bin_height, top, s.height);
        for (int64_t px = 0; px < s.pooled_width; ++px) {
          const int64_t x0 = first(px, bin_width, left, s.width);
          const int64_t x1 = last(px, bin_width, left, s.width);
          for (int64_t c = 0; c < s.channels; ++c) {
            const bool is_empty = y0 >= y1 || x0 >= x1;
            R value = is_empty ? R(0) : std::numeric_limits<R>::lowest();
            const auto add = [&](int64_t y, int64_t x) {
              value = std::max(
                  value, static_cast<R>(ToArithmetic(data.as<const T>()[s.Data(n, c, y, x)])));
            };
            const int64_t pixels = is_empty ? 0 : (y1 - y0) * (x1 - x0);
            args.Work(std::min(pixels, kBinAtOnce) + 1);
            if (pixels <= kBinAtOnce) {
              for (int64_t y = y0; y < y1; ++y) {
                for (int64_t x = x0; x < x1; ++x) add(y, x);
              }
            } else {
              for (int64_t y = y0; y < y1; ++y) {
                args.InBlocks(
                    x1 - x0,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t x = x0 + begin; x < x0 + end; ++x) add(y, x);
                    },
                    kPixelCost);
              }
            }
            out.as<T>()[s.Out(r, c, py, px)] = FromArithmetic<T>(static_cast<Arithmetic<T>>(value));
          }
        }
      }
    }
    return RELAYVM_KERNEL_OK;
  });
}

// --- proposal ---

namespace {

struct ProposalBox {
  float x1, y1, x2, y2, score;
  int64_t position = 0;  // among the boxes
};

float ProposalOverlap(const ProposalBox& a, const ProposalBox& b) {
  const float w = std::max(0.0f, std::min(a.x2, b.x2) - std::max(a.x1, b.x1) + 1.0f);
  const float h = std::max(0.0f, std::min(a.y2, b.y2) - std::max(a.y1, b.y1) + 1.0f);
  const auto area = [](const ProposalBox& box) {
    return (box.x2 - box.x1 + 1.0f) * (box.y2 - box.y1 + 1.0f);
  };
  const float both = w * h;
  return both / (area(a) + area(b) - both);
}

// The anchor of a ratio and a scale at the origin.
ProposalBox Anchor(double ratio, double scale, double stride) {
  const double center = 0.5 * (stride - 1.0);
  const double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5) * scale;
  const double height = std::floor(width / scale * ratio + 0.5) * scale;
  return {static_cast<float>(center - 0.5 * (width - 1)),
          static_cast<float>(center - 0.5 * (height - 1)),
          static_cast<float>(center + 0.5 * (width - 1)),
          static_cast<float>(center + 0.5 * (height - 1)), 0};
}

// An image of a batch, and the boxes that its anchors move to.
struct ProposalImage {
  const CallArgs& args;
  int64_t batch, anchors;
  float height, width, smallest;  // of the image, and of a box that counts
  int64_t rows, columns;          // strides that begin in it

  ProposalImage(const CallArgs& a, int64_t b, int64_t count) : args(a), batch(b), anchors(count) {
    const float* info = args[2].as<const float>() + b * 3;
    height = info[0];
    width = info[1];
    smallest = info[2] * static_cast<float>(static_cast<double>(args.param(3)));
    const auto stride = static_cast<float>(args.param(0));
    rows = TruncateToInt64(height / stride);
    columns = TruncateToInt64(width / stride);
  }

  // Anchor k moved by (w, h) strides and by the deltas there, cut to the image.
  ProposalBox BoxAt(int64_t h, int64_t w, int64_t k) const {
    const TensorView &probability = args[0], &deltas = args[1];
    const int64_t num_h = probability.dims[2], num_w = probability.dims[3];
    const int64_t num_scales = args.param(6);
    const auto stride = static_cast<double>(args.param(0));
    const ProposalBox anchor =
        Anchor(BitsToDouble(args.param(static_cast<int>(8 + num_scales + k / num_scales))),
               BitsToDouble(args.param(static_cast<int>(8 + k % num_scales))), stride);
    const auto dx = static_cast<float>(static_cast<double>(w) * stride);
    const auto dy = static_cast<float>(static_cast<double>(h) * stride);
    const float x1 = anchor.x1 + dx, y1 = anchor.y1 + dy;
    const float x2 = anchor.x2 + dx, y2 = anchor.y2 + dy;
    float d[4];
    for (int i = 0; i < 4; ++i) {
      d[i] = deltas.as<const float>()[(((batch * anchors + k) * 4 + i) * num_h + h) * num_w + w];
    }
    ProposalBox box;
    if (args.param(4) != 0) {  // iou_loss
      box = {x1 + d[0], y1 + d[1], x2 + d[2], y2 + d[3], 0};
    } else {
      const float box_w = x2 - x1 + 1.0f, box_h = y2 - y1 + 1.0f;
      const float center_x = d[0] * box_w + (x1 + 0.5f * (box_w - 1.0f));
      const float center_y = d[1] * box_h + (y1 + 0.5f * (box_h - 1.0f));
      const float half_w = 0.5f * (std::exp(d[2]) * box_w - 1.0f);
      const float half_h = 0.5f * (std::exp(d[3]) * box_h - 1.0f);
      box = {center_x - half_w, center_y - half_h, center_x + half_w, center_y + half_h, 0};
    }
    const auto cut = [](float x, float size) { return std::max(std::min(x, size - 1.0f), 0.0f); };
    box = {cut(box.x1, width), cut(box.y1, height), cut(box.x2, width), cut(box.y2, height), 0};
    const int64_t score = (((batch * 2 + 1) * anchors + k) * num_h + h) * num_w + w;
    box.score = h < rows && w < columns ? probability.as<const float>()[score] : -1.0f;
    if (box.x2 - box.x1 + 1.0f < smallest || box.y2 - box.y1 + 1.0f < smallest) {
      const float half = smallest / 2;
      box = {box.x1 - half, box.y1 - half, box.x2 + half, box.y2 + half, -1.0f};
    }
    return box;
  }
};

}  // namespace

// Parameters: feature_stride, pre-NMS count, post-NMS count, min size, iou_loss, threshold (bits),
// number of scales, number of ratios, then the scales and ratios (bits).
int32_t Proposal(const CallArgs& args) {
  const TensorView &probability = args[0], &deltas = args[1], &out = args[3];
  const int64_t before = args.param(1), after = args.param(2);
  const double threshold = BitsToDouble(args.param(5));
  const int64_t num_scales = args.param(6), num_ratios = args.param(7);
  const int64_t batch = probability.dims[0], height = probability.dims[2],
                width = probability.dims[3];
  int64_t anchors, rows;
  if (num_scales < 1 || num_ratios < 1 || after < 0 ||
      __builtin_mul_overflow(num_scales, num_ratios, &anchors) || deltas.dims[1] / 4 != anchors ||
      deltas.dims[1] % 4 != 0 || probability.dims[1] != deltas.dims[1] / 2 ||
      __builtin_mul_overflow(batch, after, &rows) || out.dims[0] != rows) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  auto boxes = args.NewVector<ProposalBox>();
  args.Clear(out);
  for (int64_t b = 0; b < batch; ++b) {
    args.Work(8);
    const ProposalImage image(args, b, anchors);
    boxes.clear();
    for (int64_t h = 0; h < height && width > 0; ++h) {
      for (int64_t w = 0; w < width; ++w) {
        for (int64_t k = 0; k < anchors; ++k) {
          args.Work(8);
          ProposalBox box = image.BoxAt(h, w, k);
          box.position = static_cast<int64_t>(boxes.size());
          args.Push(boxes, box);
        }
      }
    }
    args.Sort(boxes.begin(), boxes.end(), [](const ProposalBox& p, const ProposalBox& q) {
      const uint64_t p_key = SortKey(p.score), q_key = SortKey(q.score);
      return p_key != q_key ? p_key > q_key : p.position < q.position;
    });
    if (before >= 0 && before < static_cast<int64_t>(boxes.size()))
      boxes.resize(static_cast<size_t>(before));
    auto kept = args.NewVector<ProposalBox>();
    for (const ProposalBox& box : boxes) {
      if (static_cast<int64_t>(kept.size()) >= after) break;
      args.Work(1);
      const auto removes = [&](int64_t k) {
        return static_cast<double>(ProposalOverlap(kept[k], box)) > threshold;
      };
      if (!args.AnyOf(static_cast<int64_t>(kept.size()), removes, 2)) args.Push(kept, box);
    }
    // Fewer survivors than results: they repeat.
    for (int64_t i = 0; i < after && !kept.empty(); ++i) {
      args.Work(2);
      const ProposalBox& box = kept[static_cast<size_t>(i) % kept.size()];
      float* row = out.as<float>() + (b * after + i) * 5;
      row[0] = static_cast<float>(b);
      row[1] = box.x1;
      row[2] = box.y1;
      row[3] = box.x2;
      row[4] = box.y2;
    }
  }
  return RELAYVM_KERNEL_OK;
}

// --- multibox_transform_loc ---

// Parameters: clip, threshold (bits), keep_background, the four variances (bits).
int32_t MultiboxTransformLoc(const CallArgs& args) {
  const TensorView &probability = args[0], &location = args[1], &anchor = args[2];
  const TensorView &out = args[3], &counts = args[4];
  const bool clip = args.param(0) != 0, keep_background = args.param(2) != 0;
  const double threshold = BitsToDouble(args.param(1));
  const int64_t batch = probability.dims[0], classes = probability.dims[1], n = probability.dims[2];
  if (location.dims[1] / 4 != n || location.dims[1] % 4 != 0) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  return DispatchFloat(probability.dtype, [&]<typename T>() -> int32_t {
    using R = Real<T>;
    const auto load = [](const TensorView& t, int64_t i) {
      return static_cast<R>(ToArithmetic(t.as<const T>()[i]));
    };
    R variance[4];
    for (int k = 0; k < 4; ++k) variance[k] = static_cast<R>(BitsToDouble(args.param(3 + k)));
    args.Fill(out.as<T>(), out.size(), FromArithmetic<T>(-1));
    for (int64_t b = 0; b < batch; ++b) {
      int64_t valid = 0;
      args.Work(1);
      for (int64_t j = 0; j < n; ++j) {
        args.Work(16);
        R score = -1;
        int64_t id = 0;
        const int64_t first = keep_background ? 0 : 1;
        args.InBlocks(
            classes - first,
            [&](int64_t begin, int64_t end) {
              for (int64_t k = first + begin; k < first + end; ++k) {
                const R p = load(probability, (b * classes + k) * n + j);
                if (p > score) {
                  id = k;
                  score = p;
                }
              }
            },
            kPixelCost);
        if (score < static_cast<R>(threshold) || (id == 0 && !keep_background)) continue;
        R a[4], p[4];
        for (int k = 0; k < 4; ++k) {
          a[k] = load(anchor, j * 4 + k);
          p[k] = load(location, (b * n + j) * 4 + k);
        }
        const R w = a[2] - a[0], h = a[3] - a[1];
        const R x = p[0] * variance[0] * w + (a[0] + a[2]) / 2;
        const R y = p[1] * variance[1] * h + (a[1] + a[3]) / 2;
        const R half_w = std::exp(p[2] * variance[2]) * w / 2,
                half_h = std::exp(p[3] * variance[3]) * h / 2;
        const R row[6] = {static_cast<R>(keep_background ? id : id - 1),
                          score,
                          x - half_w,
                          y - half_h,
                          x + half_w,
                          y + half_h};
        T* to = out.as<T>() + (b * n + valid) * 6;
        for (int k = 0; k < 6; ++k) {
          const R value = k >= 2 && clip ? std::max(R(0), std::min(R(1), row[k])) : row[k];
          to[k] = FromArithmetic<T>(static_cast<Arithmetic<T>>(value));
        }
        ++valid;
      }
      StoreIndex(counts, b, valid);
    }
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace relayvm

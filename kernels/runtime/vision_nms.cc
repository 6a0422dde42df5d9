// Kernels that select boxes: get_valid_counts, non_max_suppression, all_class_non_max_suppression,
// regular_non_max_suppression.
// Tested by vision_test.cc.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

struct Box {
  double left, top, right, bottom;
};

// Corners may come in any order.
template <typename Load>
Box MakeBox(const Load& at) {
  const double a = at(0), b = at(1), c = at(2), d = at(3);
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

// Intersection over union, 0 when the union is empty. Not inlined: loops that end early are faster
// so.
template <typename T>
[[gnu::noinline]] T Overlap(const Box& a, const Box& b) {
  const T w = std::max<T>(
      0, static_cast<T>(std::min(a.right, b.right)) - static_cast<T>(std::max(a.left, b.left)));
  const T h = std::max<T>(
      0, static_cast<T>(std::min(a.bottom, b.bottom)) - static_cast<T>(std::max(a.top, b.top)));
  const auto area = [](const Box& box) {
    return (static_cast<T>(box.right) - static_cast<T>(box.left)) *
           (static_cast<T>(box.bottom) - static_cast<T>(box.top));
  };
  const T both = w * h;
  const T either = area(a) + area(b) - both;
  return either <= 0 ? T(0) : both / either;
}

template <typename T>
void CopyRow(const CallArgs& args, T* to, const T* from, int64_t width) {
  args.Copy(to, from, width * static_cast<int64_t>(sizeof(T)));
}

// `n` indices from `first` on become -1.
[[maybe_unused]] void FillIndices(const CallArgs& args, const TensorView& t, int64_t first,
                                  int64_t n) {
  args.InBlocks(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = first + begin; i < first + end; ++i) StoreIndex(t, i, -1);
  });
}

// Of comparing a box with another.
constexpr int64_t kOverlapCost = 4;

}  // namespace

int32_t GetValidCounts(const CallArgs& args) {
  const TensorView &data = args[0], &threshold = args[1];
  const TensorView &counts = args[2], &out = args[3], &positions = args[4];
  const int64_t batch = data.dims[0], boxes = data.dims[1], width = data.dims[2];
  const int64_t id = args.param(0), score = args.param(1);
  if (score < 0 || score >= width || id >= width) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const double least = LoadAs<double>(threshold, 0);
  return DispatchFloat(data.dtype, [&]<typename T>() -> int32_t {
    for (int64_t b = 0; b < batch; ++b) {
      args.Work(4);
      const T* from = data.as<const T>() + b * boxes * width;
      T* to = out.as<T>() + b * boxes * width;
      int64_t kept = 0;
      for (int64_t i = 0; i < boxes; ++i) {
        const T* row = from + i * width;
        args.Work(4);
        if (!(ToArithmetic(row[score]) > least) || (id >= 0 && !(ToArithmetic(row[id]) >= 0))) {
          continue;
        }
        CopyRow(args, to + kept * width, row, width);
        StoreIndex(positions, b * boxes + kept, i);
        ++kept;
      }
      StoreIndex(counts, b, kept);
      args.Fill(to + kept * width, (boxes - kept) * width, FromArithmetic<T>(-1));
      FillIndices(args, positions, b * boxes + kept, boxes - kept);
    }
    return RELAYVM_KERNEL_OK;
  });
}

namespace {

struct NmsOptions {
  bool force_suppress, return_indices, invalid_to_bottom;
  int64_t top_k, coordinates, score, id, most;
  double threshold;
};

// One batch of non_max_suppression: `rows` receives the boxes in order of score with the suppressed
// ones -1, `boxes_at` their positions in the data (-1: suppressed).
template <typename T>
void SuppressBatch(const CallArgs& args, const T* data, int64_t boxes, int64_t width, int64_t valid,
                   const NmsOptions& o, T* rows, KernelVector<int64_t>& boxes_at) {
  const T minus_one = FromArithmetic<T>(-1);
  args.Fill(rows, boxes * width, minus_one);
  args.Fill<int64_t>(boxes_at.data(), boxes, -1);
  auto order = args.NewVector<int64_t>(valid);
  args.InBlocks(valid, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) order[i] = i;
  });
  if (o.threshold > 0) {
    args.Sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const uint64_t a_key = SortKey(data[a * width + o.score]);
      const uint64_t b_key = SortKey(data[b * width + o.score]);
      return a_key != b_key ? a_key > b_key : a < b;
    });
    if (o.top_k > 0 && o.top_k < valid) order.resize(static_cast<size_t>(o.top_k));
  }
  const int64_t candidates = static_cast<int64_t>(order.size());
  for (int64_t j = 0; j < candidates; ++j) {
    args.Work(CallArgs::kScattered);
    CopyRow(args, rows + j * width, data + order[j] * width, width);
    boxes_at[j] = order[j];
  }
  if (!(o.threshold > 0)) return;
  struct Kept {
    Box box;
    double id;
  };
  auto kept = args.NewVector<Kept>();
  for (int64_t j = 0; j < candidates; ++j) {
    T* row = rows + j * width;
    args.Work(kOverlapCost);
    bool valid_box = o.most < 0 || static_cast<int64_t>(kept.size()) < o.most;
    if (valid_box) {
      if (!(ToArithmetic(row[o.score]) > 0)) continue;  // neither kept nor suppressed
      const Kept self = {
          MakeBox([&](int k) { return static_cast<double>(ToArithmetic(row[o.coordinates + k])); }),
          o.id < 0 ? 0 : static_cast<double>(ToArithmetic(row[o.id]))};
      const auto suppresses = [&](int64_t i) {
        const Kept& k = kept[i];
        if (o.id >= 0 && !(k.id >= 0)) return false;
        if (!o.force_suppress && o.id >= 0 && self.id != k.id) return false;
        return static_cast<double>(Overlap<Real<T>>(self.box, k.box)) >= o.threshold;
      };
      valid_box = !args.AnyOf(static_cast<int64_t>(kept.size()), suppresses, kOverlapCost);
      if (valid_box) args.Push(kept, self);
    }
    if (valid_box) continue;
    args.Fill(row, width, minus_one);
    boxes_at[j] = -1;
  }
}

}  // namespace

int32_t NonMaxSuppression(const CallArgs& args) {
  const TensorView &data = args[0], &valid_count = args[1], &indices = args[2];
  const TensorView& out = args[5];
  NmsOptions o;
  o.force_suppress = args.param(0) != 0;
  o.top_k = args.param(1);
  o.coordinates = args.param(2);
  o.score = args.param(3);
  o.id = args.param(4);
  o.return_indices = args.param(5) != 0;
  o.invalid_to_bottom = args.param(6) != 0;
  o.most = LoadAs<int64_t>(args[3], 0);
  o.threshold = LoadAs<double>(args[4], 0);
  const int64_t batch = data.dims[0], boxes = data.dims[1], width = data.dims[2];
  if (o.coordinates < 0 || o.coordinates > width - 4 || o.score < 0 || o.score >= width ||
      o.id >= width) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  if (batch == 0) return RELAYVM_KERNEL_OK;
  return DispatchFloat(data.dtype, [&]<typename T>() -> int32_t {
    auto scratch = args.NewVector<T>(o.return_indices ? boxes * width : 0);
    auto at = args.NewVector<int64_t>(boxes);
    for (int64_t b = 0; b < batch; ++b) {
      args.Work(4);
      const int64_t valid = LoadIndex(valid_count, b);
      if (valid < 0 || valid > boxes) return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
      T* rows = o.return_indices ? scratch.data() : out.as<T>() + b * boxes * width;
      SuppressBatch(args, data.as<const T>() + b * boxes * width, boxes, width, valid, o, rows, at);
      if (o.return_indices) {
        int64_t found = 0;
        args.InBlocks(
            boxes,
            [&](int64_t begin, int64_t end) {
              for (int64_t j = begin; j < end; ++j) {
                if (at[j] < 0) continue;
                const int64_t position = LoadAs<int64_t>(indices, b * boxes + at[j]);
                if (position >= 0) StoreIndex(out, b * boxes + found++, position);
              }
            },
            CallArgs::kScattered);
        StoreIndex(args[6], b, found);
        FillIndices(args, out, b * boxes + found, boxes - found);
        continue;
      }
      if (!o.invalid_to_bottom) continue;
      int64_t found = 0;
      for (int64_t j = 0; j < boxes; ++j) {
        args.Work(1);
        if (!(ToArithmetic(rows[j * width]) >= 0)) continue;
        if (j != found) CopyRow(args, rows + found * width, rows + j * width, width);
        ++found;
      }
      args.Fill(rows + found * width, (boxes - found) * width, FromArithmetic<T>(-1));
    }
    return RELAYVM_KERNEL_OK;
  });
}

namespace {

constexpr int64_t kClassCost = 16;  // of a class, however few its boxes

struct Detection {
  int64_t box;
  double score;
};

// A box with its corners in order, and its area.
template <typename R>
struct Region {
  R left, top, right, bottom, area;
};

template <typename R, typename T>
Region<R> RegionAt(const TensorView& boxes, int64_t i) {
  const T* box = boxes.as<const T>() + i * 4;
  const auto at = [&](int k) { return static_cast<R>(ToArithmetic(box[k])); };
  const R a = at(0), b = at(1), c = at(2), d = at(3);
  Region<R> r = {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d), 0};
  r.area = (r.right - r.left) * (r.bottom - r.top);
  return r;
}
// Box i of all batches as a region.
template <typename R>
using RegionLoad = Region<R> (*)(const TensorView& boxes, int64_t i);
template <typename R>
RegionLoad<R> RegionLoadOf(DType boxes) {
  if constexpr (std::is_same_v<R, double>) return RegionAt<double, double>;
  return boxes == DType::kFloat16    ? RegionAt<R, Float16>
         : boxes == DType::kBFloat16 ? RegionAt<R, BFloat16>
                                     : RegionAt<R, float>;
}

// Regions of which it is asked together whether any covers another: vectors of each number.
template <typename R>
struct Regions {
  static constexpr int kCount = 8, kLanes = 16 / sizeof(R);
  using Lanes [[gnu::vector_size(16)]] = R;
  R left[kCount] = {}, top[kCount] = {}, right[kCount] = {}, bottom[kCount] = {};
  R area[kCount] = {};  // all 0: of those that are not there yet

  void Set(int i, const Region<R>& r) {
    left[i] = r.left, top[i] = r.top, right[i] = r.right, bottom[i] = r.bottom, area[i] = r.area;
  }
  // Whether the intersection over the union with any of `n` times kCount is `limit` or more, and
  // not 0.
  [[gnu::noinline]] static bool AnyCovers(const Regions* regions, int64_t n, const Region<R>& r,
                                          R limit) {
    const Lanes zero{}, r_left = zero + r.left, r_top = zero + r.top, r_right = zero + r.right,
                        r_bottom = zero + r.bottom;
    const auto least = [](Lanes a, Lanes b) { return b < a ? b : a; };
    const auto most = [](Lanes a, Lanes b) { return a < b ? b : a; };
    constexpr int kVectors = kCount / kLanes;
    for (int64_t i = 0; i < n; ++i) {
      const Regions& o = regions[i];
      Lanes both[kVectors];
      auto any = zero != zero;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Lanes w =
            most(zero, least(r_right, Load(o.right, v)) - most(r_left, Load(o.left, v)));
        const Lanes h =
            most(zero, least(r_bottom, Load(o.bottom, v)) - most(r_top, Load(o.top, v)));
        both[v] = w * h;
        any |= both[v] > zero;
      }
      if (!Any(any)) continue;  // most boxes do not meet
      auto covers = zero != zero;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Lanes either = (r.area + Load(o.area, v)) - both[v], overlap = both[v] / either;
        covers |= (either > zero) & (overlap > zero) & (overlap >= zero + limit);
      }
      if (Any(covers)) return true;
    }
    return false;
  }

 private:
  static Lanes Load(const R* from, int vector) {
    Lanes lanes;
    std::memcpy(&lanes, from + vector * kLanes, sizeof lanes);
    return lanes;
  }
  template <typename Mask>
  static bool Any(const Mask& mask) {
    const auto bits = std::bit_cast<std::array<uint64_t, 2>>(mask);
    return (bits[0] | bits[1]) != 0;
  }
};

// The boxes of one class that survive, best first: `kept`.
template <typename R>
class ClassSelector {
 public:
  ClassSelector(const CallArgs& args, int64_t most, double iou_threshold, double score_threshold)
      : args_(args),
        most_(most),
        score_threshold_(score_threshold),
        limit_(static_cast<R>(iou_threshold)),
        candidates_(args.NewVector<SortEntry>()),
        kept_regions_(args.NewVector<Regions<R>>()),
        kept_(args.NewVector<Detection>()) {
    // What is as much as the threshold, seen as a double: the next R above it where it is none.
    if (static_cast<double>(limit_) < iou_threshold)
      limit_ = std::nextafter(limit_, std::numeric_limits<R>::infinity());
  }

  // Of boxes first, first + 1, ..: one for each score.
  const KernelVector<Detection>& Select(const TensorView& boxes, int64_t first,
                                        const TensorView& scores) {
    kept_.clear();
    kept_regions_.clear();
    args_.Work(kClassCost);
    const int64_t n = scores.dims[0];
    // Few candidates are looked at where few are wanted: the best ones are found first, then more
    // and more of those behind them.
    SortEntry last{};
    const SortEntry* after = nullptr;
    const RegionLoad<R> region_at = RegionLoadOf<R>(boxes.dtype);
    for (int64_t k = most_ < 0 ? 128 : std::clamp<int64_t>(most_, 16, 2048) * 3 / 2;; k *= 4) {
      if (k > n / 2) k = n;
      if (k < n) {
        FindFirst(args_, scores, k, /*ascending=*/false, after, candidates_);
      } else {
        SortAll(scores, after);
      }
      for (const SortEntry& candidate : candidates_) {
        if (most_ >= 0 && static_cast<int64_t>(kept_.size()) >= most_) return kept_;
        args_.Work(kOverlapCost);
        const double score = LoadAs<double>(scores, candidate.index);
        if (score != score) continue;
        if (!(score > score_threshold_)) return kept_;
        const Region<R> region = region_at(boxes, first + candidate.index);
        if (!IsCovered(region)) Keep(candidate.index, score, region);
      }
      if (k == n || static_cast<int64_t>(candidates_.size()) < k) return kept_;
      last = candidates_.back();
      after = &last;
    }
  }

 private:
  void SortAll(const TensorView& scores, const SortEntry* after) {
    const int64_t n = scores.dims[0];
    auto keys = args_.NewVector<uint64_t>(n);
    LoadKeys(args_, scores, 0, n, keys.data());
    candidates_.clear();
    args_.InBlocks(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const SortEntry entry{~keys[i], i};
        if (after == nullptr || *after < entry) args_.Push(candidates_, entry);
      }
    });
    args_.Sort(candidates_.begin(), candidates_.end(), std::less<SortEntry>());
  }
  bool IsCovered(const Region<R>& region) const {
    constexpr int64_t kAtOnce = 512;
    const auto number = static_cast<int64_t>(kept_regions_.size());
    for (int64_t begin = 0; begin < number; begin += kAtOnce) {
      const int64_t n = std::min(kAtOnce, number - begin);
      args_.Work(n * Regions<R>::kCount);
      if (Regions<R>::AnyCovers(kept_regions_.data() + begin, n, region, limit_)) return true;
    }
    return false;
  }
  void Keep(int64_t box, double score, const Region<R>& region) {
    const auto place = static_cast<int>(kept_.size() % Regions<R>::kCount);
    if (place == 0) args_.Push(kept_regions_, Regions<R>());
    kept_regions_.back().Set(place, region);
    args_.Push(kept_, {box, score});
  }

  const CallArgs& args_;
  const int64_t most_;
  const double score_threshold_;
  R limit_;  // of intersection over union
  KernelVector<SortEntry> candidates_;
  KernelVector<Regions<R>> kept_regions_;
  KernelVector<Detection> kept_;
};

// Calls emit(batch, class, detection) for each surviving box, by batch, class and score; it gives
// false when there is no room for one.
template <typename Emit>
int32_t AllClasses(const CallArgs& args, const Emit& emit) {
  const TensorView &boxes = args[0], &scores = args[1];
  const int64_t batch = boxes.dims[0], n = boxes.dims[1], classes = scores.dims[1];
  const int64_t most = LoadAs<int64_t>(args[2], 0);
  const double iou = LoadAs<double>(args[3], 0), least = LoadAs<double>(args[4], 0);
  if (scores.size() == 0) return RELAYVM_KERNEL_OK;
  const auto run = [&]<typename R>() -> int32_t {
    ClassSelector<R> selector(args, most, iou, least);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t c = 0; c < classes; ++c) {
        TensorView line = scores;
        line.rank = 1;
        line.dims = &scores.dims[2];
        line.data += (b * classes + c) * n * DTypeBytes(scores.dtype);
        for (const Detection& d : selector.Select(boxes, b * n, line)) {
          args.Work(2);
          if (!emit(b, c, d)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
        }
      }
    }
    return RELAYVM_KERNEL_OK;
  };
  return boxes.dtype == DType::kFloat64 ? run.template operator()<double>()
                                        : run.template operator()<float>();
}

}  // namespace

int32_t AllClassNms(const CallArgs& args) {
  const TensorView& out = args[5];
  args.Clear(out);
  int64_t found = 0;
  const int32_t error = AllClasses(args, [&](int64_t b, int64_t c, const Detection& d) {
    if (found == out.dims[0]) return false;
    const std::array<int64_t, 3> row = {b, c, d.box};
    const int64_t at = 3 * found++;
    if (out.dtype == DType::kInt64) {
      std::copy(row.begin(), row.end(), out.as<int64_t>() + at);
    } else {
      for (int64_t i = 0; i < 3; ++i) StoreIndex(out, at + i, row[i]);
    }
    return true;
  });
  StoreIndex(args[6], 0, found);
  return error;
}

int32_t AllClassNmsTensorflow(const CallArgs& args) {
  const TensorView &out = args[5], &scores = args[6], &counts = args[7];
  for (int i = 5; i <= 7; ++i) args.Clear(args[i]);
  auto found = args.NewVector<int64_t>(counts.dims[0]);
  const int32_t error = AllClasses(args, [&](int64_t b, int64_t c, const Detection& d) {
    if (found[b] == out.dims[1]) return false;
    const int64_t at = b * out.dims[1] + found[b]++;
    StoreIndex(out, at * 2, c);
    StoreIndex(out, at * 2 + 1, d.box);
    DispatchDType(scores.dtype,
                  [&]<typename T>() { scores.as<T>()[at] = ConvertElement<T>(d.score); });
    return true;
  });
  args.InBlocks(counts.dims[0], [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) StoreIndex(counts, b, found[b]);
  });
  return error;
}

namespace {

// Intersection over union of (top, left, bottom, right) boxes; 0 where one has no area.
template <typename R, typename T>
R CornerOverlap(const T* a, const T* b) {
  const auto at = [](const T* box, int k) { return static_cast<R>(ToArithmetic(box[k])); };
  const auto area = [&](const T* box) {
    return (at(box, 2) - at(box, 0)) * (at(box, 3) - at(box, 1));
  };
  if (!(area(a) > 0) || !(area(b) > 0)) return 0;
  const R height = std::min(at(a, 2), at(b, 2)) - std::max(at(a, 0), at(b, 0));
  const R width = std::min(at(a, 3), at(b, 3)) - std::max(at(a, 1), at(b, 1));
  const R both = std::max<R>(height, 0) * std::max<R>(width, 0);
  return both / (area(a) + area(b) - both);
}

struct ClassDetection {
  int64_t box, category;
  double score;

  // Equal ones in order of class, then of box.
  static bool Better(const ClassDetection& a, const ClassDetection& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.category != b.category ? a.category < b.category : a.box < b.box;
  }
};

}  // namespace

// Each class on its own, as TensorFlow Lite's detection does it: candidates in order of score,
// equal ones in order of box; over all classes the best, equal ones in order of class.
int32_t RegularNms(const CallArgs& args) {
  const TensorView &boxes = args[0], &scores = args[1];
  const TensorView &out_boxes = args[2], &out_classes = args[3], &out_scores = args[4];
  const int64_t batch = boxes.dims[0], n = boxes.dims[1], width = scores.dims[2];
  const int64_t most = out_boxes.dims[1], per_class = args.param(0), classes = args.param(1);
  if (classes < 0 || classes > width) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const int64_t background = width - classes;
  for (int i = 2; i <= 5; ++i) args.Clear(args[i]);
  return DispatchFloat(boxes.dtype, [&]<typename T>() -> int32_t {
    const auto overlap_limit = static_cast<Real<T>>(std::bit_cast<double>(args.param(2)));
    const auto least = static_cast<Real<T>>(std::bit_cast<double>(args.param(3)));
    for (int64_t b = 0; b < batch; ++b) {
      const T* box = boxes.as<const T>() + b * n * 4;
      const T* score = scores.as<const T>() + b * n * width;
      auto best = args.NewVector<ClassDetection>();
      // Of no boxes, classes may be without number.
      for (int64_t c = 0; c < classes && n > 0; ++c) {
        auto candidates = args.NewVector<ClassDetection>();
        args.Work(kClassCost);
        args.InBlocks(
            n,
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const auto s =
                    static_cast<Real<T>>(ToArithmetic(score[i * width + background + c]));
                if (s >= least) args.Push(candidates, {i, c, static_cast<double>(s)});
              }
            },
            CallArgs::kScattered);
        args.Sort(candidates.begin(), candidates.end(), ClassDetection::Better);
        const size_t before = best.size();
        for (const ClassDetection& d : candidates) {
          if (static_cast<int64_t>(best.size() - before) >= per_class) break;
          args.Work(kOverlapCost);
          const auto suppresses = [&](int64_t k) {
            const ClassDetection& kept = best[before + static_cast<size_t>(k)];
            return CornerOverlap<Real<T>>(box + kept.box * 4, box + d.box * 4) > overlap_limit;
          };
          const auto of_class = static_cast<int64_t>(best.size() - before);
          if (!args.AnyOf(of_class, suppresses, 2 * kOverlapCost)) args.Push(best, d);
        }
        args.Sort(best.begin(), best.end(), ClassDetection::Better);
        if (static_cast<int64_t>(best.size()) > most) best.resize(static_cast<size_t>(most));
      }
      for (size_t k = 0; k < best.size(); ++k) {
        args.Work(CallArgs::kScattered);
        const int64_t at = b * most + static_cast<int64_t>(k);
        std::memcpy(out_boxes.as<T>() + at * 4, box + best[k].box * 4, 4 * sizeof(T));
        StoreIndex(out_classes, at, best[k].category);
        out_scores.as<T>()[at] = score[best[k].box * width + background + best[k].category];
      }
      StoreIndex(args[5], b, static_cast<int64_t>(best.size()));
    }
    return RELAYVM_KERNEL_OK;
  });
}

}  // namespace relayvm

#include "kernels/op/shape_rules.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/op/op_helpers.h"

namespace relayvm {

std::vector<ScalarStep> WholeNumberSteps() {
  constexpr double kNoNumber = -std::numeric_limits<double>::infinity();
  return {{"maximum", {ScalarStep::Argument{0}, kNoNumber}},
          {"cast", {ScalarStep::Earlier{0}}, DType::kInt64}};
}

Dim IsPositive(const Dim& x) { return Dim::Max(Dim(0), Dim::Min(Dim(1), x)); }
// Cut off below, since the least integer has no negative.
Dim IsNegative(const Dim& x) { return IsPositive(Dim(0) - Dim::Max(Dim(-1), x)); }

namespace {

bool NeverNegative(const Dim& d) {
  auto low = d.LowerBound();
  return low && *low >= 0;
}

bool AlwaysNegative(const Dim& d) {
  auto high = d.UpperBound();
  return high && *high < 0;
}

// --- reshape ---

// A dim of the result.
struct Item {
  std::optional<Dim> size;  // nothing where -1 or a number that is not known decides
  bool is_copied = false;   // it is made of dims of the data, which are then `taken_`
};

class ReshapeRule {
 public:
  ReshapeRule(TypeContext& ctx, const std::vector<Dim>& in, bool allow_zero)
      : ctx_(ctx), in_(in), allow_zero_(allow_zero), taken_(in.size(), false) {}

  Result<std::vector<Dim>> Run(const std::vector<Dim>& codes) {
    for (const Dim& code : codes) {
      if (code.ContainsAny()) return Invalid("newshape has an unknown element");
    }
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i].is_const(-4)) {
        if (i + 2 >= codes.size()) return Invalid("newshape: -4 needs two more values");
        RELAYVM_RETURN_IF_ERROR(Split(codes[i + 1], codes[i + 2]));
        i += 2;
      } else if (codes[i].is_const()) {
        RELAYVM_RETURN_IF_ERROR(Known(codes[i].value()));
      } else if (NeverNegative(codes[i])) {
        PushSize(codes[i]);
      } else {
        // It may be any size or code: where what follows takes its dims from only running tells.
        source_.reset();
        PushOpen();
      }
    }
    if (inferred_ > 1) return Invalid("newshape: only one dim can be -1");
    return is_ruled_ ? ByRule(codes) : Resolve();
  }

 private:
  void PushSize(Dim d) {
    items_.push_back({std::move(d)});
    if (source_) ++*source_;
  }
  void PushCopy(Dim d) { items_.push_back({std::move(d), true}); }
  void PushOpen() {
    items_.emplace_back();
    is_ruled_ = true;
  }

  // The next dim of the data. REQUIRES: its place is known.
  Result<Dim> Take(std::string_view code) {
    if (*source_ >= in_.size()) {
      return Invalid("newshape: {} needs a dim beyond the {} of the data, {}", code, in_.size(),
                     ShapeToString(in_));
    }
    taken_[*source_] = true;
    return in_[(*source_)++];
  }

  Status Known(int64_t code) {
    if (code > 0 || (code == 0 && allow_zero_)) {
      PushSize(Dim(code));
    } else if (code == -1) {
      items_.emplace_back();
      ++inferred_;
      if (source_) ++*source_;
    } else if (code < -3) {
      return Invalid("newshape: {} is no size and no code", code);
    } else if (!source_) {
      if (code == -2) {
        return Unsupported("newshape: -2 after an element that is not known at compile time");
      }
      PushOpen();
    } else if (code == 0) {
      RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("0"));
      PushCopy(std::move(d));
    } else if (code == -2) {
      while (*source_ < in_.size()) {
        RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("-2"));
        PushCopy(std::move(d));
      }
    } else {
      RELAYVM_ASSIGN_OR_RETURN(Dim a, Take("-3"));
      RELAYVM_ASSIGN_OR_RETURN(Dim b, Take("-3"));
      PushCopy(a * b);
    }
    return OkStatus();
  }

  Status Split(const Dim& left, const Dim& right) {
    if (left.is_const(-1) && right.is_const(-1)) {
      return Invalid("newshape: -4 with -1 twice says nothing");
    }
    bool is_known = source_.has_value();
    for (const Dim* part : {&left, &right}) {
      if ((!part->is_const(-1) && AlwaysNegative(*part)) || part->is_const(0)) {
        return Invalid("newshape: -4 can't split into {} and {}", left.ToString(),
                       right.ToString());
      }
      is_known = is_known && (part->is_const(-1) || NeverNegative(*part));
    }
    if (!is_known) {
      if (source_) RELAYVM_RETURN_IF_ERROR(Take("-4").status());
      PushOpen();
      PushOpen();
      return OkStatus();
    }
    RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("-4"));
    Dim a = left.is_const(-1) ? Dim::FloorDiv(d, right) : left;
    Dim b = right.is_const(-1) ? Dim::FloorDiv(d, left) : right;
    RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(a * b, d, "newshape: the parts of a split dim"));
    PushCopy(std::move(a));
    PushCopy(std::move(b));
    return OkStatus();
  }

  // The number of elements decides the one dim that is open. Dims that are copied count on neither
  // side: (n, 4) by [0, -1] is (n, 4) where n is 0, too.
  struct Inference {
    Dim total = 1, known = 1, size;
  };
  Result<Inference> Infer() const {
    Inference out;
    for (size_t j = 0; j < in_.size(); ++j) {
      if (!taken_[j]) out.total = out.total * in_[j];
    }
    for (const Item& item : items_) {
      if (item.size && !item.is_copied) out.known = out.known * *item.size;
    }
    if (out.known.is_const(0)) return Invalid("newshape: -1 is ambiguous beside a dim of size 0");
    out.size = Dim::FloorDiv(out.total, out.known);
    return out;
  }

  Result<std::vector<Dim>> Resolve() {
    std::vector<Dim> out;
    if (inferred_ == 0) {
      for (const Item& item : items_) out.push_back(*item.size);
      RELAYVM_RETURN_IF_ERROR(
          ctx_.RequireEqual(ProductOf(out), ProductOf(in_), "the number of elements"));
      return out;
    }
    RELAYVM_ASSIGN_OR_RETURN(Inference open, Infer());
    RELAYVM_RETURN_IF_ERROR(
        ctx_.RequireEqual(open.size * open.known, open.total, "the number of elements"));
    for (const Item& item : items_) out.push_back(item.size.value_or(open.size));
    return out;
  }

  // The rule gives all dims when the call runs; what is known of them is known nonetheless.
  Result<std::vector<Dim>> ByRule(const std::vector<Dim>& codes) {
    RuledShape shape{ShapeRule::kReshape, in_, codes, 0, items_.size()};
    if (codes.size() > kMaxShapeNumbers || std::max(in_.size(), items_.size()) > kMaxShapeNumbers) {
      return Unsupported("newshape: more than {} dims", kMaxShapeNumbers);
    }
    for (size_t i = 0; i < codes.size(); ++i) {
      const bool is_size = allow_zero_ || (!codes[i].is_const() && NeverNegative(codes[i]));
      if (is_size) shape.zeros |= uint64_t{1} << i;
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Dim> out, ctx_.ShapeByRule(shape));
    const auto is_open = [](const Item& item) { return !item.size; };
    if (std::count_if(items_.begin(), items_.end(), is_open) == 1) {
      const auto at = std::find_if(items_.begin(), items_.end(), is_open) - items_.begin();
      // Whatever its code, the dim is what is left, unless that is 0 by 0.
      Result<Inference> open = Infer();
      if (open.ok() &&
          (open->known.LowerBound().value_or(0) > 0 || open->size * open->known == open->total)) {
        Dim& ruled = out[static_cast<size_t>(at)];
        RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(ruled, open->size, "the number of elements"));
        ruled = open->size;
      }
    }
    for (size_t i = 0; i < out.size(); ++i) {
      if (items_[i].size) out[i] = *items_[i].size;
    }
    return out;
  }

  TypeContext& ctx_;
  const std::vector<Dim>& in_;
  bool allow_zero_;
  std::vector<bool> taken_;  // dims of the data that are copied
  std::vector<Item> items_;
  std::optional<size_t> source_ = 0;  // the next dim of the data, where that is known
  int inferred_ = 0;                  // codes that are -1
  bool is_ruled_ = false;             // some number is not known
};

// --- strided_slice ---

// The position that a begin or end names, before clamping.
Dim FromFront(const Dim& position, const Dim& extent) {
  if (NeverNegative(position)) return position;
  if (AlwaysNegative(position)) return position + extent;
  return position + extent * IsNegative(position);
}

// ceil(distance / step), 0 where the distance is negative. REQUIRES: step > 0.
Dim StepCount(const Dim& distance, const Dim& step) {
  if (auto high = distance.UpperBound(); high && *high <= 0) return Dim(0);
  return Dim::Max(Dim(0), Dim::CeilDiv(distance, step));
}

bool IsHuge(const Dim& d) { return d.is_const() && d.value() >= INT32_MAX; }
bool IsHugeNegative(const Dim& d) { return d.is_const() && d.value() <= INT32_MIN; }

}  // namespace

Result<std::vector<Dim>> ReshapeDims(TypeContext& ctx, const std::vector<Dim>& in,
                                     const std::vector<Dim>& codes, bool allow_zero) {
  return ReshapeRule(ctx, in, allow_zero).Run(codes);
}

// Only the clamps that matter are made: where one would merely turn a negative length into another,
// Max(0, .) does it. That keeps x[1:] at length max(0, n - 1) and x[:-1] at the same.
SliceRange SliceAxis(const Dim& extent, const Dim& begin, const Dim& end, const Dim& stride) {
  const Dim zero(0);
  if (stride.is_const() && stride.value() > 0) {
    Dim from = IsHugeNegative(begin) ? zero : FromFront(begin, extent);
    if (!NeverNegative(begin)) from = Dim::Max(zero, from);
    Dim to = IsHuge(end) ? extent : FromFront(end, extent);
    if (!AlwaysNegative(end)) to = Dim::Min(to, extent);
    return {from, StepCount(to - from, stride)};
  }
  if (stride.is_const()) {
    Dim last = extent - Dim(1);
    Dim from = IsHuge(begin) ? last : FromFront(begin, extent);
    if (!AlwaysNegative(begin)) from = Dim::Min(from, last);
    Dim to = IsHugeNegative(end) ? Dim(-1) : FromFront(end, extent);
    if (!NeverNegative(end)) to = Dim::Max(to, Dim(-1));
    // Of steps that no extent has room for, each is as good.
    const Dim step = stride.is_const(INT64_MIN) ? Dim(INT64_MAX) : zero - stride;
    return {from, StepCount(from - to, step)};
  }
  Dim back = IsNegative(stride);
  auto clamp = [&](const Dim& position) {
    return Dim::Min(Dim::Max(FromFront(position, extent), zero - back), extent - back);
  };
  Dim from = clamp(begin);
  // ceil((to - from) / stride), of either sign.
  Dim length = zero - Dim::FloorDiv(from - clamp(end), stride);
  return {from, Dim::Max(zero, length)};
}

SliceRange SliceAxisBySize(const Dim& extent, const Dim& begin, const Dim& size) {
  Dim from = FromFront(begin, extent);
  if (!NeverNegative(begin)) from = Dim::Max(Dim(0), from);
  // No sum with a size, which may be as large as there are numbers.
  Dim length = extent - from;
  if (NeverNegative(size)) {
    length = Dim::Min(size, length);
  } else if (!AlwaysNegative(size)) {
    length = Dim::Min(Dim::Max(Dim(0), size) + extent * IsNegative(size), length);
  }
  return {from, StepCount(length, Dim(1))};
}

Status RequireAtMost(TypeContext& ctx, const Dim& d, const Dim& most, std::string_view what) {
  if (d.is_const() && most.is_const() && d.value() > most.value()) {
    return Invalid("{}: expected at most {}, found {}", what, most.value(), d.value());
  }
  return ctx.RequireAtLeast(most, d, what);
}

Status RequireNonzero(TypeContext& ctx, const Dim& d, std::string_view what) {
  if (d.is_const(0)) return Invalid("{} is 0", what);
  if (Dim::ProvablyDifferent(d, Dim(0))) return OkStatus();
  return ctx.RequireAtLeast(IsPositive(d) + IsNegative(d), Dim(1),
                            fmt::format("the magnitude of {}", what));
}

Status RequireSizes(TypeContext& ctx, const std::vector<Dim>& dims) {
  for (const Dim& d : dims) {
    if (d.ContainsAny()) return Invalid("shape {} has an unknown dim", ShapeToString(dims));
    if (AlwaysNegative(d)) return Invalid("shape {} has a negative dim", ShapeToString(dims));
    if (NeverNegative(d)) continue;
    RELAYVM_RETURN_IF_ERROR(ctx.RequireAtLeast(d, Dim(0), "a dim"));
  }
  return OkStatus();
}

}  // namespace relayvm

#include "kernels/op/shape_rules.h"

#include "kernels/op/op_helpers.h"

namespace relayvm {

Dim IsPositive(const Dim& x) { return Dim::Max(Dim(0), Dim::Min(Dim(1), x)); }
// Cut off below, since the least integer has no negative.
Dim IsNegative(const Dim& x) { return IsPositive(Dim(0) - Dim::Max(Dim(-1), x)); }
Dim IsZero(const Dim& x) { return Dim(1) - IsPositive(x) - IsNegative(x); }

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

// 1 where y is 0, else 0; never negative for sure, which IsZero is not.
Dim IsAt(const Dim& y) { return Dim::Max(Dim(0), Dim::Min(Dim(1) - y, Dim(1) + y)); }

// A dim of the result before -1 is resolved. The size of an unknown code is a sum of cases: its
// value where positive, `source` where it is 0, what is inferred where it is -1.
struct Item {
  Dim given;      // the size where it is given, 0 where it is to be inferred
  Dim infer = 0;  // 1 where the dim is to be inferred, else 0
  bool unknown = false;
  // What this dim contributes to the product of what is given.
  Dim Factor() const { return given + infer; }
  bool copied = false;  // it is made of dims of the data, which are then `taken_`
};

class ReshapeRule {
 public:
  ReshapeRule(TypeContext& ctx, const std::vector<Dim>& in, bool allow_zero)
      : ctx_(ctx), in_(in), allow_zero_(allow_zero), taken_(in.size(), false) {}

  Result<std::vector<Dim>> Run(const std::vector<Dim>& codes) {
    for (size_t i = 0; i < codes.size(); ++i) {
      if (codes[i].ContainsAny()) return Invalid("newshape has an unknown element");
      if (codes[i].is_const(-4)) {
        if (i + 2 >= codes.size()) return Invalid("newshape: -4 needs two more values");
        RELAYVM_RETURN_IF_ERROR(Split(codes[i + 1], codes[i + 2]));
        i += 2;
      } else if (codes[i].is_const()) {
        RELAYVM_RETURN_IF_ERROR(Known(codes[i].value()));
      } else if (NeverNegative(codes[i])) {
        Push(codes[i]);
        source_ = source_ + Dim(1);
      } else {
        RELAYVM_RETURN_IF_ERROR(Unknown(codes[i]));
      }
    }
    return Resolve();
  }

 private:
  void Push(Dim d) { items_.push_back({.given = std::move(d)}); }

  // Dim `source_ + offset` of the data; 0 beyond its rank, which no product of dims survives.
  Dim At(int64_t offset) const {
    Dim d(0);
    for (size_t j = 0; j < in_.size(); ++j) {
      d = d + in_[j] * IsAt(source_ + Dim(offset - static_cast<int64_t>(j)));
    }
    return ctx_.Name(d);
  }

  Result<Dim> Take(std::string_view code) {
    if (source_.is_const() && source_.value() >= static_cast<int64_t>(in_.size())) {
      return Invalid("newshape: {} needs a dim beyond the {} of the data, {}", code, in_.size(),
                     ShapeToString(in_));
    }
    Dim d = At(0);
    if (source_.is_const()) taken_[static_cast<size_t>(source_.value())] = true;
    source_ = source_ + Dim(1);
    return d;
  }
  // A dim that Take gave, or one of several made of such.
  void PushCopy(Dim d, bool is_place_known) {
    items_.push_back({.given = std::move(d), .copied = is_place_known});
  }

  Status Known(int64_t code) {
    switch (code) {
      case 0: {
        if (allow_zero_) {
          Push(Dim(0));
          source_ = source_ + Dim(1);
          return OkStatus();
        }
        const bool is_place_known = source_.is_const();
        RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("0"));
        PushCopy(std::move(d), is_place_known);
        return OkStatus();
      }
      case -1:
        items_.push_back({.given = 0, .infer = 1});
        ++inferred_;
        source_ = source_ + Dim(1);
        return OkStatus();
      case -2:
        if (!source_.is_const()) {
          return Unsupported("newshape: -2 after an element that is not known at compile time");
        }
        while (source_.value() < static_cast<int64_t>(in_.size())) {
          RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("-2"));
          PushCopy(std::move(d), true);
        }
        return OkStatus();
      case -3: {
        const bool is_place_known = source_.is_const();
        RELAYVM_ASSIGN_OR_RETURN(Dim a, Take("-3"));
        RELAYVM_ASSIGN_OR_RETURN(Dim b, Take("-3"));
        PushCopy(a * b, is_place_known);
        return OkStatus();
      }
      default:
        break;
    }
    if (code < 0) return Invalid("newshape: {} is no size and no code", code);
    Push(Dim(code));
    source_ = source_ + Dim(1);
    return OkStatus();
  }

  Status Split(const Dim& left, const Dim& right) {
    const bool is_place_known = source_.is_const();
    RELAYVM_ASSIGN_OR_RETURN(Dim d, Take("-4"));
    if (left.is_const(-1) && right.is_const(-1)) {
      return Invalid("newshape: -4 with -1 twice says nothing");
    }
    for (const Dim* part : {&left, &right}) {
      if (part->ContainsAny() || (!part->is_const(-1) && AlwaysNegative(*part)) ||
          part->is_const(0)) {
        return Invalid("newshape: -4 can't split into {} and {}", left.ToString(),
                       right.ToString());
      }
    }
    Dim a = left.is_const(-1) ? Dim::FloorDiv(d, right) : left;
    Dim b = right.is_const(-1) ? Dim::FloorDiv(d, left) : right;
    RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(a * b, d, "newshape: the parts of a split dim"));
    PushCopy(std::move(a), is_place_known);
    PushCopy(std::move(b), is_place_known);
    return OkStatus();
  }

  Status Unknown(const Dim& code) {
    RELAYVM_RETURN_IF_ERROR(ctx_.RequireAtLeast(code, Dim(-3), "newshape: a code"));
    // Long parts get names, so that nothing grows with the rank.
    Dim merge = IsNegative(Dim::Min(code, Dim(0)) + Dim(2));
    Dim copy = IsAt(Dim::Min(code, Dim(0)) + Dim(2));
    Dim infer = IsAt(Dim::Min(code, Dim(0)) + Dim(1));
    if (!allow_zero_) copy = copy + IsZero(code);
    Dim source = At(0);
    Dim given = ctx_.Name(Dim::Max(Dim(0), code)) + ctx_.Name(Dim::Max(Dim(0), copy)) * source +
                merge * source * At(1);
    source_ = ctx_.Name(source_ + Dim(1) + merge);
    items_.push_back({.given = ctx_.Name(given), .infer = infer, .unknown = true});
    ++unknown_;
    return OkStatus();
  }

  Result<std::vector<Dim>> Resolve() {
    if (inferred_ > 1) return Invalid("newshape: only one dim can be -1");
    if (unknown_ + inferred_ == 0) {
      std::vector<Dim> out;
      for (const Item& item : items_) out.push_back(item.given);
      RELAYVM_RETURN_IF_ERROR(
          ctx_.RequireEqual(ProductOf(out), ProductOf(in_), "the number of elements"));
      return out;
    }
    if (unknown_ + inferred_ == 1) return ResolveOne();
    return ResolveMany(ProductOf(in_));
  }

  // One dim is open, so the number of elements decides it, whatever its code turns out to be; the
  // code must agree. Dims that are copied count on neither side: (n, 4) by [0, -1] is (n, 4) where n
  // is 0, too.
  Result<std::vector<Dim>> ResolveOne() {
    Dim total(1);
    for (size_t j = 0; j < in_.size(); ++j) {
      if (!taken_[j]) total = total * in_[j];
    }
    Dim known(1);
    for (const Item& item : items_) {
      if (!item.unknown && !item.copied) known = known * item.Factor();
    }
    if (known.is_const(0)) return Invalid("newshape: -1 is ambiguous beside a dim of size 0");
    Dim inferred = Dim::FloorDiv(total, known);
    RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(inferred * known, total, "the number of elements"));
    std::vector<Dim> out;
    for (const Item& item : items_) {
      if (item.unknown) {
        Dim size = item.given + item.infer * inferred;
        RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(size, inferred, "the number of elements"));
      }
      out.push_back(item.unknown || item.infer.is_const(1) ? inferred : item.given);
    }
    return out;
  }

  Result<std::vector<Dim>> ResolveMany(const Dim& total) {
    Dim given(1);
    Dim open(0);  // how many dims are to be inferred
    for (const Item& item : items_) {
      given = ctx_.Name(given * ctx_.Name(item.Factor()));
      open = ctx_.Name(open + item.infer);
    }
    RELAYVM_RETURN_IF_ERROR(RequireAtMost(ctx_, open, Dim(1), "newshape: dims that are -1"));
    Dim inferred = ctx_.Name(Dim::FloorDiv(total, Dim::Max(Dim(1), given)));
    std::vector<Dim> out;
    Dim product(1);
    for (const Item& item : items_) {
      out.push_back(ctx_.Name(item.given + item.infer * inferred));
      product = ctx_.Name(product * out.back());
    }
    RELAYVM_RETURN_IF_ERROR(ctx_.RequireEqual(product, total, "the number of elements"));
    return out;
  }

  TypeContext& ctx_;
  const std::vector<Dim>& in_;
  bool allow_zero_;
  std::vector<bool> taken_;  // dims of the data that are copied
  std::vector<Item> items_;
  Dim source_;        // the position of the next dim of the data
  int inferred_ = 0;  // codes that are -1
  int unknown_ = 0;   // codes that may be -1
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
    return {from, StepCount(from - to, zero - stride)};
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
  Dim to;
  if (AlwaysNegative(size)) {
    to = extent;
  } else if (NeverNegative(size)) {
    to = Dim::Min(from + size, extent);
  } else {
    to = Dim::Min(from + Dim::Max(Dim(0), size) + extent * IsNegative(size), extent);
  }
  return {from, StepCount(to - from, Dim(1))};
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

// --- Axes known only at run time ---

// Long parts get names: with two axes of unknown place the dims would have thousands of nodes. Only
// what is never negative for sure can be named, so that 1 where y == 0 is max(0, min(1 - y, 1 +
// y)).
std::vector<Dim> SqueezeDims(TypeContext& ctx, const std::vector<Dim>& in,
                             const std::vector<Dim>& axes) {
  const Dim rank(static_cast<int64_t>(in.size()));
  std::vector<Dim> kept;      // 1 for an axis that stays
  std::vector<Dim> position;  // where it then is
  Dim next(0);
  for (size_t i = 0; i < in.size(); ++i) {
    Dim keep(1);
    for (const Dim& axis : axes) {
      Dim distance = FromFront(axis, rank) - Dim(static_cast<int64_t>(i));
      keep = keep * (IsPositive(distance) + IsNegative(distance));
    }
    keep = ctx.Name(keep);
    kept.push_back(keep);
    position.push_back(next);
    next = ctx.Name(next + keep);
  }
  std::vector<Dim> out;
  for (size_t k = 0; k + axes.size() < in.size(); ++k) {
    Dim d(0);
    for (size_t i = k; i < in.size(); ++i) {
      Dim y = position[i] - Dim(static_cast<int64_t>(k));
      d = d + in[i] * kept[i] * Dim::Max(Dim(0), Dim::Min(Dim(1) - y, Dim(1) + y));
    }
    out.push_back(ctx.Name(d));
  }
  return out;
}

std::vector<Dim> ExpandDims(const std::vector<Dim>& in, const Dim& axis, int count) {
  const auto rank = static_cast<int64_t>(in.size());
  Dim at = FromFront(axis, Dim(rank + 1));
  std::vector<Dim> out;
  for (int64_t k = 0; k < rank + count; ++k) {
    Dim before = IsPositive(at - Dim(k));                  // k < at
    Dim after = IsPositive(Dim(k + 1) - at - Dim(count));  // k >= at + count
    Dim d = Dim(1) - before - after;
    if (k < rank) d = d + before * in[static_cast<size_t>(k)];
    if (k >= count) d = d + after * in[static_cast<size_t>(k - count)];
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace relayvm

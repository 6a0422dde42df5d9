#include "compiler/import/composite/attention.h"

#include <algorithm>
#include <cmath>

namespace relayvm::import {

Term SplitHeads(const Term& x, int64_t heads) {
  TypedBuilder& b = x.b();
  const Term width(b, b.DimOf(x, 2));
  return Term(b, ShapedAs(b, x,
                          {b.DimOf(x, 0), b.DimOf(x, 1), b.Ints({heads}),
                           width / static_cast<double>(heads)}))
      .Transpose({0, 2, 1, 3});
}

Term JoinHeads(const Term& x) {
  TypedBuilder& b = x.b();
  const Term y = x.Transpose({0, 2, 1, 3});
  return {b, ShapedAs(b, y, {b.DimOf(y, 0), b.DimOf(y, 1), ProductOfDims(b, y, 2, 4)})};
}

Term WithKeysOf(const Term& mask, const Term& k, double rest) {
  TypedBuilder& b = k.b();
  const int last = mask.rank() - 1;
  const Dim have = mask.value().dim(last);
  if (last < 0 || have == k.value().dim(2) || have.is_const(1)) return mask;
  const Term key = RangeOf(b, k, 2), count = Extent(b, mask, last);
  return Select(key < count, mask.Take(Minimum(key, count - 1), last), mask.Number(rest));
}

namespace {

// With one score more, whose weight is not kept.
Term SoftmaxBeside(const Term& scores, const Term& sink) {
  const Term x = scores.As(DType::kFloat32), other = sink.As(DType::kFloat32);
  const Term top = Maximum(Max(x, {3}), other);
  const Term power = Exp(x - top);
  return (power / (Sum(power, {3}) + Exp(other - top))).As(scores.dtype());
}

}  // namespace

AttentionResult Attend(TypedBuilder& b, const Term& q, const Term& k, const Term& v,
                       const AttentionSpec& spec) {
  Term key = k, value = v;
  const Dim heads = q.value().dim(1), shared = k.value().dim(1);
  if (heads.is_const() && shared.is_const() && heads != shared) {
    if (shared.value() < 1 || heads.value() % shared.value() != 0) {
      b.Fail("the heads of queries are no multiple of those of keys");
      return {q, q, q, q, q};
    }
    const int64_t group = heads.value() / shared.value();
    key = k.Call("repeat", {{"repeats", group}, {"axis", 1}});
    value = v.Call("repeat", {{"repeats", group}, {"axis", 1}});
  }
  Term scaled = q;
  if (spec.scale != 0) {
    scaled = q * spec.scale;
  } else {
    const Dim size = q.value().dim(3);
    scaled = size.is_const() ? q * (1 / std::sqrt(static_cast<double>(size.value())))
                             : q / Sqrt(Extent(b, q, 3).As(q.dtype()));
  }
  const Term raw(b, MatMulOf(b, scaled, key.Transpose({0, 1, 3, 2})));
  Term capped = raw;
  if (spec.softcap != 0) capped = (raw / spec.softcap).Call("tanh") * spec.softcap;
  Term biased = capped;
  const double hidden =
      spec.hidden == -1e30 && raw.dtype() == DType::kFloat16 ? -65504.0 : spec.hidden;
  if (spec.bias) biased = biased + spec.bias->As(raw.dtype());
  if (spec.kept) biased = Select(*spec.kept, biased, biased.Number(hidden));
  if (spec.causal != Causal::kNo) {
    Term own = RangeOf(b, q, 2);
    if (spec.causal == Causal::kToLast) own = own + (Extent(b, k, 2) - Extent(b, q, 2));
    const Term seen = RangeOf(b, k, 2) <= own.Expand(1);
    // Less than what a mask may make of the keys that it sees.
    biased = Select(seen, biased, biased.Number(spec.bias ? -HUGE_VAL : hidden));
  }
  Term weights =
      spec.sink ? SoftmaxBeside(biased, *spec.sink) : biased.Call("nn.softmax", {{"axis", -1}});
  if (spec.kept && spec.none_is_zero) weights = Select(*spec.kept, weights, weights.Number(0));
  return {{b, MatMulOf(b, weights, value)}, raw, capped, biased, weights};
}

Term Rotate(const Term& x, const Term& cos, const Term& sin, const std::optional<Term>& positions,
            bool interleaved, int64_t size) {
  TypedBuilder& b = x.b();
  const Term turning = size > 0 ? x.Slice(3, 0, size) : x;
  const auto table = [&](const Term& t) {  // (batch or 1, 1, length, half)
    const Term rows = positions ? t.Take(positions->As(DType::kInt64), 0) : t;
    return (rows.rank() == 2 ? rows.Expand(0) : rows).Expand(1).As(x.dtype());
  };
  const Term c = table(cos), s = table(sin);
  Term real = turning, imaginary = turning;
  if (interleaved) {
    real = turning.Slice(3, 0, INT64_MAX, 2);
    imaginary = turning.Slice(3, 1, INT64_MAX, 2);
  } else {
    const std::vector<Value> halves =
        b.Ops("split", {turning}, {{"indices_or_sections", 2}, {"axis", 3}});
    if (halves.size() < 2) return x;
    real = Term(b, halves[0]);
    imaginary = Term(b, halves[1]);
  }
  const Term left = c * real - s * imaginary, right = s * real + c * imaginary;
  Value turned;
  if (interleaved) {
    turned = ShapedAs(b, b.Concat({left.Expand(4), right.Expand(4)}, 4), {b.ShapeOf(turning)});
  } else {
    turned = b.Concat({left, right}, 3);
  }
  if (size <= 0) return {b, turned};
  return {b, b.Concat({turned, x.Slice(3, size, INT64_MAX)}, 3)};
}

std::optional<Term> KeyMaskBias(const Value& mask, const Term& k, const Term& q, double hidden) {
  TypedBuilder& b = q.b();
  Term given(b, mask);
  if (mask.rank() == 1) {
    const Term key = RangeOf(b, k, 2).As(mask.dtype());
    const Dim batch = k.value().dim(0);
    const Term row = RangeOf(b, k, 0);
    if (mask.dim(0) == batch * 2) {
      given = And(key < given.Take(row, 0).Expand(1),
                  key >= given.Take(row + Extent(b, k, 0), 0).Expand(1));
    } else if (mask.dim(0) == batch * 3 + 2) {
      given = key < given.Take(row, 0).Expand(1);
    } else if (Dim::ProvablyDifferent(mask.dim(0), batch)) {
      return b.Fail(StatusCode::kUnsupported, "a mask of rank 1 needs a number for each batch");
    } else {
      given = key < given.Expand(1);
    }
  } else {
    given = given > 0;
  }
  if (given.rank() == 2) given = given.Expand(1, 2);
  if (given.rank() == 3) given = given.Expand(1);
  if (mask.rank() == 4) {  // of the longest length: the last queries, the first keys
    const Term last = RangeOf(b, q, 2) + (Extent(b, k, 2) - Extent(b, q, 2));
    given = given.Take(last, 2).Take(RangeOf(b, k, 2), 3);
  }
  const Term zero = q.Number(0);
  return Select(given, zero,
                q.Number(q.dtype() == DType::kFloat16 ? std::max(hidden, -65504.0) : hidden));
}

Term CacheWith(const Term& cache, const Term& now, const Term& length) {
  TypedBuilder& b = now.b();
  const Term at = RangeOf(b, cache, 2) - length, count = Extent(b, now, 2);
  const Term inside = And(at >= 0, at < count);
  const Term taken = now.Take(Clamp(at, {b, b.Int(0)}, count - 1), 2);
  return Select(inside.Expand(1), taken.As(cache.dtype()), cache);
}

Term SeenOfCache(const Term& cache, const Term& q, const Term& length, bool causal) {
  TypedBuilder& b = q.b();
  const Term key = RangeOf(b, cache, 2), total = length + Extent(b, q, 2);
  return causal ? key <= (RangeOf(b, q, 2) + length).Expand(1) : (key < total).Expand(0);
}

Term TurnedAt(const Term& x, const Term& past, int64_t size) {
  TypedBuilder& b = x.b();
  std::vector<double> frequencies;
  for (int64_t i = 0; i < size / 2; ++i) {
    frequencies.push_back(std::pow(1e4, -2.0 * static_cast<double>(i) / static_cast<double>(size)));
  }
  const Term place = (RangeOf(b, x, 2) + past).As(DType::kFloat32).Expand(1);
  const Term angle = (place * Table(b, frequencies, {size / 2})).Expand(0);
  return Rotate(x, Cos(angle), Sin(angle), std::nullopt, false, size);
}

}  // namespace relayvm::import

#include "bytecode/base/shape_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "bytecode/base/message.h"

namespace relayvm {
namespace {

using Numbers = std::span<const int64_t>;

Status Fail(std::string message) { return {StatusCode::kFailedPrecondition, std::move(message)}; }

// A product of dims; nothing when it is beyond int64 (a factor of 0 makes it 0).
class Product {
 public:
  void Times(int64_t d) {
    is_zero_ = is_zero_ || d == 0;
    overflows_ = overflows_ || __builtin_mul_overflow(value_, d == 0 ? 1 : d, &value_);
  }
  std::optional<int64_t> value() const {
    if (is_zero_) return 0;
    return overflows_ ? std::nullopt : std::optional(value_);
  }

 private:
  int64_t value_ = 1;
  bool is_zero_ = false;
  bool overflows_ = false;
};

Product ProductOf(Numbers dims) {
  Product p;
  for (int64_t d : dims) p.Times(d);
  return p;
}

// "3 x 12"; "1" for no factors.
std::string ProductText(Numbers factors) { return factors.empty() ? "1" : Joined(factors, " x "); }

// --- reshape ---

class Reshape {
 public:
  Reshape(Numbers data, Numbers numbers, uint64_t zeros, std::span<int64_t> shape)
      : data_(data), numbers_(numbers), zeros_(zeros), shape_(shape) {}

  Status Run() {
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const int64_t number = numbers_[i];
      if (number > 0 || IsZero(i)) {
        Pass();
        Push(number, &sizes_);
      } else if (number == 0) {
        RELAYVM_RETURN_IF_ERROR(Need(0, 1));
        Push(data_[source_++], nullptr);
      } else if (number == -1) {
        if (inferred_) return Fail("newshape: only one dim can be -1");
        inferred_ = rank_;
        Pass();
        Push(0, nullptr);
      } else if (number == -2) {
        while (source_ < data_.size()) Push(data_[source_++], nullptr);
      } else if (number == -3) {
        RELAYVM_RETURN_IF_ERROR(Need(-3, 2));
        Product merged = ProductOf(data_.subspan(source_, 2));
        source_ += 2;
        if (!merged.value()) return TooLarge();
        Push(*merged.value(), nullptr);
      } else if (number == -4) {
        if (i + 2 >= numbers_.size()) return Fail("newshape: -4 needs two more values");
        RELAYVM_RETURN_IF_ERROR(Split(i + 1));
        i += 2;
      } else {
        return Fail(fmt::format("newshape: {} is no size and no code", number));
      }
    }
    if (rank_ != shape_.size()) {
      return Fail(fmt::format("newshape: [{}] gives {} dims, the result has {}", Joined(numbers_),
                              rank_, shape_.size()));
    }
    return Resolve();
  }

 private:
  bool IsZero(size_t i) const { return numbers_[i] == 0 && (zeros_ >> i & 1) != 0; }
  // A dim that is not copied takes the place of one of the data; dims of the data that nothing
  // copies count in Resolve.
  void Pass() {
    if (source_ < data_.size()) rest_.Times(data_[source_]);
    ++source_;
  }
  void Push(int64_t d, Product* product) {
    if (rank_ < shape_.size()) shape_[rank_] = d;
    ++rank_;
    if (product != nullptr) product->Times(d);
  }
  Status Need(int64_t code, size_t count) const {
    if (source_ + count <= data_.size()) return OkStatus();
    return Fail(fmt::format("newshape: {} needs a dim beyond the {} of the data, ({})", code,
                            data_.size(), Joined(data_)));
  }
  Status Split(size_t at) {
    RELAYVM_RETURN_IF_ERROR(Need(-4, 1));
    const int64_t whole = data_[source_++];
    std::array<int64_t, 2> parts = {numbers_[at], numbers_[at + 1]};
    if (parts[0] == -1 && parts[1] == -1) return Fail("newshape: -4 with -1 twice says nothing");
    for (size_t k = 0; k < 2; ++k) {
      if (parts[k] > 0 || parts[k] == -1 || IsZero(at + k)) continue;
      return Fail(fmt::format("newshape: -4 can't split into {} and {}", parts[0], parts[1]));
    }
    for (size_t k = 0; k < 2; ++k) {
      if (parts[k] == -1) parts[k] = parts[1 - k] == 0 ? 0 : whole / parts[1 - k];
    }
    if (ProductOf(parts).value() != whole) {
      return Fail(fmt::format("newshape: the parts of a split dim: {} does not equal {}",
                              ProductText(parts), whole));
    }
    for (int64_t part : parts) Push(part, nullptr);
    return OkStatus();
  }
  static Status TooLarge() {
    return Fail("newshape: the number of elements is beyond the largest size");
  }

  Status Resolve() {
    if (inferred_) return Infer();
    const std::optional<int64_t> total = ProductOf(data_).value();
    if (!total) return TooLarge();
    if (ProductOf(shape_).value() == total) return OkStatus();
    return Fail(
        fmt::format("the number of elements: {} does not equal {}", ProductText(shape_), *total));
  }
  // What is copied is equal on both sides and counts on neither.
  Status Infer() {
    while (source_ < data_.size()) Pass();
    const std::optional<int64_t> rest = rest_.value();
    const std::optional<int64_t> sizes = sizes_.value();
    if (!rest || !sizes) return TooLarge();
    if (*sizes == 0) return Fail("newshape: -1 is ambiguous beside a dim of size 0");
    shape_[*inferred_] = *rest / *sizes;
    if (*rest % *sizes == 0) return OkStatus();
    return Fail(fmt::format("the number of elements: {} is no multiple of {}", *rest, *sizes));
  }

  const Numbers data_;
  const Numbers numbers_;
  const uint64_t zeros_;
  const std::span<int64_t> shape_;
  size_t source_ = 0;  // the next dim of the data
  size_t rank_ = 0;    // dims of the result so far
  std::optional<size_t> inferred_;
  Product sizes_;  // of the result's dims that are given
  Product rest_;   // of the dims of the data that are not copied
};

// --- squeeze, expand_dims ---

Status CheckAxis(int64_t axis, int64_t rank) {
  if (axis < -rank) return Fail(fmt::format("axis: expected at least {}, found {}", -rank, axis));
  if (axis >= rank) return Fail(fmt::format("axis: expected at most {}, found {}", rank - 1, axis));
  return OkStatus();
}

Status Squeeze(Numbers data, Numbers axes, std::span<int64_t> shape) {
  const auto rank = static_cast<int64_t>(data.size());
  std::array<bool, kMaxShapeNumbers> removed{};
  for (int64_t axis : axes) {
    RELAYVM_RETURN_IF_ERROR(CheckAxis(axis, rank));
    const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    if (removed[at]) return Fail(fmt::format("axis {} is given twice", at));
    if (data[at] != 1) {
      return Fail(fmt::format("a squeezed axis is not 1: axis {} of ({})", at, Joined(data)));
    }
    removed[at] = true;
  }
  assert(shape.size() + axes.size() == data.size());
  size_t next = 0;
  for (size_t k = 0; k < data.size(); ++k) {
    if (!removed[k]) shape[next++] = data[k];
  }
  return OkStatus();
}

Status ExpandDims(Numbers data, int64_t axis, std::span<int64_t> shape) {
  const auto places = static_cast<int64_t>(data.size()) + 1;
  RELAYVM_RETURN_IF_ERROR(CheckAxis(axis, places));
  const auto at = static_cast<size_t>(axis < 0 ? axis + places : axis);
  const size_t count = shape.size() - data.size();
  std::copy_n(data.begin(), at, shape.begin());
  std::fill_n(shape.begin() + static_cast<ptrdiff_t>(at), count, 1);
  std::copy(data.begin() + static_cast<ptrdiff_t>(at), data.end(),
            shape.begin() + static_cast<ptrdiff_t>(at + count));
  return OkStatus();
}

}  // namespace

std::string_view ShapeRuleName(ShapeRule rule) {
  constexpr std::array<std::string_view, kNumShapeRules> kNames = {"reshape", "squeeze",
                                                                   "expand_dims"};
  return kNames[static_cast<size_t>(rule)];
}

Status ApplyShapeRule(ShapeRule rule, Numbers data, Numbers numbers, uint64_t zeros,
                      std::span<int64_t> shape) {
  if (std::max({data.size(), numbers.size(), shape.size()}) > kMaxShapeNumbers) {
    return Fail(fmt::format("a shape of more than {} dims", kMaxShapeNumbers));
  }
  switch (rule) {
    case ShapeRule::kReshape:
      return Reshape(data, numbers, zeros, shape).Run();
    case ShapeRule::kSqueeze:
      if (shape.size() + numbers.size() == data.size()) return Squeeze(data, numbers, shape);
      break;
    case ShapeRule::kExpandDims:
      if (numbers.size() == 1 && shape.size() >= data.size()) {
        return ExpandDims(data, numbers[0], shape);
      }
      break;
  }
  return Fail(fmt::format("{} of {} dims by {} axes can't give {}", ShapeRuleName(rule),
                          data.size(), numbers.size(), shape.size()));
}

}  // namespace relayvm

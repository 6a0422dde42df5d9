// Indices that are read, in each integer dtype: an index is a number. The walk is
// op_table_test.cc's, over the calls that tests made of each operator.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/op/narrow_indices_testing.h"

namespace relayvm::op_testing {
namespace {

constexpr DType kIntegers[] = {DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64,
                               DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};

// The ends of a dtype, as far as int64 holds them, and what is near 0 and small extents.
std::vector<int64_t> NumbersOf(DType dtype) {
  const bool is_signed = IsSignedInt(dtype);
  const int bits = std::min(DTypeBits(dtype) - (is_signed ? 1 : 0), 63);
  const int64_t most = bits == 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  std::vector<int64_t> numbers = {0, 1, 2, 3, 4, 5, 6, most / 2, most - 1, most};
  if (is_signed) numbers.insert(numbers.end(), {-1, -2, -3, -5, -6, -most, -most - 1});
  return numbers;
}

HostTensor Filled(const TensorType& type, const std::function<double(int64_t)>& element) {
  std::vector<int64_t> shape;
  for (const Dim& d : type.shape) shape.push_back(d.value());
  HostTensor t{type.dtype, shape, {}};
  std::vector<double> values;
  for (int64_t i = 0; i < t.size(); ++i) values.push_back(element(i));
  return Host(type.dtype, shape, values);
}
HostTensor FilledWith(const TensorType& type, int64_t number) {
  HostTensor t = Filled(type, [](int64_t) { return 0; });
  const auto bytes = static_cast<size_t>(DTypeBytes(type.dtype));
  for (int64_t i = 0; i < t.size(); ++i) {
    te::WriteElement(type.dtype, te::IntScalar(number),
                     t.data.Mutable().data() + static_cast<size_t>(i) * bytes);
  }
  return t;
}

class IndexedCall {
 public:
  IndexedCall(const OpDef& op, const KnownCall& call, size_t index)
      : op_(op), call_(call), index_(index) {}

  // Whether the argument may be of any integers and of nothing else, and neither its numbers nor
  // its dtype decide a type, but where the operator checks what it gives.
  bool IsIndex() const {
    if (op_.compute == nullptr || call_.args[index_].is_tuple) return false;
    const DType dtype = call_.args[index_].tensors[0].dtype;
    if (IsFloat(dtype) || dtype == DType::kBool) return false;
    if (Infer(DType::kFloat32).ok()) return false;
    return std::ranges::all_of(kIntegers, [&](DType d) {
      const auto result = Infer(d);
      return result.ok() &&
             (op_.checks || result->tensors[0].dtype != d || d == call_.args[0].tensors[0].dtype);
    });
  }

  // Each result, or that it fails; nullopt where the call can't be evaluated.
  Result<std::vector<HostTensor>> Run(DType dtype, int64_t number) const {
    RELAYVM_ASSIGN_OR_RETURN(const OpResult result, Infer(dtype));
    std::vector<HostTensor> data;
    std::vector<te::Tensor> inputs;
    for (size_t i = 0; i < call_.args.size(); ++i) {
      for (TensorType type : call_.args[i].tensors) {
        if (i == index_) type.dtype = dtype;
        inputs.push_back(
            te::Placeholder("x", type.shape, type.dtype, static_cast<int>(inputs.size())));
        data.push_back(i == index_ ? FilledWith(type, number) : Known(i, type));
      }
    }
    std::vector<const HostTensor*> pointers;
    for (const HostTensor& t : data) pointers.push_back(&t);
    std::vector<HostTensor> results;
    for (const te::Tensor& t : op_.compute({call_.attrs, inputs, result.tensors})) {
      RELAYVM_ASSIGN_OR_RETURN(HostTensor value, te::Evaluate(t, pointers, nullptr));
      results.push_back(std::move(value));
    }
    return results;
  }

 private:
  Result<OpResult> Infer(DType dtype) const {
    std::vector<ArgType> args = call_.args;
    args[index_].tensors[0].dtype = dtype;
    FakeContext context(call_.attrs, args);
    context.elements = call_.elements;
    context.floats = call_.floats;
    context.elements[index_] = std::nullopt;
    return op_.infer(context);
  }

  HostTensor Known(size_t i, const TensorType& type) const {
    const auto& elements = call_.elements[i];
    return Filled(type, [&](int64_t k) {
      const auto at = static_cast<size_t>(k);
      if (elements && at < elements->size() && (*elements)[at].is_const())
        return static_cast<double>((*elements)[at].value());
      return static_cast<double>(IsFloat(type.dtype) ? k + 1 : k % 2 + 1);
    });
  }

  const OpDef& op_;
  const KnownCall& call_;
  size_t index_;
};

// What differs, in words; "" where the narrow numbers gave what the same ones as int64 give.
std::string Difference(const Result<std::vector<HostTensor>>& narrow,
                       const Result<std::vector<HostTensor>>& wide, DType dtype) {
  if (!wide.ok()) return narrow.ok() ? "no error" : "";
  bool holds = true;
  std::string found;
  for (size_t r = 0; r < wide->size(); ++r) {
    const std::vector<double> expected = Values((*wide)[r]);
    const bool follows = narrow.ok() && (*narrow)[r].dtype != (*wide)[r].dtype;
    const double most = std::ldexp(1.0, DTypeBits(dtype) - (IsSignedInt(dtype) ? 1 : 0));
    for (double x : expected) {
      holds = holds && x < most && x >= (IsSignedInt(dtype) ? -most : 0);
    }
    if (!narrow.ok()) continue;
    const std::vector<double> values = Values((*narrow)[r]);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]))) continue;
      found = fmt::format("{} instead of {}{}", values[i], expected[i],
                          follows ? ", in the dtype of the indices" : "");
    }
  }
  if (narrow.ok()) return found;
  return holds ? narrow.status().ToString() : "";
}

}  // namespace

std::string WrongIndex(const OpDef& op, const KnownCall& call, bool* reads_indices) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const IndexedCall indexed(op, call, i);
    if (!indexed.IsIndex()) continue;
    *reads_indices = true;
    for (DType dtype : kIntegers) {
      for (int64_t number : NumbersOf(dtype)) {
        const std::string difference =
            Difference(indexed.Run(dtype, number), indexed.Run(DType::kInt64, number), dtype);
        if (!difference.empty()) {
          return fmt::format("{}: argument {} of {}, {}: {}", op.name, i, DTypeName(dtype), number,
                             difference);
        }
      }
    }
  }
  return "";
}

TEST_CASE("a coordinate of a negative index fits the dtype of the indices, or is an error") {
  const HostTensor shape = I64({2}, {3, 200});
  const auto index = [](DType dtype, double number) { return Host(dtype, {1}, {number}); };
  CheckOp("unravel_index", {}, {index(DType::kInt8, -100), shape},
          {Host(DType::kInt8, {2, 1}, {2, 100})}, {.static_args = {1}});
  CheckOp("unravel_index", {}, {index(DType::kInt16, -1), shape},
          {Host(DType::kInt16, {2, 1}, {2, 199})}, {.static_args = {1}});
  for (bool symbolic : {false, true}) {
    CheckFails("unravel_index", {}, {index(DType::kInt8, -1), shape}, "199, expected 0 to 127",
               symbolic);
  }
}

TEST_CASE("a number that int64 does not hold is in no range") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    CheckFails("range_checked", {},
               {Host(DType::kUInt64, {1}, {-2}), Host(DType::kInt64, dims, {-5}),
                Host(DType::kInt64, dims, {5})},
               "expected -5 to 4");
  }
}

}  // namespace relayvm::op_testing

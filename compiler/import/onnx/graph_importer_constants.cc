// Tensors of the model as constants.
#include <fmt/format.h>

#include <cstring>

#include "compiler/import/onnx/graph_importer.h"

namespace relayvm::import {

Value GraphImporter::ConstantOf(const onnx::TensorProto& tensor, const std::string& name) {
  auto known = tensors_.find(&tensor);
  if (known == tensors_.end()) {
    auto elements = file_.TensorOf(tensor);
    if (!elements.ok()) {
      builder_.Fail(elements.status().code(), elements.status().message());
      return {};
    }
    if (elements->dtype == DType::kString)
      elements = InternStrings(*builder_.module().strings, *elements);
    if (!elements.ok()) {
      builder_.Fail(elements.status().code(), elements.status().message());
      return {};
    }
    known = tensors_.emplace(&tensor, *std::move(elements)).first;
  }
  Value v = builder_.Constant(known->second, name);
  if (const NarrowInt* narrow = NarrowIntOf(tensor.data_type())) v.bits = narrow->kind();
  return v;
}

Value GraphImporter::ConstantOf(const onnx::SparseTensorProto& sparse, const std::string& name) {
  const auto fail = [&](std::string_view why) {
    builder_.Fail("sparse tensor '{}': {}", sparse.values().name(), why);
    return Value{};
  };
  auto values = file_.TensorOf(sparse.values());
  auto indices = file_.TensorOf(sparse.indices());
  for (const Status& s : {values.status(), indices.status()}) {
    if (!s.ok()) return builder_.Fail(s.code(), s.message()), Value{};
  }
  constexpr int64_t kMostElements = int64_t{1} << 30;
  const auto rank = static_cast<int64_t>(sparse.dims_size());
  int64_t elements = 1;
  HostTensor dense{values->dtype, {}, {}};
  for (const int64_t d : sparse.dims()) {
    if (d < 0) return fail(fmt::format("a dimension is negative: {}", d));
    dense.shape.push_back(d);
    if (__builtin_mul_overflow(elements, d, &elements) || elements > kMostElements) {
      return fail(fmt::format("more than {} elements with its zeros", kMostElements));
    }
  }
  const int64_t count = values->size();
  const bool by_axis = indices->shape.size() == 2;
  if (indices->dtype != DType::kInt64 || indices->size() != (by_axis ? count * rank : count)) {
    return fail("expected an index, or one for each axis, for each value");
  }
  const size_t width = DTypeBytes(dense.dtype);
  if (dense.dtype == DType::kString) return fail("strings");
  if (NarrowIntOf(sparse.values().data_type()) != nullptr) return fail("narrow integers");
  dense.data = SharedBytes::Zeros(static_cast<size_t>(elements) * width);
  const std::span<std::byte> to = dense.data.Mutable();
  const std::vector<int64_t> at = typing::IntegerElements(*indices);
  const SharedBytes from = values->data.Loaded();
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = by_axis ? 0 : at[static_cast<size_t>(i)];
    int64_t size = elements;
    for (int64_t k = 0; by_axis && k < rank; ++k) {
      const int64_t index = at[static_cast<size_t>(i * rank + k)];
      const int64_t extent = dense.shape[static_cast<size_t>(k)];
      if (index < 0 || index >= extent) {
        return fail(fmt::format("index {} is out of 0 to {}", index, extent - 1));
      }
      size /= extent;
      place += index * size;
    }
    if (place < 0 || place >= elements) {
      return fail(fmt::format("index {} is out of 0 to {}", place, elements - 1));
    }
    std::memcpy(to.data() + static_cast<size_t>(place) * width,
                from.data() + static_cast<size_t>(i) * width, width);
  }
  return builder_.Constant(std::move(dense), name);
}

}  // namespace relayvm::import

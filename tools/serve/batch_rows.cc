#include "tools/serve/batch_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <string_view>

namespace relayvm::serve {
namespace {

Status Unjoinable(const NamedType& tensor, std::string_view why) {
  return {StatusCode::kUnsupported,
          fmt::format("{}: {}, so that requests cannot be joined by rows", tensor.name, why)};
}

// Names may be such as x.0.
bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Whether a dim as it is written has the name in it: "n*2 + 1" has n.
bool Mentions(std::string_view dim, std::string_view name) {
  for (size_t at = dim.find(name); at != std::string_view::npos; at = dim.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !IsWord(dim[at - 1])) && (end == dim.size() || !IsWord(dim[end]))) return true;
  }
  return false;
}

Status CheckTensor(const NamedType& tensor, std::string* rows) {
  if (tensor.is_optional) return Unjoinable(tensor, "it may be left out");
  if (tensor.type.kind != TypeInfo::Kind::kTensor) return Unjoinable(tensor, "it is no tensor");
  if (tensor.type.dtype == DType::kString) return Unjoinable(tensor, "it has strings");
  if (tensor.type.dims.empty()) return Unjoinable(tensor, "it has no dims");
  const TypeInfo::Dim& first = tensor.type.dims[0];
  if (first.size >= 0) return Unjoinable(tensor, fmt::format("its first dim is {}", first.size));
  if (first.name.empty()) return Unjoinable(tensor, "its first dim is known when it runs");
  if (!std::ranges::all_of(first.name, IsWord))
    return Unjoinable(tensor, "its first dim is " + first.name);
  if (rows->empty()) *rows = first.name;
  if (*rows == first.name) return OkStatus();
  return Unjoinable(tensor,
                    fmt::format("its first dim is {}, and others are {}", first.name, *rows));
}

Status CheckOtherDims(const NamedType& tensor, std::string_view rows) {
  for (size_t i = 1; i < tensor.type.dims.size(); ++i) {
    if (Mentions(tensor.type.dims[i].name, rows))
      return Unjoinable(tensor, fmt::format("its dim {} is {}", i, tensor.type.dims[i].name));
  }
  return OkStatus();
}

size_t RowBytes(const Value& tensor) {
  const int64_t rows = tensor.dims()[0];
  return rows == 0 ? 0 : tensor.bytes() / static_cast<size_t>(rows);
}

}  // namespace

Status CheckJoinable(const FunctionSignature& function) {
  if (!function.states.empty())
    return {StatusCode::kUnsupported, "a model with states cannot be joined by rows"};
  if (function.inputs.empty())
    return {StatusCode::kUnsupported, "a model without inputs has no rows"};
  std::string rows;
  for (const auto* tensors : {&function.inputs, &function.outputs}) {
    for (const NamedType& tensor : *tensors) RELAYVM_RETURN_IF_ERROR(CheckTensor(tensor, &rows));
  }
  for (const auto* tensors : {&function.inputs, &function.outputs}) {
    for (const NamedType& tensor : *tensors) {
      RELAYVM_RETURN_IF_ERROR(CheckOtherDims(tensor, rows));
    }
  }
  return OkStatus();
}

int64_t RowsOf(std::span<const Value> inputs) {
  const int64_t rows = inputs[0].dims()[0];
  const bool agree =
      std::ranges::all_of(inputs, [&](const Value& input) { return input.dims()[0] == rows; });
  return agree ? rows : -1;
}

bool AreJoinable(std::span<const Value> a, std::span<const Value> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!std::ranges::equal(a[i].dims().subspan(1), b[i].dims().subspan(1))) return false;
  }
  return true;
}

Result<std::vector<Value>> JoinRows(std::span<const std::span<const Value>> parts,
                                    Runtime& runtime) {
  std::vector<Value> joined;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    const Value& first = parts[0][i];
    std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
    dims[0] = 0;
    for (const auto& part : parts) dims[0] += part[i].dims()[0];
    RELAYVM_ASSIGN_OR_RETURN(Value all, runtime.NewTensor(first.dtype(), dims));
    auto* out = static_cast<std::byte*>(all.mutable_data());
    for (const auto& part : parts) {
      const size_t bytes = part[i].bytes();
      if (bytes > 0) std::memcpy(out, part[i].data(), bytes);
      out += bytes;
    }
    joined.push_back(std::move(all));
  }
  return joined;
}

Result<Value> SliceRows(const Value& result, int64_t first, int64_t count, int64_t total,
                        Runtime& runtime) {
  if (result.kind() == Value::Kind::kAdt) {
    std::vector<Value> fields;
    for (size_t i = 0; i < result.num_fields(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(Value field,
                               SliceRows(result.field(i), first, count, total, runtime));
      fields.push_back(std::move(field));
    }
    return Value::Tuple(std::move(fields));
  }
  if (!result.is_tensor() || result.dims().empty() || result.dims()[0] != total)
    return Status(StatusCode::kInternal, fmt::format("a result that has not {} rows", total));
  std::vector<int64_t> dims(result.dims().begin(), result.dims().end());
  dims[0] = count;
  RELAYVM_ASSIGN_OR_RETURN(Value slice, runtime.NewTensor(result.dtype(), dims));
  const size_t bytes = RowBytes(result);
  if (bytes > 0 && count > 0) {
    std::memcpy(slice.mutable_data(),
                static_cast<const std::byte*>(result.data()) + bytes * static_cast<size_t>(first),
                bytes * static_cast<size_t>(count));
  }
  return slice;
}

}  // namespace relayvm::serve

// The C API: values, and tensors of other libraries.
#include "vm/api/c_api_internal.h"
#include "vm/api/dlpack_exchange.h"
#include "vm/memory/object.h"

using relayvm::DType;
using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::Value;
using relayvm::c_api::Fail;
using relayvm::c_api::FromHandle;
using relayvm::c_api::GiveValue;
using relayvm::c_api::Guarded;
using relayvm::c_api::IsTensor;
using relayvm::c_api::ToHandle;
using relayvm::c_api::ValueOf;

static_assert(RELAYVM_BOOL == static_cast<int>(DType::kBool));
static_assert(RELAYVM_FLOAT16 == static_cast<int>(DType::kFloat16));
static_assert(RELAYVM_STRING == static_cast<int>(DType::kString));
static_assert(RELAYVM_FLOAT64 == static_cast<int>(DType::kFloat64));
static_assert(RELAYVM_VALUE_ADT == static_cast<int>(Value::Kind::kAdt));
static_assert(RELAYVM_VALUE_REF == static_cast<int>(Value::Kind::kRef));

namespace relayvm::c_api {

Result<std::vector<Value>> Values(relayvm_value* const* values, size_t count, const char* what) {
  std::vector<Value> made;
  constexpr size_t kFew = 64;
  made.reserve(std::min(count, kFew));
  for (size_t i = 0; i < count; ++i) {
    if (values == nullptr || values[i] == nullptr)
      return Status(StatusCode::kInvalidArgument,
                    std::string(what) + " " + std::to_string(i) + " is NULL");
    made.push_back(*ValueOf(values[i]));
  }
  return made;
}

Result<std::vector<Value>> Inputs(relayvm_value* const* values, size_t count) {
  if (values == nullptr && count > 0) return Status(StatusCode::kInvalidArgument, "inputs is NULL");
  std::vector<Value> made;
  constexpr size_t kFew = 64;
  made.reserve(std::min(count, kFew));
  for (size_t i = 0; i < count; ++i)
    made.push_back(values[i] == nullptr ? Value() : *ValueOf(values[i]));
  return made;
}

}  // namespace relayvm::c_api

namespace {

Status CheckTensorArguments(relayvm_dtype dtype, const int64_t* dims, size_t rank) {
  RELAYVM_RETURN_IF_ERROR(relayvm::c_api::CheckDType(dtype));
  if (rank > 0 && dims == nullptr) return {StatusCode::kInvalidArgument, "dims is NULL"};
  return relayvm::OkStatus();
}

// A DLPack tensor goes back at once when there is nobody to give the value to.
template <typename Managed>
relayvm_status* FromDLPack(Managed* tensor, relayvm_value** out) {
  return Guarded([&] { return GiveValue(relayvm::FromDLPack(tensor), out); });
}
template <typename Managed>
void GiveBack(Managed* tensor) {
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

template <typename Managed>
relayvm_status* GiveTensor(Result<Managed*> tensor, Managed** out) {
  if (!tensor.ok()) return Fail(tensor.status());
  *out = *tensor;
  return nullptr;
}

// Of what `make` gives; NULL data: zeros.
template <typename Make>
relayvm_status* MakeTensor(relayvm_dtype dtype, const int64_t* dims, size_t rank, const void* data,
                           relayvm_value** out, const Make& make) {
  return Guarded([&]() -> relayvm_status* {
    if (Status bad = CheckTensorArguments(dtype, dims, rank); !bad.ok()) return Fail(bad);
    Result<Value> value = make(static_cast<DType>(dtype), std::span(dims, rank));
    if (value.ok() && value->bytes() > 0) {
      if (data == nullptr) {
        std::memset(value->mutable_data(), 0, value->bytes());
      } else {
        std::memcpy(value->mutable_data(), data, value->bytes());
      }
    }
    return GiveValue(std::move(value), out);
  });
}

}  // namespace

extern "C" {

relayvm_status* relayvm_value_tensor(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                     const void* data, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return MakeTensor(dtype, dims, rank, data, out, Value::NewTensor);
}
relayvm_status* relayvm_runtime_tensor(relayvm_runtime* runtime, relayvm_dtype dtype,
                                       const int64_t* dims, size_t rank, const void* data,
                                       relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(runtime);
  return MakeTensor(dtype, dims, rank, data, out, [&](DType t, std::span<const int64_t> shape) {
    return runtime->runtime->NewTensor(t, shape);
  });
}

relayvm_status* relayvm_value_strings(const int64_t* dims, size_t rank, const char* const* texts,
                                      const size_t* sizes, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    if (Status bad = CheckTensorArguments(RELAYVM_STRING, dims, rank); !bad.ok()) return Fail(bad);
    const int64_t bytes = relayvm::vm::CheckedTensorBytes(DType::kString, {dims, rank});
    if (bytes > 0 && texts == nullptr) return Fail(StatusCode::kInvalidArgument, "texts is NULL");
    std::vector<std::string_view> views(bytes > 0 ? static_cast<size_t>(bytes) / 8 : 0);
    for (size_t i = 0; i < views.size(); ++i) {
      if (texts[i] == nullptr && (sizes == nullptr || sizes[i] > 0))
        return Fail(StatusCode::kInvalidArgument, "text " + std::to_string(i) + " is NULL");
      views[i] =
          sizes == nullptr ? std::string_view(texts[i]) : std::string_view(texts[i], sizes[i]);
    }
    return GiveValue(Value::CopyStrings({dims, rank}, views), out);
  });
}

relayvm_status* relayvm_value_wrap(relayvm_dtype dtype, const int64_t* dims, size_t rank,
                                   void* data, void (*release)(void* context), void* context,
                                   relayvm_value** out) {
  if (out != nullptr) *out = nullptr;
  const bool good = CheckTensorArguments(dtype, dims, rank).ok();
  if ((out == nullptr || !good) && release != nullptr) release(context);
  RELAYVM_REQUIRE(out);
  return Guarded([&] {
    if (!good) return Fail(CheckTensorArguments(dtype, dims, rank));
    return GiveValue(
        Value::WrapTensor(static_cast<DType>(dtype), {dims, rank}, data, release, context), out);
  });
}

relayvm_status* relayvm_value_adt(uint32_t tag, relayvm_value* const* fields, size_t num_fields,
                                  relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    if (num_fields > 0xFFFF) {
      return Fail(StatusCode::kInvalidArgument,
                  std::to_string(num_fields) + " fields, above 65535");
    }
    Result<std::vector<Value>> values = relayvm::c_api::Values(fields, num_fields, "field");
    if (!values.ok()) return Fail(values.status());
    return GiveValue(Value::Adt(tag, std::move(values).value()), out);
  });
}

relayvm_status* relayvm_value_from_dlpack(DLManagedTensorVersioned* tensor, relayvm_value** out) {
  if (out == nullptr) GiveBack(tensor);
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(tensor);
  return FromDLPack(tensor, out);
}
relayvm_status* relayvm_value_from_legacy_dlpack(DLManagedTensor* tensor, relayvm_value** out) {
  if (out == nullptr) GiveBack(tensor);
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(tensor);
  return FromDLPack(tensor, out);
}

relayvm_status* relayvm_value_to_dlpack(const relayvm_value* value,
                                        DLManagedTensorVersioned** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&] { return GiveTensor(relayvm::ToDLPack(*ValueOf(value)), out); });
}
relayvm_status* relayvm_value_to_legacy_dlpack(const relayvm_value* value, DLManagedTensor** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&] { return GiveTensor(relayvm::ToLegacyDLPack(*ValueOf(value)), out); });
}

relayvm_value* relayvm_value_copy(const relayvm_value* value) { return ToHandle(*ValueOf(value)); }
void relayvm_value_free(relayvm_value* value) { FromHandle(value); }

relayvm_value_kind relayvm_value_get_kind(const relayvm_value* value) {
  return static_cast<relayvm_value_kind>(ValueOf(value)->kind());
}
relayvm_dtype relayvm_value_get_dtype(const relayvm_value* value) {
  return IsTensor(value) ? static_cast<relayvm_dtype>(ValueOf(value)->dtype()) : RELAYVM_NO_DTYPE;
}
size_t relayvm_value_rank(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->dims().size() : 0;
}
const int64_t* relayvm_value_dims(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->dims().data() : nullptr;
}
int64_t relayvm_value_num_elements(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->num_elements() : 0;
}
const void* relayvm_value_data(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->data() : nullptr;
}
const char* relayvm_value_text(const relayvm_value* value, int64_t position, size_t* bytes) {
  if (bytes != nullptr) *bytes = 0;
  if (bytes == nullptr || relayvm_value_get_dtype(value) != RELAYVM_STRING || position < 0 ||
      position >= ValueOf(value)->num_elements())
    return nullptr;
  const std::string_view text = ValueOf(value)->text(position);
  *bytes = text.size();
  return text.data();
}
void* relayvm_value_mutable_data(relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->mutable_data() : nullptr;
}
size_t relayvm_value_bytes(const relayvm_value* value) {
  return IsTensor(value) ? ValueOf(value)->bytes() : 0;
}

uint32_t relayvm_value_tag(const relayvm_value* value) {
  return relayvm_value_get_kind(value) == RELAYVM_VALUE_ADT ? ValueOf(value)->tag() : 0;
}
uint32_t relayvm_value_function(const relayvm_value* value) {
  if (value == nullptr) return 0;
  ValueOf closure(value);
  return closure->kind() == Value::Kind::kClosure ? closure->function() : 0;
}
size_t relayvm_value_num_fields(const relayvm_value* value) {
  switch (relayvm_value_get_kind(value)) {
    case RELAYVM_VALUE_ADT:
      return ValueOf(value)->num_fields();
    case RELAYVM_VALUE_REF:
      return 1;
    default:
      return 0;
  }
}
relayvm_status* relayvm_value_field(const relayvm_value* value, size_t index, relayvm_value** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(value);
  return Guarded([&]() -> relayvm_status* {
    size_t count = relayvm_value_num_fields(value);
    if (index >= count) {
      return Fail(StatusCode::kOutOfRange,
                  "field " + std::to_string(index) + " of " + std::to_string(count));
    }
    return GiveValue(ValueOf(value)->field(index), out);
  });
}

}  // extern "C"

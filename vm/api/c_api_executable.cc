// The C API: executables, and what they say of themselves.
#include "bytecode/program.h"
#include "kernels/runtime/operator_library.h"
#include "vm/api/c_api_engines.h"
#include "vm/api/c_api_host.h"
#include "vm/api/c_api_internal.h"

using relayvm::DataTypeInfo;
using relayvm::DType;
using relayvm::Executable;
using relayvm::FunctionSignature;
using relayvm::ModelInfo;
using relayvm::NamedType;
using relayvm::Result;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::TypeInfo;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;

static_assert(RELAYVM_TYPE_TENSOR == static_cast<int>(TypeInfo::Kind::kTensor));
static_assert(RELAYVM_TYPE_ADT == static_cast<int>(TypeInfo::Kind::kAdt));
static_assert(RELAYVM_TYPE_VAR == static_cast<int>(TypeInfo::Kind::kTypeVar));

namespace relayvm::c_api {

namespace {

Status TakeEngines(const relayvm_engines& from, OwnedLoadOptions* to) {
  RELAYVM_ASSIGN_OR_RETURN(const relayvm_engines read, ReadEngines(from, &to->engines));
  to->options.engines = to->engines;
  if (read.notice == nullptr) return OkStatus();
  to->options.notice = [call = read.notice, context = read.notice_context](
                           const std::string& text) { call(context, text.c_str()); };
  return OkStatus();
}

}  // namespace

Status ReadLoadOptions(const relayvm_load_options* from, OwnedLoadOptions* to) {
  constexpr size_t kFirstSize = 32;
  static_assert(sizeof(relayvm_load_options) >= kFirstSize);
  RELAYVM_ASSIGN_OR_RETURN(relayvm_load_options read,
                           RELAYVM_READ_OPTIONS(from, relayvm_load_options, kFirstSize));
  RELAYVM_ASSIGN_OR_RETURN(to->host_functions,
                           ReadHostFunctions(read.host_functions, read.num_host_functions));
  to->options.host_functions = to->host_functions;
  to->options.perf_map = read.perf_map != 0;
  to->options.copy_file = read.copy_file != 0;
  to->options.verify = read.verify != 0;
  to->options.clear_memory = read.clear_memory != 0;
  to->options.allow_images = read.no_images == 0;
  to->options.share_constants = read.private_constants == 0;
  if (read.target != nullptr) to->options.target = read.target;
  for (size_t i = 0; i < read.num_kernels; ++i) {
    if (read.kernels == nullptr || read.kernels[i].name == nullptr ||
        read.kernels[i].fn == nullptr) {
      return {StatusCode::kInvalidArgument,
              "relayvm_load_options: kernel " + std::to_string(i) + " has no name or no function"};
    }
    to->kernels.push_back({read.kernels[i].name, read.kernels[i].fn});
  }
  for (size_t i = 0; i < read.num_operator_libraries; ++i) {
    if (read.operator_libraries == nullptr || read.operator_libraries[i] == nullptr) {
      return {StatusCode::kInvalidArgument,
              "relayvm_load_options: operator library " + std::to_string(i) + " is NULL"};
    }
    RELAYVM_ASSIGN_OR_RETURN(OperatorLibrary library,
                             LoadOperatorLibrary(read.operator_libraries[i]));
    const std::vector<Builtin> kernels = library.kernels();
    to->kernels.insert(to->kernels.end(), kernels.begin(), kernels.end());
  }
  to->options.kernels = to->kernels;
  return read.engines == nullptr ? OkStatus() : TakeEngines(*read.engines, to);
}

}  // namespace relayvm::c_api

namespace {

// `load` takes LoadOptions.
template <typename Load>
relayvm_status* LoadInto(const relayvm_load_options* from, relayvm_executable** out,
                         const Load& load) {
  return Guarded([&]() -> relayvm_status* {
    relayvm::c_api::OwnedLoadOptions options;
    if (Status bad = relayvm::c_api::ReadLoadOptions(from, &options); !bad.ok()) return Fail(bad);
    Result<std::shared_ptr<const Executable>> loaded = load(options.options);
    if (!loaded.ok()) return Fail(loaded.status());
    auto handle = std::make_unique<relayvm_executable>();
    handle->executable = std::move(loaded).value();
    *out = handle.release();
    return nullptr;
  });
}

std::span<const uint8_t> Bytes(const void* bytes, size_t size) {
  return {static_cast<const uint8_t*>(bytes), size};
}

// Memory that is released unless somebody has taken it over.
struct HandedOver {
  void (*release)(void* context);
  void* context;
  ~HandedOver() {
    if (release != nullptr) release(context);
  }
};

// --- Introspection: null for what is out of range ---

template <typename T>
const T* At(const std::vector<T>& items, size_t index) {
  return index < items.size() ? &items[index] : nullptr;
}

const ModelInfo* InfoOf(const relayvm_executable* executable) {
  return executable == nullptr ? nullptr : &executable->executable->info();
}
const FunctionSignature* Function(const relayvm_executable* executable, size_t index) {
  const ModelInfo* info = InfoOf(executable);
  return info == nullptr ? nullptr : At(info->functions, index);
}
const DataTypeInfo* Adt(const relayvm_executable* executable, size_t index) {
  const ModelInfo* info = InfoOf(executable);
  return info == nullptr ? nullptr : At(info->data_types, index);
}
const DataTypeInfo::Constructor* Constructor(const relayvm_executable* executable, size_t adt,
                                             size_t tag) {
  const DataTypeInfo* info = Adt(executable, adt);
  return info == nullptr ? nullptr : At(info->constructors, tag);
}
template <typename Named>
const char* NameOf(const Named* info) {
  return info == nullptr ? nullptr : info->name.c_str();
}

// A relayvm_type* is the TypeInfo itself.
const relayvm_type* ToHandle(const TypeInfo* type) {
  return reinterpret_cast<const relayvm_type*>(type);
}
const TypeInfo* FromHandle(const relayvm_type* type) {
  return reinterpret_cast<const TypeInfo*>(type);
}

}  // namespace

extern "C" {

relayvm_status* relayvm_executable_load(const char* path, const relayvm_load_options* options,
                                        relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(path);
  return LoadInto(options, out,
                  [&](const relayvm::LoadOptions& o) { return Executable::Load(path, o); });
}

relayvm_status* relayvm_executable_load_memory(const void* bytes, size_t size,
                                               const relayvm_load_options* options,
                                               relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(bytes);
  return LoadInto(options, out, [&](const relayvm::LoadOptions& o) {
    return Executable::FromMemory(Bytes(bytes, size), nullptr, o);
  });
}

relayvm_status* relayvm_executable_wrap_memory(const void* bytes, size_t size,
                                               void (*release)(void* context), void* context,
                                               const relayvm_load_options* options,
                                               relayvm_executable** out) {
  if (out != nullptr) *out = nullptr;
  HandedOver handed{release, context};
  RELAYVM_REQUIRE(out);
  RELAYVM_REQUIRE(bytes);
  return LoadInto(options, out, [&](const relayvm::LoadOptions& o) {
    // Where this throws, it has called the deleter.
    handed.release = nullptr;
    std::shared_ptr<const void> owner(bytes, [=](const void*) {
      if (release != nullptr) release(context);
    });
    return Executable::FromMemory(Bytes(bytes, size), std::move(owner), o);
  });
}

void relayvm_executable_free(relayvm_executable* executable) { delete executable; }

const void* relayvm_executable_program(const relayvm_executable* executable) {
  return executable == nullptr ? nullptr : executable->executable.get();
}
int relayvm_program_place(const void* program, uint32_t function, uint32_t instruction,
                          relayvm_place* place, char* text, size_t size) {
  if (program == nullptr || place == nullptr || (text == nullptr && size > 0)) return 0;
  const auto& executable = *static_cast<const Executable*>(program);
  const std::vector<relayvm::FunctionInfo>& functions = executable.program().functions;
  if (function >= functions.size() || instruction >= functions[function].code_size) return 0;
  try {
    const relayvm::StatusPlace from = executable.PlaceOf(function, instruction);
    const auto copy = [&](const std::string& string) {
      if (size == 0) return "";
      const size_t length = std::min(string.size(), size - 1);
      char* const to = text;
      std::memcpy(to, string.data(), length);
      to[length] = 0;
      text += length + 1;
      size -= length + 1;
      return static_cast<const char*>(to);
    };
    *place = {copy(from.function), copy(from.file), from.line, from.column, from.instruction};
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

size_t relayvm_executable_num_functions(const relayvm_executable* executable) {
  const ModelInfo* info = InfoOf(executable);
  return info == nullptr ? 0 : info->functions.size();
}
const char* relayvm_executable_function_name(const relayvm_executable* executable,
                                             size_t function) {
  return NameOf(Function(executable, function));
}
relayvm_status* relayvm_executable_find_function(const relayvm_executable* executable,
                                                 const char* name, size_t* function) {
  RELAYVM_REQUIRE(function);
  *function = 0;
  RELAYVM_REQUIRE(executable);
  RELAYVM_REQUIRE(name);
  return Guarded([&]() -> relayvm_status* {
    const ModelInfo& info = *InfoOf(executable);
    const Result<const FunctionSignature*> found = info.FindFunction(name);
    if (!found.ok()) return Fail(found.status());
    *function = static_cast<size_t>(*found - info.functions.data());
    return nullptr;
  });
}
size_t relayvm_executable_num_type_params(const relayvm_executable* executable, size_t function) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? 0 : info->num_type_params;
}
size_t relayvm_executable_num_params(const relayvm_executable* executable, size_t function) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? 0 : info->inputs.size();
}
const char* relayvm_executable_param_name(const relayvm_executable* executable, size_t function,
                                          size_t param) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? nullptr : NameOf(At(info->inputs, param));
}
const relayvm_type* relayvm_executable_param_type(const relayvm_executable* executable,
                                                  size_t function, size_t param) {
  const FunctionSignature* info = Function(executable, function);
  const NamedType* input = info == nullptr ? nullptr : At(info->inputs, param);
  return input == nullptr ? nullptr : ToHandle(&input->type);
}
int relayvm_executable_param_is_optional(const relayvm_executable* executable, size_t function,
                                         size_t param) {
  const FunctionSignature* info = Function(executable, function);
  const NamedType* input = info == nullptr ? nullptr : At(info->inputs, param);
  return input != nullptr && input->is_optional ? 1 : 0;
}
const relayvm_type* relayvm_executable_result_type(const relayvm_executable* executable,
                                                   size_t function) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? nullptr : ToHandle(&info->result);
}
size_t relayvm_executable_num_outputs(const relayvm_executable* executable, size_t function) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? 0 : info->outputs.size();
}
const char* relayvm_executable_output_name(const relayvm_executable* executable, size_t function,
                                           size_t output) {
  const FunctionSignature* info = Function(executable, function);
  return info == nullptr ? nullptr : NameOf(At(info->outputs, output));
}
const relayvm_type* relayvm_executable_output_type(const relayvm_executable* executable,
                                                   size_t function, size_t output) {
  const FunctionSignature* info = Function(executable, function);
  const NamedType* found = info == nullptr ? nullptr : At(info->outputs, output);
  return found == nullptr ? nullptr : ToHandle(&found->type);
}

size_t relayvm_executable_num_adts(const relayvm_executable* executable) {
  const ModelInfo* info = InfoOf(executable);
  return info == nullptr ? 0 : info->data_types.size();
}
const char* relayvm_executable_adt_name(const relayvm_executable* executable, size_t adt) {
  return NameOf(Adt(executable, adt));
}
size_t relayvm_executable_adt_num_type_params(const relayvm_executable* executable, size_t adt) {
  const DataTypeInfo* info = Adt(executable, adt);
  return info == nullptr ? 0 : info->num_type_params;
}
size_t relayvm_executable_num_constructors(const relayvm_executable* executable, size_t adt) {
  const DataTypeInfo* info = Adt(executable, adt);
  return info == nullptr ? 0 : info->constructors.size();
}
const char* relayvm_executable_constructor_name(const relayvm_executable* executable, size_t adt,
                                                uint32_t tag) {
  return NameOf(Constructor(executable, adt, tag));
}
size_t relayvm_executable_constructor_num_fields(const relayvm_executable* executable, size_t adt,
                                                 uint32_t tag) {
  const auto* info = Constructor(executable, adt, tag);
  return info == nullptr ? 0 : info->fields.size();
}
const relayvm_type* relayvm_executable_constructor_field(const relayvm_executable* executable,
                                                         size_t adt, uint32_t tag, size_t field) {
  const auto* info = Constructor(executable, adt, tag);
  return info == nullptr ? nullptr : ToHandle(At(info->fields, field));
}
relayvm_status* relayvm_executable_constructor_tag(const relayvm_executable* executable,
                                                   const char* name, uint32_t* tag) {
  RELAYVM_REQUIRE(tag);
  *tag = 0;
  RELAYVM_REQUIRE(executable);
  RELAYVM_REQUIRE(name);
  return Guarded([&]() -> relayvm_status* {
    Result<uint32_t> found = executable->executable->FindConstructor(name);
    if (!found.ok()) return Fail(found.status());
    *tag = *found;
    return nullptr;
  });
}

size_t relayvm_executable_num_targets(const relayvm_executable* executable) {
  const ModelInfo* info = InfoOf(executable);
  return info == nullptr ? 0 : info->targets.size();
}
size_t relayvm_executable_num_batched_kernels(const relayvm_executable* executable) {
  return executable == nullptr ? 0 : executable->executable->num_batched_kernels();
}
const char* relayvm_executable_target(const relayvm_executable* executable, size_t index) {
  const ModelInfo* info = InfoOf(executable);
  const std::string* target = info == nullptr ? nullptr : At(info->targets, index);
  return target == nullptr ? nullptr : target->c_str();
}

// --- Types ---

const char* relayvm_dtype_name(relayvm_dtype dtype) {
  if (dtype < 0 || dtype > static_cast<int>(DType::kString)) return nullptr;
  return relayvm::DTypeName(static_cast<DType>(dtype)).data();  // a literal
}
size_t relayvm_dtype_bytes(relayvm_dtype dtype) {
  if (dtype < 0 || dtype > static_cast<int>(DType::kString)) return 0;
  return static_cast<size_t>(relayvm::DTypeBytes(static_cast<DType>(dtype)));
}

relayvm_type_kind relayvm_type_get_kind(const relayvm_type* type) {
  return type == nullptr ? RELAYVM_TYPE_NONE
                         : static_cast<relayvm_type_kind>(FromHandle(type)->kind);
}
const char* relayvm_type_text(const relayvm_type* type) {
  return type == nullptr ? nullptr : FromHandle(type)->text.c_str();
}
relayvm_dtype relayvm_type_dtype(const relayvm_type* type) {
  if (relayvm_type_get_kind(type) != RELAYVM_TYPE_TENSOR) return RELAYVM_NO_DTYPE;
  return static_cast<relayvm_dtype>(FromHandle(type)->dtype);
}
size_t relayvm_type_rank(const relayvm_type* type) {
  return type == nullptr ? 0 : FromHandle(type)->dims.size();
}
int64_t relayvm_type_dim(const relayvm_type* type, size_t dim) {
  return dim < relayvm_type_rank(type) ? FromHandle(type)->dims[dim].size : -1;
}
const char* relayvm_type_dim_name(const relayvm_type* type, size_t dim) {
  return dim < relayvm_type_rank(type) ? FromHandle(type)->dims[dim].name.c_str() : nullptr;
}
size_t relayvm_type_num_args(const relayvm_type* type) {
  return type == nullptr ? 0 : FromHandle(type)->args.size();
}
const relayvm_type* relayvm_type_arg(const relayvm_type* type, size_t index) {
  return type == nullptr ? nullptr : ToHandle(At(FromHandle(type)->args, index));
}
size_t relayvm_type_index(const relayvm_type* type) {
  return type == nullptr ? 0 : FromHandle(type)->index;
}

}  // extern "C"

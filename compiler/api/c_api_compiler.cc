#include "compiler/api/c_api_compiler.h"

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include "compiler/api/compiler.h"
#include "vm/api/c_api_internal.h"

using relayvm::CompiledModel;
using relayvm::CompilerOptions;
using relayvm::ModelSource;
using relayvm::Result;
using relayvm::SharedBytes;
using relayvm::Status;
using relayvm::StatusCode;
using relayvm::c_api::Fail;
using relayvm::c_api::Guarded;

struct relayvm_compiled {
  CompiledModel model;
  std::vector<relayvm_status> warnings;
};
struct relayvm_compile_stop {
  std::stop_source source;
};

namespace {

Status Null(const char* what) {
  return {StatusCode::kInvalidArgument,
          std::string("relayvm_compile_options: ") + what + " is NULL"};
}

std::span<const std::byte> BytesOf(const void* data, size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

// What the caller's options say. Callbacks refer to `o`, which outlives the compilation.
Result<CompilerOptions> ReadOptions(const relayvm_compile_options& o) {
  CompilerOptions options;
  options.num_threads = o.num_threads;
  if (o.num_settings > 0 && o.settings == nullptr) return Null("settings");
  for (const relayvm_compile_setting& s : std::span(o.settings, o.num_settings)) {
    if (s.name == nullptr || s.value == nullptr) return Null("a setting's name or value");
    RELAYVM_RETURN_IF_ERROR(options.Set(s.name, s.value));
  }
  if (o.num_params > 0 && o.params == nullptr) return Null("params");
  for (const relayvm_compile_param& p : std::span(o.params, o.num_params)) {
    if (p.name == nullptr || p.value == nullptr) return Null("a parameter's name or value");
    if (!options.params.emplace(p.name, *relayvm::c_api::ValueOf(p.value)).second) {
      return Status(StatusCode::kInvalidArgument,
                    std::string("parameter ") + p.name + " is given twice");
    }
  }
  if (o.params_size > 0 && o.params_data == nullptr) return Null("params_data");
  if (o.params_data != nullptr)
    options.params_content = SharedBytes::Copy(BytesOf(o.params_data, o.params_size));
  if (o.on_progress != nullptr) {
    options.on_progress = [&o](std::string_view what, size_t done, size_t total) {
      o.on_progress(o.user, std::string(what).c_str(), done, total);
    };
  }
  if (o.on_text != nullptr) {
    options.on_text = [&o](std::string_view text) {
      o.on_text(o.user, std::string(text).c_str(), text.size());
    };
  }
  return options;
}

relayvm_status* Compile(const ModelSource& source, const relayvm_compile_options* given,
                        relayvm_compiled** out) {
  auto read = RELAYVM_READ_OPTIONS(given, relayvm_compile_options, sizeof(relayvm_compile_options));
  if (!read.ok()) return Fail(read.status());
  auto options = ReadOptions(*read);
  if (!options.ok()) return Fail(options.status());
  std::stop_token stop;
  if (read->stop != nullptr) stop = read->stop->source.get_token();
  auto model = CompileModel(source, *options, std::move(stop));
  if (!model.ok()) return Fail(model.status());
  std::vector<relayvm_status> warnings;
  for (const Status& w : model->warnings()) warnings.push_back({w});
  *out = new relayvm_compiled{*std::move(model), std::move(warnings)};
  return nullptr;
}

void ReleaseBytes(void* bytes) { delete static_cast<SharedBytes*>(bytes); }

}  // namespace

extern "C" {

relayvm_status* relayvm_compile_file(const char* path, const relayvm_compile_options* options,
                                     relayvm_compiled** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(path);
  return Guarded([&] { return Compile({path, std::nullopt}, options, out); });
}

relayvm_status* relayvm_compile_memory(const char* name, const void* data, size_t size,
                                       const relayvm_compile_options* options,
                                       relayvm_compiled** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(name);
  RELAYVM_REQUIRE(data);
  return Guarded(
      [&] { return Compile({name, SharedBytes::Copy(BytesOf(data, size))}, options, out); });
}

void relayvm_compiled_free(relayvm_compiled* compiled) { delete compiled; }

relayvm_status* relayvm_compiled_bytes(const relayvm_compiled* compiled, const void** data,
                                       size_t* size) {
  RELAYVM_REQUIRE(data);
  RELAYVM_REQUIRE(size);
  *data = nullptr;
  *size = 0;
  RELAYVM_REQUIRE(compiled);
  return Guarded([&]() -> relayvm_status* {
    auto bytes = compiled->model.Bytes();
    if (!bytes.ok()) return Fail(bytes.status());
    *data = bytes->data();
    *size = bytes->size();
    return nullptr;
  });
}

relayvm_status* relayvm_compiled_save(const relayvm_compiled* compiled, const char* path) {
  RELAYVM_REQUIRE(compiled);
  RELAYVM_REQUIRE(path);
  return Guarded([&] { return Fail(compiled->model.Save(path)); });
}

relayvm_status* relayvm_compiled_load(const relayvm_compiled* compiled,
                                      const relayvm_load_options* options,
                                      relayvm_executable** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  RELAYVM_REQUIRE(compiled);
  return Guarded([&]() -> relayvm_status* {
    auto bytes = compiled->model.Bytes();
    if (!bytes.ok()) return Fail(bytes.status());
    // The runtime reads its options itself.
    auto* owner = new SharedBytes(*bytes);
    return relayvm_executable_wrap_memory(owner->data(), owner->size(), ReleaseBytes, owner,
                                          options, out);
  });
}

size_t relayvm_compiled_num_warnings(const relayvm_compiled* compiled) {
  return compiled == nullptr ? 0 : compiled->warnings.size();
}
const relayvm_status* relayvm_compiled_warning(const relayvm_compiled* compiled, size_t index) {
  return index < relayvm_compiled_num_warnings(compiled) ? &compiled->warnings[index] : nullptr;
}

size_t relayvm_compiled_num_passes(const relayvm_compiled* compiled) {
  return compiled == nullptr ? 0 : compiled->model.times().size();
}
int relayvm_compiled_pass(const relayvm_compiled* compiled, size_t index, const char** name,
                          double* milliseconds, int* is_part) {
  if (index >= relayvm_compiled_num_passes(compiled)) return 0;
  const relayvm::PassTime& time = compiled->model.times()[index];
  if (name != nullptr) *name = time.pass.c_str();
  if (milliseconds != nullptr) *milliseconds = time.milliseconds;
  if (is_part != nullptr) *is_part = time.is_part ? 1 : 0;
  return 1;
}

relayvm_status* relayvm_compile_stop_create(relayvm_compile_stop** out) {
  RELAYVM_REQUIRE(out);
  *out = nullptr;
  return Guarded([&]() -> relayvm_status* {
    *out = new relayvm_compile_stop;
    return nullptr;
  });
}
void relayvm_compile_stop_request(relayvm_compile_stop* stop) {
  if (stop != nullptr) stop->source.request_stop();
}
void relayvm_compile_stop_free(relayvm_compile_stop* stop) { delete stop; }

}  // extern "C"

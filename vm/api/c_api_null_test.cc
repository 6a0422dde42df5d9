// Every function of the C API, with NULL for each of its pointers in turn: a status that says
// which, or the answer that the header promises, and never a crash. The table is compared with the
// header.
#include <cstdint>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "bytecode/writer.h"
#include "tests/temp_folder.h"
#include "vm/api/c_api_device.h"
#include "vm/api/c_api_host.h"
#include "vm/api/c_api_null_testing.h"
#include "vm/api/c_api_scheduler.h"
#include "vm/api/c_api_trace.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::DeclaredFunctions;

// What all calls share. Outputs are freed after each call.
struct Fixture {
  Fixture() {
    Result<Program> program = Assemble(R"(
.version 1
.data "Box" 0
  .constructor "Box" (int64[])
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"] "y"
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    bytes = *SerializeProgram(*program);
    REQUIRE(relayvm_runtime_create(nullptr, &runtime) == nullptr);
    REQUIRE(relayvm_executable_load_memory(bytes.data(), bytes.size(), nullptr, &executable) ==
            nullptr);
    REQUIRE(relayvm_invocation_create(runtime, executable, nullptr, &invocation) == nullptr);
    REQUIRE(relayvm_value_tensor(RELAYVM_FLOAT32, dims, 1, elements, &value) == nullptr);
    REQUIRE(relayvm_value_adt(0, &value, 1, &tuple) == nullptr);
    status = relayvm_status_create(RELAYVM_INTERNAL, "s");
    stats.struct_size = sizeof(stats);
    runtime_stats.struct_size = sizeof(runtime_stats);
  }
  ~Fixture() {
    FreeOutputs();
    relayvm_status_free(status);
    relayvm_value_free(tuple);
    relayvm_value_free(value);
    relayvm_invocation_free(invocation);
    relayvm_executable_free(executable);
    relayvm_runtime_free(runtime);
  }
  void CheckNoOutputs() const {
    CHECK(out_value == nullptr);
    CHECK(out_runtime == nullptr);
    CHECK(out_executable == nullptr);
    CHECK(out_invocation == nullptr);
  }
  void FreeOutputs() {
    relayvm_value_free(std::exchange(out_value, nullptr));
    relayvm_runtime_free(std::exchange(out_runtime, nullptr));
    relayvm_executable_free(std::exchange(out_executable, nullptr));
    relayvm_invocation_free(std::exchange(out_invocation, nullptr));
    if (out_tensor != nullptr) out_tensor->deleter(std::exchange(out_tensor, nullptr));
    if (out_legacy != nullptr) out_legacy->deleter(std::exchange(out_legacy, nullptr));
  }

  std::vector<uint8_t> bytes;
  int64_t dims[1] = {2};
  float elements[2] = {1, 2};
  uint32_t length = 0;
  relayvm_runtime* runtime = nullptr;
  relayvm_executable* executable = nullptr;
  relayvm_invocation* invocation = nullptr;
  relayvm_value* value = nullptr;
  relayvm_value* tuple = nullptr;
  relayvm_status* status = nullptr;
  relayvm_value* out_value = nullptr;
  relayvm_runtime* out_runtime = nullptr;
  relayvm_executable* out_executable = nullptr;
  relayvm_invocation* out_invocation = nullptr;
  DLManagedTensorVersioned* out_tensor = nullptr;
  DLManagedTensor* out_legacy = nullptr;
  relayvm_invocation_stats stats{};
  relayvm_runtime_stats runtime_stats{};
  relayvm_place place{};
  char text[64];
  uint32_t number = 0;
  size_t count = 0;
};

using Walk = testing::NullWalk<Fixture>;

void WalkStatusAndRuntime(Walk& walk, Fixture& f) {
  WALK(relayvm_version, [] { return std::tuple(); });
  WALK(relayvm_version_numbers, [&] { return std::tuple(&f.number, &f.number, &f.number); });
  WALK(relayvm_api_version, [] { return std::tuple(); });
  WALK(relayvm_check_api_version, [] { return std::tuple(uint32_t{RELAYVM_API_VERSION}); });
  WALK(relayvm_status_code, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_message, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_code_name, [] { return std::tuple(-5); });
  WALK(relayvm_status_create, [] { return std::tuple(int{RELAYVM_OK}, "text"); }, {1});
  WALK_FREE(relayvm_status_free, [] { return relayvm_status_create(RELAYVM_INTERNAL, nullptr); });
  WALK(relayvm_status_num_places, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_place, [&] { return std::tuple(f.status, size_t{0}, &f.place); });
  WALK(relayvm_status_source_line, [&] { return std::tuple(f.status, size_t{0}, &f.length); });
  WALK(relayvm_status_expected_text, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_found_text, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_subject, [&] { return std::tuple(f.status); });
  WALK(relayvm_status_expected, [&] { return std::tuple(f.status, &f.count); });
  WALK(relayvm_status_found, [&] { return std::tuple(f.status, &f.count); });
  WALK(relayvm_status_numbers, [&] { return std::tuple(f.status, &f.count); });
  static const relayvm_runtime_options options = {sizeof(options), 1};
  WALK(relayvm_runtime_create, [&] { return std::tuple(&options, &f.out_runtime); }, {0});
  WALK(relayvm_runtime_create_for,
       [&] { return std::tuple(uint32_t{1}, &options, &f.out_runtime); }, {1});
  WALK_FREE(relayvm_runtime_free, [] {
    relayvm_runtime* runtime = nullptr;
    REQUIRE(relayvm_runtime_create(nullptr, &runtime) == nullptr);
    return runtime;
  });
  WALK(relayvm_runtime_num_threads, [&] { return std::tuple(f.runtime); });
  WALK(relayvm_runtime_trim, [&] { return std::tuple(f.runtime); });
  WALK(relayvm_runtime_get_stats, [&] { return std::tuple(f.runtime, &f.runtime_stats); });
}

void WalkExecutable(Walk& walk, Fixture& f) {
  static const relayvm_load_options options = {sizeof(options)};
  testing::TempFolder folder;
  const std::string path = folder / "model.vmx";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(f.bytes.data()),
             static_cast<std::streamsize>(f.bytes.size()));
  WALK(relayvm_executable_load,
       [&] { return std::tuple(path.c_str(), &options, &f.out_executable); }, {1});
  WALK(relayvm_executable_load_memory,
       [&] { return std::tuple(f.bytes.data(), f.bytes.size(), &options, &f.out_executable); },
       {2});
  static const char* const texts[] = {"a", "b"};
  static const size_t sizes[] = {1, 1};
  WALK(relayvm_value_strings,
       [&] { return std::tuple(f.dims, size_t{1}, texts, sizes, &f.out_value); }, {3});
  WALK(relayvm_value_text, [&] { return std::tuple(f.value, int64_t{0}, &f.count); });
  static int released = 0;
  WALK(relayvm_executable_wrap_memory,
       [&] {
         return std::tuple(
             f.bytes.data(), f.bytes.size(), +[](void*) { ++released; }, &released, &options,
             &f.out_executable);
       },
       {3, 4});
  CHECK(released == 5);  // of each call, failed or not
  WALK_FREE(relayvm_executable_free, [&] {
    relayvm_executable* e = nullptr;
    REQUIRE(relayvm_executable_load_memory(f.bytes.data(), f.bytes.size(), nullptr, &e) == nullptr);
    return e;
  });
  const auto with = [&](auto... rest) { return std::tuple(f.executable, rest...); };
  const size_t zero = 0, far = SIZE_MAX;
  WALK(relayvm_executable_program, [&] { return with(); });
  WALK(relayvm_program_place, [&] {
    return std::tuple(relayvm_executable_program(f.executable), 0U, 0U, &f.place, f.text,
                      sizeof(f.text));
  });
  WALK(relayvm_executable_num_functions, [&] { return with(); });
  WALK(relayvm_executable_function_name, [&] { return with(far); });
  WALK(relayvm_executable_find_function, [&] { return with("main", &f.count); });
  WALK(relayvm_executable_num_type_params, [&] { return with(far); });
  WALK(relayvm_executable_num_params, [&] { return with(far); });
  WALK(relayvm_executable_param_name, [&] { return with(zero, far); });
  WALK(relayvm_executable_param_type, [&] { return with(zero, far); });
  WALK(relayvm_executable_result_type, [&] { return with(far); });
  WALK(relayvm_executable_num_outputs, [&] { return with(far); });
  WALK(relayvm_executable_output_name, [&] { return with(zero, far); });
  WALK(relayvm_executable_output_type, [&] { return with(zero, far); });
  WALK(relayvm_executable_param_is_optional, [&] { return with(zero, far); });
  WALK(relayvm_executable_num_adts, [&] { return with(); });
  WALK(relayvm_executable_adt_name, [&] { return with(far); });
  WALK(relayvm_executable_adt_num_type_params, [&] { return with(far); });
  WALK(relayvm_executable_num_constructors, [&] { return with(far); });
  WALK(relayvm_executable_constructor_name, [&] { return with(zero, UINT32_MAX); });
  WALK(relayvm_executable_constructor_num_fields, [&] { return with(zero, UINT32_MAX); });
  WALK(relayvm_executable_constructor_field, [&] { return with(zero, 0U, far); });
  WALK(relayvm_executable_constructor_tag, [&] { return with("Box", &f.number); });
  WALK(relayvm_executable_num_targets, [&] { return with(); });
  WALK(relayvm_executable_num_batched_kernels, [&] { return with(); });
  WALK(relayvm_executable_target, [&] { return with(far); });
  const auto type = [&](auto... rest) {
    return std::tuple(relayvm_executable_param_type(f.executable, 0, 0), rest...);
  };
  WALK(relayvm_dtype_name, [] { return std::tuple(relayvm_dtype{-1}); });
  WALK(relayvm_dtype_bytes, [] { return std::tuple(relayvm_dtype{13}); });
  WALK(relayvm_type_get_kind, [&] { return type(); });
  WALK(relayvm_type_text, [&] { return type(); });
  WALK(relayvm_type_dtype, [&] { return type(); });
  WALK(relayvm_type_rank, [&] { return type(); });
  WALK(relayvm_type_dim, [&] { return type(far); });
  WALK(relayvm_type_dim_name, [&] { return type(far); });
  WALK(relayvm_type_num_args, [&] { return type(); });
  WALK(relayvm_type_arg, [&] { return type(far); });
  WALK(relayvm_type_index, [&] { return type(); });
}

void WalkValue(Walk& walk, Fixture& f) {
  const relayvm_dtype f32 = RELAYVM_FLOAT32;
  WALK(relayvm_value_tensor,
       [&] { return std::tuple(f32, f.dims, size_t{1}, f.elements, &f.out_value); }, {3});
  WALK(relayvm_runtime_tensor,
       [&] { return std::tuple(f.runtime, f32, f.dims, size_t{1}, f.elements, &f.out_value); },
       {4});
  static int released = 0;
  const auto count = +[](void*) { ++released; };
  WALK(relayvm_value_wrap,
       [&] {
         return std::tuple(f32, f.dims, size_t{1}, f.elements, count, &released, &f.out_value);
       },
       {5});
  CHECK(released == 5);
  WALK(relayvm_value_adt, [&] { return std::tuple(1U, &f.value, size_t{1}, &f.out_value); });
  WALK(relayvm_value_to_dlpack, [&] { return std::tuple(f.value, &f.out_tensor); });
  WALK(relayvm_value_to_legacy_dlpack, [&] { return std::tuple(f.value, &f.out_legacy); });
  // Taken over, also where the value cannot be given.
  static int deleted = 0;
  static DLManagedTensorVersioned tensor{};
  static DLManagedTensor legacy{};
  tensor.version = {1, 0};
  tensor.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
  legacy.deleter = [](DLManagedTensor*) { ++deleted; };
  tensor.dl_tensor = {f.elements, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, f.dims, nullptr, 0};
  legacy.dl_tensor = tensor.dl_tensor;
  WALK(relayvm_value_from_dlpack, [&] { return std::tuple(&tensor, &f.out_value); });
  WALK(relayvm_value_from_legacy_dlpack, [&] { return std::tuple(&legacy, &f.out_value); });
  CHECK(deleted == 4);
  WALK(relayvm_runtime_from_dlpack, [&] { return std::tuple(f.runtime, &tensor, &f.out_value); });
  WALK(relayvm_runtime_from_legacy_dlpack,
       [&] { return std::tuple(f.runtime, &legacy, &f.out_value); });
  CHECK(deleted == 10);
  walk.Free(
      "relayvm_value_copy", +[](relayvm_value* v) { relayvm_value_free(relayvm_value_copy(v)); },
      [&] { return f.tuple; });
  WALK_FREE(relayvm_value_free, [&] { return relayvm_value_copy(f.value); });
  WALK(relayvm_value_get_kind, [&] { return std::tuple(f.value); });
  WALK(relayvm_value_get_dtype, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_rank, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_dims, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_num_elements, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_data, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_mutable_data, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_bytes, [&] { return std::tuple(f.tuple); });
  WALK(relayvm_value_tag, [&] { return std::tuple(f.value); });
  WALK(relayvm_value_num_fields, [&] { return std::tuple(f.value); });
  WALK(relayvm_value_function, [&] { return std::tuple(f.value); });
  WALK(relayvm_value_field, [&] { return std::tuple(f.tuple, size_t{0}, &f.out_value); });
}

void WalkInvocation(Walk& walk, Fixture& f) {
  static const relayvm_invocation_options options = {sizeof(options)};
  static float buffer[2];
  static relayvm_output output;
  output = {buffer, f.dims, 1, RELAYVM_FLOAT32};
  const size_t one = 1;
  WALK(relayvm_invocation_create,
       [&] { return std::tuple(f.runtime, f.executable, &options, &f.out_invocation); }, {2});
  WALK_FREE(relayvm_invocation_free, [&] {
    relayvm_invocation* invocation = nullptr;
    REQUIRE(relayvm_invocation_create(f.runtime, f.executable, nullptr, &invocation) == nullptr);
    return invocation;
  });
  WALK(relayvm_invocation_run,
       [&] { return std::tuple(f.invocation, "main", &f.value, one, &f.out_value); });
  WALK(relayvm_invocation_run_into,
       [&] { return std::tuple(f.invocation, "main", &f.value, one, &output, one, &f.out_value); },
       {5 + 1});
  const char* const input = "x";
  const char* const wanted = "y";
  WALK(relayvm_invocation_run_named, [&] {
    return std::tuple(f.invocation, "main", &input, &f.value, one, &wanted, one, &f.out_value);
  });
  const auto finish = [&] {
    while (relayvm_invocation_poll(f.invocation, 0) != RELAYVM_DONE) {
    }
  };
  WALK(relayvm_invocation_start, [&] {
    finish();
    return std::tuple(f.invocation, "main", &f.value, one, &output, one);
  });
  finish();
  WALK(relayvm_invocation_poll, [&] { return std::tuple(f.invocation, int64_t{0}); });
  WALK(relayvm_invocation_take_result, [&] {
    relayvm_status_free(relayvm_invocation_start(f.invocation, "main", &f.value, 1, nullptr, 0));
    finish();
    return std::tuple(f.invocation, &f.out_value);
  });
  const auto with = [&](auto... rest) { return std::tuple(f.invocation, rest...); };
  void (*on_ready)(void*) = nullptr;
  void* user = nullptr;
  WALK(relayvm_invocation_set_on_ready, [&] { return with(on_ready, user); }, {2});
  WALK(relayvm_invocation_next_deadline_ns, [&] { return with(); });
  WALK(relayvm_invocation_wake_if_due, [&] { return with(); });
  WALK(relayvm_invocation_wait, [&] { return with(); });
  WALK(relayvm_invocation_cancel, [&] { return with(); });
  WALK(relayvm_invocation_forget_cancel, [&] { return with(); });
  WALK(relayvm_invocation_set_memory_limit, [&] { return with(uint64_t{0}); });
  WALK(relayvm_invocation_set_stack_limit, [&] { return with(uint64_t{0}); });
  WALK(relayvm_invocation_set_timeout, [&] { return with(int64_t{0}); });
  WALK(relayvm_invocation_set_native_stack, [&] { return with(uint64_t{0}); });
  WALK(relayvm_invocation_trim, [&] { return with(); });
  WALK(relayvm_invocation_get_stats, [&] { return with(&f.stats); });
  WALK(relayvm_invocation_set_tag, [&] { return std::tuple(f.invocation, uint64_t{7}); });
  WALK(relayvm_invocation_id, [&] { return with(); });
}

// These take what exists only while a host function runs, and is tested by c_api_host_test.cc.
void WalkHostCall(Walk& walk, Fixture& f) {
  relayvm_host_call* call = nullptr;
  const auto refused = [](relayvm_status* status) {
    CHECK(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
    relayvm_status_free(status);
  };
  CHECK(relayvm_host_call_num_args(call) == 0);
  CHECK(relayvm_host_call_arg(call, 0) == nullptr);
  CHECK(relayvm_host_call_invocation_id(call) == 0);
  CHECK(relayvm_host_call_name(call) == nullptr);
  CHECK(relayvm_host_call_program(call) == nullptr);
  CHECK(relayvm_host_call_invocation_context(call) == nullptr);
  CHECK(relayvm_host_call_deadline(call) == INT64_MAX);
  CHECK(relayvm_host_call_tag(call) == 0);
  refused(relayvm_host_call_suspend(call));
  refused(relayvm_host_call_suspend_until(call, 0));
  refused(relayvm_host_call_check(call));
  CHECK(relayvm_host_call_waker(call) == nullptr);
  CHECK(relayvm_waker_copy(nullptr) == nullptr);
  relayvm_waker_wake(nullptr);
  relayvm_waker_free(nullptr);
  void* context = nullptr;
  WALK(relayvm_invocation_set_host_context, [&] { return std::tuple(f.invocation, context); });
  for (const char* name :
       {"num_args", "arg", "name", "program", "invocation_id", "invocation_context", "deadline",
        "suspend", "suspend_until", "check", "waker", "tag"}) {
    walk.Add(std::string("relayvm_host_call_") + name);
  }
  for (const char* name : {"copy", "wake", "free"}) walk.Add(std::string("relayvm_waker_") + name);
}

// A run that is accepted completes later: what it would take stays NULL here.
void WalkScheduler(Walk& walk) {
  const auto refused = [](relayvm_status* status) {
    CHECK(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
    relayvm_status_free(status);
  };
  relayvm_scheduler* scheduler = nullptr;
  relayvm_scheduler_stats stats{sizeof(stats)};
  refused(relayvm_scheduler_create(nullptr, nullptr, &scheduler));
  refused(relayvm_scheduler_create(nullptr, nullptr, nullptr));
  refused(relayvm_scheduler_run(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                nullptr));
  refused(relayvm_scheduler_get_stats(nullptr, &stats));
  refused(relayvm_scheduler_get_stats(nullptr, nullptr));
  relayvm_scheduler_free(nullptr);
  relayvm_run_cancel(nullptr);
  CHECK(relayvm_run_id(nullptr) == 0);
  relayvm_run_free(nullptr);
  relayvm_run_group* group = nullptr;
  relayvm_run_group_stats group_stats{sizeof(group_stats)};
  refused(relayvm_scheduler_make_group(nullptr, nullptr, &group));
  refused(relayvm_scheduler_make_group(nullptr, nullptr, nullptr));
  refused(relayvm_scheduler_get_group_stats(nullptr, nullptr, &group_stats));
  refused(relayvm_scheduler_get_group_stats(nullptr, nullptr, nullptr));
  refused(relayvm_scheduler_drain(nullptr, 0));
  relayvm_run_group_free(nullptr);
  CHECK(relayvm_latency_bound(0) == 1000);
  walk.Add("relayvm_latency_bound");
  for (const char* name :
       {"create", "run", "get_stats", "free", "make_group", "get_group_stats", "drain"})
    walk.Add(std::string("relayvm_scheduler_") + name);
  for (const char* name : {"cancel", "id", "free", "group_free"})
    walk.Add(std::string("relayvm_run_") + name);
}

void WalkTrace(Walk& walk) {
  static const relayvm_profile_options options = {sizeof(options), 1};
  static relayvm_profile* profile = nullptr;
  static relayvm_profile_report* report = nullptr;
  static relayvm_chrome_trace* trace = nullptr;
  static relayvm_profile_row row{sizeof(row)};
  static relayvm_profile_totals totals{sizeof(totals)};
  static const relayvm_chrome_trace_options trace_options = {sizeof(trace_options)};
  const auto make_profile = [] {
    relayvm_profile* made = nullptr;
    REQUIRE(relayvm_profile_create(&options, &made) == nullptr);
    return made;
  };
  const auto make_trace = [] {
    relayvm_chrome_trace* made = nullptr;
    REQUIRE(relayvm_chrome_trace_create(&trace_options, &made) == nullptr);
    return made;
  };
  profile = make_profile();
  trace = make_trace();
  const auto make_report = [] {
    relayvm_profile_report* made = nullptr;
    REQUIRE(relayvm_profile_read(profile, &made) == nullptr);
    return made;
  };
  report = make_report();
  const auto refused = [](relayvm_status* status) {
    CHECK(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
    relayvm_status_free(status);
  };
  refused(relayvm_profile_create(&options, nullptr));
  refused(relayvm_profile_read(profile, nullptr));
  relayvm_profile_report* none = report;
  refused(relayvm_profile_read(nullptr, &none));
  CHECK(none == nullptr);
  refused(relayvm_chrome_trace_create(&trace_options, nullptr));
  for (const char* name : {"profile_create", "profile_read", "chrome_trace_create"})
    walk.Add(std::string("relayvm_") + name);
  WALK(relayvm_profile_clear, [&] { return std::tuple(profile); });
  WALK(relayvm_profile_report_row, [&] { return std::tuple(report, 0, size_t{0}, &row); });
  WALK(relayvm_profile_report_totals, [&] { return std::tuple(report, &totals); });
  WALK(relayvm_chrome_trace_clear, [&] { return std::tuple(trace); });
  WALK(relayvm_chrome_trace_write, [&] { return std::tuple(trace, "/dev/null"); });
  static const auto take = [](void*, const char*, size_t) {};
  using Take = void (*)(void*, const char*, size_t);
  static int context = 0;
  WALK(relayvm_chrome_trace_json,
       [&] { return std::tuple(trace, Take{take}, static_cast<void*>(&context)); }, {2});
  WALK(relayvm_chrome_trace_num_events, [&] { return std::tuple(trace); });
  WALK(relayvm_chrome_trace_dropped, [&] { return std::tuple(trace); });
  WALK_FREE(relayvm_profile_report_free, make_report);
  WALK_FREE(relayvm_profile_free, make_profile);
  WALK_FREE(relayvm_chrome_trace_free, make_trace);
  relayvm_profile_report_free(report);
  relayvm_chrome_trace_free(trace);
  relayvm_profile_free(profile);
}

void WalkDevice(Walk& walk, Fixture& f) {
  static relayvm_device* device = nullptr;
  const auto refused = [](relayvm_status* status) {
    CHECK(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
    CHECK(device == nullptr);
    relayvm_status_free(status);
  };
  relayvm_device_functions functions{sizeof(functions)};
  refused(relayvm_device_create(nullptr, &device));
  refused(relayvm_device_create(&functions, nullptr));
  refused(relayvm_device_create(&functions, &device));
  refused(relayvm_value_device(nullptr, &device));
  refused(relayvm_value_device(f.value, nullptr));
  for (const char* name : {"device_create", "value_device"})
    walk.Add(std::string("relayvm_") + name);
  // Of which nothing is called.
  functions.name = "idle";
  for (size_t at = offsetof(relayvm_device_functions, load);
       at < offsetof(relayvm_device_functions, release); at += sizeof(void*)) {
    void (*const none)() = [] {};
    std::memcpy(reinterpret_cast<char*>(&functions) + at, &none, sizeof(none));
  }
  const auto make = [&] {
    REQUIRE(relayvm_device_create(&functions, &device) == nullptr);
    return std::exchange(device, nullptr);
  };
  WALK_FREE(relayvm_device_free, make);
  relayvm_device* const host = make();
  WALK(relayvm_device_name, [&] { return std::tuple(host); });
  WALK(relayvm_value_device_data, [&] { return std::tuple(f.value); });
  WALK(relayvm_runtime_copy_to,
       [&] {
         return std::tuple(f.runtime, f.value, static_cast<const relayvm_device*>(nullptr),
                           &f.out_value);
       },
       {2});
  WALK(
      relayvm_invocation_set_output_device,
      [&] { return std::tuple(f.invocation, size_t{0}, static_cast<const relayvm_device*>(host)); },
      {2});
  relayvm_invocation_set_output_device(f.invocation, 0, nullptr);
  relayvm_device_free(host);
}

TEST_CASE("c api: each function with NULL in the place of each pointer") {
  Fixture fixture;
  Walk walk(fixture);
  WalkStatusAndRuntime(walk, fixture);
  WalkExecutable(walk, fixture);
  WalkValue(walk, fixture);
  WalkInvocation(walk, fixture);
  WalkHostCall(walk, fixture);
  WalkScheduler(walk);
  WalkTrace(walk);
  WalkDevice(walk, fixture);
  std::set<std::string> declared = DeclaredFunctions(RELAYVM_VM_FOLDER "/api/c_api.h");
  declared.merge(DeclaredFunctions(RELAYVM_VM_FOLDER "/api/c_api_device.h"));
  declared.merge(DeclaredFunctions(RELAYVM_VM_FOLDER "/api/c_api_host.h"));
  declared.merge(DeclaredFunctions(RELAYVM_VM_FOLDER "/api/c_api_scheduler.h"));
  declared.merge(DeclaredFunctions(RELAYVM_VM_FOLDER "/api/c_api_trace.h"));
  CHECK(walk.names() == declared);
  CHECK(walk.names().size() > 80);
}

}  // namespace
}  // namespace relayvm

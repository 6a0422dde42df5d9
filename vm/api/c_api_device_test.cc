// Devices of the C API: a program on one that is a struct of functions, values on it, and what is
// refused.
#include "vm/api/c_api_device.h"

#include "bytecode/writer.h"
#include "vm/device/programs_testing.h"

namespace relayvm {
namespace {

using testing::Contains;
using testing::Fenced;
using testing::FencedDevice;
using testing::kKernels;
using testing::OnDevice;

// The fenced device as a C host writes one. Its release counts.
struct Hosted {
  std::shared_ptr<FencedDevice> device = Fenced();
  std::string message;  // of the failure that was asked for last
  bool refuses_queues = false;
  int released = 0;
};
Hosted& Self(void* user) { return *static_cast<Hosted*>(user); }
DeviceQueue& Queue(void* queue) { return *static_cast<DeviceQueue*>(queue); }

relayvm_device_functions FunctionsOf(Hosted* hosted) {
  relayvm_device_functions f{sizeof(f), "fenced", hosted};
  f.load = [](void* user, const void* image, size_t bytes, void** out) -> relayvm_status* {
    auto made = Self(user).device->Load({static_cast<const uint8_t*>(image), bytes});
    REQUIRE(made.ok());
    *out = made->release();
    return nullptr;
  };
  f.unload = [](void*, void* image) { delete static_cast<DeviceImage*>(image); };
  f.find_kernel = [](void*, void* image, const char* name, uint64_t entry) {
    return static_cast<DeviceImage*>(image)->Find(name, entry);
  };
  f.create_queue = [](void* user, void** out) -> relayvm_status* {
    if (Self(user).refuses_queues)
      return relayvm_status_create(RELAYVM_RESOURCE_EXHAUSTED, "no more queues");
    *out = Self(user).device->NewQueue()->release();
    return nullptr;
  };
  f.free_queue = [](void*, void* queue) { delete &Queue(queue); };
  f.allocate = [](void*, void* queue, size_t bytes) { return Queue(queue).Allocate(bytes); };
  f.free = [](void*, void* queue, void* memory) { Queue(queue).Free(memory); };
  f.keep = [](void*, void* queue, void* memory) { Queue(queue).Keep(memory); };
  f.free_kept = [](void* user, void* memory) { Self(user).device->Free(memory); };
  f.launch = [](void*, void* queue, const relayvm_device_launch* l) {
    CHECK(l->struct_size == sizeof(*l));
    Queue(queue).Launch({l->kernel,
                         {l->buffers, l->num_buffers},
                         {l->scalars, l->num_scalars},
                         l->units,
                         l->grain,
                         l->scratch_bytes,
                         l->tag});
  };
  f.copy_in = [](void*, void* queue, void* to, const void* from, size_t bytes) {
    Queue(queue).CopyIn(to, from, bytes);
  };
  f.copy_out = [](void*, void* queue, void* to, const void* from, size_t bytes) {
    Queue(queue).CopyOut(to, from, bytes);
  };
  f.notify = [](void*, void* queue, void (*done)(void*), void* context) {
    Queue(queue).Notify([=] { done(context); });
  };
  f.get_failure = [](void* user, void* queue, relayvm_device_failure* failure) {
    const DeviceFailure failed = Queue(queue).failure();
    CHECK(failure->struct_size == sizeof(*failure));
    Self(user).message = failed.message;
    failure->code = failed.code;
    failure->tag = failed.tag;
    failure->fault = failed.fault;
    failure->message = Self(user).message.c_str();
  };
  f.reset = [](void*, void* queue) { Queue(queue).Reset(); };
  f.release = [](void* user) { ++Self(user).released; };
  f.dlpack_type = 12;
  f.dlpack_id = 3;
  return f;
}

void Good(relayvm_status* status) {
  const std::string message = status == nullptr ? "" : relayvm_status_message(status);
  REQUIRE_MESSAGE(status == nullptr, message);
}
void Fails(relayvm_status* status, int code, const char* text) {
  REQUIRE(status != nullptr);
  CHECK(relayvm_status_code(status) == code);
  CHECK_MESSAGE(Contains(relayvm_status_message(status), text), relayvm_status_message(status));
  relayvm_status_free(status);
}

struct Session {
  Hosted hosted;
  relayvm_device* device = nullptr;
  relayvm_runtime* runtime = nullptr;
  relayvm_invocation* invocation = nullptr;
  relayvm_value* x = nullptr;

  explicit Session(const std::string& code) {
    const relayvm_device_functions functions = FunctionsOf(&hosted);
    Good(relayvm_device_create(&functions, &device));
    relayvm_runtime_options options{sizeof(options)};
    options.devices = &device;
    options.num_devices = 1;
    Good(relayvm_runtime_create(&options, &runtime));
    const auto bytes = SerializeProgram(*Assemble(OnDevice(code)));
    REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
    std::vector<relayvm_host_kernel> kernels;
    for (const Builtin& kernel : kKernels) kernels.push_back({kernel.name.data(), kernel.fn});
    relayvm_load_options load{sizeof(load)};
    load.kernels = kernels.data();
    load.num_kernels = kernels.size();
    relayvm_executable* executable = nullptr;
    Good(relayvm_executable_load_memory(bytes->data(), bytes->size(), &load, &executable));
    Good(relayvm_invocation_create(runtime, executable, nullptr, &invocation));
    relayvm_executable_free(executable);
    const int64_t dims[] = {4}, numbers[] = {1, 2, 3, 4};
    Good(relayvm_value_tensor(RELAYVM_INT64, dims, 1, numbers, &x));
  }
  ~Session() {
    relayvm_value_free(x);
    relayvm_invocation_free(invocation);
    relayvm_runtime_free(runtime);
    relayvm_device_free(device);
    CHECK(hosted.released == 1);
    CHECK(hosted.device->bytes_in_use() == 0);
  }

  void CheckThere(const relayvm_value* value, std::initializer_list<int64_t> expected) const {
    relayvm_device* on = nullptr;
    Good(relayvm_value_device(value, &on));
    CHECK(std::string(relayvm_device_name(on)) == "fenced");
    relayvm_device_free(on);
    CHECK(relayvm_value_data(value) == nullptr);
    CHECK(relayvm_value_device_data(value) != nullptr);
    relayvm_value* copy = nullptr;
    Good(relayvm_runtime_copy_to(runtime, value, nullptr, &copy));
    const auto* data = static_cast<const int64_t*>(relayvm_value_data(copy));
    CHECK(std::vector<int64_t>(data, data + 4) == std::vector<int64_t>(expected));
    relayvm_value_free(copy);
  }
};

constexpr const char* kOnThere = R"(
  tensor.copy r1, r0!, 1
  tensor.static r2, t0
  kernel.1 k0, [i0, i1], [r1!, r2]
  tensor.copy r5, r2!, 0
  ret.r r5!
)";

TEST_CASE("c api: a device of a host's functions, and values on it") {
  Session s(kOnThere);
  relayvm_value *there = nullptr, *result = nullptr;
  Good(relayvm_runtime_copy_to(s.runtime, s.x, s.device, &there));
  s.CheckThere(there, {1, 2, 3, 4});
  Good(relayvm_invocation_set_output_device(s.invocation, 0, s.device));
  for (int64_t i = 1; i <= 5; ++i) {
    const uint64_t before = s.hosted.device->copies();
    if (i % 2 == 1) Good(relayvm_invocation_run(s.invocation, "main", &there, 1, &result));
    if (i % 2 == 0) {
      const char *const input = "x", *const output = "output_0";
      Good(relayvm_invocation_run_named(s.invocation, "main", &input, &there, 1, &output, 1,
                                        &result));
    }
    CHECK(s.hosted.device->copies() == before);
    s.CheckThere(result, {10 * i + 1, 10 * i + 2, 10 * i + 3, 10 * i + 4});
    relayvm_value_free(there);
    there = result;
  }
  // A buffer for it too; and on the host again.
  int64_t buffer[4];
  const int64_t dims[] = {4};
  const relayvm_output output{buffer, dims, 1, RELAYVM_INT64};
  Fails(relayvm_invocation_run_into(s.invocation, "main", &s.x, 1, &output, 1, &result),
        RELAYVM_INVALID_ARGUMENT, "a buffer and a device");
  Good(relayvm_invocation_set_output_device(s.invocation, 0, nullptr));
  Good(relayvm_invocation_run_into(s.invocation, "main", &there, 1, &output, 1, nullptr));
  CHECK(buffer[3] == 64);
  for (const size_t output_of_none : {7, 65534}) {
    Good(relayvm_invocation_set_output_device(s.invocation, output_of_none, s.device));
    Fails(relayvm_invocation_run(s.invocation, "main", &s.x, 1, &result), RELAYVM_INVALID_ARGUMENT,
          ("main: output " + std::to_string(output_of_none) +
           " is to be left on device 'fenced', of 1 outputs")
              .c_str());
    Good(relayvm_invocation_set_output_device(s.invocation, output_of_none, nullptr));
  }
  Good(relayvm_invocation_run(s.invocation, "main", &s.x, 1, &result));
  relayvm_value_free(result);
  Fails(relayvm_invocation_set_output_device(s.invocation, SIZE_MAX, s.device),
        RELAYVM_INVALID_ARGUMENT, "expected one below 65535");
  relayvm_value_free(there);
}

TEST_CASE("c api: DLPack to and from a device of the runtime") {
  Session s(kOnThere);
  relayvm_value *there = nullptr, *back = nullptr;
  Good(relayvm_runtime_copy_to(s.runtime, s.x, s.device, &there));
  DLManagedTensorVersioned* tensor = nullptr;
  Good(relayvm_value_to_dlpack(there, &tensor));
  CHECK(tensor->dl_tensor.device.device_type == 12);
  CHECK(tensor->dl_tensor.device.device_id == 3);
  CHECK(tensor->dl_tensor.data == relayvm_value_device_data(there));
  relayvm_value_free(there);
  Good(relayvm_runtime_from_dlpack(s.runtime, tensor, &back));
  s.CheckThere(back, {1, 2, 3, 4});
  const uint64_t before = s.hosted.device->copies();
  relayvm_value* result = nullptr;
  Good(relayvm_invocation_run(s.invocation, "main", &back, 1, &result));
  CHECK(s.hosted.device->copies() == before + 1);  // of the result
  CHECK(static_cast<const int64_t*>(relayvm_value_data(result))[0] == 11);
  relayvm_value_free(result);
  // Another of that kind, one without a runtime, and what the runtime cannot take as it is.
  Good(relayvm_value_to_dlpack(back, &tensor));
  tensor->dl_tensor.device.device_id = 4;
  Fails(
      relayvm_runtime_from_dlpack(s.runtime, tensor, &there), RELAYVM_UNSUPPORTED,
      "memory of device type 12, number 4; copy it to the CPU first, or give it to a runtime that "
      "has the device; this one has 'fenced' (device type 12, number 3)");
  Good(relayvm_value_to_dlpack(back, &tensor));
  tensor->dl_tensor.device = {static_cast<DLDeviceType>(2), 1};
  Fails(relayvm_value_from_dlpack(tensor, &there), RELAYVM_UNSUPPORTED,
        "memory of device type 2 (CUDA), number 1; copy it to the CPU first");
  Good(relayvm_value_to_dlpack(back, &tensor));
  tensor->dl_tensor.byte_offset = 8;
  tensor->dl_tensor.shape[0] = 2;
  Fails(relayvm_runtime_from_dlpack(s.runtime, tensor, &there), RELAYVM_UNSUPPORTED,
        "not 64-byte aligned");
  Good(relayvm_value_to_dlpack(back, &tensor));
  tensor->dl_tensor.strides[0] = 2;
  tensor->dl_tensor.shape[0] = 2;
  Fails(relayvm_runtime_from_dlpack(s.runtime, tensor, &there), RELAYVM_UNSUPPORTED,
        "with strides");
  CHECK(there == nullptr);
  relayvm_value_free(back);
}

TEST_CASE("c api: devices that lack functions, of other sizes, or that fail") {
  Hosted hosted;
  relayvm_device* device = nullptr;
  const relayvm_device_functions whole = FunctionsOf(&hosted);
  // Each word that is a pointer but user and release.
  int missing = 0;
  for (size_t at = 8; at + 16 <= sizeof(whole); at += 8) {
    if (at == offsetof(relayvm_device_functions, user) ||
        at == offsetof(relayvm_device_functions, release))
      continue;
    relayvm_device_functions without = whole;
    std::memset(reinterpret_cast<char*>(&without) + at, 0, 8);
    Fails(relayvm_device_create(&without, &device), RELAYVM_INVALID_ARGUMENT, "is NULL");
    ++missing;
  }
  CHECK(missing == 16);
  relayvm_device_functions sized = whole;
  sized.struct_size = 8;
  Fails(relayvm_device_create(&sized, &device), RELAYVM_INVALID_ARGUMENT, "struct_size");
  sized.struct_size = 0;
  Fails(relayvm_device_create(&sized, &device), RELAYVM_INVALID_ARGUMENT, "struct_size");
  for (const int32_t of_host : {1, 3}) {
    relayvm_device_functions numbered = whole;
    numbered.dlpack_type = of_host;
    Fails(relayvm_device_create(&numbered, &device), RELAYVM_INVALID_ARGUMENT,
          "is memory of the host");
  }
  CHECK(hosted.released == 0);  // never taken over

  relayvm_runtime* runtime = nullptr;
  relayvm_runtime_options options{sizeof(options)};
  options.num_devices = 1;
  Fails(relayvm_runtime_create(&options, &runtime), RELAYVM_INVALID_ARGUMENT, "devices is NULL");
  options.devices = &device;
  Fails(relayvm_runtime_create(&options, &runtime), RELAYVM_INVALID_ARGUMENT, "device 0 is NULL");

  Session s(kOnThere);
  relayvm_value* there = nullptr;
  s.hosted.refuses_queues = true;
  Fails(relayvm_runtime_copy_to(s.runtime, s.x, s.device, &there), RELAYVM_RESOURCE_EXHAUSTED,
        "device: create_queue: no more queues");
  s.hosted.refuses_queues = false;
  s.hosted.device->FailCopies(true);
  Fails(relayvm_runtime_copy_to(s.runtime, s.x, s.device, &there), RELAYVM_INTERNAL,
        "device 'fenced': a copy failed");
  Fails(relayvm_invocation_run(s.invocation, "main", &s.x, 1, &there), RELAYVM_INTERNAL,
        "a copy failed");
  s.hosted.device->FailCopies(false);
  // One that the runtime has not.
  relayvm_device* other = nullptr;
  Hosted more;
  relayvm_device_functions named = FunctionsOf(&more);
  named.name = "other";
  Good(relayvm_device_create(&named, &other));
  Fails(relayvm_runtime_copy_to(s.runtime, s.x, other, &there), RELAYVM_INVALID_ARGUMENT,
        "has not device 'other'");
  Good(relayvm_invocation_set_output_device(s.invocation, 0, other));
  Fails(relayvm_invocation_run(s.invocation, "main", &s.x, 1, &there), RELAYVM_INVALID_ARGUMENT,
        "has not device 'other', of output 0");
  relayvm_device_free(other);
}

}  // namespace
}  // namespace relayvm

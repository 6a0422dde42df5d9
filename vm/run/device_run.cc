#include "vm/run/device_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/instruction.h"
#include "vm/border/output_places.h"
#include "vm/border/shared_object.h"
#include "vm/border/value.h"
#include "vm/run/linked_program.h"
#include "vm/run/places.h"

namespace relayvm::vm {
namespace {

// What the run does not free: an input's memory, or a value's.
DevicePlace kBorrowed{[](DevicePlace*, Heap&, Tensor*) {}};

Tensor* ConstantOn(const Tensor& host, uint8_t device, void* data) {
  auto* tensor = static_cast<Tensor*>(std::aligned_alloc(64, TensorHeaderBytes(host.rank)));
  if (tensor == nullptr) OutOfMemory();
  new (&tensor->count) std::atomic<uint32_t>(kUncounted);
  tensor->kind = ObjectKind::kDeviceTensor;
  tensor->home = Home::kImmortal;
  tensor->dtype = host.dtype;
  tensor->rank = host.rank;
  tensor->data = static_cast<char*>(data);
  tensor->capacity = host.capacity;
  tensor->device = device;
  tensor->storage_code = static_cast<uint8_t>(Storage::kExternal);
  tensor->external = nullptr;
  std::copy_n(host.dims, host.rank, tensor->dims);
  return tensor;
}

[[gnu::cold]] Status LoadKernels(const Program& program, uint8_t device, ProgramOnDevices::On* on) {
  size_t image = 0;
  while (image < program.images.size() && program.images[image].device != device) ++image;
  const bool has_image = image < program.images.size();
  RELAYVM_ASSIGN_OR_RETURN(
      on->image,
      on->device->device->Load(has_image ? program.images[image].elf : std::span<const uint8_t>()));
  on->kernels = std::make_unique<const void*[]>(program.kernels.size());
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const KernelInfo& kernel = program.kernels[k];
    const void*& found = on->kernels[k];
    if (kernel.device != device) continue;
    found = on->image->Find(kernel.name, kernel.builtin ? UINT64_MAX : kernel.entries[image]);
    if (found == nullptr) {
      return {StatusCode::kUnsupported,
              fmt::format("the program needs kernel '{}', which device '{}' has not", kernel.name,
                          program.devices[device - 1])};
    }
  }
  return OkStatus();
}

[[gnu::cold]] Status PlaceProgram(const Program& program, const LinkedProgram& linked,
                                  ProgramOnDevices* placed) {
  placed->constants = std::make_unique<Tensor*[]>(linked.constants.size());
  std::ranges::copy(linked.constants, placed->constants.get());
  for (size_t i = 0; i < placed->num_devices; ++i) {
    const auto device = static_cast<uint8_t>(i + 1);
    ProgramOnDevices::On& on = placed->on[i];
    RELAYVM_RETURN_IF_ERROR(LoadKernels(program, device, &on));
    RELAYVM_ASSIGN_OR_RETURN(on.queue, on.device->device->NewQueue());
    for (size_t c = 0; c < linked.constants.size(); ++c) {
      if (program.constants[c].device != device) continue;
      const Tensor& host = *linked.constants[c];
      void* const data = on.queue->Allocate(std::max<size_t>(host.capacity, 1));
      if (data == nullptr) {
        return {
            StatusCode::kResourceExhausted,
            fmt::format("device '{}' has no memory for constant {}", on.device->device->name(), c)};
      }
      Tensor*& own = placed->own.emplace_back(nullptr);
      own = placed->constants[c] = ConstantOn(host, device, data);
      if (host.capacity > 0) on.queue->CopyIn(data, host.data, host.capacity);
    }
    Await(*on.queue);
  }
  return OkStatus();
}

}  // namespace

ProgramOnDevices::~ProgramOnDevices() {
  for (Tensor* constant : own) std::free(constant);
  for (size_t i = 0; i < num_devices; ++i) {
    if (on[i].queue == nullptr) continue;
    Await(*on[i].queue);
    on[i].queue->Reset();
  }
}

DeviceRun::~DeviceRun() = default;

[[gnu::cold]] Result<std::unique_ptr<DeviceRun>> DeviceRun::Create(const Executable& executable,
                                                                   RuntimeDevices devices) {
  const Program& program = executable.program();
  const LinkedProgram& linked = executable.linked();
  const auto num_devices = static_cast<uint8_t>(program.devices.size());
  auto placed = std::make_shared<ProgramOnDevices>();
  placed->on = std::make_unique<ProgramOnDevices::On[]>(num_devices);
  for (const std::string& name : program.devices) {
    std::shared_ptr<RuntimeDevice>& found = placed->on[placed->num_devices++].device;
    for (const std::shared_ptr<RuntimeDevice>& on : devices) {
      if (found == nullptr && on->device->name() == name) found = on;
    }
    if (found == nullptr) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("the program needs device '{}', which the runtime has not "
                                "(RuntimeOptions::devices)",
                                name));
    }
  }
  auto run = std::make_unique<DeviceRun>();
  {
    const std::lock_guard lock(linked.placed_mutex);
    const auto same = [&](const ProgramOnDevices& other) {
      return std::equal(
          other.on.get(), other.on.get() + num_devices, placed->on.get(),
          [](const auto& a, const auto& b) { return a.device->device == b.device->device; });
    };
    run->program_ = linked.placed;
    while (run->program_ != nullptr && !same(*run->program_)) run->program_ = run->program_->next;
    if (run->program_ == nullptr) {
      // Those of runtimes that are gone make room.
      for (std::shared_ptr<ProgramOnDevices>* at = &linked.placed; *at != nullptr;) {
        bool is_used = at->use_count() > 1;
        for (size_t i = 0; i < num_devices; ++i) is_used |= (*at)->on[i].device.use_count() > 1;
        if (is_used) {
          at = &(*at)->next;
        } else {
          *at = std::exchange((*at)->next, nullptr);
        }
      }
      RELAYVM_RETURN_IF_ERROR(PlaceProgram(program, linked, placed.get()));
      placed->next = std::move(linked.placed);
      run->program_ = linked.placed = std::move(placed);
    }
  }
  // The executable has them from the first runtime that it ran in: budgets are this one's.
  for (size_t i = 0; i < num_devices; ++i) {
    const Device* const device = run->program_->on[i].device->device.get();
    RELAYVM_RETURN_IF_ERROR(run->AddPlace(FindDevice(devices, device)));
  }
  return run;
}

[[gnu::cold]] Status DeviceRun::AddPlace(const std::shared_ptr<RuntimeDevice>& on) {
  auto place = std::make_unique<Place>();
  place->on = on;
  RELAYVM_ASSIGN_OR_RETURN(place->queue, on->device->NewQueue());
  place->free = [](DevicePlace* self, Heap& heap, Tensor* tensor) {
    auto* const from = static_cast<Place*>(self);
    from->queue->Free(tensor->data);
    heap.RefundTaken(tensor->capacity);
    from->on->budget.Return(tensor->capacity);
    from->drawn -= tensor->capacity;
  };
  places_.push_back(std::move(place));
  return OkStatus();
}

[[gnu::cold]] Result<uint8_t> DeviceRun::Find(const std::shared_ptr<RuntimeDevice>& on) {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i]->on->device == on->device) return static_cast<uint8_t>(i + 1);
  }
  constexpr size_t kMostDevices = 250;
  if (places_.size() >= kMostDevices) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("a run with values of more than {} devices", kMostDevices));
  }
  RELAYVM_RETURN_IF_ERROR(AddPlace(on));
  return static_cast<uint8_t>(places_.size());
}

[[gnu::cold]] Result<Tensor*> DeviceRun::Import(InterpreterContext& context,
                                                const Executable& executable, const Tensor* input,
                                                const std::shared_ptr<RuntimeDevice>& on,
                                                uint8_t wanted) {
  RELAYVM_ASSIGN_OR_RETURN(const uint8_t device, Find(on));
  Heap& heap = *context.heap;
  const auto no_memory = [&] {
    const Failure failure = MemoryFailure(heap, "an input on a device", input->bytes());
    return Status(failure.code, failure.message);
  };
  Tensor* const there = NewDeviceTensor(heap, input->dtype, input->shape(), device, &kBorrowed,
                                        input->data, input->capacity);
  if (there == nullptr) return no_memory();
  Retain(there);  // no instruction may take it for its own
  RetainShared(const_cast<Tensor*>(input));
  shared_.emplace_back(there, Value::Adopt(const_cast<Tensor*>(input)));
  if (wanted == device || wanted == kNowhere) return there;
  Tensor* const host = vm::NewTensor(heap, input->dtype, input->rank, input->bytes());
  if (host == nullptr) return no_memory();
  std::ranges::copy(input->shape(), host->dims);
  const StatusCode code = CopyOut(context, host, there);
  if (code != StatusCode::kOk) return Status(code, InterruptMessage(code));
  RELAYVM_RETURN_IF_ERROR(StatusOf(executable, heap, context.strings, device));
  return host;
}

[[gnu::cold]] Result<Tensor*> DeviceRun::Share(Tensor* tensor) {
  for (const auto& [from, value] : shared_) {
    if (from == tensor) return static_cast<Tensor*>(value.object());
  }
  auto memory = std::make_unique<DeviceMemory>();
  Place& place = *places_[tensor->device - 1];
  memory->on = place.on;
  if (tensor->home == Home::kImmortal) {
    memory->owner = program_;
  } else if (tensor->storage() == Storage::kView) {
    RELAYVM_ASSIGN_OR_RETURN(Tensor* const owner, Share(tensor->owner));
    RetainShared(owner);
    memory->owner = std::make_shared<Value>(Value::Adopt(owner));
  }
  shared_.reserve(shared_.size() + 1);
  DeviceMemory& made = *memory;
  Tensor* const shared =
      NewSharedDeviceTensor(tensor->dtype, tensor->shape(), tensor->data, std::move(memory));
  if (shared == nullptr) return Status::OutOfMemory();
  // It leaves the queue once nothing can fail: what is under way there uses it.
  if (made.owner == nullptr) {
    place.queue->Keep(tensor->data);
    made.kept = tensor->data;
    made.room = tensor->capacity;
    place.drawn -= tensor->capacity;
    tensor->place = &kBorrowed;
  }
  shared_.emplace_back(tensor, Value::Adopt(shared));
  return shared;
}

[[gnu::cold]] Result<Tensor*> DeviceRun::Export(InterpreterContext& context, Tensor* tensor,
                                                const std::shared_ptr<RuntimeDevice>& to) {
  RELAYVM_ASSIGN_OR_RETURN(const uint8_t device, Find(to));
  Heap& heap = *context.heap;
  if (tensor->device == device) return Share(tensor);
  const auto no_memory = [](const Failure& why) { return Status(why.code, why.message); };
  Tensor* host = tensor;
  if (tensor->device != 0) {
    host = vm::NewTensor(heap, tensor->dtype, tensor->rank, tensor->bytes());
    if (host == nullptr) return no_memory(MemoryFailure(heap, "the result", tensor->bytes()));
    std::ranges::copy(tensor->shape(), host->dims);
    const StatusCode code = CopyOut(context, host, tensor);
    if (code != StatusCode::kOk) return Status(code, InterruptMessage(code));
  }
  Tensor* const made = NewTensor(heap, device, tensor->dtype, tensor->shape(), tensor->bytes());
  if (made == nullptr) return no_memory(NoMemory(heap, device, "the result", tensor->bytes()));
  CopyIn(made, host);
  return Share(made);
}

Tensor* DeviceRun::NewTensor(Heap& heap, uint8_t device, DType dtype, std::span<const int64_t> dims,
                             size_t bytes) {
  Place& place = *places_[device - 1];
  const size_t room = DeviceRoom(bytes);
  refusal_ = Refusal::kHeap;
  if (!heap.ChargeTaken(room)) return nullptr;
  refusal_ = Refusal::kLimit;
  if (!place.on->budget.Draw(room)) return nullptr;
  place.drawn += room;
  refusal_ = Refusal::kDevice;
  void* const data = place.queue->Allocate(room);
  if (data == nullptr) return nullptr;
  refusal_ = Refusal::kHeap;
  return NewDeviceTensor(heap, dtype, dims, device, &place, data, room);
}

[[gnu::cold]] Failure DeviceRun::NoMemory(const Heap& heap, uint8_t device, const std::string& what,
                                          size_t bytes) const {
  const RuntimeDevice& on = *places_[device - 1]->on;
  if (refusal_ == Refusal::kHeap)
    return MemoryFailure(heap, fmt::format("{} on device '{}'", what, on.device->name()), bytes);
  return {StatusCode::kResourceExhausted, NoRoom(on, what, refusal_ == Refusal::kLimit)};
}

void DeviceRun::Launch(uint8_t device, uint32_t kernel, DeviceLaunch launch,
                       const KernelEvent* traced) {
  Place& place = *places_[device - 1];
  launch.kernel = program_->on[device - 1].kernels[kernel];
  place.queue->Launch(launch);
  ++place.queued;
  if (traced == nullptr) return;
  Traced* const told = &place.traced.emplace_back(*traced);
  told->event.device = place.on->device->name();
  place.queue->Notify([told] { told->end_ns = NowNanoseconds(); });
}

void DeviceRun::CopyIn(Tensor* to, Tensor* from) {
  Place& place = *places_[to->device - 1];
  if (from->bytes() == 0) return;
  place.sources.push_back(from);
  Retain(from);
  place.queue->CopyIn(to->data, from->data, from->bytes());
  ++place.queued;
}

StatusCode DeviceRun::CopyOut(InterpreterContext& context, Tensor* to, const Tensor* from) {
  Place& place = *places_[from->device - 1];
  if (from->bytes() > 0) place.queue->CopyOut(to->data, from->data, from->bytes());
  return Wait(context, from->device);
}

StatusCode DeviceRun::Wait(InterpreterContext& context, uint8_t device, bool ends) {
  Place& place = *places_[device - 1];
  const uint64_t call = ++context.host_calls;
  place.wait = context.wait;
  // Small enough to take no memory: the end of a run must not fail.
  const auto tell = [to = &place, call] {
    const std::shared_ptr<WaitState> wait = to->wait;  // the run may be gone once it is told
    to->done.store(call, std::memory_order_release);
    wait->Wake(call);
  };
  static_assert(sizeof(tell) <= 2 * sizeof(uint64_t));
  place.queue->Notify(tell);
  context.ends = ends;
  while (place.done.load(std::memory_order_acquire) != call) {
    context.waiting_call = call;
    context.wait_time = ends ? INT64_MAX : context.deadline;
    context.yield(context.yield_context);
    context.waiting_call = 0;
    if (ends) continue;
    const StatusCode reason = Interrupted(static_cast<const Interrupts&>(context));
    if (reason != StatusCode::kOk) return reason;
  }
  place.queued = 0;
  for (Traced& traced : place.traced) {
    traced.event.end_ns = traced.end_ns;
    context.trace->OnKernel(traced.event);
  }
  place.traced.clear();
  for (Tensor* source : place.sources) Release(*context.heap, source);
  place.sources.clear();
  return StatusCode::kOk;
}

StatusCode DeviceRun::WaitForCopies(InterpreterContext& context) {
  StatusCode code = StatusCode::kOk;
  for (size_t i = 0; i < places_.size() && code == StatusCode::kOk; ++i)
    if (!places_[i]->sources.empty()) code = Wait(context, static_cast<uint8_t>(i + 1));
  return code;
}

[[gnu::cold]] Status DeviceRun::StatusOf(const Executable& executable, const Heap& heap,
                                         const StringTable* strings, uint8_t device) const {
  const DeviceFailure failed = failure(device);
  if (failed.code == RELAYVM_KERNEL_OK) return OkStatus();
  const std::string where = fmt::format("(device '{}')", this->device(device).name());
  const Program& program = executable.program();
  const auto index = static_cast<uint32_t>(failed.tag >> 32),
             pc = static_cast<uint32_t>(failed.tag) - 1;
  const FunctionInfo* const function =
      index < program.functions.size() ? &program.functions[index] : nullptr;
  // What is no tag of ours is a copy's.
  Instruction launch;
  if (function == nullptr || pc >= function->code_size ||
      !DecodeInstruction(program.code, function->code_offset + pc, &launch).ok() ||
      launch.info->operands[0] != OperandKind::KERNEL) {
    return {failed.code == RELAYVM_KERNEL_OUT_OF_MEMORY ? StatusCode::kResourceExhausted
                                                        : StatusCode::kInternal,
            fmt::format("a copy failed with code {} {} {}", failed.code, where, failed.message)};
  }
  const KernelInfo& kernel = program.kernels[launch.Unit(0)];
  Failure failure =
      KernelFailure(heap, strings, kernel.name, failed.code, StatusCode::kOk, failed.fault);
  failure.message += " " + where + " " + failed.message;
  std::vector<StatusPlace> places(1);
  places[0] = PlaceIn(program, index, pc, failure.check);
  return MakeStatus(std::move(failure), std::move(places), 0);
}

Status DeviceRun::End(InterpreterContext& context, const Executable& executable) {
  const size_t count = places_.size();
  for (size_t i = 0; i < count; ++i) Wait(context, static_cast<uint8_t>(i + 1), /*ends=*/true);
  Status status;
  for (size_t i = 0; i < count; ++i) {
    if (status.ok()) {
      status = Guarded([&] {
        return StatusOf(executable, *context.heap, context.strings, static_cast<uint8_t>(i + 1));
      });
    }
    places_[i]->queue->Reset();
    places_[i]->on->budget.Return(std::exchange(places_[i]->drawn, 0));
  }
  shared_.clear();
  return status;
}

}  // namespace relayvm::vm

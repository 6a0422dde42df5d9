// Instructions on tensors of devices: memory, launches, copies.
#include <fmt/format.h>

#include <utility>

#include "vm/border/output_places.h"
#include "vm/run/device_run.h"
#include "vm/run/interpreter_dispatch.h"
#include "vm/run/interpreter_impl.h"
#include "vm/trace/sampling.h"

namespace relayvm::vm {

Tensor* Interpreter::NewOnDevice(Frame* frame, const uint16_t* pc, uint8_t device, DType dtype,
                                 std::span<const int64_t> dims, int64_t bytes) {
  Tensor* tensor =
      context_.devices->NewTensor(heap_, device, dtype, dims, static_cast<size_t>(bytes));
  if (tensor != nullptr) return tensor;
  Fail(frame, pc,
       context_.devices->NoMemory(heap_, device, TensorText(bytes, dims),
                                  static_cast<size_t>(bytes)));
  return nullptr;
}

bool Interpreter::CheckDevice(Frame* frame, const uint16_t* pc, uint8_t device, StatusCode code) {
  if (code != StatusCode::kOk) return Fail(frame, pc, code, InterruptMessage(code));
  error_ = context_.devices->StatusOf(executable_, heap_, context_.strings, device);
  return error_.ok();
}

const uint16_t* Interpreter::LaunchKernel(Frame* frame, const uint16_t* pc) {
  const bool ranged = *pc == static_cast<uint16_t>(Opcode::kKernel);
  const uint16_t* scalar_args = pc + (ranged ? 6 : 3);
  const uint32_t num_scalars = scalar_args[-1];
  const uint16_t* buffers = scalar_args + num_scalars + 1;
  const uint32_t num_buffers = buffers[-1];
  Object** objects = frame->objects();
  const uint64_t* registers = frame->scalars();
  // The dispatch loop has gathered the scalars.
  auto* scalars =
      reinterpret_cast<int64_t*>(reinterpret_cast<char*>(frame) + frame->function->frame_bytes);
  auto** block = reinterpret_cast<void**>(scalars + num_scalars);
  for (uint32_t i = 0; i < num_buffers; ++i) {
    const uint16_t index = buffers[2 * i + 1];
    const auto kind = static_cast<BufferKind>(buffers[2 * i] & 0xFF);
    if (kind == BufferKind::kSlot) continue;  // a kernel of the host: the check fails
    const Object* object = kind == BufferKind::kRegister ? objects[index] : constants_[index];
    if (!IsTensor(object)) {
      FailKind(frame, pc, ObjectKind::kTensor, object);
      return nullptr;
    }
    block[i] = static_cast<const Tensor*>(object)->data;
  }
  if (!CheckKernelCall(frame, pc, buffers, scalars)) return nullptr;
  DeviceLaunch launch{};
  launch.buffers = {block, num_buffers};
  launch.scalars = {scalars, num_scalars};
  launch.units = ranged ? Signed(registers[pc[2]]) : 1;
  launch.grain = ranged ? Signed(registers[pc[3]]) : 1;
  launch.scratch_bytes = ranged ? Signed(registers[pc[4]]) : 0;
  launch.tag =
      DeviceRun::TagOf(frame->function->index, static_cast<uint32_t>(pc - frame->function->code));
  if (launch.units < 0 || launch.units > UINT32_MAX) {
    Fail(frame, pc,
         CallFailure(heap_, executable_.program().kernels[pc[1]].name, launch.units, 0, 1));
    return nullptr;
  }
  const uint8_t device = executable_.program().kernels[pc[1]].device;
  DeviceRun& devices = *context_.devices;
  const bool is_traced = context_.trace != nullptr && kernel_interval_ != 0 && --until_sample_ == 0;
  KernelEvent event{};
  if (is_traced) {
    until_sample_ = DistanceToSample(kernel_interval_, &context_.sampling);
    event = {pc[1],
             executable_.program().kernels[pc[1]].name,
             NowNanoseconds(),
             0,
             static_cast<uint64_t>(launch.units),
             context_.traced_run(executable_),
             frame->function->index,
             static_cast<uint32_t>(pc - frame->function->code),
             1,
             kernel_interval_};
  }
  devices.Launch(device, pc[1], launch, is_traced ? &event : nullptr);
  if (devices.IsFull(device) && !CheckDevice(frame, pc, device, devices.Wait(context_, device)))
    return nullptr;
  for (uint32_t i = 0; i < num_buffers; ++i) {
    if ((buffers[2 * i] & kTakeBit) != 0)
      Release(heap_, std::exchange(objects[buffers[2 * i + 1]], Empty()));
  }
  return buffers + 2 * num_buffers;
}

bool Interpreter::CopyTensor(Frame* frame, const uint16_t* pc) {
  Object*& source = frame->objects()[pc[2] & kRegisterMask];
  if (!IsTensor(source)) return FailKind(frame, pc, ObjectKind::kTensor, source);
  auto* const from = static_cast<Tensor*>(source);
  const auto to_device = static_cast<uint8_t>(pc[3]);
  Tensor* made = from;
  // Nor is a result copied that stays there; calls of the same function are others' results.
  const bool stays = to_device == 0 && from->device != 0 && context_.places != nullptr &&
                     reinterpret_cast<char*>(frame) == context_.stack->begin() &&
                     context_.places->Stays(pc, context_.devices->device(from->device));
  if (to_device == from->device || stays) {
    Retain(from);
  } else if (from->dtype == DType::kString) {
    return Fail(frame, pc, StatusCode::kUnsupported, "strings on a device");
  } else {
    DeviceRun& devices = *context_.devices;
    const std::span<const int64_t> dims = from->shape();
    const auto bytes = static_cast<int64_t>(from->bytes());
    if (from->device != 0) {
      Tensor* host = NewTensor(heap_, from->dtype, from->rank, from->bytes());
      if (host == nullptr)
        return FailMemory(frame, pc, TensorText(bytes, dims).c_str(), from->bytes());
      std::ranges::copy(dims, host->dims);
      if (!CheckDevice(frame, pc, from->device, devices.CopyOut(context_, host, from)))
        return false;
      made = host;
    }
    if (to_device != 0) {
      Tensor* const host = made;
      made = NewOnDevice(frame, pc, to_device, from->dtype, dims, bytes);
      if (made == nullptr) return false;
      devices.CopyIn(made, host);
      if (host != from) Release(heap_, host);
      if (devices.IsFull(to_device) &&
          !CheckDevice(frame, pc, to_device, devices.Wait(context_, to_device)))
        return false;
    }
    fuel_ -= bytes / kBytesPerFuel;
  }
  if ((pc[2] & kTakeBit) != 0) Release(heap_, std::exchange(source, Empty()));
  Release(heap_, std::exchange(frame->objects()[pc[1]], static_cast<Object*>(made)));
  return true;
}

}  // namespace relayvm::vm

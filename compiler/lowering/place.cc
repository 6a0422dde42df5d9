#include "compiler/lowering/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "compiler/lowering/module_lowering.h"

namespace relayvm::lower {
namespace {

bool IsKernel(const MInst& inst) {
  return !inst.is_label && (inst.op == Opcode::kKernel || inst.op == Opcode::kKernel1);
}

class Placer {
 public:
  Placer(MFunction& f, ModuleLowering& module) : f_(f), module_(module) {}

  Status Run() {
    RELAYVM_RETURN_IF_ERROR(FindMakers());
    std::vector<MInst> code = std::move(f_.code);
    for (MInst& inst : code) {
      if (inst.is_label) {
        copies_.clear();
      } else {
        Place(inst);
        ForEachDef(inst, [&](Bank bank, uint32_t& reg) {
          if (bank == Bank::kObject && definitions_[reg] > 1) Forget(reg);
        });
      }
      placed_.push_back(std::move(inst));
    }
    f_.code = std::move(placed_);
    return OkStatus();
  }

 private:
  const KernelInfo& KernelOf(const MInst& inst) const {
    return module_.kernel_infos()[static_cast<size_t>(inst.operands[0].value)];
  }

  // A tensor is of the kernel that writes it.
  Status FindMakers() {
    devices_.assign(f_.num_objects, 0);
    definitions_.assign(f_.num_objects, 0);
    std::vector<bool> made(f_.num_objects, false);
    for (uint32_t reg = 0; reg < f_.num_object_args; ++reg) definitions_[reg] = 1;
    for (MInst& inst : f_.code) {
      ForEachDef(inst, [&](Bank bank, uint32_t& reg) {
        if (bank == Bank::kObject) ++definitions_[reg];
      });
      if (!IsKernel(inst)) continue;
      const KernelInfo& kernel = KernelOf(inst);
      const std::vector<MBuffer>& buffers = inst.operands.back().buffers;
      for (size_t i = 0; i < buffers.size(); ++i) {
        const MBuffer& b = buffers[i];
        if (!kernel.buffers[i].written || b.kind != BufferKind::kRegister) continue;
        if (made[b.index] && devices_[b.index] != kernel.device) {
          return {StatusCode::kInternal,
                  fmt::format("placing: a tensor of kernels on devices {} and {}",
                              devices_[b.index], kernel.device)};
        }
        made[b.index] = true;
        devices_[b.index] = kernel.device;
      }
    }
    return OkStatus();
  }

  void Place(MInst& inst) {
    switch (inst.op) {
      case Opcode::kKernel:
      case Opcode::kKernel1:
        return PlaceKernel(inst);
      case Opcode::kTensorStatic: {
        const uint8_t device = devices_[Reg0(inst)];
        inst.operands[1] =
            module_.TypeOnDevice(static_cast<uint32_t>(inst.operands[1].value), device);
        return;
      }
      case Opcode::kTensorAlloc:
        inst.operands[1].value |= int64_t{devices_[Reg0(inst)]} << 8;
        return;
      case Opcode::kTensorView:
      case Opcode::kMoveR: {
        // A register that several instructions write is the host's.
        auto& source = inst.operands[1].value;
        if (definitions_[Reg0(inst)] == 1) {
          devices_[Reg0(inst)] = devices_[static_cast<size_t>(source)];
        } else {
          source = At(static_cast<uint32_t>(source), 0, inst);
        }
        return;
      }
      case Opcode::kTensorDim:
      case Opcode::kDrop:
        return;
      default:
        ForEachUse(inst, [&](Bank bank, uint32_t& reg, bool*) {
          if (bank == Bank::kObject) reg = At(reg, 0, inst);
        });
    }
  }

  void PlaceKernel(MInst& inst) {
    const KernelInfo& kernel = KernelOf(inst);
    const uint8_t device = kernel.device;
    std::vector<MBuffer>& buffers = inst.operands.back().buffers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      MBuffer& b = buffers[i];
      if (b.kind == BufferKind::kConstant && device != 0)
        b.index = module_.ConstantOnDevice(b.index, device);
      if (b.kind == BufferKind::kRegister && !kernel.buffers[i].written)
        b.index = At(b.index, device, inst);
    }
  }

  static size_t Reg0(const MInst& inst) { return static_cast<size_t>(inst.operands[0].value); }

  // A register that has the tensor there.
  uint32_t At(uint32_t reg, uint8_t device, const MInst& user) {
    if (devices_[reg] == device) return reg;
    const auto [at, fresh] = copies_.try_emplace({reg, device}, f_.num_objects);
    if (!fresh) return at->second;
    MInst copy;
    copy.op = Opcode::kTensorCopy;
    copy.operands = {int64_t{f_.num_objects}, int64_t{reg}, int64_t{device}};
    copy.span = user.span;
    placed_.push_back(std::move(copy));
    devices_.push_back(device);
    definitions_.push_back(1);
    return f_.num_objects++;
  }
  void Forget(uint32_t reg) {
    std::erase_if(copies_, [&](const auto& entry) { return entry.first.first == reg; });
  }

  MFunction& f_;
  ModuleLowering& module_;
  std::vector<MInst> placed_;
  std::vector<uint8_t> devices_;       // by object register
  std::vector<uint32_t> definitions_;  // how many write it
  std::map<std::pair<uint32_t, uint8_t>, uint32_t> copies_;
};

}  // namespace

const OptionOf<std::string>& DeviceOption() {
  static const OptionOf<std::string> option(
      {.name = "device",
       .help = "a device that the host gives to the runtime, by its name: kernels run there, which "
               "are this target's code; with the executor vm and one target",
       .form = "NAME"},
      [](std::string_view text, std::string* value) -> Status {
        const auto is_part = [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                 std::string_view("-_.:").find(c) != std::string_view::npos;
        };
        if (text.empty() || !std::ranges::all_of(text, is_part)) {
          return {StatusCode::kInvalidArgument,
                  "expected a NAME of letters, digits, '-', '_', '.' and ':'"};
        }
        *value = text;
        return OkStatus();
      });
  return option;
}

const OptionOf<int64_t>& DeviceSeedOption() {
  static const OptionOf<int64_t> option = NumberOption(
      {.name = "device-seed",
       .help = "of --device: places about half of the kernels there, by chance; 0: all of them"},
      0, INT32_MAX, 0);
  return option;
}

Placement PlacementOf(const PassOptionValues& options) {
  return {DeviceOption().In(options), DeviceSeedOption().In(options)};
}

uint8_t DeviceOf(const Placement& placement, const KernelInfo& kernel, size_t index) {
  const auto is_text = [](const KernelBuffer& b) { return b.dtype == DType::kString; };
  if (placement.device.empty() || kernel.builtin || kernel.buffers.empty() ||
      std::ranges::any_of(kernel.buffers, is_text))
    return 0;
  if (placement.seed == 0) return 1;
  std::minstd_rand random(static_cast<uint32_t>(placement.seed) * 7919U +
                          static_cast<uint32_t>(index) * 104729U);
  random.discard(3);
  return static_cast<uint8_t>(random() >> 16 & 1);
}

Status PlaceTensors(MFunction& function, ModuleLowering& module) {
  return Placer(function, module).Run();
}

}  // namespace relayvm::lower

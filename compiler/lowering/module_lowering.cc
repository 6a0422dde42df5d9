#include "compiler/lowering/module_lowering.h"

#include "compiler/ir/region.h"

#include <cstring>
#include <utility>

#include "bytecode/instruction.h"
#include "bytecode/opcode.h"

namespace relayvm::lower {

ModuleLowering::ModuleLowering(const ir::Module& module, KernelOptions kernels,
                               LowerOptions options)
    : module_(module),
      options_(std::move(options)),
      batching_(kernels.batching),
      kernels_(std::move(kernels)) {}

Convention ModuleLowering::ConventionOf(const ir::Function& f) const {
  Convention c;
  for (const ir::Var* p : f.params) {
    c.params.push_back(IsScalar(p->type) ? Bank::kScalar : Bank::kObject);
  }
  c.result = IsScalar(f.result_type) ? Bank::kScalar : Bank::kObject;
  return c;
}

uint32_t ModuleLowering::AddTask(FunctionTask task, const std::string& key) {
  auto [at, inserted] = task_index_.emplace(key, static_cast<uint32_t>(tasks_.size()));
  if (inserted) tasks_.push_back(std::move(task));
  return at->second;
}

uint32_t ModuleLowering::FunctionIndex(const std::string& global) {
  const ir::Function* f = module_.functions.at(global);
  return AddTask({FunctionTask::Kind::kFunction, f, nullptr, global}, "f:" + global);
}

uint32_t ModuleLowering::ClosureCodeIndex(const std::string& global) {
  const ir::Function* f = module_.functions.at(global);
  return AddTask({FunctionTask::Kind::kClosureCode, f, nullptr, global}, "c:" + global);
}

uint32_t ModuleLowering::AdapterIndex(const std::string& global) {
  const ir::Function* f = module_.functions.at(global);
  Convention c = ConventionOf(*f);
  bool objects_only = c.result == Bank::kObject;
  for (Bank b : c.params) objects_only = objects_only && b == Bank::kObject;
  if (objects_only) return FunctionIndex(global);
  return AddTask({FunctionTask::Kind::kAdapter, f, nullptr, global}, "a:" + global);
}

uint32_t ModuleLowering::ConstructorIndex(const ir::Constructor& constructor) {
  return AddTask({FunctionTask::Kind::kConstructor, nullptr, &constructor, constructor.name},
                 "k:" + constructor.adt + "." + constructor.name);
}

uint32_t ModuleLowering::HostIndex(const ir::HostCall& call) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i]->name == call.name && ir::TypeEquals(hosts_[i]->type, call.type))
      return static_cast<uint32_t>(i);
  }
  hosts_.push_back(&call);
  return static_cast<uint32_t>(hosts_.size() - 1);
}

uint32_t ModuleLowering::ConstantIndex(const ir::Constant& constant) {
  auto [at, inserted] =
      constant_index_.emplace(&constant, static_cast<uint32_t>(constants_.size()));
  if (!inserted) return at->second;
  // Equal small constants share one entry.
  const HostTensor& value = constant.value;
  if (value.data.size() <= 64) {
    std::string key(DTypeName(value.dtype));
    for (int64_t d : value.shape) key += "," + std::to_string(d);
    key.push_back('\0');
    key.append(reinterpret_cast<const char*>(value.data.data()), value.data.size());
    auto [same, fresh] = small_constant_index_.emplace(std::move(key), at->second);
    if (!fresh) return at->second = same->second;
  }
  constants_.push_back(&constant);
  return at->second;
}

uint32_t ModuleLowering::MessageIndex(const std::string& message) {
  auto [at, inserted] =
      message_index_.emplace(message, static_cast<uint32_t>(program_.messages.size()));
  if (inserted) program_.messages.push_back(message);
  return at->second;
}

uint32_t ModuleLowering::TensorTypeIndex(DType dtype, const std::vector<int64_t>& dims,
                                         uint8_t device) {
  auto [at, inserted] = tensor_type_index_.emplace(
      std::tuple(dtype, dims, device), static_cast<uint32_t>(program_.tensor_types.size()));
  if (inserted) program_.tensor_types.push_back({dtype, dims, device});
  return at->second;
}

uint32_t ModuleLowering::TypeOnDevice(uint32_t type, uint8_t device) {
  const TensorTypeInfo info = program_.tensor_types[type];
  return TensorTypeIndex(info.dtype, info.dims, device);
}

uint32_t ModuleLowering::ConstantOnDevice(uint32_t constant, uint8_t device) {
  const auto [at, fresh] =
      placed_constants_.try_emplace({constant, device}, static_cast<uint32_t>(constants_.size()));
  if (fresh) constants_.push_back(constants_[constant]);
  return at->second;
}

uint32_t ModuleLowering::AddKernel(const std::string& key, uint32_t compiled_id, KernelInfo info) {
  auto [at, inserted] = kernel_index_.emplace(key, static_cast<uint32_t>(program_.kernels.size()));
  if (inserted) {
    program_.kernels.push_back(std::move(info));
    compiled_ids_.push_back(compiled_id);
  }
  return at->second;
}

uint32_t ModuleLowering::KernelIndex(uint32_t compiled_id, KernelInfo info) {
  info.device = DeviceOf(options_.placement, info, compiled_id);
  return AddKernel("#" + std::to_string(compiled_id), compiled_id, std::move(info));
}

void ModuleLowering::SetBatched(uint32_t kernel, BatchedKernelInfo batched) {
  program_.kernels[kernel].batched = std::move(batched);
}

uint32_t ModuleLowering::BuiltinIndex(KernelInfo info) {
  std::string key = info.name + "/" + std::to_string(info.num_scalars);
  for (const FixedScalar& fixed : info.fixed) key += "/" + std::to_string(fixed.value);
  return AddKernel(key, 0, std::move(info));
}

uint32_t ModuleLowering::RegionIndex(const ir::Region& region, std::vector<uint32_t> constants) {
  const auto [at, inserted] =
      region_index_.emplace(std::tuple(region.name, region.json, constants),
                            static_cast<uint32_t>(program_.regions.size()));
  if (inserted) {
    program_.regions.push_back({region.name, region.engine, region.json, std::move(constants),
                                static_cast<uint32_t>(region.symbols.size())});
  }
  return at->second;
}

void ModuleLowering::Finish(Program& program, KernelImage image) {
  program.bytecode_version = LeastBytecodeVersion(program.code);
  program.messages = std::move(program_.messages);
  program.tensor_types = std::move(program_.tensor_types);
  program.kernels = std::move(program_.kernels);
  program.regions = std::move(program_.regions);
  bool compiled[2] = {false, false};  // of the host, of the device
  for (const KernelInfo& kernel : program.kernels)
    if (!kernel.builtin) compiled[kernel.device] = true;
  auto elf = std::make_shared<std::vector<uint8_t>>(std::move(image.elf));
  for (const uint8_t device : {0, 1})
    if (compiled[device]) program.images.push_back({image.cpu_features, *elf, device});
  program.owners.push_back(elf);
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    if (program.kernels[k].builtin) continue;
    program.kernels[k].entries.assign(program.images.size(), image.entry_offsets[compiled_ids_[k]]);
  }
  if (compiled[1]) program.devices = {options_.placement.device};
  for (const ir::Constant* c : constants_) {
    ConstantInfo info;
    info.dtype = c->value.dtype;
    info.dims = c->value.shape;
    info.name = c->name;
    info.data = c->value.data;
    if (c->recipe != nullptr) {
      RecipeInfo recipe{c->recipe->builtin, c->recipe->params, {}};
      for (const HostTensor& t : c->recipe->inputs)
        recipe.inputs.push_back({t.dtype, t.shape, t.data});
      info.recipe = std::make_shared<const RecipeInfo>(std::move(recipe));
    }
    program.constants.push_back(std::move(info));
  }
  for (const auto& [of, index] : placed_constants_) program.constants[index].device = of.second;
  program.owners.push_back(module_.arena);
}

}  // namespace relayvm::lower

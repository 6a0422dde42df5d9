#include "vm/run/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/guarded.h"
#include "bytecode/program.h"
#include "vm/border/border.h"
#include "vm/memory/object.h"
#include "vm/run/linked_program.h"
#include "vm/run/places.h"

namespace relayvm {

vm::LinkedProgram::~LinkedProgram() {
  for (Tensor* constant : constants) std::free(constant);
}

Executable::Executable()
    : program_(std::make_unique<Program>()), linked_(std::make_unique<vm::LinkedProgram>()) {}

Executable::~Executable() = default;

std::shared_ptr<const Executable> Executable::OfTables(Program program) {
  std::shared_ptr<Executable> executable(new Executable());
  *executable->program_ = std::move(program);
  return executable;
}

StatusPlace Executable::PlaceOf(uint32_t function, uint32_t pc) const {
  return vm::PlaceIn(*program_, function, pc);
}

Status Executable::CheckInputs(std::string_view function, std::span<const Value> inputs) const {
  return Guarded([&] {
    const ExportInfo* info = FindExport(function);
    if (info == nullptr) return info_.FindFunction(function).status();
    const auto index = static_cast<size_t>(info - program_->exports.data());
    bool on_devices = false;
    return vm::CheckInputs(*program_, *info, linked_->export_dims[index], inputs, &on_devices);
  });
}

size_t Executable::num_batched_kernels() const {
  return static_cast<size_t>(std::ranges::count_if(
      program_->kernels, [](const KernelInfo& kernel) { return kernel.batched.has_value(); }));
}

const ExportInfo* Executable::FindExport(std::string_view name) const {
  for (const ExportInfo& e : program_->exports) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

Result<uint32_t> Executable::FindConstructor(std::string_view name) const {
  return Guarded([&] { return SearchConstructor(name); });
}

Result<uint32_t> Executable::SearchConstructor(std::string_view name) const {
  const AdtInfo* owner = nullptr;
  uint32_t tag = 0;
  for (const AdtInfo& adt : program_->adts) {
    for (size_t i = 0; i < adt.constructors.size(); ++i) {
      if (adt.constructors[i].name != name) continue;
      if (owner != nullptr) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("constructor '{}' is both of {} and of {}; give its tag", name,
                                  owner->name, adt.name));
      }
      owner = &adt;
      tag = static_cast<uint32_t>(i);
    }
  }
  if (owner == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("the program has no constructor '{}'", name));
  }
  return tag;
}

}  // namespace relayvm

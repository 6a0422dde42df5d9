#include "kernels/codegen/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "kernels/codegen/backend.h"
#include "kernels/codegen/instructions.h"

namespace relayvm {

Machine Machine::Native() {
  Result<Machine> machine = codegen::X86Backend().Host();
  return machine.ok() ? *machine : codegen::X86Backend().machines()[0];
}

Result<Machine> MachineFor(std::string_view target) {
  if (target == "native") return codegen::X86Backend().Host();
  for (const codegen::KernelBackend* backend : codegen::Backends()) {
    for (const Machine& machine : backend->machines()) {
      if (machine.target == target) return machine;
    }
  }
  return {StatusCode::kInvalidArgument,
          fmt::format("target {}: expected one of {}", target, fmt::join(TargetNames(), ", "))};
}

Machine MachineNamed(std::string_view target) {
  Result<Machine> machine = MachineFor(target);
  assert(machine.ok());
  return *machine;
}

std::vector<std::string_view> TargetNames() {
  std::vector<std::string_view> names = {"native"};
  for (const codegen::KernelBackend* backend : codegen::Backends()) {
    for (const Machine& machine : backend->machines()) names.push_back(machine.target);
  }
  return names;
}

std::string_view WhyNoPrograms(const Machine& machine) {
  return machine.backend->why_no_programs();
}

std::string FeaturesOf(const Machine& machine) {
  std::string all(machine.level);
  std::set<std::string_view> seen;
  const auto add = [&](std::string_view features) {
    for (std::string_view rest = features; !rest.empty();) {
      const std::string_view feature = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(feature.size() + 1, rest.size()));
      if (seen.insert(feature).second) all += fmt::format(",{}", feature);
    }
  };
  add(machine.byte_tables);
  for (const codegen::DotProduct* form :
       {machine.dots.pairs, machine.dots.quads, machine.tiles.pairs, machine.tiles.quads}) {
    if (form != nullptr) add(form->features);
  }
  return all;
}

}  // namespace relayvm

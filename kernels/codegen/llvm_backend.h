// The backend of processors that LLVM and LLD know: what they differ in is their machines.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "kernels/codegen/backend.h"

namespace relayvm::codegen {

class LlvmBackend final : public KernelBackend {
 public:
  using HostFn = Result<Machine> (*)(std::span<const Machine> machines);
  // REQUIRES: LLVM's target is initialised.
  LlvmBackend(std::vector<Machine> machines, HostFn host, std::string_view why_no_programs = {});
  LlvmBackend(const LlvmBackend&) = delete;
  LlvmBackend& operator=(const LlvmBackend&) = delete;

  const std::vector<Machine>& machines() const override { return machines_; }
  Result<Machine> Host() const override { return host_(machines_); }
  std::string_view why_no_programs() const override { return why_no_programs_; }
  Result<KernelPlan> Plan(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                          const ContractionTarget& target) const override;
  Result<KernelText> Emit(std::span<KernelPlan* const> plans,
                          const KernelOptions& options) const override;
  Result<KernelCode> Translate(const KernelText& text, const KernelOptions& options) const override;
  Status Link(const std::vector<std::vector<char>>& objects, const std::stop_token& stop,
              KernelImage* image) const override;

 private:
  std::vector<Machine> machines_;
  const HostFn host_;
  const std::string_view why_no_programs_;
};

}  // namespace relayvm::codegen

#include "kernels/codegen/compiled_evaluator.h"

#include <fmt/format.h>

#include <unordered_map>

#include "bytecode/image_loader.h"
#include "bytecode/kernel_abi.h"
#include "kernels/codegen/spec_key.h"

namespace relayvm {

struct CompiledEvaluator::Kernel {
  std::unique_ptr<MappedImage> image;
  RelayvmKernelFn function = nullptr;
  uint32_t extent = 0;
  int64_t scratch_bytes = 0;
};

struct CompiledEvaluator::Impl {
  KernelOptions options;
  std::unordered_map<std::string, Result<Kernel>> kernels;
};

namespace {

constexpr size_t kAlignment = 64;

// As kernels take it: aligned.
SharedBytes Aligned(SharedBytes bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment == 0) return bytes;
  return SharedBytes::Copy({bytes.data(), bytes.size()});
}

Result<CompiledEvaluator::Kernel> Unsupported(std::string why) {
  return Status(StatusCode::kUnsupported, std::move(why));
}

Result<CompiledEvaluator::Kernel> Compile(const KernelSpec& spec, const KernelOptions& options) {
  KernelCompiler compiler(options);
  RELAYVM_ASSIGN_OR_RETURN(KernelCompiler::Added added, compiler.Add(spec));
  const KernelInterface& interface = added.interface;
  CompiledEvaluator::Kernel kernel;
  if (!interface.symbols.empty() || !interface.parallel_extent.is_const() ||
      !interface.scratch_bytes.is_const()) {
    return Unsupported("a kernel without its sizes cannot be run");
  }
  if (interface.parallel_extent.value() > INT32_MAX) return Unsupported("the kernel is too long");
  RELAYVM_ASSIGN_OR_RETURN(KernelImage image, compiler.Finish());
  if (!CpuFeatures::OfThisMachine().Missing(image.cpu_features).empty()) {
    return Unsupported(fmt::format("this machine is no {}", image.cpu_features));
  }
  RELAYVM_ASSIGN_OR_RETURN(kernel.image, MappedImage::Map(image.elf));
  kernel.function = kernel.image->Entry(image.entry_offsets[added.id]);
  kernel.extent = static_cast<uint32_t>(interface.parallel_extent.value());
  kernel.scratch_bytes = interface.scratch_bytes.value();
  return kernel;
}

}  // namespace

CompiledEvaluator::CompiledEvaluator(KernelOptions options)
    : impl_(std::make_unique<Impl>(Impl{std::move(options), {}})) {}
CompiledEvaluator::~CompiledEvaluator() = default;

Result<const CompiledEvaluator::Kernel*> CompiledEvaluator::KernelOf(const KernelSpec& spec) {
  codegen::SpecKey key = codegen::KeyOf(spec);
  for (const codegen::Immediate& i : key.immediates) key.text += fmt::format("{:x};", i.bits);
  auto at = impl_->kernels.find(key.text);
  if (at == impl_->kernels.end()) {
    at = impl_->kernels.emplace(std::move(key.text), Compile(spec, impl_->options)).first;
  }
  if (!at->second.ok()) return at->second.status();
  return &*at->second;
}

Result<std::vector<HostTensor>> CompiledEvaluator::Run(const KernelSpec& spec,
                                                       std::span<const HostTensor* const> inputs,
                                                       int64_t max_scratch_bytes) {
  RELAYVM_ASSIGN_OR_RETURN(const Kernel* kernel, KernelOf(spec));
  if (kernel->scratch_bytes > max_scratch_bytes) {
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("the kernel needs {} bytes of scratch memory, at most {} are allowed",
                              kernel->scratch_bytes, max_scratch_bytes));
  }
  std::vector<SharedBytes> memory;
  std::vector<void*> buffers;
  std::vector<int64_t> no_scalars(1);
  for (const HostTensor* input : inputs) {
    memory.push_back(Aligned(input->data.Loaded()));
    buffers.push_back(const_cast<std::byte*>(memory.back().data()));
  }
  std::vector<HostTensor> outputs;
  for (const te::Tensor& t : spec.outputs) {
    HostTensor& out = outputs.emplace_back(HostTensor{t->dtype, {}, {}});
    for (const Dim& d : t->shape) out.shape.push_back(d.value());
    out.data = SharedBytes::Zeros(static_cast<size_t>(out.size() * DTypeBytes(t->dtype)));
    buffers.push_back(out.data.Mutable().data());
  }
  SharedBytes scratch = SharedBytes::Zeros(static_cast<size_t>(kernel->scratch_bytes));
  struct Env : RelayvmKernelEnv {
    const std::stop_token* stop;
  };
  Env env{};
  env.struct_size = sizeof(RelayvmKernelEnv);
  env.num_threads = 1;
  env.stop = &impl_->options.stop;
  env.poll = [](const RelayvmKernelEnv* e) -> int32_t {
    return static_cast<const Env*>(e)->stop->stop_requested() ? RELAYVM_KERNEL_STOPPED : 0;
  };
  RelayvmKernelArgs args{buffers.data(), no_scalars.data(), scratch.Mutable().data()};
  if (int32_t code = kernel->function(&env, &args, 0, kernel->extent); code != 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("kernel {} refuses its data, code {}", spec.name, code));
  }
  return outputs;
}

}  // namespace relayvm

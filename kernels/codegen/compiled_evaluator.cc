#include "kernels/codegen/compiled_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "bytecode/image_loader.h"
#include "bytecode/kernel_abi.h"
#include "kernels/codegen/spec_key.h"
#include "kernels/op/cost.h"
#include "kernels/te/flat.h"

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
// Elements that one call of a kernel computes where each is computed alike, so that one kernel does
// for all shapes.
constexpr int64_t kBlock = 16 << 10;
// Simple operations that a quick kernel makes in the time that LLVM takes to optimise one.
constexpr double kWorthOptimising = 16 << 20;

bool IsAligned(const void* bytes) { return reinterpret_cast<uintptr_t>(bytes) % kAlignment == 0; }

Result<CompiledEvaluator::Kernel> Unsupported(std::string why) {
  return Status(StatusCode::kUnsupported, std::move(why));
}

bool IsContraction(const te::Tensor& t) { return t->hint != te::ScheduleHint::kNone; }

Result<CompiledEvaluator::Kernel> Compile(const KernelSpec& spec, KernelOptions options) {
  if (std::ranges::none_of(spec.outputs, IsContraction) &&
      WorkOf(spec.outputs) < kWorthOptimising) {
    options.opt_level = 0;
    options.quick = true;
  }
  KernelCompiler compiler(std::move(options));
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

namespace {

struct Env : RelayvmKernelEnv {
  const std::stop_token* stop;
};

Status Call(const CompiledEvaluator::Kernel& kernel, const KernelSpec& spec,
            const std::vector<void*>& buffers, const std::stop_token& stop) {
  SharedBytes scratch = SharedBytes::Zeros(static_cast<size_t>(kernel.scratch_bytes));
  const int64_t no_scalars[1] = {};
  Env env{};
  env.struct_size = sizeof(RelayvmKernelEnv);
  env.num_threads = 1;
  env.stop = &stop;
  env.poll = [](const RelayvmKernelEnv* e) -> int32_t {
    return static_cast<const Env*>(e)->stop->stop_requested() ? RELAYVM_KERNEL_STOPPED : 0;
  };
  RelayvmKernelArgs args{buffers.data(), no_scalars, scratch.Mutable().data()};
  const int32_t code = kernel.function(&env, &args, 0, kernel.extent);
  if (code == 0) return OkStatus();
  return Status(StatusCode::kInvalidArgument,
                fmt::format("kernel {} refuses its data, code {}", spec.name, code));
}

// Of a computation of single elements, the kernel of a block of them; nothing: it is another one,
// or a smaller one.
std::optional<KernelSpec> BlockOf(const KernelSpec& spec) {
  if (spec.outputs.size() != 1) return std::nullopt;
  int64_t elements = 1;
  for (const Dim& d : spec.outputs[0]->shape) {
    if (!d.is_const() || d.value() <= 0) return std::nullopt;
    elements = std::min(elements, kBlock) * std::min(d.value(), kBlock);
  }
  if (elements < kBlock) return std::nullopt;
  std::optional<te::FlatComputation> flat = te::Flat(spec.inputs, spec.outputs[0], kBlock);
  if (!flat) return std::nullopt;
  return KernelSpec{spec.name, std::move(flat->inputs), {}, {std::move(flat->output)}};
}

bool IsInBlocks(const te::Tensor& input) { return input->shape[0] == Dim(kBlock); }

// Of one output, of which the kernel computes a block. Its last block ends with it: that one has
// memory of its own, which is aligned, and so have all of what is not.
Status CallOnBlocks(const CompiledEvaluator::Kernel& kernel, const KernelSpec& block,
                    const std::vector<void*>& all, int64_t elements, const std::stop_token& stop) {
  std::vector<size_t> widths;  // of an element; 0 where all blocks have the same one
  for (const te::Tensor& t : block.inputs)
    widths.push_back(IsInBlocks(t) ? static_cast<size_t>(DTypeBytes(t->dtype)) : 0);
  widths.push_back(static_cast<size_t>(DTypeBytes(block.outputs[0]->dtype)));
  const auto operand = [&](size_t i, int64_t at) {
    return static_cast<std::byte*>(all[i]) + static_cast<size_t>(at) * widths[i];
  };
  std::vector<void*> buffers(all.size());
  std::vector<SharedBytes> copies(all.size());  // of a block
  const auto copy = [&](size_t i, int64_t at) {
    const size_t bytes = kBlock * widths[i];
    if (copies[i].empty()) copies[i] = SharedBytes::Zeros(bytes);
    buffers[i] = copies[i].Mutable().data();
    std::memcpy(buffers[i], operand(i, at), bytes);
  };
  int64_t at = 0;
  for (; at + kBlock <= elements; at += kBlock) {
    for (size_t i = 0; i < all.size(); ++i) {
      buffers[i] = operand(i, at);
      if (!IsAligned(buffers[i])) copy(i, at);
    }
    RELAYVM_RETURN_IF_ERROR(Call(kernel, block, buffers, stop));
  }
  if (at == elements) return OkStatus();
  for (size_t i = 0; i < all.size(); ++i) {
    buffers[i] = all[i];
    if (widths[i] > 0) copy(i, elements - kBlock);
  }
  RELAYVM_RETURN_IF_ERROR(Call(kernel, block, buffers, stop));
  const size_t bytes = static_cast<size_t>(elements - at) * widths.back();
  std::memcpy(operand(all.size() - 1, at), copies.back().end() - bytes, bytes);
  return OkStatus();
}

}  // namespace

Result<std::vector<HostTensor>> CompiledEvaluator::Run(const KernelSpec& spec,
                                                       std::span<const HostTensor* const> inputs,
                                                       int64_t max_scratch_bytes) {
  const std::optional<KernelSpec> block = BlockOf(spec);
  RELAYVM_ASSIGN_OR_RETURN(const Kernel* kernel, KernelOf(block ? *block : spec));
  if (kernel->scratch_bytes > max_scratch_bytes) {
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("the kernel needs {} bytes of scratch memory, at most {} are allowed",
                              kernel->scratch_bytes, max_scratch_bytes));
  }
  std::vector<SharedBytes> memory;
  std::vector<void*> buffers;
  for (const HostTensor* input : inputs) {
    SharedBytes bytes = input->data.Loaded();
    if (!IsAligned(bytes.data()) && !(block && IsInBlocks(block->inputs[memory.size()])))
      bytes = SharedBytes::Copy({bytes.data(), bytes.size()});
    memory.push_back(std::move(bytes));
    buffers.push_back(const_cast<std::byte*>(memory.back().data()));
  }
  std::vector<HostTensor> outputs;
  for (const te::Tensor& t : spec.outputs) {
    HostTensor& out = outputs.emplace_back(HostTensor{t->dtype, {}, {}});
    for (const Dim& d : t->shape) out.shape.push_back(d.value());
    out.data = SharedBytes::Zeros(static_cast<size_t>(out.size() * DTypeBytes(t->dtype)));
    buffers.push_back(out.data.Mutable().data());
  }
  const std::stop_token& stop = impl_->options.stop;
  RELAYVM_RETURN_IF_ERROR(block ? CallOnBlocks(*kernel, *block, buffers, outputs[0].size(), stop)
                                : Call(*kernel, spec, buffers, stop));
  return outputs;
}

}  // namespace relayvm

#include "compiler/tuner/bench.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/codegen/schedule.h"
#include "kernels/codegen/schedule_space.h"
#include "kernels/te/scalar.h"

namespace relayvm::tuner {
namespace {

// Weights beyond it come from memory, with their copies.
constexpr size_t kFarBytes = size_t{64} << 20;
constexpr size_t kMostCopies = 31;
// Random numbers repeat after so many bytes.
constexpr size_t kPeriod = size_t{1} << 18;

SymbolValue ValuesOf(const Sample& sample) {
  return [&sample](uint32_t id) -> std::optional<int64_t> {
    const auto found = sample.find(id);
    return found == sample.end() ? std::nullopt : std::optional(found->second);
  };
}

// The input that is the weight of the kernel's product; -1: none.
int WeightOf(const KernelSpec& spec) {
  for (const te::Tensor& t : codegen::TensorsInOrder(spec.outputs)) {
    if (t->hint != te::ScheduleHint::kNone && t->hint_inputs.size() > 1)
      return t->hint_inputs[1]->input_index;
  }
  return -1;
}

// A canonical 64-bit scalar.
int64_t ScalarOf(const HostTensor& t) {
  int64_t bits = 0;
  std::memcpy(&bits, t.data.data(), t.data.size());
  return IsFloat(t.dtype) ? bits : te::ReadElement(t.dtype, t.data.data()).i;
}

double Now() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <typename T>
void Put(std::span<std::byte> out, size_t at, T value) {
  std::memcpy(&out[at], &value, sizeof value);
}

}  // namespace

void FillRandom(HostTensor& t) {
  std::mt19937 random(1);
  const std::span<std::byte> all = t.data.Mutable();
  const std::span<std::byte> out = all.first(std::min(all.size(), kPeriod));
  const size_t bytes = DTypeBytes(t.dtype);
  std::uniform_real_distribution<double> numbers(-1, 1);
  for (size_t at = 0; at < out.size(); at += bytes) {
    if (t.dtype == DType::kFloat32) {
      Put(out, at, static_cast<float>(numbers(random)));
    } else if (t.dtype == DType::kFloat64) {
      Put(out, at, numbers(random));
    } else if (IsFloat(t.dtype)) {  // by their mantissa alone
      const bool brain = t.dtype == DType::kBFloat16;
      Put(out, at,
          static_cast<uint16_t>(brain ? 0x3F00 | (random() & 0x7F) : 0x3800 | (random() & 0x3FF)));
    } else {
      out[at] = static_cast<std::byte>(random() & (t.dtype == DType::kBool ? 1 : 7));
    }
  }
  for (size_t at = out.size(); at < all.size(); at += kPeriod)
    std::memcpy(&all[at], out.data(), std::min(kPeriod, all.size() - at));
}

Result<std::vector<CompiledKernel>> CompileKernels(const KernelSpec& spec,
                                                   const KernelOptions& options,
                                                   std::span<const TileSchedule> schedules) {
  KernelOptions each = options;
  each.schedules.clear();
  each.on_kernels = nullptr;
  each.keep_llvm_ir = each.keep_assembly = false;
  TileSchedule schedule;
  each.schedule_for = [&](const KernelSpec&) { return schedule; };
  KernelCompiler compiler(each);
  std::vector<KernelCompiler::Added> added;
  for (const TileSchedule& s : schedules) {
    schedule = s;
    RELAYVM_ASSIGN_OR_RETURN(KernelCompiler::Added one, compiler.Add(spec));
    added.push_back(std::move(one));
  }
  RELAYVM_ASSIGN_OR_RETURN(const KernelImage image, compiler.Finish());
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const MappedImage> mapped,
                           MappedImage::Map(image.elf, nullptr));
  std::vector<CompiledKernel> kernels;
  for (KernelCompiler::Added& a : added)
    kernels.push_back({mapped, mapped->Entry(image.entry_offsets[a.id]), std::move(a.interface)});
  return kernels;
}

// --- Bench ---

Result<Bench> Bench::Make(const KernelSpec& spec, const Sample& sample, size_t most_bytes) {
  Bench bench;
  bench.sample_ = sample;
  size_t total = 0;
  auto make = [&](const te::TensorNode& t) -> Result<HostTensor> {
    HostTensor made{t.dtype, {}, {}};
    int64_t bytes = DTypeBytes(t.dtype);
    for (const Dim& d : t.shape) {
      const std::optional<int64_t> extent = d.Evaluate(ValuesOf(sample));
      if (!extent || *extent < 1)
        return {StatusCode::kInvalidArgument, "the sizes are none that the kernel has"};
      made.shape.push_back(*extent);
      if (__builtin_mul_overflow(bytes, *extent, &bytes) ||
          static_cast<size_t>(bytes) > most_bytes - total) {
        return {StatusCode::kResourceExhausted,
                fmt::format("its data is more than {} MB", most_bytes >> 20)};
      }
    }
    total += static_cast<size_t>(bytes);
    made.data = SharedBytes::Zeros(static_cast<size_t>(bytes));
    return made;
  };
  const int weight = WeightOf(spec);
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    RELAYVM_ASSIGN_OR_RETURN(HostTensor input, make(*spec.inputs[i]));
    FillRandom(input);
    if (i < spec.by_value.size() && spec.by_value[i]) {
      bench.scalars_.push_back(ScalarOf(input));
      continue;
    }
    std::vector<HostTensor> copies = {input};
    const size_t bytes = input.data.size();
    if (static_cast<int>(i) == weight) {
      // An odd number, so that two kernels in turns meet all of them.
      const size_t count = std::min(kFarBytes / bytes, kMostCopies) | 1;
      while (copies.size() < count) {
        copies.push_back(input);
        copies.back().data = SharedBytes::Copy({input.data.data(), bytes});
      }
    }
    bench.inputs_.push_back(std::move(copies));
  }
  for (const te::Tensor& t : spec.outputs) {
    RELAYVM_ASSIGN_OR_RETURN(HostTensor output, make(*t));
    bench.outputs_.push_back(std::move(output));
  }
  return bench;
}

struct Bench::Prepared {
  RelayvmKernelFn function;
  uint32_t units;
  std::vector<int64_t> scalars;
  size_t scratch_bytes;
};

Bench::Prepared Bench::Prepare(const CompiledKernel& kernel) const {
  const SymbolValue values = ValuesOf(sample_);
  const KernelInterface& interface = kernel.interface;
  Prepared prepared{kernel.function, 0, {}, 0};
  for (const Dim& symbol : interface.symbols)
    prepared.scalars.push_back(symbol.Evaluate(values).value_or(0));
  prepared.scalars.insert(prepared.scalars.end(), scalars_.begin(), scalars_.end());
  prepared.scalars.insert(prepared.scalars.end(), interface.immediates.begin(),
                          interface.immediates.end());
  prepared.scalars.push_back(0);  // so that there is memory
  const int64_t units = interface.parallel_extent.Evaluate(values).value_or(0);
  prepared.units = static_cast<uint32_t>(std::clamp<int64_t>(units, 0, INT32_MAX));
  const int64_t scratch = interface.scratch_bytes.Evaluate(values).value_or(0);
  prepared.scratch_bytes = static_cast<size_t>(std::max<int64_t>(scratch, 0));
  return prepared;
}

int32_t Bench::Call(const Prepared& prepared) {
  constexpr size_t kAlignment = 64;
  if (scratch_.size() < prepared.scratch_bytes + kAlignment)
    scratch_.resize(prepared.scratch_bytes + kAlignment);
  const size_t skip =
      (kAlignment - reinterpret_cast<uintptr_t>(scratch_.data()) % kAlignment) % kAlignment;
  std::vector<void*> buffers;
  const size_t turn = turn_++;
  for (const std::vector<HostTensor>& copies : inputs_) {
    // Kernels that overwrite an input do so only where it is the output, too.
    buffers.push_back(const_cast<std::byte*>(copies[turn % copies.size()].data.data()));
  }
  for (HostTensor& output : outputs_) buffers.push_back(output.data.Mutable().data());
  RelayvmKernelEnv env{};
  env.struct_size = sizeof(env);
  env.num_threads = 1;
  const RelayvmKernelArgs args{buffers.data(), prepared.scalars.data(), scratch_.data() + skip};
  return prepared.function(&env, &args, 0, prepared.units);
}

Result<std::vector<HostTensor>> Bench::Run(const CompiledKernel& kernel) {
  // What is not written shows: no result has these bits.
  for (HostTensor& output : outputs_) {
    const std::span<std::byte> bytes = output.data.Mutable();
    std::memset(bytes.data(), 0xA5, bytes.size());
  }
  if (const int32_t code = Call(Prepare(kernel)); code != 0) {
    return {StatusCode::kInvalidArgument,
            fmt::format("the kernel refuses random data, code {}", code)};
  }
  std::vector<HostTensor> results = outputs_;
  for (HostTensor& t : results) t.data = SharedBytes::Copy({t.data.data(), t.data.size()});
  return results;
}

double Bench::Time(const CompiledKernel& kernel, int calls) {
  const Prepared prepared = Prepare(kernel);
  const double start = Now();
  for (int i = 0; i < calls; ++i) Call(prepared);
  return std::max(1.0, (Now() - start) / calls);
}

Status CompareResults(const std::vector<HostTensor>& found,
                      const std::vector<HostTensor>& expected) {
  for (size_t o = 0; o < expected.size(); ++o) {
    const HostTensor& want = expected[o];
    const double tolerance = !IsFloat(want.dtype) ? 0 : DTypeBytes(want.dtype) == 2 ? 2e-2 : 1e-3;
    const size_t bytes = DTypeBytes(want.dtype);
    for (int64_t i = 0; i < want.size(); ++i) {
      const size_t at = static_cast<size_t>(i) * bytes;
      if (std::memcmp(found[o].data.data() + at, want.data.data() + at, bytes) == 0) continue;
      const te::Scalar f = te::ReadElement(want.dtype, found[o].data.data() + at);
      const te::Scalar w = te::ReadElement(want.dtype, want.data.data() + at);
      const bool same =
          IsFloat(want.dtype) && ((std::isnan(f.f) && std::isnan(w.f)) || f.f == w.f ||
                                  std::abs(f.f - w.f) <= tolerance * std::max(1.0, std::abs(w.f)));
      if (same) continue;
      return {StatusCode::kInternal,
              fmt::format("element {} of result {} is {} instead of {}", i, o,
                          IsFloat(want.dtype) ? f.f : static_cast<double>(f.i),
                          IsFloat(want.dtype) ? w.f : static_cast<double>(w.i))};
    }
  }
  return OkStatus();
}

}  // namespace relayvm::tuner

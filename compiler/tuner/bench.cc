#include "compiler/tuner/bench.h"

#include <fmt/format.h>
#include <sys/mman.h>
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
// Of addresses, for a buffer.
constexpr int64_t kMostRoom = int64_t{1} << 42;
// Random numbers repeat after so many bytes.
constexpr size_t kPeriod = size_t{1} << 18;

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
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const MappedImage> mapped, MappedImage::Map(image.elf));
  std::vector<CompiledKernel> kernels;
  for (KernelCompiler::Added& a : added)
    kernels.push_back({mapped, mapped->Entry(image.entry_offsets[a.id]), std::move(a.interface)});
  return kernels;
}

// --- Bench ---

void Room::Unmap::operator()(std::byte* memory) const { ::munmap(memory, size); }

Result<Room> Room::Make(size_t bytes, size_t room) {
  void* memory = ::mmap(nullptr, room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return {StatusCode::kResourceExhausted, fmt::format("no memory for {} bytes", room)};
  return Room(static_cast<std::byte*>(memory), bytes, room);
}

Result<Bench> Bench::Make(const KernelSpec& spec, const Sample& sample, size_t most_bytes) {
  Bench bench;
  bench.sample_ = sample;
  int64_t largest = 1;
  for (const auto& [id, size] : sample) largest = std::max(largest, size);
  size_t left = most_bytes;
  // Shape and bytes; the room where every symbol has the largest size.
  struct Extent {
    std::vector<int64_t> shape;
    size_t bytes, room;
  };
  auto extent_of = [&](const te::TensorNode& t) -> Result<Extent> {
    Extent extent;
    int64_t bytes = DTypeBytes(t.dtype), room = bytes;
    for (const Dim& d : t.shape) {
      const std::optional<int64_t> size = d.Evaluate(ValuesOf(sample));
      if (!size || *size < 1)
        return {StatusCode::kInvalidArgument, "the sizes are none that the kernel has"};
      extent.shape.push_back(*size);
      const int64_t most = d.Evaluate([&](uint32_t) { return largest; }).value_or(*size);
      if (__builtin_mul_overflow(bytes, *size, &bytes) || static_cast<size_t>(bytes) > left ||
          __builtin_mul_overflow(room, std::max(most, *size), &room) || room > kMostRoom) {
        return {StatusCode::kResourceExhausted,
                fmt::format("its data is more than {} MB", most_bytes >> 20)};
      }
    }
    extent.bytes = static_cast<size_t>(bytes);
    extent.room = static_cast<size_t>(room);
    left -= extent.bytes;
    return extent;
  };
  const int weight = WeightOf(spec);
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const te::TensorNode& t = *spec.inputs[i];
    RELAYVM_ASSIGN_OR_RETURN(Extent extent, extent_of(t));
    HostTensor input{t.dtype, std::move(extent.shape), SharedBytes::Zeros(extent.bytes)};
    FillRandom(input);
    if (i < spec.by_value.size() && spec.by_value[i]) {
      bench.scalars_.push_back(ScalarOf(input));
      continue;
    }
    // An odd number, so that two kernels in turns meet all of them.
    const size_t count =
        static_cast<int>(i) == weight ? std::min(kFarBytes / extent.bytes, kMostCopies) | 1 : 1;
    std::vector<Room> copies;
    while (copies.size() < count) {
      RELAYVM_ASSIGN_OR_RETURN(Room room, Room::Make(extent.bytes, extent.room));
      std::memcpy(room.bytes().data(), input.data.data(), extent.bytes);
      copies.push_back(std::move(room));
    }
    bench.inputs_.push_back(std::move(copies));
  }
  for (const te::Tensor& t : spec.outputs) {
    RELAYVM_ASSIGN_OR_RETURN(Extent extent, extent_of(*t));
    RELAYVM_ASSIGN_OR_RETURN(Room room, Room::Make(extent.bytes, extent.room));
    bench.outputs_.push_back({t->dtype, std::move(extent.shape), std::move(room)});
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
  for (const std::vector<Room>& copies : inputs_) {
    buffers.push_back(copies[turn % copies.size()].bytes().data());
  }
  for (const Output& output : outputs_) buffers.push_back(output.room.bytes().data());
  RelayvmKernelEnv env{};
  env.struct_size = sizeof(env);
  env.num_threads = 1;
  const RelayvmKernelArgs args{buffers.data(), prepared.scalars.data(), scratch_.data() + skip};
  return prepared.function(&env, &args, 0, prepared.units);
}

Result<std::vector<HostTensor>> Bench::Run(const CompiledKernel& kernel) {
  // What is not written shows: no result has these bits.
  for (const Output& output : outputs_)
    std::memset(output.room.bytes().data(), 0xA5, output.room.bytes().size());
  if (const int32_t code = Call(Prepare(kernel)); code != 0) {
    return {StatusCode::kInvalidArgument,
            fmt::format("the kernel refuses random data, code {}", code)};
  }
  std::vector<HostTensor> results;
  for (const Output& output : outputs_)
    results.push_back({output.dtype, output.shape, SharedBytes::Copy(output.room.bytes())});
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

// For tests: compiles kernels, maps the image into this process, runs them, and compares with
// te::Evaluate.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/image_loader.h"
#include "bytecode/kernel_abi.h"
#include "kernels/codegen/foreign_kernels.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"

namespace relayvm {

// Whether this machine runs kernels for `cpu`.
inline bool Runs(const std::string& cpu) {
  return cpu == "native" || CpuFeatures::OfThisMachine().Missing(cpu).empty();
}

using SymbolValues = std::map<uint32_t, int64_t>;

inline te::SymbolFn SymbolsOf(const SymbolValues& values) {
  return [values](uint32_t id) -> std::optional<int64_t> {
    auto it = values.find(id);
    if (it == values.end()) return std::nullopt;
    return it->second;
  };
}

inline std::vector<int64_t> ShapeOf(const te::Tensor& t, const SymbolValues& symbols) {
  std::vector<int64_t> shape;
  for (const Dim& d : t->shape) shape.push_back(*d.Evaluate(SymbolsOf(symbols)));
  return shape;
}

inline HostTensor MakeTensor(DType dtype, std::vector<int64_t> shape) {
  HostTensor t;
  t.dtype = dtype;
  t.shape = std::move(shape);
  t.data = SharedBytes::Zeros(static_cast<size_t>(t.size() * DTypeBytes(dtype)));
  return t;
}

// Small values of either sign (unsigned: small), reproducible.
inline HostTensor RandomTensor(DType dtype, std::vector<int64_t> shape, uint32_t seed,
                               double low = -4, double high = 4) {
  HostTensor t = MakeTensor(dtype, std::move(shape));
  std::byte* data = t.data.Mutable().data();
  std::mt19937 random(seed);
  for (int64_t i = 0, size = t.size(); i < size; ++i) {
    double u = static_cast<double>(random()) / 4294967296.0;
    double v = low + (high - low) * u;
    if (!IsFloat(dtype) && !IsSignedInt(dtype)) v = std::abs(v);
    te::Scalar s = IsFloat(dtype)
                       ? te::FloatScalar(te::RoundToDType(v, dtype))
                       : te::ApplyCast(DType::kFloat64, dtype, te::FloatScalar(std::round(v)));
    if (dtype == DType::kBool) s = te::IntScalar((random() & 1) != 0 ? 1 : 0);
    te::WriteElement(dtype, s, data + i * DTypeBytes(dtype));
  }
  return t;
}

inline te::Scalar Element(const HostTensor& t, int64_t i) {
  return te::ReadElement(t.dtype, t.data.data() + i * DTypeBytes(t.dtype));
}

// Memory with 64-byte alignment: less than 64 bytes behind it, which GuardIsWhole() finds
// overwritten, a page begins that nobody may touch.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t bytes) : bytes_(bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t rounded = (bytes + 63) / 64 * 64;
    const size_t pages = (rounded + page - 1) / page * page;
    mapped_ = pages + page;
    void* memory =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    REQUIRE(mprotect(memory_ + pages, page, PROT_NONE) == 0);
    data_ = memory_ + pages - rounded;
    std::fill_n(data_, rounded, kFill);
  }
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : bytes_(other.bytes_),
        mapped_(std::exchange(other.mapped_, 0)),
        memory_(std::exchange(other.memory_, nullptr)),
        data_(other.data_) {}
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer() {
    if (memory_ != nullptr) munmap(memory_, mapped_);
  }

  std::byte* data() { return data_; }
  bool GuardIsWhole() const {
    return std::all_of(data_ + bytes_, data_ + (bytes_ + 63) / 64 * 64,
                       [](std::byte b) { return b == kFill; });
  }

 private:
  static constexpr std::byte kFill{0xa5};
  size_t bytes_, mapped_ = 0;
  std::byte *memory_ = nullptr, *data_ = nullptr;
};

// Nothing may have no address.
inline void CopyBytes(const void* from, size_t bytes, void* to) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

// The environment of a kernel that counts how often it asks whether to go on, and says no at poll
// number `stop_at`.
struct CountingEnv : RelayvmKernelEnv {
  static constexpr int32_t kStopped = 77;  // whatever it is, the kernel returns it
  explicit CountingEnv(int64_t stop_at)
      : RelayvmKernelEnv{sizeof(RelayvmKernelEnv), 1, Poll, nullptr, nullptr}, left(stop_at) {}
  static int32_t Poll(const RelayvmKernelEnv* env) {
    auto* self = static_cast<CountingEnv*>(const_cast<RelayvmKernelEnv*>(env));
    ++self->polls;
    return --self->left == 0 ? kStopped : 0;
  }
  int64_t left, polls = 0;
};

class KernelHarness {
 public:
  explicit KernelHarness(KernelOptions options = {}) : compiler_(std::move(options)) {}

  size_t Add(const KernelSpec& spec) {
    foreign_.Add(spec);
    auto added = compiler_.Add(spec);
    REQUIRE_MESSAGE(added.ok(), added.status().ToString());
    kernels_.push_back({spec, std::move(*added)});
    return kernels_.size() - 1;
  }
  const KernelInterface& interface(size_t k) const { return kernels_[k].added.interface; }
  uint32_t id(size_t k) const { return kernels_[k].added.id; }
  const KernelImage& image() const { return image_; }
  // REQUIRES: Finish() was called.
  RelayvmKernelFn function(size_t k) const { return mapped_->Entry(image_.entry_offsets[id(k)]); }

  void Finish() {
    foreign_.Finish();
    auto image = compiler_.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    image_ = std::move(*image);
    auto mapped = MappedImage::Map(image_.elf);
    REQUIRE_MESSAGE(mapped.ok(), mapped.status().ToString());
    mapped_ = std::move(*mapped);
  }

  // The outputs. The range of units is cut into pieces of `piece` units (0: one piece), run last to
  // first; with `keeps` in one scratch, which is kept. With `in_place` the outputs that may take an
  // input's memory do.
  std::vector<HostTensor> Run(size_t k, const std::vector<HostTensor>& inputs,
                              const SymbolValues& symbols, uint32_t piece = 0,
                              bool in_place = false, bool keeps = false) {
    const Kernel& kernel = kernels_[k];
    const KernelInterface& interface = kernel.added.interface;
    auto value_of = [&](const Dim& d) { return *d.Evaluate(SymbolsOf(symbols)); };
    std::vector<GuardedBuffer> memory;
    std::vector<void*> buffers;
    std::vector<int64_t> scalars = ScalarsOf(k, inputs, symbols);
    std::map<int, size_t> memory_of_input;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const HostTensor& t = inputs[i];
      if (i < kernel.spec.by_value.size() && kernel.spec.by_value[i]) continue;
      memory_of_input[static_cast<int>(i)] = memory.size();
      memory.emplace_back(t.data.size());
      CopyBytes(t.data.data(), t.data.size(), memory.back().data());
    }
    for (int64_t immediate : interface.immediates) scalars.push_back(immediate);
    std::vector<size_t> memory_of_output;
    for (size_t o = 0; o < kernel.spec.outputs.size(); ++o) {
      const te::Tensor& t = kernel.spec.outputs[o];
      std::optional<size_t> shared;
      for (const auto& [from, to] : interface.in_place) {
        bool is_free = std::find(memory_of_output.begin(), memory_of_output.end(),
                                 memory_of_input[from]) == memory_of_output.end();
        if (in_place && to == static_cast<int>(o) && is_free) shared = memory_of_input[from];
      }
      if (!shared) {
        shared = memory.size();
        memory.emplace_back(MakeTensor(t->dtype, ShapeOf(t, symbols)).data.size());
      }
      memory_of_output.push_back(*shared);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (memory_of_input.contains(static_cast<int>(i))) {
        buffers.push_back(memory[memory_of_input[static_cast<int>(i)]].data());
      }
    }
    for (size_t m : memory_of_output) buffers.push_back(memory[m].data());
    int64_t extent = value_of(interface.parallel_extent);
    CHECK(value_of(interface.grain) >= 1);
    RelayvmKernelFn fn = mapped_->Entry(image_.entry_offsets[kernel.added.id]);
    RelayvmKernelEnv env{sizeof(RelayvmKernelEnv), 1};
    uint32_t step = piece == 0 ? static_cast<uint32_t>(std::max<int64_t>(extent, 1)) : piece;
    std::vector<uint32_t> starts;
    for (uint32_t begin = 0; begin < extent; begin += step) starts.push_back(begin);
    const auto scratch_bytes = static_cast<size_t>(value_of(interface.scratch_bytes));
    std::optional<GuardedBuffer> kept_scratch;
    uint64_t kept = 0;
    if (keeps) {
      kept_scratch.emplace(scratch_bytes);
      env.kept = &kept;
    }
    for (size_t i = starts.size(); i-- > 0;) {
      std::optional<GuardedBuffer> own_scratch;
      if (!keeps) own_scratch.emplace(scratch_bytes);
      GuardedBuffer& scratch = keeps ? *kept_scratch : *own_scratch;
      RelayvmKernelArgs args{buffers.data(), scalars.data(), scratch.data()};
      uint32_t end = static_cast<uint32_t>(std::min<int64_t>(extent, starts[i] + int64_t{step}));
      CHECK(fn(&env, &args, starts[i], end) == 0);
      CHECK(scratch.GuardIsWhole());
    }
    std::vector<HostTensor> outputs;
    for (size_t o = 0; o < memory_of_output.size(); ++o) {
      const te::Tensor& t = kernel.spec.outputs[o];
      HostTensor out = MakeTensor(t->dtype, ShapeOf(t, symbols));
      CopyBytes(memory[memory_of_output[o]].data(), out.data.size(), out.data.Mutable().data());
      outputs.push_back(std::move(out));
    }
    for (const GuardedBuffer& m : memory) CHECK(m.GuardIsWhole());
    return outputs;
  }

  // Random inputs; the kernel in one piece, in small pieces, with what they keep and without, and
  // in place, against the evaluator.
  // Tolerance 0: bit for bit (but for NaN); otherwise it is at least the unit of the dtype.
  void Check(size_t k, const SymbolValues& symbols, double tolerance = 1e-5, double low = -4,
             double high = 4) {
    const KernelSpec& spec = kernels_[k].spec;
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      uint32_t seed = static_cast<uint32_t>(k * 100 + i + 1);
      inputs.push_back(
          RandomTensor(spec.inputs[i]->dtype, ShapeOf(spec.inputs[i], symbols), seed, low, high));
    }
    std::vector<const HostTensor*> pointers;
    pointers.reserve(inputs.size());
    for (const HostTensor& t : inputs) pointers.push_back(&t);
    std::vector<HostTensor> expected;
    for (const te::Tensor& output : spec.outputs) {
      auto value = te::Evaluate(output, pointers, SymbolsOf(symbols));
      REQUIRE_MESSAGE(value.ok(), value.status().ToString());
      expected.push_back(std::move(*value));
    }
    for (int run = 0; run < 4; ++run) {
      std::vector<HostTensor> outputs =
          Run(k, inputs, symbols, run % 2 == 1 ? 1 : 0, run == 2, run == 3);
      for (size_t o = 0; o < outputs.size(); ++o) {
        INFO(spec.name, " output ", o, " run ", run);
        CheckNear(outputs[o], expected[o], tolerance);
      }
    }
    if (ForeignKernels::Command() == nullptr) return;
    std::vector<HostTensor> outputs;
    for (const HostTensor& e : expected) outputs.push_back(MakeTensor(e.dtype, e.shape));
    ForeignKernels::Run(spec, inputs, ScalarsOf(k, inputs, symbols), SymbolsOf(symbols), &outputs);
    for (size_t o = 0; o < outputs.size(); ++o) {
      INFO(spec.name, " output ", o, " on aarch64");
      CheckNear(outputs[o], expected[o], tolerance);
    }
  }

  static void CheckNear(const HostTensor& got, const HostTensor& want, double tolerance) {
    REQUIRE(got.shape == want.shape);
    double unit = got.dtype == DType::kFloat16 ? 1e-3 : (got.dtype == DType::kBFloat16 ? 1e-2 : 0);
    if (tolerance > 0) tolerance = std::max(tolerance, unit);
    int failures = 0;
    for (int64_t i = 0; i < want.size() && failures < 3; ++i) {
      te::Scalar g = Element(got, i);
      te::Scalar w = Element(want, i);
      bool same = false;
      if (!IsFloat(want.dtype)) {
        same = g.i == w.i;
      } else {
        same = (std::isnan(g.f) && std::isnan(w.f)) || g.f == w.f ||
               std::abs(g.f - w.f) <= tolerance * std::max(1.0, std::abs(w.f));
      }
      if (same) continue;
      ++failures;
      if (IsFloat(want.dtype)) {
        CHECK_MESSAGE(false, fmt::format("element {}: {} instead of {}", i, g.f, w.f));
      } else {
        CHECK_MESSAGE(false, fmt::format("element {}: {} instead of {}", i, g.i, w.i));
      }
    }
  }

 private:
  struct Kernel {
    KernelSpec spec;
    KernelCompiler::Added added;
  };
  // Without immediates.
  std::vector<int64_t> ScalarsOf(size_t k, const std::vector<HostTensor>& inputs,
                                 const SymbolValues& symbols) const {
    std::vector<int64_t> scalars;
    for (const Dim& s : interface(k).symbols) scalars.push_back(*s.Evaluate(SymbolsOf(symbols)));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const HostTensor& t = inputs[i];
      if (i >= kernels_[k].spec.by_value.size() || !kernels_[k].spec.by_value[i]) continue;
      int64_t bits = 0;
      std::memcpy(&bits, t.data.data(), t.data.size());
      scalars.push_back(IsFloat(t.dtype) ? bits : Element(t, 0).i);
    }
    return scalars;
  }
  KernelCompiler compiler_;
  ForeignKernels foreign_;
  std::vector<Kernel> kernels_;
  KernelImage image_;
  std::unique_ptr<MappedImage> mapped_;
};

}  // namespace relayvm

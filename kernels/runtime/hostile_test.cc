// Every builtin, called as its signature allows and as it does not: indices and parameters at the
// ends of int64, empty extents in every position, NaN and infinities, row starts that make no
// sense. Each call ends with success or an error code, leaves its inputs alone, writes inside its
// outputs only and, when it succeeds, all of them. A builtin that is added to the table is covered
// by its signature.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bytecode/base/string_table.h"
#include "kernels/runtime/builtin.h"
#include "kernels/runtime/signature.h"

namespace relayvm::builtin_testing {
namespace {

constexpr size_t kMargin = 64;

struct Argument {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;

  size_t bytes() const {
    size_t n = static_cast<size_t>(DTypeBytes(dtype));
    for (int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
};

struct Call {
  std::vector<Argument> tensors;
  std::vector<std::vector<std::byte>> inputs;
  std::vector<int64_t> params;
  bool as_declared = true;
};

// --- Calls ---

// Calls of one builtin. Tame calls hold small values only, so that most of them succeed.
class Generator {
 public:
  Generator(const Builtin& builtin, uint64_t seed)
      : signature_(Signature::Parse(builtin.signature)), random_(seed) {}

  Call Next() {
    tame_ = Chance(2);
    huge_ = !tame_ && Chance(3);
    Call call;
    do {
      call = Call();
      call.tensors = MakeArguments();
      for (int i = 0; i < signature_.num_params; ++i) {
        call.params.push_back(Param(signature_.params[static_cast<size_t>(i)], call.tensors[0]));
      }
      // What a list of reals behind the parameters may hold.
      for (int i = 0; i < 9; ++i) call.params.push_back(Real());
      if (!tame_ && Chance(3)) Damage(call);
    } while (!std::all_of(call.tensors.begin(), call.tensors.end(), IsSmall));
    for (int i = 0; i < signature_.num_inputs; ++i) {
      call.inputs.push_back(Contents(call.tensors[static_cast<size_t>(i)]));
    }
    return call;
  }

 private:
  // That there is memory for it: extents may be huge where another is 0.
  static bool IsSmall(const Argument& a) {
    if (std::find(a.dims.begin(), a.dims.end(), 0) != a.dims.end()) return true;
    return std::all_of(a.dims.begin(), a.dims.end(), [](int64_t d) { return d < 1000; });
  }

  std::vector<Argument> MakeArguments() {
    dims_.fill(-1);
    dtypes_.fill(-1);
    rests_.assign(26, {});
    rest_known_.fill(false);
    std::vector<Argument> arguments;
    first_dims_.clear();
    for (int i = 0; i < signature_.num_tensors; ++i) {
      arguments.push_back(MakeArgument(i));
      if (i == 0) first_dims_ = arguments[0].dims;
    }
    return arguments;
  }

  int64_t Pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool Chance(int one_in) { return Pick(1, one_in) == 1; }
  int64_t Extent() {
    if (tame_) return Pick(1, 4);
    if (huge_ && Chance(3)) return Chance(2) ? int64_t{1} << 40 : 0;
    return Chance(4) ? 0 : Pick(0, 6);
  }

  int64_t Extreme() {
    using Limits = std::numeric_limits<int64_t>;
    constexpr int64_t kValues[] = {Limits::min(),
                                   Limits::min() + 1,
                                   -(int64_t{1} << 62),
                                   std::numeric_limits<int32_t>::min(),
                                   -2,
                                   -1,
                                   0,
                                   1,
                                   7,
                                   std::numeric_limits<int32_t>::max(),
                                   (int64_t{1} << 62) / 4 * 3 + 27,
                                   int64_t{1} << 62,
                                   Limits::max() - 1,
                                   Limits::max()};
    return kValues[Pick(0, static_cast<int64_t>(std::size(kValues)) - 1)];
  }
  double ExtremeReal() {
    using Limits = std::numeric_limits<double>;
    constexpr double kValues[] = {Limits::quiet_NaN(),
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  -0.0,
                                  0.0,
                                  1e-40,
                                  -1.0,
                                  0.5,
                                  1e9,
                                  -1e19,
                                  3e38,
                                  Limits::max()};
    return kValues[Pick(0, static_cast<int64_t>(std::size(kValues)) - 1)];
  }
  int64_t Real() {
    const double x = tame_ || Chance(2) ? static_cast<double>(Pick(1, 8)) / 8 : ExtremeReal();
    return std::bit_cast<int64_t>(x);
  }

  int64_t Param(const ParamSpec& spec, const Argument& first) {
    if (!tame_ && Chance(6)) return Extreme();
    const int64_t rank = static_cast<int64_t>(first.dims.size());
    switch (spec.kind) {
      case ParamSpec::Kind::kAxis:
        return Pick(0, std::max<int64_t>(rank - 1, 0));
      case ParamSpec::Kind::kOptionalAxis:
        return Pick(-1, rank - 1);
      case ParamSpec::Kind::kRange:
        return Pick(spec.low, spec.high);
      case ParamSpec::Kind::kInt:
        return Pick(tame_ ? 0 : -1, 3);
      case ParamSpec::Kind::kReal:
      case ParamSpec::Kind::kReals:
        return Real();
    }
    return 0;
  }

  DType MakeDType(const DTypeSpec& spec) {
    int unused = -1;
    int& known = spec.variable != 0 ? dtypes_[static_cast<size_t>(spec.variable - 'A')] : unused;
    while (known < 0) {
      const int code = static_cast<int>(Pick(0, kNumDTypes));
      if (Accepts(spec, static_cast<DType>(code))) known = code;
    }
    return static_cast<DType>(known);
  }

  Argument MakeArgument(int index) {
    const TensorSpec& spec = signature_.tensors[static_cast<size_t>(index)];
    Argument a;
    a.dtype = MakeDType(spec.dtype);
    for (int k = 0; k < spec.num_dims; ++k) {
      const DimSpec& d = spec.dims[static_cast<size_t>(k)];
      switch (d.kind) {
        case DimSpec::Kind::kAny:
          a.dims.push_back(AnyExtent(index, k));
          break;
        case DimSpec::Kind::kExact:
          a.dims.push_back(d.exact);
          break;
        case DimSpec::Kind::kVariable: {
          int64_t& known = dims_[static_cast<size_t>(d.variable - 'a')];
          if (known < 0) known = Extent();
          a.dims.push_back(known);
          break;
        }
        case DimSpec::Kind::kCounted:
          a.dims.push_back(Pick(0, 40));
          break;
        case DimSpec::Kind::kRest:
          for (int64_t extent : MakeRest(d.variable)) a.dims.push_back(extent);
          break;
        case DimSpec::Kind::kNonEmpty:
          a.dims.assign(static_cast<size_t>(Pick(0, 1)), 1);
          break;
      }
    }
    return a;
  }

  // Often an extent that other dims have too: an output's that of the first input.
  int64_t AnyExtent(int index, int axis) {
    const bool output = index >= signature_.num_inputs;
    if (output && axis < static_cast<int>(first_dims_.size()) && !Chance(4))
      return first_dims_[static_cast<size_t>(axis)];
    const int64_t known = dims_[static_cast<size_t>(Pick(0, 25))];
    if (known >= 0 && Chance(2)) return known;
    return Extent();
  }

  // Free lists of dims are often those of another tensor, all or but for one.
  std::vector<int64_t> MakeRest(char variable) {
    const auto index = static_cast<size_t>(variable - 'a');
    if (variable != 0 && rest_known_[index]) return rests_[index];
    std::vector<int64_t> dims;
    if (!last_rest_.empty() && !Chance(3)) {
      dims = last_rest_;
      if (Chance(2)) {
        int64_t& d = dims[static_cast<size_t>(Pick(0, static_cast<int64_t>(dims.size()) - 1))];
        d = Pick(0, d);
      }
    } else {
      for (int64_t rank = Pick(0, 3); rank > 0; --rank) dims.push_back(Extent());
    }
    last_rest_ = dims;
    if (variable != 0) {
      rests_[index] = dims;
      rest_known_[index] = true;
    }
    return dims;
  }

  // A call that the signature may not allow. Buffers have the size that the call says.
  void Damage(Call& call) {
    call.as_declared = false;
    Argument& a =
        call.tensors[static_cast<size_t>(Pick(0, static_cast<int64_t>(call.tensors.size()) - 1))];
    const auto some_dim = [&]() -> int64_t& {
      if (a.dims.empty()) a.dims.push_back(1);
      return a.dims[static_cast<size_t>(Pick(0, static_cast<int64_t>(a.dims.size()) - 1))];
    };
    switch (Pick(0, 4)) {
      case 0:
        some_dim() = Pick(0, 7);
        break;
      case 1:
        a.dtype = static_cast<DType>(Pick(0, kNumDTypes));
        break;
      case 2:
        a.dims.push_back(Extent());
        break;
      case 3:
        a.dims.clear();
        break;
      default: {  // no elements, and extents that no product of holds
        int64_t& zero = some_dim();
        zero = 0;
        for (int64_t& d : a.dims) {
          if (&d != &zero) d = Chance(2) ? 100000000 : int64_t{1} << 62;
        }
        break;
      }
    }
  }

  std::vector<std::byte> Contents(const Argument& a) {
    std::vector<std::byte> data(a.bytes());
    const int64_t n = static_cast<int64_t>(data.size()) / DTypeBytes(a.dtype);
    const bool ascending = Chance(2), extremes = !tame_ && Chance(2);
    int64_t last = 0;
    for (int64_t i = 0; i < n; ++i) {
      TensorView view{a.dtype, 0, nullptr, data.data()};
      if (IsFloat(a.dtype)) {
        const double x =
            extremes && Chance(2) ? ExtremeReal() : static_cast<double>(Pick(0, 40)) / 8;
        DispatchDType(a.dtype, [&]<typename T>() { view.as<T>()[i] = ConvertElement<T>(x); });
        continue;
      }
      int64_t x = ascending ? (last += Pick(0, 1)) : Pick(0, 2);
      if (extremes && Chance(3)) x = Extreme();
      StoreIndex(view, i, x);
    }
    return data;
  }

  Signature signature_;
  std::mt19937_64 random_;
  bool tame_ = true, huge_ = false;
  std::array<int64_t, 26> dims_{};
  std::array<int, 26> dtypes_{};
  std::vector<std::vector<int64_t>> rests_;
  std::array<bool, 26> rest_known_{};
  std::vector<int64_t> last_rest_, first_dims_;
};

// --- Running them ---

struct Outcome {
  int32_t error = 0;
  int64_t count = 0;
  std::vector<std::vector<std::byte>> outputs;
};

// Memory for temporaries, of which `left` more allocations succeed.
struct ScarceMemory : RelayvmKernelEnv {
  explicit ScarceMemory(int allocations) : RelayvmKernelEnv{}, left(allocations) {
    struct_size = sizeof(RelayvmKernelEnv);
    strings = &texts;
    num_threads = 1;
    allocate = [](const RelayvmKernelEnv* env, uint64_t bytes) -> void* {
      auto* self = static_cast<ScarceMemory*>(const_cast<RelayvmKernelEnv*>(env));
      if (self->left-- <= 0) return nullptr;
      self->used += static_cast<int64_t>(bytes);
      return std::malloc(bytes);
    };
    release = [](const RelayvmKernelEnv* env, void* memory, uint64_t bytes) {
      auto* self = static_cast<ScarceMemory*>(const_cast<RelayvmKernelEnv*>(env));
      self->used -= static_cast<int64_t>(bytes);
      std::free(memory);
    };
  }
  int left;
  int64_t used = 0;
  StringTable texts;
};
constexpr int kPlenty = std::numeric_limits<int>::max();

// Buffers are of the exact size, so that a sanitizer sees what lies beyond; outputs have margins.
Outcome Run(const Builtin& builtin, const Call& call, std::byte fill, int allocations = kPlenty) {
  std::vector<int64_t> scalars;
  std::vector<void*> buffers;
  std::vector<std::unique_ptr<std::byte[]>> memory;
  const size_t num_inputs = call.inputs.size();
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const Argument& a = call.tensors[i];
    scalars.push_back(static_cast<int64_t>(a.dtype));
    scalars.push_back(static_cast<int64_t>(a.dims.size()));
    scalars.insert(scalars.end(), a.dims.begin(), a.dims.end());
    const bool input = i < num_inputs;
    const size_t margin = input ? 0 : kMargin, size = a.bytes() + 2 * margin;
    memory.push_back(std::make_unique<std::byte[]>(size));
    std::fill_n(memory.back().get(), size, fill);
    if (input) std::copy(call.inputs[i].begin(), call.inputs[i].end(), memory.back().get());
    buffers.push_back(memory.back().get() + margin);
  }
  scalars.insert(scalars.end(), call.params.begin(), call.params.end());
  Outcome outcome;
  for (int c = 0; c < builtin.num_counts; ++c) buffers.push_back(&outcome.count);
  const ScarceMemory env(allocations);
  const RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  outcome.error = builtin.fn(&env, &args, 0, 1);
  CHECK(env.used == 0);
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    const size_t bytes = call.tensors[i].bytes();
    if (i < num_inputs) {
      CHECK(std::equal(call.inputs[i].begin(), call.inputs[i].end(), memory[i].get()));
      continue;
    }
    const std::byte* data = memory[i].get();
    CHECK(std::all_of(data, data + kMargin, [&](std::byte b) { return b == fill; }));
    CHECK(std::all_of(data + kMargin + bytes, data + 2 * kMargin + bytes,
                      [&](std::byte b) { return b == fill; }));
    outcome.outputs.emplace_back(data + kMargin, data + kMargin + bytes);
  }
  return outcome;
}

std::string Describe(const Call& call) {
  std::string text;
  for (const Argument& a : call.tensors) {
    text += std::string(DTypeName(a.dtype)) + "[";
    for (int64_t d : a.dims) text += std::to_string(d) + ",";
    text += "] ";
  }
  text += ";";
  for (int64_t p : call.params) text += " " + std::to_string(p);
  return text;
}

// Of an output whose first extent is counted only the counted part is a result.
size_t ResultBytes(const TensorSpec& spec, const Argument& a, int64_t count) {
  if (spec.num_dims == 0 || spec.dims[0].kind != DimSpec::Kind::kCounted) return a.bytes();
  REQUIRE(count >= 0);
  REQUIRE(count <= a.dims[0]);
  return a.dims[0] == 0 ? 0
                        : a.bytes() / static_cast<size_t>(a.dims[0]) * static_cast<size_t>(count);
}

// Each allocation fails in turn: an error, until there are as many as the call makes.
void RunOutOfMemory(const Builtin& builtin, const Call& call, const Outcome& expected) {
  for (int allocations = 0;; ++allocations) {
    CAPTURE(allocations);
    REQUIRE(allocations < 1000);
    const Outcome outcome = Run(builtin, call, std::byte{0xA5}, allocations);
    if (outcome.error == RELAYVM_KERNEL_OK) {
      REQUIRE(outcome.outputs == expected.outputs);
      REQUIRE(outcome.count == expected.count);
      return;
    }
    REQUIRE(outcome.error == RELAYVM_KERNEL_OUT_OF_MEMORY);
  }
}

// The call with all inputs that may be any integers as int64; none: it has no others. What int64
// does not hold becomes its largest number, which no extent exceeds.
std::optional<Call> WithWideIntegers(const Signature& signature, const Call& call, bool* beyond) {
  Call wide = call;
  bool changed = false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const DTypeSpec& spec = signature.tensors[i].dtype;
    const DType dtype = call.tensors[i].dtype;
    if (spec.kind != DTypeSpec::Kind::kInteger || dtype == DType::kInt64) continue;
    std::vector<std::byte> from = call.inputs[i];
    const TensorView view{dtype, 0, nullptr, from.data()};
    const size_t count = from.size() / static_cast<size_t>(DTypeBytes(dtype));
    wide.tensors[i].dtype = DType::kInt64;
    wide.inputs[i].assign(count * sizeof(int64_t), std::byte{0});
    for (size_t k = 0; k < count; ++k) {
      const int64_t number = LoadIndex(view, static_cast<int64_t>(k));
      *beyond =
          *beyond || (dtype == DType::kUInt64 && number == std::numeric_limits<int64_t>::max());
      std::memcpy(wide.inputs[i].data() + k * sizeof(number), &number, sizeof(number));
    }
    changed = true;
  }
  return changed ? std::optional(std::move(wide)) : std::nullopt;
}

TEST_CASE("an index is a number, whatever its dtype") {
  for (const Builtin& builtin : Builtins()) {
    CAPTURE(builtin.name);
    const Signature signature = Signature::Parse(builtin.signature);
    bool reads = false;
    for (size_t i = 0; i < signature.num_inputs; ++i) {
      reads = reads || signature.tensors[i].dtype.kind == DTypeSpec::Kind::kInteger;
    }
    if (!reads) continue;
    Generator generator(builtin, 11);
    int done = 0;
    for (int n = 0; n < 20000 && done < 300; ++n) {
      const Call call = generator.Next();
      if (!call.as_declared) continue;
      bool beyond = false;
      const std::optional<Call> wide = WithWideIntegers(signature, call, &beyond);
      if (!wide) continue;
      const std::string text = Describe(call);
      CAPTURE(text);
      const Outcome narrow = Run(builtin, call, std::byte{0xA5});
      const Outcome expected = Run(builtin, *wide, std::byte{0xA5});
      // Sizes that int64 does not hold are refused.
      if (beyond && narrow.error != RELAYVM_KERNEL_OK) continue;
      REQUIRE(narrow.error == expected.error);
      REQUIRE(narrow.outputs == expected.outputs);
      REQUIRE(narrow.count == expected.count);
      done += narrow.error == RELAYVM_KERNEL_OK ? 1 : 0;
    }
    CHECK(done > 0);
  }
}

TEST_CASE("every builtin holds whatever it is called with") {
  constexpr int kCalls = 1500, kShortOfMemory = 20;
  int successes = 0;
  for (const Builtin& builtin : Builtins()) {
    CAPTURE(builtin.name);
    const Signature signature = Signature::Parse(builtin.signature);
    Generator generator(builtin, 7);
    int done = 0, refused = 0;
    // More where few succeed.
    for (int n = 0; n < kCalls || ((done == 0 || refused == 0) && n < 20 * kCalls); ++n) {
      const Call call = generator.Next();
      const std::string text = Describe(call);
      CAPTURE(text);
      // Twice, on different memory: what was not written differs.
      const Outcome first = Run(builtin, call, std::byte{0xA5});
      const Outcome second = Run(builtin, call, std::byte{0x5A});
      REQUIRE(first.error == second.error);
      REQUIRE(first.error >= 0);
      if (first.error != RELAYVM_KERNEL_OK) {
        ++refused;
        continue;
      }
      if (++done <= kShortOfMemory) RunOutOfMemory(builtin, call, first);
      REQUIRE(first.count == second.count);
      for (size_t o = 0; o < first.outputs.size(); ++o) {
        const size_t i = o + call.inputs.size();
        const size_t bytes = ResultBytes(signature.tensors[i], call.tensors[i], first.count);
        const bool written = std::equal(first.outputs[o].begin(),
                                        first.outputs[o].begin() + static_cast<ptrdiff_t>(bytes),
                                        second.outputs[o].begin());
        REQUIRE_MESSAGE(written, "output ", o);
      }
    }
    CHECK(done > 0);
    CHECK(refused > 0);
    successes += done;
  }
  CHECK(successes >= static_cast<int>(Builtins().size()) * kCalls / 10);
}

}  // namespace
}  // namespace relayvm::builtin_testing

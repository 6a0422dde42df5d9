#include "tests/fuzz/calls_target.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <string_view>

#include "bytecode/assembler.h"
#include "tests/fuzz/mutate.h"
#include "vm/api/relayvm.h"

namespace relayvm::fuzz {
namespace {

class Choices {
 public:
  explicit Choices(std::string_view bytes)
      : bytes_(bytes), rest_(std::hash<std::string_view>()(bytes)) {}

  int Below(int n) {
    const uint64_t choice =
        next_ < bytes_.size() ? static_cast<unsigned char>(bytes_[next_++]) : rest_();
    return static_cast<int>(choice % static_cast<uint64_t>(n));
  }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string_view OneOf(std::initializer_list<std::string_view> all) {
    return all.begin()[Below(static_cast<int>(all.size()))];
  }

 private:
  std::string_view bytes_;
  size_t next_ = 0;
  std::mt19937_64 rest_;
};

// 11 is float32, 4 is int64. A call passes the dtype, rank and dims of each tensor, then
// parameters.
constexpr const char* kTables = R"(.version 5
.message "size"
.kernel "cumsum" scalars 8 s0=11 s1=1 s3=11 s4=1 buffers (float32[s2], out float32[s5]) units 1 builtin
.kernel "cumsum" scalars 10 s0=11 s1=2 s4=11 s5=2 buffers (float32[s2, s3], out float32[s6, s7]) units 1 builtin
.kernel "sort" scalars 8 s0=11 s1=1 s3=11 s4=1 buffers (float32[s2], out float32[s5]) units 1 builtin
.kernel "scatter_elements" scalars 14 s0=11 s1=1 s3=4 s4=1 s6=11 s7=1 s9=11 s10=1 buffers (float32[s2], int64[s5], float32[s8], out float32[s11] over 0) units 1 builtin
.type float32[16]
.type float32[2, 4]
.constant float32[6] "c"
  .hex 000000000000000000000000000000000000000000000000
.export "main" f0 ("x": float32[?], "y": float32[?, ?], "z": int64[?], "t": (float32[?], float32[?])) -> float32[?]
.function "main" scalars 0 objects 4 captured 0 registers 32 12 returns object arena 256
  .slot 0 64
  .slot 64 64
  .slot 128 128
)";
constexpr const char* kOther =
    R"(.function "other" scalars 1 objects 1 captured 0 registers 1 2 returns object arena 0
  tensor.alloc r1, float32, [i0]
  br.if i0, L0
  ret.r r0!
L0:
  ret.r r1!
.end
)";

// Registers: i0 to i3 are the numbers that calls need, i4 to i9 are dims of the arguments, i10 to
// i17 are constants, and i18 to i23 change. r0 to r3 are the arguments, and r4 on change.
class CallGenerator {
 public:
  explicit CallGenerator(std::string_view input) : choices_(input) {}

  std::string Run() {
    text_ = kTables;
    for (const char* line :
         {"const.i16 i0, 11", "const.i16 i1, 1", "const.i16 i2, 0", "const.i16 i3, 2",
          "const.i16 i24, 4", "tensor.dim i4, r0, #0", "tensor.dim i5, r1, #0",
          "tensor.dim i6, r1, #1", "tensor.dim i7, r2, #0", "adt.get r4, r3, #0",
          "adt.get r5, r3, #1", "tensor.dim i8, r4, #0", "dim.mul i9, i5, i6, m0"})
      Line(line);
    for (int i = 10; i < 14; ++i)
      Line(fmt::format("const.i16 i{}, {}", i,
                       choices_.OneOf({"0", "1", "2", "3", "6", "16", "32", "-1"})));
    for (int i = 14; i < 18; ++i)
      Line(fmt::format("const.i64 i{}, {}", i,
                       choices_.OneOf({"65536", "140737488355328", "4611686018427387904",
                                       "-140737488355328", "9223372036854775807", "8"})));
    for (const char* line :
         {"mov.i i18, i9", "mov.i i19, i5", "dim.add i20, i5, i6, m0", "mov.i i21, i4",
          "mov.i i22, i10", "mov.i i23, i1", "tensor.alloc r6, float32, [i9]",
          "tensor.alloc r7, float32, [i5, i6]", "mov.r r8, r0", "mov.r r9, r5"})
      Line(line);
    if (choices_.Chance(15)) OverflowingSizes();
    const int steps = 3 + choices_.Below(14);
    for (int i = 0; i < steps; ++i) Step();
    if (label_open_) text_ += fmt::format("L{}:\n", labels_);
    Line("tensor.alloc r9, float32, [i4]");
    Line("ret.r r9");
    return text_ + ".end\n" + kOther;
  }

 private:
  void Line(std::string_view line) { text_ += fmt::format("  {}\n", line); }

  std::string Size() {
    if (choices_.Chance(6)) return fmt::format("i{}", 14 + choices_.Below(4));
    return std::string(
        choices_.OneOf({"i4", "i5", "i6", "i7", "i8", "i9", "i9", "i10", "i11", "i12", "i13", "i18",
                        "i18", "i19", "i19", "i20", "i21", "i22"}));
  }
  std::string NewSize() { return fmt::format("i{}", 18 + choices_.Below(6)); }
  std::string Object() {
    return fmt::format(
        "r{}", choices_.OneOf({"0", "1", "1", "4", "5", "6", "6", "7", "7", "8", "9", "10", "11"}));
  }
  std::string NewObject() { return fmt::format("r{}", 6 + choices_.Below(6)); }
  std::string Taken(std::string object, int percent) {
    return object[0] == 'r' && choices_.Chance(percent) ? object + "!" : object;
  }

  // Two sizes (s + K)*c and (s + K + d)*c, where K*c is beyond 64 bits: nearly equal, or small.
  void OverflowingSizes() {
    Line(fmt::format("const.i64 i25, {}",
                     choices_.OneOf({"140737488355328", "4611686018427387904"})));
    Line(fmt::format("const.i64 i26, {}", choices_.OneOf({"65536", "16", "2", "131072"})));
    Line("sub.i i27, i2, i25");
    if (choices_.Chance(50)) Line("addimm.i i27, i27, 1");
    Line("dim.add i18, i27, i25, m0");
    Line(fmt::format("dim.addimm i19, i18, {}, m0", 1 + choices_.Below(3)));
    Line("dim.mul i18, i18, i26, m0");
    Line("dim.mul i19, i19, i26, m0");
    if (choices_.Chance(50)) return;
    Line("tensor.alloc r10, float32, [i18]");
    Line("kernel.1 k0, [i0, i1, i19, i0, i1, i19, i2, i2], [r1, r10]");
  }

  // A call that asks a tensor for room, and what may be taken for known after it: the tensor's
  // dims.
  void RoomAndDims() {
    const std::string object = Object(), out = NewObject(), size = Size(), dim = NewSize();
    const auto call = [&](std::string_view to) {
      Line(fmt::format("kernel.1 k0, [i0, i1, {}, i0, i1, {}, i2, i2], [{}, {}]", size, size,
                       object, to));
    };
    Line(fmt::format("tensor.alloc {}, float32, [{}]", out, size));
    call(out);
    Line(fmt::format("tensor.dim {}, {}, #{}", dim, object, choices_.Below(4) / 3));
    Line(fmt::format("tensor.alloc {}, float32, [{}]", out, dim));
    call(out);
  }

  void Step() {
    const int kind = choices_.Below(103);
    if (kind >= 100) return RoomAndDims();
    if (kind < 8)
      return Line(fmt::format(
          "{} {}, {}, {}, m0",
          choices_.OneOf({"dim.add", "dim.sub", "dim.mul", "dim.floordiv", "dim.floormod"}),
          NewSize(), Size(), Size()));
    if (kind < 11)
      return Line(fmt::format("{} {}, {}, {}", choices_.OneOf({"min.i", "max.i"}), NewSize(),
                              Size(), Size()));
    if (kind < 14)
      return Line(
          fmt::format("dim.addimm {}, {}, {}, m0", NewSize(), Size(), choices_.Below(5) - 1));
    if (kind < 26)
      return Line(
          fmt::format("tensor.dim {}, {}, #{}", NewSize(), Object(), choices_.Chance(70) ? 0 : 1));
    if (kind < 37) return Line(fmt::format("tensor.alloc {}, float32, [{}]", NewObject(), Size()));
    if (kind < 41)
      return Line(fmt::format("tensor.alloc {}, float32, [{}, {}]", NewObject(), Size(), Size()));
    if (kind < 49)
      return Line(fmt::format("tensor.reuse {}, {}, {}, [{}]", NewObject(), Taken(Object(), 50),
                              choices_.OneOf({"float32", "float32", "float32", "int64"}), Size()));
    if (kind < 55)
      return Line(
          fmt::format("tensor.view {}, {}, [{}]", NewObject(), Taken(Object(), 50), Size()));
    if (kind < 58) return Line(fmt::format("mov.r {}, {}", NewObject(), Taken(Object(), 50)));
    if (kind < 60) {
      Line(fmt::format("adt.new r3, #0, [{}, {}]", Object(), Object()));
      return Line(fmt::format("adt.get {}, r3, #{}", NewObject(), choices_.Below(2)));
    }
    if (kind < 61) {
      Line(fmt::format("ref.new r3, {}", Taken(Object(), 50)));
      return Line(fmt::format("ref.get {}, r3", NewObject()));
    }
    if (kind < 63)
      return Line(fmt::format("tensor.append {}, {}, {}, float32, [{}]", NewObject(),
                              Taken(Object(), 50), Object(), Size()));
    if (kind < 64) return Line(fmt::format("drop {}!", NewObject()));
    if (kind < 65) return Line(fmt::format("const.r {}, c0", NewObject()));
    if (kind < 66)
      return Line(fmt::format("tensor.static {}, t{}", NewObject(), choices_.Below(2)));
    if (kind < 67)
      return Line(fmt::format("call.r {}, f1, [{}], [{}]", NewObject(), Size(), Object()));
    if (kind < 69) return Jump();
    if (kind < 71) {
      Line("kernels 2");
      Call();
      return Call(/*may_allocate=*/false);
    }
    if (choices_.Chance(25))
      Line(fmt::format("tensor.alloc {}, float32, [{}]", NewObject(), Size()));
    Call();
  }

  void Jump() {
    if (label_open_) {
      text_ += fmt::format("L{}:\n", labels_);
    } else {
      Line(fmt::format("{} {}, L{}", choices_.OneOf({"br.if", "br.ifnot"}), Size(), ++labels_));
    }
    label_open_ = !label_open_;
  }

  void Call(bool may_allocate = true) {
    const std::string x = Size(), y = choices_.Chance(90) ? x : Size();
    const std::string out =
        choices_.Chance(15) ? std::string(choices_.OneOf({"s0", "s2"})) : NewObject();
    auto source = [&](int percent) {
      return choices_.Chance(88) ? Taken(Object(), percent)
                                 : std::string(choices_.OneOf({"s0", "s1", "s2", "c0"}));
    };
    if (may_allocate && text_.ends_with("kernels 2\n")) may_allocate = false;
    if (may_allocate && out[0] == 'r' && choices_.Chance(30))
      Line(fmt::format("tensor.alloc {}, float32, [{}]", out, choices_.Chance(40) ? Size() : y));
    const int kind = choices_.Below(100);
    if (kind < 60)
      return Line(fmt::format("kernel.1 k{}, [i0, i1, {}, i0, i1, {}, i2, i2], [{}, {}]",
                              choices_.OneOf({"0", "2"}), x, y, source(20), out));
    const std::string more = Size();
    if (kind < 75)
      return Line(fmt::format("kernel.1 k1, [i0, i3, {}, {}, i0, i3, {}, {}, i2, i2], [{}, {}]", x,
                              more, y, more, source(20), out));
    Line(fmt::format(
        "kernel.1 k3, [i0, i1, {}, i24, i1, i7, i0, i1, i7, i0, i1, {}, i2, i2], [{}, r2, {}, {}]",
        x, y, source(20), source(0), out));
  }

  Choices choices_;
  std::string text_;
  int labels_ = 0;
  bool label_open_ = false;
};

Value ZerosOf(DType dtype, std::initializer_list<int64_t> dims) {
  Value value = *Value::NewTensor(dtype, std::vector<int64_t>(dims));
  if (value.bytes() > 0) std::memset(value.mutable_data(), 0, value.bytes());
  return value;
}

}  // namespace

std::vector<std::string> CallSeeds() {
  std::vector<std::string> seeds;
  Mutator numbers(1);
  for (int i = 0; i < 32; ++i) {
    std::string& seed = seeds.emplace_back();
    for (int k = 0; k < 16; ++k) seed += static_cast<char>(numbers.Below(256));
  }
  return seeds;
}

std::string ProgramOfCalls(const std::string& input) { return CallGenerator(input).Run(); }

Status RunCalls(const std::string& input) {
  static const std::shared_ptr<Runtime> runtime = *Runtime::Create({.num_threads = 2});
  const std::string text = ProgramOfCalls(input);
  Result<Program> program = Assemble(text);
  if (!program.ok()) {
    return {StatusCode::kInternal, fmt::format("{}\n{}", program.status().ToString(), text)};
  }
  RELAYVM_ASSIGN_OR_RETURN(
      auto executable, Executable::FromProgram(*std::move(program), {.check_proved_calls = true}));
  InvocationOptions options;
  options.memory_limit = size_t{64} << 20;
  options.timeout = std::chrono::seconds(2);
  RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(runtime, executable, options));
  Choices choices(input);
  const int64_t n = std::array<int64_t, 4>{0, 1, 4, 64}[static_cast<size_t>(choices.Below(4))];
  const auto [rows, columns] = std::array<std::pair<int64_t, int64_t>, 5>{
      {{8, 8}, {16, 4}, {2, 32}, {0, 5}, {64, 1}}}[static_cast<size_t>(choices.Below(5))];
  const Status status =
      invocation
          ->Run("main",
                {ZerosOf(DType::kFloat32, {n}), ZerosOf(DType::kFloat32, {rows, columns}),
                 ZerosOf(DType::kInt64, {1 + choices.Below(3)}),
                 Value::Tuple({ZerosOf(DType::kFloat32, {n}), ZerosOf(DType::kFloat32, {64})})})
          .status();
  if (status.code() != StatusCode::kInternal) return status;
  return {StatusCode::kInternal, fmt::format("{}\n{}", status.ToString(), text)};
}

}  // namespace relayvm::fuzz

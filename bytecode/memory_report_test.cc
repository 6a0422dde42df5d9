#include "bytecode/memory_report.h"

#include <doctest/doctest.h>

#include <string>

#include "bytecode/test_programs.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

// A function of x: float32[n, 3] and y: int8[?], with 64 bytes of arena.
MemoryReport Report(const std::string& body) {
  Result<Program> program = Assemble(R"(
.message "m"
.type float32[4, 4]
.kernel "sort" scalars 0 buffers (float32[0], out float32[0]) builtin
.export "main" f0 ("x": float32[?"n", 3], "y": int8[?]) -> float32[]
.function "main" scalars 0 objects 2 captured 0 registers 4 6 returns object arena 64
  .slot 0 64
)" + body + R"(
.end
.function "other" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Status status = VerifyProgram(*program);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return ReportMemory(*program, 0);
}

TEST_CASE("memory report: the peak is a formula over the arguments' dims") {
  struct Case {
    std::string what;
    std::string body, peak;
  };
  const Case kCases[] = {
      {"nothing but the arena", "ret.r r0!", "64"},
      {"a symbolic tensor", "tensor.dim i0, r0, #0\ntensor.alloc r2, float32, [i0, i0]\nret.r r2!",
       "n*n*4 + 64"},
      {"an argument without dim names",
       "tensor.dim i0, r1, #0\ntensor.alloc r2, int64, [i0]\nret.r r2!", "y.shape[0]*8 + 64"},
      {"arithmetic",
       "tensor.dim i0, r0, #0\ntensor.dim i1, r0, #1\nmul.i i2, i0, i1\naddimm.i i2, i2, 5\n"
       "tensor.alloc r2, int8, [i2]\nret.r r2!",
       "n*3 + 69"},
      {"two live at once", "tensor.static r2, t0\ntensor.static r3, t0\nret.r r3!", "192"},
      {"one after the other", "tensor.static r2, t0\ndrop r2!\ntensor.static r3, t0\nret.r r3!",
       "128"},
      {"a register written again", "tensor.static r2, t0\ntensor.static r2, t0\nret.r r2!", "128"},
      {"moved", "tensor.static r2, t0\nmov.r r3, r2!\nret.r r3!", "128"},
      {"held by a tuple",
       "tensor.static r2, t0\nadt.new r3, #0, [r2!]\ntensor.static r2, t0\nret.r r3!", "192"},
      {"given away to a call",
       "tensor.static r2, t0\ncall.r r3, f1, [], [r2!]\ntensor.static r2, t0\nret.r r2!", "128"},
      {"a view shares memory",
       "const.i16 i0, 16\ntensor.static r2, t0\ntensor.view r3, r2!, [i0]\nret.r r3!", "128"},
      {"reused in place",
       "tensor.static r2, t0\nconst.i16 i0, 16\ntensor.reuse r3, r2!, float32, [i0]\nret.r r3!",
       "128"},
      {"appended to: it may move to where there is room",
       "tensor.static r2, t0\ntensor.static r3, t0\nconst.i16 i0, 8\nconst.i16 i1, 4\n"
       "tensor.append r2, r2!, r3!, float32, [i0, i1]\nret.r r2!",
       "384"},
      {"a kernel's scratch",
       "const.i16 i0, 1\nconst.i16 i1, 1000\nkernel k0, i0, i0, i1, [], [r0, s0]\nret.r r0!",
       "1064"},
      {"taken by a kernel",
       "tensor.static r2, t0\nkernel.1 k0, [], [r2!, s0]\ntensor.static r3, t0\nret.r r3!", "128"},
      {"incomparable peaks",
       "tensor.dim i0, r0, #0\ntensor.alloc r2, int8, [i0]\ndrop r2!\ntensor.static r2, t0\nret.r "
       "r2!",
       "max(128, n + 64)"},
      {"branches that meet",
       "tensor.dim i0, r0, #0\nbr.if i0, L1\ntensor.static r2, t0\njump L2\nL1:\n"
       "tensor.alloc r2, float32, [i0, i0, i0]\nL2:\nret.r r2!",
       "max(128, n*n*n*4 + 64)"},
      {"a loop's registers are unknown at its head",
       "const.i16 i0, 1\nL0:\naddimm.i i0, i0, 1\ntensor.alloc r2, int8, [i0]\nbr.if i0, L0\nret.r "
       "r2!",
       "i0@0x3 + 65"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    CHECK(Report(c.body).peak_bytes == c.peak);
  }
}

TEST_CASE("memory report: allocations in order") {
  MemoryReport report = Report(
      "tensor.dim i0, r0, #0\ntensor.alloc r2, int16, [i0]\ntensor.box r3, i0, int64\nret.r r2!");
  CHECK(report.arena_bytes == 64);
  REQUIRE(report.allocations.size() == 2);
  CHECK(report.allocations[0].pc == 4);
  CHECK(report.allocations[0].mnemonic == "tensor.alloc");
  CHECK(report.allocations[0].bytes == "n*2");
  CHECK(report.allocations[1].bytes == "8");
}

// `count` times `text`.
std::string Repeat(int count, const std::string& text) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST_CASE("memory report: code made to blow up ends, with a peak or without") {
  constexpr const char* kUnknown = "unknown (too much code to analyse)";
  struct Case {
    const char* what;
    std::string body;
    const char* peak;  // null: any
  };
  const Case kCases[] = {
      {"values inside values, deeper than a stack",
       Repeat(100'000, "adt.new r2, #0, [r2!]\n") + "ret.r r2!", kUnknown},
      {"a product that doubles",
       "tensor.dim i0, r0, #0\ntensor.dim i1, r1, #0\nadd.i i0, i0, i1\n" +
           Repeat(60, "mul.i i0, i0, i0\n") + "tensor.alloc r2, int8, [i0, i0, i0]\nret.r r2!",
       nullptr},
      {"a sum that doubles",
       "tensor.dim i0, r0, #0\ntensor.dim i1, r1, #0\n" +
           Repeat(60, "div.i i2, i0, i1\nmax.i i0, i0, i2\nadd.i i0, i0, i1\n") +
           "tensor.alloc r2, int8, [i0]\nret.r r2!",
       nullptr},
      {"tensors that cannot be compared",
       Repeat(5'000,
              "tensor.dim i0, r0!, #1\ncall.r r0, f1, [], [r1]\ntensor.alloc r2, int8, [i0]\n") +
           "ret.r r2!",
       nullptr},
      {"loops inside loops",
       [] {
         std::string heads, tails;
         for (int i = 0; i < 3'000; ++i) {
           heads += "L" + std::to_string(i) + ":\n" + "addimm.i i0, i0, 1\n";
           tails += "br.if i0, L" + std::to_string(i) + "\n";
         }
         return heads + tails + "ret.r r0!";
       }(),
       nullptr},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    MemoryReport report = Report(c.body);
    CHECK(!report.total_bytes.empty());
    CHECK(!report.peak_bytes.empty());
    if (c.peak != nullptr) CHECK(report.peak_bytes == c.peak);
  }
}

TEST_CASE("memory report: the total counts what is called") {
  // f1(n, t) holds 100 bytes of arena and a tensor of n*4 + 8*t.shape[0] bytes, which it returns.
  constexpr const char* kCallee = R"(
.function "f" scalars 1 objects 1 captured 0 registers 3 2 returns object arena 128
  tensor.dim i1, r0, #0
  add.i i1, i1, i1
  add.i i1, i1, i0
  tensor.alloc r1, float32, [i1]
  ret.r r1!
.end
.function "loop" scalars 1 objects 0 captured 0 registers 1 1 returns object arena 64
  tensor.alloc r0, float32, [i0]
  drop r0!
  tail.call f2, [i0], []
.end
.function "deep" scalars 1 objects 0 captured 0 registers 1 1 returns object arena 64
  call.r r0, f3, [i0], []
  ret.r r0!
.end
)";
  const struct {
    const char *body, *peak, *total;
  } kCases[] = {
      // 4n + 8n + 128 inside, 64 outside.
      {"tensor.dim i0, r0, #0\ncall.r r2, f1, [i0], [r0]\nret.r r2!", "64", "n*12 + 192"},
      // The result of the first call is held during the second.
      {"tensor.dim i0, r0, #0\ncall.r r2, f1, [i0], [r0]\ncall.r r3, f1, [i0], [r0]\nret.r r2!",
       "64", "n*24 + 192"},
      // Given back before.
      {"tensor.dim i0, r0, #0\ncall.r r2, f1, [i0], [r0]\ndrop r2!\n"
       "call.r r3, f1, [i0], [r0]\nret.r r3!",
       "64", "n*12 + 192"},
      // In place of this frame.
      {"tensor.dim i0, r0, #0\ntail.call f1, [i0], [r0!]", "64", "n*12 + 128"},
      // The dims of a callee's result are known.
      {"const.i16 i0, 5\ncall.r r2, f1, [i0], [r1]\ntensor.dim i1, r2, #0\n"
       "tensor.alloc r3, int8, [i1]\nret.r r3!",
       "y.shape[0]*2 + 69", "max(y.shape[0]*8 + 212, y.shape[0]*10 + 89)"},
      // Recursion: a loop, and one that holds frames.
      {"const.i16 i0, 5\ncall.r r2, f2, [i0], []\nret.r r2!", "64", "max(84, loop()) + 64"},
      {"const.i16 i0, 5\ncall.r r2, f3, [i0], []\nret.r r2!", "64", "deep() + 128"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.body);
    Result<Program> program = Assemble(
        std::string(".export \"main\" f0 (\"x\": float32[?\"n\", 3], \"y\": int8[?]) -> "
                    "float32[?]\n.function \"main\" scalars 0 objects 2 captured 0 registers 4 6 "
                    "returns object arena 64\n") +
        c.body + "\n.end\n" + kCallee);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    REQUIRE_MESSAGE(VerifyProgram(*program).ok(), VerifyProgram(*program).message());
    MemoryReport report = ReportMemory(*program, 0);
    CHECK(report.peak_bytes == c.peak);
    CHECK(report.total_bytes == c.total);
    CHECK(ReportMemory(*program).at(0).total_bytes == c.total);
  }
}

TEST_CASE("memory report: many registers at many branches") {
  std::string body;
  for (int i = 0; i < 2'000; ++i) body += "br.if i0, L" + std::to_string(i) + "\n";
  for (int i = 0; i < 2'000; ++i) body += "L" + std::to_string(i) + ":\nmov.i i1, i0\n";
  Result<Program> program = Assemble(
      ".export \"main\" f0 () -> float32[]\n.function \"main\" scalars 0 objects 0 captured 0 "
      "registers 32768 32768 returns object arena 0\n" +
      body + "adt.new r0, #0, []\nret.r r0!\n.end\n");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  REQUIRE(VerifyProgram(*program).ok());
  CHECK(ReportMemory(*program, 0).peak_bytes == "unknown (too much code to analyse)");
}

}  // namespace
}  // namespace relayvm

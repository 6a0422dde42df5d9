#include "bytecode/kernel_call.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bytecode/assembler.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

// A function of any object r0 and scalar i0, with two slots of 64 bytes and, others that overlap
// them.
Program ProgramOf(const std::string& body) {
  Result<Program> program = Assemble(R"(
.version 1
.message "size"
.kernel "add" scalars 2 buffers (float32[s0, s1], float32[s1], out float32[s0, s1] over 0) builtin
.kernel "fixed" scalars 1 s0=5 buffers (float32[4], out float32[4]) builtin
.kernel "rows" scalars 1 buffers (out float32[s0*8]) units floordiv(s0 + 3, 4) scratch s0*16 builtin
.type float32[4]
.type int32[4]
.constant float32[4] ""
  .hex 00000000000000000000000000000000
.function "main" scalars 1 objects 1 captured 0 registers 8 8 returns object arena 192
  .slot 0 64
  .slot 64 64
  .slot 64 32
  .slot 128 32
  .slot 0 192
)" + body + R"(
  ret.r r0!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  return *std::move(program);
}

// Of the calls in the order of the code: "p" where all is proved, else for each buffer 1 (check),
// and before them "c" when scalars, units or scratch are checked.
std::string Outcome(const std::string& body) {
  const Program program = ProgramOf(body);
  const Status status = VerifyProgram(program);
  if (!status.ok()) return status.message();
  Result<std::vector<UnprovedBuffer>> unproved = CheckKernelCalls(program);
  REQUIRE(unproved.ok());
  std::string text;
  for (const UnprovedBuffer& b : *unproved)
    text += fmt::format("{}{}@{:#x}", text.empty() ? "" : " ",
                        b.bits == kCheckCall ? "call" : "buffer", b.unit);
  return text;
}

TEST_CASE("kernel calls: what the code allocated for a call is proved, sizes as expressions too") {
  for (const char* body :
       {// The same registers.
        R"(  tensor.dim i1, r0, #0
  const.i16 i2, 8
  tensor.alloc r1, float32, [i1, i2]
  tensor.alloc r2, float32, [i2]
  tensor.alloc r3, float32, [i1, i2]
  kernel.1 k0, [i1, i2], [r1, r2, r3])",
        // Another way to the same size; in the memory of what it reads; a chain.
        R"(  tensor.dim i1, r0, #0
  const.i16 i2, 8
  dim.mul i3, i1, i2, m0
  tensor.alloc r1, float32, [i3]
  tensor.static r2, t0
  mov.r r3, r1!
  const.i16 i4, 4
  tensor.view r5, r3!, [i1, i2]
  tensor.alloc r2, float32, [i2]
  tensor.alloc r4, float32, [i1, i2]
  kernel.1 k0, [i1, i2], [r5, r2, r4]
  tensor.reuse r6, r4, float32, [i1, i2]
  kernel.1 k0, [i1, i2], [r4!, r2, r6]
  tensor.dim i5, r6, #0
  tensor.reuse r7, r6!, float32, [i5, i2]
  kernel.1 k0, [i5, i2], [r5, r2, r7])",
        // Slots and constants of static sizes.
        "  const.i16 i1, 5\n  kernel.1 k1, [i1], [c0, s0]\n  kernel.1 k1, [i1], [s0, s1]",
        // Units and scratch.
        R"(  tensor.dim i1, r0, #0
  const.i16 i2, 8
  dim.mul i3, i1, i2, m0
  tensor.alloc r1, float32, [i3]
  dim.addimm i4, i1, 3, m0
  const.i16 i5, 4
  dim.floordiv i4, i4, i5, m0
  const.i16 i6, 16
  dim.mul i6, i1, i6, m0
  kernel k2, i4, i5, i6, [i1], [r1])"}) {
    CAPTURE(body);
    std::string text = body;
    Program program = ProgramOf(text);
    const Status status = VerifyProgram(program);
    CHECK_MESSAGE(status.ok(), status.message());
    Result<std::vector<UnprovedBuffer>> unproved = CheckKernelCalls(program);
    REQUIRE(unproved.ok());
    CHECK(unproved->empty());
  }
}

TEST_CASE("kernel calls: what the code does not show is left to the call, and known after it") {
  const std::string alloc = "  tensor.static r1, t0\n  tensor.static r2, t0\n  const.i16 i1, 5\n";
  struct Case {
    std::string what, body, outcome;
  };
  for (const Case& c : std::vector<Case>{
           {"an argument, once",
            alloc + "  kernel.1 k1, [i1], [r0, r2]\n  kernel.1 k1, [i1], [r0, r1]", "buffer@0xe"},
           {"a scalar", alloc + "  kernel.1 k1, [i0], [r1, r2]", "call@0xe"},
           {"after a join", alloc + "  jump L0\nL0:\n  kernel.1 k1, [i1], [r1, r2]",
            "call@0x11 buffer@0x11 buffer@0x13"},
           {"held by a tuple", alloc + "  adt.new r3, #0, [r2]\n  kernel.1 k1, [i1], [r1, r2]",
            "buffer@0x15"},
           {"held by another register", alloc + "  mov.r r3, r2\n  kernel.1 k1, [i1], [r1, r2]",
            "buffer@0x13"},
           {"seen by a view",
            alloc + "  const.i16 i2, 4\n  tensor.view r3, r2, [i2]\n  kernel.1 k1, [i1], [r3, r2]",
            "buffer@0x18"},
           {"what shares memory, in another place",
            alloc + "  const.i16 i2, 4\n  tensor.reuse r3, r1, float32, [i2]\n"
                    "  kernel.1 k1, [i1], [r1, r3]",
            "buffer@0x19"},
           {"what shares memory and was moved away",
            alloc + "  const.i16 i2, 4\n  const.i16 i3, 1\n"
                    "  tensor.reuse r3, r1, float32, [i3, i2]\n  mov.r r4, r1!\n"
                    "  kernel.1 k0, [i3, i2], [r4, r2, r3]",
            "buffer@0x23"},
           {"a size in a slot", "  const.i16 i1, 4\n  kernel.1 k0, [i0, i1], [s0, s0, s1]",
            "buffer@0x9 buffer@0xd"},
           {"a scalar that is written again",
            alloc + "  dim.shape [i1], reshape, 0, [i1], [i1], m0\n  kernel.1 k1, [i1], [r1, r2]",
            "call@0x1b"},
           {"a negative dim",
            alloc + "  const.i16 i2, -4\n  const.i16 i3, -1\n"
                    "  kernel.1 k0, [i3, i2], [r1, r1, r2]",
            "buffer@0x15 buffer@0x17 buffer@0x19"}}) {
    CAPTURE(c.what);
    CHECK(Outcome(c.body) == c.outcome);
  }
}

TEST_CASE("kernel calls: a check shows room, and not the dims that have it") {
  // Of r0 room for i1 elements is known after the first call; its dim 0 is any number.
  CHECK(Outcome(R"(  const.i16 i2, 4
  kernel.1 k0, [i0, i2], [r0, c0, r1]
  kernel.1 k0, [i0, i2], [r0, c0, r1]
  tensor.dim i3, r0, #0
  tensor.alloc r2, float32, [i3, i2]
  kernel.1 k0, [i3, i2], [r0, c0, r2]
  kernel.1 k0, [i0, i2], [r0, c0, r2])") ==
        "buffer@0x9 buffer@0xd buffer@0x19 buffer@0x2b buffer@0x37 buffer@0x3b");
}

TEST_CASE("kernel calls: sizes beyond 64 bits are equal to nothing") {
  // (i0 + K) * c and (i0 + K + 1) * c.
  for (const char* more : {R"(
  dim.addimm i3, i2, 1, m0
  dim.mul i3, i3, i4, m0
  dim.mul i2, i2, i4, m0)",
                           // In the shape itself.
                           R"(
  dim.mul i2, i2, i4, m0
  mov.i i3, i2
  dim.add i3, i3, i4, m0)"}) {
    CAPTURE(more);
    CHECK(Outcome(R"(  const.i64 i1, 4611686018427387904
  const.i16 i4, 2
  dim.add i2, i0, i1, m0)" +
                  std::string(more) + R"(
  tensor.alloc r1, float32, [i2]
  const.i16 i5, 8
  dim.mul i6, i3, i5, m0
  kernel k2, i5, i5, i6, [i3], [r1])")
              .find("buffer@") != std::string::npos);
  }
}

TEST_CASE("kernel calls: arguments have the export's types where only the host calls") {
  auto outcome = [](const std::string& exports, const std::string& param, const std::string& more) {
    Result<Program> program = Assemble(".version 1\n.message \"\"\n" + exports + R"(
.kernel "rows" scalars 1 buffers (float32[s0, 8], out float32[s0*8]) builtin
.function "main" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 0
)" + param + R"(
  const.i16 i1, 8
  tensor.alloc r1, float32, [i0, i1]
  kernel.1 k0, [i0], [r0!, r1]
  ret.r r1!
.end
)" + more);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Result<std::vector<UnprovedBuffer>> unproved = CheckKernelCalls(*program);
    return unproved.ok() ? std::to_string(unproved->size()) : unproved.status().message();
  };
  const std::string open = R"(.export "main" f0 ("x": float32[?"n", 8]) -> float32[?, 8])";
  const std::string dim = "  tensor.dim i0, r0, #0";
  CHECK(outcome(open, dim, "") == "0");
  const std::string fixed = R"(.export "main" f0 ("x": float32[3, 8]) -> float32[3, 8])";
  CHECK(outcome(fixed, "  const.i16 i0, 3", "") == "0");
  // Another dim, no export, two exports, a call.
  CHECK(outcome(R"(.export "main" f0 ("x": float32[?, 9]) -> float32[?, 8])", dim, "") == "1");
  CHECK(outcome("", dim, "") == "1");
  CHECK(outcome(open + "\n" + open, dim, "") == "1");
  CHECK(outcome(open, dim, R"(
.function "other" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  tail.call f0, [], [r0!]
.end
)") == "1");
  CHECK(
      outcome(R"(.export "main" f0 ("x": float32[2, 8]) -> float32[3, 8])", "  const.i16 i0, 3", "")
          .ends_with("expected at least 24 elements for buffer 0, found 16"));
}

TEST_CASE("kernel calls: what is wrong in every run is an error") {
  const std::string alloc =
      "  tensor.static r1, t0\n  tensor.static r2, t1\n  const.i16 i1, 5\n  const.i16 i2, 2\n";
  struct Case {
    std::string body, message;
  };
  for (const Case& c : std::vector<Case>{
           {"  kernel.1 k1, [i1], [r1, r2]",
            "kernel.1 k1 (fixed): expected float32 for buffer 1, found int32"},
           {"  kernel.1 k1, [i2], [r1, s0]",
            "kernel.1 k1 (fixed): expected 5 for scalar 0, found 2"},
           {"  kernel.1 k1, [i1], [r1, c0]",
            "kernel.1 k1 (fixed): buffer 1 is written, and constant 0 is given"},
           {"  kernel.1 k1, [i1], [r1, r1]",
            "kernel.1 k1 (fixed): buffers 0 and 1 are both r1, and one is written"},
           {"  kernel.1 k1, [i1], [s0, s0]",
            "kernel.1 k1 (fixed): buffers 1 and 0 overlap, and one is written"},
           {"  kernel.1 k1, [i1], [s4, s1]",
            "kernel.1 k1 (fixed): buffers 0 and 1 overlap, and one is written"},
           {"  kernel.1 k0, [i1, i1], [r1, s0, s1]",
            "kernel.1 k0 (add): expected at least 25 elements for buffer 0, found 4"},
           {"  kernel.1 k0, [i2, i1], [s0, c0, s2]",
            "kernel.1 k0 (add): expected at least 5 elements for buffer 1, found 4"},
           {"  kernel.1 k0, [i1, i2], [s0, s3, s2]",
            "kernel.1 k0 (add): expected at least 10 elements for buffer 2, found 8"}}) {
    CAPTURE(c.body);
    const std::string found = Outcome(alloc + c.body);
    CHECK(found.starts_with("function 'main', offset 0xc: "));
    CHECK_MESSAGE(found.ends_with(c.message), found);
  }
}

}  // namespace
}  // namespace relayvm

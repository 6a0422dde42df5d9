#include "bytecode/register_check.h"

#include <doctest/doctest.h>

#include <string>

#include "bytecode/test_programs.h"
#include "bytecode/verifier.h"

namespace relayvm {
namespace {

// Of a body of "main", which has r0 as its argument; "" when there is none.
std::string ErrorOf(const std::string& body) {
  Result<Program> program = Assemble(testing::SampleText(body));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Status status = VerifyProgram(*program);
  REQUIRE_MESSAGE(status.ok(), status.message());
  return CheckRegisterUse(*program).message();
}

TEST_CASE("register check: registers are written before they are read, on every path") {
  struct Case {
    std::string body, error;
  };
  const Case kCases[] = {
      {"ret.r r0!", ""},
      {"ret.r r1", "ret.r: register r1 may be empty (main+0x0)"},
      {"mov.r r1, r0!\nret.r r0", "ret.r: register r0 may be empty (main+0x3)"},
      {"drop r0\nret.r r0", "ret.r: register r0 may be empty (main+0x2)"},
      {"mov.r r0, r0!\nret.r r0!", ""},
      {"addimm.i i0, i0, 1\nret.r r0", "addimm.i: register i0 may be unset (main+0x0)"},
      {"const.i16 i0, 1\nguard i0, i0, i1, m0\nret.r r0",
       "guard: register i1 may be unset (main+0x3)"},
      {"kernel.1 k1, [], [r0!, s0]\nret.r r0", "ret.r: register r0 may be empty (main+0x8)"},
      {"kernel.1 k1, [], [c0, s0]\nadt.new r1, #0, [r0!]\nret.r r1!", ""},
      // Paths that meet.
      {"const.i16 i0, 1\nbr.if i0, L1\nmov.r r1, r0\nL1:\nret.r r1",
       "ret.r: register r1 may be empty (main+0xa)"},
      {"const.i16 i0, 1\nbr.if i0, L1\nmov.r r1, r0\njump L2\nL1:\nmov.r r1, r0!\nL2:\nret.r r1",
       ""},
      {"const.i16 i0, 1\nswitch i0, [L1, L2]\nL1:\ndrop r0!\nL2:\nret.r r0",
       "ret.r: register r0 may be empty (main+0xc)"},
      // A loop that takes what it reads again.
      {"const.i16 i0, 1\nL0:\nmov.r r1, r0!\nbr.if i0, L0\nret.r r1",
       "mov.r: register r0 may be empty (main+0x3)"},
      {"const.i16 i0, 1\nL0:\nmov.r r1, r0!\nmov.r r0, r1\nbr.if i0, L0\nret.r r1", ""},
      // Code that is not reached does not count.
      {"jump L1\nL0:\nret.r r5\nL1:\nret.r r0", ""},
      {"ret.r r0\nmov.r r1, r2\nret.r r1", ""},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.body);
    CHECK(ErrorOf(c.body) == c.error);
  }
}

}  // namespace
}  // namespace relayvm

// Constants that are made when a program is loaded, with each allocation and mapping failing: where
// they can't be shared they are memory of the program, or there is none for that either.
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bytecode/assembler.h"
#include "bytecode/writer.h"
#include "tests/faults/fail_each.h"
#include "tests/temp_folder.h"

namespace relayvm::faults {
namespace {

TEST_CASE("faults: loading makes constants, for others or alone") {
  const Result<Program> program = Assemble(R"(.version 1
.constant float32[1, 16, 1, 1, 2] "w" recipe "winograd_weights_2" ()
  .input float16[2, 1, 3, 3]
  .hex 003c0038003c0038003c0038003c0038003c0038003c0038003c0038003c0038003c0038
.export "main" f0 () -> float32[1, 16, 1, 1, 2]
.function "main" scalars 0 objects 0 captured 0 registers 0 1 returns object arena 0
  const.r r0, c0
  ret.r r0!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().ToString());
  const auto file = SerializeProgram(*program);
  REQUIRE(file.ok());
  auto expected = Executable::FromMemory(*file, nullptr, {.share_constants = false});
  REQUIRE_MESSAGE(expected.ok(), expected.status().ToString());
  const testing::TempFolder folder;
  const std::string cache = folder / "cache";
  ::setenv("RELAYVM_CACHE", cache.c_str(), 1);
  const SharedBytes& bytes = (*expected)->program().constants[0].data;
  for (const bool found : {false, true}) {
    LeavesNothing([&] {
      FailEach(
          [&] {
            if (!found) std::filesystem::remove_all(cache);
          },
          [&]() -> Status {
            auto loaded = Executable::FromMemory(*file, nullptr);
            if (loaded.ok() && !((*loaded)->program().constants[0].data == bytes))
              return {StatusCode::kInternal, "other bytes"};
            return loaded.status();
          },
          [] {});
    });
    // Nothing that was begun is left.
    for (const auto& entry : std::filesystem::directory_iterator(cache))
      CHECK(entry.path().extension() == ".constants");
  }
  ::setenv("RELAYVM_CACHE", "", 1);
}

}  // namespace
}  // namespace relayvm::faults

// Writing .vmx files (layout: file_format.h). The same program gives the same bytes.
//
// Both functions verify the program first (verifier.h), so that a defect of the compiler shows when
// it compiles, not when somebody loads the file. Thread-safe. Tested by reader_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// The whole file in memory: for small programs and tests.
Result<std::vector<uint8_t>> SerializeProgram(const Program& program);

// Streams the file, constants straight from where they are. A regular file appears whole or not at
// all: it is written under a temporary name beside `path` and renamed, so that processes that have
// the old file mapped keep it.
Status WriteProgramFile(const Program& program, const std::string& path);

}  // namespace relayvm

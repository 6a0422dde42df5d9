// Writing .vmx files (layout: file_format.h). The same program gives the same bytes.
//
// `others` are the same program for further processors, and with regions (program.h, RegionInfo):
// the file's first program asks least, and one with regions follows that of the same processor
// without. Each has one image, or none where there are regions: one with regions and no image is
// for any processor. Constants that share their bytes (SharedBytes::identity) are written once.
//
// Both functions verify the program first (verifier.h), so that a defect of the compiler shows when
// it compiles, not when somebody loads the file. Thread-safe. Tested by reader_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

// The least minor version of the format (file_format.h) that holds the program.
uint16_t LeastFormatMinor(const Program& program);

// The whole file in memory: for small programs and tests.
Result<std::vector<uint8_t>> SerializeProgram(const Program& program,
                                              std::span<const Program> others = {});

// The same, page-aligned, for programs of any size.
Result<SharedBytes> SerializeToShared(const Program& program, std::span<const Program> others = {});

// Streams the file, constants straight from where they are. A regular file appears whole or not at
// all: it is written under a temporary name beside `path` and renamed, so that processes that have
// the old file mapped keep it.
Status WriteProgramFile(const Program& program, const std::string& path,
                        std::span<const Program> others = {});

}  // namespace relayvm

// Reading .vmx files (layout: file_format.h). What comes back has passed the verifier (verifier.h);
// whatever the bytes, the result is such a program or an error. Time and memory are in proportion
// to the file without its constants, which are neither read nor copied.
//
// Damage is found by checksums. Those of constants are compared by CheckSegments alone
// (LoadOptions::verify), since it reads all of them; so damage of a constant is found when somebody
// asks. Kernel images are native code and trusted as a shared library is. Thread-safe. Tested by
// reader_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/status.h"
#include "bytecode/program.h"

namespace relayvm {

struct ReadOptions {
  // Of a file that holds the program for several processors or engines (Program::targets), the one
  // to read: as `targets` names it, or by its processor alone. Empty: the best that runs on this
  // machine (regions.h, ChooseProgram).
  std::string target;
  std::span<const std::string> engines;  // that regions may be for, where there is a choice
};

// Maps the file. The program keeps the mapping alive, and its constants and images point into it;
// code and tables are a copy, so that what was verified cannot change with the file.
Result<Program> OpenProgram(const std::string& path, const ReadOptions& options = {});
Result<Program> ReadProgram(std::shared_ptr<const FileMapping> mapping,
                            const ReadOptions& options = {});
// From memory: copies the bytes, since their alignment is not known.
Result<Program> ReadProgram(std::span<const uint8_t> bytes, const ReadOptions& options = {});

// From memory, which stays as it is for as long as `owner` lives: constants and images point into
// it, the rest is copied. REQUIRES: `bytes` is 64-byte aligned.
Result<Program> ReadProgramInPlace(std::span<const uint8_t> bytes,
                                   std::shared_ptr<const void> owner,
                                   const ReadOptions& options = {});

// Compares the checksums that reading leaves out: of constants, and of the programs and images for
// other processors. kInvalidInput, naming the constant or the processor, where it is not what was
// written. Constants of files that state no checksum pass. Any bytes may be given, and may change
// meanwhile.
Status CheckSegments(std::span<const uint8_t> file);

}  // namespace relayvm

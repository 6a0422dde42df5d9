// Links object files: into programs, and into the kernel image, a shared ELF object with read-only
// and executable segments only, without dynamic relocations and undefined symbols, so that a loader
// maps it and jumps. Thread-safe (LLD runs under a lock). Tested by kernel_compiler_test.cc.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::codegen {

Result<std::vector<uint8_t>> LinkImage(const std::vector<std::vector<char>>& objects,
                                       const std::stop_token& stop = {});

// A program for this operating system that starts in `main_file`: an object file that has, with
// `objects`, all but what C's library has, which is the one of this machine or a later one.
// kNotFound where the file or C's library is missing.
Result<std::vector<uint8_t>> LinkProgram(const std::vector<std::vector<char>>& objects,
                                         const std::string& main_file,
                                         const std::stop_token& stop = {});

// A shared object for this process of objects that need `library`, and C's, at most.
Result<std::vector<uint8_t>> LinkLibrary(const std::vector<std::vector<char>>& objects,
                                         const std::string& library,
                                         const std::stop_token& stop = {});

// Checks the promises above, naming what breaks them.
Status CheckImage(const std::vector<uint8_t>& elf);

// The virtual address of each function of the image by name, in the order of `names`.
Result<std::vector<uint64_t>> FindFunctions(const std::vector<uint8_t>& elf,
                                            const std::vector<std::string>& names);

}  // namespace relayvm::codegen

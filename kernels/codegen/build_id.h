// What this build of the compiler is, for what it keeps beyond a process. Thread-safe. Tested by
// image_key_test.cc.
#pragma once

#include <string>

namespace relayvm::codegen {

// The linker's hashes of the file that this code is in, and of LLVM's library where that is another
// one: of builds that differ in anything, others. Empty where one of them has none.
const std::string& BuildId();

}  // namespace relayvm::codegen

// How much memory a function's own code holds at most, as a formula over the dims of its arguments:
// for `vmdump --memory`.
//
// The code is run symbolically, once, from its start to its end: scalars are dimension expressions,
// and tensors live from their allocation until the last register (or value built from them) that
// holds them is gone. Where branches meet, what they disagree on becomes a new symbol. Counted are
// tensors that this function allocates, its arena, and the scratch of one task of a kernel; not
// what closures hold, and not the headers of objects. The total counts the functions that it calls
// too, with the arguments of each call: what it holds during the call and what the callee holds at
// most. A term "f()" stands for another call of f where recursion hides how many there are.
// The work has a limit: a function beyond it has the peak "unknown (too much code to analyse)".
// Thread-safe. Tested by memory_report_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/program.h"

namespace relayvm {

struct MemoryReport {
  struct Allocation {
    uint32_t pc;  // units from the function's first
    std::string mnemonic;
    std::string bytes;  // "n*4"
  };
  uint64_t arena_bytes = 0;
  std::vector<Allocation> allocations;  // in the order of the code
  std::string peak_bytes;   // of the function alone: "arena + max(...)", the numbers filled in
  std::string total_bytes;  // with what it calls
};

// REQUIRES: the program passed the verifier; function < program.functions.size().
MemoryReport ReportMemory(const Program& program, uint32_t function);
// Of all functions, in their order; what several call is analysed once.
std::vector<MemoryReport> ReportMemory(const Program& program);

}  // namespace relayvm

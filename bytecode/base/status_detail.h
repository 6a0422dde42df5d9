// StatusDetail: what a failed Status knows besides its text, for programs that act on it: where the
// failure was, and its numbers. Fields that are not known are empty. Plain data. Tested by
// status_test.cc; of runs by vm/run/status_detail_test.cc, of compilations by
// compiler/ir/source_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relayvm {

// A place in a program that runs or is compiled.
struct StatusPlace {
  std::string function;
  std::string file;          // of the source, or a model's node; empty: unknown
  uint32_t line = 0;         // from 1; 0: unknown
  uint32_t column = 0;       // from 1; 0: unknown
  uint32_t instruction = 0;  // 16-bit units from the function's first
  // Of a program that is compiled: the text of the line, and the bytes from the column on that the
  // failure is about (0: unknown).
  std::string source_line;
  uint32_t length = 0;
};

struct StatusDetail {
  // Where it failed, and the calls that led there, the innermost first; no more than the message
  // shows. Of a program that is compiled: the place in its text, or its model's node. Empty when it
  // is about none.
  std::vector<StatusPlace> places;
  // What it is about: a parameter ("x"), an output, a kernel.
  std::string subject;
  // What was expected and what was found: a number, or a shape's dims (-1: any).
  std::vector<int64_t> expected, found;
  // The same in words, of a program that is compiled: types, tokens.
  std::string expected_text, found_text;
  // The numbers of a failed guard, in the order of its message.
  std::vector<int64_t> numbers;
};

}  // namespace relayvm

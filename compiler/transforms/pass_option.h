// Options of passes. One is declared once, beside the pass that reads it, and named in the row of
// each pass that does (Pass::options); from the rows come relayc's flags and --help, --list-passes,
// CompilerOptions::Set and C's settings, Python's keywords and PassContext(config={...}), and what
// they say of a value that is wrong.
//
//   const OptionOf<int64_t>& LimitOption() {
//     static const OptionOf<int64_t> option =
//         NumberOption({.name = "limit", .help = "the most that it counts"}, 1, 100, 8);
//     return option;
//   }
//   {.name = "Count", .run = ..., .options = {&LimitOption().row()}}
//   LimitOption().In(context.options)  // where the pass runs: 8 where nobody says otherwise
//
// Thread-safe. Tested by compiler/api/pass_options_test.cc and tests/passes.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm {

// What was given, by the options' names: texts that their rows have checked.
using PassOptionValues = std::map<std::string, std::vector<std::string>, std::less<>>;

struct PassOption {
  std::string name;                      // relayc's, without dashes: "disable-pass"
  std::string help;                      // without the default, which is said for it
  std::string keyword = {};              // Python's; empty: the name with _ for -
  std::vector<std::string> values = {};  // where there are only these; a flag: {"true", "false"}
  std::string form = {};                 // of a value, as "OPERATOR=DATA:KERNEL"; empty: `values`
  std::string initial = {};              // what holds where none is given, for --help
  bool repeats = false;                  // given several times, all count; else the last one
  // kInvalidArgument, "expected ...", where a value is wrong: OptionOf makes it.
  std::function<Status(std::string_view text)> check = {};

  bool is_flag() const {
    return form.empty() && values == std::vector<std::string>{"true", "false"};
  }
  // Of --help: "q8|q4".
  std::string Form() const;
};

// Reads an option's values.
template <typename T>
class OptionOf {
 public:
  // Takes one value, after those before it where the option repeats.
  using Read = std::function<Status(std::string_view text, T* value)>;

  OptionOf(PassOption row, Read read, T initial = {})
      : row_(std::move(row)), read_(std::move(read)), initial_(std::move(initial)) {
    row_.check = [this](std::string_view text) {
      T value = initial_;
      return read_(text, &value);
    };
  }
  OptionOf(const OptionOf&) = delete;
  OptionOf& operator=(const OptionOf&) = delete;

  const PassOption& row() const { return row_; }
  // REQUIRES: values that were checked.
  T In(const PassOptionValues& values) const {
    T value = initial_;
    const auto found = values.find(row_.name);
    if (found == values.end()) return value;
    for (const std::string& text : found->second) {
      const Status read = read_(text, &value);
      assert(read.ok());
      static_cast<void>(read);
    }
    return value;
  }

 private:
  PassOption row_;
  Read read_;
  T initial_;
};

// Of the row: name and help; what else there is to say of it is made.
OptionOf<bool> FlagOption(PassOption row);
OptionOf<int64_t> NumberOption(PassOption row, int64_t least, int64_t most, int64_t initial);

// kInvalidArgument, "--NAME TEXT: expected ...".
Status CheckPassOption(const PassOption& option, std::string_view text);

}  // namespace relayvm

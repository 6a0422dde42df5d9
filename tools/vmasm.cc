// vmasm: makes a .vmx file of bytecode as text, which `relayc --emit bytecode` and `vmdump
// --bytecode` write. The command line is the user's contract:
//
//   vmasm INPUT [--data MODEL.vmx] [-o OUT.vmx]
//
// What was disassembled assembles to the same file, byte for byte. Exit status: 0 done, 1 wrong
// usage, 2 bad input. Tested by tools_test.cc.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "bytecode/assembler.h"
#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/reader.h"
#include "bytecode/writer.h"
#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"
#include "tools/cli/output_files.h"

namespace relayvm::tools {
namespace {

// The file to write: INPUT's name with .vmx where none is given.
std::string OutputOf(const std::string& input, std::string output) {
  if (!output.empty()) return output;
  const size_t dot = input.rfind('.');
  const bool has_extension = dot != std::string::npos && input.find('/', dot) == std::string::npos;
  return input.substr(0, has_extension ? dot : std::string::npos) + ".vmx";
}

Status Run(const std::string& input, const std::string& data_path, const std::string& output) {
  RELAYVM_ASSIGN_OR_RETURN(auto file, FileMapping::Open(InputPath(input)));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  if (IsBinary(text.substr(0, 1024)) || text.empty()) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: expected bytecode as text, found {}", input, DescribeFile(text))};
  }
  std::optional<Program> data;
  if (!data_path.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(data, OpenProgram(data_path));
  }
  Result<Program> program = Assemble(text, data ? &*data : nullptr);
  if (!program.ok()) {
    const std::string found = DescribeFile(text);
    const bool other = found != "text" && !found.starts_with("bytecode");
    return other ? Status(StatusCode::kInvalidInput,
                          fmt::format("{}: expected bytecode as text, found {}", input, found))
                 : program.status().WithContext(input);
  }
  RELAYVM_RETURN_IF_ERROR(CheckOutputs({output}, {{input, "the input"}}));
  return WriteProgramFile(*program, output);
}

int Main(int argc, char** argv) {
  CLI::App app("Makes a compiled program of bytecode as text.", "vmasm");
  std::string input, data, output;
  app.add_option("INPUT", input, "bytecode as text; - for standard input")->required();
  app.add_option("--data", data,
                 "a .vmx file with the constants and kernel images whose bytes the text elides");
  app.add_option("-o,--output", output, "the file to write (default: INPUT's name with .vmx)");
  constexpr OptionForm kForms[] = {{"--data", "Input", "FILE"}, {"--output", "Output", "FILE"}};
  ShowOptions(app, kForms);
  app.footer(
      "Exit status: 0 done, 1 wrong usage, 2 bad input.\n\n"
      "Examples:\n"
      "  relayc model.relay --emit bytecode --data -o model.txt\n"
      "  vmasm model.txt -o model.vmx");
  if (auto done = ParseCommandLine(app, {argv + 1, argv + argc})) return *done;
  if (input == "-" && output.empty()) {
    fmt::print(stderr,
               "vmasm: standard input has no name to derive the output's from: give --output\n");
    return 1;
  }
  Status status = Run(input, data, OutputOf(input, output));
  if (status.ok()) return 0;
  fmt::print(stderr, "vmasm: {}\n", PrintableLines(status.message()));
  return 2;
}

}  // namespace
}  // namespace relayvm::tools

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain("vmasm", [&] { return relayvm::tools::Main(argc, argv); });
}

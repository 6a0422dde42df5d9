// relayc: compiles a Relay program to a .vmx file.
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iostream>

#include "bytecode/disassembler.h"
#include "bytecode/writer.h"
#include "compiler/ir/printer.h"
#include "tools/lib/compile_flags.h"

namespace relayvm::tools {
namespace {

Status WriteText(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    std::cout << text;
    return OkStatus();
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out) return {StatusCode::kInvalidInput, fmt::format("cannot write {}", path)};
  return OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Compiles a Relay program to an executable for relayvm.", "relayc");
  CompileFlags flags;
  flags.AddTo(app);
  std::string output;
  std::string emit = "vmx";
  app.add_option("-o,--output", output, "the file to write (default: INPUT's name with .vmx)");
  app.add_option("--emit", emit, "what to write: vmx, relay, bytecode, llvm or asm")
      ->check(CLI::IsMember({"vmx", "relay", "bytecode", "llvm", "asm"}));
  std::vector<std::string> args = NormalizeArguments(argc, argv);
  try {
    app.parse(args);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kExitUsage;
  }
  if (Status s = flags.Finish(); !s.ok()) return Fail("relayc", s);
  flags.options.kernels.keep_llvm_ir = emit == "llvm";
  flags.options.kernels.keep_assembly = emit == "asm";
  auto compiled = CompileFile(flags.input, flags.options);
  flags.PrintTimings();
  if (!compiled.ok()) return Fail("relayc", compiled.status());

  Status written;
  if (emit == "vmx") {
    if (output.empty()) {
      size_t dot = flags.input.rfind('.');
      size_t slash = flags.input.rfind('/');
      bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
      output = flags.input.substr(0, has_extension ? dot : std::string::npos) + ".vmx";
    }
    written = WriteProgramFile(compiled->program, output);
  } else if (emit == "relay") {
    written = WriteText(output, ir::PrintModule(compiled->module));
  } else if (emit == "bytecode") {
    written = WriteText(output, DisassembleProgram(compiled->program));
  } else {
    written = WriteText(output, emit == "llvm" ? compiled->llvm_ir : compiled->assembly);
  }
  return written.ok() ? 0 : Fail("relayc", written);
}

}  // namespace
}  // namespace relayvm::tools

int main(int argc, char** argv) { return relayvm::tools::Main(argc, argv); }

// relayvm doctor: what a report of an error should say of the machine and the installation, and a
// test of both that takes about a second. The command line is the user's contract:
//
//   relayvm doctor [--json]
//
// Exit status: 0 all is well, 1 wrong usage, 3 a test failed. Tested by tools/doctor_test.cc.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/assembler.h"
#include "bytecode/base/machine_limits.h"
#include "bytecode/base/printable.h"
#include "bytecode/file_format.h"
#include "bytecode/image_loader.h"
#include "bytecode/opcode.h"
#include "bytecode/writer.h"
#include "tools/cli/command_line.h"
#include "tools/cli/option_forms.h"

extern char** environ;

namespace relayvm::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A recursive function, without a kernel.
constexpr std::string_view kFibonacci = R"(
.version 1
.export "main" f0 ("n": int64[]) -> int64[]
.function "main" scalars 0 objects 1 captured 0 registers 2 2 returns object arena 0
  tensor.item i0, r0!, int64, 0
  call.i i1, f1, [i0], []
  tensor.box r0, i1, int64
  ret.r r0!
.end
.function "fibonacci" scalars 1 objects 0 captured 0 registers 4 0 returns scalar arena 0
  addimm.i i1, i0, -2
  const.i16 i2, 0
  br.cmp.i lt, i1, i2, L0
  addimm.i i2, i0, -1
  call.i i2, f1, [i2], []
  call.i i3, f1, [i1], []
  add.i i0, i2, i3
L0:
  ret.i i0
.end
)";

struct Fact {
  std::string name, text;
};

struct Test {
  std::string name, text;
  bool is_good = true;
};

struct Output {
  std::string text;
  int status = -1;
};

std::string Quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// What a command says on both of its outputs.
Output RunCommand(const std::vector<std::string>& words, const std::string& variable = "") {
  std::string command = variable;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + Quoted(word);
  Output output;
  std::FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (output.text.ends_with('\n')) output.text.pop_back();
  return output;
}

// The value of the first line that begins with `key`.
std::string Field(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find_first_not_of(" \t:=\"", key.size());
    const size_t end = line.find_last_not_of(" \"");
    return at == std::string::npos ? "" : line.substr(at, end - at + 1);
  }
  return "unknown";
}

constexpr std::array<const char*, 3> kLevels = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};

std::vector<std::string> LevelsHere() {
  const CpuFeatures cpu = CpuFeatures::OfThisMachine();
  std::vector<std::string> levels;
  for (const char* level : kLevels) {
    if (cpu.Missing(level).empty()) levels.emplace_back(level);
  }
  return levels;
}

std::string LevelText() {
  const std::vector<std::string> levels = LevelsHere();
  if (levels.empty()) {
    std::string missing;
    for (const std::string& name : CpuFeatures::OfThisMachine().Missing(kLevels[0]))
      missing += (missing.empty() ? "" : ", ") + name;
    return "below x86-64-v2, which relayvm needs: without " + missing;
  }
  std::string text = levels.back();
  for (const char* feature : {"avxvnni", "avx512vnni", "avx512bf16", "avx512fp16", "amx-int8"}) {
    if (CpuFeatures::OfProcessor().Has(feature)) text += std::string(" +") + feature;
  }
  return text;
}

std::string Mebibytes(size_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

std::string MemoryText() {
  const auto machine =
      static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t allowed = ReadMachineLimits().memory_bytes;
  return fmt::format("{}{}", Mebibytes(machine),
                     allowed < machine ? fmt::format(", of which this control group may have {}",
                                                     Mebibytes(allowed))
                                       : ", all of which may be used");
}

std::string ProcessorsText() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int bound = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  return fmt::format(
      "{} in the machine, {} by the affinity of this process, {} with the limits of "
      "its control group",
      ::sysconf(_SC_NPROCESSORS_ONLN), bound, ReadMachineLimits().num_processors);
}

std::string VariablesText() {
  std::string text;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view v = *variable;
    if (v.starts_with("RELAYVM_") || v.starts_with("OMP_NUM_THREADS="))
      text += fmt::format("{}{}", text.empty() ? "" : ", ", Printable(v));
  }
  return text.empty() ? "none" : text;
}

// Where the tools are: beside this one, and in wheels also beside their packages.
std::string ToolPath(const fs::path& own_folder, const std::string& name) {
  std::error_code error;
  for (const char* place : {".", "../compiler/bin", "../serve/bin"}) {
    const fs::path path = own_folder / place / name;
    if (fs::exists(path, error)) return path.lexically_normal().string();
  }
  return "";
}

fs::path OwnFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::vector<Fact> Facts(const fs::path& folder) {
  utsname system{};
  ::uname(&system);
  std::vector<Fact> facts = {
      {"relayvm", fmt::format("{}, .vmx format {}.{}, bytecode {}", RELAYVM_VERSION, kFormatMajor,
                              kFormatMinor, kBytecodeVersion)},
      {"system", fmt::format("{}, Linux {}, {}, glibc {}", Field("/etc/os-release", "PRETTY_NAME"),
                             system.release, system.machine, gnu_get_libc_version())},
      {"processor", Field("/proc/cpuinfo", "model name")},
      {"level", LevelText()},
      {"processors", ProcessorsText()},
      {"memory", MemoryText()},
      {"variables", VariablesText()},
  };
  for (const char* tool :
       {"relayc", "relayrun", "vmrun", "vmdump", "vmasm", "vmserve", "vmbench"}) {
    const std::string path = ToolPath(folder, tool);
    facts.push_back({tool, path.empty()
                               ? "not installed here"
                               : fmt::format("{} in {}", RunCommand({path, "--version"}).text,
                                             fs::path(path).parent_path().string())});
  }
  return facts;
}

class Tests {
 public:
  explicit Tests(fs::path folder) : folder_(std::move(folder)) {}

  std::vector<Test> Run() {
    const fs::path base = fs::temp_directory_path() / "relayvm-doctor-XXXXXX";
    std::string name = base.string();
    if (::mkdtemp(name.data()) == nullptr)
      return {{"temporary files", fmt::format("{} cannot be made", name), false}};
    files_ = name;
    const std::string relayc = ToolPath(folder_, "relayc"), vmrun = ToolPath(folder_, "vmrun");
    if (vmrun.empty()) {
      tests_.push_back({"a program", "vmrun is not installed here", false});
    } else {
      RunBytecode(vmrun);
      if (!relayc.empty()) RunLevels(relayc, vmrun);
    }
    std::error_code error;
    fs::remove_all(files_, error);
    return tests_;
  }

 private:
  void Write(const char* name, std::string_view text) const {
    std::ofstream(files_ / name) << text;
  }

  void Add(std::string name, const Output& output, const std::string& expected,
           Clock::time_point start) {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    const bool is_good = output.status == 0 && output.text == expected;
    tests_.push_back({std::move(name),
                      is_good ? fmt::format("as expected, {:.0f} ms", ms)
                              : fmt::format("expected {}, found {} (exit status {})", expected,
                                            output.text, output.status),
                      is_good});
  }

  // The interpreter alone, without a compiler.
  void RunBytecode(const std::string& vmrun);
  // A product with its epilogue, compiled for each level that the machine has.
  void RunLevels(const std::string& relayc, const std::string& vmrun);

  fs::path folder_, files_;
  std::vector<Test> tests_;
};

void Tests::RunBytecode(const std::string& vmrun) {
  const auto start = Clock::now();
  const std::string path = files_ / "program.vmx";
  const Result<Program> program = Assemble(kFibonacci);
  const Status made = program.ok() ? WriteProgramFile(*program, path) : program.status();
  Add("bytecode",
      made.ok() ? RunCommand({vmrun, path, "--input", "20"}) : Output{made.message(), 2}, "6765i64",
      start);
}

void Tests::RunLevels(const std::string& relayc, const std::string& vmrun) {
  Write("product.relay",
        "#[version = \"0.0.5\"]\n"
        "def @main(%x: Tensor[(?, 64), float32], %w: Tensor[(1, 64), float32]) {\n"
        "  sum(nn.relu(nn.dense(%x, %w)))\n}\n");
  for (const std::string& level : LevelsHere()) {
    const auto start = Clock::now();
    const std::string program = files_ / (level + ".vmx");
    const Output made = RunCommand({relayc, "-q", "--cache", "off", "--target", level,
                                    files_ / "product.relay", "-o", program});
    Add("kernels for " + level,
        made.status == 0 ? RunCommand({vmrun, program, "--threads", "0", "--input", "7x64xf32=1",
                                       "--input", "1x64xf32=0.5", "--json"})
                         : made,
        R"({"dtype": "float32", "shape": [], "data": 224})", start);
  }
}

std::string JsonQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void PrintJson(const std::vector<Fact>& facts, const std::vector<Test>& tests) {
  std::string text = "{";
  for (const Fact& fact : facts)
    text += fmt::format("{}: {}, ", JsonQuoted(fact.name), JsonQuoted(fact.text));
  text += "\"tests\": [";
  for (size_t i = 0; i < tests.size(); ++i) {
    text += fmt::format(R"({}{{"name": {}, "passed": {}, "text": {}}})", i == 0 ? "" : ", ",
                        JsonQuoted(tests[i].name), tests[i].is_good, JsonQuoted(tests[i].text));
  }
  fmt::print("{}]}}\n", text);
}

void PrintText(const std::vector<Fact>& facts, const std::vector<Test>& tests) {
  for (const Fact& fact : facts) fmt::print("{:<12} {}\n", fact.name, Printable(fact.text));
  for (const Test& test : tests) {
    fmt::print("{} {}: {}\n", test.is_good ? "passed      " : "FAILED      ", test.name,
               PrintableLines(test.text));
  }
}

int Main(int argc, char** argv) {
  CLI::App app(
      "doctor: prints what a report of an error should say of this machine and what is "
      "installed, and tests both for about a second.",
      "relayvm");
  std::string command;
  bool json = false;
  app.add_option("COMMAND", command, "doctor")->required()->check(CLI::IsMember({"doctor"}));
  app.add_flag("--json", json, "one JSON object instead of text");
  constexpr OptionForm kForms[] = {{"--json", "Output"}};
  ShowOptions(app, kForms);
  app.footer(
      "Exit status: 0 all is well, 1 wrong usage, 3 a test failed.\n\n"
      "Examples:\n"
      "  relayvm doctor");
  if (auto done = ParseCommandLine(app, {argv + 1, argv + argc})) return *done;
  const fs::path folder = OwnFolder();
  const std::vector<Fact> facts = Facts(folder);
  const std::vector<Test> tests = Tests(folder).Run();
  json ? PrintJson(facts, tests) : PrintText(facts, tests);
  constexpr int kFailed = 3;
  return std::ranges::all_of(tests, &Test::is_good) ? 0 : kFailed;
}

}  // namespace
}  // namespace relayvm::tools

int RELAYVM_MAIN(int argc, char** argv) {
  return relayvm::tools::GuardedMain("relayvm", [&] { return relayvm::tools::Main(argc, argv); });
}

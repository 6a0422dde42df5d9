#include "tools/values/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "bytecode/disassembler.h"
#include "bytecode/instruction.h"
#include "tools/values/print.h"

namespace relayvm::tools {

void Profiler::OnKernel(const KernelEvent& event) {
  if (options_.kernels) {
    auto at = totals_.find(event.name);
    if (at == totals_.end()) at = totals_.emplace(std::string(event.name), Total{}).first;
    int64_t ns = event.end_ns - event.begin_ns;
    ++at->second.calls;
    at->second.ns += ns;
    at->second.longest_ns = std::max(at->second.longest_ns, ns);
  }
  if (options_.events) {
    events_.push_back({std::string(event.name), event.begin_ns, event.end_ns, event.units});
  }
}

const std::vector<std::string>& Profiler::Listing(uint32_t function) {
  auto [at, inserted] = listings_.try_emplace(function);
  std::vector<std::string>& lines = at->second;
  if (!inserted) return lines;
  const FunctionInfo& f = program_->functions[function];
  lines.resize(f.code_size);
  auto units = program_->code.subspan(f.code_offset, f.code_size);
  // The disassembly has a line for each instruction, in order, among labels and declarations.
  std::istringstream text(DisassembleFunction(*program_, function, {.locations = false}));
  std::string line;
  Instruction instruction;
  for (size_t pc = 0; pc < units.size(); pc += instruction.size()) {
    if (!DecodeInstruction(units, pc, &instruction).ok()) break;
    std::string start = fmt::format("  {}", instruction.info->mnemonic);
    while (std::getline(text, line)) {
      if (line == start || line.starts_with(start + " ")) break;
    }
    lines[pc] = text ? line.substr(2) : std::string(instruction.info->mnemonic);
  }
  return lines;
}

void Profiler::OnInstruction(const InstructionEvent& event) {
  constexpr uint32_t kMaxIndent = 20;
  if (program_ == nullptr || event.function >= program_->functions.size()) return;
  const std::vector<std::string>& lines = Listing(event.function);
  if (event.pc >= lines.size()) return;
  fmt::print(stderr, "{:{}}{}+{:#x}  {}\n", "", 2 * std::min(event.depth, kMaxIndent),
             program_->functions[event.function].name, event.pc, lines[event.pc]);
}

std::vector<Profiler::Line> Profiler::Lines() const {
  std::vector<Line> lines;
  for (const auto& [name, total] : totals_) lines.push_back({name, total});
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.total.ns > b.total.ns; });
  return lines;
}

std::string Profiler::Table(int64_t total_ns) const {
  std::string out = fmt::format("{:>10} {:>12} {:>12} {:>8}  {}\n", "calls", "total ms", "mean us",
                                "share", "kernel");
  auto share = [&](int64_t ns) {
    return total_ns > 0 ? 100.0 * static_cast<double>(ns) / static_cast<double>(total_ns) : 0;
  };
  int64_t in_kernels = 0;
  for (const Line& line : Lines()) {
    in_kernels += line.total.ns;
    auto ns = static_cast<double>(line.total.ns);
    out += fmt::format("{:>10} {:>12.3f} {:>12.3f} {:>7.1f}%  {}\n", line.total.calls, ns / 1e6,
                       ns / 1e3 / static_cast<double>(line.total.calls), share(line.total.ns),
                       line.name);
  }
  int64_t other = std::max<int64_t>(0, total_ns - in_kernels);
  out += fmt::format("{:>10} {:>12.3f} {:>12} {:>7.1f}%  {}\n", "",
                     static_cast<double>(other) / 1e6, "", share(other), "outside kernels");
  return out;
}

std::string Profiler::Json() const {
  std::string out = "[";
  for (const Line& line : Lines()) {
    out += fmt::format(R"({}{{"kernel": {}, "calls": {}, "total_ms": {}, "longest_ms": {}}})",
                       out.size() > 1 ? ", " : "", JsonString(line.name), line.total.calls,
                       static_cast<double>(line.total.ns) / 1e6,
                       static_cast<double>(line.total.longest_ns) / 1e6);
  }
  return out + "]";
}

Status Profiler::WriteChromeTrace(const std::string& path) const {
  std::ofstream out(path, std::ios::binary);
  int64_t start = events_.empty() ? 0 : events_.front().begin_ns;
  out << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  for (size_t i = 0; i < events_.size(); ++i) {
    const Event& e = events_[i];
    out << fmt::format(
        R"({}{{"name": {}, "cat": "kernel", "ph": "X", "pid": 1, "tid": 1, "ts": {:.3f}, "dur": {:.3f}, "args": {{"units": {}}}}})",
        i == 0 ? "\n" : ",\n", JsonString(e.name), static_cast<double>(e.begin_ns - start) / 1e3,
        static_cast<double>(e.end_ns - e.begin_ns) / 1e3, e.units);
  }
  out << "\n]}\n";
  out.close();
  if (!out) return {StatusCode::kInvalidInput, fmt::format("{}: cannot be written", path)};
  return OkStatus();
}

}  // namespace relayvm::tools

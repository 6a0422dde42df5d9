#include "tools/values/profiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <sstream>

#include "bytecode/base/printable.h"
#include "bytecode/disassembler.h"
#include "bytecode/instruction.h"
#include "tools/values/print.h"

namespace relayvm::tools {

namespace {

std::string PlaceText(const StatusPlace& place) {
  return place.line == 0 ? place.file : fmt::format("{}:{}", place.file, place.line);
}

std::string Heading(std::string_view names) {
  return fmt::format("{:>10} {:>12} {:>12} {:>8}  {}\n", "calls", "total ms", "mean us", "share",
                     names);
}

// Kernels are named by their operators and a number: rows of those with the same operators, the
// longest time first.
std::vector<Profile::Row> ByOperators(const std::vector<Profile::Row>& kernels) {
  std::vector<Profile::Row> rows;
  for (const Profile::Row& kernel : kernels) {
    const size_t digits = kernel.name.find_last_not_of("0123456789");
    const bool is_numbered = digits != std::string::npos && digits > 0 &&
                             digits + 1 < kernel.name.size() && kernel.name[digits] == '_';
    const std::string name = is_numbered ? kernel.name.substr(0, digits) : kernel.name;
    auto row = std::ranges::find(rows, name, &Profile::Row::name);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), Profile::Row());
      row->name = name;
    }
    row->calls += kernel.calls;
    row->total_ns += kernel.total_ns;
    row->longest_ns = std::max(row->longest_ns, kernel.longest_ns);
  }
  std::ranges::stable_sort(rows, std::greater<>(), &Profile::Row::total_ns);
  return rows;
}

// A table of rows, in their order, without its heading.
std::string Rows(const std::vector<Profile::Row>& rows, int64_t total_ns, bool with_places) {
  std::string out;
  for (const Profile::Row& row : rows) {
    const auto ns = static_cast<double>(row.total_ns);
    const double share = total_ns > 0 ? 100.0 * ns / static_cast<double>(total_ns) : 0;
    const std::string place = PlaceText(row.place);
    const std::string name = with_places     ? fmt::format("{}  {}", place, row.name)
                             : place.empty() ? row.name
                                             : fmt::format("{}  [{}]", row.name, place);
    const auto calls = static_cast<double>(std::max<uint64_t>(row.calls, 1));
    out += fmt::format("{:>10} {:>12.3f} {:>12.3f} {:>7.1f}%  {}\n", row.calls, ns / 1e6,
                       ns / 1e3 / calls, share, name);
  }
  return out;
}

std::string RowsJson(const std::vector<Profile::Row>& rows, bool with_places,
                     const char* name = "kernel") {
  // Of a graph's nodes it is not known.
  const bool with_longest =
      std::ranges::any_of(rows, [](const Profile::Row& row) { return row.longest_ns > 0; });
  std::string out = "[";
  for (const Profile::Row& row : rows) {
    const std::string place =
        with_places ? fmt::format(R"("place": {}, )", JsonString(PlaceText(row.place))) : "";
    out += fmt::format(R"({}{{{}"{}": {}, "calls": {}, "total_ms": {})", out.size() > 1 ? ", " : "",
                       place, name, JsonString(row.name), row.calls,
                       static_cast<double>(row.total_ns) / 1e6);
    if (with_longest)
      out += fmt::format(R"(, "longest_ms": {})", static_cast<double>(row.longest_ns) / 1e6);
    out += "}";
  }
  return out + "]";
}

}  // namespace

void Profiler::OnKernel(const KernelEvent& event) {
  if (options_.kernels) profile_.OnKernel(event);
  if (options_.events) trace_.OnKernel(event);
}
void Profiler::OnRunEnd(const RunEvent& event) {
  if (options_.events) trace_.OnRunEnd(event);
}
void Profiler::OnSlice(const SliceEvent& event) {
  if (options_.events) trace_.OnSlice(event);
}
void Profiler::OnWait(const WaitEvent& event) {
  if (options_.events) trace_.OnWait(event);
}
void Profiler::OnHostCall(const HostCallEvent& event) {
  if (options_.events) trace_.OnHostCall(event);
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
             Printable(program_->functions[event.function].name), event.pc, lines[event.pc]);
}

std::string KernelTable(std::string_view names, const std::vector<Profile::Row>& kernels,
                        int64_t kernel_ns, int64_t total_ns) {
  std::string out = Heading(names) + Rows(kernels, total_ns, /*with_places=*/false);
  const int64_t other = std::max<int64_t>(0, total_ns - kernel_ns);
  const double share =
      total_ns > 0 ? 100.0 * static_cast<double>(other) / static_cast<double>(total_ns) : 0;
  out += fmt::format("{:>10} {:>12.3f} {:>12} {:>7.1f}%  {}\n", "",
                     static_cast<double>(other) / 1e6, "", share, "outside kernels");
  const std::vector<Profile::Row> operators = ByOperators(kernels);
  if (operators.size() == kernels.size()) return out;
  return out + Heading("operators, of all their kernels") +
         Rows(operators, total_ns, /*with_places=*/false);
}

std::string Profiler::Table(int64_t total_ns) const {
  std::string out =
      KernelTable("kernel", profile_.ByKernel(), profile_.totals().kernel_ns, total_ns);
  const std::vector<Profile::Row> places = profile_.ByPlace();
  if (places.empty()) return out;
  return out + Heading("line or node, and its kernels") +
         Rows(places, total_ns, /*with_places=*/true);
}

std::string Profiler::Json() const { return RowsJson(profile_.ByKernel(), false); }
std::string OperatorsJson(const std::vector<Profile::Row>& kernels) {
  return RowsJson(ByOperators(kernels), false, "operators");
}
std::string Profiler::OperatorsJson() const { return tools::OperatorsJson(profile_.ByKernel()); }
std::string Profiler::PlacesJson() const { return RowsJson(profile_.ByPlace(), true); }

}  // namespace relayvm::tools

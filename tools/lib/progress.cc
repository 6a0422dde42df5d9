#include "tools/lib/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "bytecode/base/printable.h"

namespace relayvm::tools {

ProgressLine::ProgressLine(std::string tool, const Options& options)
    : tool_(std::move(tool)), options_(options), thread_([this] { Draw(); }) {}

ProgressLine::~ProgressLine() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
  if (!drawn_) return;
  std::fputs("\r\x1b[K", options_.out);
  std::fflush(options_.out);
}

void ProgressLine::SetPass(std::string_view pass) {
  std::lock_guard lock(mutex_);
  text_ = pass;
}

void ProgressLine::SetKernels(size_t done, size_t total) {
  constexpr size_t kWidth = 24;
  size_t filled = done * kWidth / std::max<size_t>(total, 1);
  std::string bar = std::string(filled, '=') + (filled < kWidth ? ">" : "");
  std::lock_guard lock(mutex_);
  text_ = fmt::format("kernels [{:<{}}] {}/{}", bar, kWidth, done, total);
}

void ProgressLine::Draw() {
  std::unique_lock lock(mutex_);
  auto wait = options_.delay;
  while (!ended_.wait_for(lock, wait, [&] { return end_; })) {
    wait = options_.interval;
    fmt::print(options_.out, "\r\x1b[K{}: {}", tool_, text_);
    std::fflush(options_.out);
    drawn_ = true;
  }
}

namespace {

// A line, where there is a terminal and nothing else is printed there.
void StartLine(const std::string& tool, const CompileFlags& flags,
               std::optional<ProgressLine>* line) {
  if (::isatty(STDERR_FILENO) == 1 && flags.compiler.print_ir_after.empty())
    line->emplace(tool, ProgressLine::Options{});
}

}  // namespace

Result<Compiled> CompileWithProgress(const std::string& tool, const CompileFlags& flags) {
  CompileOptions options = flags.options;
  std::optional<ProgressLine> line;
  StartLine(tool, flags, &line);
  if (line) {
    options.tune.on_progress = [&](const std::string& what) { line->SetPass("tuning " + what); };
    options.kernels.on_kernels = [&](size_t done, size_t total) { line->SetKernels(done, total); };
    options.pipeline.on_pass = [&](std::string_view pass) { line->SetPass(pass); };
  }
  return CompileFile(flags.input, options);
}

Result<CompiledModel> CompileModelWithProgress(const std::string& tool, CompileFlags* flags) {
  CompilerOptions options = flags->compiler;
  options.direct = !flags->time_passes;
  std::optional<ProgressLine> line;
  StartLine(tool, *flags, &line);
  if (line) {
    options.on_progress = [&](std::string_view what, size_t done, size_t total) {
      total > 0 ? line->SetKernels(done, total) : line->SetPass(what);
    };
  }
  auto compiled = CompileModel({flags->input, std::nullopt}, options);
  line.reset();
  if (!compiled.ok()) return compiled;
  for (const Status& warning : compiled->warnings())
    fmt::print(stderr, "warning: {}\n", PrintableLines(warning.message()));
  for (const PassTime& t : compiled->times())
    flags->timings.push_back({t.pass, t.milliseconds, t.is_part});
  return compiled;
}

}  // namespace relayvm::tools

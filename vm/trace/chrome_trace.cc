#include "vm/trace/chrome_trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <new>
#include <set>
#include <tuple>
#include <vector>

#include "bytecode/base/utf8.h"
#include "vm/run/executable.h"

namespace relayvm {
namespace {

enum class Kind : uint8_t { kKernel, kSlice, kBatch, kRun, kHostCall, kWait, kBatchWait };

// A JSON string. Names may be any bytes: what is not UTF-8 is replaced.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (size_t bytes = 0; !text.empty(); text.remove_prefix(std::max<size_t>(bytes, 1))) {
    const char c = text[0];
    bytes = Utf8Length(text);
    if (bytes == 0) {
      out += "\\ufffd";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, bytes);
    }
  }
  return out + "\"";
}

// Of a line of the file: when, and what comes first at that time: ends of inner ones, ends of outer
// ones, begins of outer ones, begins of inner ones.
struct Line {
  int64_t time;
  int64_t order;
  std::string text;
};

}  // namespace

struct ChromeTrace::Event {
  Kind kind;
  TracedRun run;
  std::string_view name;  // of the executable
  int64_t begin_ns, end_ns;
  uint64_t number = 0;  // units, calls of a batch, the status
  uint64_t batch = 1;
  uint32_t function = 0, pc = 0;
  int64_t suspended_ns = 0;
  int64_t thread = 0;
};

struct ChromeTrace::Impl {
  mutable std::mutex mutex;
  std::vector<Event> events;
  std::set<std::shared_ptr<const Executable>> executables;  // kept for their names
  const Executable* latest = nullptr;                       // of them
  uint64_t dropped = 0;
  std::vector<std::string> devices;  // a lane of each
};

ChromeTrace::ChromeTrace() : ChromeTrace(Options()) {}
ChromeTrace::ChromeTrace(const Options& options)
    : options_(options), impl_(std::make_unique<Impl>()) {}
ChromeTrace::~ChromeTrace() = default;

namespace {
// Lanes are threads by their numbers, and below 0 devices.
std::string LaneName(int64_t lane, const std::vector<std::string>& devices) {
  return lane >= 0 ? fmt::format("thread {}", lane)
                   : fmt::format("device {}", devices[static_cast<size_t>(-1 - lane)]);
}
}  // namespace

void ChromeTrace::Add(Event event, std::string_view device) {
  event.thread = gettid();
  std::lock_guard lock(impl_->mutex);
  if (impl_->events.size() >= options_.max_events) {
    ++impl_->dropped;
    return;
  }
  const Executable* executable = event.run.executable;
  try {
    if (executable != nullptr && executable != impl_->latest) {
      impl_->executables.insert(executable->shared_from_this());
      impl_->latest = executable;
    }
    if (!device.empty()) {
      std::vector<std::string>& devices = impl_->devices;
      const auto known = std::ranges::find(devices, device);
      event.thread = -1 - (known - devices.begin());
      if (known == devices.end()) devices.emplace_back(device);
    }
    impl_->events.push_back(event);
  } catch (const std::bad_alloc&) {
    ++impl_->dropped;
  }
}

void ChromeTrace::OnKernel(const KernelEvent& e) {
  Add({Kind::kKernel, e.run, e.name, e.begin_ns, e.end_ns, e.units, e.batch, e.function, e.pc,
       e.suspended_ns},
      e.device);
}
void ChromeTrace::OnRunEnd(const RunEvent& e) {
  Add({Kind::kRun, e.run, e.function, e.begin_ns, e.end_ns, static_cast<uint64_t>(e.status)});
}
void ChromeTrace::OnSlice(const SliceEvent& e) {
  Add({Kind::kSlice, e.run, "slice", e.begin_ns, e.end_ns});
}
void ChromeTrace::OnWait(const WaitEvent& e) {
  const bool in_batch = e.in_batch;
  Add({in_batch ? Kind::kBatchWait : Kind::kWait, e.run, in_batch ? "wait for a batch" : "wait",
       e.begin_ns, e.end_ns});
}
void ChromeTrace::OnHostCall(const HostCallEvent& e) {
  Add({Kind::kHostCall, e.run, e.name, e.begin_ns, e.end_ns, 0, 1, e.function, e.pc});
}
void ChromeTrace::OnBatch(const BatchEvent& e) {
  Add({Kind::kBatch, {0, e.executable}, e.name, e.begin_ns, e.end_ns, e.calls, e.calls});
}

// The file's lines, of events one by one.
class ChromeTrace::Lines {
 public:
  explicit Lines(int64_t start) : start_(start) {}

  void Add(const Event& e) {
    const std::string id =
        fmt::format(R"("invocation": {}, "tag": {})", e.run.invocation, e.run.tag);
    switch (e.kind) {
      case Kind::kKernel:
        return AddKernel(
            e, fmt::format(R"({}, "units": {}, "batch": {}{})", id, e.number, e.batch, PlaceOf(e)));
      case Kind::kSlice:
        return OnThread(e, "slice", id);
      case Kind::kBatch:
        return OnThread(e, "batch", fmt::format(R"("calls": {})", e.number));
      case Kind::kRun: {
        const std::string_view status =
            e.number == 0 ? "ok" : StatusCodeName(static_cast<StatusCode>(e.number));
        return OfInvocation(e, "run",
                            fmt::format(R"("tag": {}, "status": "{}")", e.run.tag, status));
      }
      case Kind::kHostCall:
        return OfInvocation(e, "host function", id + PlaceOf(e));
      case Kind::kWait:
      case Kind::kBatchWait:
        return OfInvocation(e, "wait", id);
    }
  }

  // In the order of the file.
  void AppendTo(std::string* out) const {
    std::vector<std::tuple<int64_t, int64_t, size_t>> order;  // small to move
    for (const Line& line : lines_) order.emplace_back(line.time, line.order, order.size());
    std::sort(order.begin(), order.end());
    for (const auto& [time, rank, number] : order) *out += ",\n" + lines_[number].text;
  }

 private:
  // Something that takes no time would end before it begins.
  static int64_t EndOf(const Event& e) { return std::max(e.end_ns, e.begin_ns + 1); }
  // Where a call is, of kernels and host functions.
  static std::string PlaceOf(const Event& e) {
    if (e.run.executable == nullptr) return "";
    const StatusPlace at = e.run.executable->PlaceOf(e.function, e.pc);
    std::string text = fmt::format(R"(, "function": {})", Quoted(at.function));
    if (at.file.empty()) return text;
    const std::string line = at.line == 0 ? "" : fmt::format(":{}:{}", at.line, at.column);
    return text + fmt::format(R"(, "place": {})", Quoted(at.file + line));
  }

  void AddLine(int64_t time, int64_t order, char phase, std::string_view category, const Event& e,
               const std::string& more) {
    lines_.push_back(
        {time, order,
         fmt::format(
             R"({{"ph": "{}", "cat": "{}", "name": {}, "pid": 1, "tid": {}, "ts": {:.3f}{}}})",
             phase, category, Quoted(e.name), e.thread, static_cast<double>(time - start_) / 1e3,
             more)});
  }
  void OnThread(const Event& e, std::string_view category, const std::string& args) {
    const int64_t took = EndOf(e) - e.begin_ns;
    AddLine(
        e.begin_ns, INT64_MAX - took, 'X', category, e,
        fmt::format(R"(, "dur": {:.3f}, "args": {{{}}})", static_cast<double>(took) / 1e3, args));
  }
  void OfInvocation(const Event& e, std::string_view category, const std::string& args) {
    const int64_t took = EndOf(e) - e.begin_ns;
    const std::string track = fmt::format(R"(, "id": {})", e.run.invocation);
    AddLine(e.begin_ns, INT64_MAX - took, 'b', "invocation", e,
            track + fmt::format(R"(, "args": {{"kind": "{}", {}}})", category, args));
    AddLine(EndOf(e), took, 'e', "invocation", e, track);
  }
  // One of a batch ran on another thread, as OnBatch says; one that was suspended is in several
  // slices, with those of others between.
  void AddKernel(const Event& e, const std::string& args) {
    if (e.batch > 1) return OfInvocation(e, "kernel", args);
    if (e.suspended_ns == 0) return OnThread(e, "kernel", args);
    OfInvocation(e, "kernel",
                 fmt::format(R"({}, "suspended_us": {:.3f})", args,
                             static_cast<double>(e.suspended_ns) / 1e3));
  }

  int64_t start_;
  std::vector<Line> lines_;
};

std::string ChromeTrace::Json() const {
  // Runs go on meanwhile.
  std::vector<Event> events;
  std::set<std::shared_ptr<const Executable>> executables;
  uint64_t dropped;
  std::vector<std::string> devices;
  {
    std::lock_guard lock(impl_->mutex);
    events = impl_->events;
    executables = impl_->executables;
    dropped = impl_->dropped;
    devices = impl_->devices;
  }
  int64_t start = INT64_MAX;
  for (const Event& e : events) start = std::min(start, e.begin_ns);
  Lines lines(start);
  std::set<int64_t> threads;
  for (const Event& e : events) {
    threads.insert(e.thread);
    lines.Add(e);
  }
  std::string out = R"({"displayTimeUnit": "ns", "traceEvents": [)";
  out +=
      "\n"
      R"({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "relayvm"}})";
  for (int64_t thread : threads) {
    out += fmt::format(
        ",\n"
        R"({{"ph": "M", "name": "thread_name", "pid": 1, "tid": {}, "args": {{"name": {}}}}})",
        thread, Quoted(LaneName(thread, devices)));
  }
  lines.AppendTo(&out);
  return out + fmt::format("\n], \"otherData\": {{\"dropped\": {}}}}}\n", dropped);
}

Status ChromeTrace::Write(const std::string& path) const {
  const std::string json = Json();
  std::ofstream out(path, std::ios::binary);
  out << json;
  out.close();
  if (!out) return {StatusCode::kInvalidInput, fmt::format("{}: cannot be written", path)};
  return OkStatus();
}

size_t ChromeTrace::num_events() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->events.size();
}
uint64_t ChromeTrace::dropped() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->dropped;
}

void ChromeTrace::Clear() {
  // The programs go after the lock.
  std::set<std::shared_ptr<const Executable>> executables;
  std::lock_guard lock(impl_->mutex);
  executables.swap(impl_->executables);
  impl_->events.clear();
  impl_->latest = nullptr;
  impl_->dropped = 0;
}

}  // namespace relayvm

#include "tools/serve/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_writer.h"

namespace relayvm::serve {
namespace {

constexpr size_t kMaxText = 256;      // of what a stranger sent, in bytes
constexpr size_t kWakeAt = 64 << 10;  // bytes that are written without waiting for more

void AppendMember(std::string_view name, std::string_view text, std::string* out) {
  out->append(name);
  const std::string_view cut = text.substr(0, kMaxText);
  // JSON allows what terminals act on.
  const bool is_plain = std::ranges::all_of(cut, [](char c) { return c >= ' ' && c < 0x7F; });
  if (is_plain) {
    AppendJsonText(cut, out);
  } else {
    AppendJsonText(Printable(cut), out);
  }
  if (text.size() > kMaxText) out->insert(out->size() - 1, "...");
}

void AppendUtc(std::chrono::system_clock::time_point time, std::string* out) {
  using std::chrono::floor;
  const auto days = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::microseconds>(time - days));
  fmt::format_to(std::back_inserter(*out), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                 static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                 clock.seconds().count(), clock.subseconds().count());
}

double Microseconds(int64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

void AppendAccessLine(const EndedRequest& request, std::string* out) {
  out->append("{\"time\":\"");
  AppendUtc(request.begin, out);
  AppendMember("\",\"method\":", request.method, out);
  AppendMember(",\"path\":", request.path, out);
  if (!request.model.empty()) {
    AppendMember(",\"model\":", request.model, out);
    AppendMember(",\"version\":", request.version, out);
  }
  fmt::format_to(std::back_inserter(*out),
                 ",\"code\":{},\"bytes_in\":{},\"bytes_out\":{},\"us\":{:.1f}", request.code,
                 request.bytes_in, request.bytes_out, Microseconds(request.took.count()));
  if (request.queued_ns >= 0) {
    fmt::format_to(std::back_inserter(*out), ",\"queued_us\":{:.1f},\"run_us\":{:.1f}",
                   Microseconds(request.queued_ns), Microseconds(request.run_ns));
  }
  out->append(",\"trace\":\"");
  AppendHex(request.trace.trace_high, out);
  AppendHex(request.trace.trace_low, out);
  out->append("\"}\n");
}

AccessLog::AccessLog(const Options& options, Counter& dropped)
    : options_(options), dropped_(dropped) {}

int AccessLog::OpenFile() const {
  if (options_.path == "-") return ::dup(STDOUT_FILENO);
  return ::open(options_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                0644);
}

Result<std::unique_ptr<AccessLog>> AccessLog::Open(const Options& options, Counter& dropped) {
  std::unique_ptr<AccessLog> log(new AccessLog(options, dropped));
  log->fd_ = log->OpenFile();
  if (log->fd_ < 0)
    return Status(StatusCode::kInvalidInput,
                  fmt::format("{}: {}", options.path, std::strerror(errno)));
  log->thread_ = std::thread([l = log.get()] { l->Work(); });
  return log;
}

AccessLog::~AccessLog() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  if (fd_ >= 0) ::close(fd_);
}

void AccessLog::Write(const EndedRequest& request) {
  thread_local std::string line;
  line.clear();
  AppendAccessLine(request, &line);
  size_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() > options_.max_bytes) return dropped_.Add();
    waiting_ += line;
    size = waiting_.size();
  }
  if (size >= kWakeAt && size - line.size() < kWakeAt) wake_.notify_one();
}

void AccessLog::Reopen() {
  const std::lock_guard lock(mutex_);
  reopen_ = true;
}

void AccessLog::Work() {
  std::unique_lock lock(mutex_);
  while (!stopping_ || !waiting_.empty()) {
    wake_.wait_for(lock, options_.interval,
                   [&] { return stopping_ || waiting_.size() >= kWakeAt; });
    const std::string lines = std::exchange(waiting_, {});
    const bool reopen = std::exchange(reopen_, false);
    lock.unlock();
    if (reopen) {
      // Where it cannot be opened, the old file goes on.
      if (const int fd = OpenFile(); fd >= 0) ::close(std::exchange(fd_, fd));
    }
    WriteOut(lines);
    lock.lock();
  }
}

// False where there is none for a while, or the log is closed.
bool AccessLog::WaitForRoom() const {
  constexpr int kPatience = 100;  // milliseconds
  pollfd poll{fd_, POLLOUT, 0};
  return ::poll(&poll, 1, kPatience) == 1 && (poll.revents & POLLOUT) != 0;
}

void AccessLog::WriteOut(std::string_view lines) {
  struct stat status{};
  const bool is_file = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  std::string mended;
  if (is_broken_ && !lines.empty()) {
    mended = "\n" + std::string(lines);
    lines = mended;
  }
  while (!lines.empty()) {
    // A pipe that has room has it for PIPE_BUF bytes: that does not block.
    const size_t size = is_file ? lines.size() : std::min<size_t>(lines.size(), PIPE_BUF);
    const ssize_t written = is_file || WaitForRoom() ? ::write(fd_, lines.data(), size) : -1;
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    is_broken_ = lines[static_cast<size_t>(written) - 1] != '\n';
    lines.remove_prefix(static_cast<size_t>(written));
  }
  if (!mended.empty() && lines.size() == mended.size()) lines.remove_prefix(1);
  dropped_.Add(static_cast<uint64_t>(std::ranges::count(lines, '\n')));
}

}  // namespace relayvm::serve

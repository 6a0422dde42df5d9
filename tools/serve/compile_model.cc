#include "tools/serve/compile_model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/private_folder.h"
#include "bytecode/blake2b.h"

namespace relayvm::serve {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Of what a compiler says, the beginning.
constexpr size_t kMessageBytes = 4096;

std::vector<std::string> StateFlags(const CompileOptions& options) {
  std::vector<std::string> flags;
  for (const auto& [input, output] : options.states)
    flags.push_back(fmt::format("--state={}={}", input, output));
  return flags;
}

Result<std::string> NameByContent(const std::string& model, const CompileOptions& options) {
  Blake2b hash;
  std::error_code error;
  std::vector<fs::path> files = {options.relayc};
  for (const auto& entry : fs::directory_iterator(fs::path(model).parent_path(), error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  std::sort(files.begin() + 1, files.end());
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    hash.Add(name.size());
    hash.Add(std::as_bytes(std::span(name)));
    if (file == fs::path(options.relayc)) {  // large: by its time and size
      hash.Add(fs::file_size(file, error));
      hash.Add(static_cast<uint64_t>(fs::last_write_time(file, error).time_since_epoch().count()));
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> mapping,
                             FileMapping::Open(file.string()));
    hash.Add(mapping->bytes().size());
    hash.Add(std::as_bytes(mapping->bytes()));
  }
  for (const std::string& state : StateFlags(options)) {
    hash.Add(state.size());
    hash.Add(std::as_bytes(std::span(state)));
  }
  std::string text;
  for (const uint8_t byte : hash.Finish()) text += fmt::format("{:02x}", byte);
  return text + (options.batching ? ".batching.vmx" : ".vmx");
}

// What the process says, until it says no more, or the time is over or it is told to stop (false).
bool ReadMessages(int fd, Clock::time_point deadline, const std::atomic<bool>* stop,
                  std::string* text) {
  constexpr int64_t kLook = 50;  // for `stop`, in milliseconds
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || (stop != nullptr && *stop)) return false;
    pollfd waits{fd, POLLIN, 0};
    const int ready = ::poll(&waits, 1, static_cast<int>(std::min(left.count(), kLook)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    char bytes[1024];
    const ssize_t read = ::read(fd, bytes, sizeof bytes);
    if (read == 0 || (read < 0 && errno != EINTR)) return true;
    if (read > 0)
      text->append(bytes, std::min(static_cast<size_t>(read), kMessageBytes - text->size()));
  }
}

Status RunCompiler(const std::vector<std::string>& command, const CompileOptions& options) {
  int messages[2];
  if (::pipe2(messages, O_CLOEXEC) != 0)
    return {StatusCode::kResourceExhausted, fmt::format("pipe: {}", std::strerror(errno))};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, messages[1], 1);
  posix_spawn_file_actions_adddup2(&actions, messages[1], 2);
  posix_spawnattr_t attributes;  // it ends on signals that the server waits for
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, command[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(messages[1]);
  std::string text;
  bool in_time = true;
  if (failed == 0)
    in_time = ReadMessages(messages[0], Clock::now() + options.timeout, options.stop, &text);
  ::close(messages[0]);
  if (failed != 0)
    return {StatusCode::kUnsupported, fmt::format("{}: {}", command[0], std::strerror(failed))};
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time && options.stop != nullptr && *options.stop)
    return {StatusCode::kCancelled, "the server ends"};
  if (!in_time) {
    return {StatusCode::kDeadlineExceeded,
            fmt::format("not compiled in {} s", options.timeout.count())};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return OkStatus();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return InvalidInput(text.empty() ? "the compiler ended without a word" : text);
}

// Removes what is oldest, but for `latest`. What is mapped stays with whom has mapped it.
void BoundCache(const fs::path& latest, const CompileOptions& options) {
  struct File {
    fs::file_time_type time;
    uint64_t bytes;
    fs::path path;
    bool operator<(const File& other) const { return time < other.time; }
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(options.cache_folder, error); !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->path().extension() != ".vmx" || !at->is_regular_file(gone)) continue;
    const uint64_t bytes = at->file_size(gone);
    const auto time = at->last_write_time(gone);
    if (gone) continue;  // by another's hand
    total += bytes;
    if (at->path() != latest) files.push_back({time, bytes, at->path()});
  }
  std::ranges::sort(files, std::less<>());
  for (const File& file : files) {
    if (total <= options.cache_bytes) return;
    if (fs::remove(file.path, error)) total -= file.bytes;
  }
}

}  // namespace

Result<std::string> CompileModel(const std::string& model, const CompileOptions& options) {
  if (options.relayc.empty())
    return Status(StatusCode::kUnsupported, model + ": there is no relayc to compile it");
  RELAYVM_ASSIGN_OR_RETURN(const std::string name, NameByContent(model, options));
  if (options.cache_folder.empty()) {
    return Status(StatusCode::kFailedPrecondition,
                  model + ": there is no folder for what is compiled: give --cache, or set HOME");
  }
  RELAYVM_RETURN_IF_ERROR(MakePrivateFolder(options.cache_folder, "for compiled models"));
  std::error_code error;
  const fs::path folder = options.cache_folder;
  const fs::path path = folder / name;
  if (fs::exists(path, error)) {
    fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // it is not the oldest
    return path.string();
  }
  // Nobody sees half of one, whoever else makes the same or ends before its time.
  static std::atomic<uint64_t> number{0};
  const fs::path made = folder / fmt::format("made-{}-{}-{}", ::getpid(), number++, name);
  std::vector<std::string> command = {options.relayc, model, "-q", "-o", made.string()};
  if (options.batching) command.emplace_back("--batching");
  std::ranges::move(StateFlags(options), std::back_inserter(command));
  const Status compiled = RunCompiler(command, options);
  if (compiled.ok()) fs::rename(made, path, error);
  if (compiled.ok() && !error) {
    BoundCache(path, options);
    return path.string();
  }
  const std::string why = error.message();
  fs::remove(made, error);
  if (!compiled.ok()) return compiled;
  return Status(StatusCode::kResourceExhausted, path.string() + ": " + why);
}

}  // namespace relayvm::serve

#include "tools/serve/folder_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <thread>

namespace relayvm::serve {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_DELETE_SELF |
                             IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR;
// Names and versions, below the folder of all.
constexpr int kDepth = 2;

// A file that begins is not one yet; links are whole at once.
bool IsWholeAtOnce(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return false;
  return S_ISLNK(status.st_mode) || status.st_nlink > 1;
}

}  // namespace

FolderWatch::FolderWatch(size_t max_folders)
    : max_folders_(max_folders),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

FolderWatch::~FolderWatch() {
  for (const int file : {inotify_, wake_}) {
    if (file >= 0) ::close(file);
  }
}

bool FolderWatch::Add(const std::string& folder) {
  if (inotify_ < 0) return false;
  if (folders_.size() >= max_folders_) return false;
  const int watch = ::inotify_add_watch(inotify_, folder.c_str(), kEvents);
  if (watch < 0) return false;
  folders_[watch] = folder;
  return true;
}

// A folder is watched before it is read: what comes between is told.
void FolderWatch::AddBelow(const std::string& folder, int depth) {
  if (!Add(folder) || depth == 0) return;
  std::error_code error, ignored;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(folder, error); !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with('.') || !at->is_directory(ignored)) continue;
    AddBelow(at->path().string(), depth - 1);
  }
}

void FolderWatch::Follow(const std::string& root, const std::vector<std::string>& others) {
  for (const std::string& folder : others) Add(folder);
  if (!root.empty()) AddBelow(root, kDepth);
}

bool FolderWatch::TakeEvents() {
  alignas(inotify_event) std::array<char, 16 << 10> bytes;
  bool has_changed = false;
  for (;;) {
    const ssize_t size = ::read(inotify_, bytes.data(), bytes.size());
    if (size <= 0) return has_changed;
    for (size_t at = 0; at < static_cast<size_t>(size);) {
      inotify_event event;
      std::memcpy(&event, bytes.data() + at, sizeof event);
      const char* const name = bytes.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_IGNORED) != 0) {  // the folder is gone
        folders_.erase(event.wd);
        continue;
      }
      const bool begins = (event.mask & IN_CREATE) != 0 && (event.mask & IN_ISDIR) == 0;
      const auto folder = folders_.find(event.wd);
      if (begins && event.len > 0 && folder != folders_.end() &&
          !IsWholeAtOnce(folder->second + "/" + name))
        continue;
      has_changed = true;
    }
  }
}

bool FolderWatch::Wait(std::chrono::milliseconds longest) {
  const Clock::time_point end = Clock::now() + longest;
  Clock::time_point first_change, until = end;
  bool has_changed = false;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return has_changed;
    std::array<pollfd, 2> files = {pollfd{wake_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
    constexpr int64_t kMinute = 60'000;
    if (::poll(files.data(), files.size(), static_cast<int>(std::min(left, kMinute))) < 0) continue;
    if ((files[0].revents & POLLIN) != 0) return false;
    if ((files[1].revents & POLLIN) == 0 || !TakeEvents()) continue;
    const Clock::time_point now = Clock::now();
    if (!has_changed) first_change = now;
    has_changed = true;
    until = std::min(now + kQuiet, first_change + kLongest);
  }
}

void FolderWatch::Wake() {
  const uint64_t one = 1;
  if (wake_ >= 0 && ::write(wake_, &one, sizeof one) < 0) return;
}

}  // namespace relayvm::serve

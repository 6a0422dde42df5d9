// FolderWatch: tells of changes in a tree of folders as they happen, by inotify:
//
//   DIR, DIR/NAME, DIR/NAME/VERSION     and single folders beside
//
// A file counts when whoever wrote it has closed it, or when it came by rename or as a link: not
// while it is written. What comes within kQuiet of each other is one change. Watches are bounded:
// of folders above kMaxFolders, and of file systems that tell nothing (NFS), nothing is heard, so
// that its user looks now and then besides. One thread, but for Wake. Tested by
// folder_watch_test.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace relayvm::serve {

class FolderWatch {
 public:
  static constexpr size_t kMaxFolders = 8192;
  // A change is told once nothing more has come for kQuiet, or kLongest after the first.
  static constexpr std::chrono::milliseconds kQuiet{50}, kLongest{1000};

  // Where the system has no inotify left, Wait is a sleep.
  explicit FolderWatch(size_t max_folders = kMaxFolders);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Watches the tree of `root` (empty: none) and `others`, as they are now; what was there before
  // stays watched. What changes in a folder from then on is told by the next Wait.
  void Follow(const std::string& root, const std::vector<std::string>& others);
  // Until something changes (true), `longest` is over or Wake is called (false).
  bool Wait(std::chrono::milliseconds longest);
  // Ends Waits, this one and those to come. Thread-safe.
  void Wake();

  size_t num_folders() const { return folders_.size(); }

 private:
  bool Add(const std::string& folder);
  void AddBelow(const std::string& folder, int depth);
  // Whether what has come since is a change.
  bool TakeEvents();

  const size_t max_folders_;
  int inotify_, wake_;                            // files; -1: none
  std::unordered_map<int, std::string> folders_;  // by watch
};

}  // namespace relayvm::serve

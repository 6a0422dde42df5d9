// Repository: the models that a folder has, and those that are loaded.
//
//   DIR/NAME/VERSION/model.vmx     or model.onnx, which is compiled; versions are numbers, of which
//                                  the highest, the latest few or all are served
//   DIR/NAME/config.json           what the file does not know, see model_config.h; or none
//   NAME=FILE.vmx                  a file by itself, version 1; FILE.config.json
//
// A thread looks at the files now and then, and where the system tells it that they change
// (folder_watch.h); others load what is new or has changed, several models at a time, beside what
// is served: requests go to the new version from the moment that it is loaded, and what still runs
// on the old one ends there. A file that does not load changes nothing: what is served stays, and
// Index says why; nor does a folder that cannot be read. Models that were unloaded by name stay so
// until they are loaded by name. Files are mapped: exchange them by rename, never by writing into
// them. Thread-safe. Tested by repository_test.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/compile_model.h"
#include "tools/serve/folder_watch.h"
#include "tools/serve/model.h"

namespace relayvm::serve {

struct RepositoryOptions {
  std::string folder;                                      // empty: none
  std::vector<std::pair<std::string, std::string>> files;  // by name
  CompileOptions compile;
  std::chrono::milliseconds poll{2000};  // how often it looks at the files; 0: when it is told
  size_t versions = 1;                   // of a model, the latest so many; SIZE_MAX: all
  uint32_t loaders = 2;                  // models that are loaded, or compiled, at a time
};

// Where the configuration of a model is, if it has one.
std::string ConfigPath(const RepositoryOptions& options, const std::string& name);

struct IndexEntry {
  std::string name;
  std::string version;  // empty: of a model that has none
  bool is_ready = false;
  std::string reason;       // why it is not, or why a newer one is not
  bool is_loading = false;  // for the first time

  // The protocol's word for it.
  std::string_view state() const {
    return is_ready ? "READY" : is_loading ? "LOADING" : "UNAVAILABLE";
  }
};

class Repository {
 public:
  // Makes what is served of a file that was loaded.
  using MakeModel = std::function<Result<std::shared_ptr<const ServedModel>>(
      const std::string& name, const std::string& version,
      std::shared_ptr<const Executable> executable)>;
  using Done = std::function<void(Status)>;

  // With nothing loaded. kNotFound: no such folder.
  static Result<std::unique_ptr<Repository>> Open(RepositoryOptions options, MakeModel make);
  // Lists what is there, loads it beside, and looks at the files from then on. `loaded` is called
  // once, when all has been tried: on one of the repository's threads, or this one; not where the
  // repository goes before. REQUIRES: called once.
  void Start(std::function<void()> loaded);
  // Both, and waits until what is there is loaded; models that fail are in the index.
  static Result<std::unique_ptr<Repository>> Create(RepositoryOptions options, MakeModel make);
  // What is under way ends at once: compilers are killed.
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // Whether what was there at the start has been tried.
  bool is_loaded() const { return is_loaded_.load(std::memory_order_acquire); }
  // The newest version where none is said. kNotFound says what there is; kResourceExhausted: it is
  // being loaded for the first time.
  Result<std::shared_ptr<const ServedModel>> Find(std::string_view name,
                                                  std::string_view version = {}) const;
  // The versions of a model that are served, by number.
  std::vector<std::string> VersionsOf(std::string_view name) const;
  // What is served, by name and version; of a name or a version alone where it is not empty.
  std::vector<std::shared_ptr<const ServedModel>> Served(std::string_view name = {},
                                                         std::string_view version = {}) const;
  // One entry for each version that is served, or for a model that has none; by name and version.
  std::vector<IndexEntry> Index() const;
  // `done` is called on one of the repository's threads, or this one. Load loads again, whatever
  // the files are like. kNotFound: the repository has no such model. kFailedPrecondition: it is
  // being loaded or unloaded.
  void Load(std::string name, Done done);
  void Unload(std::string name, Done done);
  // Looks at the files now.
  void Refresh(Done done);

 private:
  // A version as the files have it.
  struct Source {
    std::string version, path;
    std::string stamp;  // of all files that belong to it
  };
  using Sources = std::map<uint64_t, Source>;                     // by number
  using Listing = std::map<std::string, std::optional<Sources>>;  // none: cannot be read
  struct Version {
    std::shared_ptr<const ServedModel> model;  // or null
    std::string tried;                         // the stamp of what was loaded, or failed, last
  };
  class Busy;
  struct Entry {
    std::map<uint64_t, Version> versions;
    std::string reason;  // of the latest failure, or why there is none
    bool is_unloaded = false;
    bool is_busy = false;  // one of the threads changes it
    size_t num_served() const;
    // Nothing of it has been tried yet.
    bool is_new() const { return is_busy && !is_unloaded && reason.empty() && versions.empty(); }
  };

  Repository(RepositoryOptions options, MakeModel make);
  void Watch();
  void Follow();
  void Work();
  void Post(std::function<void()> job);
  Result<Listing> ListSources() const;
  Sources ListVersions(const std::string& folder) const;
  void Rescan(std::function<void()> done);
  void Forget(const Listing& sources);
  bool HasChanged(const Entry& entry, const Sources& sources) const;
  Status Begin(const std::string& name, bool is_load);
  Status Update(const std::string& name, const Sources& sources, bool reload);
  Status LoadVersion(const std::string& name, uint64_t number, const Source& source);
  Result<std::shared_ptr<const ServedModel>> Make(const std::string& name,
                                                  const Source& source) const;
  void UnloadNow(const std::string& name);
  Status LoadByName(const std::string& name);

  const RepositoryOptions options_;
  const MakeModel make_;
  mutable std::shared_mutex mutex_;  // of entries_
  std::map<std::string, Entry, std::less<>> entries_;
  std::mutex jobs_mutex_;
  std::condition_variable wake_;
  std::unique_ptr<FolderWatch> watch_;  // where it looks by itself
  std::deque<std::function<void()>> jobs_;
  std::atomic<bool> stopping_{false};  // written under jobs_mutex_
  std::atomic<bool> is_listed_{false}, is_loaded_{false};
  std::vector<std::thread> threads_;
};

}  // namespace relayvm::serve

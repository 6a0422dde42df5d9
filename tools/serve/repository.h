// Repository: the models that a folder has, and those that are loaded.
//
//   DIR/NAME/VERSION/model.vmx     or model.onnx, which is compiled; of several versions, which are
//                                  numbers, the highest is served
//   DIR/NAME/config.json           what the file does not know, see model_config.h; or none
//   NAME=FILE.vmx                  a file by itself, version 1; FILE.config.json
//
// A thread looks at the files now and then, and loads what is new or has changed beside what is
// served: requests go to the new version from the moment that it is loaded, and what still runs on
// the old one ends there. A file that does not load changes nothing: what is served stays, and
// Index says why. Models that were unloaded by name stay so until they are loaded by name.
// Thread-safe. Tested by repository_test.cc.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/compile_model.h"
#include "tools/serve/model.h"

namespace relayvm::serve {

struct RepositoryOptions {
  std::string folder;                                      // empty: none
  std::vector<std::pair<std::string, std::string>> files;  // by name
  CompileOptions compile;
  std::chrono::milliseconds poll{2000};  // how often it looks at the files; 0: when it is told
};

// Where the configuration of a model is, if it has one.
std::string ConfigPath(const RepositoryOptions& options, const std::string& name);

struct IndexEntry {
  std::string name;
  std::string version;  // empty: of a model that has none
  bool is_ready = false;
  std::string reason;  // why it is not, or why a newer one is not
};

class Repository {
 public:
  // Makes what is served of a file that was loaded.
  using MakeModel = std::function<Result<std::shared_ptr<const ServedModel>>(
      const std::string& name, const std::string& version,
      std::shared_ptr<const Executable> executable)>;
  using Done = std::function<void(Status)>;

  // Loads what is there; models that fail are in the index. kNotFound: no such folder.
  static Result<std::unique_ptr<Repository>> Create(RepositoryOptions options, MakeModel make);
  ~Repository();
  Repository(const Repository&) = delete;
  Repository& operator=(const Repository&) = delete;

  // The newest version where none is said. kNotFound says what there is.
  Result<std::shared_ptr<const ServedModel>> Find(std::string_view name,
                                                  std::string_view version = {}) const;
  std::vector<IndexEntry> Index() const;
  // `done` is called on the repository's thread. Load loads again, whatever the files are like.
  // kNotFound: the repository has no such model.
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
  struct Entry {
    std::shared_ptr<const ServedModel> model;
    std::string tried;   // the stamp of what was loaded, or failed, last
    std::string reason;  // of the failure
    bool is_unloaded = false;
  };

  Repository(RepositoryOptions options, MakeModel make);
  void Work();
  void Post(std::function<void()> job);
  std::map<std::string, Source> ListSources() const;
  void Rescan();
  Status LoadNow(const std::string& name, const Source& source);
  Result<std::shared_ptr<const ServedModel>> Make(const std::string& name,
                                                  const Source& source) const;
  Status UnloadNow(const std::string& name);
  Status LoadByName(const std::string& name);

  const RepositoryOptions options_;
  const MakeModel make_;
  mutable std::shared_mutex mutex_;  // of entries_
  std::map<std::string, Entry, std::less<>> entries_;
  std::mutex jobs_mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace relayvm::serve

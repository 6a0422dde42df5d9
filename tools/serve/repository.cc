#include "tools/serve/repository.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "bytecode/base/guarded.h"
#include "bytecode/base/printable.h"
#include "tools/serve/emitter.h"

namespace relayvm::serve {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> VersionNumber(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void AddStamp(const fs::path& file, std::string* stamp) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  *stamp +=
      fmt::format("{} {} {} {} {}.{}\n", file.filename().string(), status.st_dev, status.st_ino,
                  status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// All files beside a model: its weights may be among them.
std::string StampOfFolder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::string stamp;
  for (const fs::path& file : files) AddStamp(file, &stamp);
  return stamp;
}

Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }

}  // namespace

std::string ConfigPath(const RepositoryOptions& options, const std::string& name) {
  for (const auto& [file_name, path] : options.files) {
    if (file_name == name) return fs::path(path).replace_extension(".config.json").string();
  }
  return (fs::path(options.folder) / name / "config.json").string();
}

Repository::Repository(RepositoryOptions options, MakeModel make)
    : options_(std::move(options)), make_(std::move(make)) {}

Result<std::unique_ptr<Repository>> Repository::Create(RepositoryOptions options, MakeModel make) {
  std::error_code error;
  if (!options.folder.empty() && !fs::is_directory(options.folder, error))
    return NotFound(options.folder + ": no such folder");
  std::unique_ptr<Repository> repository(new Repository(std::move(options), std::move(make)));
  repository->Rescan();
  repository->thread_ = std::thread([self = repository.get()] { self->Work(); });
  return repository;
}

Repository::~Repository() {
  {
    const std::lock_guard lock(jobs_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Repository::Work() {
  std::unique_lock lock(jobs_mutex_);
  for (;;) {
    const auto has_work = [this] { return stopping_ || !jobs_.empty(); };
    bool is_due = false;
    if (options_.poll.count() > 0) {
      is_due = !wake_.wait_for(lock, options_.poll, has_work);
    } else {
      wake_.wait(lock, has_work);
    }
    if (!is_due && jobs_.empty()) return;
    std::function<void()> job = [this] { Rescan(); };
    if (!is_due) {
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    lock.unlock();
    // A folder that goes while it is read, and no memory: the next look is another one.
    Guarded([&]() -> Status {
      job();
      return OkStatus();
    }).ok();
    lock.lock();
  }
}

void Repository::Post(std::function<void()> job) {
  {
    const std::lock_guard lock(jobs_mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

std::map<std::string, Repository::Source> Repository::ListSources() const {
  std::map<std::string, Source> sources;
  for (const auto& [name, path] : options_.files) {
    Source source{"1", path, ""};
    AddStamp(path, &source.stamp);
    AddStamp(ConfigPath(options_, name), &source.stamp);
    sources.emplace(name, std::move(source));
  }
  std::error_code error;
  if (options_.folder.empty()) return sources;
  for (const auto& model : fs::directory_iterator(options_.folder, error)) {
    const std::string name = model.path().filename().string();
    if (name.starts_with('.') || !model.is_directory(error)) continue;
    std::optional<uint64_t> newest;
    Source source;
    for (const auto& version : fs::directory_iterator(model.path(), error)) {
      const std::string text = version.path().filename().string();
      const std::optional<uint64_t> number = VersionNumber(text);
      if (!number || (newest && *newest >= *number)) continue;
      for (const char* file : {"model.onnx", "model.vmx"}) {
        if (!fs::exists(version.path() / file, error)) continue;
        newest = number;
        source.version = text;
        source.path = (version.path() / file).string();
      }
    }
    if (newest) {
      source.stamp = source.version + "\n" + StampOfFolder(fs::path(source.path).parent_path());
      AddStamp(ConfigPath(options_, name), &source.stamp);
    }
    sources.emplace(name, std::move(source));  // without a path where there is no version
  }
  return sources;
}

void Repository::Rescan() {
  const std::map<std::string, Source> sources = ListSources();
  std::vector<std::string> gone;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [name, entry] : entries_) {
      if (!sources.contains(name)) gone.push_back(name);
    }
  }
  for (const std::string& name : gone) {
    std::shared_ptr<const ServedModel> last;  // goes without the lock
    const std::unique_lock lock(mutex_);
    last = std::move(entries_[name].model);
    entries_.erase(name);
  }
  for (const auto& [name, source] : sources) {
    {
      const std::unique_lock lock(mutex_);
      const Entry& entry = entries_[name];
      if (entry.is_unloaded || (entry.tried == source.stamp && !source.stamp.empty())) continue;
    }
    LoadNow(name, source).ok();  // Index says why not
  }
}

Result<std::shared_ptr<const ServedModel>> Repository::Make(const std::string& name,
                                                            const Source& source) const {
  if (source.path.empty())
    return NotFound("no folder with a number as its name has a model.vmx or model.onnx");
  std::string path = source.path;
  if (path.ends_with(".onnx")) {
    RELAYVM_ASSIGN_OR_RETURN(path, CompileModel(path, options_.compile));
  }
  const HostFunction emit = EmitFunction();
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                           Executable::Load(path, {.host_functions = {&emit, 1}}));
  return make_(name, source.version, std::move(executable));
}

Status Repository::LoadNow(const std::string& name, const Source& source) {
  Result<std::shared_ptr<const ServedModel>> made = Make(name, source);
  std::shared_ptr<const ServedModel> before;  // goes without the lock
  const std::unique_lock lock(mutex_);
  Entry& entry = entries_[name];
  entry.tried = source.stamp;
  entry.reason = made.ok() ? "" : made.status().message();
  if (!made.ok()) return made.status();
  entry.is_unloaded = false;
  before = std::exchange(entry.model, *std::move(made));
  return OkStatus();
}

Status Repository::LoadByName(const std::string& name) {
  const std::map<std::string, Source> sources = ListSources();
  const auto found = sources.find(name);
  if (found == sources.end()) return NotFound("the repository has no model " + Printable(name));
  return LoadNow(name, found->second).ok() ? OkStatus() : [&] {
    const std::shared_lock lock(mutex_);
    return InvalidInput(name + ": " + entries_.find(name)->second.reason);
  }();
}

Status Repository::UnloadNow(const std::string& name) {
  std::shared_ptr<const ServedModel> last;  // goes without the lock
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return NotFound("the repository has no model " + Printable(name));
  last = std::move(found->second.model);
  found->second.model = nullptr;
  found->second.is_unloaded = true;
  found->second.reason = "unloaded";
  return OkStatus();
}

void Repository::Load(std::string name, Done done) {
  Post([this, name = std::move(name), done = std::move(done)] {
    done(Guarded([&] { return LoadByName(name); }));
  });
}

void Repository::Unload(std::string name, Done done) {
  Post([this, name = std::move(name), done = std::move(done)] { done(UnloadNow(name)); });
}

void Repository::Refresh(Done done) {
  Post([this, done = std::move(done)] {
    Rescan();
    done(OkStatus());
  });
}

Result<std::shared_ptr<const ServedModel>> Repository::Find(std::string_view name,
                                                            std::string_view version) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end()) return NotFound("there is no model " + Printable(name));
  const Entry& entry = found->second;
  if (entry.model == nullptr)
    return NotFound(fmt::format("model {} is not loaded: {}", found->first, entry.reason));
  if (!version.empty() && version != entry.model->version()) {
    return NotFound(fmt::format("model {} has no version {}: {} is served", found->first,
                                Printable(version), entry.model->version()));
  }
  return entry.model;
}

std::vector<IndexEntry> Repository::Index() const {
  const std::shared_lock lock(mutex_);
  std::vector<IndexEntry> index;
  for (const auto& [name, entry] : entries_) {
    index.push_back({name, entry.model == nullptr ? "" : entry.model->version(),
                     entry.model != nullptr, entry.reason});
  }
  return index;
}

}  // namespace relayvm::serve

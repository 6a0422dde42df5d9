#include "tools/serve/repository.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <future>
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

// The highest numbers, `count` of them.
template <typename T>
std::vector<uint64_t> Latest(const std::map<uint64_t, T>& by_number, size_t count) {
  std::vector<uint64_t> numbers;
  for (auto i = by_number.rbegin(); i != by_number.rend() && numbers.size() < count; ++i)
    numbers.push_back(i->first);
  return numbers;
}

constexpr const char* kUnreadable = "its folder cannot be read";

Status NotFound(std::string message) { return {StatusCode::kNotFound, std::move(message)}; }

}  // namespace

std::string ConfigPath(const RepositoryOptions& options, const std::string& name) {
  for (const auto& [file_name, path] : options.files) {
    if (file_name == name) return fs::path(path).replace_extension(".config.json").string();
  }
  return (fs::path(options.folder) / name / "config.json").string();
}

// Of a thread that changes an entry which is busy: until it goes.
class Repository::Busy {
 public:
  Busy(Repository& repository, const std::string& name) : repository_(repository), name_(name) {}
  ~Busy() {
    const std::unique_lock lock(repository_.mutex_);
    const auto found = repository_.entries_.find(name_);
    if (found != repository_.entries_.end()) found->second.is_busy = false;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Repository& repository_;
  const std::string& name_;
};

size_t Repository::Entry::num_served() const {
  return static_cast<size_t>(std::ranges::count_if(
      versions, [](const auto& version) { return version.second.model != nullptr; }));
}

Repository::Repository(RepositoryOptions options, MakeModel make)
    : options_(std::move(options)), make_(std::move(make)) {}

Result<std::unique_ptr<Repository>> Repository::Open(RepositoryOptions options, MakeModel make) {
  std::error_code error;
  if (!options.folder.empty() && !fs::is_directory(options.folder, error))
    return NotFound(options.folder + ": no such folder");
  return std::unique_ptr<Repository>(new Repository(std::move(options), std::move(make)));
}

Result<std::unique_ptr<Repository>> Repository::Create(RepositoryOptions options, MakeModel make) {
  RELAYVM_ASSIGN_OR_RETURN(auto repository, Open(std::move(options), std::move(make)));
  std::promise<void> loaded;
  repository->Start([&loaded] { loaded.set_value(); });
  loaded.get_future().wait();
  return repository;
}

void Repository::Start(std::function<void()> loaded) {
  for (uint32_t i = 0; i < std::max<uint32_t>(options_.loaders, 1); ++i)
    threads_.emplace_back([this] { Work(); });
  Rescan([this, loaded = std::move(loaded)] {
    if (stopping_) return;
    is_loaded_.store(true, std::memory_order_release);
    if (loaded) loaded();
  });
  is_listed_ = true;
  if (options_.poll.count() == 0) return;
  watch_ = std::make_unique<FolderWatch>();
  threads_.emplace_back([this] { Watch(); });
}

Repository::~Repository() {
  {
    const std::lock_guard lock(jobs_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (watch_ != nullptr) watch_->Wake();
  for (std::thread& thread : threads_) thread.join();
}

void Repository::Watch() {
  // A folder that goes while it is read, and no memory: the next look is another one.
  const auto guarded = [](auto work) {
    Guarded([&]() -> Status {
      work();
      return OkStatus();
    }).ok();
  };
  for (;;) {
    guarded([&] { Follow(); });
    guarded([&] { Rescan(nullptr); });  // first for what came before all was watched
    watch_->Wait(options_.poll);
    if (stopping_) return;
  }
}

void Repository::Follow() {
  std::vector<std::string> beside;
  for (const auto& [name, path] : options_.files) {
    const std::string folder = fs::path(path).parent_path().string();
    beside.push_back(folder.empty() ? "." : folder);
  }
  watch_->Follow(options_.folder, beside);
}

void Repository::Work() {
  std::unique_lock lock(jobs_mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    Guarded([&]() -> Status {
      job();
      return OkStatus();
    }).ok();
    job = nullptr;
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

Repository::Sources Repository::ListVersions(const std::string& folder) const {
  Sources sources;
  for (const auto& version : fs::directory_iterator(folder)) {
    const std::string text = version.path().filename().string();
    const std::optional<uint64_t> number = VersionNumber(text);
    if (!number) continue;
    for (const char* file : {"model.onnx", "model.vmx"}) {
      const std::string path = (version.path() / file).string();
      if (fs::exists(path)) sources[*number] = {text, path, ""};
    }
  }
  if (sources.empty()) return sources;
  const std::vector<uint64_t> latest = Latest(sources, std::max<size_t>(options_.versions, 1));
  std::erase_if(sources, [&](const auto& source) { return source.first < latest.back(); });
  for (auto& [number, source] : sources) {
    source.stamp = source.path + "\n" + StampOfFolder(fs::path(source.path).parent_path());
    AddStamp(fs::path(folder) / "config.json", &source.stamp);
  }
  return sources;
}

// Fails where the folder cannot be read: that is not the same as being empty.
Result<Repository::Listing> Repository::ListSources() const {
  Listing sources;
  for (const auto& [name, path] : options_.files) {
    Source source{"1", path, ""};
    AddStamp(path, &source.stamp);
    AddStamp(ConfigPath(options_, name), &source.stamp);
    sources[name].emplace().emplace(1, std::move(source));
  }
  if (options_.folder.empty()) return sources;
  std::error_code failed, ignored;
  const fs::directory_iterator end;
  for (fs::directory_iterator at(options_.folder, failed); !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.') || !at->is_directory(ignored) || sources.contains(name)) continue;
    try {
      sources.emplace(name, ListVersions(at->path().string()));
    } catch (const fs::filesystem_error&) {
      sources.emplace(name, std::nullopt);
    }
  }
  if (failed) return Status(StatusCode::kResourceExhausted, failed.message());
  return sources;
}

// What has gone from the folder goes from here.
void Repository::Forget(const Listing& sources) {
  std::vector<Entry> gone;  // without the lock
  const std::unique_lock lock(mutex_);
  for (auto i = entries_.begin(); i != entries_.end();) {
    if (sources.contains(i->first) || i->second.is_busy) {
      ++i;
      continue;
    }
    gone.push_back(std::move(i->second));
    i = entries_.erase(i);
  }
}

bool Repository::HasChanged(const Entry& entry, const Sources& sources) const {
  if (sources.empty()) return entry.reason.empty();
  const auto newest = entry.versions.find(sources.rbegin()->first);
  const bool has_newest = newest != entry.versions.end() && newest->second.model != nullptr;
  if (has_newest && std::ranges::any_of(entry.versions, [&](const auto& version) {
        return !sources.contains(version.first);
      }))
    return true;
  for (const auto& [number, source] : sources) {
    const auto found = entry.versions.find(number);
    if (found == entry.versions.end() || found->second.tried != source.stamp ||
        source.stamp.empty())
      return true;
  }
  return false;
}

// Calls `done` when all is loaded, on this thread or another.
void Repository::Rescan(std::function<void()> done) {
  const std::shared_ptr<void> all(nullptr, [done = std::move(done)](void*) {
    if (done) done();
  });
  auto listed = Guarded([&] { return ListSources(); });
  if (!listed.ok()) return;
  Forget(*listed);
  for (auto& [name, sources] : *listed) {
    {
      const std::unique_lock lock(mutex_);
      Entry& entry = entries_[name];
      if (!sources && entry.reason.empty()) entry.reason = kUnreadable;
      if (!sources || entry.is_unloaded || entry.is_busy || !HasChanged(entry, *sources)) continue;
      entry.is_busy = true;
    }
    Post([this, all, name = name, sources = *std::move(sources)] {
      const Busy busy(*this, name);
      Update(name, sources, /*reload=*/false).ok();  // Index says why not
    });
  }
}

Result<std::shared_ptr<const ServedModel>> Repository::Make(const std::string& name,
                                                            const Source& source) const {
  if (stopping_) return Status(StatusCode::kCancelled, "the server ends");
  std::string path = source.path;
  if (path.ends_with(".onnx")) {
    CompileOptions compile = options_.compile;
    compile.stop = &stopping_;
    RELAYVM_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(ConfigPath(options_, name)));
    compile.states = config.states;
    RELAYVM_ASSIGN_OR_RETURN(path, CompileModel(path, compile));
  }
  const HostFunction emit = EmitFunction();
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                           Executable::Load(path, {.host_functions = {&emit, 1}}));
  return make_(name, source.version, std::move(executable));
}

Status Repository::LoadVersion(const std::string& name, uint64_t number, const Source& source) {
  auto made = Guarded([&] { return Make(name, source); });
  std::shared_ptr<const ServedModel> before;  // goes without the lock
  const std::unique_lock lock(mutex_);
  Version& version = entries_[name].versions[number];
  version.tried = source.stamp;
  if (!made.ok()) return made.status();
  before = std::exchange(version.model, *std::move(made));
  return OkStatus();
}

// Loads what is new, then drops what is no more to be served. REQUIRES: the entry is busy for this.
Status Repository::Update(const std::string& name, const Sources& sources, bool reload) {
  Status failed = OkStatus();
  if (sources.empty())
    failed = NotFound("no folder with a number as its name has a model.vmx or model.onnx");
  const std::vector<uint64_t> latest = Latest(sources, SIZE_MAX);
  for (const uint64_t number : latest) {
    const Source& source = sources.at(number);
    {
      const std::shared_lock lock(mutex_);
      const auto& versions = entries_.find(name)->second.versions;
      const auto found = versions.find(number);
      if (!reload && found != versions.end() && found->second.tried == source.stamp &&
          found->second.model != nullptr)
        continue;
    }
    const Status loaded = LoadVersion(name, number, source);
    if (!loaded.ok() && failed.ok()) failed = loaded;
  }
  std::vector<Version> old;  // go without the lock
  {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[name];
    entry.reason = failed.ok() ? "" : failed.message();
    const bool has_newest = !latest.empty() && entry.versions[latest.front()].model != nullptr;
    if (failed.ok()) entry.is_unloaded = false;
    std::erase_if(entry.versions, [&](auto& version) {
      const bool is_old = has_newest && !sources.contains(version.first);
      if (is_old) old.push_back(std::move(version.second));
      return is_old;
    });
  }
  if (old.empty()) return failed;
  old.clear();
  ::malloc_trim(0);  // what a model leaves behind in small pieces
  return failed;
}

// Makes an entry busy. One that there is none of is made, for a load.
Status Repository::Begin(const std::string& name, bool is_load) {
  const std::unique_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() && !is_load)
    return NotFound("the repository has no model " + Printable(name));
  Entry& entry = found == entries_.end() ? entries_[name] : found->second;
  if (entry.is_busy)
    return {StatusCode::kFailedPrecondition, Printable(name) + " is being loaded or unloaded"};
  entry.is_busy = true;
  return OkStatus();
}

Status Repository::LoadByName(const std::string& name) {
  RELAYVM_ASSIGN_OR_RETURN(const Listing sources, ListSources());
  const auto found = sources.find(name);
  if (found == sources.end()) {
    Entry gone;  // without the lock
    const std::unique_lock lock(mutex_);
    gone = std::move(entries_[name]);
    entries_.erase(name);
    return NotFound("the repository has no model " + Printable(name));
  }
  if (!found->second) return {StatusCode::kResourceExhausted, kUnreadable};
  const Status loaded = Update(name, *found->second, /*reload=*/true);
  return loaded.ok() ? loaded : InvalidInput(name + ": " + loaded.message());
}

void Repository::UnloadNow(const std::string& name) {
  std::map<uint64_t, Version> last;  // goes without the lock
  {
    const std::unique_lock lock(mutex_);
    Entry& entry = entries_[name];
    last.swap(entry.versions);
    entry.is_unloaded = true;
    entry.reason = "unloaded";
  }
  last.clear();
  ::malloc_trim(0);
}

void Repository::Load(std::string name, Done done) {
  if (const Status begun = Begin(name, /*is_load=*/true); !begun.ok()) return done(begun);
  Post([this, name = std::move(name), done = std::move(done)] {
    done(Guarded([&] {
      const Busy busy(*this, name);
      return LoadByName(name);
    }));
  });
}

void Repository::Unload(std::string name, Done done) {
  if (const Status begun = Begin(name, /*is_load=*/false); !begun.ok()) return done(begun);
  Post([this, name = std::move(name), done = std::move(done)] {
    done(Guarded([&]() -> Status {
      const Busy busy(*this, name);
      UnloadNow(name);
      return OkStatus();
    }));
  });
}

void Repository::Refresh(Done done) {
  Post([this, done = std::move(done)]() mutable {
    Rescan([done = std::move(done)] { done(OkStatus()); });
  });
}

Result<std::shared_ptr<const ServedModel>> Repository::Find(std::string_view name,
                                                            std::string_view version) const {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() && !is_listed_)
    return Status(StatusCode::kResourceExhausted, "the repository has not been read yet");
  if (found == entries_.end()) return NotFound("there is no model " + Printable(name));
  const Entry& entry = found->second;
  std::string served;
  for (auto i = entry.versions.rbegin(); i != entry.versions.rend(); ++i) {
    const auto& model = i->second.model;
    if (model == nullptr) continue;
    if (version.empty() || version == model->version()) return model;
    served += (served.empty() ? "" : ", ") + model->version();
  }
  if (served.empty() && entry.is_new()) {
    return Status(StatusCode::kResourceExhausted,
                  fmt::format("model {} is being loaded", found->first));
  }
  if (served.empty())
    return NotFound(fmt::format("model {} is not loaded: {}", found->first, entry.reason));
  return NotFound(fmt::format("model {} has no version {}: {} is served", found->first,
                              Printable(version), served));
}

std::vector<std::string> Repository::VersionsOf(std::string_view name) const {
  std::vector<std::string> versions;
  if (name.empty()) return versions;
  for (const auto& model : Served(name)) versions.push_back(model->version());
  return versions;
}

std::vector<std::shared_ptr<const ServedModel>> Repository::Served(std::string_view name,
                                                                   std::string_view version) const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<const ServedModel>> served;
  const auto add = [&](const Entry& entry) {
    for (const auto& [number, one] : entry.versions) {
      if (one.model != nullptr && (version.empty() || version == one.model->version()))
        served.push_back(one.model);
    }
  };
  if (name.empty()) {
    for (const auto& [other, entry] : entries_) add(entry);
  } else if (const auto found = entries_.find(name); found != entries_.end()) {
    add(found->second);
  }
  return served;
}

std::vector<IndexEntry> Repository::Index() const {
  const std::shared_lock lock(mutex_);
  std::vector<IndexEntry> index;
  for (const auto& [name, entry] : entries_) {
    for (const auto& [number, version] : entry.versions) {
      if (version.model != nullptr) index.push_back({name, version.model->version(), true, ""});
    }
    if (entry.num_served() == 0) index.push_back({name, "", false, "", entry.is_new()});
    index.back().reason = entry.reason;
  }
  return index;
}

}  // namespace relayvm::serve

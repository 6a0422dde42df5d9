#include "kernels/codegen/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/Support/BLAKE3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/file_replacement.h"
#include "bytecode/base/private_folder.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "relayvm object 1";
constexpr std::string_view kObject = ".kernels";
constexpr std::string_view kFile = ".executable";

std::span<const char> ContentOf(const FileMapping& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

void WasAskedFor(const std::string& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

// A name of the cache's, also of a file that is being written, or was when its process ended.
bool IsOwn(const std::string& name) {
  const size_t key = name.find_first_not_of("0123456789abcdef");
  return key == 2 * std::tuple_size_v<ObjectCache::Key> &&
         (name.substr(key).starts_with(kObject) || name.substr(key).starts_with(kFile));
}

std::string EnvironmentValue(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

}  // namespace

ObjectCache::Key ObjectCache::KeyOf(std::span<const char> content) {
  llvm::BLAKE3 hash;
  hash.update(llvm::StringRef(content.data(), content.size()));
  return hash.final<std::tuple_size_v<Key>>();
}

Result<std::shared_ptr<ObjectCache>> ObjectCache::Open(const std::string& folder,
                                                       uint64_t max_bytes) {
  RELAYVM_RETURN_IF_ERROR(MakePrivateFolder(folder, "for compiled kernels"));
  return std::shared_ptr<ObjectCache>(new ObjectCache(folder, max_bytes));
}

std::string ObjectCache::DefaultFolder() {
  std::string folder = EnvironmentValue("RELAYVM_CACHE");
  if (folder == "off") return "";
  if (!folder.empty()) return folder;
  // Relative ones count as none, as the XDG Base Directory Specification has it.
  folder = EnvironmentValue("XDG_CACHE_HOME");
  if (folder.starts_with('/')) return folder + "/relayvm";
  folder = EnvironmentValue("HOME");
  return folder.starts_with('/') ? folder + "/.cache/relayvm" : "";
}

std::string ObjectCache::PathOf(const Key& key, std::string_view ending) const {
  return fmt::format("{}/{:02x}{}", folder_, fmt::join(key, ""), ending);
}

std::optional<std::vector<char>> ObjectCache::Find(const Key& key) const {
  const std::string path = PathOf(key, kObject);
  auto file = FileMapping::Open(path, FileMapping::Kind::kRead);
  if (!file.ok()) return std::nullopt;
  const std::span<const char> bytes = ContentOf(**file);
  const size_t start = kMagic.size() + key.size();
  if (bytes.size() < start || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return std::nullopt;
  const std::span<const char> object = bytes.subspan(start);
  const Key hash = KeyOf(object);
  if (std::memcmp(bytes.data() + kMagic.size(), hash.data(), hash.size()) != 0) return std::nullopt;
  WasAskedFor(path);
  return std::vector<char>(object.begin(), object.end());
}

void ObjectCache::Store(const Key& key, std::span<const char> object) {
  const Key hash = KeyOf(object);
  auto file = FileReplacement::Create(PathOf(key, kObject));
  const bool is_written = file.ok() && file->Write(kMagic.data(), kMagic.size()).ok() &&
                          file->Write(hash.data(), hash.size()).ok() &&
                          file->Write(object.data(), object.size()).ok();
  if (!is_written || !file->Commit().ok()) return;
  KeepBound(kMagic.size() + hash.size() + object.size());
}

std::shared_ptr<const FileMapping> ObjectCache::FindFile(const Key& key, const Key& content) const {
  const std::string path = PathOf(key, kFile);
  auto file = FileMapping::Open(path);
  if (!file.ok() || KeyOf(ContentOf(**file)) != content) return nullptr;
  WasAskedFor(path);
  return *file;
}

std::shared_ptr<const FileMapping> ObjectCache::StoreFile(
    const Key& key, uint64_t size, Key* content,
    const std::function<Status(const std::string& path)>& write) {
  const std::string path = PathOf(key, kFile);
  if (size > max_bytes_ / 4 || !write(path).ok()) return nullptr;
  auto file = FileMapping::Open(path);
  if (!file.ok()) return nullptr;
  if ((*file)->bytes().size() > max_bytes_ / 4) {
    std::error_code gone;
    fs::remove(path, gone);
    return nullptr;
  }
  *content = KeyOf(ContentOf(**file));
  KeepBound((*file)->bytes().size());
  return *file;
}

// The folder is walked at first, and whenever a sixteenth of what it may hold has come since.
void ObjectCache::KeepBound(uint64_t size) {
  if (unchecked_.fetch_add(size) + size <= max_bytes_ / 16) return;
  unchecked_ = 0;
  DropOldest();
}

// Down to three quarters of the bound.
void ObjectCache::DropOldest() const {
  struct Found {
    fs::file_time_type time;
    uint64_t size;
    fs::path path;
  };
  std::vector<Found> found;
  uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator i(folder_, error), end; !error && i != end; i.increment(error)) {
    if (!IsOwn(i->path().filename())) continue;
    std::error_code gone;  // another process may be at it
    Found f{i->last_write_time(gone), i->file_size(gone), i->path()};
    if (gone) continue;
    sum += f.size;
    found.push_back(std::move(f));
  }
  if (sum <= max_bytes_) return;
  std::ranges::sort(found, {}, &Found::time);
  for (const Found& f : found) {
    if (sum <= max_bytes_ / 4 * 3) return;
    fs::remove(f.path, error);
    sum -= f.size;
  }
}

}  // namespace relayvm

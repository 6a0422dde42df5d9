#include "vm/run/shared_constants.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/checksum.h"

namespace relayvm::vm {
namespace {

constexpr uint64_t kHeaderBytes = 4096;
constexpr time_t kMostAge = 30 * 24 * 3600;  // of what nobody has used since
constexpr time_t kMostUnfinishedAge = 3600;
constexpr size_t kRandomBytes = 16;  // of an unfinished file's name
constexpr std::string_view kEnd = ".constants", kUnfinishedEnd = ".new";

struct SharedHeader {
  char magic[8] = {'R', 'V', 'M', 'S', 'H', 'A', 'R', 'E'};
  uint64_t version = 1;
  ContentHash key{};
  uint64_t size = 0;
  uint64_t checksum = 0;  // of the bytes
};
static_assert(sizeof(SharedHeader) == 64);

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// No other user can have made or changed it.
bool IsOurs(const struct stat& info) {
  return info.st_uid == ::geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// -1: there is none that may be used.
int OpenFolder() {
  std::string path;
  const auto is_folder = [](const char* value) { return value != nullptr && value[0] == '/'; };
  const char* own = ::secure_getenv("RELAYVM_CACHE");
  const char* cache = ::secure_getenv("XDG_CACHE_HOME");
  const char* home = ::secure_getenv("HOME");
  if (own != nullptr) {
    if (!is_folder(own)) return -1;
    path = own;
  } else if (is_folder(cache) || is_folder(home)) {
    path = is_folder(cache) ? cache : std::string(home) + "/.cache";
    static_cast<void>(::mkdir(path.c_str(), 0700));
    path += "/relayvm";
  } else {
    return -1;
  }
  static_cast<void>(::mkdir(path.c_str(), 0700));
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info;
  if (folder.get() < 0 || ::fstat(folder.get(), &info) != 0 || !IsOurs(info)) return -1;
  return folder.Release();
}

// The key with the machine's start; none where that is not known.
std::optional<ContentHash> KeyOfThisStart(const ContentHash& key) {
  const Descriptor file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[36];
  if (file.get() < 0 || ::read(file.get(), text, sizeof text) != sizeof text) return std::nullopt;
  Blake2b hash;
  hash.Add(SharedHeader().version);
  hash.Add(std::as_bytes(std::span(key)));
  hash.Add(std::as_bytes(std::span(text)));
  return hash.Finish();
}

std::string Digits(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string NameOf(const ContentHash& key) { return Digits(key) + std::string(kEnd); }

bool ReadWhole(int fd, void* to, size_t size, off_t at) {
  return ::pread(fd, to, size, at) == static_cast<ssize_t>(size);
}

std::optional<SharedBytes> MapShared(int fd, uint64_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, kHeaderBytes);
  if (data == MAP_FAILED) return std::nullopt;
  std::shared_ptr<const void> owner(
      data, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  return SharedBytes({static_cast<const std::byte*>(data), size}, std::move(owner));
}

std::optional<SharedBytes> FindIn(int folder, const ContentHash& key, uint64_t size, bool verify) {
  const Descriptor file(
      ::openat(folder, NameOf(key).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  SharedHeader expected, header;
  expected.key = key;
  expected.size = size;
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      !IsOurs(info) || static_cast<uint64_t>(info.st_size) != kHeaderBytes + size ||
      !ReadWhole(file.get(), &header, sizeof header, 0)) {
    return std::nullopt;
  }
  expected.checksum = header.checksum;
  if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
  std::optional<SharedBytes> bytes = MapShared(file.get(), size);
  if (bytes && verify &&
      Checksum64({reinterpret_cast<const uint8_t*>(bytes->data()), size}) != header.checksum) {
    return std::nullopt;
  }
  static_cast<void>(::futimens(file.get(), nullptr));  // used now
  return bytes;
}

// Digits, then `end`: whatever else is in the folder is nobody's here.
bool IsNameOf(std::string_view name, size_t digits, std::string_view end) {
  return name.size() == digits + end.size() && name.ends_with(end) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

struct FolderEntry {
  std::string name;
  time_t used;
  uint64_t bytes;
};

// What is in the folder and of this file's making. What is too old goes.
std::vector<FolderEntry> ListFolder(int folder) {
  std::vector<FolderEntry> entries;
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (list == nullptr) {
    if (fd >= 0) ::close(fd);
    return entries;
  }
  const time_t now = ::time(nullptr);
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    const bool is_unfinished = IsNameOf(name, 2 * kRandomBytes, kUnfinishedEnd);
    struct stat info;
    if ((!is_unfinished && !IsNameOf(name, 2 * sizeof(ContentHash), kEnd)) ||
        ::fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(info.st_mode)) {
      continue;
    }
    if (now - info.st_mtime > (is_unfinished ? kMostUnfinishedAge : kMostAge)) {
      ::unlinkat(folder, entry->d_name, 0);
    } else {
      entries.push_back({std::string(name), info.st_mtime, static_cast<uint64_t>(info.st_size)});
    }
  }
  return entries;
}

void MakeRoom(int folder, uint64_t bytes) {
  std::vector<FolderEntry> entries = ListFolder(folder);
  std::ranges::sort(entries, {}, &FolderEntry::used);
  uint64_t sum = bytes;
  for (const FolderEntry& entry : entries) sum += entry.bytes;
  for (const FolderEntry& entry : entries) {
    if (sum <= kMostSharedBytes) return;
    if (::unlinkat(folder, entry.name.c_str(), 0) == 0) sum -= entry.bytes;
  }
}

// Whether this process may write files of that size: writing beyond the limit would end it
// (SIGXFSZ).
bool MayWrite(uint64_t bytes) {
  rlimit limit{};
  return bytes <= kMostSharedBytes && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

}  // namespace

std::optional<SharedBytes> FindSharedConstants(const ContentHash& key, uint64_t size, bool verify) {
  const std::optional<ContentHash> own = KeyOfThisStart(key);
  const Descriptor folder(own ? OpenFolder() : -1);
  if (folder.get() < 0) return std::nullopt;
  return FindIn(folder.get(), *own, size, verify);
}

std::optional<SharedConstantsWriter> SharedConstantsWriter::Create(const ContentHash& key,
                                                                   uint64_t size) {
  const std::optional<ContentHash> own = KeyOfThisStart(key);
  if (!own || size == 0 || !MayWrite(kHeaderBytes + size)) return std::nullopt;
  SharedConstantsWriter writer(*own, size);
  writer.folder_ = OpenFolder();
  if (writer.folder_ < 0) return std::nullopt;
  MakeRoom(writer.folder_, kHeaderBytes + size);
  uint8_t random[kRandomBytes];
  if (::getrandom(random, sizeof random, 0) != sizeof random) return std::nullopt;
  std::string name = Digits(random) + std::string(kUnfinishedEnd);
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW;
  writer.fd_ = ::openat(writer.folder_, name.c_str(), kFlags, 0600);
  if (writer.fd_ < 0) return std::nullopt;
  writer.temporary_ = std::move(name);
  const auto whole = static_cast<off_t>(kHeaderBytes + size);
  const bool has_room = ::fallocate(writer.fd_, 0, 0, whole) == 0 ||
                        (errno == EOPNOTSUPP && ::ftruncate(writer.fd_, whole) == 0);
  if (!has_room) return std::nullopt;
  return writer;
}

SharedConstantsWriter::SharedConstantsWriter(SharedConstantsWriter&& other) noexcept
    : key_(other.key_),
      size_(other.size_),
      folder_(std::exchange(other.folder_, -1)),
      fd_(std::exchange(other.fd_, -1)),
      temporary_(std::exchange(other.temporary_, "")),
      failed_(other.failed_) {}

SharedConstantsWriter::~SharedConstantsWriter() {
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  if (fd_ >= 0) ::close(fd_);
  if (folder_ >= 0) ::close(folder_);
}

bool SharedConstantsWriter::Write(uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !failed_) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), std::min(bytes.size(), size_t{1} << 30),
                               static_cast<off_t>(kHeaderBytes + offset));
    if (n < 0 && errno == EINTR) continue;
    failed_ = n <= 0;
    if (failed_) break;
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return !failed_;
}

std::optional<SharedBytes> SharedConstantsWriter::Publish() {
  std::optional<SharedBytes> bytes = failed_ ? std::nullopt : MapShared(fd_, size_);
  if (!bytes) return std::nullopt;
  SharedHeader header;
  header.key = key_;
  header.size = size_;
  header.checksum = Checksum64({reinterpret_cast<const uint8_t*>(bytes->data()), size_});
  if (::pwrite(fd_, &header, sizeof header, 0) != sizeof header) return std::nullopt;
  const std::string name = NameOf(key_);
  if (::linkat(folder_, temporary_.c_str(), folder_, name.c_str(), 0) == 0) return bytes;
  // Another process was first, or what is there is of no use.
  if (errno == EEXIST) {
    if (auto others = FindIn(folder_, key_, size_, /*verify=*/true)) return others;
  }
  if (::renameat(folder_, temporary_.c_str(), folder_, name.c_str()) == 0) temporary_.clear();
  return bytes;
}

}  // namespace relayvm::vm

#include "bytecode/base/file_replacement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace relayvm {

Status FileReplacement::Failed(const char* what) const {
  return {StatusCode::kInvalidInput,
          fmt::format("cannot {} '{}': {}", what, path_, std::strerror(errno))};
}

namespace {

// 48 random bits, as a part of a file's name.
std::string RandomName() {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) bits = static_cast<uint64_t>(::getpid());
  std::string name(8, ' ');
  for (char& c : name) {
    c = kLetters[bits % 64];
    bits /= 64;
  }
  return name;
}

}  // namespace

Result<FileReplacement> FileReplacement::Create(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    FileReplacement file(path, "", ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.fd_ < 0) return file.Failed("create");
    // Whoever has put a file there meanwhile keeps it.
    if (::fstat(file.fd_, &info) == 0 && !S_ISREG(info.st_mode)) return file;
    return Status(StatusCode::kInvalidInput,
                  fmt::format("cannot create '{}': it has become another file", path));
  }
  // In a folder that others may write to, a name may have been made before, as a link to elsewhere.
  constexpr int kMostTries = 100;
  for (int i = 0;; ++i) {
    std::string temporary = fmt::format("{}.tmp{}", path, RandomName());
    constexpr int kFlags = O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW;
    const int fd = ::open(temporary.c_str(), kFlags, 0666);
    if (fd < 0 && errno == EEXIST && i < kMostTries) continue;
    FileReplacement file(path, fd < 0 ? "" : std::move(temporary), fd);
    if (fd < 0) return file.Failed("create");
    return file;
  }
}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      fd_(std::exchange(other.fd_, -1)) {}

FileReplacement::~FileReplacement() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status FileReplacement::Write(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  while (size > 0) {
    ssize_t written = ::write(fd_, bytes, std::min<size_t>(size, size_t{1} << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failed("write");
    }
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return OkStatus();
}

Status FileReplacement::WriteFile(const FileMapping& file) {
  const std::span<const uint8_t> bytes = file.bytes();
  loff_t done = 0;
  while (static_cast<size_t>(done) < bytes.size()) {
    const size_t left = bytes.size() - static_cast<size_t>(done);
    if (::copy_file_range(file.descriptor(), &done, fd_, nullptr, left, 0) <= 0) break;
  }
  // What is no file, or of another file system, takes no copy.
  return Write(bytes.data() + done, bytes.size() - static_cast<size_t>(done));
}

Status FileReplacement::WriteAt(uint64_t offset, const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  while (size > 0) {
    ssize_t written =
        ::pwrite(fd_, bytes, std::min<size_t>(size, size_t{1} << 30), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failed("write");
    }
    bytes += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
  return OkStatus();
}

Status FileReplacement::Commit(bool lasting) {
  lasting = lasting && !temporary_.empty();
  if (lasting && ::fsync(fd_) != 0) return Failed("write");
  if (::close(std::exchange(fd_, -1)) != 0) return Failed("write");
  if (temporary_.empty()) return OkStatus();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Failed("create");
  temporary_.clear();
  if (!lasting) return OkStatus();
  // The name, too. Some file systems have no fsync of folders.
  const size_t slash = path_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return OkStatus();
  static_cast<void>(::fsync(fd));
  ::close(fd);
  return OkStatus();
}

Status CopyFile(const FileMapping& file, const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement copy, FileReplacement::Create(path));
  RELAYVM_RETURN_IF_ERROR(copy.WriteFile(file));
  return copy.Commit();
}

Status WriteFile(const std::string& path, std::string_view content, bool lasting) {
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  RELAYVM_RETURN_IF_ERROR(file.Write(content.data(), content.size()));
  return file.Commit(lasting);
}

}  // namespace relayvm

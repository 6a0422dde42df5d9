#include "bytecode/base/file_replacement.h"

#include <fcntl.h>
#include <fmt/format.h>
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

Result<FileReplacement> FileReplacement::Create(const std::string& path) {
  struct stat info;
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string temporary = special ? "" : fmt::format("{}.tmp{}", path, ::getpid());
  const int flags = O_WRONLY | O_CLOEXEC | (special ? 0 : O_CREAT | O_TRUNC);
  const int fd = ::open(special ? path.c_str() : temporary.c_str(), flags, 0666);
  FileReplacement file(path, fd < 0 ? "" : std::move(temporary), fd);
  if (fd < 0) return file.Failed("create");
  return file;
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

Status FileReplacement::Commit() {
  if (::close(std::exchange(fd_, -1)) != 0) return Failed("write");
  if (temporary_.empty()) return OkStatus();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Failed("create");
  temporary_.clear();
  return OkStatus();
}

Status WriteFile(const std::string& path, std::string_view content) {
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  RELAYVM_RETURN_IF_ERROR(file.Write(content.data(), content.size()));
  return file.Commit();
}

}  // namespace relayvm

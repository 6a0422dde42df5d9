#include "bytecode/base/file_mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace relayvm {

Result<std::shared_ptr<const FileMapping>> FileMapping::Open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    StatusCode code =
        errno == ENOENT || errno == ENOTDIR ? StatusCode::kNotFound : StatusCode::kInvalidInput;
    return Status(code, fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  }
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return Status(StatusCode::kInvalidInput,
                  fmt::format("cannot map '{}': not a regular file", path));
  }
  auto size = static_cast<size_t>(info.st_size);
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      ::close(fd);
      return Status(
          error == ENOMEM ? StatusCode::kResourceExhausted : StatusCode::kInvalidInput,
          fmt::format("cannot map '{}' ({} bytes): {}", path, size, std::strerror(error)));
    }
  }
  return std::shared_ptr<const FileMapping>(
      new FileMapping(path, fd, static_cast<const uint8_t*>(data), size));
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
  ::close(fd_);
}

}  // namespace relayvm

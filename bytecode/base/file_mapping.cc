#include "bytecode/base/file_mapping.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace relayvm {

namespace {

// Reads `fd` to its end into a file that has no name. -1 with errno when that fails.
int CopyToMemory(int fd) {
  if (::fcntl(fd, F_SETFL, 0) != 0) return -1;  // wait for the writer
  const int copy = ::memfd_create("relayvm", MFD_CLOEXEC);
  if (copy < 0) return -1;
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0) return copy;
    if (got < 0 && errno == EINTR) continue;
    for (ssize_t done = 0; got > 0 && done < got;) {
      ssize_t written = ::write(copy, buffer + done, static_cast<size_t>(got - done));
      if (written < 0) got = -1;
      done += written;
    }
    if (got >= 0) continue;
    const int error = errno;
    ::close(copy);
    errno = error;
    return -1;
  }
}

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

Result<std::shared_ptr<const FileMapping>> FileMapping::Open(const std::string& path, Kind kind) {
  const std::shared_ptr<FileMapping> mapping(new FileMapping(path));
  int& fd = mapping->fd_;
  // O_NONBLOCK: opening a FIFO that nobody writes to must not wait; it is empty.
  fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    StatusCode code =
        errno == ENOENT || errno == ENOTDIR ? StatusCode::kNotFound : StatusCode::kInvalidInput;
    return Status(code, fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  }
  struct stat& info = mapping->opened_;
  if (::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) ||
                                  (kind == Kind::kRead && S_ISREG(info.st_mode)))) {
    const int copy = CopyToMemory(fd);
    const int error = errno;
    Status changed = S_ISREG(info.st_mode) ? mapping->CheckUnchanged() : OkStatus();
    ::close(std::exchange(fd, copy));
    if (fd < 0) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("cannot read '{}': {}", path, std::strerror(error)));
    }
    RELAYVM_RETURN_IF_ERROR(changed);
  }
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("cannot map '{}': not a regular file", path));
  }
  auto size = static_cast<size_t>(info.st_size);
  if (size > 0) {
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
      int error = errno;
      return Status(
          error == ENOMEM ? StatusCode::kResourceExhausted : StatusCode::kInvalidInput,
          fmt::format("cannot map '{}' ({} bytes): {}", path, size, std::strerror(error)));
    }
    mapping->data_ = static_cast<const uint8_t*>(data);
    mapping->size_ = size;
  }
  return std::shared_ptr<const FileMapping>(mapping);
}

Status FileMapping::CheckUnchanged(int64_t* status_time) const {
  struct stat now;
  if (::fstat(fd_, &now) != 0 || now.st_size != opened_.st_size ||
      Nanoseconds(now.st_mtim) != Nanoseconds(opened_.st_mtim)) {
    return Changed(
        fmt::format("{} bytes when it was opened, {} now", opened_.st_size, now.st_size));
  }
  if (status_time != nullptr) *status_time = Nanoseconds(now.st_ctim);
  return OkStatus();
}

void FileMapping::DropPages(std::span<const std::byte> bytes) {
  static const auto kPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t into_page = reinterpret_cast<uintptr_t>(bytes.data()) & (kPage - 1);
  auto* first_page = const_cast<std::byte*>(bytes.data() - into_page);
  // Advice: a failure changes nothing but the memory used.
  static_cast<void>(::madvise(first_page, into_page + bytes.size(), MADV_DONTNEED));
}

int64_t FileMapping::status_time() const { return Nanoseconds(opened_.st_ctim); }

Status FileMapping::Changed(const std::string& how) const {
  return {StatusCode::kFailedPrecondition,
          fmt::format("'{}' has been written to while it is in use ({}); load it again, and "
                      "replace such files by renaming (mv), not in place",
                      path_, how)};
}

FileMapping::~FileMapping() {
  if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace relayvm

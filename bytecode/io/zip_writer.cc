#include "bytecode/io/zip_writer.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace relayvm {
namespace {

constexpr uint64_t kNone32 = UINT32_MAX, kNone16 = UINT16_MAX;  // "see the zip64 record"
constexpr uint16_t kVersion = 20, kVersion64 = 45;
constexpr uint16_t kUnix = 3 << 8;  // who made it: permissions are Unix's
constexpr uint32_t kPermissions = uint32_t{0100644} << 16;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01
constexpr uint16_t kZip64Extra = 1;

void Put(std::string* out, int bytes, uint64_t value) {
  for (int i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i) & 0xFF);
}
void Put16(std::string* out, uint64_t value) { Put(out, 2, value); }
void Put32(std::string* out, uint64_t value) { Put(out, 4, value); }
void Put64(std::string* out, uint64_t value) { Put(out, 8, value); }

uint32_t Checksum(std::span<const std::byte> content) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

// What local and central headers share: from the flags to the sizes and the lengths of what
// follows.
void PutEntry(std::string* out, uint32_t checksum, uint64_t size, size_t name, size_t extra) {
  Put16(out, kUtf8Names);
  Put16(out, 0);  // stored
  Put16(out, 0);  // time
  Put16(out, kFirstDay);
  Put32(out, checksum);
  Put32(out, std::min(size, kNone32));
  Put32(out, std::min(size, kNone32));
  Put16(out, name);
  Put16(out, extra);
}

}  // namespace

Result<ZipWriter> ZipWriter::Create(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  return ZipWriter(std::move(file));
}

Status ZipWriter::Write(const std::string& bytes) {
  written_ += bytes.size();
  return file_.Write(bytes.data(), bytes.size());
}

Status ZipWriter::Add(const std::string& name, std::span<const std::byte> content) {
  if (name.size() > kNone16) {
    return {StatusCode::kInvalidInput,
            fmt::format("the name of a zip entry has at most {} bytes, found {}", kNone16,
                        name.size())};
  }
  const uint64_t size = content.size(), offset = written_;
  const uint32_t checksum = Checksum(content);
  const bool large = size >= kNone32, far = offset >= kNone32;
  std::string sizes;
  if (large) {
    Put64(&sizes, size);
    Put64(&sizes, size);
  }
  std::string local = "PK\x03\x04", local_extra;
  if (large) {
    Put16(&local_extra, kZip64Extra);
    Put16(&local_extra, sizes.size());
    local_extra += sizes;
  }
  Put16(&local, large ? kVersion64 : kVersion);
  PutEntry(&local, checksum, size, name.size(), local_extra.size());
  RELAYVM_RETURN_IF_ERROR(Write(local + name + local_extra));
  RELAYVM_RETURN_IF_ERROR(file_.Write(content.data(), content.size()));
  written_ += size;

  std::string extra;
  if (large || far) {
    Put16(&extra, kZip64Extra);
    Put16(&extra, sizes.size() + (far ? 8 : 0));
    extra += sizes;
    if (far) Put64(&extra, offset);
  }
  central_ += "PK\x01\x02";
  Put16(&central_, kUnix | kVersion);
  Put16(&central_, extra.empty() ? kVersion : kVersion64);
  PutEntry(&central_, checksum, size, name.size(), extra.size());
  Put16(&central_, 0);  // comment
  Put16(&central_, 0);  // disk
  Put16(&central_, 0);  // not a text
  Put32(&central_, kPermissions);
  Put32(&central_, std::min(offset, kNone32));
  central_ += name + extra;
  ++count_;
  return OkStatus();
}

Status ZipWriter::Finish() {
  const uint64_t offset = written_, size = central_.size();
  RELAYVM_RETURN_IF_ERROR(Write(central_));
  std::string end;
  if (count_ >= kNone16 || offset >= kNone32 || size >= kNone32) {
    constexpr uint64_t kRecordBytes = 44;  // behind this number
    const uint64_t record = written_;
    end += "PK\x06\x06";
    Put64(&end, kRecordBytes);
    Put16(&end, kUnix | kVersion64);
    Put16(&end, kVersion64);
    Put64(&end, 0);  // disks
    Put64(&end, count_);
    Put64(&end, count_);
    Put64(&end, size);
    Put64(&end, offset);
    end += "PK\x06\x07";
    Put32(&end, 0);
    Put64(&end, record);
    Put32(&end, 1);
  }
  end += "PK\x05\x06";
  Put32(&end, 0);  // disks
  Put16(&end, std::min(count_, kNone16));
  Put16(&end, std::min(count_, kNone16));
  Put32(&end, std::min(size, kNone32));
  Put32(&end, std::min(offset, kNone32));
  Put16(&end, 0);  // comment
  RELAYVM_RETURN_IF_ERROR(Write(end));
  return file_.Commit();
}

}  // namespace relayvm

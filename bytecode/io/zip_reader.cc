#include "bytecode/io/zip_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace relayvm {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kCentralMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kCentralBytes = 46;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEnd64Bytes = 56;
constexpr uint64_t kLocator64Bytes = 20;
constexpr uint16_t kEncrypted = 1 << 0;
constexpr uint16_t kSizesFollow = 1 << 3;  // checksum and sizes stand behind the data
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
// Deflate expands by at most 1032; a size beyond that is a lie that would have us allocate it.
constexpr uint64_t kMaxExpansion = 1040;
// What is read for its checksum at a time.
constexpr uint64_t kChunk = 4 << 20;

// REQUIRES: in range.
template <typename T>
T Load(const SharedBytes& file, uint64_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

bool InRange(uint64_t at, uint64_t size, uint64_t end) { return at <= end && size <= end - at; }

// Where the central headers are.
struct Directory {
  uint64_t count = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

Result<Directory> FindDirectory(const SharedBytes& file) {
  // The end record is followed by a comment of at most 64 KiB.
  const uint64_t size = file.size();
  if (size < kEndBytes) return InvalidInput("not a zip archive");
  uint64_t end = size - kEndBytes;
  auto is_end = [&] {
    return Load<uint32_t>(file, end) == kEndMagic &&
           Load<uint16_t>(file, end + 20) == size - end - kEndBytes;
  };
  while (!is_end()) {
    if (end == 0 || size - end - kEndBytes >= UINT16_MAX) return InvalidInput("not a zip archive");
    --end;
  }
  auto disk = Load<uint16_t>(file, end + 4);
  auto first_disk = Load<uint16_t>(file, end + 6);
  auto count_here = Load<uint16_t>(file, end + 8);
  Directory d{Load<uint16_t>(file, end + 10), Load<uint32_t>(file, end + 16),
              Load<uint32_t>(file, end + 12)};
  if (disk != 0 || first_disk != 0 || count_here != d.count)
    return InvalidInput("a part of a split archive");
  if (d.count == UINT16_MAX || d.offset == UINT32_MAX || d.size == UINT32_MAX) {
    if (end < kLocator64Bytes || Load<uint32_t>(file, end - kLocator64Bytes) != kLocator64Magic)
      return InvalidInput("damaged archive: no 64-bit end record");
    auto at = Load<uint64_t>(file, end - kLocator64Bytes + 8);
    if (!InRange(at, kEnd64Bytes, end - kLocator64Bytes) || Load<uint32_t>(file, at) != kEnd64Magic)
      return InvalidInput("damaged archive: the 64-bit end record is not where it should be");
    d = {Load<uint64_t>(file, at + 32), Load<uint64_t>(file, at + 48),
         Load<uint64_t>(file, at + 40)};
    end = at;
  }
  if (!InRange(d.offset, d.size, end))
    return InvalidInput(fmt::format("damaged archive: its directory ends at byte {} of {}",
                                    d.offset + d.size, end));
  return d;
}

// The 64-bit values of a header's extra fields, in order, for those of `fields` that are all ones.
bool Widen(const SharedBytes& extra, std::initializer_list<uint64_t*> fields) {
  auto wide = [](const uint64_t* f) { return *f == UINT32_MAX; };
  if (std::ranges::none_of(fields, wide)) return true;
  for (uint64_t at = 0; InRange(at, 4, extra.size());) {
    auto id = Load<uint16_t>(extra, at);
    auto size = Load<uint16_t>(extra, at + 2);
    at += 4;
    if (!InRange(at, size, extra.size())) return false;
    const uint64_t end = at + size;
    if (id != 1) {
      at = end;
      continue;
    }
    for (uint64_t* field : fields) {
      if (!wide(field)) continue;
      if (!InRange(at, 8, end)) return false;
      *field = Load<uint64_t>(extra, at);
      at += 8;
    }
    return true;
  }
  return false;
}

Result<SharedBytes> Inflate(const SharedBytes& from, uint64_t size) {
  if (size / kMaxExpansion > from.size() + 1)
    return InvalidInput(
        fmt::format("{} bytes from {} compressed ones are impossible", size, from.size()));
  SharedBytes out = SharedBytes::Zeros(size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Status(StatusCode::kResourceExhausted, "no memory to decompress");
  std::byte none;
  std::byte* to = size == 0 ? &none : out.Mutable().data();
  uint64_t read = 0;
  uint64_t written = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    auto in = static_cast<uInt>(std::min<uint64_t>(from.size() - read, 1 << 30));
    auto room = static_cast<uInt>(std::min<uint64_t>(size - written, 1 << 30));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data() + read));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(to + written);
    stream.avail_out = room;
    code = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END || read != from.size() || written != size)
    return InvalidInput(fmt::format("damaged compressed data at byte {} of {}", read, from.size()));
  return out;
}

uint32_t ChecksumOf(const SharedBytes& bytes) {
  uLong crc = crc32_z(0, nullptr, 0);
  for (uint64_t at = 0; at < bytes.size(); at += kChunk) {
    SharedBytes chunk = bytes.Slice(at, std::min<uint64_t>(kChunk, bytes.size() - at));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size());
    chunk.DropPages();
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

bool ZipReader::IsZip(const SharedBytes& file) {
  if (file.size() < sizeof(uint32_t)) return false;
  auto magic = Load<uint32_t>(file, 0);
  return magic == kLocalMagic || magic == kEndMagic;
}

Result<ZipReader> ZipReader::Open(SharedBytes file) {
  RELAYVM_ASSIGN_OR_RETURN(Directory directory, FindDirectory(file));
  ZipReader reader;
  reader.file_ = std::move(file);
  const uint64_t end = directory.offset + directory.size;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    auto entry = reader.ReadHeaders(&at, end);
    if (!entry.ok()) return entry.status().WithContext(fmt::format("entry {}", i));
    if (!InRange(entry->offset, entry->stored_size, directory.offset))
      return InvalidInput(fmt::format("{}: its data end behind the archive's", entry->name));
    reader.entries_.push_back(*std::move(entry));
  }
  if (at != end)
    return InvalidInput(fmt::format("damaged archive: more than its {} entries", directory.count));
  std::vector<const ZipEntry*> by_place;
  for (const ZipEntry& e : reader.entries_) by_place.push_back(&e);
  std::ranges::sort(by_place, {}, &ZipEntry::offset);
  for (size_t i = 1; i < by_place.size(); ++i) {
    if (by_place[i]->offset - by_place[i - 1]->offset < by_place[i - 1]->stored_size + kLocalBytes)
      return InvalidInput(
          fmt::format("{} and {} overlap", by_place[i - 1]->name, by_place[i]->name));
  }
  return reader;
}

// The entry whose central header is at `*at`, which moves behind it.
Result<ZipEntry> ZipReader::ReadHeaders(uint64_t* at, uint64_t end) const {
  const Status damaged = InvalidInput("damaged header");
  const uint64_t central = *at;
  if (!InRange(central, kCentralBytes, end) || Load<uint32_t>(file_, central) != kCentralMagic)
    return damaged;
  auto flags = Load<uint16_t>(file_, central + 8);
  auto name_size = Load<uint16_t>(file_, central + 28);
  auto extra_size = Load<uint16_t>(file_, central + 30);
  auto comment_size = Load<uint16_t>(file_, central + 32);
  const uint64_t central_size = kCentralBytes + name_size + extra_size + comment_size;
  if (!InRange(central, central_size, end)) return damaged;
  *at = central + central_size;

  ZipEntry entry;
  SharedBytes name = file_.Slice(central + kCentralBytes, name_size);
  entry.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  entry.method = Load<uint16_t>(file_, central + 10);
  entry.checksum = Load<uint32_t>(file_, central + 16);
  entry.stored_size = Load<uint32_t>(file_, central + 20);
  entry.size = Load<uint32_t>(file_, central + 24);
  uint64_t local = Load<uint32_t>(file_, central + 42);
  if (!Widen(file_.Slice(central + kCentralBytes + name_size, extra_size),
             {&entry.size, &entry.stored_size, &local}))
    return damaged;
  if ((flags & kEncrypted) != 0)
    return Status(StatusCode::kUnsupported, fmt::format("{}: it is encrypted", entry.name));

  // The header beside the data repeats what the directory says.
  if (!InRange(local, kLocalBytes, central) || Load<uint32_t>(file_, local) != kLocalMagic)
    return damaged;
  auto local_name_size = Load<uint16_t>(file_, local + 26);
  auto local_extra_size = Load<uint16_t>(file_, local + 28);
  const uint64_t local_size = kLocalBytes + local_name_size + local_extra_size;
  if (!InRange(local, local_size, central)) return damaged;
  bool same = file_.Slice(local + kLocalBytes, local_name_size) == name &&
              Load<uint16_t>(file_, local + 8) == entry.method;
  if ((Load<uint16_t>(file_, local + 6) & kSizesFollow) == 0) {
    uint64_t stored_size = Load<uint32_t>(file_, local + 18);
    uint64_t size = Load<uint32_t>(file_, local + 22);
    same = same && Load<uint32_t>(file_, local + 14) == entry.checksum &&
           Widen(file_.Slice(local + kLocalBytes + local_name_size, local_extra_size),
                 {&size, &stored_size}) &&
           stored_size == entry.stored_size && size == entry.size;
  }
  if (!same) return InvalidInput(fmt::format("{}: its two headers differ", entry.name));
  entry.offset = local + local_size;
  return entry;
}

Result<SharedBytes> ZipReader::Read(const ZipEntry& entry) const {
  SharedBytes bytes = file_.Slice(entry.offset, entry.stored_size);
  if (entry.method == kDeflated) {
    auto inflated = Inflate(bytes, entry.size);
    bytes.DropPages();
    if (!inflated.ok()) return inflated.status();
    bytes = *std::move(inflated);
  } else if (entry.method != kStored) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("compression method {} is not supported; 0 (stored) and 8 (deflate) "
                              "are",
                              entry.method));
  }
  if (bytes.size() != entry.size)
    return InvalidInput(fmt::format("{} bytes stated, {} found", entry.size, bytes.size()));
  if (uint32_t found = ChecksumOf(bytes); found != entry.checksum) {
    return InvalidInput(fmt::format("the archive states checksum {:08x}, found {:08x}: damaged",
                                    entry.checksum, found));
  }
  return bytes;
}

}  // namespace relayvm

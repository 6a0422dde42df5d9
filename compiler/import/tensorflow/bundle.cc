#include "compiler/import/tensorflow/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/graph_def.h"

namespace relayvm::import::tensorflow {

namespace {

constexpr size_t kMostIndexBytes = size_t{256} << 20;

std::string_view TextOf(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The polynomial 0x1edc6f41, its bits reversed, for eight bytes at a time (Kounavis and Berry
// 2005).
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;
constexpr CrcTables MakeCrcTables() {
  CrcTables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    tables[0][i] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t i = 0; i < 256; ++i)
      tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
  }
  return tables;
}
constexpr CrcTables kCrc = MakeCrcTables();

uint32_t FixedAt(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool TakeVarint(std::string_view* rest, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < rest->size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>((*rest)[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    rest->remove_prefix(i + 1);
    return true;
  }
  return false;
}

// --- Keys of slices: numbers and texts in an order-keeping code (tensorflow/core/lib/strings) ---

void AppendOrderedNumber(uint64_t value, std::string* out) {
  std::string bytes;
  for (; value > 0; value >>= 8) bytes.insert(bytes.begin(), static_cast<char>(value & 0xff));
  out->push_back(static_cast<char>(bytes.size()));
  *out += bytes;
}

void AppendOrderedText(std::string_view text, std::string* out) {
  for (const char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xff');
    if (c == '\xff') out->push_back('\0');
  }
  out->append("\0\1", 2);
}

// In as few bytes as hold it: as many leading ones as it has bytes, then its sign and bits.
void AppendOrderedSigned(int64_t value, std::string* out) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  size_t bits = 0;
  while (bits < 64 && (magnitude >> bits) != 0) ++bits;
  const size_t length = bits / 7 + 1;
  char bytes[10];
  std::memset(bytes, value < 0 ? 0xff : 0, sizeof bytes);
  for (size_t i = 0; i < 8; ++i)
    bytes[9 - i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
  char* begin = bytes + sizeof bytes - length;
  for (size_t bit = 0; bit < length; ++bit)
    begin[bit / 8] = static_cast<char>(begin[bit / 8] ^ (0x80 >> (bit % 8)));
  out->append(begin, length);
}

struct Part {
  int64_t start = 0, length = -1;  // -1: all
};

std::string KeyOfSlice(std::string_view key, const std::vector<Part>& extents) {
  std::string out;
  AppendOrderedNumber(0, &out);
  AppendOrderedText(key, &out);
  AppendOrderedNumber(extents.size(), &out);
  for (const Part& e : extents) {
    AppendOrderedSigned(e.start, &out);
    AppendOrderedSigned(e.length, &out);
  }
  return out;
}

// "8 4 0,4:-": behind the extents of the whole, those of the slice.
std::optional<std::vector<Part>> ParseSlice(std::string_view text) {
  text = text.substr(text.rfind(' ') + 1);
  std::vector<Part> extents;
  while (!text.empty()) {
    const size_t end = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Part e;
    if (part != "-") {
      const size_t comma = part.find(',');
      if (comma == std::string_view::npos) return std::nullopt;
      const auto number = [](std::string_view digits, int64_t* value) {
        const auto [at, error] = std::from_chars(digits.begin(), digits.end(), *value);
        return error == std::errc() && at == digits.end() && *value >= 0;
      };
      if (!number(part.substr(0, comma), &e.start) || !number(part.substr(comma + 1), &e.length))
        return std::nullopt;
    }
    extents.push_back(e);
  }
  return extents;
}

// Copies between a whole tensor and a part of it that begins at `from`.
void CopyPart(const std::vector<int64_t>& whole, const std::vector<int64_t>& part,
              const std::vector<int64_t>& from, size_t width, std::byte* whole_bytes,
              std::byte* part_bytes, bool into_whole) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < part.size(); ++i) rows *= part[i];
  const size_t row = part.empty() ? width : static_cast<size_t>(part.back()) * width;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, stride = 1, at = 0;
    if (!part.empty()) {
      at = from.back();
      stride = whole.back();
      for (size_t i = part.size() - 1; i-- > 0;) {
        at += (rest % part[i] + from[i]) * stride;
        rest /= part[i];
        stride *= whole[i];
      }
    }
    std::byte* in_whole = whole_bytes + static_cast<size_t>(at) * width;
    std::byte* in_part = part_bytes + static_cast<size_t>(r) * row;
    if (into_whole) {
      std::memcpy(in_whole, in_part, row);
    } else {
      std::memcpy(in_part, in_whole, row);
    }
  }
}

}  // namespace

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
  uint32_t crc = ~before;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kCrc[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; left > 0; --left, ++at)
    crc = (crc >> 8) ^ kCrc[0][(crc ^ static_cast<uint8_t>(*at)) & 0xff];
  return ~crc;
}

Result<std::string> UnpackSnappy(std::string_view packed, size_t most) {
  const auto damaged = [] { return InvalidInput("a compressed block is damaged"); };
  uint64_t size = 0;
  if (!TakeVarint(&packed, &size)) return damaged();
  if (size > most) return InvalidInput(fmt::format("a compressed block of {} bytes", size));
  std::string out;
  const auto take = [&](size_t count, uint64_t* value) {
    if (packed.size() < count) return false;
    *value = 0;
    for (size_t i = 0; i < count; ++i)
      *value |= static_cast<uint64_t>(static_cast<uint8_t>(packed[i])) << (8 * i);
    packed.remove_prefix(count);
    return true;
  };
  while (!packed.empty()) {
    uint64_t tag = 0, length = 0, offset = 0;
    take(1, &tag);
    const uint64_t rest = tag >> 2;
    if ((tag & 3) == 0) {  // bytes as they are
      length = rest + 1;
      if (rest >= 60) {
        if (!take(rest - 59, &length)) return damaged();
        ++length;
      }
      if (length > packed.size() || length > size - out.size()) return damaged();
      out += packed.substr(0, length);
      packed.remove_prefix(length);
      continue;
    }
    if ((tag & 3) == 1) {
      if (!take(1, &offset)) return damaged();
      length = (rest & 7) + 4;
      offset |= (tag >> 5) << 8;
    } else {
      if (!take((tag & 3) == 2 ? 2 : 4, &offset)) return damaged();
      length = rest + 1;
    }
    if (offset == 0 || offset > out.size() || length > size - out.size()) return damaged();
    for (uint64_t i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);
  }
  if (out.size() != size) return damaged();
  return out;
}

namespace {

struct Handle {
  uint64_t offset = 0, size = 0;
};

bool TakeHandle(std::string_view* rest, Handle* handle) {
  return TakeVarint(rest, &handle->offset) && TakeVarint(rest, &handle->size);
}

Result<std::string> ReadBlock(std::string_view file, const Handle& handle) {
  constexpr size_t kTrailer = 5;  // its type, its checksum
  if (handle.size > file.size() || file.size() - handle.size < kTrailer ||
      handle.offset > file.size() - handle.size - kTrailer) {
    return InvalidInput("a block lies outside of the file");
  }
  const std::string_view block = file.substr(handle.offset, handle.size + 1);
  if (MaskedCrc(Crc32c(block)) != FixedAt(file, handle.offset + handle.size + 1))
    return InvalidInput("the checksum of a block is wrong: the file is damaged");
  const std::string_view content = block.substr(0, handle.size);
  switch (block.back()) {
    case 0:
      return std::string(content);
    case 1:
      return UnpackSnappy(content, kMostIndexBytes);
    default:
      return InvalidInput(fmt::format("a block of type {}, expected 0 or 1", block.back()));
  }
}

// Calls `each` with the keys and values of a block.
template <typename Fn>
Status ForEachEntry(std::string_view block, Fn each) {
  const auto damaged = [] { return InvalidInput("a block is damaged"); };
  if (block.size() < sizeof(uint32_t)) return damaged();
  const uint64_t restarts = FixedAt(block, block.size() - sizeof(uint32_t));
  const uint64_t tail = (restarts + 1) * sizeof(uint32_t);
  if (tail > block.size()) return damaged();
  std::string_view rest = block.substr(0, block.size() - tail);
  std::string key;
  while (!rest.empty()) {
    uint64_t shared = 0, own = 0, size = 0;
    if (!TakeVarint(&rest, &shared) || !TakeVarint(&rest, &own) || !TakeVarint(&rest, &size) ||
        shared > key.size() || own > rest.size() || size > rest.size() - own) {
      return damaged();
    }
    key.resize(shared);
    key += rest.substr(0, own);
    RELAYVM_RETURN_IF_ERROR(each(key, rest.substr(own, size)));
    rest.remove_prefix(own + size);
  }
  return OkStatus();
}

}  // namespace

Result<std::map<std::string, std::string>> ReadTable(std::string_view file) {
  constexpr size_t kFooter = 48;
  constexpr std::string_view kMagic("\x57\xfb\x80\x8b\x24\x75\x47\xdb", 8);
  if (file.size() < kFooter || !file.ends_with(kMagic)) {
    return InvalidInput("expected a table of LevelDB: its magic number is not at the file's end");
  }
  std::string_view footer = file.substr(file.size() - kFooter);
  Handle meta, index;
  if (!TakeHandle(&footer, &meta) || !TakeHandle(&footer, &index))
    return InvalidInput("the table's footer is damaged");
  RELAYVM_ASSIGN_OR_RETURN(const std::string blocks, ReadBlock(file, index));
  std::map<std::string, std::string> entries;
  size_t bytes = 0;
  RELAYVM_RETURN_IF_ERROR(ForEachEntry(blocks, [&](const std::string&, std::string_view value) {
    Handle handle;
    if (!TakeHandle(&value, &handle)) return InvalidInput("the table's index is damaged");
    RELAYVM_ASSIGN_OR_RETURN(const std::string block, ReadBlock(file, handle));
    return ForEachEntry(block, [&](const std::string& key, std::string_view content) {
      bytes += key.size() + content.size();
      if (bytes > kMostIndexBytes) return InvalidInput("the table is too large");
      entries[key] = std::string(content);
      return OkStatus();
    });
  }));
  return entries;
}

// --- Tensors ---

struct Bundle::Entry {
  int64_t type = 0;
  std::vector<int64_t> shape;
  int64_t shard = 0, offset = 0, size = 0;
  uint32_t crc = 0;
  std::vector<std::vector<Part>> slices;
};

Result<std::unique_ptr<Bundle>> Bundle::Open(const std::string& prefix,
                                             std::shared_ptr<InputFiles> files) {
  const std::string path = prefix + ".index";
  RELAYVM_ASSIGN_OR_RETURN(auto mapping, files->Open(path));
  auto bundle = std::unique_ptr<Bundle>(new Bundle);
  bundle->prefix_ = prefix;
  bundle->files_ = std::move(files);
  auto entries = ReadTable(TextOf(SharedBytes::OfFile(std::move(mapping))));
  if (!entries.ok()) return entries.status().WithContext(path);
  bundle->entries_ = *std::move(entries);
  const auto header = bundle->entries_.find("");
  if (header == bundle->entries_.end()) return InvalidInput(path + ": it has no header");
  for (WireReader in(header->second); in.Next();) {
    if (in.field() == 1) bundle->num_shards_ = in.signed_number();
    if (in.field() == 2 && in.number() != 0)
      return Status(StatusCode::kUnsupported, path + ": its numbers are big-endian");
  }
  return bundle;
}

Result<Bundle::Entry> Bundle::Find(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    return InvalidInput(fmt::format("{}.index: there is no tensor '{}'", prefix_, Printable(key)));
  }
  Entry entry;
  WireReader in(found->second);
  while (in.Next()) {
    if (in.field() == 1) entry.type = in.signed_number();
    if (in.field() == 3) entry.shard = in.signed_number();
    if (in.field() == 4) entry.offset = in.signed_number();
    if (in.field() == 5) entry.size = in.signed_number();
    if (in.field() == 6) entry.crc = static_cast<uint32_t>(in.number());
    if (in.field() == 2) {
      const auto shape = ReadShape(in.bytes());
      for (const Dim& d : shape.value_or(std::vector<Dim>{Dim::Any()})) {
        if (!d.is_const()) return InvalidInput("a variable's shape is not known");
        entry.shape.push_back(d.value());
      }
    }
    if (in.field() != 7) continue;
    entry.slices.emplace_back();
    for (WireReader slice(in.bytes()); slice.Next();) {
      if (slice.field() != 1) continue;
      Part e;
      for (WireReader extent(slice.bytes()); extent.Next();) {
        if (extent.field() == 1) e.start = extent.signed_number();
        if (extent.field() == 2) e.length = extent.signed_number();
      }
      entry.slices.back().push_back(e);
    }
  }
  if (in.damaged()) return InvalidInput("an entry of the index is damaged");
  int64_t elements = 1;
  for (const int64_t d : entry.shape) {
    if (__builtin_mul_overflow(elements, std::max<int64_t>(d, 1), &elements) ||
        elements > (int64_t{1} << 46)) {
      return InvalidInput(fmt::format("variable '{}' is too large", Printable(key)));
    }
  }
  return entry;
}

Result<SharedBytes> Bundle::Bytes(const Entry& entry) {
  if (entry.shard < 0 || entry.shard >= num_shards_)
    return InvalidInput(fmt::format("shard {} of {}", entry.shard, num_shards_));
  auto shard = shards_.find(entry.shard);
  const std::string path = fmt::format("{}.data-{:05}-of-{:05}", prefix_, entry.shard, num_shards_);
  if (shard == shards_.end()) {
    RELAYVM_ASSIGN_OR_RETURN(auto mapping, files_->Open(path));
    shard = shards_.emplace(entry.shard, SharedBytes::OfFile(std::move(mapping))).first;
  }
  const auto size = static_cast<uint64_t>(entry.size), offset = static_cast<uint64_t>(entry.offset);
  if (size > shard->second.size() || offset > shard->second.size() - size) {
    return InvalidInput(fmt::format("{}: the file has {} bytes, expected {} from byte {} on", path,
                                    shard->second.size(), size, offset));
  }
  return shard->second.Slice(offset, size);
}

Result<HostTensor> Bundle::Load(std::string_view key, const Entry& entry) {
  const auto dtype = DTypeOf(entry.type);
  if (!dtype || IsComplexType(entry.type)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("variable '{}': elements of {} are not supported", Printable(key),
                              TypeName(entry.type)));
  }
  HostTensor tensor{*dtype, entry.shape, {}};
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes bytes, Bytes(entry));
  const auto count = static_cast<uint64_t>(tensor.size());
  const auto wrong = [&](std::string_view why) {
    return InvalidInput(fmt::format("{}: variable '{}': {}", prefix_, Printable(key), why));
  };
  if (*dtype == DType::kString) {
    // Lengths, their checksum, then the texts. The checksum of all counts lengths as fixed numbers.
    std::string_view rest = TextOf(bytes);
    std::vector<uint64_t> lengths;
    uint32_t crc = 0;
    for (uint64_t i = 0; i < count && i <= bytes.size(); ++i) {
      uint64_t length = 0;
      if (!TakeVarint(&rest, &length)) return wrong("its strings are cut off");
      lengths.push_back(length);
      const size_t width = length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
      crc = Crc32c({reinterpret_cast<const char*>(&length), width}, crc);
    }
    if (lengths.size() != count || rest.size() < sizeof(uint32_t))
      return wrong("its strings are cut off");
    if (FixedAt(rest, 0) != MaskedCrc(crc)) return wrong("the checksum of its lengths is wrong");
    rest.remove_prefix(sizeof(uint32_t));
    std::vector<std::string_view> texts;
    for (const uint64_t length : lengths) {
      if (length > rest.size()) return wrong("its strings are cut off");
      texts.push_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    tensor.data = PackStrings(texts);
    return tensor;
  }
  const auto width = static_cast<size_t>(DTypeBytes(*dtype));
  if (bytes.size() != count * width) {
    return wrong(fmt::format("its shape takes {} bytes, found {}", count * width, bytes.size()));
  }
  if (MaskedCrc(Crc32c(TextOf(bytes))) != entry.crc)
    return wrong("its checksum is wrong: the data file is damaged");
  tensor.data = reinterpret_cast<uintptr_t>(bytes.data()) % width == 0 ? std::move(bytes)
                                                                       : SharedBytes::Copy(bytes);
  NormalizeBools(tensor);
  return tensor;
}

Result<HostTensor> Bundle::Assembled(std::string_view key, const Entry& entry) {
  if (entry.slices.empty()) return Load(key, entry);
  const auto dtype = DTypeOf(entry.type);
  if (!dtype || *dtype == DType::kString || IsComplexType(entry.type)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("variable '{}': slices of {}", Printable(key), TypeName(entry.type)));
  }
  HostTensor whole{*dtype, entry.shape, {}};
  const auto width = static_cast<size_t>(DTypeBytes(*dtype));
  uint64_t stored = 0;
  std::vector<std::pair<std::vector<int64_t>, HostTensor>> parts;
  for (const std::vector<Part>& slice : entry.slices) {
    if (slice.size() != entry.shape.size()) return InvalidInput("a slice of another rank");
    std::vector<int64_t> from, extents;
    for (size_t i = 0; i < slice.size(); ++i) {
      const int64_t length = slice[i].length < 0 ? entry.shape[i] : slice[i].length;
      if (slice[i].start < 0 || length > entry.shape[i] ||
          slice[i].start > entry.shape[i] - length) {
        return InvalidInput("a slice lies outside of its variable");
      }
      from.push_back(slice[i].start);
      extents.push_back(length);
    }
    RELAYVM_ASSIGN_OR_RETURN(const Entry own, Find(KeyOfSlice(key, slice)));
    if (own.shape != extents || own.type != entry.type)
      return InvalidInput("a slice's entry has another shape than it says");
    RELAYVM_ASSIGN_OR_RETURN(HostTensor part, Load(key, own));
    stored += static_cast<uint64_t>(part.size());
    parts.emplace_back(std::move(from), std::move(part));
  }
  if (stored < static_cast<uint64_t>(whole.size()))
    return InvalidInput(fmt::format("variable '{}': slices of it are missing", Printable(key)));
  whole.data = SharedBytes::Zeros(static_cast<size_t>(whole.size()) * width);
  std::byte* to = whole.data.Mutable().data();
  for (auto& [from, part] : parts) {
    if (part.size() == 0) continue;
    SharedBytes bytes = part.data.Loaded();
    CopyPart(whole.shape, part.shape, from, width, to, const_cast<std::byte*>(bytes.data()), true);
  }
  return whole;
}

Result<HostTensor> Bundle::Tensor(std::string_view key, std::string_view slice) {
  RELAYVM_ASSIGN_OR_RETURN(const Entry entry, Find(std::string(key)));
  if (slice.empty()) return Assembled(key, entry);
  const auto extents = ParseSlice(slice);
  if (!extents || extents->size() != entry.shape.size())
    return InvalidInput(
        fmt::format("slice '{}' of variable '{}'", Printable(slice), Printable(key)));
  RELAYVM_ASSIGN_OR_RETURN(HostTensor whole, Assembled(key, entry));
  HostTensor part{whole.dtype, {}, {}};
  std::vector<int64_t> from;
  for (size_t i = 0; i < extents->size(); ++i) {
    const Part& e = (*extents)[i];
    const int64_t length = e.length < 0 ? whole.shape[i] : e.length;
    if (length > whole.shape[i] || e.start > whole.shape[i] - length)
      return InvalidInput("a slice lies outside of its variable");
    part.shape.push_back(length);
    from.push_back(e.start);
  }
  if (part.shape == whole.shape) return whole;
  if (whole.dtype == DType::kString)
    return Status(StatusCode::kUnsupported, "slices of variables of strings");
  const auto width = static_cast<size_t>(DTypeBytes(whole.dtype));
  part.data = SharedBytes::Zeros(static_cast<size_t>(part.size()) * width);
  if (part.size() > 0) {
    SharedBytes bytes = whole.data.Loaded();
    CopyPart(whole.shape, part.shape, from, width, const_cast<std::byte*>(bytes.data()),
             part.data.Mutable().data(), false);
  }
  return part;
}

}  // namespace relayvm::import::tensorflow

#include "compiler/import/container/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "bytecode/base/printable.h"

namespace relayvm::import {

namespace {

constexpr uint64_t kNowhere = ~uint64_t{0};
constexpr size_t kMostObjects = 1 << 20, kMostMessages = 1 << 16, kMostDepth = 64;
constexpr uint64_t kMostText = uint64_t{256} << 20;

// Numbers of a message, the lowest byte first; beyond its end 0, and `ok` is false.
struct Cursor {
  std::string_view data;
  size_t at = 0;
  bool ok = true;

  uint64_t Number(size_t size) {
    uint64_t value = 0;
    const std::string_view bytes = Bytes(size);
    for (size_t i = 0; i < bytes.size(); ++i)
      value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return value;
  }
  uint32_t Small(size_t size) { return static_cast<uint32_t>(Number(size)); }
  std::string_view Bytes(uint64_t size) {
    if (at > data.size() || size > data.size() - at) {
      ok = false;
      at = data.size();
      return {};
    }
    const std::string_view bytes = data.substr(at, size);
    at += size;
    return bytes;
  }
  void Skip(uint64_t size) { Bytes(size); }
  std::string_view Rest() const { return data.substr(std::min(at, data.size())); }
};

std::string_view UpToNul(std::string_view text) { return text.substr(0, text.find('\0')); }
uint64_t Padded8(uint64_t size) { return (size + 7) / 8 * 8; }

enum MessageType : uint32_t {
  kDataspace = 0x1,
  kLinkInfo = 0x2,
  kDatatype = 0x3,
  kLink = 0x6,
  kLayout = 0x8,
  kFilters = 0xB,
  kAttribute = 0xC,
  kContinuation = 0x10,
  kSymbolTable = 0x11,
};

}  // namespace

Status Hdf5File::Fail(std::string_view object, std::string_view why, StatusCode code) const {
  return {code, fmt::format("{}: {}: {}", path_,
                            object.empty() ? "the root" : "'" + Printable(object) + "'", why)};
}

std::optional<std::string_view> Hdf5File::At(uint64_t offset, uint64_t size) const {
  if (offset == kNowhere || __builtin_add_overflow(offset, base_, &offset)) return std::nullopt;
  if (offset > file_.size() || size > file_.size() - offset) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(file_.data()) + offset, size);
}

Result<Hdf5File> Hdf5File::Open(std::string path, SharedBytes bytes) {
  Hdf5File file(std::move(path), std::move(bytes));
  uint64_t root = 0;
  RELAYVM_RETURN_IF_ERROR(file.ReadSuperblock(&root));
  RELAYVM_RETURN_IF_ERROR(file.ReadTree(root));
  return file;
}

// Offset 0, 512, 1024 ...: signature, version, then
//   0, 1: sizes of offsets and lengths at 13, 14; base, free space, end, driver from 24 (1: 28); the
//         root's entry: name, header
//   2, 3: sizes at 9, 10; base, extension, end, header of the root from 12
Status Hdf5File::ReadSuperblock(uint64_t* root) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::optional<std::string_view> start;
  for (uint64_t offset = 0; offset < file_.size(); offset = offset == 0 ? 512 : 2 * offset) {
    start = At(offset, std::min<uint64_t>(file_.size() - offset, 128));
    if (start && start->starts_with(kSignature)) break;
    start.reset();
  }
  const auto damaged = [&](std::string_view why) {
    return Status(StatusCode::kInvalidInput, fmt::format("{}: {}", path_, why));
  };
  if (!start) return damaged("expected an HDF5 file: it has no such signature");
  Cursor c{*start, kSignature.size()};
  const uint32_t version = c.Small(1);
  if (version > 3) return damaged(fmt::format("HDF5 superblock {}: expected 0 to 3", version));
  c.at = version < 2 ? 13 : 9;
  const uint32_t offsets = c.Small(1), lengths = c.Small(1);
  if (!c.ok || offsets != 8 || lengths != 8)
    return damaged("expected an HDF5 file with offsets and lengths of 8 bytes");
  c.at = version == 0 ? 24 : version == 1 ? 28 : 12;
  const uint64_t base = c.Number(8);
  c.Skip(version < 2 ? 32 : 16);
  *root = c.Number(8);
  if (!c.ok) return damaged("the HDF5 superblock is cut off");
  base_ = base;
  return OkStatus();
}

// --- Object headers ---

Result<std::vector<Hdf5File::Message>> Hdf5File::Messages(std::string_view object,
                                                          uint64_t header) const {
  std::vector<Message> out;
  const auto prefix = At(header, 16);
  if (!prefix) return Fail(object, "its header lies beyond the end of the file");
  if (prefix->starts_with("OHDR")) {
    RELAYVM_RETURN_IF_ERROR(NewMessages(object, header, &out));
  } else {
    RELAYVM_RETURN_IF_ERROR(OldMessages(object, *prefix, header, &out));
  }
  return out;
}

// Version 1: version, number of messages, references, size; then from byte 16 messages: type, size,
// flags, 3 bytes, data. A continuation names a further block.
Status Hdf5File::OldMessages(std::string_view object, std::string_view prefix, uint64_t header,
                             std::vector<Message>* out) const {
  Cursor head{prefix};
  const uint32_t version = head.Small(1);
  head.Skip(1);
  const uint32_t count = head.Small(2);
  head.Skip(4);
  const uint32_t size = head.Small(4);
  if (version != 1)
    return Fail(object, fmt::format("its header has version {}, expected 1 or 2", version));
  std::vector<std::optional<std::string_view>> blocks = {At(header + 16, size)};
  for (size_t i = 0; i < blocks.size() && blocks.size() < kMostMessages; ++i) {
    if (!blocks[i]) return Fail(object, "its header is cut off");
    Cursor c{*blocks[i]};
    while (c.at + 8 <= c.data.size() && out->size() < count) {
      const uint32_t type = c.Small(2), length = c.Small(2), flags = c.Small(1);
      c.Skip(3);
      const std::string_view data = c.Bytes(length);
      if (!c.ok) return Fail(object, "a message of its header is cut off");
      out->push_back({type | (flags & 2) << 30, data});
      if (type != kContinuation) continue;
      Cursor next{data};
      const uint64_t offset = next.Number(8), length_of = next.Number(8);
      blocks.push_back(At(offset, length_of));
    }
  }
  return OkStatus();
}

// Version 2: "OHDR", version, flags, times, bounds, size of the first block; messages: type, size,
// flags, perhaps an order. Further blocks begin with "OCHK". Each ends with a checksum.
Status Hdf5File::NewMessages(std::string_view object, uint64_t header,
                             std::vector<Message>* out) const {
  const auto start = At(header, 16);
  Cursor head{*start, 4};
  const uint32_t version = head.Small(1), flags = head.Small(1);
  if (version != 2)
    return Fail(object, fmt::format("its header has version {}, expected 2", version));
  uint64_t skipped = 6 + ((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0);
  const uint64_t width = uint64_t{1} << (flags & 3);
  const auto sized = At(header + skipped, width);
  if (!sized) return Fail(object, "its header is cut off");
  const uint64_t size = Cursor{*sized}.Number(width);
  std::vector<std::optional<std::string_view>> blocks = {At(header + skipped + width, size)};
  for (size_t i = 0; i < blocks.size() && blocks.size() < kMostMessages; ++i) {
    if (!blocks[i]) return Fail(object, "its header is cut off");
    Cursor c{*blocks[i]};
    const size_t least = (flags & 4) != 0 ? 6 : 4;
    while (c.at + least <= c.data.size()) {
      const uint32_t type = c.Small(1), length = c.Small(2), shared = c.Small(1);
      c.Skip(least - 4);
      const std::string_view data = c.Bytes(length);
      if (!c.ok || out->size() > kMostMessages)
        return Fail(object, "a message of its header is cut off");
      out->push_back({type | (shared & 2) << 30, data});
      if (type != kContinuation) continue;
      Cursor next{data};
      const uint64_t offset = next.Number(8), length_of = next.Number(8);
      const auto block = At(offset, length_of);
      if (!block || block->size() < 8 || !block->starts_with("OCHK"))
        return Fail(object, "a block of its header is damaged");
      blocks.emplace_back(block->substr(4, block->size() - 8));
    }
  }
  return OkStatus();
}

// --- Groups ---

// Nodes of a tree of names ("TREE": type 0, level, entries, siblings; keys and children in turn),
// whose leaves are lists of symbols ("SNOD": version, count; entries of 40 bytes: the place of the
// name in the heap, the header).
Status Hdf5File::SymbolTable(std::string_view object, uint64_t tree, uint64_t heap,
                             std::vector<std::pair<std::string, uint64_t>>* links) const {
  const auto head = At(heap, 32);
  if (!head || !head->starts_with("HEAP")) return Fail(object, "its names are damaged");
  Cursor h{*head, 8};
  const uint64_t heap_size = h.Number(8);
  h.Skip(8);
  const auto names = At(h.Number(8), heap_size);
  if (!names) return Fail(object, "its names lie beyond the end of the file");
  std::vector<uint64_t> nodes = {tree};
  std::set<uint64_t> seen;
  while (!nodes.empty()) {
    const uint64_t node = nodes.back();
    nodes.pop_back();
    if (!seen.insert(node).second || seen.size() > kMostObjects)
      return Fail(object, "its tree of names runs in a circle");
    const auto start = At(node, 8);
    if (!start) return Fail(object, "its tree of names is cut off");
    if (start->starts_with("SNOD")) {
      const uint32_t count = Cursor{*start, 6}.Small(2);
      const auto entries = At(node + 8, uint64_t{40} * count);
      if (!entries) return Fail(object, "its tree of names is cut off");
      for (uint32_t i = 0; i < count; ++i) {
        Cursor c{entries->substr(size_t{40} * i, 40)};
        const uint64_t name = c.Number(8), header = c.Number(8);
        if (name >= names->size()) return Fail(object, "a name lies beyond its heap");
        links->emplace_back(UpToNul(names->substr(name)), header);
      }
      continue;
    }
    if (!start->starts_with("TREE")) return Fail(object, "its tree of names is damaged");
    const uint32_t count = Cursor{*start, 6}.Small(2);
    const auto children = At(node + 24, uint64_t{16} * count);
    if (!children) return Fail(object, "its tree of names is cut off");
    for (uint32_t i = 0; i < count; ++i)
      nodes.push_back(Cursor{*children, size_t{16} * i + 8}.Number(8));
  }
  return OkStatus();
}

Result<std::vector<std::pair<std::string, uint64_t>>> Hdf5File::Links(std::string_view object,
                                                                      uint64_t header) const {
  std::vector<std::pair<std::string, uint64_t>> links;
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Message> messages, Messages(object, header));
  for (const Message& m : messages) {
    Cursor c{m.data};
    if (m.type == kSymbolTable) {
      const uint64_t tree = c.Number(8), heap = c.Number(8);
      if (!c.ok) return Fail(object, "its table of names is cut off");
      RELAYVM_RETURN_IF_ERROR(SymbolTable(object, tree, heap, &links));
    } else if (m.type == kLinkInfo) {
      c.Skip(1);
      if ((c.Small(1) & 1) != 0) c.Skip(8);
      if (c.Number(8) != kNowhere && c.ok) {
        return Fail(object,
                    "links in a fractal heap are not read; write the file as h5py does by default",
                    StatusCode::kUnsupported);
      }
    } else if (m.type == kLink) {
      c.Skip(1);
      const uint32_t flags = c.Small(1);
      const uint32_t type = (flags & 8) != 0 ? c.Small(1) : 0;
      c.Skip(((flags & 4) != 0 ? 8 : 0) + ((flags & 0x10) != 0 ? 1 : 0));
      const std::string_view name = c.Bytes(c.Number(size_t{1} << (flags & 3)));
      const uint64_t target = c.Number(8);
      if (type != 0) continue;  // to another name, or file
      if (!c.ok) return Fail(object, "a link is cut off");
      links.emplace_back(name, target);
    }
  }
  return links;
}

// All objects, by their ways from the root.
Status Hdf5File::ReadTree(uint64_t root) {
  struct Open {
    std::string name;
    uint64_t header;
    size_t depth;
  };
  std::vector<Open> open = {{"", root, 0}};
  size_t bytes = 0;
  while (!open.empty()) {
    Open here = std::move(open.back());
    open.pop_back();
    bytes += here.name.size() + 64;
    if (here.depth > kMostDepth || objects_.size() > kMostObjects || bytes > 64 * kMostObjects)
      return Fail(here.name, "the tree of groups is too deep or too large, or runs in a circle");
    if (!objects_.emplace(here.name, here.header).second)
      return Fail(here.name, "there are two objects of that name");
    RELAYVM_ASSIGN_OR_RETURN(auto links, Links(here.name, here.header));
    for (auto& [name, header] : links) {
      open.push_back({here.name.empty() ? name : here.name + "/" + name, header, here.depth + 1});
      if (open.size() > kMostObjects) return Fail(here.name, "there are too many objects");
    }
  }
  return OkStatus();
}

std::vector<std::string> Hdf5File::Names(std::string_view group) const {
  const std::string prefix = group.empty() ? "" : std::string(group) + "/";
  std::vector<std::string> names;
  for (auto at = objects_.lower_bound(prefix); at != objects_.end(); ++at) {
    if (!at->first.starts_with(prefix)) break;
    const std::string rest = at->first.substr(prefix.size());
    if (!rest.empty() && rest.find('/') == std::string::npos) names.push_back(rest);
  }
  return names;
}

// --- Types and shapes ---

// Version 1: version, rank, flags, 5 bytes; 2: version, rank, flags, kind. Then dims.
Result<std::vector<int64_t>> Hdf5File::Shape(std::string_view object,
                                             std::string_view message) const {
  Cursor c{message};
  const uint32_t version = c.Small(1), rank = c.Small(1);
  c.Skip(1);
  const uint32_t kind = c.Small(1);
  if (version == 1) c.Skip(4);
  if (version < 1 || version > 2 || (version == 2 && kind > 1))
    return Fail(object, "expected a shape of version 1 or 2");
  std::vector<int64_t> shape;
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    const uint64_t dim = c.Number(8);
    if (dim > INT64_MAX || __builtin_mul_overflow(count, std::max<uint64_t>(dim, 1), &count) ||
        count > INT64_MAX / 16) {
      return Fail(object, "its shape is too large");
    }
    shape.push_back(static_cast<int64_t>(dim));
  }
  if (!c.ok) return Fail(object, "its shape is cut off");
  return shape;
}

// Class and version, three bytes of bits, size; then what the class has: of whole numbers and
// floats where their bits are, of enumerations the type that they are stored as.
Result<Hdf5File::ElementType> Hdf5File::TypeOf(std::string_view object,
                                               std::string_view message) const {
  Cursor c{message};
  const uint32_t kind = c.Small(1) & 15, bits = c.Small(3);
  ElementType type;
  type.size = c.Small(4);
  const auto refuse = [&](std::string_view what) {
    return Fail(object, fmt::format("{} are not read", what), StatusCode::kUnsupported);
  };
  const bool big = (bits & 1) != 0 && type.size > 1;
  type.kind = ElementType::Kind::kNumber;
  if (kind == 0) {
    if (big) return refuse("numbers whose highest byte comes first");
    const bool is_signed = (bits & 8) != 0;
    switch (type.size) {
      case 1:
        type.dtype = is_signed ? DType::kInt8 : DType::kUInt8;
        break;
      case 2:
        type.dtype = is_signed ? DType::kInt16 : DType::kUInt16;
        break;
      case 4:
        type.dtype = is_signed ? DType::kInt32 : DType::kUInt32;
        break;
      case 8:
        type.dtype = is_signed ? DType::kInt64 : DType::kUInt64;
        break;
      default:
        return refuse("whole numbers of that size");
    }
  } else if (kind == 1) {
    if (big) return refuse("numbers whose highest byte comes first");
    c.Skip(5);
    const uint32_t exponent = c.Small(1);
    if (type.size == 2) {
      type.dtype = exponent == 8 ? DType::kBFloat16 : DType::kFloat16;
    } else if (type.size == 4 || type.size == 8) {
      type.dtype = type.size == 4 ? DType::kFloat32 : DType::kFloat64;
    } else {
      return refuse("floats of that size");
    }
  } else if (kind == 3) {
    type.kind = ElementType::Kind::kText;
  } else if (kind == 5 && type.size == 2) {
    type.dtype = DType::kBFloat16;  // ml_dtypes'
  } else if (kind == 8 && type.size == 1) {
    type.dtype = DType::kBool;
  } else if (kind == 9 && (bits & 15) == 1) {
    type.kind = ElementType::Kind::kTexts;
  } else {
    type.kind = ElementType::Kind::kOther;
  }
  if (!c.ok) return Fail(object, "its type is cut off");
  return type;
}

// --- Datasets ---

Result<HostTensor> Hdf5File::Dataset(std::string_view object) const {
  const auto found = objects_.find(object);
  if (found == objects_.end())
    return Fail(object, "there is no such dataset", StatusCode::kNotFound);
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Message> messages, Messages(object, found->second));
  std::optional<ElementType> type;
  std::optional<std::vector<int64_t>> shape;
  std::string_view layout;
  for (const Message& m : messages) {
    if (m.type == kDatatype) {
      RELAYVM_ASSIGN_OR_RETURN(type, TypeOf(object, m.data));
    } else if (m.type == kDataspace) {
      RELAYVM_ASSIGN_OR_RETURN(shape, Shape(object, m.data));
    } else if (m.type == kLayout) {
      layout = m.data;
    } else if (m.type == kFilters) {
      return Fail(object, "compressed datasets are not read", StatusCode::kUnsupported);
    }
  }
  if (!type || !shape || layout.empty())
    return Fail(object, "it is no dataset", StatusCode::kNotFound);
  if (type->kind != ElementType::Kind::kNumber)
    return Fail(object, "expected a dataset of numbers", StatusCode::kUnsupported);
  HostTensor tensor{type->dtype, *shape, {}};
  const uint64_t size = static_cast<uint64_t>(tensor.size()) * type->size;
  Cursor c{layout};
  const uint32_t version = c.Small(1), kind = c.Small(1);
  if (version < 3 || version > 4 || kind > 1) {
    return Fail(object, "chunked datasets are not read; expected a contiguous one",
                StatusCode::kUnsupported);
  }
  if (kind == 0) {
    const std::string_view data = c.Bytes(c.Small(2));
    if (!c.ok || data.size() < size) return Fail(object, "its elements are cut off");
    tensor.data = SharedBytes::Copy(std::as_bytes(std::span(data.data(), size)));
  } else {
    const uint64_t offset = c.Number(8), stored = c.Number(8);
    if (!c.ok) return Fail(object, "its layout is cut off");
    if (offset == kNowhere || size == 0) {  // never written
      if (size > file_.size() && size > kMostText) return Fail(object, "its elements are missing");
      tensor.data = SharedBytes::Zeros(size);
    } else {
      const auto data = At(offset, size);
      if (!data || stored < size) {
        return Fail(object, fmt::format("expected {} bytes of elements at {}, beyond the end of {}",
                                        size, offset, file_.size()));
      }
      tensor.data = file_.Slice(static_cast<size_t>(offset + base_), size);
    }
  }
  if (tensor.dtype == DType::kBool) NormalizeBools(tensor);
  return tensor;
}

// --- Attributes ---

// Texts of long ones lie in heaps that many share ("GCOL": version, size; objects: number,
// references, 4 bytes, size, data).
Result<std::string> Hdf5File::FromHeap(std::string_view object, uint64_t heap, uint32_t index,
                                       uint32_t size) const {
  const auto head = At(heap, 16);
  if (!head || !head->starts_with("GCOL")) return Fail(object, "a heap of texts is damaged");
  const uint64_t whole = Cursor{*head, 8}.Number(8);
  const auto all = At(heap, whole);
  if (!all) return Fail(object, "a heap of texts is cut off");
  Cursor c{*all, 16};
  while (c.ok && c.at + 16 <= all->size()) {
    const uint32_t number = c.Small(2);
    c.Skip(6);
    const uint64_t length = c.Number(8);
    if (number == 0) break;  // what is free
    const std::string_view data = c.Bytes(length);
    c.at = std::min<size_t>(Padded8(c.at), all->size());
    if (number != index) continue;
    if (!c.ok || data.size() < size) break;
    return std::string(data.substr(0, size));
  }
  return Fail(object, "a text is not in its heap");
}

Result<std::vector<std::string>> Hdf5File::TextsOf(std::string_view object, const ElementType& type,
                                                   uint64_t count, std::string_view data) const {
  std::vector<std::string> texts;
  Cursor c{data};
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (type.kind == ElementType::Kind::kText) {
      texts.emplace_back(UpToNul(c.Bytes(type.size)));
    } else {
      const uint32_t size = c.Small(4);
      const uint64_t heap = c.Number(8);
      const uint32_t index = c.Small(4);
      if (!c.ok) break;
      if (size == 0) {
        texts.emplace_back();
        continue;
      }
      RELAYVM_ASSIGN_OR_RETURN(std::string text, FromHeap(object, heap, index, size));
      texts.push_back(std::move(text));
    }
    bytes += texts.back().size() + 32;
    if (!c.ok || bytes > kMostText) break;
  }
  if (!c.ok || texts.size() < count) return Fail(object, "a text is cut off");
  return texts;
}

// Version 1 pads each part to 8 bytes; version 3 says the encoding of the name.
Result<std::optional<std::vector<std::string>>> Hdf5File::Texts(std::string_view object,
                                                                std::string_view attribute) const {
  const auto found = objects_.find(object);
  if (found == objects_.end()) return std::optional<std::vector<std::string>>();
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Message> messages, Messages(object, found->second));
  for (const Message& m : messages) {
    if (m.type != kAttribute) continue;
    Cursor c{m.data};
    const uint32_t version = c.Small(1);
    c.Skip(1);
    const uint32_t name_size = c.Small(2), type_size = c.Small(2), shape_size = c.Small(2);
    if (version == 3) c.Skip(1);
    const auto part = [&](uint32_t size) {
      const std::string_view bytes = c.Bytes(size);
      if (version == 1) c.Skip(Padded8(size) - size);
      return bytes;
    };
    const std::string_view name = UpToNul(part(name_size));
    if (name != attribute) continue;
    const std::string_view type_bytes = part(type_size), shape_bytes = part(shape_size);
    if (!c.ok || version < 1 || version > 3) return Fail(object, "an attribute is cut off");
    RELAYVM_ASSIGN_OR_RETURN(const ElementType type, TypeOf(object, type_bytes));
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, Shape(object, shape_bytes));
    uint64_t count = 1;
    for (const int64_t dim : shape) count *= static_cast<uint64_t>(dim);
    if (type.kind != ElementType::Kind::kText && type.kind != ElementType::Kind::kTexts) {
      // An empty list is one of numbers.
      if (count == 0) return std::optional(std::vector<std::string>());
      return Fail(object, fmt::format("attribute '{}': expected texts", attribute));
    }
    if (count > kMostObjects) return Fail(object, "an attribute has too many texts");
    RELAYVM_ASSIGN_OR_RETURN(std::vector<std::string> texts,
                             TextsOf(object, type, count, c.Rest()));
    return std::optional(std::move(texts));
  }
  return std::optional<std::vector<std::string>>();
}

}  // namespace relayvm::import

#include "compiler/import/onnx/model_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "bytecode/base/string_table.h"

namespace relayvm::import {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Graphs nest in attributes of nodes.
constexpr int kMaxNesting = 200;
constexpr int64_t kMaxBytes = int64_t{1} << 46;

// --- Cutting raw tensor bytes out ---

// What raw_data holds after the cut.
struct ByteRange {
  uint64_t offset, size;
};

enum class Message : uint8_t {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparseTensor,
  kFunction,
  kOther
};

// Where messages with tensors nest: field numbers of onnx.proto.
Message Nested(Message in, int field) {
  switch (in) {
    case Message::kModel:
      return field == 7 ? Message::kGraph : field == 25 ? Message::kFunction : Message::kOther;
    case Message::kGraph:
      return field == 1    ? Message::kNode
             : field == 5  ? Message::kTensor
             : field == 15 ? Message::kSparseTensor
                           : Message::kOther;
    case Message::kFunction:
      return field == 7 ? Message::kNode : field == 11 ? Message::kAttribute : Message::kOther;
    case Message::kNode:
      return field == 5 ? Message::kAttribute : Message::kOther;
    case Message::kAttribute:
      return field == 5 || field == 10    ? Message::kTensor
             : field == 6 || field == 11  ? Message::kGraph
             : field == 22 || field == 23 ? Message::kSparseTensor
                                          : Message::kOther;
    case Message::kSparseTensor:
      return field == 1 || field == 2 ? Message::kTensor : Message::kOther;
    case Message::kTensor:
    case Message::kOther:
      return Message::kOther;
  }
  return Message::kOther;
}
constexpr int kDataTypeField = 2, kFloatDataField = 4, kRawDataField = 9;

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A length is written before what it is of, in all bytes that the longest takes.
constexpr size_t kLengthBytes = 5;
void WriteLength(uint64_t length, char* at) {
  for (size_t i = 0; i < kLengthBytes; ++i, length >>= 7)
    at[i] = static_cast<char>((length & 0x7F) | (i + 1 < kLengthBytes ? 0x80 : 0));
}

// Whether a tensor's elements are one packed field of floats: the bytes that raw_data would hold.
bool HasPackedFloats(const uint8_t* message, size_t size) {
  CodedInputStream in(message, static_cast<int>(size));
  int packed = 0;
  bool is_float = false;
  while (const uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    const auto wire = WireFormatLite::GetTagWireType(tag);
    if (field == kRawDataField) return false;
    if (field == kDataTypeField && wire == WireFormatLite::WIRETYPE_VARINT) {
      uint64_t type = 0;
      if (!in.ReadVarint64(&type)) return false;
      is_float = type == onnx::TensorProto::FLOAT;
      continue;
    }
    if (field == kFloatDataField)
      packed += wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED ? 1 : 2;
    if (!WireFormatLite::SkipField(&in, tag)) return false;
  }
  return is_float && packed == 1;
}

// Appends the message in [begin, end) of `file` to `out`, with ByteRanges for raw bytes.
Status Cut(Message message, std::span<const uint8_t> file, size_t begin, size_t end, int depth,
           std::string& out) {
  if (depth > kMaxNesting) {
    return InvalidInput(fmt::format("graphs nest deeper than {} levels", kMaxNesting));
  }
  const auto damaged = [&](size_t at) {
    return InvalidInput(fmt::format("the file is damaged or cut off at byte {}", at));
  };
  CodedInputStream in(file.data() + begin, static_cast<int>(end - begin));
  const int raw_field =
      message == Message::kTensor && HasPackedFloats(file.data() + begin, end - begin)
          ? kFloatDataField
          : kRawDataField;
  while (true) {
    const size_t start = begin + static_cast<size_t>(in.CurrentPosition());
    if (start == end) return OkStatus();
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return damaged(start);
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    const bool is_bytes =
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    const Message nested = Nested(message, field);
    const bool is_raw = message == Message::kTensor && field == raw_field;
    if (!is_bytes || (nested == Message::kOther && !is_raw)) {
      if (!WireFormatLite::SkipField(&in, tag)) return damaged(start);
      const size_t next = begin + static_cast<size_t>(in.CurrentPosition());
      out.append(reinterpret_cast<const char*>(file.data()) + start, next - start);
      continue;
    }
    uint32_t length = 0;
    if (!in.ReadVarint32(&length)) return damaged(start);
    const size_t content = begin + static_cast<size_t>(in.CurrentPosition());
    if (length > end - content) return damaged(content);
    in.Skip(static_cast<int>(length));
    if (is_raw) {
      const ByteRange range{content, length};
      AppendVarint(
          WireFormatLite::MakeTag(kRawDataField, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), out);
      AppendVarint(sizeof range, out);
      out.append(reinterpret_cast<const char*>(&range), sizeof range);
    } else {
      AppendVarint(tag, out);
      const size_t before = out.size();
      out.append(kLengthBytes, '\0');
      RELAYVM_RETURN_IF_ERROR(Cut(nested, file, content, content + length, depth + 1, out));
      WriteLength(out.size() - before - kLengthBytes, out.data() + before);
    }
  }
}

// --- Elements ---

// 16-bit and narrower types are kept in int32_data.
template <typename T, typename Field>
SharedBytes Narrow(const Field& values) {
  SharedBytes bytes = SharedBytes::Zeros(static_cast<size_t>(values.size()) * sizeof(T));
  std::span<std::byte> out = bytes.Mutable();
  size_t at = 0;
  for (auto v : values) {
    const T element = static_cast<T>(v);
    std::memcpy(out.data() + at, &element, sizeof element);
    at += sizeof element;
  }
  return bytes;
}

SharedBytes TypedData(const onnx::TensorProto& t, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Narrow<float>(t.float_data());
    case DType::kFloat64:
      return Narrow<double>(t.double_data());
    case DType::kInt64:
      return Narrow<int64_t>(t.int64_data());
    case DType::kUInt64:
      return Narrow<uint64_t>(t.uint64_data());
    case DType::kUInt32:
      return Narrow<uint32_t>(t.uint64_data());
    case DType::kInt32:
      return Narrow<int32_t>(t.int32_data());
    case DType::kInt16:
      return Narrow<int16_t>(t.int32_data());
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return Narrow<uint16_t>(t.int32_data());
    case DType::kInt8:
      return Narrow<int8_t>(t.int32_data());
    case DType::kUInt8:
    case DType::kBool:
      return Narrow<uint8_t>(t.int32_data());
    case DType::kString:
      break;  // Texts
  }
  return {};
}

// Elements begin where their dtype may: bytes in a protobuf lie anywhere.
SharedBytes Aligned(SharedBytes bytes, DType dtype) {
  const auto element = static_cast<size_t>(DTypeBytes(dtype));
  if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % element == 0) return bytes;
  const size_t size = bytes.size();
  return SharedBytes::Lazy(size, [bytes = std::move(bytes)](std::span<std::byte> out) {
    std::memcpy(out.data(), bytes.data(), out.size());
    bytes.DropPages();
  });
}

std::optional<uint64_t> ParseNumber(const std::string& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string OnnxTypeName(int32_t type) {
  if (onnx::TensorProto_DataType_IsValid(type)) {
    return onnx::TensorProto_DataType_Name(static_cast<onnx::TensorProto_DataType>(type));
  }
  // Types that are newer than the installed schema.
  constexpr const char* kNewer[] = {
      "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
      "INT4",         "FLOAT4E2M1",     "FLOAT8E8M0", "UINT2",          "INT2"};
  constexpr int32_t kFirst = 17;
  if (type >= kFirst && type < kFirst + static_cast<int32_t>(std::size(kNewer))) {
    return kNewer[type - kFirst];
  }
  return fmt::format("type {}", type);
}

namespace {

struct TypePair {
  int32_t onnx;
  DType dtype;
};
constexpr TypePair kTypes[] = {
    {onnx::TensorProto::FLOAT, DType::kFloat32},     {onnx::TensorProto::UINT8, DType::kUInt8},
    {onnx::TensorProto::INT8, DType::kInt8},         {onnx::TensorProto::UINT16, DType::kUInt16},
    {onnx::TensorProto::INT16, DType::kInt16},       {onnx::TensorProto::INT32, DType::kInt32},
    {onnx::TensorProto::INT64, DType::kInt64},       {onnx::TensorProto::BOOL, DType::kBool},
    {onnx::TensorProto::FLOAT16, DType::kFloat16},   {onnx::TensorProto::DOUBLE, DType::kFloat64},
    {onnx::TensorProto::UINT32, DType::kUInt32},     {onnx::TensorProto::UINT64, DType::kUInt64},
    {onnx::TensorProto::BFLOAT16, DType::kBFloat16}, {onnx::TensorProto::STRING, DType::kString},
};

// DataType's numbers of types that are newer than the installed schema.
constexpr NarrowInt kNarrow[] = {
    {21, DType::kUInt8, 4},       {22, DType::kInt8, 4},        {25, DType::kUInt8, 2},
    {26, DType::kInt8, 2},        {17, DType::kUInt8, 8, true}, {18, DType::kUInt8, 8, true},
    {19, DType::kUInt8, 8, true}, {20, DType::kUInt8, 8, true}, {23, DType::kUInt8, 4, true}};

// The first element of a byte is in its lowest bits.
SharedBytes Unpacked(SharedBytes packed, const NarrowInt& type, size_t count) {
  return SharedBytes::Lazy(count, [packed = std::move(packed), type](std::span<std::byte> out) {
    const auto per_byte = static_cast<size_t>(8 / type.bits);
    const int spare = 8 - type.bits;
    for (size_t i = 0; i < out.size(); ++i) {
      const auto shift = static_cast<int>(i % per_byte) * type.bits;
      // The element's bits on top, then down again with its sign.
      const auto top = static_cast<uint8_t>(static_cast<uint8_t>(packed.data()[i / per_byte])
                                            << (spare - shift));
      out[i] = static_cast<std::byte>(IsSignedInt(type.dtype) ? static_cast<int8_t>(top) >> spare
                                                              : top >> spare);
    }
    packed.DropPages();
  });
}

}  // namespace

const NarrowInt* NarrowIntOf(int32_t type) {
  for (const NarrowInt& t : kNarrow) {
    if (t.onnx == type) return &t;
  }
  return nullptr;
}

std::optional<DType> DTypeOfOnnx(int32_t type) {
  for (const TypePair& t : kTypes) {
    if (t.onnx == type) return t.dtype;
  }
  return std::nullopt;
}

Result<std::unique_ptr<ModelFile>> ModelFile::Read(const std::string& path, SharedBytes shared,
                                                   std::shared_ptr<InputFiles> files) {
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(shared.data()),
                                       shared.size());
  const auto fail = [&](std::string_view why) {
    return Status(StatusCode::kInvalidInput, fmt::format("{}: {}", path, why));
  };
  if (bytes.size() > INT32_MAX) {
    return fail(
        "the file is larger than 2 GiB, which a protobuf can't be; models of that size keep their "
        "weights in external data");
  }
  auto file = std::unique_ptr<ModelFile>(new ModelFile);
  file->path_ = path;
  file->files_ = std::move(files);
  file->bytes_ = std::move(shared);
  std::string rest;
  if (Status s = Cut(Message::kModel, bytes, 0, bytes.size(), 0, rest); !s.ok()) {
    return fail(fmt::format("expected an ONNX model: {}", s.message()));
  }
  if (rest.size() > INT32_MAX) return fail("what is not weights is larger than 2 GiB");
  CodedInputStream in(reinterpret_cast<const uint8_t*>(rest.data()), static_cast<int>(rest.size()));
  in.SetRecursionLimit(10 * kMaxNesting);
  if (!file->model_.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
    return fail("expected an ONNX model: the file is damaged");
  }
  if (!file->model_.has_graph() || file->model_.opset_import_size() == 0) {
    return fail("expected an ONNX model: the file has no graph or no opset_import");
  }
  return file;
}

Result<HostTensor> ReadTensorFile(const std::string& path) {
  auto files = std::make_shared<InputFiles>();
  RELAYVM_ASSIGN_OR_RETURN(auto mapping, files->Open(path));
  const auto fail = [&](std::string_view why) {
    return InvalidInput(fmt::format("{}: expected a tensor of ONNX: {}", path, why));
  };
  const std::span<const uint8_t> bytes = mapping->bytes();
  if (bytes.size() > INT32_MAX) return fail("the file is larger than 2 GiB");
  ModelFile file;
  file.path_ = path;
  file.files_ = std::move(files);
  file.bytes_ = SharedBytes::OfFile(std::move(mapping));
  std::string rest;
  Status cut = Cut(Message::kTensor, bytes, 0, bytes.size(), 0, rest);
  if (!cut.ok()) return fail(cut.message());
  onnx::TensorProto proto;
  if (!proto.ParseFromString(rest)) return fail("the file is damaged");
  return file.TensorOf(proto);
}

Result<HostTensor> ModelFile::TensorOf(const onnx::TensorProto& proto) {
  const auto fail = [&](std::string_view why) {
    return InvalidInput(fmt::format("tensor '{}': {}", proto.name(), why));
  };
  const NarrowInt* narrow = NarrowIntOf(proto.data_type());
  const auto dtype = narrow != nullptr ? narrow->dtype : DTypeOfOnnx(proto.data_type());
  if (!dtype) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("tensor '{}': elements of {} are not supported", proto.name(),
                              OnnxTypeName(proto.data_type())));
  }
  HostTensor t{*dtype, {}, {}};
  int64_t bytes = DTypeBytes(*dtype);
  bool empty = false;
  for (int64_t d : proto.dims()) {
    if (d < 0) return fail(fmt::format("a dimension is negative: {}", d));
    t.shape.push_back(d);
    empty |= d == 0;
  }
  for (int64_t d : t.shape) {
    if (!empty && (__builtin_mul_overflow(bytes, d, &bytes) || bytes > kMaxBytes)) {
      return fail("its dimensions are too large");
    }
  }
  const size_t count =
      empty ? 0 : static_cast<size_t>(bytes) / static_cast<size_t>(DTypeBytes(*dtype));
  const size_t expected = narrow != nullptr ? (count * static_cast<size_t>(narrow->bits) + 7) / 8
                                            : count * static_cast<size_t>(DTypeBytes(*dtype));
  if (proto.has_segment()) return fail("tensors in segments are not supported");
  if (*dtype == DType::kString) {
    if (static_cast<uint64_t>(proto.string_data_size()) != count || proto.has_raw_data() ||
        proto.data_location() == onnx::TensorProto::EXTERNAL) {
      return fail(
          fmt::format("its dimensions take {} strings, found {}", count, proto.string_data_size()));
    }
    const std::vector<std::string_view> texts(proto.string_data().begin(),
                                              proto.string_data().end());
    if (!std::ranges::all_of(texts, IsUtf8)) return fail("a string is not UTF-8");
    t.data = PackStrings(texts);
    return t;
  }
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    RELAYVM_ASSIGN_OR_RETURN(t.data, ExternalBytes(proto, expected));
  } else if (proto.has_raw_data()) {
    RELAYVM_ASSIGN_OR_RETURN(t.data, RawBytes(proto));
  } else {
    t.data = TypedData(proto, *dtype);
  }
  if (t.data.size() != expected) {
    return fail(fmt::format("its dimensions take {} bytes, found {}", expected, t.data.size()));
  }
  t.data = narrow != nullptr ? Unpacked(std::move(t.data), *narrow, count)
                             : Aligned(std::move(t.data), *dtype);
  NormalizeBools(t);
  return t;
}

Result<SharedBytes> ModelFile::RawBytes(const onnx::TensorProto& proto) {
  ByteRange range;
  if (proto.raw_data().size() != sizeof range) return InvalidInput("a tensor's bytes are damaged");
  std::memcpy(&range, proto.raw_data().data(), sizeof range);
  if (range.offset > bytes_.size() || range.size > bytes_.size() - range.offset) {
    return InvalidInput("a tensor's bytes are damaged");
  }
  return bytes_.Slice(range.offset, range.size);
}

Result<SharedBytes> ModelFile::ExternalBytes(const onnx::TensorProto& proto, size_t expected) {
  const auto fail = [&](std::string_view why) {
    return InvalidInput(fmt::format("tensor '{}': external data: {}", proto.name(), why));
  };
  std::string location;
  std::optional<uint64_t> offset = 0, length;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      std::optional<uint64_t>& number = entry.key() == "offset" ? offset : length;
      number = ParseNumber(entry.value());
      if (!number) {
        return fail(fmt::format("{}: expected a number, found '{}'", entry.key(), entry.value()));
      }
    }
  }
  if (location.empty()) return fail("expected a location");
  auto file = external_.find(location);
  if (file == external_.end()) {
    namespace fs = std::filesystem;
    const std::string parent = fs::path(path_).parent_path();
    const fs::path folder = files_->Canonical(parent.empty() ? "." : parent);
    const fs::path target = files_->Canonical(folder / location);
    // Symbolic links are resolved, so that none leads out either. Caches of models keep the files
    // elsewhere under other names, and links to them where the model is looked for: then what the
    // model's link stands beside is its folder too.
    const fs::path own = fs::path(files_->Canonical(path_)).parent_path();
    const auto holds = [&](const fs::path& outer, const fs::path& inner) {
      return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
             outer.end();
    };
    // Where it is looked for: a name that leads out of the folder is not a file of the model's.
    const fs::path named = (folder / location).lexically_normal();
    if (folder.empty() || target.empty() || fs::path(location).is_absolute() ||
        !holds(folder, named) || (!holds(folder, target) && target.parent_path() != own)) {
      return fail(fmt::format("'{}' is not in the model's folder", location));
    }
    auto mapping = files_->Open(target.string());
    if (!mapping.ok()) return fail(mapping.status().message());
    file = external_.emplace(location, SharedBytes::OfFile(*mapping)).first;
  }
  const size_t size = file->second.size();
  const uint64_t take = length.value_or(expected);
  if (*offset > size || take > size - *offset) {
    return fail(fmt::format("'{}' has {} bytes, expected {} from byte {} on", location, size, take,
                            *offset));
  }
  return file->second.Slice(*offset, take);
}

}  // namespace relayvm::import

// TensorProto: elements as raw bytes, which stay in the mapped file, or as a list whose last
// element counts for all that are left out.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/graph_def.h"

namespace relayvm::import::tensorflow {

namespace {

// What a constant that one number fills may take.
constexpr size_t kMostFilled = size_t{1} << 30;
constexpr int64_t kMostTensorBytes = int64_t{1} << 46;

// Elements begin where their dtype may: bytes in a protobuf lie anywhere.
SharedBytes AlignedTo(SharedBytes bytes, size_t width) {
  if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % width == 0) return bytes;
  const size_t size = bytes.size();
  return SharedBytes::Lazy(size, [bytes = std::move(bytes)](std::span<std::byte> out) {
    std::memcpy(out.data(), bytes.data(), out.size());
    bytes.DropPages();
  });
}

// The elements of one of the typed lists, as their dtype's bytes.
struct TypedList {
  std::vector<int64_t> numbers;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::string_view> texts;

  size_t size() const { return numbers.size() + floats.size() + doubles.size() + texts.size(); }
  // Element `i` of a dtype that is `width` bytes.
  void Write(size_t i, size_t width, std::byte* out) const {
    if (!floats.empty()) {
      std::memcpy(out, &floats[i], width);
    } else if (!doubles.empty()) {
      std::memcpy(out, &doubles[i], width);
    } else {
      std::memcpy(out, &numbers[i], width);  // the low bytes
    }
  }
};

// The list that elements of that type are in. Lists of other types are not read.
TypedList ReadListed(std::string_view message, int64_t type) {
  constexpr int64_t kReference = 100;
  const int64_t plain = type >= kReference ? type - kReference : type;
  const auto dtype = DTypeOf(plain);
  uint32_t field = 7;  // int_val: what is narrower than int32 too
  if (plain == kComplex64)
    field = 9;
  else if (plain == kComplex128)
    field = 12;
  else if (dtype == DType::kFloat32)
    field = 5;
  else if (dtype == DType::kFloat64)
    field = 6;
  else if (dtype == DType::kString)
    field = 8;
  else if (dtype == DType::kInt64)
    field = 10;
  else if (dtype == DType::kBool)
    field = 11;
  else if (dtype == DType::kFloat16 || dtype == DType::kBFloat16)
    field = 13;
  else if (dtype == DType::kUInt32)
    field = 16;
  else if (dtype == DType::kUInt64)
    field = 17;
  TypedList listed;
  for (WireReader in(message); in.Next();) {
    if (in.field() != field) continue;
    if (field == 5 || field == 9)
      AppendFloats(in, &listed.floats);
    else if (field == 6 || field == 12)
      AppendDoubles(in, &listed.doubles);
    else if (field == 8)
      listed.texts.push_back(in.bytes());
    else
      AppendNumbers(in, &listed.numbers);
  }
  return listed;
}

struct Header {
  int64_t type = 0;
  std::vector<int64_t> shape;
  size_t count = 0;
  std::optional<std::string_view> content;
};

Result<Header> ReadHeader(std::string_view message) {
  Header header;
  std::optional<std::vector<Dim>> shape = std::vector<Dim>();
  WireReader in(message);
  while (in.Next()) {
    if (in.field() == 1) header.type = in.signed_number();
    if (in.field() == 2) shape = ReadShape(in.bytes());
    if (in.field() == 4 && !in.bytes().empty()) header.content = in.bytes();
  }
  if (in.damaged()) return InvalidInput("the tensor is damaged or cut off");
  if (!shape) return InvalidInput("a tensor without a shape");
  int64_t count = 1;
  bool is_empty = false;
  for (const Dim& d : *shape) {
    if (!d.is_const()) return InvalidInput("an extent of the tensor is less than 0 or too large");
    header.shape.push_back(d.value());
    is_empty |= d.value() == 0;
  }
  for (const int64_t d : header.shape) {
    if (!is_empty && (__builtin_mul_overflow(count, d, &count) || count > kMostTensorBytes))
      return InvalidInput("the tensor's extents are too large");
  }
  header.count = is_empty ? 0 : static_cast<size_t>(count);
  return header;
}

Status CheckContent(std::string_view content, size_t count, size_t width) {
  if (content.size() / width == count && content.size() % width == 0) return OkStatus();
  return InvalidInput(fmt::format("tensor_content: its shape takes {} bytes, found {}",
                                  count * width, content.size()));
}

Status TooLarge(size_t count) {
  return InvalidInput(
      fmt::format("{} elements that the file does not hold: the tensor is too large", count));
}

Result<SharedBytes> PackedTexts(const std::vector<std::string_view>& given, size_t count) {
  if (given.size() > count || (given.empty() && count > 0)) {
    return InvalidInput(fmt::format("its shape takes {} strings, found {}", count, given.size()));
  }
  if (count * sizeof(int64_t) > kMostFilled) return InvalidInput("the tensor is too large");
  std::vector<std::string_view> texts = given;
  size_t bytes = 0;
  for (const std::string_view text : texts) {
    if (!IsUtf8(text)) {
      return Status(StatusCode::kUnsupported, "a string is not UTF-8, which is not supported");
    }
    bytes += text.size();
  }
  if (!texts.empty() && (count - texts.size()) > (kMostFilled - bytes) / (1 + texts.back().size()))
    return InvalidInput("the tensor is too large");
  texts.resize(count, texts.empty() ? std::string_view() : texts.back());
  return PackStrings(texts);
}

}  // namespace

Status GraphFile::CheckTensor(std::string_view message) {
  RELAYVM_ASSIGN_OR_RETURN(const Header header, ReadHeader(message));
  const auto dtype = DTypeOf(header.type);
  if (!dtype || *dtype == DType::kString) return OkStatus();  // said where it is read
  const size_t parts = tensorflow::IsComplexType(header.type) ? 2 : 1;
  const size_t width = static_cast<size_t>(DTypeBytes(*dtype)) * parts;
  if (header.content) return CheckContent(*header.content, header.count, width);
  return header.count > kMostFilled / width ? TooLarge(header.count) : OkStatus();
}

// `parts`: numbers that make an element, of which `part` is taken.
Result<HostTensor> GraphFile::ElementsOf(std::string_view message, size_t parts,
                                         size_t part) const {
  RELAYVM_ASSIGN_OR_RETURN(const Header header, ReadHeader(message));
  const auto dtype = DTypeOf(header.type);
  if (!dtype || tensorflow::IsComplexType(header.type) != (parts == 2)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("elements of {} are not supported here", TypeName(header.type)));
  }
  HostTensor tensor{*dtype, header.shape, {}};
  const size_t count = header.count, width = static_cast<size_t>(DTypeBytes(*dtype));
  if (*dtype == DType::kString) {
    RELAYVM_ASSIGN_OR_RETURN(tensor.data,
                             PackedTexts(ReadListed(message, header.type).texts, count));
    return tensor;
  }
  if (header.content) {
    const std::string_view content = *header.content;
    RELAYVM_RETURN_IF_ERROR(CheckContent(content, count, width * parts));
    if (parts == 1) {
      const auto* start = reinterpret_cast<const std::byte*>(content.data());
      tensor.data = AlignedTo(
          bytes_.Slice(static_cast<size_t>(start - bytes_.data()), content.size()), width);
    } else {
      tensor.data = SharedBytes::Zeros(count * width);
      std::byte* out = tensor.data.Mutable().data();
      for (size_t i = 0; i < count; ++i)
        std::memcpy(out + i * width, content.data() + (i * parts + part) * width, width);
    }
    NormalizeBools(tensor);
    return tensor;
  }
  const TypedList listed = ReadListed(message, header.type);
  const size_t given = listed.size() / parts;
  if (given > count || listed.size() % parts != 0) {
    return InvalidInput(
        fmt::format("its shape takes {} elements, found {}", count, listed.size() / parts));
  }
  if (count > kMostFilled / width) return TooLarge(count - given);
  tensor.data = SharedBytes::Zeros(count * width);  // an empty list: zeros
  std::byte* out = count == 0 ? nullptr : tensor.data.Mutable().data();
  for (size_t i = 0; i < given; ++i) listed.Write(i * parts + part, width, out + i * width);
  for (size_t i = given; i < count && given > 0; ++i)
    std::memcpy(out + i * width, out + (given - 1) * width, width);
  NormalizeBools(tensor);
  return tensor;
}

Result<HostTensor> GraphFile::TensorOf(std::string_view message) const {
  return ElementsOf(message, 1, 0);
}

Result<HostTensor> GraphFile::PartOf(std::string_view message, bool imaginary) const {
  return ElementsOf(message, 2, imaginary ? 1 : 0);
}

}  // namespace relayvm::import::tensorflow

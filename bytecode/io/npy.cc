#include "bytecode/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/file_replacement.h"
#include "bytecode/base/string_table.h"
#include "bytecode/base/utf8.h"

namespace relayvm {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr uint64_t kMaxHeader = 1 << 20;
constexpr size_t kMaxNpyRank = 64;

Status BadNpy(const std::string& what) { return Status(StatusCode::kInvalidInput, "npy: " + what); }

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the Python dict literal that is the header.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<Header> Parse() {
    Header header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    if (!Accept('{')) return Malformed();
    while (!Accept('}')) {
      auto key = String();
      if (!key || !Accept(':')) return Malformed();
      for (auto [name, seen] :
           {std::pair{"descr", has_descr}, {"fortran_order", has_order}, {"shape", has_shape}}) {
        if (seen && *key == name)
          return BadNpy(fmt::format("header field '{}' occurs twice", name));
      }
      if (*key == "descr") {
        if (Peek() == '[')
          return Status(StatusCode::kUnsupported, "npy: arrays of structures are not supported");
        auto value = String();
        if (!value) return Malformed();
        header.descr = *value;
        has_descr = true;
      } else if (*key == "fortran_order") {
        header.fortran_order = AcceptWord("True");
        if (!header.fortran_order && !AcceptWord("False")) return Malformed();
        has_order = true;
      } else if (*key == "shape") {
        if (!Shape(&header.shape)) return Malformed();
        has_shape = true;
      } else {
        return BadNpy(fmt::format("unknown header field '{}'", *key));
      }
      if (!Accept(',') && Peek() != '}') return Malformed();
    }
    if (Peek() != '\0') return Malformed();
    if (!has_descr || !has_order || !has_shape)
      return BadNpy("header without descr, fortran_order or shape");
    return header;
  }

 private:
  static Status Malformed() { return BadNpy("malformed header"); }
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool AcceptWord(std::string_view word) {
    Peek();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> String() {
    char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool Shape(std::vector<int64_t>* shape) {
    if (!Accept('(')) return false;
    while (!Accept(')')) {
      int64_t value = 0;
      Peek();
      size_t begin = at_;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text_[at_] - '0', &value))
          return false;
      }
      if (at_ == begin || shape->size() == kMaxNpyRank) return false;
      Accept('L');  // Python 2
      shape->push_back(value);
      if (!Accept(',') && Peek() != ')') return false;
    }
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct NpyType {
  std::string_view code;
  DType dtype;
};
constexpr NpyType kTypes[] = {
    {"b1", DType::kBool},
    {"i1", DType::kInt8},
    {"i2", DType::kInt16},
    {"i4", DType::kInt32},
    {"i8", DType::kInt64},
    {"u1", DType::kUInt8},
    {"u2", DType::kUInt16},
    {"u4", DType::kUInt32},
    {"u8", DType::kUInt64},
    {"f2", DType::kFloat16},
    {"f4", DType::kFloat32},
    {"f8", DType::kFloat64},
    // What numpy calls elements of 8 and fewer bits of ml_dtypes: their bytes.
    {"V1", DType::kUInt8},
    {"f1", DType::kUInt8},
};

void SwapBytes(std::span<std::byte> rest, size_t width) {
  for (; rest.size() >= width; rest = rest.subspan(width)) {
    std::ranges::reverse(rest.first(width));
  }
}

// Column-major to row-major.
SharedBytes FromFortranOrder(const HostTensor& t) {
  const size_t width = static_cast<size_t>(DTypeBytes(t.dtype));
  const size_t rank = t.shape.size();
  std::vector<size_t> strides(rank, width);
  for (size_t i = 1; i < rank; ++i)
    strides[i] = strides[i - 1] * static_cast<size_t>(t.shape[i - 1]);
  SharedBytes rows = SharedBytes::Zeros(t.data.size());
  std::span<std::byte> out = rows.Mutable();
  std::vector<int64_t> index(rank, 0);
  size_t from = 0;
  for (size_t to = 0; to < out.size(); to += width) {
    std::memcpy(out.data() + to, t.data.data() + from, width);
    for (size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < t.shape[axis]) break;
      from -= strides[axis] * static_cast<size_t>(t.shape[axis]);
      index[axis] = 0;
    }
  }
  return rows;
}

// --- Texts: '<U5' is 5 characters of UTF-32 an element, '|S5' 5 bytes; zeros at the end are none.
// ---

Result<std::string> TextOfUtf32(std::span<const std::byte> bytes, bool big_endian) {
  std::string text;
  size_t end = 0;  // behind the last character that is not zero
  for (; bytes.size() >= 4; bytes = bytes.subspan(4)) {
    uint32_t c = 0;
    std::memcpy(&c, bytes.data(), 4);
    if (big_endian) c = __builtin_bswap32(c);
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
      return BadNpy(fmt::format("a text has the character {:#x}, which there is none of", c));
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr uint32_t kFirst[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(kFirst[more] | c >> (6 * more));
    for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
    if (c != 0) end = text.size();
  }
  text.resize(end);
  return text;
}

Result<HostTensor> ParseTexts(std::string_view code, bool big_endian, const Header& header,
                              const SharedBytes& data) {
  uint64_t width = 0;
  const char* end = code.data() + code.size();
  const auto number = std::from_chars(code.data() + 1, end, width);
  if (number.ec != std::errc() || number.ptr != end || width > (uint64_t{1} << 40))
    return BadNpy(fmt::format("malformed dtype '{}'", code));
  const bool wide = code[0] == 'U';
  width *= wide ? 4 : 1;
  constexpr uint64_t kMostTexts = uint64_t{1} << 40;
  uint64_t count = 1;
  const bool empty = std::ranges::count(header.shape, 0) > 0;
  for (const int64_t dim : header.shape) {
    if (__builtin_mul_overflow(count, empty ? 0 : static_cast<uint64_t>(dim), &count) ||
        count > kMostTexts)
      return BadNpy("the shape is too large");
  }
  uint64_t expected = 0;
  if (__builtin_mul_overflow(count, width, &expected) || expected != data.size())
    return BadNpy(
        fmt::format("expected {} texts of {} bytes, found {} bytes", count, width, data.size()));
  // Without bytes their number says nothing of the file's size.
  if (width == 0 && count > kMaxHeader) return BadNpy("too many texts without characters");
  std::vector<std::string> texts(count);
  const std::span<const std::byte> all(data.data(), data.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto bytes = all.subspan(i * width, width);
    if (wide) {
      RELAYVM_ASSIGN_OR_RETURN(texts[i], TextOfUtf32(bytes, big_endian));
      continue;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    texts[i] = text.substr(0, text.find_last_not_of('\0') + 1);
    if (!IsUtf8(texts[i])) return BadNpy(fmt::format("text {} is not UTF-8", i));
  }
  HostTensor tensor{DType::kString, header.shape, {}};
  if (header.fortran_order && header.shape.size() > 1) {
    // The places of the texts, as numbers, in their order.
    HostTensor places{DType::kInt64, header.shape, SharedBytes::Zeros(8 * texts.size())};
    std::byte* to = places.data.Mutable().data();
    for (int64_t i = 0; i < static_cast<int64_t>(texts.size()); ++i) std::memcpy(to + 8 * i, &i, 8);
    const SharedBytes rows = FromFortranOrder(places);
    std::vector<std::string> ordered(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      int64_t from = 0;
      std::memcpy(&from, rows.data() + 8 * i, 8);
      ordered[i] = std::move(texts[static_cast<size_t>(from)]);
    }
    texts = std::move(ordered);
  }
  tensor.data = PackStrings(std::vector<std::string_view>(texts.begin(), texts.end()));
  return tensor;
}

// As UTF-32, all as long as the longest.
Result<std::vector<std::byte>> TextsForNpy(const HostTensor& tensor, std::string* descr) {
  const PackedStrings texts(tensor.data.data(), tensor.size());
  constexpr auto begins = [](char c) { return (c & 0xC0) != 0x80; };
  size_t longest = 1;
  for (int64_t i = 0; i < texts.size(); ++i) {
    longest =
        std::max<size_t>(longest, static_cast<size_t>(std::ranges::count_if(texts[i], begins)));
  }
  *descr = fmt::format("<U{}", longest);
  size_t bytes = 0;
  constexpr size_t kMostBytes = std::min<uint64_t>(uint64_t{1} << 40, SIZE_MAX / 4);
  if (__builtin_mul_overflow(4 * longest, static_cast<size_t>(texts.size()), &bytes) ||
      bytes > kMostBytes) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("npy: {} texts of up to {} characters are too large", texts.size(), longest));
  }
  std::vector<std::byte> out(bytes);
  for (int64_t i = 0; i < texts.size(); ++i) {
    std::byte* to = out.data() + static_cast<size_t>(i) * 4 * longest;
    std::string_view text = texts[i];
    while (!text.empty()) {
      const size_t length = std::max<size_t>(Utf8Length(text), 1);
      uint32_t c = static_cast<unsigned char>(text[0]);
      if (length > 1) c &= 0x7Fu >> length;
      for (size_t k = 1; k < length; ++k) c = c << 6 | (static_cast<unsigned char>(text[k]) & 0x3F);
      std::memcpy(to, &c, 4);
      to += 4;
      text.remove_prefix(length);
    }
  }
  return out;
}

std::vector<std::byte> WithHeader(const std::string& descr, const std::vector<int64_t>& shape,
                                  std::span<const std::byte> data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  const bool is_long = header.size() + 64 > 0xFFFF;
  const size_t prefix = is_long ? 12 : 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');
  header += '\n';
  std::string start(kNpyMagic);
  start += is_long ? '\2' : '\1';
  start += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) start += static_cast<char>(header.size() >> (8 * i));
  start += header;
  auto bytes = std::as_bytes(std::span(start));
  std::vector<std::byte> out;
  out.reserve(bytes.size() + data.size());
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace

Result<HostTensor> ParseNpy(const SharedBytes& bytes) {
  size_t at = 0;
  auto take = [&](uint64_t size) -> Result<std::string_view> {
    if (size > bytes.size() - at) {
      return BadNpy(
          fmt::format("truncated header: {} bytes are missing", size - (bytes.size() - at)));
    }
    at += size;
    return std::string_view(reinterpret_cast<const char*>(bytes.data() + at - size), size);
  };
  RELAYVM_ASSIGN_OR_RETURN(std::string_view prefix, take(8));
  if (!prefix.starts_with(kNpyMagic)) return BadNpy("not a .npy file (wrong magic number)");
  const int major = static_cast<uint8_t>(prefix[6]);
  if (major < 1 || major > 3) {
    return Status(StatusCode::kUnsupported, fmt::format("npy: format {}.{} is not supported", major,
                                                        static_cast<uint8_t>(prefix[7])));
  }
  RELAYVM_ASSIGN_OR_RETURN(std::string_view length_bytes, take(major == 1 ? 2 : 4));
  uint32_t length = 0;  // little endian
  std::memcpy(&length, length_bytes.data(), length_bytes.size());
  if (length > kMaxHeader) return BadNpy(fmt::format("header of {} bytes is too long", length));
  RELAYVM_ASSIGN_OR_RETURN(std::string_view text, take(length));
  RELAYVM_ASSIGN_OR_RETURN(Header header, HeaderParser(text).Parse());

  const std::string_view descr = header.descr;
  const bool has_order =
      !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string_view code = descr.substr(has_order ? 1 : 0);
  if (code.starts_with('U') || code.starts_with('S')) {
    return ParseTexts(code, descr[0] == '>', header, bytes.Slice(at, bytes.size() - at));
  }
  auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                            [&](const NpyType& t) { return t.code == code; });
  if (type == std::end(kTypes))
    return Status(StatusCode::kUnsupported, fmt::format("npy: dtype '{}' is not supported", descr));
  HostTensor tensor{type->dtype, std::move(header.shape), {}};
  const auto width = static_cast<uint64_t>(DTypeBytes(tensor.dtype));
  uint64_t data_bytes = width;
  bool overflow = false;
  const bool empty = std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0;
  for (int64_t dim : tensor.shape) {
    overflow |=
        __builtin_mul_overflow(data_bytes, empty ? 0 : static_cast<uint64_t>(dim), &data_bytes);
  }
  if (overflow) return BadNpy("the shape is too large");
  const uint64_t left = bytes.size() - at;
  if (data_bytes < left) return BadNpy(fmt::format("{} bytes after the data", left - data_bytes));
  if (data_bytes > left)
    return BadNpy(fmt::format("truncated data: {} of {} bytes", left, data_bytes));
  tensor.data = bytes.Slice(at, data_bytes);
  if (has_order && descr[0] == '>' && width > 1) SwapBytes(tensor.data.Mutable(), width);
  if (header.fortran_order && tensor.shape.size() > 1) tensor.data = FromFortranOrder(tensor);
  NormalizeBools(tensor);
  return tensor;
}

Result<std::vector<std::byte>> SerializeNpy(const HostTensor& tensor) {
  if (tensor.dtype == DType::kString) {
    std::string descr;
    RELAYVM_ASSIGN_OR_RETURN(const std::vector<std::byte> data, TextsForNpy(tensor, &descr));
    return WithHeader(descr, tensor.shape, data);
  }
  auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                            [&](const NpyType& t) { return t.dtype == tensor.dtype; });
  if (type == std::end(kTypes)) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("npy: {} has no .npy form; cast to float32 first", DTypeName(tensor.dtype)));
  }
  const std::string descr =
      fmt::format("{}{}", DTypeBytes(tensor.dtype) == 1 ? '|' : '<', type->code);
  return WithHeader(descr, tensor.shape, {tensor.data.data(), tensor.data.size()});
}

Result<HostTensor> ReadNpyFile(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  auto tensor = ParseNpy(SharedBytes::OfFile(std::move(file)));
  if (!tensor.ok()) return tensor.status().WithContext(path);
  return tensor;
}

Status WriteNpyFile(const std::string& path, const HostTensor& tensor) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, SerializeNpy(tensor));
  return WriteFile(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace relayvm

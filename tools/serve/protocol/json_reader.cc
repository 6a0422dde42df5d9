#include "tools/serve/protocol/json_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

namespace relayvm::serve {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(uint32_t c, std::string* out) {
  const auto last = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->append({static_cast<char>(0xc0 | c >> 6), last(c)});
  } else if (c < 0x10000) {
    out->append({static_cast<char>(0xe0 | c >> 12), last(c >> 6), last(c)});
  } else {
    out->append({static_cast<char>(0xf0 | c >> 18), last(c >> 12), last(c >> 6), last(c)});
  }
}

}  // namespace

bool JsonReader::Fail(std::string message) {
  if (status_.ok()) {
    status_ = Status(StatusCode::kInvalidArgument,
                     fmt::format("JSON, byte {}: {}", at_, std::move(message)));
  }
  return false;
}

void JsonReader::SkipSpace() {
  while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
}

bool JsonReader::Take(char c) {
  SkipSpace();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonReader::TakeWord(std::string_view word) {
  SkipSpace();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

JsonReader::Kind JsonReader::Peek() {
  if (!ok()) return Kind::kNone;
  SkipSpace();
  if (at_ >= text_.size()) return Kind::kNone;
  switch (const char c = text_[at_]) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    default:
      return c == '-' || c == 'N' || c == 'I' || IsDigit(c) ? Kind::kNumber : Kind::kNone;
  }
}

bool JsonReader::Open(char c) {
  if (!ok()) return false;
  if (!Take(c)) return Fail(c == '{' ? "expected an object" : "expected an array");
  if (open_.size() >= kMaxJsonDepth)
    return Fail(fmt::format("values nest deeper than {}", kMaxJsonDepth));
  open_.push_back(c == '{' ? '}' : ']');
  return true;
}

bool JsonReader::BeginObject() { return Open('{'); }
bool JsonReader::BeginArray() { return Open('['); }

// At a member or an element of the innermost value that is open; false at its end.
bool JsonReader::Next(char close) {
  if (!ok()) return false;
  if (open_.empty()) return Fail("nothing is open");
  char& open = open_.back();
  const bool is_first = open == close;
  if (Take(close)) {
    open_.pop_back();
    return false;
  }
  if (is_first) {
    open = close == '}' ? '{' : '[';
    return true;
  }
  return Take(',') || Fail(close == '}' ? "expected , or }" : "expected , or ]");
}

bool JsonReader::NextKey(std::string* key) {
  if (!Next('}')) return false;
  if (!ReadString(key)) return false;
  return Take(':') || Fail("expected :");
}

bool JsonReader::NextElement() { return Next(']'); }

bool JsonReader::ReadHex(uint32_t* unit) {
  const std::string_view digits = text_.substr(at_, 4);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), *unit, 16);
  if (error != std::errc() || digits.size() < 4 || end != digits.data() + 4)
    return Fail("expected 4 hexadecimal digits");
  at_ += 4;
  return true;
}

bool JsonReader::ReadEscape(std::string* text) {
  if (at_ >= text_.size()) return Fail("a string has no end");
  const char c = text_[at_++];
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t found = kNames.find(c); found != std::string_view::npos) {
    text->push_back(kMeanings[found]);
    return true;
  }
  if (c != 'u') return Fail("no such escape in a string");
  uint32_t unit = 0;
  if (!ReadHex(&unit)) return false;
  if (unit >= 0xdc00 && unit < 0xe000) return Fail("half a surrogate pair");
  if (unit >= 0xd800 && unit < 0xdc00) {
    uint32_t low = 0;
    if (!text_.substr(at_).starts_with("\\u")) return Fail("half a surrogate pair");
    at_ += 2;
    if (!ReadHex(&low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return Fail("half a surrogate pair");
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  AppendUtf8(unit, text);
  return true;
}

bool JsonReader::ReadString(std::string* text) {
  if (!ok()) return false;
  if (!Take('"')) return Fail("expected a string");
  text->clear();
  return ReadRest(text);
}

// Up to the string's end, behind what is there.
bool JsonReader::ReadRest(std::string* text) {
  for (;;) {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    text->append(text_, begin, at_ - begin);
    if (at_ >= text_.size()) return Fail("a string has no end");
    const char c = text_[at_];
    if (c != '"' && c != '\\') return Fail("a control character in a string");
    ++at_;
    if (c == '"') return true;
    if (!ReadEscape(text)) return false;
  }
}

bool JsonReader::ReadView(std::string_view* text, std::string* decoded) {
  if (!ok()) return false;
  if (!Take('"')) return Fail("expected a string");
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
         static_cast<unsigned char>(text_[at_]) >= 0x20)
    ++at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    *text = text_.substr(begin, at_++ - begin);
    return true;
  }
  // It has escapes, or is wrong. Decoded it is no longer than as it stands: there is room for all.
  at_ = begin;
  if (decoded->capacity() - decoded->size() < bytes_left()) {
    if (!decoded->empty()) return Fail("strings are longer than their text");
    decoded->reserve(bytes_left());
  }
  const size_t first = decoded->size();
  if (!ReadRest(decoded)) return false;
  *text = std::string_view(*decoded).substr(first);
  return true;
}

bool JsonReader::ReadBool(bool* value) {
  if (!ok()) return false;
  if (TakeWord("true")) {
    *value = true;
    return true;
  }
  *value = false;
  return TakeWord("false") || Fail("expected true or false");
}

template <typename T>
bool JsonReader::ReadNamedFloat(T* out) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr std::pair<std::string_view, T> kNames[] = {
      {"\"NaN\"", std::numeric_limits<T>::quiet_NaN()},
      {"\"Infinity\"", kInfinity},
      {"\"-Infinity\"", -kInfinity}};
  for (const auto& [name, value] : kNames) {
    *out = value;
    if (TakeWord(name)) return true;
  }
  return Fail("expected a number");
}

template <typename T>
bool JsonReader::ReadNumber(T* out) {
  SkipSpace();
  const char* const begin = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  if constexpr (std::is_floating_point_v<T>) {
    if (begin != end && *begin == '"') return ReadNamedFloat(out);
    const bool is_negative = begin != end && *begin == '-';
    const char* const digits = begin + (is_negative ? 1 : 0);
    if (digits != end && !IsDigit(*digits)) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      if (TakeWord(is_negative ? "-Infinity" : "Infinity")) {
        *out = is_negative ? -kInfinity : kInfinity;
        return true;
      }
      if (TakeWord("NaN")) {
        *out = std::numeric_limits<T>::quiet_NaN();
        return true;
      }
      return Fail("expected a number");
    }
  }
  const char* after = begin;
  std::errc error{};
  if constexpr (std::is_same_v<T, bool>) {
    if (Peek() == Kind::kBool) return ReadBool(out);
    uint8_t bit = 0;
    std::tie(after, error) = [&] {
      const auto r = std::from_chars(begin, end, bit);
      return std::pair(r.ptr, r.ec);
    }();
    if (error == std::errc() && bit > 1) return Fail("expected true, false, 0 or 1");
    *out = bit == 1;
  } else {
    const auto r = std::from_chars(begin, end, *out);
    after = r.ptr;
    error = r.ec;
  }
  if (error == std::errc::invalid_argument) return Fail("expected a number");
  if (error != std::errc()) {
    if constexpr (!std::is_floating_point_v<T>)
      return Fail(fmt::format("a number is not in the range of {} bits", sizeof(T) * 8));
    // What is too small is zero, as anywhere; what is too large has no such float.
    double wide = 0;
    const auto r = std::from_chars(begin, after, wide);
    if (!(wide < 1 && wide > -1) && r.ec == std::errc()) return Fail("a number is too large");
    if (r.ec != std::errc()) return Fail("a number is out of range");
    *out = static_cast<T>(wide);
  }
  const char* const first = begin + (*begin == '-' ? 1 : 0);
  if (*first == '0' && after - first > 1 && IsDigit(first[1]))
    return Fail("a number begins with 0");
  if (after[-1] == '.') return Fail("a number ends with a point");
  if (after != end && (*after == '.' || *after == 'e' || *after == 'E'))
    return Fail("expected an integer");
  at_ = static_cast<size_t>(after - text_.data());
  return true;
}

bool JsonReader::ReadInt(int64_t* value) { return ok() && ReadNumber(value); }
bool JsonReader::ReadDouble(double* value) { return ok() && ReadNumber(value); }

bool JsonReader::Skip() {
  std::string text;
  const size_t depth = open_.size();
  do {
    if (open_.size() > depth) {
      const bool is_object = open_.back() == '{' || open_.back() == '}';
      if (is_object ? !NextKey(&text) : !NextElement()) {
        if (!ok()) return false;
        continue;
      }
    }
    switch (Peek()) {
      case Kind::kObject:
        BeginObject();
        break;
      case Kind::kArray:
        BeginArray();
        break;
      case Kind::kString:
        ReadString(&text);
        break;
      case Kind::kBool: {
        bool value;
        ReadBool(&value);
        break;
      }
      case Kind::kNull:
        if (!TakeWord("null")) Fail("expected a value");
        break;
      case Kind::kNumber: {
        double value;
        ReadDouble(&value);
        break;
      }
      case Kind::kNone:
        Fail("expected a value");
    }
  } while (ok() && open_.size() > depth);
  return ok();
}

void JsonReader::ExpectEnd() {
  SkipSpace();
  if (ok() && at_ != text_.size()) Fail("expected nothing more");
}

template <typename Element>
bool JsonReader::ReadFlat(size_t count, const Element& element) {
  if (!Take('[')) return Fail("expected an array");
  size_t n = 0;
  if (!Take(']')) {
    do {
      if (n == count) return Fail(fmt::format("expected {} elements, found more", count));
      if (!element(n)) return false;
      ++n;
      SkipSpace();
    } while (at_ < text_.size() && text_[at_] == ',' && ++at_ > 0);
    if (!Take(']')) return Fail("expected , or ]");
  }
  if (n != count) return Fail(fmt::format("expected {} elements, found {}", count, n));
  return true;
}

template <typename Element>
bool JsonReader::ReadNested(std::span<const int64_t> dims, size_t count, const Element& element) {
  std::vector<int64_t> found;  // in each array that is open
  size_t n = 0;
  do {
    const size_t depth = found.size();
    if (depth < dims.size()) {
      if (!Take('[')) return Fail("expected an array in an array, as the shape says");
      found.push_back(0);
    } else {
      if (n == count || !element(n)) return Fail("more elements than the shape has");
      ++n;
      ++found.back();
    }
    // Ends of arrays, then what is before the next value.
    while (!found.empty()) {
      if (Take(']')) {
        const int64_t expected = dims[found.size() - 1];
        if (found.back() != expected)
          return Fail(fmt::format("expected {} elements of dim {}, found {}", expected,
                                  found.size() - 1, found.back()));
        found.pop_back();
        if (!found.empty()) ++found.back();
        continue;
      }
      if (found.back() > 0 && !Take(',')) return Fail("expected , or ]");
      break;
    }
  } while (!found.empty());
  return n == count || Fail("fewer elements than the shape has");
}

template <typename Element>
bool JsonReader::ReadTree(std::span<const int64_t> dims, size_t count, const Element& element) {
  if (!ok()) return false;
  if (dims.empty() && Peek() != Kind::kArray) return element(0);
  if (dims.size() < 2) return ReadFlat(count, element);
  const size_t begin = at_;
  const bool is_nested = Take('[') && Peek() == Kind::kArray;
  at_ = begin;
  return is_nested ? ReadNested(dims, count, element) : ReadFlat(count, element);
}

template <typename T>
bool JsonReader::ReadElements(std::span<const int64_t> dims, std::span<T> out) {
  return ReadTree(dims, out.size(), [&](size_t i) { return ReadNumber(&out[i]); });
}

bool JsonReader::ReadStrings(std::span<const int64_t> dims, size_t count,
                             std::vector<std::string_view>* out, std::string* decoded) {
  return ReadTree(dims, count, [&](size_t) { return ReadView(&out->emplace_back(), decoded); });
}

template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<bool>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<int8_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<int16_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<int32_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<int64_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<uint8_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<uint16_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<uint32_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<uint64_t>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<float>);
template bool JsonReader::ReadElements(std::span<const int64_t>, std::span<double>);

}  // namespace relayvm::serve

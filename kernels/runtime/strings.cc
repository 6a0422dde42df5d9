// Builtins of texts: their elements are ids (bytecode/kernel_abi.h). Numbers as texts are written
// as ONNX Runtime's Cast does, but with the digits that give the number back, as ONNX's own tests
// have them; texts that are numbers those of ONNX's Cast, with spaces around. Tested by
// strings_test.cc.
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "bytecode/base/arithmetic.h"
#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

constexpr std::string_view kSpaces = " \t\n\v\f\r";

// --- Numbers ---

// Room for "%.17g" and any integer.
using NumberText = std::array<char, 40>;

template <typename T>
std::string_view TextOf(T x, NumberText& room) {
  char* const end = room.data() + room.size();
  if constexpr (std::is_integral_v<T>) {
    return {room.data(), std::to_chars(room.data(), end, x).ptr};
  } else {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x > 0 ? "INF" : "-INF";
    // The shortest decimal that is this number, as "%.8g" has it, with more digits where it has
    // more.
    double decimal = 0;
    std::from_chars(room.data(), std::to_chars(room.data(), end, x).ptr, decimal);
    for (int digits = 8;; ++digits) {
      const char* last =
          std::to_chars(room.data(), end, decimal, std::chars_format::general, digits).ptr;
      T back = 0;
      std::from_chars(room.data(), last, back);
      if (back == x || digits == 17) return {room.data(), last};
    }
  }
}

// Element i.
std::string_view TextAt(const TensorView& x, int64_t i, NumberText& room) {
  if (x.dtype == DType::kFloat64) return TextOf(x.as<const double>()[i], room);
  if (IsFloat(x.dtype)) return TextOf(LoadAs<float>(x, i), room);
  if (x.dtype == DType::kUInt64) return TextOf(x.as<const uint64_t>()[i], room);
  return TextOf(LoadAs<int64_t>(x, i), room);
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
         });
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) + 1 - first);
}

// False where the text is no number of the type.
template <typename T>
bool ReadInteger(std::string_view text, T* value) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *value);
  return read.ec == std::errc() && read.ptr == end;
}
template <typename T>
bool ReadFloat(std::string_view text, T* value) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *value);
  if (read.ptr != end || (read.ec != std::errc() && read.ec != std::errc::result_out_of_range))
    return false;
  if (read.ec == std::errc()) return true;
  // Too large or too small: from_chars does not say which.
  double wide = 0;
  const bool fits = std::from_chars(text.data(), end, wide).ec == std::errc();
  const bool small =
      fits ? std::abs(wide) < 1
           : text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
  *value = small ? T{0} : std::numeric_limits<T>::infinity();
  if (text.starts_with('-')) *value = -*value;
  return true;
}

// Writes element i; false where the text is no number of its dtype.
bool StoreNumber(std::string_view text, const TensorView& out, int64_t i) {
  text = Trimmed(text);
  if (out.dtype == DType::kBool) {
    const bool yes = text == "1" || EqualsIgnoringCase(text, "true");
    out.as<Bool>()[i] = Bool(yes);
    return yes || text == "0" || EqualsIgnoringCase(text, "false");
  }
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  if (out.dtype == DType::kFloat64) return ReadFloat(text, out.as<double>() + i);
  if (IsFloat(out.dtype)) {
    float value = 0;
    if (!ReadFloat(text, &value)) return false;
    if (out.dtype == DType::kFloat32) out.as<float>()[i] = value;
    // By float32, as ONNX Runtime has it.
    if (out.dtype == DType::kFloat16) out.as<Float16>()[i] = Float16(value);
    if (out.dtype == DType::kBFloat16) out.as<BFloat16>()[i] = BFloat16(value);
    return true;
  }
  if (out.dtype == DType::kUInt64) return ReadInteger(text, out.as<uint64_t>() + i);
  int64_t value = 0;
  if (!ReadInteger(text, &value)) return false;
  StoreIndex(out, i, value);
  return LoadAs<int64_t>(out, i) == value;
}

}  // namespace

int32_t StringFromNumber(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[1];
  if (x.dtype == DType::kString) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  NumberText room;
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    out.as<int64_t>()[i] = args.Intern(TextAt(x, i, room));
  return RELAYVM_KERNEL_OK;
}

int32_t StringToNumber(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[1];
  if (out.dtype == DType::kString) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    const int64_t id = x.as<const int64_t>()[i];
    if (!StoreNumber(args.Text(id), out, i)) return args.BadText(id);
  }
  return RELAYVM_KERNEL_OK;
}

// --- Order ---

int32_t StringRank(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[1];
  const int64_t n = x.size();
  struct Item {
    std::string_view text;
    int64_t index;
  };
  auto items = args.NewVector<Item>(n);
  for (int64_t i = 0; i < n; ++i)
    items[static_cast<size_t>(i)] = {args.Text(x.as<const int64_t>()[i]), i};
  // Bytes of UTF-8 have the order of characters.
  std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    constexpr size_t kPerUnit = 256;
    args.Work(CallArgs::kScattered +
              static_cast<int64_t>(std::min(a.text.size(), b.text.size()) / kPerUnit));
    return a.text < b.text;
  });
  int64_t rank = -1;
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    args.Work(CallArgs::kScattered);
    // One text has one address.
    if (i == 0 || items[at].text.data() != items[at - 1].text.data() ||
        items[at].text.size() != items[at - 1].text.size())
      ++rank;
    out.as<int64_t>()[items[at].index] = rank;
  }
  return RELAYVM_KERNEL_OK;
}

// --- Parts ---

namespace {

// Where an operand of a broadcast lies: the step of each of the result's dims.
bool BroadcastSteps(const TensorView& t, const TensorView& out, int64_t* steps) {
  if (t.rank > out.rank) return false;
  int64_t step = 1;
  for (int d = out.rank; d-- > 0;) {
    const int own = d - (out.rank - t.rank);
    const int64_t extent = own < 0 ? 1 : t.dims[own];
    if (extent != 1 && extent != out.dims[d]) return false;
    steps[d] = extent == 1 ? 0 : step;
    step *= extent;
  }
  return true;
}

}  // namespace

int32_t StringConcat(const CallArgs& args) {
  const TensorView &x = args[0], &y = args[1], &out = args[2];
  const auto rank = static_cast<size_t>(out.rank);
  auto x_steps = args.NewVector<int64_t>(out.rank), y_steps = args.NewVector<int64_t>(out.rank),
       position = args.NewVector<int64_t>(out.rank);
  if (!BroadcastSteps(x, out, x_steps.data()) || !BroadcastSteps(y, out, y_steps.data()))
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  auto joined = args.NewVector<char>();
  int64_t at_x = 0, at_y = 0;
  for (int64_t i = 0, n = out.size(); i < n; ++i) {
    const std::string_view a = args.Text(x.as<const int64_t>()[at_x]),
                           b = args.Text(y.as<const int64_t>()[at_y]);
    joined.assign(a.begin(), a.end());
    joined.insert(joined.end(), b.begin(), b.end());
    out.as<int64_t>()[i] = args.Intern({joined.data(), joined.size()});
    for (size_t d = rank; d-- > 0;) {
      at_x += x_steps[d];
      at_y += y_steps[d];
      if (++position[d] < out.dims[d]) break;
      at_x -= x_steps[d] * out.dims[d];
      at_y -= y_steps[d] * out.dims[d];
      position[d] = 0;
    }
  }
  return RELAYVM_KERNEL_OK;
}

namespace {

// Calls each(part) for the parts of `text` between delimiters, of which at most `splits` count
// (less than 0: all). An empty delimiter: between spaces, which the parts do not begin with.
template <typename Each>
void ForEachPart(std::string_view text, std::string_view delimiter, int64_t splits,
                 const Each& each) {
  if (delimiter.empty()) {
    for (;; --splits) {
      text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
      if (text.empty()) return;
      const size_t end = splits == 0 ? std::string_view::npos : text.find_first_of(kSpaces);
      if (end == std::string_view::npos)
        return each(text.substr(0, text.find_last_not_of(kSpaces) + 1));
      each(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  if (text.empty()) return;
  for (;; --splits) {
    const size_t end = splits == 0 ? std::string_view::npos : text.find(delimiter);
    each(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + delimiter.size());
  }
}

}  // namespace

int32_t StringSplitCount(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[2];
  const std::string_view delimiter = args.Text(args[1].as<const int64_t>()[0]);
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    int64_t count = 0;
    ForEachPart(args.Text(x.as<const int64_t>()[i]), delimiter, args.param(0),
                [&](std::string_view) { ++count; });
    out.as<int64_t>()[i] = count;
  }
  return RELAYVM_KERNEL_OK;
}

int32_t StringSplit(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[3];
  const std::string_view delimiter = args.Text(args[1].as<const int64_t>()[0]);
  const int64_t width = out.dims[out.rank - 1];
  const int64_t empty = args.Intern("");
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    int64_t* to = out.as<int64_t>() + i * width;
    int64_t count = 0;
    ForEachPart(args.Text(x.as<const int64_t>()[i]), delimiter, args.param(0),
                [&](std::string_view part) {
                  if (count < width) to[count] = args.Intern(part);
                  ++count;
                });
    if (count > width) return RELAYVM_KERNEL_INVALID_ARGUMENT;
    args.Fill(to + count, width - count, empty);
  }
  return RELAYVM_KERNEL_OK;
}

// --- Hashes ---

namespace {

// MurmurHash3_x86_32 (Appleby, github.com/aappleby/smhasher).
uint32_t HashOf(const CallArgs& args, const char* data, size_t size, uint32_t seed) {
  const auto mixed = [](uint32_t k) { return std::rotl(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  const auto at = [&](size_t i) { return uint32_t{static_cast<unsigned char>(data[i])}; };
  uint32_t hash = seed;
  args.InBlocks(static_cast<int64_t>(size / 4), [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin) * 4; i < static_cast<size_t>(end) * 4; i += 4) {
      const uint32_t k = at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24;
      hash = std::rotl(hash ^ mixed(k), 13) * 5 + 0xe6546b64u;
    }
  });
  uint32_t rest = 0;
  for (size_t i = size; i-- > size / 4 * 4;) rest = rest << 8 | at(i);
  hash ^= mixed(rest) ^ static_cast<uint32_t>(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

}  // namespace

int32_t Murmur3(const CallArgs& args) {
  const TensorView &x = args[0], &out = args[1];
  if (out.dtype != DType::kUInt32 && out.dtype != DType::kInt32)
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const auto bytes = static_cast<size_t>(DTypeBytes(x.dtype));
  for (int64_t i = 0, n = x.size(); i < n; ++i) {
    args.Work(CallArgs::kScattered);
    const std::string_view data =
        x.dtype == DType::kString
            ? args.Text(x.as<const int64_t>()[i])
            : std::string_view(x.as<const char>() + static_cast<size_t>(i) * bytes, bytes);
    out.as<uint32_t>()[i] =
        HashOf(args, data.data(), data.size(), static_cast<uint32_t>(args.param(0)));
  }
  return RELAYVM_KERNEL_OK;
}

// --- Case ---

namespace {

// Of Unicode, whatever locale the process has; where the system has none, of ASCII.
locale_t Utf8Locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
  return locale;
}

char32_t Folded(char32_t c, bool upper, bool ascii) {
  if (c < 0x80 || ascii) {
    if (upper) return c >= 'a' && c <= 'z' ? c - 32 : c;
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
  }
  const locale_t locale = Utf8Locale();
  if (locale == locale_t{}) return c;
  const auto wide = static_cast<wint_t>(c);
  const auto folded =
      static_cast<char32_t>(upper ? towupper_l(wide, locale) : towlower_l(wide, locale));
  // What is made must be a character that UTF-8 has.
  return folded < 0x110000 && (folded < 0xD800 || folded > 0xDFFF) ? folded : c;
}

void Append(KernelVector<char>& out, char32_t c) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

// The id of a text in upper (2) or lower case (1); as it is (0). `ascii`: of its letters alone.
int64_t InCase(const CallArgs& args, int64_t id, int64_t change, bool ascii,
               KernelVector<char>& room) {
  if (change == 0) return id;
  std::string_view text = args.Text(id);
  args.Work(static_cast<int64_t>(text.size()) * CallArgs::kScattered);
  room.clear();
  while (!text.empty()) Append(room, Folded(NextCharacter(text), change == 2, ascii));
  return args.Intern({room.data(), room.size()});
}

}  // namespace

char32_t NextCharacter(std::string_view& text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const uint32_t first = byte(0);
  const size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t c = length == 1 ? first : first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) c = c << 6 | (byte(i) & 0x3F);
  text.remove_prefix(std::min(length, text.size()));
  return c;
}

int32_t StringNormalize(const CallArgs& args) {
  const TensorView &x = args[0], &stop = args[1], &out = args[2];
  const int64_t change = args.param(0) % 3;
  const bool case_sensitive = args.param(1) != 0, ascii = args.param(0) > 2;
  const int64_t n = x.size();
  if (out.dims[0] < n + 1) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  KernelVector<char> room = args.NewVector<char>();
  // Sorted, as they are compared.
  auto words = args.NewVector<int64_t>(stop.size());
  for (int64_t i = 0; i < stop.size(); ++i) {
    words[static_cast<size_t>(i)] =
        InCase(args, stop.as<const int64_t>()[i], case_sensitive ? 0 : 1, ascii, room);
  }
  // Few, and less code than a quicksort's.
  args.Work(stop.size() * 4 * CallArgs::kScattered);
  std::make_heap(words.begin(), words.end());
  std::sort_heap(words.begin(), words.end());
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = x.as<const int64_t>()[i];
    if (!words.empty() && std::binary_search(words.begin(), words.end(),
                                             InCase(args, id, case_sensitive ? 0 : 1, ascii, room)))
      continue;
    args.Work(CallArgs::kScattered);
    out.as<int64_t>()[kept++] = InCase(args, id, change, ascii, room);
  }
  if (kept == 0) out.as<int64_t>()[kept++] = args.Intern("");
  args.count(0) = kept;
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm

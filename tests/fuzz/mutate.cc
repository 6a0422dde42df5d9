#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace relayvm::fuzz {
namespace {

constexpr uint64_t kMostChanges = 8;
constexpr uint64_t kLongestRange = 64;
constexpr size_t kLargestInput = size_t{1} << 20;

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> tokens;
  auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (word(text[i]) && end < text.size() && word(text[end])) ++end;
    tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

}  // namespace

std::string Mutator::Bytes(std::string bytes, const std::string& other) {
  for (uint64_t n = 1 + Below(kMostChanges); n > 0 && !bytes.empty(); --n) {
    size_t at = Below(bytes.size());
    size_t length = std::min<size_t>(1 + Below(kLongestRange), bytes.size() - at);
    switch (Below(9)) {
      case 0:
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 2:
        bytes[at] = static_cast<char>(Below(256));
        break;
      case 3: {  // a number that readers get wrong
        const uint64_t numbers[] = {0,
                                    1,
                                    0xff,
                                    0x7fff,
                                    0xffff,
                                    0x7fffffff,
                                    0xffffffff,
                                    ~0ull,
                                    uint64_t{1} << 63,
                                    bytes.size(),
                                    bytes.size() + 1};
        uint64_t number = numbers[Below(std::size(numbers))];
        std::memcpy(&bytes[at], &number, std::min(size_t{1} << Below(4), bytes.size() - at));
        break;
      }
      case 4:
        bytes.erase(at, length);
        break;
      case 5:
        bytes.insert(Below(bytes.size()), bytes.substr(at, length));
        break;
      case 6: {
        size_t from = Below(other.size());
        bytes.insert(at, other.substr(from, length));
        break;
      }
      case 7: {
        size_t to = Below(bytes.size() - length + 1);
        std::string range = bytes.substr(at, length);
        std::copy(range.begin(), range.end(), bytes.begin() + static_cast<int64_t>(to));
        break;
      }
      default:
        if (Below(4) == 0) bytes.resize(at);
    }
  }
  if (bytes.size() > kLargestInput) bytes.resize(kLargestInput);
  return bytes;
}

std::string Mutator::Tokens(const std::string& text, const std::string& other) {
  std::vector<std::string> tokens = Split(text), others = Split(other);
  for (uint64_t n = 1 + Below(kMostChanges); n > 0 && !tokens.empty(); --n) {
    size_t at = Below(tokens.size()), to = Below(tokens.size());
    size_t length = std::min<size_t>(1 + Below(kLongestRange), tokens.size() - at);
    auto begin = tokens.begin() + static_cast<int64_t>(at);
    switch (Below(7)) {
      case 0:
        tokens.erase(begin, begin + static_cast<int64_t>(Below(4) == 0 ? length : 1));
        break;
      case 1:
        std::swap(tokens[at], tokens[to]);
        break;
      case 2:
        tokens[at] = tokens[to];
        break;
      case 3:
        if (!others.empty()) tokens[at] = others[Below(others.size())];
        break;
      case 4: {
        std::vector<std::string> range(begin, begin + static_cast<int64_t>(length));
        tokens.insert(tokens.begin() + static_cast<int64_t>(to), range.begin(), range.end());
        break;
      }
      case 5: {
        const char* const numbers[] = {"0",
                                       "1",
                                       "-1",
                                       "2147483647",
                                       "9223372036854775807",
                                       "99999999999999999999",
                                       "1e999f",
                                       "?",
                                       "inff",
                                       "(",
                                       "{"};
        tokens[at] = numbers[Below(std::size(numbers))];
        break;
      }
      default:
        if (Below(8) == 0) tokens.resize(at);
    }
  }
  std::string out;
  for (const std::string& t : tokens) out += t;
  if (out.size() > kLargestInput) out.resize(kLargestInput);
  return out;
}

}  // namespace relayvm::fuzz

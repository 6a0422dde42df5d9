#include "bytecode/base/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace relayvm {
namespace {

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// The bytes of the character that `text` starts with: 1 where it is no UTF-8.
size_t Length(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (lead > 0xF4 || length > text.size()) return 1;
  return std::ranges::all_of(text.substr(1, length - 1), IsContinuation) ? length : 1;
}

bool IsControl(std::string_view character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (character.size() == 2) return first == 0xC2 && static_cast<uint8_t>(character[1]) < 0xA0;
  if (character.size() == 3) {  // lines and paragraphs; embeddings, overrides and isolates
    const bool is_separator = character >= "\u2028" && character <= "\u202e";
    return is_separator || (character >= "\u2066" && character <= "\u2069");
  }
  return character.size() == 1 && (first < 0x20 || (first >= 0x7F && first < 0xA0));
}

std::string Cleaned(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view character = text.substr(0, Length(text));
    if (IsControl(character) && kept.find(character) == std::string_view::npos) {
      out += '?';
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

std::string Printable(std::string_view text) { return Cleaned(text, ""); }
std::string PrintableLines(std::string_view text) { return Cleaned(text, "\n\t"); }

}  // namespace relayvm

#include "bytecode/base/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bytecode/base/utf8.h"

namespace relayvm {
namespace {

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
    const std::string_view character = text.substr(0, std::max<size_t>(Utf8Length(text), 1));
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

// Protobuf's text format (.pbtxt) of graphs and SavedModels, as the binary that graph_def.h reads.
// Fields that it has no use for are skipped. Not thread-safe. Tested by text_format_test.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm::import::tensorflow {

enum class TextMessage : unsigned char { kGraph, kSavedModel };
// What the text begins as; nullopt where it is no such text.
std::optional<TextMessage> TextMessageOf(std::string_view text);
// Errors name the line.
Result<std::string> BinaryOf(std::string_view text, TextMessage message);

}  // namespace relayvm::import::tensorflow

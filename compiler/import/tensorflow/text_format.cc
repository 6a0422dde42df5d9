#include "compiler/import/tensorflow/text_format.h"

namespace relayvm::import::tensorflow {

std::optional<TextMessage> TextMessageOf(std::string_view /*text*/) { return std::nullopt; }

Result<std::string> BinaryOf(std::string_view /*text*/, TextMessage /*message*/) {
  return Status(StatusCode::kUnsupported, "text is not read yet");
}

}  // namespace relayvm::import::tensorflow

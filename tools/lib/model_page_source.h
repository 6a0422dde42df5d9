// The text of model_page.html, which the build puts into a source.
#pragma once

#include <string_view>

namespace relayvm::tools {

std::string_view ModelPageSource();

}  // namespace relayvm::tools

// What a server reads of strangers: JSON, requests of inference with binary data, and HTTP.
#pragma once

#include <string>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::fuzz {

// JSON. kInternal where nlohmann's reader and ours do not agree on what is JSON.
std::vector<std::string> JsonSeeds();
Status ReadJson(const std::string& text);

// Two bytes, how many of the rest are JSON (0xffff: all), then a request's body. What is read is
// written as an answer. kInternal where that is no JSON.
std::vector<std::string> InferSeeds();
Status ReadInfer(const std::string& input);

// A byte, and requests of HTTP as they come. kInternal where it matters in what pieces they come,
// of the length that the byte says.
std::vector<std::string> HttpSeeds();
Status ReadHttp(const std::string& input);

}  // namespace relayvm::fuzz

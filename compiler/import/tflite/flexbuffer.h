// Options of custom operators: a flexbuffer that is a map, of which numbers and truths are read.
//
//   ... keys, values ... | values (n of a width) | types (n bytes) | ... | root | type | width
//
// In front of the values stand, of the same width: the place of the vector of keys, the width of
// its elements, n. Places count back from where they stand; a type's lowest two bits are the width
// of what is found there. Any bytes are safe: what does not lie in them is not there. Tested by
// model_file_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "bytecode/base/status.h"

namespace relayvm::import::tflite {

class FlexMap {
 public:
  // No bytes: an empty map. kInvalidInput for what is no map.
  static Result<FlexMap> Read(std::string_view bytes);

  int64_t Int(std::string_view key, int64_t fallback) const;
  double Float(std::string_view key, double fallback) const;
  bool Bool(std::string_view key, bool fallback) const { return Int(key, fallback ? 1 : 0) != 0; }

 private:
  std::map<std::string, double, std::less<>> numbers_;
};

}  // namespace relayvm::import::tflite

// Inflater: gzip and deflate of a request's body, taken apart as it comes. Tested by
// http_server_test.cc and tests/fuzz.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace relayvm::serve {

class Inflater {
 public:
  // What one holds beside what it gives out.
  static constexpr size_t kBytes = 48 << 10;

  // Whether a Content-Encoding says that bodies are as they are; none: it is not known here.
  static std::optional<bool> IsIdentity(std::string_view coding);

  // Null without memory for it.
  static std::unique_ptr<Inflater> Create();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  enum class End { kFine, kDamaged, kStopped };
  // Hands over what `bytes` come to, in pieces of some KiB, until `take` is false.
  End Add(std::string_view bytes, const std::function<bool(std::string_view)>& take);
  // Whether the stream has come to its end, and not to another's beginning.
  bool is_whole() const { return is_whole_; }

 private:
  Inflater() = default;
  struct Stream;
  std::unique_ptr<Stream> stream_;
  bool is_whole_ = false;
};

}  // namespace relayvm::serve

#include "tools/serve/protocol/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

namespace relayvm::serve {
namespace {

constexpr size_t kMinToken = 8, kMaxToken = 4096;

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest DigestOf(std::string_view text) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace

Result<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  std::string token(kMaxToken + 2, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  if (file.bad() || (!file.is_open()))
    return Status(StatusCode::kNotFound, path + ": it cannot be read");
  token.resize(static_cast<size_t>(file.gcount()));
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  const bool is_printable =
      std::ranges::all_of(token, [](unsigned char c) { return std::isgraph(c) != 0; });
  if (token.size() < kMinToken || token.size() > kMaxToken || !is_printable) {
    return Status(StatusCode::kInvalidInput,
                  path + ": expected a token of 8 to 4096 printable characters on one line");
  }
  return token;
}

bool HasToken(std::string_view authorization, std::string_view token) {
  constexpr std::string_view kBearer = "bearer ";
  const bool is_bearer =
      std::ranges::equal(authorization.substr(0, kBearer.size()), kBearer,
                         [](unsigned char a, unsigned char b) { return std::tolower(a) == b; });
  if (!is_bearer) return false;
  authorization.remove_prefix(kBearer.size());
  // Of digests, so that their lengths are equal and say nothing.
  const Digest given = DigestOf(authorization), expected = DigestOf(token);
  return CRYPTO_memcmp(given.data(), expected.data(), given.size()) == 0;
}

}  // namespace relayvm::serve

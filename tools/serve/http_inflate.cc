#include "tools/serve/http_inflate.h"

#include <zlib.h>

#include <new>

namespace relayvm::serve {
namespace {

constexpr int kWindow = 15, kGzipToo = 32;  // zlib.h, inflateInit2: both kinds of header
constexpr size_t kPiece = 16 << 10;

bool IsText(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

struct Inflater::Stream {
  z_stream z{};
  char piece[kPiece];
};

std::optional<bool> Inflater::IsIdentity(std::string_view coding) {
  if (coding.empty() || IsText(coding, "identity")) return true;
  if (IsText(coding, "gzip") || IsText(coding, "x-gzip") || IsText(coding, "deflate")) return false;
  return std::nullopt;
}

std::unique_ptr<Inflater> Inflater::Create() {
  std::unique_ptr<Inflater> inflater(new (std::nothrow) Inflater);
  if (inflater == nullptr) return nullptr;
  inflater->stream_.reset(new (std::nothrow) Stream);
  if (inflater->stream_ == nullptr) return nullptr;
  if (inflateInit2(&inflater->stream_->z, kWindow + kGzipToo) != Z_OK) {
    inflater->stream_ = nullptr;
    return nullptr;
  }
  return inflater;
}

Inflater::~Inflater() {
  if (stream_ != nullptr) inflateEnd(&stream_->z);
}

Inflater::End Inflater::Add(std::string_view bytes,
                            const std::function<bool(std::string_view)>& take) {
  z_stream& z = stream_->z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  bool has_more = z.avail_in > 0;
  while (has_more) {
    // RFC 1952: a file may have several members, one behind the other.
    if (is_whole_ && inflateReset(&z) != Z_OK) return End::kDamaged;
    is_whole_ = false;
    z.next_out = reinterpret_cast<Bytef*>(stream_->piece);
    z.avail_out = kPiece;
    const int result = inflate(&z, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return End::kDamaged;
    if (!take({stream_->piece, kPiece - z.avail_out})) return End::kStopped;
    is_whole_ = result == Z_STREAM_END;
    has_more = z.avail_in > 0 || (!is_whole_ && z.avail_out == 0);
  }
  return End::kFine;
}

}  // namespace relayvm::serve

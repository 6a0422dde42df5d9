#include "tools/serve/grpc/compression.h"

#include <fmt/format.h>
#include <grpc/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tools/serve/http_inflate.h"

namespace relayvm::serve {
namespace {

// Less than this fits into a packet as it is.
constexpr size_t kMinCompressed = 1024;
constexpr size_t kSample = 4096;

std::string_view View(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

bool IsCompressed(const grpc::ByteBuffer& message) {
  if (!message.Valid()) return false;
  // gRPC's headers assert that one is a pointer to the other; nothing else says how it came.
  static_assert(sizeof(grpc::ByteBuffer) == sizeof(grpc_byte_buffer*));
  const auto* raw = *reinterpret_cast<grpc_byte_buffer* const*>(&message);
  return raw->data.raw.compression != GRPC_COMPRESS_NONE;
}

Result<grpc::ByteBuffer> Decompress(const grpc::ByteBuffer& message, size_t max_bytes,
                                    const std::function<bool(size_t bytes)>& take) {
  const auto no_memory = [] {
    return Status(StatusCode::kResourceExhausted, "the messages of all calls take too much memory");
  };
  std::vector<grpc::Slice> packed, pieces;
  if (!message.Dump(&packed).ok()) return Status(StatusCode::kInvalidArgument, "no message");
  if (!take(Inflater::kBytes)) return no_memory();
  const auto inflater = Inflater::Create();
  if (inflater == nullptr) return no_memory();
  size_t bytes = 0;
  bool is_too_long = false;
  for (const grpc::Slice& slice : packed) {
    const auto end = inflater->Add(View(slice), [&](std::string_view piece) {
      is_too_long = piece.size() > max_bytes - bytes;
      if (is_too_long || !take(piece.size())) return false;
      bytes += piece.size();
      if (!piece.empty()) pieces.emplace_back(piece.data(), piece.size());
      return true;
    });
    if (is_too_long) {
      return Status(StatusCode::kResourceExhausted,
                    fmt::format("the message comes to more than {} bytes", max_bytes));
    }
    if (end == Inflater::End::kStopped) return no_memory();
    if (end == Inflater::End::kDamaged)
      return Status(StatusCode::kInvalidArgument, "the message is not what its coding says");
  }
  if (!inflater->is_whole())
    return Status(StatusCode::kInvalidArgument, "the message is not what its coding says");
  return grpc::ByteBuffer(pieces.data(), pieces.size());
}

bool PaysToCompress(const grpc::ByteBuffer& message) {
  if (message.Length() < kMinCompressed) return false;
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return false;
  // Of tensors, most of which is in the longest one.
  const auto longest = std::ranges::max_element(
      slices, [](const grpc::Slice& a, const grpc::Slice& b) { return a.size() < b.size(); });
  const std::string_view all = View(*longest);
  const std::string_view sample =
      all.substr(all.size() > kSample ? (all.size() - kSample) / 2 : 0, kSample);
  std::array<Bytef, kSample + kSample / 8> packed;
  uLongf size = packed.size();
  return compress2(packed.data(), &size, reinterpret_cast<const Bytef*>(sample.data()),
                   static_cast<uLong>(sample.size()), 1) == Z_OK &&
         size < sample.size() / 10 * 9;
}

}  // namespace relayvm::serve

// Messages that come compressed. gRPC's own decompression makes of one whatever it comes to, and is
// off: here the result is bounded while it grows. Tested by message_test.cc.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <functional>

#include "bytecode/base/status.h"

namespace relayvm::serve {

bool IsCompressed(const grpc::ByteBuffer& message);

// What a compressed message, of gzip or deflate, comes to: at most `max_bytes`. `take` is asked for
// each piece before it is kept, and for what decompressing itself needs. kResourceExhausted: it is
// longer, or `take` gives no more; kInvalidArgument: it is damaged.
Result<grpc::ByteBuffer> Decompress(const grpc::ByteBuffer& message, size_t max_bytes,
                                    const std::function<bool(size_t bytes)>& take);

// Whether it gets a good deal smaller, by a sample of it.
bool PaysToCompress(const grpc::ByteBuffer& message);

}  // namespace relayvm::serve

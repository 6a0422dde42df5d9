// Copying a tensor whose elements lie apart into compact row-major memory: transposed, sliced,
// reversed, broadcast. Transpositions go by blocks, at about the speed of memcpy. Thread-safe.
// Tested by strided_copy_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace relayvm::vm {

// Element (i, j, ...) is at from + (i * strides[0] + j * strides[1] + ...) * element_bytes; strides
// may be negative or 0. REQUIRES: as many strides as dims; no dim is negative; the elements are
// readable, and `to` has room for all, apart from them; element_bytes is 1, 2, 4 or 8.
void CopyStrided(const char* from, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 size_t element_bytes, char* to);

}  // namespace relayvm::vm

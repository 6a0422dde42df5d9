// numpy's .npz files: a zip of .npy files, one for each named tensor.
// Checksums are compared: a changed bit is an error, or means nothing (dates, padding).
// Reading is safe on any bytes. The same tensors give the same file. Thread-safe. Tested by
// npz_test.cc.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"

namespace relayvm {

using NamedTensors = std::vector<std::pair<std::string, HostTensor>>;

// In the archive's order. Tensors that are stored uncompressed are parts of the mapped file, which
// must not change while they live. Errors name the file and the entry.
Result<NamedTensors> ReadNpz(const std::string& path);
// The same for an archive in memory, which errors call `name`.
Result<NamedTensors> ParseNpz(const std::string& name, SharedBytes archive);
// Replaces the file. REQUIRES: names differ.
Status WriteNpz(const std::string& path, const NamedTensors& tensors);

}  // namespace relayvm

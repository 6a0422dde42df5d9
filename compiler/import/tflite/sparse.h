// Sparse tensors of a TensorFlow Lite model, with their zeros: each dim of the tensor, and of
// blocks in it, is stored whole or as the places that are there (TACO's formats). Tested by
// model_file_test.cc.
#pragma once

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/tflite/schema_generated.h"

namespace relayvm::import::tflite {

// `stored` has the tensor's dtype and shape, and `count` elements as they are stored. Errors say
// what of `format` does not fit.
Result<HostTensor> DenseOf(const tflite_file::SparsityParameters& format, const HostTensor& stored,
                           int64_t count);

}  // namespace relayvm::import::tflite

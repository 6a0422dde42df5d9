// Tensors whose elements stand in InferTensorContents, as numbers. Tested by message_test.cc.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <cstddef>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/grpc/inference.pb.h"
#include "tools/serve/protocol/inference.h"
#include "vm/api/relayvm.h"

namespace relayvm::serve {

struct TensorType {
  DType dtype;
  std::vector<int64_t> dims;
  size_t count;  // of elements
};

// kInvalidArgument, said of `label`: no such datatype, a negative dim, too many dims or elements.
Result<TensorType> TypeOf(const std::string& label, const std::string& datatype,
                          const google::protobuf::RepeatedField<int64_t>& shape);

bool HasTypedContents(const inference::InferTensorContents& contents);

// kInvalidArgument where they are not as many as the type has, or in another list than its dtype's;
// kUnsupported for FP16 and BF16, which have none.
Result<Value> ReadTypedContents(const std::string& label, const TensorType& type,
                                const inference::InferTensorContents& contents, Runtime& runtime);

}  // namespace relayvm::serve

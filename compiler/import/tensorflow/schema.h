// What graph_def.h reads of TensorFlow's messages, by names: for what has them as text
// (text_format.h, tfjs.h) and becomes binary.
#pragma once

#include <cstdint>
#include <string_view>

namespace relayvm::import::tensorflow {

enum class Msg : uint8_t {
  kNone,
  kGraph,
  kNode,
  kAttrEntry,
  kAttr,
  kAttrList,
  kFunctionRef,
  kTensor,
  kShape,
  kDim,
  kLibrary,
  kFunction,
  kOp,
  kArg,
  kTextEntry,
  kSavedModel,
  kMetaGraph,
  kMetaInfo,
  kSaver,
  kCollectionEntry,
  kCollection,
  kNames,
  kSignatureEntry,
  kSignature,
  kTensorInfoEntry,
  kTensorInfo,
  kAsset,
};

enum class Is : uint8_t { kNumber, kBool, kType, kFloat, kDouble, kText, kMessage };

struct FieldRow {
  Msg in;
  std::string_view name;
  uint32_t number;
  Is is;
  Msg message = Msg::kNone;
};
// The fields that graph_def.h reads, with their numbers.
inline constexpr FieldRow kFields[] = {
    {Msg::kGraph, "node", 1, Is::kMessage, Msg::kNode},
    {Msg::kGraph, "library", 2, Is::kMessage, Msg::kLibrary},
    {Msg::kNode, "name", 1, Is::kText},
    {Msg::kNode, "op", 2, Is::kText},
    {Msg::kNode, "input", 3, Is::kText},
    {Msg::kNode, "attr", 5, Is::kMessage, Msg::kAttrEntry},
    {Msg::kAttrEntry, "key", 1, Is::kText},
    {Msg::kAttrEntry, "value", 2, Is::kMessage, Msg::kAttr},
    {Msg::kAttr, "list", 1, Is::kMessage, Msg::kAttrList},
    {Msg::kAttr, "s", 2, Is::kText},
    {Msg::kAttr, "i", 3, Is::kNumber},
    {Msg::kAttr, "f", 4, Is::kFloat},
    {Msg::kAttr, "b", 5, Is::kBool},
    {Msg::kAttr, "type", 6, Is::kType},
    {Msg::kAttr, "shape", 7, Is::kMessage, Msg::kShape},
    {Msg::kAttr, "tensor", 8, Is::kMessage, Msg::kTensor},
    {Msg::kAttr, "placeholder", 9, Is::kText},
    {Msg::kAttr, "func", 10, Is::kMessage, Msg::kFunctionRef},
    {Msg::kAttrList, "s", 2, Is::kText},
    {Msg::kAttrList, "i", 3, Is::kNumber},
    {Msg::kAttrList, "f", 4, Is::kFloat},
    {Msg::kAttrList, "b", 5, Is::kBool},
    {Msg::kAttrList, "type", 6, Is::kType},
    {Msg::kAttrList, "shape", 7, Is::kMessage, Msg::kShape},
    {Msg::kAttrList, "tensor", 8, Is::kMessage, Msg::kTensor},
    {Msg::kAttrList, "func", 9, Is::kMessage, Msg::kFunctionRef},
    {Msg::kFunctionRef, "name", 1, Is::kText},
    {Msg::kFunctionRef, "attr", 2, Is::kMessage, Msg::kAttrEntry},
    {Msg::kTensor, "dtype", 1, Is::kType},
    {Msg::kTensor, "tensor_shape", 2, Is::kMessage, Msg::kShape},
    {Msg::kTensor, "tensor_content", 4, Is::kText},
    {Msg::kTensor, "float_val", 5, Is::kFloat},
    {Msg::kTensor, "double_val", 6, Is::kDouble},
    {Msg::kTensor, "int_val", 7, Is::kNumber},
    {Msg::kTensor, "string_val", 8, Is::kText},
    {Msg::kTensor, "scomplex_val", 9, Is::kFloat},
    {Msg::kTensor, "int64_val", 10, Is::kNumber},
    {Msg::kTensor, "bool_val", 11, Is::kBool},
    {Msg::kTensor, "dcomplex_val", 12, Is::kDouble},
    {Msg::kTensor, "half_val", 13, Is::kNumber},
    {Msg::kTensor, "uint32_val", 16, Is::kNumber},
    {Msg::kTensor, "uint64_val", 17, Is::kNumber},
    {Msg::kShape, "dim", 2, Is::kMessage, Msg::kDim},
    {Msg::kShape, "unknown_rank", 3, Is::kBool},
    {Msg::kDim, "size", 1, Is::kNumber},
    {Msg::kLibrary, "function", 1, Is::kMessage, Msg::kFunction},
    {Msg::kFunction, "signature", 1, Is::kMessage, Msg::kOp},
    {Msg::kFunction, "node_def", 3, Is::kMessage, Msg::kNode},
    {Msg::kFunction, "ret", 4, Is::kMessage, Msg::kTextEntry},
    {Msg::kFunction, "attr", 5, Is::kMessage, Msg::kAttrEntry},
    {Msg::kFunction, "control_ret", 6, Is::kMessage, Msg::kTextEntry},
    {Msg::kOp, "name", 1, Is::kText},
    {Msg::kOp, "input_arg", 2, Is::kMessage, Msg::kArg},
    {Msg::kOp, "output_arg", 3, Is::kMessage, Msg::kArg},
    {Msg::kArg, "name", 1, Is::kText},
    {Msg::kArg, "type", 3, Is::kType},
    {Msg::kArg, "type_attr", 4, Is::kText},
    {Msg::kArg, "number_attr", 5, Is::kText},
    {Msg::kArg, "type_list_attr", 6, Is::kText},
    {Msg::kTextEntry, "key", 1, Is::kText},
    {Msg::kTextEntry, "value", 2, Is::kText},
    {Msg::kSavedModel, "saved_model_schema_version", 1, Is::kNumber},
    {Msg::kSavedModel, "meta_graphs", 2, Is::kMessage, Msg::kMetaGraph},
    {Msg::kMetaGraph, "meta_info_def", 1, Is::kMessage, Msg::kMetaInfo},
    {Msg::kMetaGraph, "graph_def", 2, Is::kMessage, Msg::kGraph},
    {Msg::kMetaGraph, "saver_def", 3, Is::kMessage, Msg::kSaver},
    {Msg::kMetaGraph, "collection_def", 4, Is::kMessage, Msg::kCollectionEntry},
    {Msg::kMetaGraph, "signature_def", 5, Is::kMessage, Msg::kSignatureEntry},
    {Msg::kMetaGraph, "asset_file_def", 6, Is::kMessage, Msg::kAsset},
    {Msg::kMetaInfo, "tags", 4, Is::kText},
    {Msg::kSaver, "filename_tensor_name", 1, Is::kText},
    {Msg::kSaver, "restore_op_name", 3, Is::kText},
    {Msg::kCollectionEntry, "key", 1, Is::kText},
    {Msg::kCollectionEntry, "value", 2, Is::kMessage, Msg::kCollection},
    {Msg::kCollection, "node_list", 1, Is::kMessage, Msg::kNames},
    {Msg::kNames, "value", 1, Is::kText},
    {Msg::kSignatureEntry, "key", 1, Is::kText},
    {Msg::kSignatureEntry, "value", 2, Is::kMessage, Msg::kSignature},
    {Msg::kSignature, "inputs", 1, Is::kMessage, Msg::kTensorInfoEntry},
    {Msg::kSignature, "outputs", 2, Is::kMessage, Msg::kTensorInfoEntry},
    {Msg::kSignature, "method_name", 3, Is::kText},
    {Msg::kTensorInfoEntry, "key", 1, Is::kText},
    {Msg::kTensorInfoEntry, "value", 2, Is::kMessage, Msg::kTensorInfo},
    {Msg::kTensorInfo, "name", 1, Is::kText},
    {Msg::kTensorInfo, "dtype", 2, Is::kType},
    {Msg::kTensorInfo, "tensor_shape", 3, Is::kMessage, Msg::kShape},
    {Msg::kTensorInfo, "coo_sparse", 4, Is::kMessage, Msg::kNone},
    {Msg::kTensorInfo, "composite_tensor", 5, Is::kMessage, Msg::kNone},
    {Msg::kAsset, "tensor_info", 1, Is::kMessage, Msg::kTensorInfo},
    {Msg::kAsset, "filename", 2, Is::kText},
};

// Null where graph_def.h does not read the field.
inline const FieldRow* FindField(Msg message, std::string_view name) {
  for (const FieldRow& f : kFields) {
    if (f.in == message && f.name == name) return &f;
  }
  return nullptr;
}

}  // namespace relayvm::import::tensorflow

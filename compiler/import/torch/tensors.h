// PyTorch's tensors in archives: storages of raw bytes, and tensors as strided views of them. What
// stands in the file in order stays there, mapped; other views are gathered when they are first
// read. Not thread-safe. Tested by tensors_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/container/pickle.h"
#include "compiler/import/container/zip.h"

namespace relayvm::import::torch {

// What the elements of a storage are.
struct ElementType {
  int torch = 6;  // TorchScript's number of the dtype (argument.h): 6 float, 12 qint8 ...
  DType dtype = DType::kFloat32;  // of the IR: of the integers for quantised ones, of the parts for
                                  // complex ones
  bool complex = false;           // two numbers each
  bool quantised = false;
  int bytes() const { return DTypeBytes(dtype) * (complex ? 2 : 1); }
};
// By TorchScript's numbers of dtypes. Nullopt: the IR has none (float8, 2 and 4 bits).
std::optional<ElementType> ElementTypeOf(int torch);
// "float32", "qint8", "bfloat16" for messages.
std::string ElementTypeName(const ElementType& type);

// A view of a storage, in elements.
struct Strides {
  int64_t offset = 0;
  std::vector<int64_t> sizes, strides;
  // In order and without holes.
  bool contiguous() const;
};
// The elements in order. Complex ones get one dim more, of 2. kInvalidInput where the view does not
// lie in the storage, or is too large to gather; `where` begins the message.
Result<HostTensor> TensorOf(std::string_view where, const SharedBytes& storage,
                            const ElementType& type, const Strides& view);

struct TorchTensor {
  HostTensor elements;
  ElementType type;
  // Where it lies: tensors of one storage whose places overlap share memory.
  std::string storage;
  Strides view;
  bool is_parameter = false;
  // Of quantised ones: (q - zero point) * scale; one each, or one for each place along `axis`.
  std::vector<double> scales;
  std::vector<double> zero_points;  // integers, but for per_channel_affine_float_qparams
  int axis = -1;                    // -1: one scale for all
};

// The globals that tensors are made of, containers (OrderedDict, sets), devices and
// torch.jit._pickle's tags: what Pickle::Known of any of PyTorch's pickles begins with.
bool IsTorchGlobal(std::string_view module, std::string_view name);
// What of a pickle is a tensor: a call of _rebuild_tensor_v2 and its kin.
bool IsTensor(const PickleValue& v);
// The list that a call of torch.jit._pickle.build_intlist and its kin, or restore_type_tag, makes;
// `v` itself for others.
const PickleValue& Untagged(const PickleValue& v);

class TensorReader {
 public:
  // Storages are entries of `folder` ("data/", "constants/"), by their keys. The archive outlives
  // this.
  TensorReader(const Archive& archive, std::string folder)
      : archive_(archive), folder_(std::move(folder)) {}
  // REQUIRES: IsTensor. Values of one storage share its bytes. Errors name file and tensor
  // (`name`).
  Result<TorchTensor> Read(const PickleValue& v, std::string_view name);

 private:
  struct Stored {
    SharedBytes bytes;
    ElementType type;
    std::string key;
  };
  Result<Stored> StorageOf(const PickleValue& v, std::string_view name);
  Result<TorchTensor> Rebuilt(const PickleValue& v, std::string_view name, int depth);
  Status ReadQuantisation(const PickleValue& v, std::string_view name, int depth, TorchTensor& t);

  const Archive& archive_;
  std::string folder_;
  std::map<std::string, SharedBytes> storages_;
};

}  // namespace relayvm::import::torch

// What tests of the provider share: regions as their JSON, runs through the C ABI of the library as
// runtimes open it, and plain loops that say what the operators mean.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/region_abi.h"

namespace relayvm::onednn_testing {

using Dims = std::vector<int64_t>;

// Values of any type, as floats.
struct Tensor {
  Dims dims;
  std::vector<float> data;
};
int64_t Count(const Dims& dims);
// Of a few thousand values in (-1, 1), told by `seed`.
Tensor Random(const Dims& dims, uint32_t seed);
Tensor Map(Tensor t, const std::function<float(float)>& f);
// Axis i of the result is axis order[i].
Tensor Transpose(const Tensor& t, const std::vector<int>& order);
Tensor Broadcast2(const Tensor& a, const Tensor& b, const std::function<float(float, float)>& f);
// The tensor of extents that are broadcast along `axis` of `rank`.
Tensor AlongAxis(const Tensor& vector, int axis, int rank);

// --- Regions ---

// A number, or a symbol's name.
struct Dim {
  int64_t value = 0;
  std::string symbol;
  Dim(int64_t v) : value(v) {}                  // NOLINT(google-explicit-constructor)
  Dim(int v) : value(v) {}                      // NOLINT(google-explicit-constructor)
  Dim(std::string s) : symbol(std::move(s)) {}  // NOLINT(google-explicit-constructor)
  Dim(const char* s) : symbol(s) {}             // NOLINT(google-explicit-constructor)
};
using Shape = std::vector<Dim>;
Shape ShapeOf(const Dims& dims);
// As attributes are written.
std::vector<std::string> Texts(const Dims& numbers);

// An output of a node.
struct From {
  int node, output;
  From(int n, int o = 0) : node(n), output(o) {}  // NOLINT(google-explicit-constructor)
};

class Net {
 public:
  using Attributes = std::map<std::string, std::vector<std::string>>;

  // These give the node's number.
  int Input(Shape shape, DType dtype = DType::kFloat32);
  int Const(Tensor value, DType dtype = DType::kFloat32);
  int Kernel(const std::string& op, const std::vector<From>& inputs, Shape shape,
             const Attributes& attributes = {}, const std::vector<std::string>& post_ops = {},
             DType dtype = DType::kFloat32, const std::vector<Shape>& more_outputs = {});
  void Head(From value) { heads_.push_back(value); }

  std::string Json() const;

  struct Node {
    std::string text;  // in the JSON
    Shape shape;
    DType dtype;
    std::vector<Shape> more_outputs;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<int>& inputs() const { return inputs_; }
  const std::vector<From>& heads() const { return heads_; }
  const std::vector<std::pair<Tensor, DType>>& constants() const { return constants_; }
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  int Add(std::string text, Shape shape, DType dtype);

  std::vector<Node> nodes_;
  std::vector<int> inputs_;
  std::vector<From> heads_;
  std::vector<std::pair<Tensor, DType>> constants_;
  std::vector<std::string> symbols_;
};

// Elements of this type in memory aligned to 64 bytes; values of integer types are rounded.
class Buffer {
 public:
  Buffer(const Tensor& t, DType dtype);
  RelayvmRegionTensor tensor() const;
  Tensor value() const;

 private:
  Dims dims_;
  DType dtype_;
  std::vector<char> bytes_;
  char* data_ = nullptr;
};

// The provider of this build; null where oneDNN is not here (which is said once).
const RelayvmRegionProvider* Provider();
// A further one, from a copy of its file, with a state of its own; not opened yet.
const RelayvmRegionProvider* CopyOfProvider();

// A region that is created, for as many runs as one likes, by several threads too.
class TestRegion {
 public:
  // Fails the test where it is not created, unless `status` is given: that holds what `create`
  // gave. All functions of it are `provider`'s.
  explicit TestRegion(const Net& net, int32_t* status = nullptr, std::string* message = nullptr,
                      const RelayvmRegionProvider* provider = Provider());
  ~TestRegion();
  TestRegion(const TestRegion&) = delete;
  TestRegion& operator=(const TestRegion&) = delete;

  // The outputs; fails the test where a call does not succeed, unless `status` is given.
  std::vector<Tensor> Run(const Dims& symbols, const std::vector<Tensor>& inputs,
                          uint32_t threads = 1, int32_t* status = nullptr,
                          std::string* message = nullptr) const;
  Dims Resolve(const Shape& shape, const Dims& symbols) const;
  RelayvmRegion* get() const { return region_; }

 private:
  const RelayvmRegionProvider* provider_;
  Net net_;
  std::vector<Buffer> constants_;
  RelayvmRegion* region_ = nullptr;
};

// Creates and runs it once.
std::vector<Tensor> RunOnce(const Net& net, const Dims& symbols, const std::vector<Tensor>& inputs);
// What `create` says of a region that it does not take: "1: message".
std::string Refusal(const Net& net);
std::string Refusal(const std::string& json);

// Each within `tolerance` of |expected| + 1; extents too.
void CheckClose(const Tensor& found, const Tensor& expected, double tolerance = 1e-4);

}  // namespace relayvm::onednn_testing

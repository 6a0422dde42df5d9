// Graphs that a test builds without any format, and runs by the reference interpreter. The numbers
// that results are compared with are numpy's and PyTorch's, of the same inputs.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/parser.h"
#include "compiler/import/arithmetic.h"
#include "compiler/import/control_flow.h"
#include "compiler/reference/interpreter.h"
#include "compiler/typing/infer.h"

namespace relayvm::import::testing {

class Graph {
 public:
  // Small numbers of both signs without much of an order: `step` varies them, `scale` divides them.
  static std::vector<double> Numbers(int64_t count, int64_t step = 37, double scale = 8) {
    std::vector<double> out;
    for (int64_t i = 0; i < count; ++i)
      out.push_back(static_cast<double>((i * step + 11) % 23 - 11) / scale);
    return out;
  }

  Term Constant(const std::vector<double>& values, const std::vector<int64_t>& shape,
                DType dtype = DType::kFloat32) {
    return Term(b, Table(b, values, shape)).As(dtype);
  }
  Term Ramp(const std::vector<int64_t>& shape, int64_t step = 37, double scale = 8) {
    return Constant(Numbers(CountOf(shape), step, scale), shape);
  }
  // The same as a parameter, whose dims are open.
  Term Input(const std::vector<double>& values, const std::vector<int64_t>& shape) {
    std::vector<Dim> dims;
    for (size_t i = 0; i < shape.size(); ++i)
      dims.push_back(Dim::Symbol(module.ids->Next(), "d" + std::to_string(i)));
    const ir::Var* var = b.NewVar("x", ir::MakeTensorType(dims, DType::kFloat32));
    main_.params.push_back(var);
    const std::vector<float> floats(values.begin(), values.end());
    inputs_.push_back(reference::MakeTensor(
        {DType::kFloat32, shape, SharedBytes::Copy(std::as_bytes(std::span(floats)))}));
    return {b, b.Use(var)};
  }
  Term InputRamp(const std::vector<int64_t>& shape, int64_t step = 37, double scale = 8) {
    return Input(Numbers(CountOf(shape), step, scale), shape);
  }

  // What the program gives, as numbers. Once.
  std::vector<double> Run(const Value& result) {
    REQUIRE_MESSAGE(b.status().ok(), b.status().message());
    main_.name = "main";
    const Value real = b.Cast(result, DType::kFloat32);
    ir::GraphBuilder& g = b.graph();
    const Status defined = g.Define(module, g.MakeFunction(main_, real.node));
    REQUIRE_MESSAGE(defined.ok(), defined.message());
    auto typed = InferTypes(module);
    REQUIRE_MESSAGE(typed.ok(), typed.status().message());
    auto value = reference::Run(*typed, "main", inputs_);
    REQUIRE_MESSAGE(value.ok(), value.status().message());
    const HostTensor& t = *(*value)->As<reference::Tensor>()->data;
    const SharedBytes bytes = t.data;
    std::vector<double> out(static_cast<size_t>(t.size()));
    for (size_t i = 0; i < out.size(); ++i) {
      float number = 0;
      std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
      out[i] = number;
    }
    return out;
  }

  ir::Module module = *frontend::ParseRelay("prelude", kPrelude);
  TypedBuilder b{module};

 private:
  static int64_t CountOf(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (int64_t d : shape) count *= d;
    return count;
  }

  ir::Function main_;
  std::vector<reference::Value> inputs_;
};

inline void CheckNear(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(2e-5).scale(1));
  }
}

}  // namespace relayvm::import::testing

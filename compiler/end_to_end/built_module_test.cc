// Modules that an importer builds, all the way: weights from a mapped file, loops, and errors at
// run time that name the model's node.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>

#include "bytecode/base/file_mapping.h"
#include "compiler/driver.h"
#include "compiler/ir/graph_builder.h"
#include "compiler/ir/scalar.h"
#include "tests/temp_folder.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using ir::NodeId;

const ir::Type kFloats = ir::MakeTensorType({Dim::Any()}, DType::kFloat32);

struct Model {
  ir::Module m = ir::MakeModule();
  uint32_t file = m.sources->AddModel("model.onnx");
  ir::GraphBuilder b{m};
  std::vector<const ir::Var*> params;

  ir::Span At(std::string_view node, std::string_view op) {
    return m.sources->NodeSpan(file, node, op);
  }
  NodeId Param(const std::string& name, const ir::Type& type) {
    params.push_back(ir::MakeVar(m, name, type, {}));
    return b.Use(params.back(), {});
  }
  NodeId Number(int64_t value) { return b.Constant(ir::IntScalar(DType::kInt32, value), "", {}); }
  // Compiles @main with `body` and runs it on vectors of floats.
  Result<Value> Run(NodeId body, const std::vector<std::vector<float>>& inputs) {
    ir::Function main;
    main.name = "main";
    main.params = params;
    RELAYVM_RETURN_IF_ERROR(b.Define(m, b.MakeFunction(main, body)));
    RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, CompileModule(m, {}));
    RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(std::move(compiled.program)));
    RELAYVM_ASSIGN_OR_RETURN(auto runtime, Runtime::Create());
    RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(runtime, executable));
    std::vector<Value> values;
    for (const std::vector<float>& x : inputs) {
      const int64_t dims[] = {static_cast<int64_t>(x.size())};
      values.push_back(*Value::CopyTensor(DType::kFloat32, dims, x.data()));
    }
    return invocation->Run("main", values);
  }
};

std::vector<float> Floats(const Value& v) {
  const auto* data = static_cast<const float*>(v.data());
  return {data, data + v.num_elements()};
}

TEST_CASE("a built module: a weight from a mapped file, used in a loop") {
  testing::TempFolder folder;
  const float weight[] = {1, 2, 3};
  {
    std::ofstream out(folder / "model.onnx", std::ios::binary);
    out << "some header ";  // the weight is not aligned to anything
    out << '!';
    out.write(reinterpret_cast<const char*>(weight), sizeof weight);
  }
  auto mapping = FileMapping::Open(folder / "model.onnx");
  REQUIRE(mapping.ok());
  SharedBytes file = SharedBytes::OfFile(*mapping);

  Model g;
  NodeId x = g.Param("x", kFloats);
  NodeId w = g.b.Constant({DType::kFloat32, {3}, file.Slice(13, sizeof weight)}, "w", {});
  const ir::Var* i = ir::MakeVar(g.m, "i", ir::MakeTensorType({}, DType::kInt32), {});
  const ir::Var* sum = ir::MakeVar(g.m, "sum", ir::MakeTensorType({3}, DType::kFloat32), {});
  ir::Span loop = g.At("Loop_1", "Loop");
  NodeId last = g.b.While(
      {i, sum}, {g.Number(0), w},
      [&](std::span<const NodeId> s) {
        return g.b.Op("less", {s[0], g.Number(4)}, {}, loop);
      },
      [&](std::span<const NodeId> s) {
        return std::vector{g.b.Op("add", {s[0], g.Number(1)}, {}, loop),
                           g.b.Op("add", {s[1], g.b.Op("multiply", {x, w}, {}, loop)}, {}, loop)};
      },
      loop);
  auto y = g.Run(g.b.Field(last, 1, {}), {{10, 100, 1000}});
  REQUIRE_MESSAGE(y.ok(), y.status().message());
  CHECK(Floats(*y) == std::vector<float>{41, 802, 12003});
}

TEST_CASE("a built module: an error at run time names the node") {
  Model g;
  NodeId x = g.Param("x", kFloats);
  NodeId y = g.Param("y", kFloats);
  NodeId sum = g.b.Op("add", {x, y}, {}, g.At("Add_7", "Add"));
  auto result = g.Run(sum, {{1, 2, 3}, {1, 2}});
  REQUIRE(!result.ok());
  CAPTURE(result.status().message());
  CHECK(result.status().message().find("main (model.onnx: node 'Add_7' (Add))") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm

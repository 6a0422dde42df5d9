#include "tests/fuzz/onnx_target.h"

#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "bytecode/base/file_mapping.h"
#include "compiler/import/onnx/importer.h"
#include "compiler/import/onnx/operator.h"
#include "compiler/pipeline.h"

namespace relayvm::fuzz {
namespace {

using Random = std::mt19937_64;

template <typename List>
auto& Pick(List& list, Random& random) {
  return list[static_cast<int>(random() % std::size(list))];
}

int64_t Number(Random& random) {
  constexpr int64_t kNumbers[] = {
      0, 1, 2, 3, -1, -2, 7, INT64_MAX, INT64_MIN, int64_t{1} << 31, int64_t{1} << 62};
  return Pick(kNumbers, random);
}

// All names that a node may mention.
std::vector<std::string> Names(const onnx::GraphProto& graph) {
  std::vector<std::string> names = {"", "nowhere"};
  for (const auto& i : graph.input()) names.push_back(i.name());
  for (const auto& t : graph.initializer()) names.push_back(t.name());
  for (const auto& n : graph.node())
    names.insert(names.end(), n.output().begin(), n.output().end());
  return names;
}

void DamageNode(onnx::NodeProto& node, const std::vector<std::string>& names, Random& random);

void DamageOnce(onnx::GraphProto& graph, Random& random) {
  const std::vector<std::string> names = Names(graph);
  switch (random() % 8) {
    case 0:  // a dim
      if (graph.input_size() == 0) return;
      if (auto* shape = Pick(*graph.mutable_input(), random)
                            .mutable_type()
                            ->mutable_tensor_type()
                            ->mutable_shape();
          shape->dim_size() > 0 && random() % 2 == 0) {
        Pick(*shape->mutable_dim(), random).set_dim_value(Number(random));
      } else {
        shape->add_dim()->set_dim_value(Number(random));
      }
      return;
    case 1:  // a dtype
      if (graph.input_size() == 0) return;
      Pick(*graph.mutable_input(), random)
          .mutable_type()
          ->mutable_tensor_type()
          ->set_elem_type(static_cast<int>(random() % 20));
      return;
    case 2:  // a constant
      if (graph.initializer_size() == 0) return;
      if (auto& t = Pick(*graph.mutable_initializer(), random); random() % 2 == 0) {
        t.add_dims(Number(random));
      } else {
        t.set_data_type(static_cast<int>(random() % 20));
      }
      return;
    case 3:  // a node goes, or comes twice
      if (graph.node_size() == 0) return;
      if (random() % 2 == 0) {
        graph.mutable_node()->SwapElements(
            0, static_cast<int>(random() % static_cast<size_t>(graph.node_size())));
      } else {
        *graph.add_node() = graph.node(0);
      }
      return;
    default:
      if (graph.node_size() > 0) DamageNode(Pick(*graph.mutable_node(), random), names, random);
  }
}

void DamageNode(onnx::NodeProto& node, const std::vector<std::string>& names, Random& random) {
  switch (random() % 5) {
    case 0: {
      const auto operators = import::Operators();
      const import::OperatorDef& op = operators[random() % operators.size()];
      node.set_op_type(std::string(op.name));
      node.set_domain(std::string(op.domain));
      return;
    }
    case 1:
      if (node.input_size() > 0)
        node.set_input(static_cast<int>(random() % static_cast<size_t>(node.input_size())),
                       Pick(names, random));
      return;
    case 2:
      node.add_input(Pick(names, random));
      return;
    case 3:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      return;
    default:
      if (node.attribute_size() == 0) return;
      auto& a = Pick(*node.mutable_attribute(), random);
      if (a.has_g()) return DamageOnce(*a.mutable_g(), random);
      if (a.ints_size() > 0)
        a.set_ints(static_cast<int>(random() % static_cast<size_t>(a.ints_size())), Number(random));
      a.set_i(Number(random));
      if (random() % 4 == 0) a.add_ints(Number(random));
      if (random() % 4 == 0) a.set_s("?");
  }
}

constexpr const char* kSample = R"(
ir_version: 7 opset_import { version: 13 } graph { name: "g"
input { name: "x" type { tensor_type { elem_type: 1 shape {
  dim { dim_param: "n" } dim { dim_value: 2 } dim { dim_value: 8 } dim { dim_value: 8 } } } } }
input { name: "flag" type { tensor_type { elem_type: 9 shape { } } } }
output { name: "y" }
initializer { name: "w" dims: 3 dims: 2 dims: 1 dims: 1 data_type: 1 float_data: [1, 2, 3, 4, 5, 6] }
initializer { name: "zero" dims: 1 data_type: 7 int64_data: 0 }
initializer { name: "one" dims: 1 data_type: 7 int64_data: 1 }
initializer { name: "rest" dims: 1 data_type: 7 int64_data: -1 }
node { op_type: "Conv" input: ["x", "w"] output: "c" attribute { name: "pads" type: INTS ints: [1, 1, 1, 1] }
  attribute { name: "strides" type: INTS ints: [2, 2] } }
node { op_type: "MaxPool" input: "c" output: "p" attribute { name: "kernel_shape" type: INTS ints: [2, 2] } }
node { op_type: "Shape" input: "p" output: "s" }
node { op_type: "Slice" input: ["s", "zero", "one"] output: "n1" }
node { op_type: "Concat" input: ["n1", "rest"] output: "t" attribute { name: "axis" type: INT i: 0 } }
node { op_type: "Reshape" input: ["p", "t"] output: "r" }
node { op_type: "If" input: "flag" output: "b"
  attribute { name: "then_branch" type: GRAPH g { name: "a" node { op_type: "Softmax" input: "r" output: "q"
    attribute { name: "axis" type: INT i: 1 } } output { name: "q" } } }
  attribute { name: "else_branch" type: GRAPH g { name: "b" node { op_type: "Relu" input: "r" output: "q" } output { name: "q" } } } }
node { op_type: "ReduceSum" input: ["b", "one"] output: "y" }
})";

}  // namespace

std::string SampleModel() {
  onnx::ModelProto model;
  google::protobuf::TextFormat::ParseFromString(kSample, &model);
  return model.SerializeAsString();
}

Status ImportModel(const std::string& bytes) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("relayvm_fuzz_onnx_" + std::to_string(getpid())))
          .string();
  std::ofstream(path, std::ios::binary) << bytes;
  auto file = FileMapping::Open(path);
  std::filesystem::remove(path);
  if (!file.ok()) return file.status();
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module,
                           import::ImportOnnx("fuzz.onnx", SharedBytes::OfFile(*file), {}));
  return RunFrontendPipeline(module).status();
}

std::string DamageGraph(const std::vector<std::string>& seeds, size_t choice) {
  Random random(choice);
  onnx::ModelProto model;
  model.ParseFromString(Pick(seeds, random));
  const size_t times = 1 + random() % 4;
  for (size_t i = 0; i < times; ++i) DamageOnce(*model.mutable_graph(), random);
  return model.SerializeAsString();
}

}  // namespace relayvm::fuzz

#include "compiler/import/tensorflow/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bytecode/base/printable.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/tensorflow/graph_importer.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace tensorflow {

namespace {

// What a program takes and gives: tensors of the graph, and what they are called.
struct Port {
  std::string name, tensor;  // "x:0"
};
struct Entry {
  std::vector<Port> inputs, outputs;
};

// The outputs of a graph that does not say which they are: what no other node reads.
std::vector<Port> FinalTensors(const Graph& graph) {
  std::set<std::string_view> read;
  for (const NodeDef& node : graph.nodes) {
    for (std::string_view text : node.inputs) {
      if (text.starts_with('^')) text.remove_prefix(1);
      read.insert(text.substr(0, text.find(':')));
    }
  }
  std::vector<Port> outputs;
  for (const NodeDef& node : graph.nodes) {
    constexpr std::string_view kNone[] = {"NoOp", "Const", "Placeholder", "Assert"};
    if (read.contains(node.name) || std::ranges::find(kNone, node.op) != std::end(kNone)) continue;
    outputs.push_back({std::string(node.name), std::string(node.name)});
  }
  return outputs;
}

class ModelImporter {
 public:
  ModelImporter(GraphFile& file, const ImportOptions& options)
      : file_(file),
        options_(options),
        module_(PreludeModule()),
        types_(module_, options),
        importer_(file, module_, module_.sources->AddModel(file.path()), options.stop) {
    importer_.SetWarn(options.warn);
  }

  Result<ir::Module> Run() {
    RELAYVM_ASSIGN_OR_RETURN(const Entry entry, FindEntry());
    ir::Function main;
    main.name = "main";
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const Port& input = entry.inputs[i];
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, TypeOf(input, i));
      const ir::Var* var = importer_.b().NewVar(input.name, std::move(type));
      main.params.push_back(var);
      importer_.Bind(input.tensor, 0, importer_.b().Use(var));
    }
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    std::vector<std::string> tensors;
    AttrList names;
    for (const Port& output : entry.outputs) {
      tensors.push_back(output.tensor);
      names.emplace_back(output.name);
    }
    const std::vector<Value> outputs = importer_.Import(tensors);
    if (importer_.is_missing()) return importer_.Unsupported(tensors);
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    main.attrs[ir::kOutputNames] = std::move(names);
    const Value result = outputs.size() == 1 ? outputs[0] : importer_.b().Tuple(outputs);
    RELAYVM_RETURN_IF_ERROR(DefineEntry(importer_.b(), module_, main, result));
    return std::move(module_);
  }

 private:
  Result<Entry> FindEntry() {
    Entry entry;
    for (const NodeDef& node : file_.graph().nodes) {
      if (node.op == "Placeholder") {
        entry.inputs.push_back({std::string(node.name), std::string(node.name)});
      }
    }
    entry.outputs = FinalTensors(file_.graph());
    if (entry.outputs.empty()) {
      return InvalidInput(fmt::format("{}: the graph has no outputs", file_.path()));
    }
    return entry;
  }

  Result<ir::Type> TypeOf(const Port& input, size_t position) {
    const auto fail = [&](StatusCode code, std::string_view why) {
      return Status(code,
                    fmt::format("{}: input '{}': {}", file_.path(), Printable(input.name), why));
    };
    const NodeDef& node = file_.graph().nodes[file_.graph().places.find(input.tensor)->second];
    const AttrValue type = ReadAttr(node.Attr("dtype"));
    const auto dtype = DTypeOf(type.number);
    if (!dtype || IsComplexType(type.number)) {
      return fail(StatusCode::kUnsupported,
                  fmt::format("elements of {} are not supported", TypeName(type.number)));
    }
    const AttrValue declared = ReadAttr(node.Attr("shape"));
    const auto shape =
        declared.kind == AttrValue::Kind::kShape ? ReadShape(declared.bytes) : std::nullopt;
    if (!shape) {
      return fail(StatusCode::kUnsupported,
                  fmt::format("its rank is not declared; give its shape: --shape {}=1x?x?",
                              Printable(input.name)));
    }
    return types_.Of(input.name, position, ir::MakeTensorType(*shape, *dtype));
  }

  GraphFile& file_;
  const ImportOptions& options_;
  ir::Module module_;
  InputTypes types_;
  GraphImporter importer_;
};

}  // namespace

}  // namespace tensorflow

Result<ir::Module> ImportTensorFlow(const std::string& path, SharedBytes file,
                                    const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto graph, tensorflow::GraphFile::Read(path, std::move(file)));
  return tensorflow::ModelImporter(*graph, options).Run();
}

}  // namespace relayvm::import

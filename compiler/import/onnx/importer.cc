#include "compiler/import/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/parser.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/onnx/graph_importer.h"
#include "compiler/ir/output_names.h"

namespace relayvm::import {

namespace {

class ModelImporter {
 public:
  ModelImporter(ModelFile& file, const ImportOptions& options)
      : file_(file),
        options_(options),
        module_(PreludeModule()),
        importer_(file, module_, module_.sources->AddModel(file.path())) {}

  Result<ir::Module> Run() {
    RELAYVM_RETURN_IF_ERROR(CheckDims());
    RELAYVM_RETURN_IF_ERROR(importer_.CheckOperators());
    const onnx::GraphProto& graph = file_.model().graph();
    std::map<std::string, bool> initialized;
    for (const auto& t : graph.initializer()) initialized[t.name()] = true;
    ir::Function main;
    main.name = "main";
    std::map<std::string, Value> inputs;
    for (const auto& input : graph.input()) {
      if (initialized.contains(input.name())) continue;  // a default that nobody changes
      RELAYVM_ASSIGN_OR_RETURN(ir::Type type, TypeOf(input));
      const ir::Var* var = importer_.b().NewVar(input.name(), std::move(type));
      main.params.push_back(var);
      inputs[input.name()] = importer_.b().Use(var);
    }
    std::vector<Value> outputs = importer_.Import(graph, inputs);
    RELAYVM_RETURN_IF_ERROR(importer_.b().status());
    if (outputs.empty()) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: the graph has no outputs", file_.path()));
    }
    AttrList names;
    for (const auto& output : graph.output()) names.emplace_back(output.name());
    main.attrs[ir::kOutputNames] = std::move(names);
    const Value result = outputs.size() == 1 ? outputs[0] : importer_.b().Tuple(outputs);
    ir::GraphBuilder& g = importer_.b().graph();
    if (!importer_.b().uses_prelude()) {
      module_.functions.clear();
      module_.types.clear();
    }
    RELAYVM_RETURN_IF_ERROR(g.Define(module_, g.MakeFunction(main, result.node)));
    return std::move(module_);
  }

 private:
  static ir::Module PreludeModule() {
    auto module = frontend::ParseRelay("prelude", kPrelude);
    return module.ok() ? *std::move(module) : ir::MakeModule();
  }

  Result<ir::Type> TypeOf(const onnx::ValueInfoProto& input) {
    const auto fail = [&](StatusCode code, std::string_view why) {
      return Status(code, fmt::format("{}: input '{}': {}", file_.path(), input.name(), why));
    };
    if (!input.type().has_tensor_type()) {
      return fail(StatusCode::kUnsupported, "only tensors are supported");
    }
    const auto& tensor = input.type().tensor_type();
    const auto dtype = DTypeOfOnnx(tensor.elem_type());
    if (!dtype) {
      return fail(StatusCode::kUnsupported, fmt::format("elements of {} are not supported",
                                                        OnnxTypeName(tensor.elem_type())));
    }
    if (!tensor.has_shape()) {
      if (auto given = options_.shapes.find(input.name()); given != options_.shapes.end()) {
        // The driver reads the sizes; here it is the rank that counts.
        const auto rank = 1 + std::count(given->second.begin(), given->second.end(), 'x');
        std::vector<Dim> open;
        for (int64_t i = 0; i < rank; ++i) open.push_back(NewDim(""));
        return ir::MakeTensorType(std::move(open), *dtype);
      }
      return fail(
          StatusCode::kUnsupported,
          fmt::format("its rank is not declared; give its shape: --shape {}=1x?x?", input.name()));
    }
    std::vector<Dim> shape;
    for (const auto& d : tensor.shape().dim()) {
      if (d.has_dim_value()) {
        // Exporters write 0 and -1 for what is not known.
        shape.push_back(d.dim_value() > 0 ? Dim(d.dim_value()) : NewDim(""));
      } else {
        shape.push_back(NewDim(d.dim_param()));
      }
    }
    return ir::MakeTensorType(std::move(shape), *dtype);
  }

  Status CheckDims() const {
    for (const auto& [name, value] : options_.dims) {
      bool found = false;
      std::string names;
      for (const auto& input : file_.model().graph().input()) {
        for (const auto& d : input.type().tensor_type().shape().dim()) {
          found |= d.dim_param() == name;
          if (!d.dim_param().empty()) names += " " + d.dim_param();
        }
      }
      if (!found) {
        return {StatusCode::kInvalidArgument,
                fmt::format(
                    "--dim {}={}: no input of the model has a dimension of that name; it has:{}",
                    name, value, names.empty() ? " none" : names)};
      }
    }
    return OkStatus();
  }

  // One symbol for each name.
  Dim NewDim(const std::string& name) {
    if (name.empty()) return Dim::Symbol(module_.ids->Next(), "d");
    if (auto given = options_.dims.find(name); given != options_.dims.end()) {
      return Dim(given->second);
    }
    auto [it, inserted] = dims_.try_emplace(name);
    if (inserted) it->second = Dim::Symbol(module_.ids->Next(), name);
    return it->second;
  }

  ModelFile& file_;
  const ImportOptions& options_;
  ir::Module module_;
  GraphImporter importer_;
  std::map<std::string, Dim> dims_;
};

}  // namespace

Result<ir::Module> ImportOnnx(const std::string& path, std::shared_ptr<const FileMapping> file,
                              const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto model, ModelFile::Read(path, std::move(file)));
  return ModelImporter(*model, options).Run();
}

}  // namespace relayvm::import

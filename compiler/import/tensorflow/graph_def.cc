#include "compiler/import/tensorflow/graph_def.h"

#include <fmt/format.h>

#include "bytecode/base/printable.h"
#include "compiler/import/container/protobuf_wire.h"
#include "compiler/import/tensorflow/text_format.h"
#include "compiler/import/tensorflow/tfjs.h"

namespace relayvm::import::tensorflow {

namespace {

struct TypeRow {
  const char* name;
  std::optional<DType> dtype;
};
// By DataType's numbers.
constexpr TypeRow kTypes[] = {
    {"DT_INVALID", std::nullopt},       {"DT_FLOAT", DType::kFloat32},
    {"DT_DOUBLE", DType::kFloat64},     {"DT_INT32", DType::kInt32},
    {"DT_UINT8", DType::kUInt8},        {"DT_INT16", DType::kInt16},
    {"DT_INT8", DType::kInt8},          {"DT_STRING", DType::kString},
    {"DT_COMPLEX64", DType::kFloat32},  {"DT_INT64", DType::kInt64},
    {"DT_BOOL", DType::kBool},          {"DT_QINT8", DType::kInt8},
    {"DT_QUINT8", DType::kUInt8},       {"DT_QINT32", DType::kInt32},
    {"DT_BFLOAT16", DType::kBFloat16},  {"DT_QINT16", DType::kInt16},
    {"DT_QUINT16", DType::kUInt16},     {"DT_UINT16", DType::kUInt16},
    {"DT_COMPLEX128", DType::kFloat64}, {"DT_HALF", DType::kFloat16},
    {"DT_RESOURCE", std::nullopt},      {"DT_VARIANT", std::nullopt},
    {"DT_UINT32", DType::kUInt32},      {"DT_UINT64", DType::kUInt64},
    {"DT_FLOAT8_E5M2", std::nullopt},   {"DT_FLOAT8_E4M3FN", std::nullopt},
};
constexpr int64_t kFirstReference = 100;

Status Damaged(std::string_view what) {
  return InvalidInput(fmt::format("{} is damaged or cut off", what));
}

// The entries of a map field: its key and the bytes of its value.
std::pair<std::string_view, std::string_view> MapEntry(std::string_view message) {
  std::pair<std::string_view, std::string_view> entry;
  for (WireReader in(message); in.Next();) {
    if (in.field() == 1) entry.first = in.bytes();
    if (in.field() == 2) entry.second = in.bytes();
  }
  return entry;
}

Status ReadNode(std::string_view message, NodeDef* node) {
  WireReader in(message);
  while (in.Next()) {
    switch (in.field()) {
      case 1:
        node->name = in.bytes();
        break;
      case 2:
        node->op = in.bytes();
        break;
      case 3:
        node->inputs.push_back(in.bytes());
        break;
      case 5:
        node->attrs.push_back(MapEntry(in.bytes()));
        break;
      default:
        break;
    }
  }
  return in.damaged() ? Damaged(fmt::format("node '{}'", Printable(node->name))) : OkStatus();
}

Status AddNode(std::string_view message, Graph* graph) {
  RELAYVM_RETURN_IF_ERROR(ReadNode(message, &graph->nodes.emplace_back()));
  const NodeDef& node = graph->nodes.back();
  const auto place = static_cast<uint32_t>(graph->nodes.size() - 1);
  if (!graph->places.emplace(node.name, place).second) {
    return InvalidInput(fmt::format("two nodes are called '{}'", Printable(node.name)));
  }
  return OkStatus();
}

ArgDef ReadArg(std::string_view message) {
  ArgDef arg;
  for (WireReader in(message); in.Next();) {
    if (in.field() == 1) arg.name = in.bytes();
    if (in.field() == 3) arg.type = in.signed_number();
    if (in.field() == 4) arg.type_attr = in.bytes();
    if (in.field() == 5) arg.number_attr = in.bytes();
    if (in.field() == 6) arg.type_list_attr = in.bytes();
  }
  return arg;
}

void ReadSignature(std::string_view message, FunctionDef* function) {
  for (WireReader in(message); in.Next();) {
    if (in.field() == 1) function->name = in.bytes();
    if (in.field() == 2) function->inputs.push_back(ReadArg(in.bytes()));
    if (in.field() == 3) function->outputs.push_back(ReadArg(in.bytes()));
  }
}

Status ReadFunction(std::string_view message, FunctionDef* function) {
  WireReader in(message);
  while (in.Next()) {
    switch (in.field()) {
      case 1:
        ReadSignature(in.bytes(), function);
        break;
      case 3:
        RELAYVM_RETURN_IF_ERROR(AddNode(in.bytes(), &function->body));
        break;
      case 4:
        function->results.insert(MapEntry(in.bytes()));
        break;
      case 5:
        function->attrs.push_back(MapEntry(in.bytes()));
        break;
      case 6:
        function->control_results.push_back(MapEntry(in.bytes()).second);
        break;
      case 7: {
        uint32_t place = 0;
        NodeAttrs attrs;
        for (WireReader entry(in.bytes()); entry.Next();) {
          if (entry.field() == 1) place = static_cast<uint32_t>(entry.number());
          if (entry.field() != 2) continue;
          for (WireReader each(entry.bytes()); each.Next();) {
            if (each.field() == 1) attrs.push_back(MapEntry(each.bytes()));
          }
        }
        function->arg_attrs[place] = std::move(attrs);
        break;
      }
      default:
        break;
    }
  }
  return in.damaged() ? Damaged("it") : OkStatus();
}

// The name of a function without reading the rest of it.
std::string_view NameOfFunction(std::string_view message) {
  for (WireReader in(message); in.Next();) {
    if (in.field() != 1) continue;
    for (WireReader signature(in.bytes()); signature.Next();) {
      if (signature.field() == 1) return signature.bytes();
    }
  }
  return {};
}

TensorInfo ReadTensorInfo(std::string_view message) {
  TensorInfo info;
  info.shape = std::vector<Dim>();
  for (WireReader in(message); in.Next();) {
    if (in.field() == 1) info.name = in.bytes();
    if (in.field() == 2) info.type = in.signed_number();
    if (in.field() == 3) info.shape = ReadShape(in.bytes());
    if (in.field() == 4 || in.field() == 5) info.is_composite = true;
  }
  return info;
}

SignatureDef ReadSignatureDef(std::string_view message) {
  SignatureDef signature;
  for (WireReader in(message); in.Next();) {
    if (in.field() != 1 && in.field() != 2) continue;
    const auto [name, info] = MapEntry(in.bytes());
    (in.field() == 1 ? signature.inputs : signature.outputs)[name] = ReadTensorInfo(info);
  }
  return signature;
}

}  // namespace

// --- Types ---

std::optional<DType> DTypeOf(int64_t type) {
  if (type >= kFirstReference) type -= kFirstReference;
  return type < 0 || type >= std::ssize(kTypes) ? std::nullopt : kTypes[type].dtype;
}

std::string TypeName(int64_t type) {
  if (type >= kFirstReference) return TypeName(type - kFirstReference) + "_REF";
  return type < 0 || type >= std::ssize(kTypes) ? fmt::format("type {}", type) : kTypes[type].name;
}

std::optional<int64_t> TypeNamed(std::string_view name) {
  constexpr std::string_view kReference = "_REF";
  const bool is_reference = name.ends_with(kReference);
  if (is_reference) name.remove_suffix(kReference.size());
  for (int64_t i = 0; i < std::ssize(kTypes); ++i) {
    if (kTypes[i].name == name) return i + (is_reference ? kFirstReference : 0);
  }
  return std::nullopt;
}

// --- Attributes ---

std::string_view KindName(AttrValue::Kind kind) {
  constexpr std::string_view kNames[] = {"nothing", "list",        "string",  "int",
                                         "float",   "bool",        "type",    "shape",
                                         "tensor",  "placeholder", "function"};
  return kNames[static_cast<size_t>(kind)];
}

AttrValue ReadAttr(std::string_view message) {
  using Kind = AttrValue::Kind;
  AttrValue value;
  for (WireReader in(message); in.Next();) {
    if (in.field() < 1 || in.field() > 10) continue;
    value = {static_cast<Kind>(in.field()), in.signed_number(), in.float_number(), in.bytes()};
  }
  return value;
}

std::vector<AttrValue> ReadList(std::string_view message) {
  using Kind = AttrValue::Kind;
  std::vector<AttrValue> values;
  for (WireReader in(message); in.Next();) {
    std::vector<int64_t> numbers;
    std::vector<float> reals;
    switch (in.field()) {
      case 3:
      case 5:
      case 6:
        AppendNumbers(in, &numbers);
        break;
      case 4:
        AppendFloats(in, &reals);
        break;
      case 2:
      case 7:
      case 8:
        values.push_back({static_cast<Kind>(in.field()), 0, 0, in.bytes()});
        break;
      case 9:
        values.push_back({Kind::kFunction, 0, 0, in.bytes()});
        break;
      default:
        break;
    }
    for (const int64_t n : numbers) values.push_back({static_cast<Kind>(in.field()), n, 0, {}});
    for (const float f : reals) values.push_back({Kind::kFloat, 0, f, {}});
  }
  return values;
}

std::optional<std::vector<Dim>> ReadShape(std::string_view message) {
  std::vector<Dim> shape;
  for (WireReader in(message); in.Next();) {
    if (in.field() == 3 && in.boolean()) return std::nullopt;
    if (in.field() != 2) continue;
    int64_t size = 0;
    for (WireReader dim(in.bytes()); dim.Next();) {
      if (dim.field() == 1) size = dim.signed_number();
    }
    constexpr int64_t kMost = int64_t{1} << 46;
    shape.push_back(size < 0 || size > kMost ? Dim::Any() : Dim(size));
  }
  return shape;
}

FunctionRef ReadFunctionRef(std::string_view message) {
  FunctionRef ref;
  for (WireReader in(message); in.Next();) {
    if (in.field() == 1) ref.name = in.bytes();
    if (in.field() == 2) ref.attrs.push_back(MapEntry(in.bytes()));
  }
  return ref;
}

std::string_view NodeDef::Attr(std::string_view attr) const {
  for (size_t i = attrs.size(); i-- > 0;) {  // the last one counts
    if (attrs[i].first == attr) return attrs[i].second;
  }
  return {};
}

// --- Files ---

Result<std::unique_ptr<GraphFile>> GraphFile::Read(const std::string& path, SharedBytes bytes,
                                                   std::shared_ptr<InputFiles> files) {
  const auto failed = [&](const Status& s) { return s.WithContext(path); };
  auto file = std::unique_ptr<GraphFile>(new GraphFile);
  file->path_ = path;
  file->files_ = std::move(files);
  file->bytes_ = std::move(bytes);
  const auto text = [&] {
    return std::string_view(reinterpret_cast<const char*>(file->bytes_.data()),
                            file->bytes_.size());
  };
  bool is_saved_model = text().starts_with("\x08\x01\x12");  // its version, then a meta graph
  if (const auto kind = TextMessageOf(text())) {
    is_saved_model = *kind == TextMessage::kSavedModel;
    auto binary = BinaryOf(text(), *kind);
    if (!binary.ok()) return failed(binary.status());
    file->bytes_ = SharedBytes::Copy(std::as_bytes(std::span(*binary)));
  }
  // A binary may begin so too, with the length of its first node.
  const bool is_json = text().find_first_not_of(" \n\t\r") == text().find('{') &&
                       text().find("\"modelTopology\"") != std::string_view::npos;
  if (is_json) {
    auto model = ReadTfjs(path, text(), *file->files_);
    if (!model.ok()) return failed(model.status());
    is_saved_model = model->is_saved_model;
    file->bytes_ = SharedBytes::Copy(std::as_bytes(std::span(model->binary)));
  }
  const Status read = is_saved_model ? file->ReadSavedModel(text()) : file->ReadGraph(text());
  if (!read.ok()) {
    return failed(read.WithContext(is_saved_model ? "expected a SavedModel of TensorFlow"
                                                  : "expected a graph of TensorFlow"));
  }
  // Also of what nobody reads: a file that is damaged is told as such.
  for (const NodeDef& node : file->graph_.nodes) {
    const AttrValue value = ReadAttr(node.op == "Const" ? node.Attr("value") : "");
    const Status held =
        value.kind == AttrValue::Kind::kTensor ? CheckTensor(value.bytes) : OkStatus();
    if (!held.ok())
      return failed(held.WithContext(fmt::format("node '{}' (Const)", Printable(node.name))));
  }
  if (file->graph_.nodes.empty()) return failed(InvalidInput("the graph has no nodes"));
  return file;
}

Status GraphFile::ReadGraph(std::string_view message) {
  WireReader in(message);
  while (in.Next()) {
    if (in.field() == 1) {
      RELAYVM_RETURN_IF_ERROR(AddNode(in.bytes(), &graph_));
    } else if (in.field() == 2) {
      WireReader library(in.bytes());
      while (library.Next()) {
        if (library.field() == 1)
          library_.emplace(NameOfFunction(library.bytes()), library.bytes());
      }
      if (library.damaged()) return Damaged("the library of functions");
    }
  }
  return in.damaged() ? Damaged("the file") : OkStatus();
}

Status GraphFile::ReadSavedModel(std::string_view message) {
  is_saved_model_ = true;
  std::vector<std::string_view> graphs;
  std::string_view serving;  // the one with that tag
  WireReader in(message);
  while (in.Next()) {
    if (in.field() != 2) continue;
    graphs.push_back(in.bytes());
    for (WireReader meta(in.bytes()); meta.Next();) {
      if (meta.field() != 1) continue;
      for (WireReader info(meta.bytes()); info.Next();) {
        if (info.field() == 4 && info.bytes() == "serve" && serving.empty()) serving = in.bytes();
      }
    }
  }
  if (in.damaged()) return Damaged("the file");
  if (graphs.empty()) return InvalidInput("it has no meta graph");
  return ReadMetaGraph(serving.empty() ? graphs[0] : serving);
}

Status GraphFile::ReadMetaGraph(std::string_view message) {
  WireReader in(message);
  while (in.Next()) {
    switch (in.field()) {
      case 2:
        RELAYVM_RETURN_IF_ERROR(ReadGraph(in.bytes()));
        break;
      case 3:
        for (WireReader saver(in.bytes()); saver.Next();) {
          if (saver.field() == 1) file_name_tensor_ = saver.bytes();
          if (saver.field() == 3) restore_op_ = saver.bytes();
        }
        break;
      case 4: {
        const auto [name, collection] = MapEntry(in.bytes());
        for (WireReader list(collection); list.Next();) {
          if (list.field() != 1) continue;
          for (WireReader node(list.bytes()); node.Next();) {
            if (node.field() == 1) collections_[name].push_back(node.bytes());
          }
        }
        break;
      }
      case 5: {
        const auto [name, signature] = MapEntry(in.bytes());
        signatures_[name] = ReadSignatureDef(signature);
        break;
      }
      case 7:
        object_graph_ = in.bytes();
        break;
      case 6: {
        std::string_view tensor, name;
        for (WireReader asset(in.bytes()); asset.Next();) {
          if (asset.field() == 1) tensor = ReadTensorInfo(asset.bytes()).name;
          if (asset.field() == 2) name = asset.bytes();
        }
        assets_[tensor] = name;
        break;
      }
      default:
        break;
    }
  }
  return in.damaged() ? Damaged("the meta graph") : OkStatus();
}

Result<const FunctionDef*> GraphFile::FindFunction(std::string_view name) {
  if (const auto known = functions_.find(name); known != functions_.end())
    return static_cast<const FunctionDef*>(known->second.get());
  const auto found = library_.find(name);
  if (found == library_.end()) return static_cast<const FunctionDef*>(nullptr);
  auto function = std::make_unique<FunctionDef>();
  if (Status s = ReadFunction(found->second, function.get()); !s.ok())
    return s.WithContext(fmt::format("function '{}'", Printable(name)));
  return static_cast<const FunctionDef*>(
      functions_.emplace(name, std::move(function)).first->second.get());
}

const std::vector<std::string_view>& GraphFile::Collection(std::string_view name) const {
  static const std::vector<std::string_view> kNone;
  const auto found = collections_.find(name);
  return found == collections_.end() ? kNone : found->second;
}

}  // namespace relayvm::import::tensorflow

// TensorFlow's messages as views of a file's bytes: a graph, its functions, a SavedModel around it.
// Nothing is copied, and attributes and functions are read when somebody asks for them: a file may
// hold many that no output needs. Field numbers are those of TensorFlow's core/framework and
// core/protobuf. What the file says is not believed: each reader checks.
// Not thread-safe. Tested by graph_def_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/input_files.h"
#include "compiler/ir/ir.h"

namespace relayvm::import::tensorflow {

// --- Types ---

// DataType's numbers that are no elements of the IR.
inline constexpr int kComplex64 = 8, kComplex128 = 18, kResource = 20, kVariant = 21;
// The elements; of complex numbers those of their parts, of quantised ones the integers that they
// are stored as, of references those of what they refer to. Nullopt for others.
std::optional<DType> DTypeOf(int64_t type);
inline bool IsComplexType(int64_t type) { return type == kComplex64 || type == kComplex128; }
std::string TypeName(int64_t type);  // "DT_FLOAT"
std::optional<int64_t> TypeNamed(std::string_view name);

// --- Attributes ---

// AttrValue.
struct AttrValue {
  enum class Kind : uint8_t {
    kNone,
    kList,
    kString,
    kInt,
    kFloat,
    kBool,
    kType,
    kShape,
    kTensor,
    kPlaceholder,  // in a function: the caller's attribute of that name
    kFunction,
  };
  Kind kind = Kind::kNone;
  int64_t number = 0;
  double real = 0;
  std::string_view bytes;  // the text, or the message inside
};
std::string_view KindName(AttrValue::Kind kind);  // "int"
AttrValue ReadAttr(std::string_view message);
// The elements of a list's field (AttrValue.ListValue), as attributes.
std::vector<AttrValue> ReadList(std::string_view message);
// TensorShapeProto; Any where an extent is unknown, nullopt where the rank is. An extent beyond
// what a tensor may have is unknown too.
std::optional<std::vector<Dim>> ReadShape(std::string_view message);

using NodeAttrs = std::vector<std::pair<std::string_view, std::string_view>>;  // AttrValue's bytes
// The function that an attribute names, and what it is called with.
struct FunctionRef {
  std::string_view name;
  NodeAttrs attrs;
};
FunctionRef ReadFunctionRef(std::string_view message);

// --- Graphs ---

struct NodeDef {
  std::string_view name, op;
  std::vector<std::string_view> inputs;  // "x", "x:1", in functions "x:out:1"; last "^x"
  NodeAttrs attrs;

  // Empty where there is none: an AttrValue that holds something is not.
  std::string_view Attr(std::string_view attr) const;
};

struct Graph {
  std::vector<NodeDef> nodes;
  std::unordered_map<std::string_view, uint32_t> places;  // by name
};

struct ArgDef {
  std::string_view name;
  int64_t type = 0;  // 0: the attribute type_attr's
  std::string_view type_attr, number_attr, type_list_attr;
};

struct FunctionDef {
  std::string_view name;
  std::vector<ArgDef> inputs, outputs;
  Graph body;
  std::map<std::string_view, std::string_view> results;  // what gives an output: "x:out:0"
  std::vector<std::string_view> control_results;         // names of nodes
  NodeAttrs attrs;
  std::map<uint32_t, NodeAttrs> arg_attrs;  // by position
};

struct TensorInfo {
  std::string_view name;  // "x:0"
  int64_t type = 0;
  std::optional<std::vector<Dim>> shape;
  bool is_composite = false;  // a sparse or ragged tensor: several
};

struct SignatureDef {
  std::map<std::string_view, TensorInfo> inputs, outputs;
};

// --- Files ---

class GraphFile {
 public:
  // A GraphDef or a SavedModel, binary or text. Errors: neither, damaged.
  static Result<std::unique_ptr<GraphFile>> Read(
      const std::string& path, SharedBytes bytes,
      std::shared_ptr<InputFiles> files = std::make_shared<InputFiles>());

  const std::string& path() const { return path_; }
  // Where what lies beside it is read.
  const std::shared_ptr<InputFiles>& files() const { return files_; }
  size_t size() const { return bytes_.size(); }
  const Graph& graph() const { return graph_; }
  // Null where there is none; an error where it is damaged.
  Result<const FunctionDef*> FindFunction(std::string_view name);
  // A TensorProto's elements, checked against its shape; strings are packed
  // (bytecode/base/string_table.h), complex numbers refused.
  Result<HostTensor> TensorOf(std::string_view message) const;
  // Whether it holds what its shape takes: what TensorOf would say, without the elements.
  static Status CheckTensor(std::string_view message);
  // Of complex numbers: their real or imaginary parts.
  Result<HostTensor> PartOf(std::string_view message, bool imaginary) const;

  // --- Of a SavedModel ---
  bool is_saved_model() const { return is_saved_model_; }
  const std::map<std::string_view, SignatureDef>& signatures() const { return signatures_; }
  std::string_view restore_op() const { return restore_op_; }      // empty: no variables
  std::string_view object_graph() const { return object_graph_; }  // SavedObjectGraph
  std::string_view file_name_tensor() const { return file_name_tensor_; }
  // The tensors that name files in assets/, and those files.
  const std::map<std::string_view, std::string_view>& assets() const { return assets_; }
  // Of a collection that names nodes.
  const std::vector<std::string_view>& Collection(std::string_view name) const;

 private:
  GraphFile() = default;
  Status ReadSavedModel(std::string_view message);
  Status ReadMetaGraph(std::string_view message);
  Status ReadGraph(std::string_view message);
  Result<HostTensor> ElementsOf(std::string_view message, size_t parts, size_t part) const;

  std::string path_;
  SharedBytes bytes_;  // the file, or what its text says
  Graph graph_;
  std::unordered_map<std::string_view, std::string_view> library_;
  std::map<std::string_view, std::unique_ptr<FunctionDef>> functions_;
  bool is_saved_model_ = false;
  std::map<std::string_view, SignatureDef> signatures_;
  std::string_view restore_op_, file_name_tensor_, object_graph_;
  std::map<std::string_view, std::vector<std::string_view>> collections_;
  std::map<std::string_view, std::string_view> assets_;
  std::shared_ptr<InputFiles> files_;
};

}  // namespace relayvm::import::tensorflow

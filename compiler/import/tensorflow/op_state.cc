// Variables and tables: handles, what is read of them and what is written. What a program writes is
// its state (importer.cc); what stands before it is in the file.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/arithmetic.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/onnx/strings.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

using HandleKind = Resource::Kind;

// The handle of the graph's node, or in a function of what its attributes name; made once.
Value Named(NodeContext& n, Resource resource) {
  std::string name(n.name());
  if (n.importer().in_function()) name = n.String("shared_name", n.name());
  resource.name = name;
  auto [known, is_new] = n.importer().handles().try_emplace(name);
  if (is_new) known->second = n.importer().NewHandle(std::make_shared<Resource>(resource));
  return known->second;
}

Outputs VariableHandle(NodeContext& n) {
  return {Named(n, {.kind = HandleKind::kVariable,
                    .dtype = n.Type("dtype", DType::kFloat32),
                    .shape = n.Shape("shape")})};
}

// Of TensorFlow 1: who reads it gets its value, who writes it the handle.
Outputs ReferenceVariable(NodeContext& n) {
  return {Named(n, {.kind = HandleKind::kVariable,
                    .dtype = n.Type("dtype", DType::kFloat32),
                    .shape = n.Shape("shape"),
                    .is_reference = true})};
}

// The resource of an input; null with an error.
std::shared_ptr<Resource> InputResource(NodeContext& n, size_t i, HandleKind kind) {
  auto resource = n.importer().ResourceOf(n.Input(i));
  if (resource != nullptr && resource->kind == kind) return resource;
  n.Fail("input {}: expected a {}", i, kind == HandleKind::kTable ? "table" : "variable");
  return nullptr;
}

// What the variable holds; no value, with an error, where nothing is known of it.
Value Held(NodeContext& n, size_t i) {
  const auto variable = InputResource(n, i, HandleKind::kVariable);
  if (variable == nullptr) return {};
  const Value value = n.importer().Read(*variable);
  if (!value) {
    n.Fail(
        "variable '{}' has no value: a graph of its own has none; give a SavedModel's folder, or "
        "freeze the graph",
        Printable(variable->name));
  }
  return value;
}

Outputs ReadVariable(NodeContext& n) { return {Held(n, 0)}; }

Outputs GatherVariable(NodeContext& n) {
  const Value value = Held(n, 0);
  if (!value) return {};
  const Value axis = n.b().Int(n.Int("batch_dims", 0), DType::kInt32);
  return n.As("GatherV2", {value, n.Input(1), axis});
}
Outputs GatherNdVariable(NodeContext& n) {
  const Value value = Held(n, 0);
  return value ? n.As("GatherNd", {value, n.Input(1)}) : Outputs{};
}
Outputs ShapeOfVariable(NodeContext& n) {
  const Value value = Held(n, 0);
  return value ? Outputs{n.b().Cast(n.b().ShapeOf(value), n.Type("out_type", DType::kInt32))}
               : Outputs{};
}
Outputs IsInitialized(NodeContext& n) {
  const auto variable = InputResource(n, 0, HandleKind::kVariable);
  if (variable == nullptr) return {};
  return {n.b().Full({}, n.importer().Read(*variable) ? 1 : 0, DType::kBool)};
}
Outputs Nothing(NodeContext& /*n*/) { return {}; }

// --- Writing ---

// The variable's new value is what `make` gives of its old one; a reference gives its handle on.
template <typename Fn>
Outputs Change(NodeContext& n, bool needs_old, Fn make) {
  const auto variable = InputResource(n, 0, HandleKind::kVariable);
  if (variable == nullptr) return {};
  const Value old = needs_old ? Held(n, 0) : Value{};
  if (needs_old && !old) return {};
  const Value value = make(old);
  if (!n.b().status().ok()) return {};
  n.importer().Write(*variable, value);
  return {n.Input(0)};
}

Outputs Assign(NodeContext& n) {
  return Change(n, false, [&](const Value&) { return n.Input(1); });
}
Outputs AssignAdd(NodeContext& n) {
  return Change(n, true, [&](const Value& old) { return n.b().Op("add", {old, n.Input(1)}); });
}
Outputs AssignSub(NodeContext& n) {
  return Change(n, true, [&](const Value& old) { return n.b().Op("subtract", {old, n.Input(1)}); });
}

// Rows of a variable, by their numbers.
Outputs ScatterRows(NodeContext& n, const char* mode) {
  return Change(n, true, [&](const Value& old) -> Value {
    TypedBuilder& b = n.b();
    const Value indices = b.Reshape(b.Cast(n.Input(1), DType::kInt64), {1, -1});
    Value updates = n.Input(2);
    const int index_rank = n.Input(1).rank();
    if (updates.rank() == 0 || index_rank != 1) {
      std::vector<Value> dims = {b.DimOf(indices, 1)};
      for (int i = 1; i < old.rank(); ++i) dims.push_back(b.DimOf(old, i));
      const Value shape = b.Concat(dims, 0);
      updates = updates.rank() == 0 ? b.Op("dyn.broadcast_to", {updates, shape})
                                    : b.ReshapeTo(updates, shape);
    }
    return b.Op("scatter_nd", {old, indices, updates}, {{"mode", mode}});
  });
}
constexpr const char* kUpdate = "update";
constexpr const char* kAdd = "add";
constexpr const char* kMul = "mul";
constexpr const char* kMin = "min";
constexpr const char* kMax = "max";
Outputs ScatterUpdate(NodeContext& n) { return ScatterRows(n, kUpdate); }
Outputs ScatterAdd(NodeContext& n) { return ScatterRows(n, kAdd); }
Outputs ScatterMul(NodeContext& n) { return ScatterRows(n, kMul); }
Outputs ScatterMin(NodeContext& n) { return ScatterRows(n, kMin); }
Outputs ScatterMax(NodeContext& n) { return ScatterRows(n, kMax); }

Outputs ScatterNd(NodeContext& n, const char* mode, bool negate) {
  return Change(n, true, [&](const Value& old) -> Value {
    TypedBuilder& b = n.b();
    Value updates = n.Input(2);
    if (negate) updates = b.Op("negative", {updates});
    const Value indices = b.Cast(n.Input(1), DType::kInt64);
    return b.Op("scatter_nd", {old, indices, updates}, {{"mode", mode}, {"tuples_last", true}});
  });
}
Outputs ScatterNdUpdate(NodeContext& n) { return ScatterNd(n, kUpdate, false); }
Outputs ScatterNdAdd(NodeContext& n) { return ScatterNd(n, kAdd, false); }
Outputs ScatterNdSub(NodeContext& n) { return ScatterNd(n, kAdd, true); }

// As the operator on tensors, with what the variable holds first.
Outputs AssignSlice(NodeContext& n) {
  return Change(n, true, [&](const Value& old) -> Value {
    std::vector<Value> inputs = n.inputs();
    inputs[0] = old;
    const Outputs out = n.As("TensorStridedSliceUpdate", inputs);
    return out.empty() ? Value{} : out[0];
  });
}

// --- What the file holds ---

Outputs Restore(NodeContext& n) {
  const auto names = n.ConstantStrings(1), slices = n.ConstantStrings(2);
  if (!names || !slices || names->size() != slices->size())
    return n.Fail("expected the names of tensors and of their slices as constants");
  Outputs outputs(names->size());
  for (size_t i = 0; i < names->size(); ++i) {
    outputs[i] = n.importer().NewStored((*names)[i], (*slices)[i]);
  }
  return outputs;
}

// --- Tables ---

Outputs TableHandle(NodeContext& n) {
  return {Named(n, {.kind = HandleKind::kTable,
                    .dtype = n.Type("value_dtype", DType::kFloat32),
                    .key_dtype = n.Type("key_dtype", DType::kString)})};
}

Outputs FillTable(NodeContext& n) {
  const auto table = InputResource(n, 0, HandleKind::kTable);
  if (table == nullptr) return {};
  table->keys = n.Input(1);
  table->values = n.Input(2);
  if (table->keys.constant == nullptr || table->values.constant == nullptr)
    return n.Unsupported("a table whose entries are computed");
  return {};
}

// A column of a text file's lines; -2: the whole line, -1: its number.
Value ColumnOf(NodeContext& n, const std::vector<std::string_view>& lines, int64_t column,
               char delimiter, DType dtype) {
  TypedBuilder& b = n.b();
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::vector<float> reals;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view part = lines[i];
    for (int64_t k = 0; k < column; ++k) {
      const size_t at = part.find(delimiter);
      if (at == std::string_view::npos) {
        n.Fail("line {} of the file has no column {}", i, column);
        return {};
      }
      part.remove_prefix(at + 1);
    }
    if (column >= 0) part = part.substr(0, part.find(delimiter));
    if (column == -1) {
      numbers.push_back(static_cast<int64_t>(i));
    } else if (dtype == DType::kString) {
      texts.emplace_back(part);
    } else if (IsFloat(dtype)) {
      reals.push_back(std::strtof(std::string(part).c_str(), nullptr));
    } else {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(part.begin(), part.end(), value);
      if (error != std::errc() || end != part.end()) {
        n.Fail("line {} of the file: expected a number", i);
        return {};
      }
      numbers.push_back(value);
    }
  }
  if (!texts.empty() || (dtype == DType::kString && column != -1)) return Texts(b, texts);
  if (!reals.empty() || (IsFloat(dtype) && column != -1)) {
    HostTensor t{DType::kFloat32,
                 {static_cast<int64_t>(reals.size())},
                 SharedBytes::Copy(std::as_bytes(std::span(reals)))};
    return b.Constant(std::move(t));
  }
  return b.Ints(numbers, dtype);
}

Outputs FillTableFromFile(NodeContext& n) {
  const auto table = InputResource(n, 0, HandleKind::kTable);
  const auto names = n.ConstantStrings(1);
  if (table == nullptr) return {};
  if (!names || names->size() != 1) return n.Unsupported("a file whose name is computed");
  auto content = n.importer().Asset((*names)[0]);
  if (!content.ok()) return n.Fail(content.status().message());
  std::string_view rest(reinterpret_cast<const char*>(content->data()), content->size());
  int64_t skip = n.Int("offset", 0);
  const int64_t most = n.Int("vocab_size", -1);
  std::vector<std::string_view> lines;
  while (!rest.empty() && (most < 0 || std::ssize(lines) < most)) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (skip-- <= 0) lines.push_back(line);
  }
  const std::string delimiter = n.String("delimiter", "\t");
  const char by = delimiter.empty() ? '\t' : delimiter[0];
  table->keys = ColumnOf(n, lines, n.Int("key_index", -2), by, table->key_dtype);
  table->values = ColumnOf(n, lines, n.Int("value_index", -1), by, table->dtype);
  return {};
}

Outputs SizeOfTable(NodeContext& n) {
  const auto table = InputResource(n, 0, HandleKind::kTable);
  if (table == nullptr) return {};
  return {table->keys ? Extent(n.b(), table->keys, 0).value() : n.b().Int(0)};
}

Outputs FindInTable(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto table = InputResource(n, 0, HandleKind::kTable);
  if (table == nullptr) return {};
  const Term x(n, 1), fallback(n, 2);
  if (!table->keys || table->keys.constant == nullptr)
    return n.Fail("table '{}' has no entries in the file", Printable(table->name));
  const std::vector<int64_t> keys = KeysOf(*table->keys.constant);
  std::vector<Value> shape;
  for (int i = 0; i < x.rank(); ++i) shape.push_back(b.DimOf(x, i));
  for (int i = 1; i < table->values.rank(); ++i) shape.push_back(b.DimOf(table->values, i));
  const Value dims = shape.empty() ? b.Ints({}) : b.Concat(shape, 0);
  const auto everywhere = [&](const Value& v) {
    return shape.empty() ? b.Reshape(v, {}) : b.Op("dyn.broadcast_to", {v, dims});
  };
  if (keys.empty()) return {everywhere(fallback)};
  if (x.dtype() != table->keys.dtype() || (IsFloat(x.dtype())))
    return n.Unsupported("keys of {} in a table of {}", DTypeName(x.dtype()),
                         DTypeName(table->keys.dtype()));
  const Term ids = x.dtype() == DType::kString ? Ids(x) : x.As(DType::kInt64);
  const auto count = static_cast<double>(keys.size());
  const Term place = PlaceAmong(ids, keys);
  const Term found(
      b, b.Op("take", {table->values, Minimum(place, place.Number(count - 1))}, {{"axis", 0}}));
  Term is_there = place < place.Number(count);
  is_there = is_there.Expand(is_there.rank(), table->values.rank() - 1);
  return {b.Op("where", {is_there, found, fallback})};
}

Outputs ExportTable(NodeContext& n) {
  const auto table = InputResource(n, 0, HandleKind::kTable);
  if (table == nullptr || !table->keys) return n.Fail("the table has no entries in the file");
  return {table->keys, table->values};
}

Outputs ChangeTable(NodeContext& n) {
  return n.Unsupported("tables that a program changes are not supported");
}

constexpr OperatorDef kStateOperators[] = {
    {"Assign", 2, 2, Assign, {}, {}, true},
    {"AssignAdd", 2, 2, AssignAdd, {}, {}, true},
    {"AssignAddVariableOp", 2, 2, AssignAdd, {}, {}, true},
    {"AssignSub", 2, 2, AssignSub, {}, {}, true},
    {"AssignSubVariableOp", 2, 2, AssignSub, {}, {}, true},
    {"AssignVariableOp", 2, 2, Assign, {}, {}, true},
    {"DestroyResourceOp", 1, 1, Nothing},
    {"DisableCopyOnRead", 1, 1, Nothing},
    {"HashTable", 0, 0, TableHandle},
    {"HashTableV2", 0, 0, TableHandle},
    {"InitializeTable", 3, 3, FillTable, {}, {}, true},
    {"InitializeTableFromTextFile", 2, 2, FillTableFromFile, {}, {}, true},
    {"InitializeTableFromTextFileV2", 2, 2, FillTableFromFile, {}, {}, true},
    {"InitializeTableV2", 3, 3, FillTable, {}, {}, true},
    {"IsVariableInitialized", 1, 1, IsInitialized, {}, {}, true},
    {"LookupTableExportV2", 1, 1, ExportTable, "keys values", {}, true},
    {"LookupTableFind", 3, 3, FindInTable, {}, {}, true},
    {"LookupTableFindV2", 3, 3, FindInTable, {}, {}, true},
    {"LookupTableImport", 3, 3, FillTable, {}, {}, true},
    {"LookupTableImportV2", 3, 3, FillTable, {}, {}, true},
    {"LookupTableInsertV2", 3, 3, ChangeTable, {}, {}, true},
    {"LookupTableRemoveV2", 2, 2, ChangeTable, {}, {}, true},
    {"LookupTableSize", 1, 1, SizeOfTable, {}, {}, true},
    {"LookupTableSizeV2", 1, 1, SizeOfTable, {}, {}, true},
    {"MutableHashTable", 0, 0, TableHandle},
    {"MutableHashTableOfTensorsV2", 0, 0, TableHandle},
    {"MutableHashTableV2", 0, 0, TableHandle},
    {"ReadVariableOp", 1, 1, ReadVariable, {}, {}, true},
    {"ResourceGather", 2, 2, GatherVariable, {}, {}, true},
    {"ResourceGatherNd", 2, 2, GatherNdVariable, {}, {}, true},
    {"ResourceScatterAdd", 3, 3, ScatterAdd, {}, {}, true},
    {"ResourceScatterMax", 3, 3, ScatterMax, {}, {}, true},
    {"ResourceScatterMin", 3, 3, ScatterMin, {}, {}, true},
    {"ResourceScatterMul", 3, 3, ScatterMul, {}, {}, true},
    {"ResourceScatterNdAdd", 3, 3, ScatterNdAdd, {}, {}, true},
    {"ResourceScatterNdSub", 3, 3, ScatterNdSub, {}, {}, true},
    {"ResourceScatterNdUpdate", 3, 3, ScatterNdUpdate, {}, {}, true},
    {"ResourceScatterUpdate", 3, 3, ScatterUpdate, {}, {}, true},
    {"ResourceStridedSliceAssign", 5, 5, AssignSlice, {}, {}, true},
    {"RestoreV2", 3, 3, Restore},
    {"ScatterAdd", 3, 3, ScatterAdd, {}, {}, true},
    {"ScatterNdUpdate", 3, 3, ScatterNdUpdate, {}, {}, true},
    {"ScatterUpdate", 3, 3, ScatterUpdate, {}, {}, true},
    {"VarHandleOp", 0, 0, VariableHandle},
    {"VarIsInitializedOp", 1, 1, IsInitialized, {}, {}, true},
    {"Variable", 0, 0, ReferenceVariable},
    {"VariableShape", 1, 1, ShapeOfVariable, {}, {}, true},
    {"VariableV2", 0, 0, ReferenceVariable},
};

}  // namespace

std::span<const OperatorDef> StateOperators() { return kStateOperators; }

}  // namespace relayvm::import::tensorflow

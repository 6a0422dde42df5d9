#include "compiler/import/tflite/graph_importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bytecode/base/check_stop.h"
#include "bytecode/base/printable.h"
#include "compiler/import/checked.h"

namespace relayvm::import::tflite {

namespace {

// Subgraphs are written where they are called: a small file could stand for more than there is
// memory. It may grow to so many operators, and to so many for each that it has.
constexpr size_t kMostOperators = 50'000, kMostTimes = 16;
constexpr size_t kMostCalls = 64;  // subgraphs in subgraphs

template <typename T>
size_t SizeOf(const flatbuffers::Vector<T>* v) {
  return v == nullptr ? 0 : v->size();
}

const fb::Operator& OperatorAt(const Subgraph& graph, size_t i) {
  return *graph.table->operators()->Get(static_cast<uint32_t>(i));
}

}  // namespace

GraphImporter::GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                             std::stop_token stop)
    : file_(file), builder_(module), file_index_(file_index), stop_(std::move(stop)) {
  size_t operators = 0;
  for (const Subgraph& s : file.subgraphs()) operators += SizeOf(s.table->operators());
  most_operators_ = kMostOperators + kMostTimes * operators;
}

ir::Span GraphImporter::SpanOf(const Subgraph& graph, const fb::Operator& op,
                               const std::string& part) {
  const int first = SizeOf(op.outputs()) > 0 ? op.outputs()->Get(0) : -1;
  const std::string name = first < 0 ? "" : graph.tensors[static_cast<size_t>(first)].name;
  return builder_.module().sources->NodeSpan(file_index_, name, file_.NameOf(op), part);
}

// --- Operators that are not supported ---

Status GraphImporter::CheckOperators(int subgraph) const {
  std::map<std::string, std::vector<std::string>> missing;  // outputs by operator
  for (const int s : Reachable(subgraph, /*with_once=*/true)) {
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(s)];
    for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
      const fb::Operator& op = OperatorAt(graph, i);
      const Code code = file_.CodeOf(op);
      const std::string name = file_.NameOf(op);
      if (FindOperator(code, name) != nullptr) continue;
      const int first = SizeOf(op.outputs()) > 0 ? op.outputs()->Get(0) : -1;
      const std::string tensor = first < 0 ? "" : graph.tensors[static_cast<size_t>(first)].name;
      const char* kind = code != Code::CUSTOM       ? ""
                         : name.starts_with("Flex") ? " (TensorFlow's own, by the Flex delegate)"
                                                    : " (custom)";
      missing[Printable(name) + kind].push_back(fmt::format("'{}'", Printable(tensor)));
    }
  }
  if (missing.empty()) return OkStatus();
  std::string text;
  for (auto& [op, tensors] : missing) {
    constexpr size_t kShown = 3;
    const size_t all = tensors.size();
    tensors.resize(std::min(all, kShown));
    text += fmt::format("\n  {}: makes {}", op, fmt::join(tensors, ", "));
    if (all > kShown) text += fmt::format(" and {} more", all - kShown);
  }
  return {StatusCode::kUnsupported,
          fmt::format("{}: {} operator{} not supported:{}", file_.path(), missing.size(),
                      missing.size() == 1 ? " is" : "s are", text)};
}

// --- Subgraphs that operators call ---

std::vector<int> GraphImporter::CalledBy(const fb::Operator& op) const {
  switch (file_.CodeOf(op)) {
    case Code::CALL:
      if (const auto* o = op.builtin_options_as_CallOptions())
        return {static_cast<int>(std::min<uint32_t>(o->subgraph(), INT32_MAX))};
      return {};
    case Code::IF:
      if (const auto* o = op.builtin_options_as_IfOptions())
        return {o->then_subgraph_index(), o->else_subgraph_index()};
      return {};
    case Code::WHILE:
      if (const auto* o = op.builtin_options_as_WhileOptions())
        return {o->cond_subgraph_index(), o->body_subgraph_index()};
      return {};
    case Code::CALL_ONCE:
      if (const auto* o = op.builtin_options_as_CallOnceOptions())
        return {o->init_subgraph_index()};
      return {};
    case Code::STABLEHLO_COMPOSITE:
      if (const auto* o = op.builtin_options_2_as_StableHLOCompositeOptions())
        return {o->decomposition_subgraph_index()};
      return {};
    case Code::STABLEHLO_WHILE:
      if (const auto* o = op.builtin_options_2_as_StablehloWhileOptions())
        return {o->cond_subgraph_index(), o->body_subgraph_index()};
      return {};
    case Code::STABLEHLO_CASE:
      if (const auto* o = op.builtin_options_2_as_StablehloCaseOptions();
          o != nullptr && o->branch_subgraph_indices() != nullptr) {
        return {o->branch_subgraph_indices()->begin(), o->branch_subgraph_indices()->end()};
      }
      return {};
    default:
      return {};
  }
}

std::vector<int> GraphImporter::Reachable(int subgraph, bool with_once) const {
  std::vector<int> found = {subgraph};
  std::vector<bool> seen(file_.subgraphs().size(), false);
  seen[static_cast<size_t>(subgraph)] = true;
  for (size_t at = 0; at < found.size(); ++at) {
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(found[at])];
    for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
      const fb::Operator& op = OperatorAt(graph, i);
      if (!with_once && file_.CodeOf(op) == Code::CALL_ONCE) continue;
      for (const int called : CalledBy(op)) {
        if (called < 0 || static_cast<size_t>(called) >= seen.size() ||
            seen[static_cast<size_t>(called)]) {
          continue;
        }
        seen[static_cast<size_t>(called)] = true;
        found.push_back(called);
      }
    }
  }
  return found;
}

size_t GraphImporter::NumOperators(int subgraph) const {
  if (NumInputs(subgraph) < 0) return 0;
  size_t count = 0;
  for (const int s : Reachable(subgraph, false))
    count += SizeOf(file_.subgraphs()[static_cast<size_t>(s)].table->operators());
  return count;
}

int GraphImporter::NumInputs(int subgraph) const {
  if (subgraph < 0 || static_cast<size_t>(subgraph) >= file_.subgraphs().size()) return -1;
  return static_cast<int>(file_.subgraphs()[static_cast<size_t>(subgraph)].inputs.size());
}

// --- What is kept between runs ---

void GraphImporter::AddVariable(std::string name, ir::Type type) {
  const auto [at, inserted] = variable_index_.try_emplace(name, variables_.size());
  if (inserted) {
    variables_.push_back({std::move(name), std::move(type), {}, false, {}});
  } else if (Variable& v = variables_[at->second]; v.type == nullptr) {
    v.type = std::move(type);
  }
}

std::string GraphImporter::NameOfVariable(int subgraph, int tensor) const {
  const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(subgraph)];
  const std::string& name = graph.tensors[static_cast<size_t>(tensor)].name;
  const auto same = std::ranges::count_if(
      graph.tensors, [&](const Tensor& t) { return t.is_variable && t.name == name; });
  if (subgraph == 0 && !name.empty() && same == 1) return name;
  return fmt::format("{}@{}.{}", name, subgraph, tensor);
}

std::string GraphImporter::HandleOf(int tensor) const {
  const auto found = scopes_.back().handles.find(tensor);
  return found == scopes_.back().handles.end() ? "" : found->second;
}

Variable* GraphImporter::FindVariable(const std::string& name) {
  const auto found = variable_index_.find(name);
  return found == variable_index_.end() ? nullptr : &variables_[found->second];
}

Variable* GraphImporter::VariableOf(int tensor) {
  const int subgraph = scopes_.back().subgraph;
  if (tensor < 0 || !file_.subgraphs()[static_cast<size_t>(subgraph)]
                         .tensors[static_cast<size_t>(tensor)]
                         .is_variable) {
    return nullptr;
  }
  return FindVariable(NameOfVariable(subgraph, tensor));
}

namespace {

ir::Type DeclaredType(const Tensor& t) {
  if (!t.dtype) return nullptr;
  std::vector<Dim> dims;
  for (const int64_t d : t.shape) dims.push_back(d < 0 ? Dim::Any() : Dim(d));
  if (t.is_complex()) dims.emplace_back(2);
  return ir::MakeTensorType(std::move(dims), *t.dtype);
}

std::string HandleName(const fb::Operator& op) {
  const auto* options = op.builtin_options_as_VarHandleOptions();
  if (options == nullptr || options->shared_name() == nullptr) return "";
  const std::string name = options->shared_name()->str();
  const std::string container = options->container() == nullptr ? "" : options->container()->str();
  return container.empty() ? name : container + "/" + name;
}

}  // namespace

// The variables that operators of one subgraph name. Handles that a subgraph is given are those of
// another, whose operators say the same types.
void GraphImporter::NoteVariables(int subgraph, bool is_once) {
  const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(subgraph)];
  std::map<int, std::string> handles;
  for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
    const fb::Operator& op = OperatorAt(graph, i);
    const Code code = file_.CodeOf(op);
    for (size_t k = 0; k < SizeOf(op.inputs()); ++k) {
      const int tensor = op.inputs()->Get(static_cast<uint32_t>(k));
      if (tensor < 0) continue;
      const Tensor& t = graph.tensors[static_cast<size_t>(tensor)];
      if (!t.is_variable) continue;
      AddVariable(NameOfVariable(subgraph, tensor), DeclaredType(t));
      Variable* v = FindVariable(NameOfVariable(subgraph, tensor));
      v->is_assigned |= !is_once;
      // Codes of 8 bits are 0 in real numbers at first.
      const bool is_sized = std::ranges::all_of(t.shape, [](int64_t d) { return d >= 0; });
      if (t.dtype == DType::kInt8 && t.quantisation.zero() != 0 && is_sized && !v->first)
        v->first = builder_.Full(t.shape, static_cast<double>(t.quantisation.zero()), *t.dtype);
    }
    const int in = SizeOf(op.inputs()) > 0 ? op.inputs()->Get(0) : -1;
    const int out = SizeOf(op.outputs()) > 0 ? op.outputs()->Get(0) : -1;
    if (code == Code::VAR_HANDLE && out >= 0) {
      handles[out] = HandleName(op);
      AddVariable(HandleName(op), nullptr);
    }
    const bool assigns = code == Code::ASSIGN_VARIABLE;
    if ((code != Code::READ_VARIABLE && !assigns) || !handles.contains(in)) continue;
    const int tensor = !assigns ? out : SizeOf(op.inputs()) > 1 ? op.inputs()->Get(1) : -1;
    if (tensor < 0) continue;
    AddVariable(handles[in], DeclaredType(graph.tensors[static_cast<size_t>(tensor)]));
    if (assigns && !is_once) FindVariable(handles[in])->is_assigned = true;
  }
}

Status GraphImporter::FindVariables(int subgraph) {
  const std::vector<int> runs = Reachable(subgraph, false);
  std::set<int> once;
  for (const int s : runs) {
    NoteVariables(s, false);
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(s)];
    for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
      const fb::Operator& op = OperatorAt(graph, i);
      if (file_.CodeOf(op) != Code::CALL_ONCE) continue;
      for (const int called : CalledBy(op)) {
        if (NumInputs(called) != 0) {
          return {StatusCode::kInvalidInput,
                  fmt::format("{}: CALL_ONCE of subgraph {}, which {}", file_.path(), called,
                              NumInputs(called) < 0 ? "there is not" : "has inputs")};
        }
        once.insert(called);
      }
    }
  }
  // Another entry may assign what this one reads.
  std::set<int> init;
  for (size_t s = 0; s < file_.subgraphs().size(); ++s) {
    const Subgraph& graph = file_.subgraphs()[s];
    for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
      const fb::Operator& op = OperatorAt(graph, i);
      if (file_.CodeOf(op) != Code::CALL_ONCE) continue;
      for (const int called : CalledBy(op)) init.insert(called);
    }
  }
  const size_t known = variables_.size();
  for (size_t s = 0; s < file_.subgraphs().size(); ++s) {
    const auto at = static_cast<int>(s);
    if (std::ranges::find(runs, at) == runs.end()) NoteVariables(at, init.contains(at));
  }
  for (size_t i = known; i < variables_.size(); ++i) variable_index_.erase(variables_[i].name);
  variables_.resize(known);
  runs_once_ = true;
  for (const int s : once) {
    Import(s, {});
    RELAYVM_RETURN_IF_ERROR(builder_.status());
  }
  runs_once_ = false;
  return OkStatus();
}

std::set<size_t> GraphImporter::VariablesOf(int subgraph) const {
  std::set<size_t> found;
  if (NumInputs(subgraph) < 0) return found;
  const auto note = [&](const std::string& name) {
    const auto at = variable_index_.find(name);
    if (at != variable_index_.end()) found.insert(at->second);
  };
  for (const int s : Reachable(subgraph, false)) {
    const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(s)];
    bool takes_handles = false;
    for (const int i : graph.inputs)
      takes_handles |= graph.tensors[static_cast<size_t>(i)].type == fb::TensorType::RESOURCE;
    for (size_t i = 0; takes_handles && i < variables_.size(); ++i) found.insert(i);
    for (size_t i = 0; i < SizeOf(graph.table->operators()); ++i) {
      const fb::Operator& op = OperatorAt(graph, i);
      if (file_.CodeOf(op) == Code::VAR_HANDLE) note(HandleName(op));
      for (size_t k = 0; k < SizeOf(op.inputs()); ++k) {
        const int tensor = op.inputs()->Get(static_cast<uint32_t>(k));
        if (tensor >= 0 && graph.tensors[static_cast<size_t>(tensor)].is_variable)
          note(NameOfVariable(s, tensor));
      }
    }
  }
  return found;
}

// --- Subgraphs ---

Value GraphImporter::ConstantOf(int subgraph, int tensor) {
  const auto [at, inserted] = constants_.try_emplace({subgraph, tensor});
  if (!inserted) return at->second;
  const Tensor& t =
      file_.subgraphs()[static_cast<size_t>(subgraph)].tensors[static_cast<size_t>(tensor)];
  auto elements = file_.ElementsOf(t, *builder_.module().strings);
  if (!elements.ok()) {
    builder_.Fail(elements.status().code(), elements.status().message());
    return {};
  }
  return at->second = builder_.Constant(*std::move(elements), t.name);
}

std::optional<Value> GraphImporter::Find(int tensor) {
  const Scope& scope = scopes_.back();
  const auto& value = scope.values[static_cast<size_t>(tensor)];
  if (value) return value;
  const Tensor& t =
      file_.subgraphs()[static_cast<size_t>(scope.subgraph)].tensors[static_cast<size_t>(tensor)];
  if (t.is_constant) return ConstantOf(scope.subgraph, tensor);
  if (const Variable* variable = VariableOf(tensor)) return variable->current;
  // A constant without elements has no data.
  if (t.dtype && t.table->buffer() != 0 &&
      std::ranges::find(t.shape, int64_t{0}) != t.shape.end()) {
    return builder_.Full(t.shape, 0, *t.dtype);
  }
  return std::nullopt;
}

std::optional<Value> GraphImporter::ConstantAt(int tensor) {
  const auto& tensors = file_.subgraphs()[static_cast<size_t>(scopes_.back().subgraph)].tensors;
  if (tensor < 0 || static_cast<size_t>(tensor) >= tensors.size() ||
      !tensors[static_cast<size_t>(tensor)].is_constant) {
    return std::nullopt;
  }
  return ConstantOf(scopes_.back().subgraph, tensor);
}

std::vector<Value> GraphImporter::Import(int subgraph, const std::vector<Value>& inputs) {
  if (NumInputs(subgraph) < 0) {
    return builder_.Fail("subgraph {}: the model has {}", subgraph, file_.subgraphs().size());
  }
  return Import(subgraph, inputs, file_.subgraphs()[static_cast<size_t>(subgraph)].outputs);
}

std::vector<Value> GraphImporter::Import(int subgraph, const std::vector<Value>& inputs,
                                         const std::vector<int>& outputs,
                                         std::map<int, std::string> handles) {
  const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(subgraph)];
  if (inputs.size() != graph.inputs.size()) {
    return builder_.Fail("subgraph {} has {} inputs, found {}", subgraph, graph.inputs.size(),
                         inputs.size());
  }
  const auto is_it = [&](const Scope& s) { return s.subgraph == subgraph; };
  if (std::ranges::any_of(scopes_, is_it) || scopes_.size() >= kMostCalls)
    return builder_.Fail("subgraph {} calls itself", subgraph);
  scopes_.push_back(
      {subgraph, std::vector<std::optional<Value>>(graph.tensors.size()), std::move(handles)});
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) scopes_.back().values[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  for (size_t i = 0; i < SizeOf(graph.table->operators()) && builder_.status().ok(); ++i)
    ImportOperator(OperatorAt(graph, i));
  std::vector<Value> results;
  for (const int output : outputs) {
    if (!builder_.status().ok()) break;
    const auto value = Find(output);
    const bool is_handle =
        graph.tensors[static_cast<size_t>(output)].type == fb::TensorType::RESOURCE;
    if (!value && !is_handle) {
      builder_.Fail("output '{}' of subgraph {}: nothing makes it",
                    Printable(graph.tensors[static_cast<size_t>(output)].name), subgraph);
    }
    results.push_back(value.value_or(Value{}));
  }
  scopes_.pop_back();
  return builder_.status().ok() ? results : std::vector<Value>();
}

// Scales along an axis, or of blocks, count where an operator reads them; those that only move
// elements leave it to what the file says of their outputs.
void GraphImporter::CheckScales(Code code, int input, const Tensor& t) {
  static const std::set<Code>* const kTakeChannels = new std::set<Code>{Code::CONV_2D,
                                                                        Code::DEPTHWISE_CONV_2D,
                                                                        Code::TRANSPOSE_CONV,
                                                                        Code::FULLY_CONNECTED,
                                                                        Code::BATCH_MATMUL,
                                                                        Code::EMBEDDING_LOOKUP,
                                                                        Code::QUANTIZE,
                                                                        Code::DEQUANTIZE,
                                                                        Code::DENSIFY,
                                                                        Code::RESHAPE,
                                                                        Code::SQUEEZE,
                                                                        Code::EXPAND_DIMS,
                                                                        Code::TRANSPOSE,
                                                                        Code::SLICE,
                                                                        Code::STRIDED_SLICE,
                                                                        Code::SPLIT,
                                                                        Code::SPLIT_V,
                                                                        Code::PACK,
                                                                        Code::UNPACK,
                                                                        Code::CONCATENATION,
                                                                        Code::GATHER,
                                                                        Code::GATHER_ND,
                                                                        Code::TILE,
                                                                        Code::BROADCAST_TO,
                                                                        Code::REVERSE_V2,
                                                                        Code::SHAPE,
                                                                        Code::RANK,
                                                                        Code::IF,
                                                                        Code::WHILE,
                                                                        Code::CALL,
                                                                        Code::STABLEHLO_CASE,
                                                                        Code::STABLEHLO_WHILE,
                                                                        Code::STABLEHLO_COMPOSITE,
                                                                        Code::ASSIGN_VARIABLE,
                                                                        Code::CAST,
                                                                        Code::CONV_3D};
  const std::string what = fmt::format("input '{}': ", Printable(t.name));
  if (t.is_of_blocks && (code != Code::FULLY_CONNECTED || input != 1)) {
    builder_.Fail(StatusCode::kUnsupported, "{}scales of blocks", what);
  } else if (t.quantisation.is_per_channel() && !kTakeChannels->contains(code)) {
    builder_.Fail(StatusCode::kUnsupported, "{}{} scales along dimension {}, expected one", what,
                  t.quantisation.scales.size(), t.quantisation.axis);
  }
}

void GraphImporter::ImportOperator(const fb::Operator& op) {
  const Subgraph& graph = file_.subgraphs()[static_cast<size_t>(scopes_.back().subgraph)];
  const ir::Span around = builder_.span();
  builder_.SetSpan(SpanOf(graph, op));
  if (const Status stopped = CheckStop(stop_); !stopped.ok()) {
    builder_.Fail(stopped.code(), stopped.message());
    return;
  }
  if (++imported_ > most_operators_) {
    builder_.Fail(
        StatusCode::kUnsupported,
        "the model's subgraphs, written where they are called, have more than {} operators",
        most_operators_);
    return;
  }
  const OperatorDef* def = FindOperator(file_.CodeOf(op), file_.NameOf(op));
  if (def == nullptr) {
    builder_.Fail(StatusCode::kUnsupported, "the operator is not supported");
    return;
  }
  const auto given = static_cast<int>(SizeOf(op.inputs()));
  const Options options = op.builtin_options_type();
  const Options2 options2 = op.builtin_options_2_type();
  if ((def->options != Options::NONE && options != Options::NONE && options != def->options) ||
      (def->options2 != Options2::NONE && options2 != def->options2)) {
    builder_.Fail("its options are not this operator's: {}",
                  options != def->options ? fb::EnumNameBuiltinOptions(options)
                                          : fb::EnumNameBuiltinOptions2(options2));
    return;
  }
  if (given < def->min_inputs || (def->max_inputs >= 0 && given > def->max_inputs)) {
    builder_.Fail("found {} inputs, expected {} to {}", given, def->min_inputs, def->max_inputs);
    return;
  }
  std::vector<Value> inputs;
  for (int i = 0; i < given; ++i) {
    const int tensor = op.inputs()->Get(static_cast<uint32_t>(i));
    if (tensor < 0) {
      if (i < def->min_inputs) builder_.Fail("input {} is left out", i);
      inputs.emplace_back();
      continue;
    }
    const Tensor& t = graph.tensors[static_cast<size_t>(tensor)];
    CheckScales(file_.CodeOf(op), i, t);
    const auto value = Find(tensor);
    const bool is_handle = t.type == fb::TensorType::RESOURCE || t.type == fb::TensorType::VARIANT;
    if (!value && !is_handle && builder_.status().ok()) {
      builder_.Fail("input '{}': no operator before it makes it", Printable(t.name));
    }
    inputs.push_back(value.value_or(Value{}));
  }
  if (!builder_.status().ok()) return;
  NodeContext context(*this, graph, op, std::move(inputs));
  const std::vector<Value> outputs = def->convert(context);
  if (!builder_.status().ok()) return;
  for (size_t i = 0; i < SizeOf(op.outputs()); ++i) {
    const int tensor = op.outputs()->Get(static_cast<uint32_t>(i));
    if (tensor < 0) continue;
    if (i >= outputs.size()) {
      const bool is_handle =
          graph.tensors[static_cast<size_t>(tensor)].type == fb::TensorType::RESOURCE;
      if (!is_handle)
        builder_.Fail("found {} outputs, expected {}", SizeOf(op.outputs()), outputs.size());
      break;
    }
    scopes_.back().values[static_cast<size_t>(tensor)] = outputs[i];
  }
  builder_.SetSpan(around);
}

}  // namespace relayvm::import::tflite

#include "kernels/op/custom_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

constexpr size_t kMostRank = 255;  // of a tensor, as the runtime has it

// --- One call of a type function ---

// The context's functions come back here. The first error stays; dims after it are 0.
struct TypeCall : RelayvmTypeContext {
  TypeContext& tc;
  const RelayvmOperator& op;
  mutable std::deque<Dim> dims;
  mutable Status status;
  mutable std::vector<std::optional<TensorType>> results;

  TypeCall(TypeContext& context, const RelayvmOperator& op_)
      : RelayvmTypeContext{}, tc(context), op(op_), results(op_.num_outputs) {
    struct_size = sizeof(RelayvmTypeContext);
    num_inputs = op.num_inputs;
    Fill();
  }

  static const TypeCall& Of(const RelayvmTypeContext* c) {
    return *static_cast<const TypeCall*>(c);
  }

  void Fail(Status s) const {
    if (status.ok()) status = std::move(s);
  }
  void Fail(std::string message) const { Fail({StatusCode::kInvalidInput, std::move(message)}); }
  RelayvmDim Give(Dim d) const {
    dims.push_back(std::move(d));
    return static_cast<RelayvmDim>(dims.size() - 1);
  }
  Dim Get(RelayvmDim d) const {
    if (d >= 0 && static_cast<size_t>(d) < dims.size()) return dims[static_cast<size_t>(d)];
    Fail(fmt::format("dim {} is none that it was given", d));
    return Dim(0);
  }
  const TensorType* Input(uint32_t i) const {
    if (i < op.num_inputs) return &tc.tensor(i);
    Fail(fmt::format("input {} of {}", i, op.num_inputs));
    return nullptr;
  }
  // The attribute, when it is of one of these kinds.
  const RelayvmAttribute* Attribute(uint32_t i, std::initializer_list<int> kinds) const {
    if (i >= op.num_attributes) {
      Fail(fmt::format("attribute {} of {}", i, op.num_attributes));
      return nullptr;
    }
    const RelayvmAttribute& a = op.attributes[i];
    if (std::find(kinds.begin(), kinds.end(), a.kind) != kinds.end()) return &a;
    Fail(fmt::format("attribute {} is of another kind than it is read as", a.name));
    return nullptr;
  }

  using C = const RelayvmTypeContext*;
  template <typename Fn>
  static RelayvmDim Combine(C c, RelayvmDim a, RelayvmDim b, const Fn& fn) {
    const Dim x = Of(c).Get(a), y = Of(c).Get(b);
    return Of(c).Give(Of(c).status.ok() ? fn(x, y) : Dim(0));
  }

  void Fill() {
    dtype = [](C c, uint32_t i) {
      const TensorType* t = Of(c).Input(i);
      return t == nullptr ? 0 : static_cast<int32_t>(t->dtype);
    };
    rank = [](C c, uint32_t i) {
      const TensorType* t = Of(c).Input(i);
      return t == nullptr ? 0 : static_cast<uint32_t>(t->shape.size());
    };
    dim = [](C c, uint32_t i, uint32_t axis) {
      const TensorType* t = Of(c).Input(i);
      if (t != nullptr && axis < t->shape.size()) return Of(c).Give(t->shape[axis]);
      if (t != nullptr)
        Of(c).Fail(fmt::format("axis {} of input {}, which has {}", axis, i, t->rank()));
      return Of(c).Give(Dim(0));
    };
    number = [](C c, int64_t value) { return Of(c).Give(Dim(value)); };
    is_known = [](C c, RelayvmDim d, int64_t* value) -> int32_t {
      const Dim known = Of(c).Get(d);
      if (!known.is_const()) return 0;
      *value = known.value();
      return 1;
    };
    add = [](C c, RelayvmDim a, RelayvmDim b) {
      return Combine(c, a, b, [](const Dim& x, const Dim& y) { return x + y; });
    };
    sub = [](C c, RelayvmDim a, RelayvmDim b) {
      return Combine(c, a, b, [](const Dim& x, const Dim& y) { return x - y; });
    };
    mul = [](C c, RelayvmDim a, RelayvmDim b) {
      return Combine(c, a, b, [](const Dim& x, const Dim& y) { return x * y; });
    };
    floordiv = [](C c, RelayvmDim a, RelayvmDim b) {
      return Combine(c, a, b, [c](const Dim& x, const Dim& y) {
        if (!y.is_const(0)) return Dim::FloorDiv(x, y);
        Of(c).Fail("a dim is divided by 0");
        return Dim(0);
      });
    };
    min = [](C c, RelayvmDim a, RelayvmDim b) { return Combine(c, a, b, Dim::Min); };
    max = [](C c, RelayvmDim a, RelayvmDim b) { return Combine(c, a, b, Dim::Max); };
    broadcast = [](C c, RelayvmDim a, RelayvmDim b) {
      return Combine(c, a, b, [c](const Dim& x, const Dim& y) {
        Result<Dim> both = Of(c).tc.Broadcast(x, y, "shapes");
        if (both.ok()) return *both;
        Of(c).Fail(both.status());
        return Dim(0);
      });
    };
    require_equal = [](C c, RelayvmDim a, RelayvmDim b, const char* what) {
      Of(c).Require(a, b, what, &TypeContext::RequireEqual);
    };
    require_at_least = [](C c, RelayvmDim a, RelayvmDim b, const char* what) {
      Of(c).Require(a, b, what, &TypeContext::RequireAtLeast);
    };
    attr_int = [](C c, uint32_t i) -> int64_t {
      const auto* a = Of(c).Attribute(i, {RELAYVM_ATTRIBUTE_INT, RELAYVM_ATTRIBUTE_BOOL});
      if (a == nullptr) return 0;
      return a->kind == RELAYVM_ATTRIBUTE_INT ? Of(c).tc.attrs().Int(a->name)
                                              : Of(c).tc.attrs().Bool(a->name);
    };
    attr_float = [](C c, uint32_t i) {
      const auto* a = Of(c).Attribute(i, {RELAYVM_ATTRIBUTE_FLOAT});
      return a == nullptr ? 0.0 : Of(c).tc.attrs().Float(a->name);
    };
    attr_count = [](C c, uint32_t i) {
      const auto* a = Of(c).Attribute(i, {RELAYVM_ATTRIBUTE_INTS});
      return a == nullptr ? 0 : static_cast<uint32_t>(Of(c).tc.attrs().Ints(a->name).size());
    };
    attr_element = [](C c, uint32_t i, uint32_t index) -> int64_t {
      const auto* a = Of(c).Attribute(i, {RELAYVM_ATTRIBUTE_INTS});
      if (a == nullptr) return 0;
      const std::vector<int64_t> values = Of(c).tc.attrs().Ints(a->name);
      if (index < values.size()) return values[index];
      Of(c).Fail(
          fmt::format("element {} of attribute {}, which has {}", index, a->name, values.size()));
      return 0;
    };
    result = [](C c, uint32_t output, int32_t type, uint32_t count, const RelayvmDim* given) {
      Of(c).SetResult(output, type, count, given);
    };
    fail = [](C c, const char* message) { Of(c).Fail(message == nullptr ? "it fails" : message); };
  }

  void Require(RelayvmDim a, RelayvmDim b, const char* what,
               Status (TypeContext::*require)(const Dim&, const Dim&, std::string_view)) const {
    const Dim x = Get(a), y = Get(b);
    if (status.ok()) Fail((tc.*require)(x, y, what == nullptr ? "dims" : what));
  }

  void SetResult(uint32_t output, int32_t type, uint32_t count, const RelayvmDim* given) const {
    if (output >= results.size())
      return Fail(fmt::format("result {} of {}", output, results.size()));
    if (type < 0 || type >= kNumDTypes)
      return Fail(fmt::format("result {} has unknown dtype {}", output, type));
    if (count > kMostRank || (count > 0 && given == nullptr)) {
      return Fail(fmt::format("result {} has rank {}, the limit is {}", output, count, kMostRank));
    }
    TensorType made{{}, static_cast<DType>(type)};
    for (uint32_t i = 0; i < count; ++i) {
      const Dim d = Get(given[i]);
      if (!status.ok()) return;
      if (d.is_const() && d.value() < 0)
        return Fail(fmt::format("dim {} of result {} is {}", i, output, d.value()));
      if (!d.is_const()) {
        Fail(tc.RequireAtLeast(d, Dim(0), fmt::format("dim {} of result {}", i, output)));
        if (!status.ok()) return;
      }
      made.shape.push_back(d);
    }
    results[output] = std::move(made);
  }
};

Result<OpResult> Infer(TypeContext& tc, const RelayvmOperator& op) {
  TypeCall call(tc, op);
  try {
    op.infer(&call);
  } catch (const std::exception& e) {
    call.Fail(fmt::format("its type function threw: {}", e.what()));
  } catch (...) {
    call.Fail("its type function threw");
  }
  RELAYVM_RETURN_IF_ERROR(call.status);
  std::vector<TensorType> results;
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (!call.results[i]) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("its type function gives no result {}", i));
    }
    results.push_back(*std::move(call.results[i]));
  }
  if (op.num_outputs == 1) return OpResult(std::move(results[0]));
  return OpResult::Tuple(std::move(results));
}

// --- Definitions ---

AttrField Field(const RelayvmAttribute& a) {
  constexpr AttrKind kKinds[] = {AttrKind::kInt, AttrKind::kFloat, AttrKind::kBool,
                                 AttrKind::kInts};
  const AttrKind kind = kKinds[a.kind];
  if (a.is_required != 0) return Required(a.name, kind);
  switch (a.kind) {
    case RELAYVM_ATTRIBUTE_INT:
      return Optional(a.name, kind, AttrValue(a.default_int));
    case RELAYVM_ATTRIBUTE_FLOAT:
      return Optional(a.name, kind, AttrValue(a.default_float));
    case RELAYVM_ATTRIBUTE_BOOL:
      return Optional(a.name, kind, AttrValue(a.default_int != 0));
    default:
      return Optional(a.name, kind, AttrValue(AttrList()));
  }
}

std::vector<Dim> Params(const RelayvmOperator& op, const Attrs& attrs) {
  std::vector<Dim> params;
  for (uint32_t i = 0; i < op.num_attributes; ++i) {
    const RelayvmAttribute& a = op.attributes[i];
    switch (a.kind) {
      case RELAYVM_ATTRIBUTE_INT:
        params.emplace_back(attrs.Int(a.name));
        break;
      case RELAYVM_ATTRIBUTE_FLOAT:
        params.emplace_back(std::bit_cast<int64_t>(attrs.Float(a.name)));
        break;
      case RELAYVM_ATTRIBUTE_BOOL:
        params.emplace_back(int64_t{attrs.Bool(a.name)});
        break;
      default: {
        const std::vector<int64_t> values = attrs.Ints(a.name);
        params.emplace_back(static_cast<int64_t>(values.size()));
        params.insert(params.end(), values.begin(), values.end());
      }
    }
  }
  return params;
}

// What a library defines. Never freed: modules refer to it, and the library stays loaded.
struct Library {
  std::vector<std::unique_ptr<const OpDef>> defs;
  std::vector<Builtin> kernels;
  std::map<std::pair<std::string, std::string>, const OpDef*> onnx;
};

std::unique_ptr<const Library> Define(const OperatorLibrary& operators) {
  auto library = std::make_unique<Library>();
  library->kernels = operators.kernels();
  for (const RelayvmOperator& op : operators.operators()) {
    auto def = std::make_unique<OpDef>();
    def->name = op.name;
    def->num_args = static_cast<int>(op.num_inputs);
    for (uint32_t i = 0; i < op.num_attributes; ++i) def->attrs.push_back(Field(op.attributes[i]));
    def->infer = [&op](TypeContext& tc) { return Infer(tc, op); };
    def->builtin = [&op](const ComputeContext& c) -> BuiltinCall {
      return {op.name, Params(op, c.attrs)};
    };
    const auto kernel = std::ranges::find(library->kernels, def->name, &Builtin::name);
    if (kernel != library->kernels.end()) def->custom_kernel = &*kernel;
    if (op.onnx_name != nullptr)
      library->onnx.emplace(std::pair(op.onnx_domain, op.onnx_name), def.get());
    library->defs.push_back(std::move(def));
  }
  return library;
}

// One for each library, whoever loads it. From any thread.
const Library& DefinitionsOf(const OperatorLibrary& operators) {
  static std::mutex mutex;
  static std::map<const RelayvmOperator*, std::unique_ptr<const Library>> libraries;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const Library>& library = libraries[operators.operators().data()];
  if (library == nullptr) library = Define(operators);
  return *library;
}

}  // namespace

Status CustomOperators::Add(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(const OperatorLibrary operators, LoadOperatorLibrary(path));
  const Library& library = DefinitionsOf(operators);
  const auto is_known = [&](const auto& def) { return Find(def->name) == def.get(); };
  if (!library.defs.empty() && std::ranges::all_of(library.defs, is_known)) return OkStatus();
  for (const auto& def : library.defs) {
    if (Find(def->name) != nullptr || OpTable::Get().Find(def->name) != nullptr) {
      return {StatusCode::kInvalidInput,
              fmt::format("{}: there is an operator {} already", path, def->name)};
    }
  }
  for (const auto& [name, def] : library.onnx) {
    if (onnx_.contains(name)) {
      return {StatusCode::kInvalidInput,
              fmt::format("{}: there is an operator for {} of ONNX domain '{}' already", path,
                          name.second, name.first)};
    }
  }
  for (const auto& def : library.defs) defs_.emplace(def->name, def.get());
  onnx_.insert(library.onnx.begin(), library.onnx.end());
  kernels_.insert(kernels_.end(), library.kernels.begin(), library.kernels.end());
  return OkStatus();
}

const OpDef* CustomOperators::Find(std::string_view name) const {
  const auto found = defs_.find(name);
  return found == defs_.end() ? nullptr : found->second;
}

const OpDef* CustomOperators::FindOnnx(std::string_view domain, std::string_view name) const {
  const auto found = onnx_.find({std::string(domain), std::string(name)});
  return found == onnx_.end() ? nullptr : found->second;
}

std::vector<std::string_view> CustomOperators::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, def] : defs_) names.push_back(name);
  return names;
}

}  // namespace relayvm

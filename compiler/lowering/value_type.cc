#include "compiler/lowering/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "bytecode/code_builder.h"
#include "bytecode/dim_names.h"
#include "bytecode/instruction.h"
#include "bytecode/opcode.h"
#include "bytecode/verifier.h"
#include "compiler/ir/declared_dims.h"
#include "compiler/ir/one_of.h"
#include "compiler/ir/signature_attrs.h"
#include "compiler/lowering/unread_arguments.h"

namespace relayvm::lower {
namespace {

// A value type is a tree: a type with more parts than this, where each place counts, is refused.
constexpr uint64_t kMaxParts = 1 << 20;

// How large a value type a type becomes.
struct Extent {
  uint64_t parts = 1;
  int depth = 1;
  size_t width = 0;  // of its widest tuple or argument list
};

Extent Measure(const ir::Type& t, ir::TypeMemo<Extent>& known) {
  if (const Extent* extent = known.Find(t)) return *extent;
  Extent extent;
  if (t->As<ir::FunctionType>() != nullptr) return extent;  // one part
  size_t children = 0;
  ir::ForEachChild(*t, [&](const ir::Type& child) {
    const Extent inner = Measure(child, known);
    extent.parts = std::min(kMaxParts + 1, extent.parts + inner.parts);
    extent.depth = std::max(extent.depth, inner.depth + 1);
    extent.width = std::max(extent.width, inner.width);
    ++children;
  });
  extent.width = std::max(extent.width, children);
  known.Add(t, extent);
  return extent;
}

// What a file has no room for in a type; "" where all is well. The limits are the verifier's.
std::string BeyondLimits(const Extent& extent) {
  constexpr size_t kMostFields = std::numeric_limits<uint16_t>::max();
  if (extent.parts > kMaxParts) {
    return fmt::format(
        "has more than {} parts, which is the limit: tensors, tuples and other values, each "
        "counted "
        "wherever it stands",
        kMaxParts);
  }
  if (extent.depth > kMaxTypeDepth) {
    return fmt::format("has a type that nests {} deep, the limit is {}", extent.depth,
                       kMaxTypeDepth);
  }
  if (extent.width > kMostFields)
    return fmt::format("has a tuple of {} fields, the limit is {}", extent.width, kMostFields);
  return "";
}

class Converter {
 public:
  Converter(const ir::Module& module, Program& program) : module_(module), program_(program) {}

  // Of the types that follow: names of dims are distinct in a signature, whatever symbols are
  // called, and expressions count the symbols of its parameters.
  void BeginSignature(const std::vector<ir::Type>& params) {
    names_.clear();
    taken_.clear();
    numbers_.clear();
    ir::ForEachBoundSymbol(
        params, [&](uint32_t id) { numbers_.emplace(id, static_cast<int64_t>(numbers_.size())); });
  }
  // An expression over dims that a file has no room for.
  const Status& status() const { return status_; }

  // `params` are the type parameters in scope: of the entry, or of the type definition being
  // converted.
  ValueType Convert(const ir::Type& type, const std::vector<ir::Type>& params) {
    ValueType v;
    if (const auto* t = type->As<TensorType>()) {
      v.dtype = t->dtype;
      for (const Dim& d : t->shape) {
        v.dims.push_back(d.is_const() ? d.value() : -1);
        v.dim_names.push_back(d.is_const() || d.ContainsAny() ? "" : NameOf(d));
        if (d.is_const() || d.is_symbol() || d.ContainsAny()) continue;
        SizeFormula formula = FormulaOf(d);
        if (formula.empty()) continue;
        v.dim_formulas.resize(v.dims.size());
        v.dim_formulas.back() = std::move(formula);
      }
      if (!v.dim_formulas.empty()) v.dim_formulas.resize(v.dims.size());
      return v;
    }
    if (const auto* t = type->As<ir::TupleType>()) {
      v.kind = ValueType::Kind::kTuple;
      for (const ir::Type& f : t->fields) v.args.push_back(Convert(f, params));
      return v;
    }
    if (const auto* t = type->As<ir::AdtType>()) {
      v.kind = ValueType::Kind::kAdt;
      v.index = AdtIndex(t->name);
      for (const ir::Type& a : t->args) v.args.push_back(Convert(a, params));
      return v;
    }
    if (const auto* t = type->As<ir::RefType>()) {
      v.kind = ValueType::Kind::kRef;
      v.args.push_back(Convert(t->value, params));
      return v;
    }
    if (const auto* t = type->As<ir::TypeVar>()) {
      v.kind = ValueType::Kind::kTypeVar;
      any_open_ |= !in_type_def_;
      for (uint32_t i = 0; i < params.size(); ++i) {
        if (params[i]->As<ir::TypeVar>()->id == t->id) v.index = i;
      }
      return v;
    }
    v.kind = ValueType::Kind::kFunction;
    return v;
  }

  // Converts the constructors of all ADTs that were mentioned. A value of an open type may be of
  // any ADT: then all go in. An error where one is larger than a file may say.
  Status Finish() {
    if (any_open_) {
      for (const auto& [name, def] : module_.types) AdtIndex(name);
    }
    in_type_def_ = true;
    // Converting one may mention others: the list grows while it is walked.
    for (size_t i = 0; i < defs_.size(); ++i) {
      const ir::TypeDef& def = *defs_[i];
      RELAYVM_RETURN_IF_ERROR(CheckLimits(def));
      AdtInfo info;
      info.name = program_.adts[i].name;
      info.num_type_params = static_cast<uint32_t>(def.params.size());
      for (const ir::Constructor* c : def.constructors) {
        ConstructorInfo constructor;
        constructor.name = c->name;
        for (const ir::Type& f : c->fields) constructor.fields.push_back(Convert(f, def.params));
        info.constructors.push_back(std::move(constructor));
      }
      program_.adts[i] = std::move(info);
    }
    return OkStatus();
  }

  // The same, of the dim of a tensor inside of a data type, which inference has forgotten.
  void SetDim(const Dim& dim, size_t index, ValueType* tensor) {
    tensor->dims[index] = dim.is_const() ? dim.value() : -1;
    tensor->dim_names[index] = dim.is_const() ? "" : NameOf(dim);
    if (dim.is_const() || dim.is_symbol()) return;
    SizeFormula formula = FormulaOf(dim);
    if (formula.empty()) return;
    tensor->dim_formulas.resize(tensor->dims.size());
    tensor->dim_formulas[index] = std::move(formula);
  }

  // Expressions that follow count the names of data types too.
  void NumberNames(std::span<const ValueType> params) {
    std::map<std::string_view, int64_t> numbers;
    for (const std::string_view name : DimNames(params))
      numbers.emplace(name, static_cast<int64_t>(numbers.size()));
    for (const auto& [symbol, name] : names_) {
      if (const auto at = numbers.find(name); at != numbers.end())
        numbers_.emplace(symbol, at->second);
    }
  }

  // `what` and `name` say whose type it is.
  Status CheckLimits(const ir::Type& type, ir::Span span, std::string_view what,
                     std::string_view name) {
    const std::string beyond = BeyondLimits(Measure(type, measured_));
    if (beyond.empty()) return OkStatus();
    return module_.sources->Error(StatusCode::kUnsupported, span,
                                  fmt::format("{} {} {}", what, name, beyond));
  }

 private:
  std::string NameOf(const Dim& dim) {
    const Dim renamed = dim.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
      auto [at, inserted] = names_.try_emplace(symbol.symbol_id());
      if (inserted) {
        const std::string name = symbol.symbol_name().empty() ? "d" : symbol.symbol_name();
        at->second = name;
        for (int i = 2; !taken_.insert(at->second).second; ++i)
          at->second = fmt::format("{}_{}", name, i);
      }
      if (at->second == symbol.symbol_name()) return std::nullopt;
      return Dim::Symbol(symbol.symbol_id(), at->second, symbol.symbol_nonnegative());
    });
    return renamed.ToString();
  }

  // Empty where a symbol is no dim of a parameter, so that nobody can tell what it is.
  SizeFormula FormulaOf(const Dim& dim) {
    bool known = true;
    dim.ForEachSymbol([&](const Dim& s) { known = known && numbers_.contains(s.symbol_id()); });
    SizeFormula formula;
    if (!known) return formula;
    const Status status =
        AppendSize(dim, [&](const Dim& s) { return numbers_.at(s.symbol_id()); }, &formula);
    if (!status.ok()) status_ = status.WithContext("a dim of a parameter");
    return formula;
  }

  Status CheckLimits(const ir::TypeDef& def) {
    constexpr size_t kMost = std::numeric_limits<uint16_t>::max();
    const auto fail = [&](const std::string& what, size_t count) {
      return module_.sources->Error(StatusCode::kUnsupported, def.span,
                                    fmt::format("{}: {}, the limit is {}", what, count, kMost));
    };
    if (def.constructors.size() > kMost)
      return fail("constructors of type " + def.name, def.constructors.size());
    for (const ir::Constructor* c : def.constructors) {
      if (c->fields.size() > kMost)
        return fail("fields of constructor " + c->name, c->fields.size());
      for (const ir::Type& f : c->fields)
        RELAYVM_RETURN_IF_ERROR(CheckLimits(f, def.span, "a field of constructor", c->name));
    }
    return OkStatus();
  }

  uint32_t AdtIndex(const std::string& name) {
    auto [at, inserted] = adts_.emplace(name, static_cast<uint32_t>(defs_.size()));
    if (inserted) {
      defs_.push_back(&module_.types.at(name));
      program_.adts.emplace_back().name = name;
    }
    return at->second;
  }

  const ir::Module& module_;
  Program& program_;
  ir::TypeMemo<Extent> measured_;
  std::map<std::string, uint32_t> adts_;
  std::vector<const ir::TypeDef*> defs_;   // parallel to program_.adts
  std::map<uint32_t, std::string> names_;  // by symbol
  std::set<std::string> taken_;
  std::map<uint32_t, int64_t> numbers_;  // of the symbols that are dims of parameters
  Status status_;
  bool in_type_def_ = false;
  bool any_open_ = false;  // a type of the entry holds a type parameter
};

void ForgetFormulas(ValueType* type) {
  type->dim_formulas.clear();
  for (ValueType& arg : type->args) ForgetFormulas(&arg);
}

// How many OneOf nest in one another: 0 for other types.
size_t OneOfDepth(ir::Type type) {
  size_t depth = 0;
  for (const auto* adt = type->As<ir::AdtType>(); adt != nullptr && adt->name == ir::kOneOf;
       adt = type->As<ir::AdtType>(), ++depth)
    type = adt->args[1];
  return depth;
}

// A value of that type is to hosts what it holds.
void OpenOneOf(const ir::Type& type, uint32_t* num_type_params, ValueType* value) {
  if (OneOfDepth(type) == 0) return;
  *value = {};
  value->kind = ValueType::Kind::kTypeVar;
  value->index = (*num_type_params)++;
}

// r0 = what the value in r0, of a OneOf so deep, holds.
void EmitHeld(size_t depth, uint32_t reg, CodeBuilder* code) {
  const CodeBuilder::Label end = code->NewLabel();
  for (; depth > 0; --depth) {
    const CodeBuilder::Label first = code->NewLabel(), second = code->NewLabel();
    code->Op(Opcode::kSwitchTag).R(reg).Targets(std::array{first, second});
    code->Bind(first);
    code->Op(Opcode::kAdtGet).R(reg).R(reg, true).Unit(0);
    code->Op(Opcode::kJump).To(end);
    code->Bind(second);
    code->Op(Opcode::kAdtGet).R(reg).R(reg, true).Unit(0);
  }
  code->Bind(end);
}

}  // namespace

Result<uint32_t> AddResultOpener(const ir::Function& function, uint32_t index, Program& program,
                                 std::vector<uint16_t>* code) {
  FunctionInfo opener;
  opener.name = program.functions[index].name + ".result";
  opener.num_object_args = program.functions[index].num_object_args;
  opener.code_offset = static_cast<uint32_t>(code->size());
  CodeBuilder builder;
  std::vector<uint16_t> args(opener.num_object_args);
  for (size_t i = 0; i < args.size(); ++i) args[i] = static_cast<uint16_t>(i) | kTakeBit;
  const uint32_t result = opener.num_object_args;
  builder.Op(Opcode::kCallR).R(result).Unit(index).IList({}).RList(args);
  size_t registers = result + 1;
  const auto* tuple = function.result_type->As<ir::TupleType>();
  if (tuple == nullptr) {
    EmitHeld(OneOfDepth(function.result_type), result, &builder);
  } else {
    std::vector<uint16_t> fields;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      const auto field = static_cast<uint32_t>(registers++);
      const bool last = i + 1 == tuple->fields.size();
      builder.Op(Opcode::kAdtGet).R(field).R(result, last).Unit(static_cast<uint32_t>(i));
      EmitHeld(OneOfDepth(tuple->fields[i]), field, &builder);
      fields.push_back(static_cast<uint16_t>(field) | kTakeBit);
    }
    builder.Op(Opcode::kAdtNew).R(result).Unit(0).RList(fields);
  }
  builder.Op(Opcode::kReturnR).R(result, true);
  constexpr size_t kMostRegisters = 1 << 15;
  if (registers > kMostRegisters)
    return Status(StatusCode::kOutOfRange, "too many outputs beside one of several types");
  opener.num_object_registers = static_cast<uint16_t>(registers);
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<uint16_t> units, builder.Finish());
  opener.code_size = static_cast<uint32_t>(units.size());
  code->insert(code->end(), units.begin(), units.end());
  program.functions.push_back(std::move(opener));
  return static_cast<uint32_t>(program.functions.size() - 1);
}

Status AddStub(const std::string& name, size_t num_params, const std::string& message,
               Program& program) {
  FunctionInfo& function = program.functions.emplace_back();
  function.name = name;
  function.num_object_args = static_cast<uint16_t>(num_params);
  function.num_object_registers = function.num_object_args;
  CodeBuilder builder;
  builder.Op(Opcode::kTrap).Unit(static_cast<uint32_t>(program.messages.size()));
  program.messages.push_back(message);
  RELAYVM_ASSIGN_OR_RETURN(std::vector<uint16_t> units, builder.Finish());
  auto code = std::make_shared<std::vector<uint16_t>>(std::move(units));
  function.code_size = static_cast<uint32_t>(code->size());
  program.code = *code;
  program.bytecode_version = LeastBytecodeVersion(program.code);
  program.owners.push_back(std::move(code));
  return OkStatus();
}

namespace {

void AddTensors(ValueType& type, std::vector<ValueType*>* to) {
  if (type.kind == ValueType::Kind::kTensor) return to->push_back(&type);
  if (type.kind != ValueType::Kind::kTuple && type.kind != ValueType::Kind::kAdt) return;
  for (ValueType& arg : type.args) AddTensors(arg, to);
}

// What the attribute says, by tensor; nothing where it says something else.
std::vector<std::vector<AttrValue>> ReadDeclaredDims(const AttrValue& attr) {
  const auto* list = std::get_if<AttrList>(&attr.value);
  std::vector<std::vector<AttrValue>> tensors;
  if (list == nullptr) return tensors;
  for (const AttrValue& v : *list) {
    const auto* text = std::get_if<std::string>(&v.value);
    if (text != nullptr && text->starts_with('#')) {
      tensors.emplace_back();
    } else if (!tensors.empty()) {
      tensors.back().push_back(v);
    }
  }
  return tensors;
}

// A symbol as DeclaredName writes it.
std::optional<Dim> ReadDeclaredName(const std::string& text) {
  const size_t colon = text.find(':');
  uint32_t id = 0;
  const char* end = text.data() + std::min(colon, text.size());
  const auto read = std::from_chars(text.data(), end, id);
  if (colon == std::string::npos || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return Dim::Symbol(id, text.substr(colon + 1));
}

// Names inside of data types, and expressions over names, as the entry has declared them
// (ir::kDeclaredDims): what inference calls a declared symbol is told by the tensors that it leaves
// as they are. Where the types have become others, nothing is said.
void RestoreDeclaredDims(const ir::Function& function, Converter& converter, ExportInfo* info) {
  const auto attr = function.attrs.find(ir::kDeclaredDims);
  if (attr == function.attrs.end()) return;
  const std::vector<std::vector<AttrValue>> declared = ReadDeclaredDims(attr->second);
  const std::vector<ir::MentionedTensor> tensors = ir::MentionedTensors(function);
  std::vector<ValueType*> values;
  for (ValueType& param : info->params) AddTensors(param, &values);
  if (tensors.empty() || declared.size() != tensors.size() || values.size() != tensors.size())
    return;
  struct Place {
    Dim declared;
    size_t index;
    ValueType* tensor;
  };
  std::vector<Place> inside;
  std::map<uint32_t, Dim> known;  // by the symbol's declared number
  std::set<uint32_t> bound;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<Dim>& shape = tensors[i].type->shape;
    if (declared[i].size() != shape.size() || values[i]->dims.size() != shape.size()) return;
    for (size_t j = 0; j < shape.size(); ++j) {
      const auto* name = std::get_if<std::string>(&declared[i][j].value);
      const auto* expression = std::get_if<Dim>(&declared[i][j].value);
      const std::optional<Dim> symbol = name == nullptr ? std::nullopt : ReadDeclaredName(*name);
      if (symbol) bound.insert(symbol->symbol_id());
      if (tensors[i].inside && shape[j].ContainsAny() && (symbol || expression != nullptr)) {
        inside.push_back({symbol ? *symbol : *expression, j, values[i]});
      } else if (!tensors[i].inside && symbol && (shape[j].is_symbol() || shape[j].is_const())) {
        known.emplace(symbol->symbol_id(), shape[j]);
      }
    }
  }
  // An expression is compared with what its names say; where one says nothing, the whole is a name.
  const auto is_compared = [&](const Dim& d) {
    bool all = !d.is_symbol();
    d.ForEachSymbol([&](const Dim& s) { all = all && bound.contains(s.symbol_id()); });
    return all;
  };
  const auto set = [&](const Place& place) {
    const Dim dim = place.declared.Substitute([&](const Dim& s) -> std::optional<Dim> {
      return known.try_emplace(s.symbol_id(), s).first->second;
    });
    converter.SetDim(dim, place.index, place.tensor);
  };
  for (const Place& place : inside) {
    if (!is_compared(place.declared)) set(place);
  }
  converter.NumberNames(info->params);
  for (const Place& place : inside) {
    if (is_compared(place.declared)) set(place);
  }
}

}  // namespace

Status AddExport(const ir::Module& module, const ir::Function& function, uint32_t index,
                 const std::vector<const ir::HostCall*>& hosts, Program& program, bool all_sizes) {
  Converter converter(module, program);
  const std::string entry = "@" + module.entry;
  for (const ir::Var* p : function.params) {
    const ir::Span span = p->span.line == 0 ? function.span : p->span;
    RELAYVM_RETURN_IF_ERROR(
        converter.CheckLimits(p->type, span, "parameter %" + p->name + " of", entry));
  }
  RELAYVM_RETURN_IF_ERROR(
      converter.CheckLimits(function.result_type, function.span, "the result of", entry));
  ExportInfo info;
  info.name = module.entry;
  info.function = index;
  info.num_type_params = static_cast<uint32_t>(function.type_params.size());
  std::vector<ir::Type> param_types;
  for (const ir::Var* p : function.params) param_types.push_back(p->type);
  converter.BeginSignature(param_types);
  for (const ir::Var* p : function.params) {
    info.param_names.push_back(p->name);
    info.params.push_back(converter.Convert(p->type, function.type_params));
  }
  RestoreDeclaredDims(function, converter, &info);
  std::set<ArgumentPath> unread;
  if (!all_sizes) unread = UnreadArguments(function);
  const auto states = ir::StatesOf(function);
  for (const ArgumentPath& path : unread) {
    // What is kept is made by its type before the first run.
    if (std::ranges::any_of(states, [&](const auto& s) { return s.first == path[0]; })) continue;
    ValueType* part = &info.params[path[0]];
    for (size_t i = 1; i < path.size(); ++i) part = &part->args[path[i]];
    std::fill(part->dims.begin(), part->dims.end(), -1);
  }
  info.result = converter.Convert(function.result_type, function.type_params);
  if (ir::HasOneOfResults(function)) {
    OpenOneOf(function.result_type, &info.num_type_params, &info.result);
    if (function.result_type->As<ir::TupleType>() != nullptr) {
      for (size_t i = 0; i < info.result.args.size(); ++i)
        OpenOneOf(function.result_type->As<ir::TupleType>()->fields[i], &info.num_type_params,
                  &info.result.args[i]);
    }
  }
  ForgetFormulas(&info.result);  // the program computes what it gives
  info.output_names = ir::OutputNamesOf(function);
  for (const auto& [input, output] : states) info.states.push_back({input, output});
  for (const ir::HostCall* host : hosts) {
    const auto& type = *host->type->As<ir::FunctionType>();
    HostFunctionInfo& declared = program.host_functions.emplace_back();
    declared.name = host->name;
    converter.BeginSignature(type.params);
    for (const ir::Type& param : type.params) {
      RELAYVM_RETURN_IF_ERROR(
          converter.CheckLimits(param, function.span, "a parameter of host function", host->name));
      declared.params.push_back(converter.Convert(param, {}));
    }
    RELAYVM_RETURN_IF_ERROR(converter.CheckLimits(type.result, function.span,
                                                  "the result of host function", host->name));
    declared.result = converter.Convert(type.result, {});
  }
  converter.BeginSignature({});
  RELAYVM_RETURN_IF_ERROR(converter.Finish());
  RELAYVM_RETURN_IF_ERROR(converter.status());
  program.exports.push_back(std::move(info));
  return OkStatus();
}

}  // namespace relayvm::lower

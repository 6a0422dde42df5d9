// A TorchScript archive as a module: inputs by forward's signature and what is said of them,
// outputs, and what the program keeps between runs.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/parser.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/composite/sequence.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/input_types.h"
#include "compiler/import/torch/importer.h"
#include "compiler/import/torch/script_evaluator.h"
#include "compiler/import/torch/script_inputs.h"
#include "compiler/import/torch/script_outputs.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/one_of.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import {

namespace torch {

namespace {

using State = TypedBuilder::State;

// What is kept between runs is found by evaluating the program; it may take a further look to find
// all of it.
constexpr int kMostPasses = 6;

ir::Module ScriptPrelude() {
  auto module = frontend::ParseRelay("prelude", kPrelude);
  return module.ok() ? *std::move(module) : ir::MakeModule();
}

// What a variable of the file is in shape, of which no dim but numbers is known.
struct Kept {
  Item shape;
  std::vector<ir::Type> types;
  // The first value is of another type (an empty tensor of rank 1 that runs replace by one of rank
  // 3): a bool that comes before the values says whether it is that no more.
  bool replaces = false;
};

// Values of a shape lose what belongs to the module that they were found in.
Item Detached(Item shape) {
  if (shape.leaf_type != nullptr)
    shape.leaf_type =
        ir::MapDims(shape.leaf_type, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  shape.plain.value = {};
  shape.plain.alias = nullptr;
  shape.condition = {};
  shape.cell = nullptr;
  for (Item& part : shape.items) part = Detached(std::move(part));
  return shape;
}

class ScriptPass {
 public:
  ScriptPass(ScriptCode& code, const ImportOptions& options, std::map<std::string, Kept>& kept)
      : code_(code),
        options_(options),
        kept_(kept),
        module_(ScriptPrelude()),
        b_(module_),
        types_(module_, options),
        evaluator_(
            {&code, &b_, module_.sources.get(), module_.sources->AddModel(code.path()),
             options.stop,
             [this](const std::string& path, const Item& stored) { return Given(path, stored); },
             &options.user_operators}) {}

  // Nullopt: more is kept than was known; another pass is needed.
  Result<std::optional<ir::Module>> Run() {
    const Item root = evaluator_.Root();
    RELAYVM_RETURN_IF_ERROR(evaluator_.Finish());
    const ScriptFile* file = nullptr;
    const FunctionDef* forward = evaluator_.MethodOf(root, Entry(), &file);
    if (forward == nullptr) {
      RELAYVM_RETURN_IF_ERROR(evaluator_.Finish());
      return Status(StatusCode::kInvalidInput,
                    fmt::format("{}: the module {} has no method {}; it has: {}", code_.path(),
                                root.type.name, Entry(), MethodsOf(root)));
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Item> inputs, Inputs(*file, *forward));
    Item result = evaluator_.CallMethod(root, Entry(), std::move(inputs));
    RELAYVM_RETURN_IF_ERROR(evaluator_.Finish());
    RELAYVM_RETURN_IF_ERROR(b_.status());
    if (FoundMore()) return std::optional<ir::Module>();
    RELAYVM_RETURN_IF_ERROR(DefineMain(std::move(result)));
    RELAYVM_RETURN_IF_ERROR(types_.CheckUsed());
    return std::optional(std::move(module_));
  }

 private:
  std::string Entry() const { return options_.signature.empty() ? "forward" : options_.signature; }

  std::string MethodsOf(const Item& root) {
    auto found = code_.Find(root.type.name);
    std::string names;
    if (found.ok() && *found && (*found)->type != nullptr) {
      for (const FunctionDef& f : (*found)->type->methods)
        names += (names.empty() ? "" : ", ") + f.name;
    }
    return names.empty() ? "none" : names;
  }

  // --- Inputs ---

  Result<std::vector<Item>> Inputs(const ScriptFile& file, const FunctionDef& forward) {
    std::vector<Item> inputs;
    std::string missing;
    for (size_t i = 1; i < forward.parameters.size(); ++i) {
      const Parameter& p = forward.parameters[i];
      const ScriptType type = TypeOfExpr(p.type);
      const bool last = !AnyInput(forward, i + 1);
      const ScriptType& own = type.is(ScriptType::Kind::kOptional) ? type.element() : type;
      if (own.is(ScriptType::Kind::kDict)) {
        KeysRead read;
        ReadKeys(forward.body, p.name, &read);
        RELAYVM_ASSIGN_OR_RETURN(std::optional<Item> dict, DictInput(p, i - 1, own, read));
        if (dict) {
          inputs.push_back(*std::move(dict));
          continue;
        }
        if (!p.has_default && !type.is(ScriptType::Kind::kOptional)) {
          for (const Expr& key : read.keys)
            missing +=
                fmt::format("\n  --shape '{}.{}=(1, 3, ?, ?):float32'", p.name, TextOfKey(key));
          if (!read.keys.empty()) continue;
        }
      }
      RELAYVM_ASSIGN_OR_RETURN(std::optional<Item> item,
                               Input(file, p, i - 1, last, type, &missing));
      inputs.push_back(item ? *std::move(item) : Item::None());
    }
    if (missing.empty()) return inputs;
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: the file does not say what shapes its inputs have; say it:{}",
                              code_.path(), missing));
  }

  // Whether a parameter from `first` on becomes an input.
  bool AnyInput(const FunctionDef& forward, size_t first) const {
    for (size_t i = first; i < forward.parameters.size(); ++i) {
      const Parameter& p = forward.parameters[i];
      const bool optional = p.has_default || TypeOfExpr(p.type).is(ScriptType::Kind::kOptional);
      if (!optional || types_.IsSaid(p.name, i - 1)) return true;
    }
    return false;
  }

  // A rank that is likely, by the largest that parameters have.
  static std::string Likely(const ScriptType& type) {
    using K = ScriptType::Kind;
    switch (type.kind) {
      case K::kList:
        return "List[" + Likely(type.element()) + "]";
      case K::kOptional:
        return Likely(type.element());
      case K::kTuple: {
        std::string text = "(";
        for (const ScriptType& t : type.arguments) text += Likely(t) + ", ";
        return (text.size() > 1 ? text.substr(0, text.size() - 2) : text) +
               (type.arguments.size() == 1 ? ",)" : ")");
      }
      case K::kInt:
        return "Tensor[(), int64]";
      case K::kFloat:
        return "Tensor[(), float64]";
      case K::kBool:
        return "Tensor[(), bool]";
      default:
        return "Tensor[(1, 3, ?, ?), float32]";
    }
  }

  // A dict whose entries are inputs of their own, `d.key`, or one that is given as a tuple: of the
  // keys that the code reads, in that order. Nullopt: nothing is said of it.
  Result<std::optional<Item>> DictInput(const Parameter& p, size_t place, const ScriptType& type,
                                        const KeysRead& read) {
    const ScriptType inner = type.arguments.size() == 2 ? type.arguments[1] : ScriptType();
    const std::string prefix = p.name + ".";
    std::vector<Expr> keys;
    for (const Expr& key : read.keys) {
      if (options_.shapes.contains(prefix + TextOfKey(key))) keys.push_back(key);
    }
    for (const auto& [name, said] : options_.shapes) {
      Expr key;
      key.kind = Expr::Kind::kString;
      key.text = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
      const bool known =
          std::ranges::any_of(keys, [&](const Expr& k) { return TextOfKey(k) == key.text; });
      if (!key.text.empty() && !known) keys.push_back(key);
    }
    std::vector<Item> values;
    for (const Expr& key : keys) {
      const std::string name = prefix + TextOfKey(key);
      RELAYVM_ASSIGN_OR_RETURN(ir::Type given, types_.Of(name, SIZE_MAX));
      if (given == nullptr) continue;
      values.push_back(host_.ItemOf(Parameterised(name, given), inner));
    }
    if (!keys.empty() && values.size() == keys.size())
      return std::optional(host_.DictOf(type, keys, std::move(values)));
    if (!types_.IsSaid(p.name, place)) return std::optional<Item>();
    RELAYVM_ASSIGN_OR_RETURN(ir::Type given, types_.Of(p.name, place));
    const auto* tuple = given == nullptr ? nullptr : given->As<ir::TupleType>();
    if (tuple == nullptr || !read.all) return std::optional<Item>(Unnamed(p, read));
    const size_t count = tuple->fields.size();
    keys = read.keys;
    if (keys.size() != count)
      std::erase_if(keys, [&](const Expr& key) { return HasKey(read.asked, key); });
    if (keys.size() != count) return std::optional<Item>(Unnamed(p, read));
    const std::vector<Value> fields = b_.Fields(Parameterised(p.name, given));
    for (const Value& field : fields) values.push_back(host_.ItemOf(field, inner));
    return std::optional(host_.DictOf(type, keys, std::move(values)));
  }
  Item Unnamed(const Parameter& p, const KeysRead& read) {
    std::string keys;
    for (const Expr& key : read.keys) keys += (keys.empty() ? "" : ", ") + TextOfKey(key);
    b_.Fail(StatusCode::kUnsupported,
            "the input '{}' is a dict: expected a tuple of what the code reads of it ({}), or a "
            "--shape '{}.KEY=...' for each of its entries, whose names a tuple does not say",
            p.name, keys.empty() ? "no key by its name" : keys, p.name);
    return Item::Unknown();
  }

  // Nullopt, where `missing` says why.
  Result<std::optional<Item>> Input(const ScriptFile& file, const Parameter& p, size_t place,
                                    bool last, const ScriptType& type, std::string* missing) {
    using K = ScriptType::Kind;
    const bool said = types_.IsSaid(p.name, place);
    if (!said) {
      if (p.has_default) return std::optional(evaluator_.DefaultOf(file, p));
      if (type.is(K::kOptional)) return std::optional(Item::None());
      if (type.is(K::kInt) || type.is(K::kBool) || type.is(K::kFloat)) {
        const DType dtype = type.is(K::kInt)    ? DType::kInt64
                            : type.is(K::kBool) ? DType::kBool
                                                : DType::kFloat64;
        return std::optional(host_.ItemOf(Parameterised(p.name, ir::MakeScalarType(dtype)), type));
      }
      if (type.is(K::kString))
        return std::optional(
            host_.ItemOf(Parameterised(p.name, ir::MakeScalarType(DType::kString)), type));
      *missing += type.is(K::kTensor) || type.is(K::kAny)
                      ? fmt::format("\n  --shape '{}=(1, 3, ?, ?):float32'", p.name)
                      : fmt::format("\n  --shape '{}={}'", p.name, Likely(type));
      return std::optional<Item>();
    }
    RELAYVM_ASSIGN_OR_RETURN(ir::Type given, types_.Of(p.name, place));
    if (given == nullptr || IsNoneType(given)) {
      if (!last) LeaveOut(p.name);
      return std::optional(Item::None());
    }
    return std::optional(host_.ItemOf(Parameterised(p.name, given), type));
  }

  // An input that is said to be None keeps its place, by which callers count those behind it.
  void LeaveOut(const std::string& name) {
    const ir::Type type = OptionalType(ir::MakeScalarType(DType::kFloat32));
    evaluator_.ExpectNone(host_.ItemOf(Parameterised(name, type), {}),
                          fmt::format("{} was said to be None when this was compiled", name));
  }

  static bool IsNoneType(const ir::Type& t) {
    const auto* adt = t->As<ir::AdtType>();
    return adt != nullptr && adt->name == "None";
  }

  // What lists hold differs in its sizes.
  static ir::Type HostType(const ir::Type& type) {
    if (type->As<TensorType>() != nullptr) return type;
    if (type->As<ir::TupleType>() != nullptr) return ir::MapChildren(type, &ScriptPass::HostType);
    return ir::MapDims(type, [](const Dim& d) { return d.is_const() ? d : Dim::Any(); });
  }

  Value Parameterised(const std::string& name, const ir::Type& type) {
    if (type->As<TensorType>() == nullptr) b_.UsePrelude();
    params_.push_back(b_.NewVar(name, HostType(type)));
    return b_.Use(params_.back());
  }

  // --- What is kept between runs ---

  // In place of an attribute that an earlier pass has seen change: an input.
  std::optional<Item> Given(const std::string& path, const Item& stored) {
    const auto kept = kept_.find(path);
    if (kept == kept_.end()) return std::nullopt;
    const auto known = given_.find(path);
    if (known != given_.end()) return known->second;
    Shapes& shapes = evaluator_.shapes();
    const Kept& what = kept->second;
    State first, values;
    if (!what.replaces) shapes.Flatten(what.shape, stored, &first);
    const bool single = what.types.size() == 1;
    Value replaced;
    if (what.replaces) {
      const Value given = StateInput(path, path + ".replaced", ir::MakeScalarType(DType::kBool));
      const Value is_given = HasValue(given), no = b_.Scalar(0, DType::kBool);
      replaced = b_.If(is_given, Held(b_, given), no, no.type);
    }
    for (size_t i = 0; i < what.types.size() && b_.status().ok(); ++i) {
      const ir::Type& type = what.types[i];
      const ir::Type held = KeptType(type);
      const Value given = StateInput(path, single ? path : fmt::format("{}.{}", path, i), held);
      // Of what may be None, or is replaced, another state says whether it is.
      if (import::ElementType(type, "Optional") != nullptr) {
        values.push_back(given);
      } else if (what.replaces) {
        values.push_back(Held(b_, given));
      } else {
        values.push_back(
            b_.If(HasValue(given), Held(b_, given), AsKept(first[i], type), b_.Open(held)));
      }
    }
    size_t at = 0;
    Item item = b_.status().ok() ? shapes.Build(what.shape, values, &at) : Item::Unknown();
    if (what.replaces) {
      Item either;
      either.kind = Item::Kind::kEither;
      either.condition = replaced;
      either.items = {std::move(item), stored};
      item = std::move(either);
    }
    given_[path] = item;
    return item;
  }

  Value HasValue(const Value& optional) {
    return CallPrelude(b_, "optional_has", {optional}, ir::MakeScalarType(DType::kBool));
  }

  // One that may be left out.
  Value StateInput(const std::string& path, std::string name, const ir::Type& held) {
    b_.UsePrelude();
    const ir::Var* var = b_.NewVar(std::move(name), OptionalType(held));
    states_.emplace_back(path, var);
    return b_.Use(var);
  }

  // What a state is after a run, in the order of its inputs.
  State StateOutputs(const std::string& path) {
    const Kept& what = kept_.at(path);
    Item now = evaluator_.AtPath(path);
    State out;
    if (what.replaces) out.push_back(ReplacedBy(now, what));
    State values;
    evaluator_.shapes().Flatten(what.shape, now, &values);
    for (size_t i = 0; i < values.size() && i < what.types.size(); ++i) {
      out.push_back(AsKept(values[i], what.types[i]));
    }
    return out;
  }
  // Whether it is of the later type; `now` becomes that alternative.
  Value ReplacedBy(Item& now, const Kept& what) {
    if (!now.is(Item::Kind::kEither)) return b_.Scalar(Fits(now, what) ? 1 : 0, DType::kBool);
    Item first = now.items[0], second = now.items[1];
    const Value condition = now.condition;
    const Value yes = ReplacedBy(first, what), no = ReplacedBy(second, what);
    const Value replaced = b_.If(condition, yes, no, yes.type);
    State p, q;
    evaluator_.shapes().Flatten(what.shape, first, &p);
    evaluator_.shapes().Flatten(what.shape, second, &q);
    const auto joined = Branches(b_, condition, p, q);
    size_t at = 0;
    if (joined && b_.status().ok()) {
      now = evaluator_.shapes().Build(what.shape, *joined, &at);
    } else {
      b_.Fail(StatusCode::kUnsupported, "the attributes take several types");
    }
    return replaced;
  }
  bool Fits(const Item& item, const Kept& what) {
    evaluator_.shapes().Widen(what.shape, item);
    return evaluator_.shapes().TakeProblem().empty();
  }

  // A list of tensors is kept as the tensor of its rows, what may be None as a tensor of no
  // elements.
  static ir::Type KeptType(const ir::Type& type) {
    const auto open = [](const Dim& d) { return d.is_const() ? d : Dim::Any(); };
    if (const ir::Type held = import::ElementType(type, "Optional")) {
      if (held->As<TensorType>() == nullptr) return type;
      return ir::MapDims(held, [](const Dim&) { return Dim::Any(); });
    }
    const ir::Type element = import::ElementType(type, "Sequence");
    const auto* tensor = element == nullptr ? nullptr : element->As<TensorType>();
    if (tensor == nullptr) return ir::MapDims(type, open);
    std::vector<Dim> shape = {Dim::Any()};
    shape.insert(shape.end(), tensor->shape.begin(), tensor->shape.end());
    return ir::MapDims(ir::MakeTensorType(std::move(shape), tensor->dtype), open);
  }
  Value AsKept(const Value& v, const ir::Type& type) {
    const ir::Type kept = KeptType(type);
    const auto* rows = kept->As<TensorType>();
    if (rows == nullptr) return Coerce(b_, v, type);
    if (v.is_tensor() || !b_.status().ok()) return v;
    std::vector<int64_t> none;
    for (const Dim& d : rows->shape) none.push_back(d.is_const() ? d.value() : 0);
    const Value empty = b_.Full(none, 0, rows->dtype);
    if (IsNone(v)) return empty;
    if (import::ElementType(v.type, "Optional") != nullptr) {
      const Value has = CallPrelude(b_, "optional_has", {v}, ir::MakeScalarType(DType::kBool));
      return b_.If(has, Held(b_, v), empty, b_.Open(kept));
    }
    const auto known = b_.ConstantInts(SequenceLength(b_, v));
    if (known && (*known)[0] == 0) return empty;
    const Value joined = SequenceJoin(b_, v, 0, true);
    if (known) return joined;
    const Value any = b_.Op("greater", {SequenceLength(b_, v), b_.Int(0)});
    return b_.If(any, joined, empty, b_.Open(kept));
  }

  // Whether attributes were changed that no pass knew of, or took other shapes.
  bool FoundMore() {
    bool more = false;
    for (const std::string& path : evaluator_.written()) {
      Item now = evaluator_.AtPath(path);
      Shapes& shapes = evaluator_.shapes();
      const auto known = kept_.find(path);
      Kept next;
      if (known == kept_.end()) {
        const Item first = First(path);
        next.shape = shapes.Widen(first, now);
        if (!shapes.TakeProblem().empty()) {
          // Whatever is no more of the first value's type.
          next.replaces = true;
          next.shape = LaterShape(first, now);
        }
        next.shape = Detached(shapes.AllValues(next.shape));
      } else {
        next.replaces = known->second.replaces;
        const Item later = next.replaces ? LaterShape(First(path), now) : now;
        const bool none = later.is(Item::Kind::kUninitialised);
        next.shape = none ? known->second.shape
                          : Detached(shapes.AllValues(shapes.Widen(known->second.shape, later)));
      }
      if (const std::string problem = shapes.TakeProblem(); !problem.empty()) {
        b_.Fail(StatusCode::kUnsupported, "the attribute {}: {}", path, problem);
        return true;
      }
      Shapes::Types(next.shape, &next.types);
      const bool same =
          known != kept_.end() && known->second.types.size() == next.types.size() &&
          std::ranges::equal(known->second.types, next.types,
                             [](const ir::Type& x, const ir::Type& y) {
                               return x != nullptr && y != nullptr && ir::TypeEquals(x, y);
                             });
      if (same) continue;
      more = true;
      kept_[path] = std::move(next);
    }
    return more;
  }

  Item First(const std::string& path) { return evaluator_.FirstAt(path); }

  // The shape of those alternatives that are not of the first value's type; uninitialised: of none.
  Item LaterShape(const Item& first, const Item& now) {
    Shapes& shapes = evaluator_.shapes();
    Item none;
    none.kind = Item::Kind::kUninitialised;
    if (now.is(Item::Kind::kEither)) {
      const Item x = LaterShape(first, now.items[0]), y = LaterShape(first, now.items[1]);
      if (x.is(Item::Kind::kUninitialised)) return y;
      return y.is(Item::Kind::kUninitialised) ? x : shapes.Widen(x, y);
    }
    shapes.Widen(first, now);
    return shapes.TakeProblem().empty() ? none : shapes.AllValues(now);
  }

  // --- Outputs ---

  Status DefineMain(Item result) {
    ir::Function main;
    main.name = "main";
    std::vector<Value> outputs;
    std::vector<std::string> names;
    // The fields of a tuple are the outputs.
    const bool tuple = result.is(Item::Kind::kTuple) || result.is(Item::Kind::kDict);
    std::optional<Value> whole;
    ScriptOutputs of(b_, evaluator_, module_);
    if (tuple && !states_.empty()) {
      for (const Item& part : ScriptOutputs::PartsOf(result)) {
        if (auto v = of.Of(part)) outputs.push_back(*v);
      }
    } else {
      whole = of.Of(result);
      if (!whole) whole = b_.Tuple({});
      outputs.push_back(*whole);
    }
    RELAYVM_RETURN_IF_ERROR(evaluator_.Finish());
    if (evaluator_.has_guards() && !outputs.empty()) outputs[0] = evaluator_.WithGuards(outputs[0]);
    RELAYVM_RETURN_IF_ERROR(evaluator_.Finish());
    RELAYVM_RETURN_IF_ERROR(b_.status());
    if (std::ranges::any_of(outputs, IsOneOf)) main.attrs[ir::kOneOfResults] = true;
    size_t tensors = 0;
    for (const Value& v : outputs) tensors += ScriptOutputs::CountOf(v.type);
    AttrList pairs;
    std::set<std::string> done;
    main.params = params_;
    std::vector<const ir::Var*> state_params;
    for (const auto& [path, var] : states_) {
      if (done.insert(path).second) {
        for (Value& v : StateOutputs(path)) outputs.push_back(std::move(v));
      }
      pairs.emplace_back(static_cast<int64_t>(main.params.size()));
      pairs.emplace_back(static_cast<int64_t>(tensors + main.params.size() - params_.size()));
      main.params.push_back(var);
    }
    if (!states_.empty()) {
      // A state's output has its input's name (bytecode/variables.h).
      AttrList names;
      for (size_t i = 0; i < tensors; ++i) names.emplace_back(fmt::format("{}", i));
      for (const auto& [path, var] : states_) names.emplace_back(var->name);
      main.attrs[ir::kOutputNames] = std::move(names);
      main.attrs[ir::kStates] = std::move(pairs);
    }
    const Value value = outputs.size() == 1 ? outputs[0] : b_.Tuple(outputs);
    return DefineEntry(b_, module_, main, value);
  }

  ScriptCode& code_;
  const ImportOptions& options_;
  std::map<std::string, Kept>& kept_;
  ir::Module module_;
  TypedBuilder b_;
  InputTypes types_;
  std::vector<const ir::Var*> params_;
  std::vector<std::pair<std::string, const ir::Var*>> states_;
  std::map<std::string, Item> given_;
  Evaluator evaluator_;
  ScriptInputs host_{b_, evaluator_};
};

Result<ir::Module> ImportScript(const std::string& path, SharedBytes file,
                                const ImportOptions& options) {
  RELAYVM_ASSIGN_OR_RETURN(auto code, ScriptCode::Open(path, std::move(file)));
  std::map<std::string, Kept> kept;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    RELAYVM_ASSIGN_OR_RETURN(auto module, ScriptPass(*code, options, kept).Run());
    if (module) return *std::move(module);
  }
  return Status(
      StatusCode::kUnsupported,
      fmt::format("{}: what the program keeps between runs takes another shape each time", path));
}

}  // namespace

}  // namespace torch

Result<ir::Module> ImportTorchScript(const std::string& path, SharedBytes file,
                                     const ImportOptions& options) {
  return ir::WithLargeStack([&] { return torch::ImportScript(path, std::move(file), options); });
}

std::string TorchScriptOperatorTable() { return torch::OperatorList(); }

}  // namespace relayvm::import

#include "compiler/regions/region_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/ir/region.h"
#include "compiler/ir/walk.h"
#include "compiler/regions/annotations.h"
#include "compiler/regions/merge_composite.h"
#include "compiler/rules/replace.h"

namespace relayvm::regions {
namespace {

using ir::Atom;
using Json = nlohmann::ordered_json;

// An output of a node.
struct Entry {
  size_t node;
  size_t output;
};

std::vector<TensorType> TensorsOf(const ir::Type& t) {
  std::vector<TensorType> tensors;
  if (const auto* tensor = t->As<TensorType>()) tensors.push_back(*tensor);
  if (const auto* tuple = t->As<ir::TupleType>()) {
    for (const ir::Type& f : tuple->fields) {
      const std::vector<TensorType> inner = TensorsOf(f);
      tensors.insert(tensors.end(), inner.begin(), inner.end());
    }
  }
  return tensors;
}

class Writer {
 public:
  Writer(const ir::Module& m, const ir::Function& region, const rules::RuleSet* patterns)
      : m_(m), region_(region), patterns_(patterns), name_(Name(region)) {}

  Result<RegionJson> Write() {
    size_t number = 0;
    for (const ir::Var* p : region_.params) {
      const size_t node =
          Leaf("input", fmt::format("{}_i{}", name_, number++), *p->type->As<TensorType>());
      values_[p->id] = {{node, 0}};
    }
    for (const ir::Binding& b : region_.body->bindings) RELAYVM_RETURN_IF_ERROR(Add(b));
    std::vector<Entry> heads;
    for (const Entry& e : Values(region_.body->result)) heads.push_back(e);
    Json json;
    json["nodes"] = std::move(nodes_);
    json["arg_nodes"] = args_;
    json["heads"] = References(heads);
    json["node_row_ptr"] = rows_;
    Json names = Json::array(), texts = Json::array();
    for (size_t i = 0; i < out_.symbols.size(); ++i) {
      names.push_back(fmt::format("n{}", i));
      texts.push_back(out_.symbols[i].ToString());
    }
    json["symbols"] = std::move(names);
    json["symbol_values"] = std::move(texts);
    out_.text = json.dump(1, ' ', false, Json::error_handler_t::replace);
    return std::move(out_);
  }

 private:
  // "dnnl_0": TVM's nodes are named by their engine and the region's number.
  static std::string Name(const ir::Function& region) {
    const std::string name = ir::TextAttr(region, ir::kGlobalSymbolAttr);
    return ir::TextAttr(region, ir::kCompilerAttr) +
           name.substr(std::min(name.rfind('_'), name.size()));
  }

  Status Fail(const ir::Binding& b, const std::string& what) const {
    return m_.sources->Error(StatusCode::kUnsupported, b.value->span,
                             fmt::format("region {}: {}", region_.name, what));
  }

  // --- Values ---

  std::vector<Entry> Values(const Atom& a) {
    if (const ir::Var* v = ir::AsVar(a)) return values_.at(v->id);
    const auto* constant = std::get<const ir::Constant*>(a);
    const auto [at, inserted] = constant_nodes_.try_emplace(constant, 0);
    if (inserted) {
      at->second = Leaf("const", fmt::format("{}_const_{}", name_, out_.constants.size()),
                        *ir::ConstantType(*constant)->As<TensorType>());
      out_.constants.push_back(constant);
    }
    return {{at->second, 0}};
  }
  static Json References(const std::vector<Entry>& entries) {
    Json list = Json::array();
    for (const Entry& e : entries) list.push_back(Json::array({e.node, e.output, 0}));
    return list;
  }

  Json DimJson(const Dim& d) { return d.is_const() ? Json(d.value()) : Json(SymbolName(d)); }
  std::string SymbolName(const Dim& d) {
    const auto [at, inserted] = symbols_.try_emplace(d, out_.symbols.size());
    if (inserted) out_.symbols.push_back(d);
    return fmt::format("n{}", at->second);
  }

  Json Types(const std::vector<TensorType>& types) {
    Json shapes = Json::array(), dtypes = Json::array();
    for (const TensorType& t : types) {
      Json dims = Json::array();
      for (const Dim& d : t.shape) dims.push_back(DimJson(d));
      shapes.push_back(std::move(dims));
      dtypes.push_back(DTypeName(t.dtype));
    }
    Json attrs;
    attrs["dtype"] = Json::array({std::move(dtypes)});
    attrs["shape"] = Json::array({std::move(shapes)});
    return attrs;
  }

  // --- Nodes ---

  size_t Node(Json node, size_t outputs) {
    nodes_.push_back(std::move(node));
    rows_.push_back(rows_.back() + outputs);
    return nodes_.size() - 1;
  }
  size_t Leaf(const char* op, const std::string& name, const TensorType& type) {
    Json node;
    node["op"] = op;
    node["name"] = name;
    node["attrs"] = Types({type});
    args_.push_back(nodes_.size());
    return Node(std::move(node), 1);
  }

  Status Add(const ir::Binding& b) {
    composites_.Note(b);
    if (const auto* guard = b.value->As<ir::Guard>()) {
      out_.guards.push_back(*guard);
      return OkStatus();
    }
    if (b.value->As<ir::DimOf>() != nullptr || b.value->As<ir::FunctionExpr>() != nullptr)
      return OkStatus();
    if (const auto* same = b.value->As<ir::AtomExpr>()) {
      values_[b.var->id] = Values(same->atom);
      return OkStatus();
    }
    if (const auto* tuple = b.value->As<ir::MakeTuple>()) {
      std::vector<Entry> all;
      for (const Atom& field : tuple->fields) {
        for (const Entry& e : Values(field)) all.push_back(e);
      }
      values_[b.var->id] = std::move(all);
      return OkStatus();
    }
    if (const auto* get = b.value->As<ir::TupleGet>()) {
      values_[b.var->id] = {Values(get->tuple).at(get->index)};
      return OkStatus();
    }
    if (const ir::Function* composite = composites_.Of(*b.value))
      return AddComposite(b, *composite);
    const auto* call = b.value->As<ir::OpCall>();
    if (call == nullptr) return Fail(b, "it holds more than operators and composites");
    Json extra;
    extra["operator"] = Texts({call->op->name});
    AddKernel(b, call->op->name, call->args, call->attrs, std::move(extra));
    return OkStatus();
  }

  void AddKernel(const ir::Binding& b, const std::string& name, const std::vector<Atom>& args,
                 const Attrs& own, Json extra) {
    std::vector<Entry> inputs;
    for (const Atom& a : args) {
      for (const Entry& e : Values(a)) inputs.push_back(e);
    }
    const std::vector<TensorType> types = TensorsOf(b.var->type);
    Json attrs;
    attrs["num_outputs"] = std::to_string(types.size());
    attrs["num_inputs"] = std::to_string(inputs.size());
    for (const auto& [key, value] : own.values()) attrs[key] = Attribute(value);
    attrs.update(extra);
    attrs.update(Types(types));
    Json node;
    node["op"] = "kernel";
    node["name"] = name;
    node["inputs"] = References(inputs);
    node["attrs"] = std::move(attrs);
    const size_t index = Node(std::move(node), types.size());
    std::vector<Entry>& results = values_[b.var->id];
    for (size_t i = 0; i < types.size(); ++i) results.push_back({index, i});
  }

  // --- Attributes: lists of texts ---

  static Json Texts(std::vector<std::string> texts) {
    return Json::array({Json(std::move(texts))});
  }
  Json Attribute(const AttrValue& value) {
    std::vector<std::string> texts;
    Flatten(value, texts);
    return Texts(std::move(texts));
  }
  void Flatten(const AttrValue& value, std::vector<std::string>& texts) {
    if (const auto* list = std::get_if<AttrList>(&value.value)) {
      for (const AttrValue& v : *list) Flatten(v, texts);
      return;
    }
    texts.push_back(Text(value));
  }
  std::string Text(const AttrValue& value) {
    if (const auto* b = std::get_if<bool>(&value.value)) return *b ? "1" : "0";
    if (const auto* number = std::get_if<double>(&value.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
    if (const auto* d = std::get_if<Dim>(&value.value))
      return d->is_const() ? std::to_string(d->value()) : SymbolName(*d);
    return "";
  }

  // --- Composites ---

  Status AddComposite(const ir::Binding& b, const ir::Function& composite) {
    const auto& call = *b.value->As<ir::CallExpr>();
    const std::string name = ir::TextAttr(composite, ir::kCompositeAttr);
    NoteGuards(composite, call.args);
    auto whole = WholeSaid(composite, call.args);
    auto found = StepsSaid(composite, call.args);
    if (!found && !whole) FindSteps(composite, call.args, &found, &whole);
    if (whole) {
      Json extra;
      extra["operator"] = Texts({whole->label});
      extra["operands"] = Texts(whole->names);
      AddKernel(b, name, whole->inputs, whole->numbers, std::move(extra));
      return OkStatus();
    }
    if (found) {
      Json extra;
      extra["operator"] = Texts({found->at_heart->op->name});
      extra["post_ops"] = Texts(found->post_ops);
      AddKernel(b, name, found->inputs, found->at_heart->attrs, std::move(extra));
      return OkStatus();
    }
    const ir::OpCall* at_heart = nullptr;
    for (const ir::Binding& inner : composite.body->bindings) {
      const auto* op = inner.value->As<ir::OpCall>();
      if (op == nullptr) continue;
      if (at_heart != nullptr && patterns_ != nullptr) return Fail(b, NoRuleFor(composite, name));
      const bool is_heavy = op->op->conv || op->op->product;
      if (at_heart == nullptr || is_heavy) at_heart = op;
      if (is_heavy && patterns_ == nullptr) break;
    }
    if (at_heart == nullptr) return Fail(b, fmt::format("composite {} has no operator", name));
    Json extra;
    extra["operator"] = Texts({at_heart->op->name});
    AddKernel(b, name, call.args, at_heart->attrs, std::move(extra));
    return OkStatus();
  }

  // What to do about a composite of the program's own.
  std::string NoRuleFor(const ir::Function& composite, const std::string& name) const {
    std::string operators;
    for (const ir::Binding& b : composite.body->bindings) {
      const auto* op = b.value->As<ir::OpCall>();
      if (op != nullptr) operators += (operators.empty() ? "" : ", ") + op->op->name;
    }
    const std::string engine = ir::TextAttr(region_, ir::kCompilerAttr);
    return fmt::format(
        "composite {0} ({1}): no rule of {2} matches all of it. Leave its attribute Composite out, "
        "and its operators are matched one by one; or give a rule for it (--byoc-rules {2}.relay) "
        "whose steps the engine's provider knows",
        name, operators, engine);
  }

  // Those of what is inside, over the region's symbols.
  void NoteGuards(const ir::Function& composite, const std::vector<Atom>& args) {
    std::map<uint32_t, Dim> dims;
    for (size_t i = 0; i < args.size(); ++i) {
      const auto* own = composite.params[i]->type->As<TensorType>();
      const auto* given = ir::AtomType(m_, args[i])->As<TensorType>();
      for (size_t k = 0; own != nullptr && given != nullptr && k < own->shape.size(); ++k) {
        if (own->shape[k].is_symbol()) dims.try_emplace(own->shape[k].symbol_id(), given->shape[k]);
      }
    }
    const auto outer = [&](const Dim& d) {
      return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
        const auto at = dims.find(s.symbol_id());
        return at == dims.end() ? std::nullopt : std::optional(at->second);
      });
    };
    for (const ir::Binding& b : composite.body->bindings) {
      const auto* guard = b.value->As<ir::Guard>();
      if (guard == nullptr) continue;
      ir::Guard own = *guard;
      own.left = outer(own.left);
      own.right = outer(own.right);
      out_.guards.push_back(std::move(own));
    }
  }

  struct Steps {
    const ir::OpCall* at_heart;
    std::vector<Atom> inputs;  // its arguments, then what the steps take
    std::vector<std::string> post_ops;
  };
  // What MergeComposite has noted: sizes that are equal may not be known to be here.
  std::optional<Steps> StepsSaid(const ir::Function& composite, const std::vector<Atom>& args) {
    const auto said = composite.attrs.find(kStepsAttr);
    if (said == composite.attrs.end()) return std::nullopt;
    const auto at_heart = std::ranges::find_if(composite.body->bindings, [](const ir::Binding& b) {
      return b.value->As<ir::OpCall>() != nullptr;
    });
    if (at_heart == composite.body->bindings.end()) return std::nullopt;
    Steps steps{at_heart->value->As<ir::OpCall>(), {}, {}};
    size_t num_inputs = 0;  // fields of tuples are several
    for (const Atom& a : steps.at_heart->args) {
      const auto param = std::ranges::find(composite.params, ir::AsVar(a));
      const bool is_param = param != composite.params.end();
      if (!is_param && ir::AsVar(a) != nullptr) return std::nullopt;
      steps.inputs.push_back(is_param ? args[static_cast<size_t>(param - composite.params.begin())]
                                      : a);
      num_inputs += Values(steps.inputs.back()).size();
    }
    std::map<int64_t, size_t> places;  // of parameters
    for (const AttrValue& one : std::get<AttrList>(said->second.value)) {
      const AttrList& parts = std::get<AttrList>(one.value);
      std::string text = Text(parts.at(0));
      for (const AttrValue& input : std::get<AttrList>(parts.at(1).value)) {
        const int64_t param = std::get<Dim>(input.value).value();
        if (places.try_emplace(param, num_inputs).second) {
          steps.inputs.push_back(args.at(static_cast<size_t>(param)));
          ++num_inputs;
        }
        text += fmt::format(" input={}", places.at(param));
      }
      const AttrList& numbers = std::get<AttrList>(parts.at(2).value);
      for (size_t i = 0; i + 1 < numbers.size(); i += 2)
        text += fmt::format(" {}={}", Text(numbers[i]), Text(numbers[i + 1]));
      steps.post_ops.push_back(std::move(text));
    }
    return steps;
  }

  // A composite that is a single step.
  struct Whole {
    std::string label;
    std::vector<std::string> names;  // of inputs
    std::vector<Atom> inputs;
    Attrs numbers;
  };
  static std::optional<Whole> WholeSaid(const ir::Function& composite,
                                        const std::vector<Atom>& args) {
    const auto said = composite.attrs.find(kWholeAttr);
    if (said == composite.attrs.end()) return std::nullopt;
    const auto list = [](const AttrValue* v) -> const AttrList& {
      static const AttrList kNone;
      const auto* found = v == nullptr ? nullptr : std::get_if<AttrList>(&v->value);
      return found == nullptr ? kNone : *found;
    };
    const AttrList& parts = list(&said->second);
    const auto* label = parts.size() == 4 ? std::get_if<std::string>(&parts[0].value) : nullptr;
    if (label == nullptr || list(&parts[1]).empty() ||
        list(&parts[1]).size() != list(&parts[2]).size())
      return std::nullopt;
    Whole whole{*label, {}, {}, {}};
    for (size_t i = 0; i < list(&parts[1]).size(); ++i) {
      const auto* name = std::get_if<std::string>(&list(&parts[1])[i].value);
      const auto* input = std::get_if<Dim>(&list(&parts[2])[i].value);
      const bool is_there = input != nullptr && input->is_const() && input->value() >= 0 &&
                            static_cast<size_t>(input->value()) < args.size();
      if (name == nullptr || !is_there) return std::nullopt;
      whole.names.push_back(*name);
      whole.inputs.push_back(args[static_cast<size_t>(input->value())]);
    }
    const AttrList& numbers = list(&parts[3]);
    for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
      if (const auto* name = std::get_if<std::string>(&numbers[i].value))
        whole.numbers.Set(*name, numbers[i + 1]);
    }
    return whole;
  }

  // What the engine's rules say of the composite, called with `args`, where one matches all of it.
  void FindSteps(const ir::Function& composite, const std::vector<Atom>& args,
                 std::optional<Steps>* steps, std::optional<Whole>* whole) {
    if (patterns_ == nullptr) return;
    // With its constants, which rules may ask for.
    ir::Block body;
    ir::Function f = composite;
    f.params.clear();
    for (size_t i = 0; i < args.size(); ++i) {
      if (std::holds_alternative<const ir::Constant*>(args[i])) {
        body.bindings.push_back({composite.params[i], ir::MakeExpr(m_, ir::AtomExpr{args[i]}, {})});
      } else {
        f.params.push_back(composite.params[i]);
      }
    }
    size_t operators = 0;
    for (const ir::Binding& b : composite.body->bindings) {
      operators += b.value->As<ir::OpCall>() != nullptr;
      body.bindings.push_back(b);
    }
    body.result = composite.body->result;
    f.body = m_.arena->New<ir::Block>(std::move(body));
    ir::Module alone = m_;
    alone.functions = {{"main", &f}};
    rules::ReplacePatterns(
        alone, *patterns_, [&](const rules::Place& place, std::vector<ir::Binding>&, std::string*) {
          const bool is_all = IsResult(place, *composite.body) && place.Calls().size() == operators;
          if (!is_all || *steps || *whole) return false;
          if (const rules::Step* step = WholeStep(place.match)) {
            *whole = WholeIn(place, *step, composite, args);
          } else {
            *steps = StepsIn(place, composite, args);
          }
          return false;
        });
  }

  // Whether the body gives what the match computes, in its order.
  static bool IsResult(const rules::Place& place, const ir::Block& body) {
    std::vector<Atom> results = {place.root.var};
    results.insert(results.end(), place.match.results.begin(), place.match.results.end());
    if (results.size() == 1) return results[0] == body.result;
    const ir::Var* v = ir::AsVar(body.result);
    const auto at =
        v == nullptr ? place.around.definitions.end() : place.around.definitions.find(v->id);
    const auto* tuple =
        at == place.around.definitions.end() ? nullptr : at->second.value->As<ir::MakeTuple>();
    return tuple != nullptr && tuple->fields == results;
  }

  static Whole WholeIn(const rules::Place& place, const rules::Step& step,
                       const ir::Function& composite, const std::vector<Atom>& args) {
    Whole whole{step.way->label, {}, {}, {}};
    for (const auto& [name, a] : NamedOperands(step)) {
      whole.names.push_back(name);
      whole.inputs.push_back(Outside(place, a, composite, args));
    }
    for (const auto& [name, value] : step.variables) whole.numbers.Set(name, value);
    return whole;
  }

  // What stands for it where the composite is called.
  static Atom Outside(const rules::Place& place, const Atom& a, const ir::Function& composite,
                      const std::vector<Atom>& args) {
    const Atom from = rules::Follow(place.around, a, /*through_statements=*/true);
    for (size_t i = 0; i < composite.params.size(); ++i) {
      if (Atom(composite.params[i]) == from) return args[i];
    }
    return from;
  }

  Steps StepsIn(const rules::Place& place, const ir::Function& composite,
                const std::vector<Atom>& args) {
    const std::vector<const rules::Step*> own = place.match.OwnSteps();
    Steps steps{own.back()->value->As<ir::OpCall>(), {}, {}};
    size_t num_inputs = 0;  // fields of tuples are several
    for (const Atom& a : steps.at_heart->args) {
      steps.inputs.push_back(Outside(place, a, composite, args));
      num_inputs += Values(steps.inputs.back()).size();
    }
    std::vector<std::pair<Atom, size_t>> operands;
    for (auto step = own.rbegin() + 1; step != own.rend(); ++step) {
      std::string text = (*step)->way->label;
      for (const Atom& a : (*step)->Operands()) {
        const Atom from = Outside(place, a, composite, args);
        auto at = std::ranges::find(operands, from, &std::pair<Atom, size_t>::first);
        if (at == operands.end()) {
          steps.inputs.push_back(from);
          at = operands.insert(at, {from, num_inputs++});
        }
        text += fmt::format(" input={}", at->second);
      }
      for (const auto& [name, value] : (*step)->variables)
        text += fmt::format(" {}={}", name, Text(value));
      steps.post_ops.push_back(std::move(text));
    }
    return steps;
  }

  const ir::Module& m_;
  const ir::Function& region_;
  const rules::RuleSet* patterns_;
  const std::string name_;
  RegionJson out_;
  Composites composites_;
  Json nodes_ = Json::array();
  std::vector<size_t> args_, rows_ = {0};
  std::unordered_map<uint32_t, std::vector<Entry>> values_;  // by Var::id
  std::unordered_map<const ir::Constant*, size_t> constant_nodes_;
  std::map<Dim, size_t> symbols_;
};

}  // namespace

Result<RegionJson> MakeRegionJson(const ir::Module& m, const ir::Function& region,
                                  const rules::RuleSet* patterns) {
  for (const ir::Var* p : region.params) {
    if (p->type->As<TensorType>() != nullptr) continue;
    return Status(StatusCode::kUnsupported,
                  fmt::format("region {}: expected parameters that are tensors", region.name));
  }
  return Writer(m, region, patterns).Write();
}

}  // namespace relayvm::regions

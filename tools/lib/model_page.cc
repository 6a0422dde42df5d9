#include "tools/lib/model_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "bytecode/instruction.h"
#include "compiler/ir/walk.h"
#include "kernels/te/scalar.h"
#include "tools/lib/model_page_source.h"

namespace relayvm::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string AttrText(const AttrValue& attribute) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "None";
        if constexpr (std::is_same_v<T, bool>) return v ? "True" : "False";
        if constexpr (std::is_same_v<T, Dim>) return v.ToString();
        if constexpr (std::is_same_v<T, double>) return fmt::format("{}", v);
        if constexpr (std::is_same_v<T, std::string>) return fmt::format("\"{}\"", v);
        if constexpr (std::is_same_v<T, AttrList>) {
          std::vector<std::string> parts;
          for (const AttrValue& part : v) parts.push_back(AttrText(part));
          return fmt::format("[{}]", fmt::join(parts, ", "));
        }
      },
      attribute.value);
}

double ElementAt(const HostTensor& t, int64_t index) {
  const te::Scalar x = te::ReadElement(t.dtype, t.data.data() + index * DTypeBytes(t.dtype));
  if (IsFloat(t.dtype)) return x.f;
  return t.dtype == DType::kUInt64 ? static_cast<double>(static_cast<uint64_t>(x.i))
                                   : static_cast<double>(x.i);
}

// Least, greatest, mean, deviation, zeros, NaN, Inf, and how many lie in each 24th of the range.
Json Statistics(const HostTensor& tensor) {
  constexpr int kBins = 24;
  double least = 0, most = 0, sum = 0, squares = 0;
  int64_t finite = 0, zeros = 0, nan = 0, inf = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double x = ElementAt(tensor, i);
    nan += std::isnan(x) ? 1 : 0;
    inf += std::isinf(x) ? 1 : 0;
    zeros += x == 0 ? 1 : 0;
    if (!std::isfinite(x)) continue;
    least = finite == 0 ? x : std::min(least, x);
    most = finite == 0 ? x : std::max(most, x);
    sum += x;
    squares += x * x;
    ++finite;
  }
  const double n = std::max(static_cast<double>(finite), 1.0), mean = sum / n;
  std::vector<int64_t> bins(kBins);
  for (int64_t i = 0; i < tensor.size() && most > least; ++i) {
    const double x = ElementAt(tensor, i);
    if (!std::isfinite(x)) continue;
    const double part = (x - least) / (most - least);
    ++bins[static_cast<size_t>(std::clamp(part, 0.0, 1.0) * (kBins - 1e-9))];
  }
  return {{"min", least},   {"max", most},
          {"mean", mean},   {"deviation", std::sqrt(std::max(squares / n - mean * mean, 0.0))},
          {"zeros", zeros}, {"nan", nan},
          {"inf", inf},     {"bins", bins}};
}

// What the compiler made of a place in the source.
class KernelsByPlace {
 public:
  explicit KernelsByPlace(const Compiled& compiled) {
    const Program& program = compiled.program;
    std::map<std::string, std::set<std::string>> at;  // by the places of their calls
    for (const FunctionInfo& function : program.functions) CollectCalls(program, function, &at);
    // A kernel's call has the place of one of the operators that were fused into it.
    for (const auto& [name, function] : compiled.module.functions) {
      ir::ForEachBinding(*function->body, [&](const ir::Binding& binding) {
        const auto* primitive = binding.value->As<ir::PrimitiveCall>();
        if (primitive == nullptr) return;
        std::set<std::string> places = {compiled.module.sources->Place(binding.value->span)};
        ir::ForEachBinding(*primitive->function->body, [&](const ir::Binding& inner) {
          places.insert(compiled.module.sources->Place(inner.value->span));
        });
        std::set<std::string> kernels;
        for (const std::string& place : places) {
          if (const auto found = at.find(place); found != at.end())
            kernels.insert(found->second.begin(), found->second.end());
        }
        for (const std::string& place : places)
          by_place_[place].insert(kernels.begin(), kernels.end());
      });
    }
    for (const auto& [place, kernels] : at) by_place_[place].insert(kernels.begin(), kernels.end());
    by_place_.erase("");
  }

  std::set<std::string> At(const std::string& place) const {
    const auto found = by_place_.find(place);
    return found == by_place_.end() ? std::set<std::string>() : found->second;
  }

 private:
  static void CollectCalls(const Program& program, const FunctionInfo& function,
                           std::map<std::string, std::set<std::string>>* at) {
    Instruction instruction;
    for (size_t pc = 0; pc < function.code_size; pc += instruction.size()) {
      if (!DecodeInstruction(program.code, function.code_offset + pc, &instruction).ok()) return;
      for (int i = 0; i < instruction.info->num_operands; ++i) {
        if (instruction.info->operands[static_cast<size_t>(i)] == OperandKind::KERNEL)
          (*at)[PlaceOf(program, function, pc)].insert(program.kernels[instruction.Unit(i)].name);
      }
    }
  }

  static std::string PlaceOf(const Program& program, const FunctionInfo& function, size_t pc) {
    auto after = std::ranges::upper_bound(function.locations, pc, {}, &SourceLocation::pc);
    if (after == function.locations.begin()) return "";
    const SourceLocation& at = *std::prev(after);
    const std::string& file = program.source_files[at.file];
    return at.line == 0 ? file : fmt::format("{}:{}:{}", file, at.line, at.column);
  }

  std::map<std::string, std::set<std::string>> by_place_;
};

class GraphJson {
 public:
  GraphJson(const ir::Module& module, const Compiled& compiled, const ModelPageLimits& limits)
      : module_(module), kernels_(compiled), limits_(limits) {}

  Json Make() {
    Json functions = Json::array();
    AddFunction(module_.entry, &functions);
    for (const auto& [name, function] : module_.functions) {
      if (mentioned_.contains(name)) AddFunction(name, &functions);
    }
    return {{"functions", std::move(functions)},
            {"constants", std::move(constants_)},
            {"truncated", is_truncated_}};
  }

 private:
  std::string Cut(std::string text) const {
    if (text.size() > limits_.max_text) text = text.substr(0, limits_.max_text) + " ...";
    return text;
  }

  void AddFunction(const std::string& name, Json* functions) {
    const auto found = module_.functions.find(name);
    if (found == module_.functions.end() || !done_.insert(name).second) return;
    const ir::Function& function = *found->second;
    ir::ForEachGlobal(*function.body, [&](const ir::GlobalVar& g, const ir::CallExpr*) {
      mentioned_.insert(g.name);
    });
    nodes_ = Json::array();
    sources_.clear();
    AddParams(function, -1, "");
    AddBlock(*function.body, -1, "");
    functions->push_back({{"name", Cut(name)}, {"nodes", std::move(nodes_)}});
    for (const std::string& other : std::set<std::string>(mentioned_))
      AddFunction(other, functions);
  }

  int AddNode(Json node, int parent, const std::string& part) {
    if (num_nodes_ >= limits_.max_nodes) {
      is_truncated_ = true;
      return -1;
    }
    ++num_nodes_;
    if (parent >= 0) {
      node["parent"] = parent;
      node["part"] = part;
    }
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  void AddParams(const ir::Function& function, int parent, const std::string& part) {
    for (const ir::Var* param : function.params) {
      const int node = AddNode({{"kind", "input"},
                                {"op", "input"},
                                {"name", Cut(param->name)},
                                {"type", Cut(TypeText(param->type))},
                                {"from", Json::array()}},
                               parent, part);
      if (node >= 0) sources_[param->id] = {node};
    }
  }

  static std::string TypeText(const ir::Type& type) {
    return type == nullptr ? "" : ir::TypeToString(type);
  }

  void AddBlock(const ir::Block& block, int parent, const std::string& part) {
    for (const ir::Binding& binding : block.bindings) AddBinding(binding, parent, part);
    Json result = {{"kind", "result"},
                   {"op", "result"},
                   {"name", ""},
                   {"type", Cut(TypeText(ir::AtomType(module_, block.result)))}};
    AddOperands({block.result}, &result);
    AddNode(std::move(result), parent, part);
  }

  // A constant's number in the table.
  size_t ConstantOf(const ir::Constant* constant) {
    const auto [known, is_new] = constant_numbers_.try_emplace(constant, constants_.size());
    if (is_new) {
      Json json = {{"name", Cut(constant->name)},
                   {"type", Cut(TypeText(ir::ConstantType(*constant)))},
                   {"bytes", constant->value.data.size()}};
      if (constant->value.dtype != DType::kString && constant->value.size() > 0)
        json.update(Statistics(constant->value));
      constants_.push_back(std::move(json));
    }
    return known->second;
  }

  void AddOperands(const std::vector<ir::Atom>& atoms, Json* node) {
    std::vector<int> from;
    std::vector<size_t> constants;
    for (const ir::Atom& atom : atoms) {
      if (const ir::Var* var = ir::AsVar(atom)) {
        for (const int source : sources_[var->id]) {
          if (std::ranges::find(from, source) == from.end()) from.push_back(source);
        }
      } else if (const auto* constant = std::get_if<const ir::Constant*>(&atom)) {
        constants.push_back(ConstantOf(*constant));
      }
    }
    (*node)["from"] = from;
    if (!constants.empty()) (*node)["constants"] = constants;
  }

  // What only says where values come from, and sizes, which types show: no node of its own.
  bool IsPassedOn(const ir::Binding& binding) {
    const ir::Expr& e = *binding.value;
    const bool is_size = e.As<ir::Guard>() != nullptr || e.As<ir::DimOf>() != nullptr ||
                         e.As<ir::ElementOf>() != nullptr || e.As<ir::ShapeValue>() != nullptr ||
                         e.As<ir::ShapeByRule>() != nullptr;
    const bool is_same = e.As<ir::AtomExpr>() != nullptr || e.As<ir::Stated>() != nullptr ||
                         e.As<ir::TupleGet>() != nullptr || e.As<ir::MakeTuple>() != nullptr;
    if (!is_size && !is_same) return false;
    if (is_size && e.As<ir::ShapeValue>() == nullptr) return true;
    Json node;
    std::vector<ir::Atom> atoms;
    ir::ForEachAtom(e, [&](const ir::Atom& a) { atoms.push_back(a); });
    AddOperands(atoms, &node);
    sources_[binding.var->id] = node["from"].get<std::vector<int>>();
    return true;
  }

  void AddBinding(const ir::Binding& binding, int parent, const std::string& part) {
    if (IsPassedOn(binding)) return;
    const ir::Expr& e = *binding.value;
    const std::string place = module_.sources->Place(e.span);
    Json node = {{"kind", "op"},
                 {"op", ""},
                 {"name", Cut(binding.var->name)},
                 {"type", Cut(TypeText(binding.var->type))}};
    Describe(e, &node);
    std::vector<ir::Atom> atoms;
    ir::ForEachAtom(e, [&](const ir::Atom& a) { atoms.push_back(a); });
    AddOperands(atoms, &node);
    if (!place.empty()) node["place"] = Cut(place);
    if (const std::set<std::string> kernels = kernels_.At(place); !kernels.empty())
      node["kernels"] = kernels;
    const int at = AddNode(std::move(node), parent, part);
    if (at < 0) return;
    sources_[binding.var->id] = {at};
    AddInside(e, at);
  }

  static void Describe(const ir::Expr& e, Json* node) {
    const auto is = [&](const char* kind, std::string op) {
      (*node)["kind"] = kind;
      (*node)["op"] = std::move(op);
    };
    if (const auto* call = e.As<ir::OpCall>()) {
      is("op", call->op->name);
      Json attrs = Json::object();
      for (const AttrField& field : call->op->attrs) {
        const AttrValue* value = call->attrs.Find(field.name);
        if (value != nullptr && !(*value == field.fallback))
          attrs[std::string(field.name)] = AttrText(*value);
      }
      if (!attrs.empty()) (*node)["attrs"] = std::move(attrs);
    } else if (const auto* other = e.As<ir::CallExpr>()) {
      const auto* global = std::get_if<const ir::GlobalVar*>(&other->callee);
      const auto* constructor = std::get_if<const ir::Constructor*>(&other->callee);
      is("call", global != nullptr        ? "@" + (*global)->name
                 : constructor != nullptr ? (*constructor)->name
                                          : "call");
    } else if (const auto* host = e.As<ir::HostCall>()) {
      is("call", "host " + host->name);
    } else if (e.As<ir::IfExpr>() != nullptr) {
      is("control", "if");
    } else if (e.As<ir::MatchExpr>() != nullptr) {
      is("control", "match");
    } else if (e.As<ir::FunctionExpr>() != nullptr || e.As<ir::MakeClosure>() != nullptr) {
      is("control", "fn");
    } else if (const auto* trap = e.As<ir::Trap>()) {
      is("control", "fails: " + trap->message);
    } else {
      is("control", e.As<ir::RefCreate>() != nullptr ? "ref"
                    : e.As<ir::RefRead>() != nullptr ? "ref read"
                                                     : "ref write");
    }
  }

  void AddInside(const ir::Expr& e, int parent) {
    if (const auto* branch = e.As<ir::IfExpr>()) {
      AddBlock(*branch->then_block, parent, "then");
      AddBlock(*branch->else_block, parent, "else");
    } else if (const auto* match = e.As<ir::MatchExpr>()) {
      for (size_t i = 0; i < match->clauses.size(); ++i) {
        // What a pattern binds comes from the value that is matched.
        ir::ForEachVar(match->clauses[i].pattern,
                       [&](const ir::Var* var) { sources_[var->id] = {parent}; });
        AddBlock(*match->clauses[i].body, parent, fmt::format("clause {}", i + 1));
      }
    } else if (const auto* function = e.As<ir::FunctionExpr>()) {
      AddParams(*function->function, parent, "body");
      AddBlock(*function->function->body, parent, "body");
    }
  }

  const ir::Module& module_;
  KernelsByPlace kernels_;
  ModelPageLimits limits_;
  Json nodes_, constants_ = Json::array();
  std::map<uint32_t, std::vector<int>> sources_;  // by Var::id: the nodes that a value comes from
  std::map<const ir::Constant*, size_t> constant_numbers_;
  std::set<std::string> mentioned_, done_;
  size_t num_nodes_ = 0;
  bool is_truncated_ = false;
};

// JSON inside of a script element: nothing in it may end that.
std::string InScript(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace), out;
  for (const char c : text) out += c == '<' ? "\\u003c" : std::string(1, c);
  return out;
}

}  // namespace

std::string ModelPage(const std::string& title, const ir::Module& typed, const Compiled& compiled,
                      const ModelPageLimits& limits) {
  Json graph = GraphJson(typed, compiled, limits).Make();
  graph["title"] = title;
  graph["version"] = RELAYVM_VERSION;
  constexpr std::string_view kHole = "/*MODEL*/null";
  std::string page(ModelPageSource());
  const size_t at = page.find(kHole);
  return page.replace(at, kHole.size(), InScript(graph));
}

}  // namespace relayvm::tools

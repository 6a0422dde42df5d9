// Records of Python's nodes to functions of a module (nodes.h).
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/large_stack.h"
#include "compiler/ir/verify.h"
#include "compiler/ir/walk.h"
#include "compiler/pipeline.h"
#include "compiler/transforms/simplify/resolve_shapes.h"
#include "compiler/typing/call_graph.h"
#include "compiler/typing/infer.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/function_maker.h"
#include "tools/python/src/interruptible.h"
#include "tools/python/src/nodes.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

// --- The module ---

using Traps = std::multiset<std::string>;
Traps TrapsOf(const ir::Module& m) {
  Traps traps;
  for (const auto& [name, f] : m.functions) {
    ir::ForEachBinding(*f->body, [&](const ir::Binding& b) {
      if (const auto* trap = b.value->As<ir::Trap>()) traps.insert(trap->message);
    });
  }
  return traps;
}

// What does not fit is a trap where types are made anew: one that was not there before is an error
// here.
Status CheckTraps(const ir::Module& before, const ir::Module& after) {
  Traps known = TrapsOf(before);
  Status status;
  for (const auto& [name, f] : after.functions) {
    ir::ForEachBinding(*f->body, [&](const ir::Binding& b) {
      const auto* trap = b.value->As<ir::Trap>();
      if (trap == nullptr || !status.ok()) return;
      if (const auto at = known.find(trap->message); at != known.end()) {
        known.erase(at);
        return;
      }
      status = after.sources->Error(StatusCode::kInvalidInput, b.value->span, trap->message)
                   .WithContext("@" + name);
    });
  }
  return status;
}

Status IsFinal(const PyModule& module, const std::string& who) {
  std::vector<std::string> places = {"start"};
  std::map<std::string, int> runs;
  const auto plan = PlanPasses({});
  for (const PlannedPass& p : *plan) {
    if (p.after.Has(Fact::kFinalTypes)) break;
    if (p.pass.name == kRetypePass) continue;  // wherever it is needed: no place
    const int run = ++runs[p.pass.name];
    places.push_back(run == 1 ? fmt::format("after:{}", p.pass.name)
                              : fmt::format("after:{}#{}", p.pass.name, run));
  }
  return {StatusCode::kInvalidArgument,
          fmt::format(
              "{}: functions can be looked at here, but not changed: the program is {}. Places "
              "where they can be changed: {}",
              who.empty() ? "a module" : who, module.holds.ToString(), fmt::join(places, ", "))};
}

std::set<std::string> RecursiveFunctions(const ir::Module& m) {
  std::set<std::string> names;
  for (const typing::Component& c : typing::ComponentsCalleesFirst(m)) {
    if (!c.recursive) continue;
    for (const std::string* name : c.functions) names.insert(*name);
  }
  return names;
}

using Functions = std::vector<std::pair<std::string, std::vector<Record>>>;

// wants_types: of a program as written, too.
Result<ir::Module> Finish(const PyModule& from, ir::Module module, bool wants_types) {
  return ir::WithLargeStack([&]() -> Result<ir::Module> {
    const bool is_typed = from.holds.Has(Fact::kTyped);
    // The structure first: inference relies on it.
    RELAYVM_RETURN_IF_ERROR(ir::VerifyModule(module, {}));
    if (!is_typed) {  // as written, and what is wrong is said
      Result<ir::Module> typed = RunFrontendPipeline(module);
      if (wants_types || !typed.ok()) return typed;
      return module;
    }
    RELAYVM_ASSIGN_OR_RETURN(ir::Module typed, Retype(module));
    RELAYVM_RETURN_IF_ERROR(CheckTraps(from.model.module, typed));
    if (from.holds.Has(Fact::kShapesResolved)) typed = ir::ResolveShapes(typed);
    RELAYVM_RETURN_IF_ERROR(ir::VerifyModule(typed, {.typed = true}));
    return typed;
  });
}

// `numbering`: null, or what names the variables; the module is typed then.
PyModule Make(const PyModule& from, const py::dict& functions, const std::string& who,
              Numbering* numbering) {
  const ir::Module& m = from.model.module;
  const auto named = [&](const Status& s) { return who.empty() ? s : s.WithContext(who); };
  ir::Module kept = m;
  kept.functions.clear();
  Functions made;
  for (const auto& [key, value] : functions) {
    const auto name = key.cast<std::string>();
    if (!py::isinstance<PyFunction>(value)) {
      made.emplace_back(name, ReadRecords(m, value.cast<py::list>()));
      continue;
    }
    const auto& function = value.cast<const PyFunction&>();
    const auto at = m.functions.find(name);
    if (at == m.functions.end() || at->second != function.function.get())
      throw py::value_error(fmt::format("@{} is no function of the module", name));
    kept.functions.emplace(name, at->second);
  }
  if (made.empty() && kept.functions.size() == m.functions.size()) return from;
  if (from.holds.Has(Fact::kFinalTypes)) Throw(IsFinal(from, who));
  Status first;
  const std::set<std::string> recursive = WithoutTheGil([&] { return RecursiveFunctions(m); });
  for (const KeptTypes keep : {KeptTypes::kOfRecursive, KeptTypes::kOfUnchanged, KeptTypes::kAll}) {
    ir::Module module = kept;
    Status status;
    for (const auto& [name, records] : made) {
      auto function = FunctionOf(module, records, name, recursive.contains(name), keep, numbering);
      status = function.status();
      if (!status.ok()) break;
      module.functions[name] = *function;
    }
    if (status.ok()) {
      Result<ir::Module> finished = InterruptibleResult<ir::Module>([&](const std::stop_token&) {
        return Finish(from, std::move(module), numbering != nullptr);
      });
      if (finished.ok()) {
        Facts holds = from.holds;
        if (numbering != nullptr && !holds.Has(Fact::kTyped))
          holds = {Fact::kChecked, Fact::kTyped};
        return {{*std::move(finished), from.model.operators}, holds};
      }
      status = finished.status();
    }
    if (keep != KeptTypes::kAll) first = status;  // what the functions say without their old types
    if (made.empty() || !from.holds.Has(Fact::kTyped)) break;
  }
  Throw(named(first));
}

// Types of the variables of a function, by the numbers in their names.
void FindTypes(const ir::Function& f, const Numbering& numbering, std::vector<ir::Type>* types) {
  const auto see = [&](const ir::Var* v) {
    const Position* position = numbering.Find(v->name);
    if (position != nullptr && v->type != nullptr) (*types)[*position] = v->type;
  };
  const auto see_params = [&](const ir::Function& function) {
    for (const ir::Var* p : function.params) see(p);
  };
  see_params(f);
  ir::ForEachBinding(*f.body, [&](const ir::Binding& b) {
    see(b.var);
    if (const auto* inner = b.value->As<ir::FunctionExpr>()) see_params(*inner->function);
    if (const auto* match = b.value->As<ir::MatchExpr>()) {
      for (const ir::MatchClause& clause : match->clauses) ir::ForEachVar(clause.pattern, see);
    }
  });
}

// What a let binds and its value have one type, a let and its body too, where the program knows
// only one of them.
struct LetTypes {
  Position let, var, value, body;
};
void ShareTypes(const std::vector<LetTypes>& lets, std::vector<ir::Type>* types) {
  const auto take = [&](Position to, Position from) {
    if ((*types)[to] == nullptr) (*types)[to] = (*types)[from];
  };
  for (size_t i = lets.size(); i-- > 0;) {
    take(lets[i].value, lets[i].var);
    take(lets[i].body, lets[i].let);
  }
  for (const LetTypes& l : lets) {
    take(l.let, l.body);
    take(l.var, l.value);
  }
}

}  // namespace

PyModule WithFunctions(const PyModule& from, const py::dict& functions, const std::string& who) {
  return Make(from, functions, who, nullptr);
}

py::tuple InferFunctions(const PyModule& from, const py::dict& functions) {
  Numbering numbering;
  PyModule typed = Make(from, functions, "", &numbering);
  const ir::Module& m = typed.model.module;
  std::unordered_map<const ir::TypeNode*, py::object> objects;
  py::dict result;
  for (const auto& [key, value] : functions) {
    if (!py::isinstance<py::list>(value)) continue;
    const auto records = py::reinterpret_borrow<py::list>(value);
    std::vector<ir::Type> types(records.size());
    const ir::Function& function = *m.functions.at(key.cast<std::string>());
    FindTypes(function, numbering, &types);
    std::vector<LetTypes> lets;
    for (Position i = 0; i < records.size(); ++i) {
      const auto fields = records[i].cast<py::tuple>();
      if (fields[0].cast<std::string_view>() != "let") continue;
      const auto operands = fields[1].cast<py::tuple>();
      lets.push_back({i, operands[0].cast<Position>(), operands[1].cast<Position>(),
                      operands[2].cast<Position>()});
    }
    ShareTypes(lets, &types);
    types.back() = ir::FunctionTypeOf(function);
    py::list list(types.size());
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] == nullptr) {
        list[i] = py::none();
        continue;
      }
      auto [at, is_new] = objects.try_emplace(types[i].get());
      if (is_new) at->second = py::cast(PyType{types[i], m.arena});
      list[i] = at->second;
    }
    result[key] = list;
  }
  return py::make_tuple(std::move(typed), result);
}

void AddNodeBuilder(py::class_<PyModule>& module) {
  module.def("with_functions", WithFunctions)
      .def("infer_functions", InferFunctions)
      .def("records", FunctionRecords)
      .def("is_typed", [](const PyModule& p) { return p.holds.Has(Fact::kTyped); })
      .def("function_type",
           [](const PyModule& p, const std::string& name) {
             const ir::Module& m = p.model.module;
             const auto at = m.functions.find(name);
             if (at == m.functions.end()) throw py::key_error(name);
             return PyType{ir::FunctionTypeOf(*at->second), m.arena};
           })
      .def("own_function",
           [](const PyModule& p, const std::string& name, const PyFunction& f) {
             const auto at = p.model.module.functions.find(name);
             return at != p.model.module.functions.end() && at->second == f.function.get();
           })
      // Without functions, with the type definitions of this one.
      .def("empty", [](const PyModule& p) {
        ir::Module m = p.model.module;
        m.functions.clear();
        m.typed = nullptr;
        m.symbols.clear();
        m.contents.clear();
        return PyModule{{std::move(m), p.model.operators}, {}};
      });
}

}  // namespace relayvm::python

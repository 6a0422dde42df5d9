#include "tools/python/src/function_maker.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/ir/graph_builder.h"
#include "compiler/ir/walk.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

using ir::NodeId;

// --- Types of elsewhere ---

// Types and dims as those of one module: symbols and type variables that are not its own become new
// ones, the same for the same in all types that one importer is given. Symbols that Python made
// stay what they are, no module has others of their number: types are compared with what Python
// wrote.
class TypeImporter {
 public:
  explicit TypeImporter(const ir::Module& m) : m_(m) {}

  Dim Import(const Dim& d, const Home& home) {
    return d.Substitute([&](const Dim& s) -> std::optional<Dim> {
      if (s.symbol_id() >= kFirstPythonId || IsOwn(s.symbol_id(), home)) return std::nullopt;
      auto [at, is_new] = symbols_.try_emplace({home.get(), s.symbol_id()});
      if (is_new) at->second = Dim::Symbol(m_.ids->Next(), s.symbol_name(), s.symbol_nonnegative());
      return at->second;
    });
  }
  ir::Type Import(const ir::Type& type, const Home& home) {
    std::map<uint32_t, ir::Type> vars;
    ir::TypeMemo<bool> seen;
    FindVars(type, home, seen, &vars);
    ir::Type own = vars.empty() ? type : ir::SubstituteTypeVars(type, vars);
    return ir::MapDims(own, [&](const Dim& d) { return Import(d, home); });
  }
  ir::Type Import(const PyType& type) { return Import(type.type, type.home); }

 private:
  bool IsOwn(uint32_t id, const Home& home) const {
    return id < kFirstPythonId && home == m_.arena;
  }
  void FindVars(const ir::Type& type, const Home& home, ir::TypeMemo<bool>& seen,
                std::map<uint32_t, ir::Type>* vars) {
    if (seen.Find(type) != nullptr) return;
    seen.Add(type, true);
    if (const auto* var = type->As<ir::TypeVar>(); var != nullptr && !IsOwn(var->id, home)) {
      auto [at, is_new] = vars_.try_emplace({home.get(), var->id});
      if (is_new) at->second = ir::MakeType(ir::TypeVar{m_.ids->Next(), var->name});
      (*vars)[var->id] = at->second;
    }
    ir::ForEachChild(*type, [&](const ir::Type& t) { FindVars(t, home, seen, vars); });
  }

  const ir::Module& m_;
  std::map<std::pair<const void*, uint32_t>, Dim> symbols_;
  std::map<std::pair<const void*, uint32_t>, ir::Type> vars_;
};

// --- The function ---

class FunctionMaker {
 public:
  FunctionMaker(const ir::Module& m, const std::vector<Record>& records, std::string name,
                bool is_recursive, KeptTypes keep, Numbering* numbering)
      : m_(m),
        records_(records),
        name_(std::move(name)),
        is_recursive_(is_recursive),
        keep_(keep),
        numbering_(numbering),
        types_(m),
        builder_(m),
        vars_(records.size()),
        nodes_(records.size(), ir::kNoNode),
        patterns_(records.size()) {}

  Result<const ir::Function*> Make() {
    FindChanged();
    for (Position i = 0; i < records_.size(); ++i) MakeNode(i);
    const NodeId function = nodes_.back();
    const GilRelease no_gil;
    return builder_.Lower(function);
  }

 private:
  // A node is changed that Python made, or that reads a variable whose value is changed.
  void FindChanged() {
    changed_.assign(records_.size(), false);
    std::unordered_map<Position, std::vector<std::pair<Position, bool>>> binds;
    for (const Record& r : records_) {
      if (r.kind == "let") {
        const ir::Var* var = OwnVar(r.operands[0]);
        const Record& value = records_[r.operands[1]];
        // What a symbol stands for stays it.
        const bool is_size = value.kind == "internal" && IsSize(value);
        if (var != nullptr && value.bound != var) rebound_.insert(var);
        binds[r.operands[1]].emplace_back(r.operands[0],
                                          !is_size && (var == nullptr || value.bound != var));
        if (is_size) sizes_.insert(r.operands[0]);
        if (value.kind == "function" && Mentions(r.operands[1], r.operands[0]))
          recursive_.insert(r.operands[1]);
      } else if (r.kind == "match") {
        for (size_t k = 1; k < r.operands.size(); ++k)
          ForEachVar(records_[r.operands[k]].operands[0],
                     [&](Position var) { binds[r.operands[0]].emplace_back(var, false); });
      }
    }
    for (Position i = 0; i < records_.size(); ++i) {
      const Record& r = records_[i];
      const bool is_value = r.kind != "var" && r.kind != "constant" && r.kind != "global" &&
                            r.kind != "constructor" && r.kind != "let" && r.kind != "clause" &&
                            !r.kind.starts_with("pattern");
      bool changed = changed_[i] || (is_value && r.bound == nullptr);
      for (const Position operand : r.operands) changed = changed || changed_[operand];
      changed_[i] = changed;
      const auto at = binds.find(i);
      if (at == binds.end()) continue;
      for (const auto& [var, is_new] : at->second) {
        if (!sizes_.contains(var)) changed_[var] = changed_[var] || changed || is_new;
      }
    }
  }
  void ForEachVar(Position pattern, const std::function<void(Position)>& fn) const {
    const Record& r = records_[pattern];
    if (r.kind == "pattern_var") fn(r.operands[0]);
    if (r.kind == "pattern_var") return;
    for (const Position p : r.operands) ForEachVar(p, fn);
  }
  static bool IsSize(const Record& r) {
    const ir::Expr& e = *r.payload.cast<const PyExpr&>().expr;
    return e.As<ir::DimOf>() != nullptr || e.As<ir::ElementOf>() != nullptr;
  }
  const ir::Var* OwnVar(Position i) const {
    const Record& r = records_[i];
    if (!py::isinstance<PyVar>(r.payload)) return nullptr;
    const auto& var = r.payload.cast<const PyVar&>();
    return var.home == m_.arena ? var.var : nullptr;
  }
  bool Forgets(Position i) const { return keep_ != KeptTypes::kAll && changed_[i]; }
  // Of the value of a let: whether it mentions the variable.
  bool Mentions(Position value, Position var) const {
    std::unordered_set<Position> seen = {value};
    std::vector<Position> work = {value};
    while (!work.empty()) {
      const Position p = work.back();
      work.pop_back();
      if (p == var) return true;
      for (const Position o : records_[p].operands) {
        if (seen.insert(o).second) work.push_back(o);
      }
    }
    return false;
  }

  ir::Type TypeOf(const py::handle& type) {
    return type.is_none() ? nullptr : types_.Import(type.cast<const PyType&>());
  }
  const ir::Var* Var(Position i) {
    if (vars_[i] != nullptr) return vars_[i];
    const Record& r = records_[i];
    if (r.kind != "var") throw py::type_error(fmt::format("expected a Var, found a {}", r.kind));
    if (numbering_ != nullptr && py::isinstance<py::tuple>(r.payload)) {
      const ir::Type type = TypeOf(r.payload.cast<py::tuple>()[1]);
      vars_[i] = ir::MakeVar(m_, numbering_->NewName(i), type, r.span);
    } else if (const ir::Var* own = OwnVar(i)) {
      vars_[i] = own;
      if (Forgets(i))
        vars_[i] = m_.arena->New<ir::Var>(ir::Var{own->id, own->name, nullptr, own->span});
    } else if (py::isinstance<PyVar>(r.payload)) {
      const auto& var = r.payload.cast<const PyVar&>();
      const ir::Type type = changed_[i] || var.var->type == nullptr
                                ? nullptr
                                : types_.Import(var.var->type, var.home);
      vars_[i] = ir::MakeVar(m_, var.var->name, type, r.span);
    } else {
      const auto made = r.payload.cast<py::tuple>();
      vars_[i] = ir::MakeVar(m_, made[0].cast<std::string>(), TypeOf(made[1]), r.span);
    }
    return vars_[i];
  }
  const ir::Constructor* Constructor(const py::handle& path) const {
    const auto names = path.cast<std::pair<std::string, std::string>>();
    const auto adt = m_.types.find(names.first);
    if (adt != m_.types.end()) {
      for (const ir::Constructor* c : adt->second.constructors) {
        if (c->name == names.second) return c;
      }
    }
    Throw(
        {StatusCode::kInvalidArgument,
         fmt::format("the module has no constructor {} of a type {}", names.second, names.first)});
  }

  std::vector<NodeId> Operands(const Record& r, size_t first = 0) const {
    std::vector<NodeId> nodes;
    for (size_t i = first; i < r.operands.size(); ++i) nodes.push_back(Node(r.operands[i]));
    return nodes;
  }
  NodeId Node(Position i) const {
    if (nodes_[i] == ir::kNoNode)
      throw py::type_error(fmt::format("expected an expression, found a {}", records_[i].kind));
    return nodes_[i];
  }
  void Expect(const Record& r, size_t count) const {
    if (r.operands.size() != count)
      throw py::value_error(
          fmt::format("a {} has {} operands, found {}", r.kind, count, r.operands.size()));
  }

  ir::Function Header(Position i) {
    const Record& r = records_[i];
    ir::Function f;
    if (py::isinstance<PyFunction>(r.payload)) {
      const auto& old = r.payload.cast<const PyFunction&>();
      f.name = old.function->name;
      f.attrs = old.function->attrs;
      for (const ir::Type& t : old.function->type_params)
        f.type_params.push_back(types_.Import(t, old.home));
      if (old.function->result_type != nullptr && !ForgetsResult(i, f))
        f.result_type = types_.Import(old.function->result_type, old.home);
    } else {
      const auto made = r.payload.cast<py::tuple>();
      for (const py::handle t : made[0]) f.type_params.push_back(TypeOf(t));
      for (const auto& [key, value] : made[2].cast<py::dict>())
        f.attrs.emplace(key.cast<std::string>(), AttrOf(value));
      const bool is_given = !made[1].is_none();
      const bool is_inferred = is_given && made[1].cast<const PyType&>().home != nullptr;
      if (is_given && !(is_inferred && ForgetsResult(i, f))) f.result_type = TypeOf(made[1]);
    }
    for (size_t k = 0; k + 1 < r.operands.size(); ++k) f.params.push_back(Var(r.operands[k]));
    f.span = r.span;
    if (i + 1 == records_.size()) f.name = name_;
    return f;
  }
  // What the function states is in its body since types were checked; a generic one's type may be
  // more general than its body's.
  bool ForgetsResult(Position i, const ir::Function& f) const {
    const bool is_recursive = i + 1 == records_.size() ? is_recursive_ : recursive_.contains(i);
    if (is_recursive && keep_ == KeptTypes::kOfRecursive) return false;
    return Forgets(i) && f.type_params.empty() && !ir::IsHostFunction(f);
  }

  ir::Pattern Pattern(Position i) {
    const Record& r = records_[i];
    ir::Pattern p;
    p.span = r.span;
    if (r.kind == "pattern_var") {
      p.kind = ir::Pattern::Kind::kVar;
      p.var = Var(r.operands[0]);
      return p;
    }
    if (r.kind == "pattern_constructor") {
      p.kind = ir::Pattern::Kind::kConstructor;
      p.constructor = Constructor(r.payload);
    } else if (r.kind == "pattern_tuple") {
      p.kind = ir::Pattern::Kind::kTuple;
    }
    for (const Position f : r.operands) p.fields.push_back(patterns_[f]);
    return p;
  }

  void MakeNode(Position i) {
    const Record& r = records_[i];
    if (r.kind.starts_with("pattern")) {
      patterns_[i] = Pattern(i);
      return;
    }
    if (r.kind == "clause") return;
    nodes_[i] = Expr(i, r);
    if (numbering_ != nullptr) {
      const ir::NodeKind kind = builder_.node(nodes_[i]).kind;
      if (kind != ir::NodeKind::kAtom && kind != ir::NodeKind::kLet && i + 1 != records_.size())
        builder_.SetBinding(nodes_[i], ir::MakeVar(m_, numbering_->NewName(i), nullptr, r.span));
      return;
    }
    if (r.bound != nullptr && !rebound_.contains(r.bound) && !Forgets(i) &&
        builder_.node(nodes_[i]).kind != ir::NodeKind::kLet)
      builder_.SetBinding(nodes_[i], r.bound);
  }

  // An operator that is a value: the function that calls it.
  NodeId Operator(const std::string& name, ir::Span span) {
    const OpDef* op = OpTable::Get().Find(name);
    if (op == nullptr || op->num_args < 0) {
      Throw({StatusCode::kUnsupported,
             fmt::format("operator {} cannot be a value; wrap it in a function", name)});
    }
    ir::Function function{.span = span};
    std::vector<NodeId> args;
    for (int k = 0; k < op->num_args; ++k) {
      function.params.push_back(ir::MakeVar(m_, fmt::format("a{}", k), nullptr, span));
      args.push_back(builder_.Use(function.params.back(), span));
    }
    const NodeId call = builder_.Op(name, std::move(args), {}, span);
    return builder_.MakeFunction(std::move(function), call);
  }

  NodeId Expr(Position i, const Record& r) {
    const ir::Span span = r.span;
    if (r.kind == "var") return builder_.Use(Var(i), span);
    if (r.kind == "constant") {
      const auto& c = r.payload.cast<const PyConstant&>();
      if (c.home == m_.arena) return builder_.Use(c.constant.get(), span);
      return builder_.Constant(c.constant->value, c.constant->name, span);
    }
    if (r.kind == "global")
      return builder_.Use(
          m_.arena->New<ir::GlobalVar>(ir::GlobalVar{r.payload.cast<std::string>()}), span);
    if (r.kind == "constructor") return builder_.Use(Constructor(r.payload), span);
    if (r.kind == "op_call") {
      const auto& call = r.payload.cast<const PyCall&>();
      return builder_.OpCall(*call.op, Operands(r), call.attrs, span);
    }
    if (r.kind == "op") return Operator(r.payload.cast<std::string>(), span);
    if (r.kind == "call") return builder_.Call(Node(r.operands.at(0)), Operands(r, 1), span);
    if (r.kind == "tuple") return builder_.Tuple(Operands(r), span);
    if (r.kind == "get") {
      Expect(r, 1);
      return builder_.Field(Node(r.operands[0]), r.payload.cast<uint32_t>(), span);
    }
    if (r.kind == "let") {
      Expect(r, 3);
      return builder_.Let({Var(r.operands[0])}, {Node(r.operands[1])}, Node(r.operands[2]), span);
    }
    if (r.kind == "function") return builder_.MakeFunction(Header(i), Node(r.operands.back()));
    if (r.kind == "if") {
      Expect(r, 3);
      return builder_.If(Node(r.operands[0]), Node(r.operands[1]), Node(r.operands[2]), span);
    }
    if (r.kind == "match") {
      std::vector<ir::Pattern> patterns;
      std::vector<NodeId> bodies;
      for (size_t k = 1; k < r.operands.size(); ++k) {
        const Record& clause = records_[r.operands[k]];
        patterns.push_back(patterns_[clause.operands.at(0)]);
        bodies.push_back(Node(clause.operands.at(1)));
      }
      return builder_.Match(Node(r.operands.at(0)), std::move(patterns), std::move(bodies),
                            r.payload.cast<bool>(), span);
    }
    if (r.kind == "ref_create") return builder_.RefCreate(Node(r.operands.at(0)), span);
    if (r.kind == "ref_read") return builder_.RefRead(Node(r.operands.at(0)), span);
    if (r.kind == "ref_write") {
      Expect(r, 2);
      return builder_.RefWrite(Node(r.operands[0]), Node(r.operands[1]), span);
    }
    if (r.kind == "internal") {
      const auto& e = r.payload.cast<const PyExpr&>();
      if (e.home != m_.arena)
        throw py::value_error(
            "an Internal expression is the compiler's own and stays in the module that it comes "
            "from");
      size_t count = 0;
      ir::ForEachAtom(*e.expr, [&](const ir::Atom&) { ++count; });
      Expect(r, count);
      return builder_.OfExpr(*e.expr, Operands(r), span);
    }
    throw py::value_error("there is no kind of record " + r.kind);
  }

  const ir::Module& m_;
  const std::vector<Record>& records_;
  std::string name_;
  bool is_recursive_;
  KeptTypes keep_;
  Numbering* numbering_;
  TypeImporter types_;
  ir::GraphBuilder builder_;
  std::vector<bool> changed_;
  std::unordered_set<const ir::Var*> rebound_;  // that a let gives another value
  std::set<Position> recursive_;                // literals
  std::set<Position> sizes_;                    // variables that symbols stand for
  std::vector<const ir::Var*> vars_;            // by position
  std::vector<NodeId> nodes_;                   // by position
  std::vector<ir::Pattern> patterns_;           // by position
};

}  // namespace

std::vector<Record> ReadRecords(const ir::Module& m, const py::list& list) {
  std::vector<Record> records;
  records.reserve(list.size());
  std::unordered_set<const ir::Var*> bound;
  for (const py::handle item : list) {
    const auto tuple = py::reinterpret_borrow<py::tuple>(item);
    Record r;
    r.kind = tuple[0].cast<std::string>();
    for (const py::handle operand : tuple[1].cast<py::tuple>()) {
      const auto position = operand.cast<Position>();
      if (position >= records.size()) throw py::value_error("a record before its operands");
      r.operands.push_back(position);
    }
    r.payload = tuple[2];
    r.type = tuple[3];
    if (!tuple[4].is_none()) {
      const auto& span = tuple[4].cast<const PySpan&>();
      if (span.sources == m.sources) r.span = span.span;
    }
    if (!tuple[5].is_none()) {
      const auto& var = tuple[5].cast<const PyVar&>();
      if (var.home == m.arena && bound.insert(var.var).second) r.bound = var.var;
    }
    records.push_back(std::move(r));
  }
  return records;
}

std::string Numbering::NewName(Position position) {
  positions.push_back(position);
  return fmt::format("#{}", positions.size() - 1);
}

const Position* Numbering::Find(const std::string& name) const {
  if (name.size() < 2 || name[0] != '#') return nullptr;
  size_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool is_whole = error == std::errc() && end == name.data() + name.size();
  return is_whole && number < positions.size() ? &positions[number] : nullptr;
}

Result<const ir::Function*> FunctionOf(const ir::Module& m, const std::vector<Record>& records,
                                       std::string name, bool is_recursive, KeptTypes keep,
                                       Numbering* numbering) {
  return FunctionMaker(m, records, std::move(name), is_recursive, keep, numbering).Make();
}

}  // namespace relayvm::python

// Matches as decision trees.
//
// Rows of patterns over columns of values (Maranget, "Compiling Pattern Matching to Good Decision
// Trees", 2008): the first column in which the first row can fail is switched on; each
// constructor's rows are specialised, no value is tested twice on a path. A tree may be
// exponentially larger than its match: beyond a bound the rows are tried one after the other, which
// tests values again but is as long as the patterns. A clause's body is emitted once; where several
// leaves reach it, its variables are registers that each leaf fills.
// Tested by lower_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "compiler/ir/stop_scope.h"
#include "compiler/ir/walk.h"
#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {

using ir::Pattern;

struct MatchRow {
  std::vector<const Pattern*> patterns;                  // one a column; null is a wildcard
  std::vector<std::pair<const ir::Var*, size_t>> bound;  // variables met on the way: their columns
  size_t clause = 0;
};

// A node of the tree: a row that fits, a column to switch on, or neither where no row fits. Columns
// are numbered along the path from the root; a node begins with those that it adds.
struct Decision {
  struct Field {
    size_t column;  // whose field it is
    uint32_t index;
    ir::Type type;
    bool is_read;
  };
  struct Branch {
    std::optional<uint32_t> tag;  // nothing, and first: of all constructors that no branch names
    std::unique_ptr<Decision> next;
  };
  std::vector<Field> fields;
  std::optional<MatchRow> leaf;
  size_t column = 0;
  size_t num_tags = 0;
  std::vector<Branch> branches;
};

struct FunctionLowering::MatchState {
  const ir::MatchExpr& match;
  ir::Type type;
  bool tail = false;
  Value target;  // unless tail
  Label done = 0;
  struct Body {
    bool shared = false;  // several leaves reach it
    Label label = 0;
    std::map<uint32_t, Value> vars;  // when shared
  };
  std::vector<Body> bodies;  // one a clause
  size_t num_targets = 0;    // of all switches so far
  std::set<size_t> pending;  // shared bodies to emit after the tree
  // Where no row fits: the next row of those that are tried in turn, or a trap.
  std::optional<Label> next_row;
};

namespace {

// A tree may have so many nodes for each pattern of its match, and so many in any case.
constexpr size_t kNodesPerPattern = 4;
constexpr size_t kFreeNodes = 64;
// Nodes may hold so many rows together: many that look at another column stand in each branch.
constexpr size_t kMostRows = size_t{1} << 22;
// The switches of a match may have so many targets together. One has a target for each constructor
// of the type up to the last that is asked for.
constexpr size_t kMostTargets = size_t{1} << 24;

size_t CountPatterns(const Pattern& p) {
  size_t n = 1;
  for (const Pattern& f : p.fields) n += CountPatterns(f);
  return n;
}

// Wildcards and variables always match; so do tuples of such.
bool IsRefutable(const Pattern* p) {
  if (p == nullptr) return false;
  if (p->kind == Pattern::Kind::kConstructor) return true;
  if (p->kind != Pattern::Kind::kTuple) return false;
  for (const Pattern& f : p->fields) {
    if (IsRefutable(&f)) return true;
  }
  return false;
}

class TreeBuilder {
 public:
  TreeBuilder(const ir::Module& module, size_t num_clauses, size_t max_nodes)
      : module_(module),
        leaves_(num_clauses, 0),
        max_nodes_(max_nodes),
        max_rows_(max_nodes == SIZE_MAX ? SIZE_MAX : kMostRows) {}

  size_t leaves(size_t clause) const { return leaves_[clause]; }
  bool is_too_large() const { return nodes_ > max_nodes_ || rows_ > max_rows_; }

  // Incomplete when the tree is too large. `columns` are those before `fields`.
  std::unique_ptr<Decision> Build(std::vector<MatchRow> rows, std::vector<ir::Type> columns,
                                  std::vector<Decision::Field> fields = {}) {
    auto node = std::make_unique<Decision>();
    for (const Decision::Field& f : fields) columns.push_back(f.type);
    node->fields = std::move(fields);
    ir::PollStop();
    ++nodes_;
    rows_ += rows.size();
    if (is_too_large() || rows.empty()) return node;
    OpenTuples(rows, columns, *node);
    while (node->column < columns.size() && !IsRefutable(rows[0].patterns[node->column])) {
      ++node->column;
    }
    if (node->column == columns.size()) {
      ++leaves_[rows[0].clause];
      node->leaf = std::move(rows[0]);
      return node;
    }
    Switch(rows, columns, *node);
    return node;
  }

 private:
  // Binds what always matches, and makes the fields of tuples columns.
  static void OpenTuples(std::vector<MatchRow>& rows, std::vector<ir::Type>& columns,
                         Decision& node) {
    for (size_t c = 0; c < columns.size(); ++c) {
      bool tuple = false;
      for (MatchRow& row : rows) {
        const Pattern* p = row.patterns[c];
        if (p == nullptr) continue;
        if (p->kind == Pattern::Kind::kVar) row.bound.emplace_back(p->var, c);
        if (p->kind == Pattern::Kind::kTuple) tuple = true;
        bool always = p->kind == Pattern::Kind::kVar || p->kind == Pattern::Kind::kWildcard;
        if (always) row.patterns[c] = nullptr;
      }
      if (!tuple) continue;
      const ir::Type type = columns[c];
      const auto& fields = type->As<ir::TupleType>()->fields;
      const size_t first = columns.size();
      for (uint32_t i = 0; i < fields.size(); ++i) {
        columns.push_back(fields[i]);
        node.fields.push_back({c, i, fields[i], true});
      }
      for (MatchRow& row : rows) {
        const Pattern* p = row.patterns[c];
        row.patterns.resize(first + fields.size(), nullptr);
        if (p == nullptr) continue;
        for (size_t i = 0; i < fields.size(); ++i) row.patterns[first + i] = &p->fields[i];
        row.patterns[c] = nullptr;
      }
    }
  }

  // The first row can fail in the node's column.
  void Switch(const std::vector<MatchRow>& rows, const std::vector<ir::Type>& columns,
              Decision& node) {
    const auto& adt = *columns[node.column]->As<ir::AdtType>();
    const ir::TypeDef& def = module_.types.at(adt.name);
    std::map<uint32_t, ir::Type> arguments;
    for (size_t i = 0; i < def.params.size(); ++i) {
      arguments[def.params[i]->As<ir::TypeVar>()->id] = adt.args[i];
    }
    std::map<uint32_t, std::vector<size_t>> tested;  // rows by tag
    std::vector<size_t> open;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Pattern* p = rows[i].patterns[node.column];
      (p == nullptr ? open : tested[p->constructor->tag]).push_back(i);
    }
    node.num_tags = tested.rbegin()->first + 1;
    if (tested.size() < def.constructors.size()) {
      std::vector<MatchRow> others;
      for (const size_t i : open) others.push_back(rows[i]);
      node.branches.push_back({std::nullopt, Build(std::move(others), columns)});
    }
    for (const auto& [tag, own] : tested) {
      if (is_too_large()) return;
      const ir::Constructor& constructor = *def.constructors[tag];
      std::vector<Decision::Field> fields;
      for (uint32_t i = 0; i < constructor.fields.size(); ++i) {
        ir::Type type = ir::SubstituteTypeVars(constructor.fields[i], arguments);
        fields.push_back({node.column, i, std::move(type), false});
      }
      std::vector<size_t> both;  // in the order of the clauses
      std::ranges::merge(own, open, std::back_inserter(both));
      std::vector<MatchRow> chosen;
      for (const size_t row : both) {
        const Pattern* p = rows[row].patterns[node.column];
        MatchRow& r = chosen.emplace_back(rows[row]);
        r.patterns[node.column] = nullptr;
        r.patterns.resize(columns.size() + fields.size(), nullptr);
        for (size_t i = 0; p != nullptr && i < p->fields.size(); ++i) {
          r.patterns[columns.size() + i] = &p->fields[i];
          if (p->fields[i].kind != Pattern::Kind::kWildcard) fields[i].is_read = true;
        }
        // What stands behind a row that takes all is not reached.
        if (std::ranges::none_of(r.patterns, IsRefutable)) break;
      }
      node.branches.push_back({tag, Build(std::move(chosen), columns, std::move(fields))});
    }
  }

  const ir::Module& module_;
  std::vector<size_t> leaves_;  // by clause: those that reach its body
  size_t nodes_ = 0, rows_ = 0;
  const size_t max_nodes_, max_rows_;
};

}  // namespace

Status FunctionLowering::LowerLeaf(MatchState& state, const MatchRow& row,
                                   const std::vector<Value>& columns) {
  MatchState::Body& body = state.bodies[row.clause];
  const ir::MatchClause& clause = state.match.clauses[row.clause];
  if (!body.shared) {
    for (const auto& [var, column] : row.bound) BindVar(var, columns[column]);
    RELAYVM_ASSIGN_OR_RETURN(std::optional<Value> v, LowerBlock(*clause.body, state.tail));
    if (v) {
      MoveTo(state.target, *v);
      Emit(Opcode::kJump, {state.done});
    }
    return OkStatus();
  }
  if (state.pending.insert(row.clause).second) {
    body.label = NewLabel();
    for (const auto& [var, column] : row.bound) {
      if (remaining_[var->id] > 0) {
        body.vars.emplace(var->id, ObjectValue(var->type, NewObject()));
      }
    }
  }
  for (const auto& [var, column] : row.bound) {
    auto at = body.vars.find(var->id);
    if (at != body.vars.end()) MoveTo(at->second, columns[column]);
  }
  Emit(Opcode::kJump, {body.label});
  return OkStatus();
}

// With the constructors that would fit, where the clauses ask for nothing else.
static std::string NoClauseFits(const ir::MatchExpr& match) {
  std::string message = "no clause of the match fits the value";
  std::string_view before = "; expected ";
  std::string names;
  for (const ir::MatchClause& clause : match.clauses) {
    const Pattern& p = clause.pattern;
    const auto refutable = [](const Pattern& field) { return IsRefutable(&field); };
    if (p.kind != Pattern::Kind::kConstructor ||
        std::any_of(p.fields.begin(), p.fields.end(), refutable)) {
      return message;
    }
    names.append(before).append(p.constructor->name);
    before = " or ";
  }
  return message + names;
}

Status FunctionLowering::LowerDecision(MatchState& state, const Decision& node,
                                       std::vector<Value> columns) {
  for (const Decision::Field& f : node.fields) {
    columns.push_back(f.is_read ? FieldOf(columns[f.column], f.index, f.type)
                                : Value{f.type, nullptr});
  }
  if (node.leaf) return LowerLeaf(state, *node.leaf, columns);
  if (node.branches.empty()) {
    if (state.next_row) {
      Emit(Opcode::kJump, {*state.next_row});
    } else {
      Emit(Opcode::kTrap, {module_.MessageIndex(NoClauseFits(state.match))});
    }
    return OkStatus();
  }
  if (node.branches.size() == 1) return LowerDecision(state, *node.branches[0].next, columns);
  state.num_targets += node.num_tags;
  if (node.num_tags > std::numeric_limits<uint16_t>::max() || state.num_targets > kMostTargets) {
    return module_.module().sources->Error(
        StatusCode::kOutOfRange, span_,
        fmt::format("a match on a type of {} constructors is too large for bytecode",
                    node.num_tags));
  }
  // One label a constructor. What no label fits falls through: the rows that do not look at this
  // column.
  const Label others = NewLabel();
  std::vector<uint32_t> labels(node.num_tags, others);
  for (const Decision::Branch& b : node.branches) {
    if (b.tag) labels[*b.tag] = NewLabel();
  }
  Emit(Opcode::kSwitchTag, {ObjectOf(columns[node.column]), labels});
  if (node.branches[0].tag) {
    Bind(others);
    Emit(Opcode::kTrap, {module_.MessageIndex("a value has a constructor that its type lacks")});
  }
  for (const Decision::Branch& b : node.branches) {
    size_t scope = OpenScope();
    Bind(b.tag ? labels[*b.tag] : others);
    RELAYVM_RETURN_IF_ERROR(LowerDecision(state, *b.next, columns));
    CloseScope(scope);
  }
  return OkStatus();
}

Result<Value> FunctionLowering::LowerMatch(const ir::MatchExpr& e, const ir::Type& type, bool tail,
                                           ir::Span span) {
  MatchState state{.match = e, .type = type, .tail = tail};
  state.bodies.resize(e.clauses.size());
  std::vector<MatchRow> rows;
  size_t max_nodes = kFreeNodes;
  for (size_t i = 0; i < e.clauses.size(); ++i) {
    rows.push_back({{&e.clauses[i].pattern}, {}, i});
    max_nodes += kNodesPerPattern * CountPatterns(e.clauses[i].pattern);
  }
  Value data = AtomValue(e.data);
  const ir::Module& module = module_.module();
  TreeBuilder builder(module, rows.size(), max_nodes);
  const std::unique_ptr<Decision> tree = builder.Build(rows, {data.type});
  state.target = tail ? Value{type, nullptr} : MergeTarget(type);
  state.done = NewLabel();
  span_ = span;
  if (builder.is_too_large()) {
    TreeBuilder alone(module, e.clauses.size(), SIZE_MAX);
    for (MatchRow& row : rows) {  // one alone has one leaf
      size_t scope = OpenScope();
      state.next_row = NewLabel();
      auto one = alone.Build({std::move(row)}, {data.type});
      RELAYVM_RETURN_IF_ERROR(LowerDecision(state, *one, {data}));
      CloseScope(scope);
      Bind(*state.next_row);
    }
    state.next_row.reset();
    RELAYVM_RETURN_IF_ERROR(LowerDecision(state, Decision{}, {data}));
  } else {
    for (size_t i = 0; i < state.bodies.size(); ++i) {
      state.bodies[i].shared = builder.leaves(i) > 1;
    }
    RELAYVM_RETURN_IF_ERROR(LowerDecision(state, *tree, {data}));
  }
  for (size_t clause : state.pending) {
    size_t scope = OpenScope();
    MatchState::Body& body = state.bodies[clause];
    Bind(body.label);
    ForEachVar(e.clauses[clause].pattern, [&](const ir::Var* v) {
      auto at = body.vars.find(v->id);
      if (at != body.vars.end()) BindVar(v, at->second);
    });
    RELAYVM_ASSIGN_OR_RETURN(std::optional<Value> v, LowerBlock(*e.clauses[clause].body, tail));
    if (v) {
      MoveTo(state.target, *v);
      Emit(Opcode::kJump, {state.done});
    }
    CloseScope(scope);
  }
  if (!tail) Bind(state.done);
  return state.target;
}

}  // namespace relayvm::lower

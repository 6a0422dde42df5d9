// Matches as decision trees.
//
// Rows of patterns over columns of values (Maranget, "Compiling Pattern Matching to Good Decision
// Trees", 2008): the first column in which the first row can fail is switched on; each
// constructor's rows are specialised, no value is tested twice on a path. A tree may be exponentially
// larger than its match: beyond a bound the rows are tried one after the other, which tests values
// again but is as long as the patterns. A clause's body is emitted once; where several leaves reach
// it, its variables are registers that each leaf fills.
// Tested by lower_test.cc.
#include <map>
#include <set>

#include "compiler/ir/walk.h"
#include "compiler/lowering/function_lowering.h"

namespace relayvm::lower {

using ir::Pattern;

struct FunctionLowering::MatchRow {
  std::vector<const Pattern*> patterns;                 // one a column; null is a wildcard
  std::vector<std::pair<const ir::Var*, Value>> bound;  // variables met on the way
  size_t clause = 0;
};

struct FunctionLowering::MatchState {
  const ir::MatchExpr& match;
  ir::Type type;
  bool tail = false;
  Value target;  // unless tail
  Label done = 0;
  struct Body {
    size_t leaves = 0;  // that reach it
    bool shared = false;
    Label label = 0;
    std::map<uint32_t, Value> vars;  // when shared
  };
  std::vector<Body> bodies;  // one a clause
  std::set<size_t> pending;  // shared bodies to emit after the tree
  bool counting = false;     // first walk: only count leaves
  size_t nodes = 0;          // of the tree, while counting; not beyond:
  size_t max_nodes = 0;
  // Where no row fits: the next row of those that are tried in turn, or a trap.
  std::optional<Label> next_row;
};

namespace {

// A tree may have so many nodes for each pattern of its match, and so many in any case.
constexpr size_t kNodesPerPattern = 4;
constexpr size_t kFreeNodes = 64;

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

}  // namespace

Status FunctionLowering::LowerLeaf(MatchState& state, const MatchRow& row) {
  MatchState::Body& body = state.bodies[row.clause];
  ++body.leaves;
  if (state.counting) return OkStatus();
  const ir::MatchClause& clause = state.match.clauses[row.clause];
  if (!body.shared) {
    for (const auto& [var, value] : row.bound) BindVar(var, value);
    RELAYVM_ASSIGN_OR_RETURN(std::optional<Value> v, LowerBlock(*clause.body, state.tail));
    if (v) {
      MoveTo(state.target, *v);
      Emit(Opcode::kJump, {state.done});
    }
    return OkStatus();
  }
  if (state.pending.insert(row.clause).second) {
    body.label = NewLabel();
    for (const auto& [var, value] : row.bound) {
      if (remaining_[var->id] > 0) {
        body.vars.emplace(var->id, ObjectValue(var->type, NewObject()));
      }
    }
  }
  for (const auto& [var, value] : row.bound) {
    auto at = body.vars.find(var->id);
    if (at != body.vars.end()) MoveTo(at->second, value);
  }
  Emit(Opcode::kJump, {body.label});
  return OkStatus();
}

Status FunctionLowering::LowerDecision(MatchState& state, std::vector<MatchRow> rows,
                                       std::vector<Value> columns) {
  // Bind what always matches, open tuples, and find the first column in which the first row can
  // fail.
  if (state.counting && ++state.nodes > state.max_nodes) return OkStatus();
  if (rows.empty()) {
    if (state.counting) return OkStatus();
    if (state.next_row) {
      Emit(Opcode::kJump, {*state.next_row});
    } else {
      Emit(Opcode::kTrap, {module_.MessageIndex("no clause of the match fits the value")});
    }
    return OkStatus();
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    bool tuple = false;
    for (MatchRow& row : rows) {
      const Pattern* p = row.patterns[c];
      if (p == nullptr) continue;
      if (p->kind == Pattern::Kind::kVar) {
        row.bound.emplace_back(p->var, columns[c]);
        row.patterns[c] = nullptr;
      } else if (p->kind == Pattern::Kind::kWildcard) {
        row.patterns[c] = nullptr;
      } else if (p->kind == Pattern::Kind::kTuple) {
        tuple = true;
      }
    }
    if (!tuple) continue;
    const auto& fields = columns[c].type->As<ir::TupleType>()->fields;
    size_t first = columns.size();
    for (uint32_t i = 0; i < fields.size(); ++i) {
      columns.push_back(state.counting ? Value{fields[i], nullptr}
                                       : FieldOf(columns[c], i, fields[i]));
    }
    for (MatchRow& row : rows) {
      const Pattern* p = row.patterns[c];
      row.patterns.resize(first + fields.size(), nullptr);
      if (p == nullptr) continue;
      for (size_t i = 0; i < fields.size(); ++i) row.patterns[first + i] = &p->fields[i];
      row.patterns[c] = nullptr;
    }
  }
  size_t column = 0;
  while (column < columns.size() && !IsRefutable(rows[0].patterns[column])) ++column;
  if (column == columns.size()) return LowerLeaf(state, rows[0]);

  Value value = columns[column];
  const auto& adt = *value.type->As<ir::AdtType>();
  const ir::TypeDef& def = module_.module().types.at(adt.name);
  std::map<uint32_t, ir::Type> arguments;
  for (size_t i = 0; i < def.params.size(); ++i) {
    arguments[def.params[i]->As<ir::TypeVar>()->id] = adt.args[i];
  }
  std::set<uint32_t> tested;
  for (const MatchRow& row : rows) {
    if (row.patterns[column] != nullptr) tested.insert(row.patterns[column]->constructor->tag);
  }
  bool exhaustive = tested.size() == def.constructors.size();
  std::vector<MatchRow> others;
  for (const MatchRow& row : rows) {
    if (row.patterns[column] == nullptr) others.push_back(row);
  }

  // One label a constructor, the last (or the others) falling through.
  size_t num_labels = tested.empty() ? 0 : *tested.rbegin() + 1;
  std::vector<uint32_t> labels;
  Label other_label = 0;
  bool single = tested.size() == 1 && exhaustive;
  if (!state.counting && !single) {
    other_label = NewLabel();
    for (uint32_t tag = 0; tag < num_labels; ++tag) {
      labels.push_back(tested.contains(tag) ? NewLabel() : other_label);
    }
    Emit(Opcode::kSwitchTag, {ObjectOf(value), labels});
  }
  auto branch = [&](std::optional<uint32_t> tag) -> Status {
    std::vector<MatchRow> chosen;
    std::vector<Value> inner = columns;
    if (tag) {
      const ir::Constructor& constructor = *def.constructors[*tag];
      size_t first = columns.size();
      std::vector<bool> wanted(constructor.fields.size(), false);
      for (const MatchRow& row : rows) {
        const Pattern* p = row.patterns[column];
        if (p == nullptr) {
          chosen.push_back(row);
        } else if (p->constructor->tag == *tag) {
          chosen.push_back(row);
        } else {
          continue;
        }
        MatchRow& r = chosen.back();
        r.patterns[column] = nullptr;
        r.patterns.resize(first + constructor.fields.size(), nullptr);
        if (p == nullptr) continue;
        for (size_t i = 0; i < p->fields.size(); ++i) {
          r.patterns[first + i] = &p->fields[i];
          wanted[i] = wanted[i] || p->fields[i].kind != Pattern::Kind::kWildcard;
        }
      }
      for (uint32_t i = 0; i < constructor.fields.size(); ++i) {
        ir::Type type = ir::SubstituteTypeVars(constructor.fields[i], arguments);
        bool load = wanted[i] && !state.counting;
        inner.push_back(load ? FieldOf(value, i, type) : Value{type, nullptr});
      }
    } else {
      chosen = others;
    }
    return LowerDecision(state, std::move(chosen), std::move(inner));
  };
  // Falls through when no label fits: the rows that do not look at this column.
  if (!single) {
    size_t scope = OpenScope();
    if (!state.counting) Bind(other_label);
    if (exhaustive) {
      if (!state.counting) {
        Emit(Opcode::kTrap,
             {module_.MessageIndex("a value has a constructor that its type lacks")});
      }
    } else {
      RELAYVM_RETURN_IF_ERROR(branch(std::nullopt));
    }
    CloseScope(scope);
  }
  for (uint32_t tag : tested) {
    size_t scope = OpenScope();
    if (!state.counting && !single) Bind(labels[tag]);
    RELAYVM_RETURN_IF_ERROR(branch(tag));
    CloseScope(scope);
  }
  return OkStatus();
}

// One row alone has one leaf.
Status FunctionLowering::LowerRowsInTurn(MatchState& state, std::vector<MatchRow> rows,
                                         const Value& data) {
  for (MatchRow& row : rows) {
    size_t scope = OpenScope();
    state.next_row = NewLabel();
    RELAYVM_RETURN_IF_ERROR(LowerDecision(state, {std::move(row)}, {data}));
    CloseScope(scope);
    Bind(*state.next_row);
  }
  state.next_row.reset();
  return LowerDecision(state, {}, {});
}

Result<Value> FunctionLowering::LowerMatch(const ir::MatchExpr& e, const ir::Type& type, bool tail,
                                           ir::Span span) {
  MatchState state{.match = e, .type = type, .tail = tail};
  state.bodies.resize(e.clauses.size());
  std::vector<MatchRow> rows;
  for (size_t i = 0; i < e.clauses.size(); ++i) {
    MatchRow row;
    row.patterns = {&e.clauses[i].pattern};
    row.clause = i;
    rows.push_back(std::move(row));
  }
  Value data = AtomValue(e.data);
  state.max_nodes = kFreeNodes;
  for (const ir::MatchClause& c : e.clauses) {
    state.max_nodes += kNodesPerPattern * CountPatterns(c.pattern);
  }
  state.counting = true;
  RELAYVM_RETURN_IF_ERROR(LowerDecision(state, rows, {Value{data.type, nullptr}}));
  state.counting = false;
  bool in_turn = state.nodes > state.max_nodes;
  for (MatchState::Body& body : state.bodies) {
    body.shared = !in_turn && body.leaves > 1;
    body.leaves = 0;
  }
  state.target = tail ? Value{type, nullptr} : MergeTarget(type);
  state.done = NewLabel();
  span_ = span;
  if (in_turn) {
    RELAYVM_RETURN_IF_ERROR(LowerRowsInTurn(state, std::move(rows), data));
  } else {
    RELAYVM_RETURN_IF_ERROR(LowerDecision(state, std::move(rows), {data}));
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

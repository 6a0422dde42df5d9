// The algorithm is Maranget's ("Warnings for pattern matching", 2007, section 5): a matrix of
// patterns is specialised by the head constructors of its first column until a row of wildcards
// decides.
#include "compiler/typing/patterns.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace relayvm::typing {
namespace {

using ir::Pattern;
using Row = std::vector<const Pattern*>;
using Rows = std::vector<const Row*>;
using Witness = std::vector<std::string>;

bool IsOpen(const Pattern& p) {
  return p.kind == Pattern::Kind::kWildcard || p.kind == Pattern::Kind::kVar;
}

const Pattern& Wildcard() {
  static const Pattern kWildcard;
  return kWildcard;
}

std::string Show(const std::string& name, size_t arity, const Witness& fields) {
  if (arity == 0 && !name.empty()) return name;
  std::string out = name + "(";
  for (size_t i = 0; i < arity; ++i) out += (i > 0 ? ", " : "") + fields[i];
  return out + (name.empty() && arity == 1 ? ",)" : ")");
}

class PatternChecker {
 public:
  explicit PatternChecker(const ir::Module& module) : module_(module) {}

  // A row of `width` values that no row of the matrix matches.
  std::optional<Witness> Find(const std::vector<Row>& rows, size_t width) {
    if (rows.empty()) return Witness(width, "_");
    work_ += rows.size() * (width + 1);
    if (work_ > kMaxWork) return std::nullopt;
    // A row that takes everything decides at once.
    for (const Row& row : rows) {
      if (std::all_of(row.begin(), row.end(), [](const Pattern* p) { return IsOpen(*p); })) {
        return std::nullopt;
      }
    }
    const Pattern* tuple = nullptr;
    Rows open;
    std::map<uint32_t, Rows> by_tag;
    const ir::Constructor* constructor = nullptr;
    for (const Row& row : rows) {
      if (IsOpen(*row[0])) {
        open.push_back(&row);
      } else if (row[0]->kind == Pattern::Kind::kTuple) {
        tuple = row[0];
      } else {
        constructor = row[0]->constructor;
        by_tag[constructor->tag].push_back(&row);
      }
    }
    if (tuple != nullptr) {
      Rows all;
      for (const Row& row : rows) all.push_back(&row);
      return FindSpecialised(all, width, nullptr, tuple->fields.size());
    }
    if (constructor == nullptr) return FindDefault(open, width, "_");
    auto type = module_.types.find(constructor->adt);
    if (type == module_.types.end()) return std::nullopt;
    return FindInOrder(type->second.constructors, open, std::move(by_tag), width);
  }

  bool gave_up() const { return work_ > kMaxWork; }

 private:
  // Patterns looked at. The problem is NP-hard; this takes about a second.
  static constexpr size_t kMaxWork = 500'000'000;

  // Constructors are looked at in the type's order, so that the first that is unmatched is named.
  // Those that no row begins with are alike: the first stands for all.
  std::optional<Witness> FindInOrder(const std::vector<const ir::Constructor*>& constructors,
                                     const Rows& open, std::map<uint32_t, Rows> by_tag,
                                     size_t width) {
    bool is_default_done = false;
    const auto find_default = [&](uint32_t tag) {
      is_default_done = true;
      const ir::Constructor& c = *constructors[tag];
      return FindDefault(open, width, Show(c.name, c.fields.size(), Witness(c.fields.size(), "_")));
    };
    uint32_t next = 0;
    for (auto& [tag, rows] : by_tag) {
      if (tag != next && !is_default_done) {
        if (auto found = find_default(next)) return found;
      }
      next = tag + 1;
      Rows begun = std::move(rows);
      begun.insert(begun.end(), open.begin(), open.end());
      const ir::Constructor* c = constructors[tag];
      auto found = FindSpecialised(begun, width, c, c->fields.size());
      if (found || gave_up()) return found;
    }
    if (next == constructors.size() || is_default_done) return std::nullopt;
    return find_default(next);
  }

  std::optional<Witness> FindDefault(const Rows& open, size_t width, std::string head) {
    std::vector<Row> rest;
    for (const Row* row : open) rest.emplace_back(row->begin() + 1, row->end());
    auto found = Find(rest, width - 1);
    if (found) found->insert(found->begin(), std::move(head));
    return found;
  }

  // Of rows that begin with `c` or are open. `c` null: with a tuple.
  std::optional<Witness> FindSpecialised(const Rows& rows, size_t width, const ir::Constructor* c,
                                         size_t arity) {
    work_ += rows.size() * (arity + width);
    if (work_ > kMaxWork) return std::nullopt;
    std::vector<Row> inner;
    for (const Row* row : rows) {
      const Pattern& head = *(*row)[0];
      Row expanded;
      for (size_t i = 0; i < arity; ++i) {
        expanded.push_back(IsOpen(head) ? &Wildcard() : &head.fields[i]);
      }
      expanded.insert(expanded.end(), row->begin() + 1, row->end());
      inner.push_back(std::move(expanded));
    }
    auto found = Find(inner, arity + width - 1);
    if (!found) return found;
    std::string head = Show(c == nullptr ? "" : c->name, arity, *found);
    found->erase(found->begin(), found->begin() + static_cast<ptrdiff_t>(arity));
    found->insert(found->begin(), std::move(head));
    return found;
  }

  const ir::Module& module_;
  size_t work_ = 0;
};

}  // namespace

Result<std::optional<std::string>> UnmatchedCase(const ir::Module& module,
                                                 const ir::MatchExpr& match) {
  std::vector<Row> rows;
  for (const ir::MatchClause& clause : match.clauses) rows.push_back({&clause.pattern});
  PatternChecker checker(module);
  auto found = checker.Find(rows, 1);
  if (found) return std::optional(found->front());
  if (!checker.gave_up()) return std::optional<std::string>();
  return Status(StatusCode::kUnsupported,
                "match is too complex to tell whether its clauses take every value; end it with "
                "the clause `_ => ...`, or write `match?`");
}

}  // namespace relayvm::typing

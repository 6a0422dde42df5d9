// The algorithm is Maranget's ("Warnings for pattern matching", 2007, section 5): a matrix of
// patterns is specialised by the head constructors of its first column until a row of wildcards
// decides.
#include "compiler/typing/patterns.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace relayvm::typing {
namespace {

using ir::Pattern;
using Row = std::vector<const Pattern*>;
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

class Checker {
 public:
  explicit Checker(const ir::Module& module) : module_(module) {}

  // A row of `width` values that no row of the matrix matches.
  std::optional<Witness> Find(const std::vector<Row>& rows, size_t width) {
    if (rows.empty()) return Witness(width, "_");
    // A row that takes everything decides at once.
    for (const Row& row : rows) {
      if (std::all_of(row.begin(), row.end(), [](const Pattern* p) { return IsOpen(*p); })) {
        return std::nullopt;
      }
    }
    work_ += rows.size() * width;
    if (work_ > kMaxWork) return std::nullopt;
    const ir::Constructor* constructor = nullptr;
    const Pattern* tuple = nullptr;
    std::set<uint32_t> tags;
    for (const Row& row : rows) {
      if (row[0]->kind == Pattern::Kind::kTuple) tuple = row[0];
      if (row[0]->kind != Pattern::Kind::kConstructor) continue;
      constructor = row[0]->constructor;
      tags.insert(constructor->tag);
    }
    if (tuple != nullptr) return FindSpecialised(rows, width, nullptr, tuple->fields.size());
    if (constructor == nullptr) return FindDefault(rows, width, "_");
    auto type = module_.types.find(constructor->adt);
    if (type == module_.types.end()) return std::nullopt;
    for (const ir::Constructor* c : type->second.constructors) {
      auto found =
          tags.contains(c->tag)
              ? FindSpecialised(rows, width, c, c->fields.size())
              : FindDefault(rows, width,
                            Show(c->name, c->fields.size(), Witness(c->fields.size(), "_")));
      if (found) return found;
    }
    return std::nullopt;
  }

  bool gave_up() const { return work_ > kMaxWork; }

 private:
  // Patterns looked at. The problem is NP-hard; this takes about a second.
  static constexpr size_t kMaxWork = 500'000'000;

  std::optional<Witness> FindDefault(const std::vector<Row>& rows, size_t width, std::string head) {
    std::vector<Row> rest;
    for (const Row& row : rows) {
      if (IsOpen(*row[0])) rest.emplace_back(row.begin() + 1, row.end());
    }
    auto found = Find(rest, width - 1);
    if (found) found->insert(found->begin(), std::move(head));
    return found;
  }

  // `c` null: a tuple.
  std::optional<Witness> FindSpecialised(const std::vector<Row>& rows, size_t width,
                                         const ir::Constructor* c, size_t arity) {
    std::vector<Row> inner;
    for (const Row& row : rows) {
      const Pattern& head = *row[0];
      if (!IsOpen(head) && c != nullptr && head.constructor->tag != c->tag) continue;
      Row expanded;
      for (size_t i = 0; i < arity; ++i) {
        expanded.push_back(IsOpen(head) ? &Wildcard() : &head.fields[i]);
      }
      expanded.insert(expanded.end(), row.begin() + 1, row.end());
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
  Checker checker(module);
  auto found = checker.Find(rows, 1);
  if (found) return std::optional(found->front());
  if (!checker.gave_up()) return std::optional<std::string>();
  return Status(StatusCode::kUnsupported,
                "match is too complex to tell whether its clauses take every value; end it with "
                "the clause `_ => ...`, or write `match?`");
}

}  // namespace relayvm::typing

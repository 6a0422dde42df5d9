#include "compiler/import/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bytecode/base/utf8.h"
#include "compiler/import/unicode.h"

namespace relayvm::import {
namespace regex {
namespace {

constexpr int kMostNested = 200;
constexpr int kMostRepeats = 1000;  // as RE2's
constexpr size_t kMostRanges = 1000000;

using Ranges = Characters;

const Ranges kDigits = {{'0', '9'}};
const Ranges kSpaces = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
const Ranges kWords = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

struct NamedClass {
  std::string_view name;
  Ranges ranges;
};
const NamedClass kPosix[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
    {"ascii", {{0, 0x7F}}},
    {"blank", {{'\t', '\t'}, {' ', ' '}}},
    {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
    {"digit", {{'0', '9'}}},
    {"graph", {{'!', '~'}}},
    {"lower", {{'a', 'z'}}},
    {"print", {{' ', '~'}}},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
    {"space", {{'\t', '\r'}, {' ', ' '}}},
    {"upper", {{'A', 'Z'}}},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
};

struct Node {
  enum class Kind : uint8_t { kEmpty, kSet, kAssert, kSequence, kChoice, kRepeat };
  Kind kind = Kind::kEmpty;
  Ranges ranges;                             // kSet
  RegexAssert assertion{};                   // kAssert
  std::vector<std::unique_ptr<Node>> parts;  // kSequence, kChoice; kRepeat: one
  int least = 0, most = -1;                  // kRepeat; -1: any number
};
using NodePtr = std::unique_ptr<Node>;

NodePtr Make(Node::Kind kind) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  return node;
}
NodePtr MakeSet(Ranges ranges) {
  NodePtr node = Make(Node::Kind::kSet);
  node->ranges = Joined(std::move(ranges));
  return node;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : rest_(pattern), size_(pattern.size()) {}

  Result<NodePtr> Run() {
    NodePtr node = Choice(0);
    if (error_.empty() && !rest_.empty()) Fail("unexpected )");
    if (error_.empty()) return node;
    return Status(StatusCode::kInvalidInput,
                  fmt::format("at byte {} of the pattern: {}", size_ - rest_.size(), error_));
  }

 private:
  struct Flags {
    bool ignore_case = false, multi_line = false, dot_all = false;
  };

  void Fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
  }
  template <typename... Args>
  void Fail(fmt::format_string<Args...> why, Args&&... args) {
    Fail(fmt::format(why, std::forward<Args>(args)...));
  }
  bool At(std::string_view text) const { return rest_.starts_with(text); }
  bool Eat(std::string_view text) {
    if (!At(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  int64_t Next() {
    const size_t length = rest_.empty() ? 0 : Utf8Length(rest_);
    if (length == 0) {
      Fail(rest_.empty() ? "the pattern ends early" : "the pattern is not UTF-8");
      rest_ = {};
      return 0;
    }
    int64_t c = static_cast<unsigned char>(rest_[0]);
    if (length > 1) c &= 0x7F >> length;
    for (size_t i = 1; i < length; ++i) c = c << 6 | (rest_[i] & 0x3F);
    rest_.remove_prefix(length);
    return c;
  }

  NodePtr Choice(int depth) {
    if (depth > kMostNested) Fail("groups nest deeper than {}", kMostNested);
    const Flags outer = flags_;
    NodePtr choice = Make(Node::Kind::kChoice);
    do {
      if (!error_.empty()) break;
      choice->parts.push_back(Sequence(depth));
    } while (Eat("|"));
    flags_ = outer;
    return choice;
  }

  NodePtr Sequence(int depth) {
    NodePtr sequence = Make(Node::Kind::kSequence);
    while (error_.empty() && !rest_.empty() && !At("|") && !At(")")) {
      if (Eat("\\Q")) {
        bool ends = false;
        while (error_.empty() && !rest_.empty() && !(ends = Eat("\\E")))
          sequence->parts.push_back(Literal(Next()));
        // What repeats behind the end repeats the last character.
        if (ends && !sequence->parts.empty())
          sequence->parts.back() = Repeated(std::move(sequence->parts.back()));
        continue;
      }
      if (NodePtr item = Item(depth)) {
        sequence->parts.push_back(Repeated(std::move(item)));
      } else if (!sequence->parts.empty()) {  // (?i)* repeats what stands before it
        sequence->parts.back() = Repeated(std::move(sequence->parts.back()));
      }
    }
    return sequence;
  }

  NodePtr Literal(int64_t c) {
    Ranges ranges = {{c, c}};
    return MakeSet(flags_.ignore_case ? AllCases(std::move(ranges)) : std::move(ranges));
  }
  // What a negated class within another is: no case of a letter of `ranges` is in it.
  Ranges AllBut(const Ranges& ranges) const {
    return Without(flags_.ignore_case ? AllCases(ranges) : ranges);
  }
  NodePtr SetOf(Ranges ranges) {
    Count(ranges.size());
    return MakeSet(flags_.ignore_case ? AllCases(std::move(ranges)) : std::move(ranges));
  }
  // `ranges` of classes more.
  void Count(size_t ranges) {
    ranges_ += ranges;
    if (ranges_ > kMostRanges) Fail("its classes have more than {} ranges", kMostRanges);
  }
  static NodePtr Assertion(RegexAssert what) {
    NodePtr node = Make(Node::Kind::kAssert);
    node->assertion = what;
    return node;
  }

  NodePtr Item(int depth) {
    if (Eat("(")) return Group(depth);
    if (Eat("[")) return Class();
    if (Eat("."))
      return MakeSet(flags_.dot_all ? Ranges{{0, kLastCharacter}} : Without({{'\n', '\n'}}));
    if (Eat("^"))
      return Assertion(flags_.multi_line ? RegexAssert::kBeginLine : RegexAssert::kBeginText);
    if (Eat("$"))
      return Assertion(flags_.multi_line ? RegexAssert::kEndLine : RegexAssert::kEndText);
    const std::string_view begin = rest_;
    int least = 0, most = 0;
    if (At("*") || At("+") || At("?") || Counts(&least, &most)) {
      Fail("nothing to repeat before {}", begin.substr(0, 1));
      return nullptr;
    }
    if (Eat("\\")) return Escaped();
    return Literal(Next());
  }

  // Behind "(". Null: it only sets flags.
  NodePtr Group(int depth) {
    const Flags outer = flags_;
    if (Eat("?")) {
      if (Eat("P<") || (At("<") && !At("<=") && !At("<!") && Eat("<"))) {
        GroupName();
      } else if (!SetFlags()) {
        return nullptr;
      }
    }
    NodePtr inside = Choice(depth + 1);
    if (!Eat(")")) Fail("expected )");
    flags_ = outer;
    return inside;
  }

  // "name>"
  void GroupName() {
    static const Ranges letters = [] {
      Ranges all;
      for (const char* name : {"L", "M", "Nd", "Nl", "Pc"}) {
        const auto ranges = CharactersOf(name);
        all.insert(all.end(), ranges->begin(), ranges->end());
      }
      return Joined(std::move(all));
    }();
    bool is_name = !At(">");
    while (is_name && error_.empty() && !Eat(">")) is_name = Contains(letters, Next());
    if (!is_name) Fail("the name of a group: expected letters, digits and _, then >");
  }

  // "i-s:" of a group: true; "i)" : sets them from here on.
  bool SetFlags() {
    bool value = true, any = true;
    while (error_.empty()) {
      if (any && Eat(":")) return true;
      if (any && Eat(")")) return false;
      any = true;
      if (Eat("i")) {
        flags_.ignore_case = value;
      } else if (Eat("m")) {
        flags_.multi_line = value;
      } else if (Eat("s")) {
        flags_.dot_all = value;
      } else if (Eat("U")) {  // which match is preferred, not whether there is one
      } else if (value && Eat("-")) {
        value = any = false;
      } else {
        Fail("(?{} is not supported", rest_.substr(0, 1));
      }
    }
    return false;
  }

  // \d and its like; nullopt for what is no class.
  std::optional<Ranges> ClassEscape() {
    struct Row {
      std::string_view text;
      const Ranges& ranges;
      bool negated;
    };
    const Row rows[] = {{"d", kDigits, false}, {"D", kDigits, true}, {"s", kSpaces, false},
                        {"S", kSpaces, true},  {"w", kWords, false}, {"W", kWords, true}};
    for (const Row& row : rows) {
      if (Eat(row.text)) return row.negated ? AllBut(row.ranges) : row.ranges;
    }
    if (Eat("p")) return Named(false);
    if (Eat("P")) return Named(true);
    return std::nullopt;
  }

  // Behind \p: "L", "{Greek}", "{^Lu}".
  Ranges Named(bool negated) {
    std::string name;
    if (Eat("{")) {
      if (Eat("^")) negated = !negated;
      const size_t end = rest_.find('}');
      if (end == std::string_view::npos) Fail("\\p{: expected }");
      name = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    } else {
      const std::string_view begin = rest_;
      Next();
      name = begin.substr(0, begin.size() - rest_.size());
    }
    const std::optional<Ranges> ranges = CharactersOf(name);
    if (!ranges)
      Fail(
          "\\p{{{}}}: expected a general category or a script of Unicode, such as Lu or "
          "Greek",
          name);
    return !ranges ? Ranges{} : negated ? AllBut(*ranges) : *ranges;
  }

  NodePtr Escaped() {
    if (rest_.empty()) Fail("the pattern ends with \\");
    if (Eat("A")) return Assertion(RegexAssert::kBeginText);
    if (Eat("z")) return Assertion(RegexAssert::kEndText);
    if (Eat("b")) return Assertion(RegexAssert::kWordBoundary);
    if (Eat("B")) return Assertion(RegexAssert::kNoWordBoundary);
    if (At("C")) Fail("\\C, a byte, is not supported");
    if (auto ranges = ClassEscape()) return SetOf(*std::move(ranges));
    return Literal(EscapedCharacter());
  }

  // Behind "\".
  int64_t EscapedCharacter() {
    constexpr std::pair<std::string_view, int64_t> kLetters[] = {
        {"a", 7}, {"f", '\f'}, {"t", '\t'}, {"n", '\n'}, {"r", '\r'}, {"v", '\v'}};
    for (const auto& [letter, c] : kLetters) {
      if (Eat(letter)) return c;
    }
    if (Eat("x")) return HexCharacter();
    if (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '7') {
      // Two digits at least but for \0: \1 would be a back reference.
      int64_t c = 0;
      size_t n = 0;
      while (n < 3 && n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '7')
        c = c * 8 + (rest_[n++] - '0');
      if (rest_[0] != '0' && n < 2) Fail("back references are not supported");
      rest_.remove_prefix(n);
      return c;
    }
    const std::string_view begin = rest_;
    const int64_t c = Next();
    if (c > 0x7F || std::isalnum(static_cast<int>(c)) != 0)
      Fail("\\{} is not supported", begin.substr(0, begin.size() - rest_.size()));
    return c;
  }

  int64_t HexCharacter() {
    const bool braces = Eat("{");
    int64_t c = 0;
    size_t n = 0;
    const auto digit = [&]() -> int {
      if (rest_.empty()) return -1;
      const char d = rest_[0];
      if (d >= '0' && d <= '9') return d - '0';
      if (d >= 'a' && d <= 'f') return d - 'a' + 10;
      if (d >= 'A' && d <= 'F') return d - 'A' + 10;
      return -1;
    };
    for (; (braces || n < 2) && digit() >= 0; ++n, rest_.remove_prefix(1))
      c = std::min(c * 16 + digit(), kLastCharacter + 1);
    if (n == 0 || (!braces && n < 2) || (braces && !Eat("}")) || c > kLastCharacter)
      Fail("\\x: expected \\xHH or \\x{H...}");
    return c;
  }

  // Behind "[".
  NodePtr Class() {
    const bool negated = Eat("^");
    Ranges ranges;
    for (bool first = true; error_.empty() && (first || !At("]")); first = false) {
      if (rest_.empty()) {
        Fail("expected ]");
        break;
      }
      if (At("[:") && rest_.find(":]", 2) != std::string_view::npos) {
        Eat("[:");
        Posix(ranges);
        continue;
      }
      std::optional<int64_t> low;
      if (Eat("\\")) {
        if (auto part = ClassEscape()) {
          Count(part->size());
          ranges.insert(ranges.end(), part->begin(), part->end());
          continue;
        }
        low = EscapedCharacter();
      } else {
        low = Next();
      }
      int64_t high = *low;
      if (At("-") && !At("-]")) {
        Eat("-");
        high = Eat("\\") ? EscapedCharacter() : Next();
      }
      if (high < *low) Fail("a range of a class ends before it begins");
      ranges.push_back({*low, high});
    }
    if (!Eat("]")) Fail("expected ]");
    if (flags_.ignore_case) ranges = AllCases(std::move(ranges));
    return MakeSet(negated ? Without(ranges) : std::move(ranges));
  }

  // Behind "[:".
  void Posix(Ranges& ranges) {
    const bool negated = Eat("^");
    for (const NamedClass& c : kPosix) {
      if (!At(c.name) || !rest_.substr(c.name.size()).starts_with(":]")) continue;
      rest_.remove_prefix(c.name.size() + 2);
      const Ranges part = negated ? AllBut(c.ranges) : c.ranges;
      ranges.insert(ranges.end(), part.begin(), part.end());
      return;
    }
    Fail("unknown class [:...:]");
  }

  NodePtr Repeated(NodePtr item) {
    for (bool first = true; error_.empty(); first = false) {
      int least = 0, most = -1;
      if (Eat("*")) {
      } else if (Eat("+")) {
        least = 1;
      } else if (Eat("?")) {
        most = 1;
      } else if (!Counts(&least, &most)) {
        return item;
      }
      if (!first) Fail("a repetition of a repetition");
      Eat("?");  // lazy: which match is preferred
      NodePtr repeat = Make(Node::Kind::kRepeat);
      repeat->least = least;
      repeat->most = most;
      repeat->parts.push_back(std::move(item));
      item = std::move(repeat);
    }
    return item;
  }

  // {n}, {n,} or {n,m} of numbers without leading zeros; anything else is text.
  bool Counts(int* least, int* most) {
    std::string_view at = rest_;
    const auto number = [&](int* value) {
      size_t n = 0;
      *value = 0;
      while (n < at.size() && at[n] >= '0' && at[n] <= '9') {
        *value = std::min(*value * 10 + (at[n++] - '0'), kMostRepeats + 1);
      }
      const bool is_number = n == 1 || (n > 1 && at[0] != '0');
      at.remove_prefix(n);
      return is_number;
    };
    if (!at.starts_with('{')) return false;
    at.remove_prefix(1);
    if (!number(least)) return false;
    *most = *least;
    if (at.starts_with(',')) {
      at.remove_prefix(1);
      if (at.starts_with('}')) {
        *most = -1;
      } else if (!number(most)) {
        return false;
      }
    }
    if (!at.starts_with('}')) return false;
    rest_ = at.substr(1);
    if (std::max(*least, *most) > kMostRepeats) Fail("a repetition of more than {}", kMostRepeats);
    if (*most >= 0 && *most < *least) Fail("a repetition ends before it begins");
    return true;
  }

  std::string_view rest_;
  size_t size_, ranges_ = 0;
  Flags flags_;
  std::string error_;
};

class Emitter {
 public:
  // False where it becomes too large.
  bool Run(const Node& node) {
    Emit(node);
    Add(RegexOp::kMatch);
    const size_t sets = steps_.size();
    for (const auto& [at, first] : sets_) steps_[at].a = static_cast<int64_t>(sets + first);
    for (const CharacterRange& r : ranges_) Add(RegexOp::kData, r.low, r.high);
    return fits_;
  }
  std::vector<RegexStep> Take() { return std::move(steps_); }

 private:
  size_t Add(RegexOp op, int64_t a = 0, int64_t b = 0) {
    fits_ &= steps_.size() + ranges_.size() < kMostRegexSteps;
    if (fits_) steps_.push_back({static_cast<int64_t>(op), a, b});
    return steps_.size() - 1;
  }
  int64_t Here() const { return static_cast<int64_t>(steps_.size()); }

  void Emit(const Node& node) {
    if (!fits_) return;
    switch (node.kind) {
      case Node::Kind::kEmpty:
        return;
      case Node::Kind::kSet:
        return EmitSet(node.ranges);
      case Node::Kind::kAssert:
        Add(RegexOp::kAssert, static_cast<int64_t>(node.assertion));
        return;
      case Node::Kind::kSequence:
        for (const NodePtr& part : node.parts) Emit(*part);
        return;
      case Node::Kind::kChoice:
        return EmitChoice(node, 0);
      case Node::Kind::kRepeat:
        return EmitRepeat(node);
    }
  }

  void EmitSet(const Ranges& ranges) {
    if (ranges.size() == 1) {
      Add(RegexOp::kRange, ranges[0].low, ranges[0].high);
      return;
    }
    // Equal sets stand once where one follows the other.
    const auto known = std::ranges::find(known_, ranges, &std::pair<Ranges, size_t>::first);
    size_t first = ranges_.size();
    if (known != known_.end()) {
      first = known->second;
    } else {
      ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
      if (known_.size() < 64) known_.emplace_back(ranges, first);
    }
    sets_.emplace_back(Add(RegexOp::kSet, 0, static_cast<int64_t>(ranges.size())), first);
  }

  void EmitChoice(const Node& node, size_t) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      if (i + 1 == node.parts.size()) {
        Emit(*node.parts[i]);
        break;
      }
      const size_t split = Add(RegexOp::kSplit, Here() + 1);
      Emit(*node.parts[i]);
      ends.push_back(Add(RegexOp::kSplit));
      if (!fits_) return;
      steps_[split].b = Here();
    }
    if (!fits_) return;
    for (const size_t end : ends) steps_[end].a = steps_[end].b = Here();
  }

  void EmitRepeat(const Node& node) {
    const Node& part = *node.parts[0];
    for (int i = 0; i < node.least && fits_; ++i) Emit(part);
    if (node.most < 0) {
      const size_t split = Add(RegexOp::kSplit, Here() + 1);
      Emit(part);
      Add(RegexOp::kSplit, static_cast<int64_t>(split), static_cast<int64_t>(split));
      if (fits_) steps_[split].b = Here();
      return;
    }
    std::vector<size_t> splits;
    for (int i = node.least; i < node.most && fits_; ++i) {
      splits.push_back(Add(RegexOp::kSplit, Here() + 1));
      Emit(part);
    }
    if (!fits_) return;
    for (const size_t split : splits) steps_[split].b = Here();
  }

  std::vector<RegexStep> steps_;
  Ranges ranges_;                                 // of the sets, behind the steps
  std::vector<std::pair<size_t, size_t>> sets_;   // a step, and its first range
  std::vector<std::pair<Ranges, size_t>> known_;  // sets that stand in ranges_
  bool fits_ = true;
};

}  // namespace
}  // namespace regex

Result<std::vector<RegexStep>> CompileRegex(std::string_view pattern) {
  RELAYVM_ASSIGN_OR_RETURN(const regex::NodePtr node, regex::Parser(pattern).Run());
  regex::Emitter emitter;
  if (!emitter.Run(*node)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the pattern needs more than {} steps", kMostRegexSteps));
  }
  return emitter.Take();
}

}  // namespace relayvm::import

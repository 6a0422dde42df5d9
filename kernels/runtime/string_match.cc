// Texts against regular expressions that the compiler has made programs of (regex_program.h): a
// match in time that grows with the text times the program, as all ways to match are followed at
// once (Thompson 1968, Pike's machine that knows where each began). Tested by strings_test.cc.
#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "kernels/runtime/kernels.h"
#include "kernels/runtime/regex_program.h"

namespace relayvm {
namespace {

bool IsWord(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

constexpr char32_t kNoCharacter = 0xFFFFFFFF;

// What a program's rows must be for the matcher: jumps and sets inside it.
bool IsProgram(const RegexStep* steps, int64_t n) {
  const auto inside = [&](int64_t at) { return at >= 0 && at < n; };
  for (int64_t i = 0; i < n; ++i) {
    const RegexStep& s = steps[i];
    switch (static_cast<RegexOp>(s.op)) {
      case RegexOp::kMatch:
      case RegexOp::kData:
        break;
      case RegexOp::kRange:
        if (!inside(i + 1)) return false;
        break;
      case RegexOp::kSet:
        if (!inside(i + 1) || s.a < 0 || s.b < 0 || s.a > n || s.b > n - s.a) return false;
        break;
      case RegexOp::kSplit:
        if (!inside(s.a) || !inside(s.b)) return false;
        break;
      case RegexOp::kAssert:
        if (!inside(i + 1)) return false;
        break;
      default:
        return false;
    }
  }
  return n > 0;
}

class Matcher {
 public:
  Matcher(const CallArgs& args, const RegexStep* steps, int64_t n)
      : args_(args),
        steps_(steps),
        seen_(args.NewVector<int64_t>(n)),
        now_(args.NewVector<Way>()),
        next_(args.NewVector<Way>()),
        stack_(args.NewVector<int64_t>()) {}

  // Whether all of a text matches the program whose first row is `start`.
  bool Matches(int64_t start, std::string_view text) {
    size_t begin = 0, end = 0;
    return Run(start, text, 0, true, &begin, &end) && end == text.size();
  }
  // Where the first match at `from` or behind it lies: of those that begin there the longest.
  bool Find(int64_t start, std::string_view text, size_t from, size_t* begin, size_t* end) {
    return Run(start, text, from, false, begin, end);
  }

 private:
  // A way to match: the row that it is at, and where in the text it began. Those of a position are
  // in the order in which they began.
  struct Way {
    int64_t at;
    size_t begin;
  };

  bool Run(int64_t start, std::string_view text, size_t from, bool anchored, size_t* begin,
           size_t* end) {
    std::string_view rest = text.substr(from);
    const auto next = [&] { return rest.empty() ? kNoCharacter : NextCharacter(rest); };
    // Of what is before only its last byte counts: no byte of a longer character is special.
    char32_t before = from == 0 ? kNoCharacter : static_cast<unsigned char>(text[from - 1]);
    bool found = false;
    now_.clear();
    NewPosition();
    for (size_t at = from;;) {
      const char32_t c = next();
      // Ways that came here saw the same characters on both sides.
      if (!found && (!anchored || at == from)) Add({start, at}, before, c, now_);
      size_t kept = 0;
      for (; kept < now_.size() && !(found && now_[kept].begin > *begin); ++kept) {
        const Way& way = now_[kept];
        if (static_cast<RegexOp>(steps_[way.at].op) != RegexOp::kMatch) continue;
        found = true;
        *begin = way.begin;
        *end = at;
      }
      if (c == kNoCharacter || (kept == 0 && (found || anchored))) return found;
      const size_t after_at = text.size() - rest.size();
      std::string_view ahead = rest;
      const char32_t after = ahead.empty() ? kNoCharacter : NextCharacter(ahead);
      next_.clear();
      NewPosition();
      for (size_t i = 0; i < kept; ++i) {
        if (Takes(steps_[now_[i].at], c)) Add({now_[i].at + 1, now_[i].begin}, c, after, next_);
      }
      now_.swap(next_);
      before = c;
      at = after_at;
    }
  }

  void NewPosition() {
    ++position_;
    args_.Work(static_cast<int64_t>(now_.size()) + 1);
  }

  bool Takes(const RegexStep& s, char32_t c) const {
    const auto wide = static_cast<int64_t>(c);
    if (static_cast<RegexOp>(s.op) == RegexOp::kRange) return wide >= s.a && wide <= s.b;
    if (static_cast<RegexOp>(s.op) != RegexOp::kSet) return false;
    const RegexStep* first = steps_ + s.a;
    const RegexStep* last = first + s.b;
    // Ranges in order, apart from each other.
    const RegexStep* at =
        std::partition_point(first, last, [&](const RegexStep& range) { return range.b < wide; });
    return at != last && wide >= at->a;
  }

  static bool Holds(int64_t kind, char32_t before, char32_t after) {
    switch (static_cast<RegexAssert>(kind)) {
      case RegexAssert::kBeginText:
        return before == kNoCharacter;
      case RegexAssert::kEndText:
        return after == kNoCharacter;
      case RegexAssert::kBeginLine:
        return before == kNoCharacter || before == '\n';
      case RegexAssert::kEndLine:
        return after == kNoCharacter || after == '\n';
      case RegexAssert::kWordBoundary:
        return IsWord(before) != IsWord(after);
      case RegexAssert::kNoWordBoundary:
        return IsWord(before) == IsWord(after);
    }
    return false;
  }

  // The steps that take a character, or match, that are reached from `way` without one.
  void Add(Way way, char32_t before, char32_t after, KernelVector<Way>& to) {
    stack_.clear();
    args_.Push(stack_, way.at);
    while (!stack_.empty()) {
      const int64_t at = stack_.back();
      stack_.pop_back();
      if (seen_[static_cast<size_t>(at)] == position_) continue;
      seen_[static_cast<size_t>(at)] = position_;
      args_.Work(1);
      const RegexStep& s = steps_[at];
      switch (static_cast<RegexOp>(s.op)) {
        case RegexOp::kSplit:
          args_.Push(stack_, s.b);
          args_.Push(stack_, s.a);
          break;
        case RegexOp::kAssert:
          if (Holds(s.a, before, after)) args_.Push(stack_, at + 1);
          break;
        default:
          args_.Push(to, Way{at, way.begin});
      }
    }
  }

  const CallArgs& args_;
  const RegexStep* steps_;
  KernelVector<int64_t> seen_;  // by step: the last position that reached it
  KernelVector<Way> now_, next_;
  KernelVector<int64_t> stack_;
  int64_t position_ = 0;  // of all texts
};

}  // namespace

int32_t StringFullMatch(const CallArgs& args) {
  const TensorView &x = args[0], &program = args[1], &out = args[2];
  const auto* steps = program.as<const RegexStep>();
  const int64_t n = program.dims[0];
  args.Work(n);
  if (!IsProgram(steps, n)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  Matcher matcher(args, steps, n);
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    out.as<Bool>()[i] = Bool(matcher.Matches(0, args.Text(x.as<const int64_t>()[i])));
  return RELAYVM_KERNEL_OK;
}

// --- Tokens ---

namespace {

int64_t NumCharacters(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

// The tokens of texts: what matches the one program, or what is left between the matches of each in
// turn. Those of fewer than `least` characters are left out.
class Tokens {
 public:
  // REQUIRES: the rows are programs, kMostTokenPrograms at most.
  Tokens(const CallArgs& args, const TensorView& rows, const TensorView& starts, bool keeps,
         int64_t least)
      : args_(args),
        starts_(starts),
        keeps_(keeps),
        least_(least),
        matcher_(args, rows.as<const RegexStep>(), rows.dims[0]) {}

  // How many there are in a text; the first `room` are written.
  int64_t Find(int64_t text, int64_t* to = nullptr, int64_t room = 0) {
    to_ = to;
    room_ = room;
    count_ = 0;
    Split(0, args_.Text(text));
    return count_;
  }

 private:
  void Split(int64_t program, std::string_view text) {
    if (text.empty()) return;
    if (program == starts_.dims[0]) return Keep(text);
    size_t from = 0, begin = 0, end = 0;
    const int64_t start = starts_.as<const int64_t>()[program];
    while (from < text.size() && matcher_.Find(start, text, from, &begin, &end)) {
      Split(program + 1,
            keeps_ ? text.substr(begin, end - begin) : text.substr(from, begin - from));
      from = end;
      if (begin < end || end == text.size()) continue;
      // Nothing that matched takes a character with it, as in ONNX Runtime.
      std::string_view rest = text.substr(end);
      NextCharacter(rest);
      from = text.size() - rest.size();
    }
    if (!keeps_) Split(program + 1, text.substr(from));
  }
  void Keep(std::string_view token) {
    args_.Work(static_cast<int64_t>(token.size()));
    if (NumCharacters(token) < least_) return;
    if (count_ < room_) to_[count_] = args_.Intern(token);
    ++count_;
  }

  const CallArgs& args_;
  const TensorView& starts_;
  bool keeps_;
  int64_t least_;
  Matcher matcher_;
  int64_t* to_ = nullptr;
  int64_t room_ = 0, count_ = 0;
};

bool ArePrograms(const CallArgs& args, const TensorView& rows, const TensorView& starts) {
  const int64_t n = rows.dims[0], count = starts.dims[0];
  args.Work(n);
  if (count > kMostTokenPrograms || !IsProgram(rows.as<const RegexStep>(), n)) return false;
  const auto* const start = starts.as<const int64_t>();
  return std::all_of(start, start + count, [n](int64_t at) { return at >= 0 && at < n; });
}

}  // namespace

int32_t StringCountTokens(const CallArgs& args) {
  const TensorView &x = args[0], &rows = args[1], &starts = args[2], &out = args[3];
  if (!ArePrograms(args, rows, starts)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  Tokens tokens(args, rows, starts, args.param(0) != 0, args.param(1));
  for (int64_t i = 0, n = x.size(); i < n; ++i)
    out.as<int64_t>()[i] = tokens.Find(x.as<const int64_t>()[i]);
  return RELAYVM_KERNEL_OK;
}

int32_t StringTokens(const CallArgs& args) {
  const TensorView &x = args[0], &rows = args[1], &starts = args[2], &around = args[3],
                   &out = args[5];
  if (!ArePrograms(args, rows, starts)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const auto* const text = around.as<const int64_t>();  // before, after, in the places of none
  const int64_t width = out.dims[out.rank - 1], marks = args.param(2) != 0 ? 1 : 0;
  if (width > 0 && width < 2 * marks) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  Tokens tokens(args, rows, starts, args.param(0) != 0, args.param(1));
  for (int64_t i = 0, n = width == 0 ? 0 : x.size(); i < n; ++i) {
    int64_t* to = out.as<int64_t>() + i * width;
    if (marks != 0) *to = text[0];
    to += marks;
    const int64_t count = tokens.Find(x.as<const int64_t>()[i], to, width - 2 * marks);
    if (count > width - 2 * marks) return RELAYVM_KERNEL_INVALID_ARGUMENT;
    to += count;
    if (marks != 0) *to = text[1];
    to += marks;
    args.Fill(to, width - 2 * marks - count, text[2]);
  }
  return RELAYVM_KERNEL_OK;
}

// --- n-grams ---

namespace {

// The place of an n-gram among `count` sorted ones of `length` numbers each; -1 where it is none.
// Its numbers are `step` apart.
int64_t FindGram(const int64_t* grams, int64_t count, int64_t length, const int64_t* x,
                 int64_t step) {
  const auto compare = [&](int64_t g) {
    for (int64_t k = 0; k < length; ++k) {
      const int64_t a = grams[g * length + k], b = x[k * step];
      if (a != b) return a < b ? -1 : 1;
    }
    return 0;
  };
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const int order = compare(middle);
    if (order == 0) return middle;
    (order < 0 ? low : high) = order < 0 ? middle + 1 : middle;
  }
  return -1;
}

}  // namespace

int32_t CountGrams(const CallArgs& args) {
  const TensorView &x = args[0], &grams = args[1], &columns = args[2], &out = args[3];
  const int64_t rows = x.dims[0], width = x.dims[1], count = grams.dims[0], length = grams.dims[1],
                out_width = out.dims[1];
  const int64_t skips = args.param(0);
  if (length < 1 || skips < 0) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const auto* column = columns.as<const int64_t>();
  if (args.AnyOf(count, [&](int64_t g) { return column[g] < 0 || column[g] >= out_width; }, 1))
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  args.Clear(out);
  if (x.size() == 0 || out.size() == 0) return RELAYVM_KERNEL_OK;  // however many rows
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t* from = x.as<const int64_t>() + row * width;
    int64_t* to = out.as<int64_t>() + row * out_width;
    // One number has no gaps.
    for (int64_t skip = 0; skip <= (length == 1 ? 0 : skips); ++skip) {
      int64_t span = 0;
      if (__builtin_mul_overflow(length - 1, skip + 1, &span) || span >= width) break;
      args.InBlocks(
          width - span,
          [&](int64_t begin, int64_t end) {
            for (int64_t at = begin; at < end; ++at) {
              const int64_t g =
                  FindGram(grams.as<const int64_t>(), count, length, from + at, skip + 1);
              if (g >= 0) ++to[column[g]];
            }
          },
          64 * CallArgs::kScattered);
    }
  }
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm

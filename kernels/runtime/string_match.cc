// Texts against a regular expression that the compiler has made a program of (regex_program.h), in
// time that grows with the text times the program: all ways to match are followed at once (Thompson
// 1968, Pike's machine without captures). Tested by strings_test.cc.
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
        now_(args.NewVector<int64_t>()),
        next_(args.NewVector<int64_t>()),
        stack_(args.NewVector<int64_t>()) {}

  bool Matches(std::string_view text) {
    char32_t before = kNoCharacter;
    now_.clear();
    char32_t c = text.empty() ? kNoCharacter : NextCharacter(text);
    NewPosition();
    Add(0, before, c, now_);
    while (c != kNoCharacter && !now_.empty()) {
      const char32_t after = text.empty() ? kNoCharacter : NextCharacter(text);
      next_.clear();
      NewPosition();
      for (const int64_t at : now_) {
        if (Takes(steps_[at], c)) Add(at + 1, c, after, next_);
      }
      now_.swap(next_);
      before = c;
      c = after;
    }
    if (c != kNoCharacter) return false;
    return std::ranges::any_of(
        now_, [&](int64_t at) { return static_cast<RegexOp>(steps_[at].op) == RegexOp::kMatch; });
  }

 private:
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

  // The steps that take a character, or match, that are reached from `start` without one.
  void Add(int64_t start, char32_t before, char32_t after, KernelVector<int64_t>& to) {
    stack_.clear();
    args_.Push(stack_, start);
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
          args_.Push(to, at);
      }
    }
  }

  const CallArgs& args_;
  const RegexStep* steps_;
  KernelVector<int64_t> seen_;  // by step: the last position that reached it
  KernelVector<int64_t> now_, next_, stack_;
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
    out.as<Bool>()[i] = Bool(matcher.Matches(args.Text(x.as<const int64_t>()[i])));
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

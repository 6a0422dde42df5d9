#include "compiler/import/container/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "bytecode/base/printable.h"

namespace relayvm::import {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kMostValues = size_t{3} << 20;
constexpr size_t kMostGlobal = 1024;  // letters of a global's name

// With what the walk at the end finds out.
struct PickleNode : PickleValue {
  uint64_t walked = 0;  // values, those below it included
  uint32_t depth = 0;
  bool entered = false, left = false;
};
PickleNode& NodeOf(const PickleValue* v) {
  return const_cast<PickleNode&>(
      static_cast<const PickleNode&>(*v));  // NOLINT: all are made as such
}

struct PickleArena {
  std::deque<PickleNode> values;
};

// Opcodes of protocols 2 to 5, and those of 0 and 1 that writers of 2 still use.
enum class Op : uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersistent = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kEmptyList = ']',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kProtocol = 0x80,
  kNewObject = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjectEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96
};

class PickleReader {
 public:
  PickleReader(std::string_view where, std::span<const std::byte> bytes, const Pickle::Known& known,
               PickleArena& arena)
      : where_(where), bytes_(bytes), known_(known), arena_(arena) {}

  Result<const PickleValue*> Run() {
    std::optional<const PickleValue*> root;
    while (!root && status_.ok()) {
      op_at_ = at_;
      const auto op = static_cast<uint8_t>(Number(1));
      if (!status_.ok()) break;
      if (op == static_cast<uint8_t>(Op::kStop)) {
        root = Pop();
        break;
      }
      Step(op);
    }
    if (!status_.ok()) return status_;
    RELAYVM_RETURN_IF_ERROR(Walk(**root));
    return *root;
  }

 private:
  // --- Errors stick; what follows them is of no account. ---

  void Fail(std::string_view why) {
    if (status_.ok()) {
      status_ = InvalidInput(fmt::format("{}: byte {}: {}", where_, op_at_, why));
    }
  }

  // --- Bytes ---

  std::string_view Take(uint64_t size) {
    if (size > bytes_.size() - at_) {
      Fail(size == 1 && at_ == op_at_
               ? std::string("the pickle ends before its STOP")
               : fmt::format("{} bytes are said to follow, {} do", size, bytes_.size() - at_));
      return {};
    }
    const std::string_view taken(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return taken;
  }
  uint64_t Number(int bytes) {
    uint64_t value = 0;
    const std::string_view taken = Take(static_cast<uint64_t>(bytes));
    for (size_t i = 0; i < taken.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(taken[i])} << (8 * i);
    }
    return value;
  }
  std::string_view Line() {
    const auto* start = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const std::string_view rest(start, std::min(bytes_.size() - at_, kMostGlobal));
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) return Fail("a name that does not end"), std::string_view();
    at_ += end + 1;
    return rest.substr(0, end);
  }

  // --- Values ---

  PickleValue& Make(Kind kind) {
    if (arena_.values.size() >= kMostValues) {
      Fail(fmt::format("more than {} values", kMostValues));
      return arena_.values.back();
    }
    PickleValue& v = arena_.values.emplace_back();
    v.kind = kind;
    return v;
  }
  // Values that many places share: None, booleans, small integers.
  PickleValue* Shared(Kind kind, int64_t integer) {
    PickleValue*& v = shared_[(static_cast<int64_t>(kind) << 16) + integer];
    if (v == nullptr) {
      v = &Make(kind);
      v->integer = integer;
    }
    return v;
  }
  void PushInt(int64_t integer) {
    if (integer >= 0 && integer < 256) return Push(Shared(Kind::kInt, integer));
    PickleValue& v = Make(Kind::kInt);
    v.integer = integer;
    Push(&v);
  }
  void PushText(Kind kind, std::string_view text) {
    PickleValue& v = Make(kind);
    v.text = text;
    Push(&v);
  }
  void Push(PickleValue* v) {
    if (++pushed_ > Pickle::kWalked) Fail(fmt::format("more than {} values", Pickle::kWalked));
    stack_.push_back(v);
  }
  PickleValue* Pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      Fail("a value is taken from a stack that has none");
      return Shared(Kind::kNone, 0);
    }
    PickleValue* v = stack_.back();
    stack_.pop_back();
    return v;
  }
  PickleValue* Top() {
    PickleValue* v = Pop();
    Push(v);
    return v;
  }
  std::vector<const PickleValue*> PopToMark() {
    if (marks_.empty()) {
      Fail("a mark is taken, and there is none");
      return {};
    }
    const auto from = stack_.begin() + static_cast<int64_t>(marks_.back());
    std::vector<const PickleValue*> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return values;
  }
  void PushItems(Kind kind, std::vector<const PickleValue*> items) {
    PickleValue& v = Make(kind);
    v.items = std::move(items);
    Push(&v);
  }
  std::vector<const PickleValue*> PopSome(int count) {
    std::vector<const PickleValue*> values(static_cast<size_t>(count));
    for (auto to = values.rbegin(); to != values.rend(); ++to) *to = Pop();
    return values;
  }

  // --- What opcodes do ---

  void Step(uint8_t op);
  void StepNumbers(uint8_t op);
  void StepTexts(uint8_t op);
  void StepContainers(uint8_t op);
  void StepCalls(uint8_t op);
  void Extend(std::vector<const PickleValue*> values, bool by_key);
  void PushLong(uint64_t size);
  void PushGlobal(std::string_view module, std::string_view name);
  void Put(uint64_t index) {
    if (memo_.size() >= kMostValues) return Fail(fmt::format("more than {} values", kMostValues));
    memo_[index] = Top();
  }
  void Get(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end())
      return Fail(fmt::format("value {} is taken, and was never kept", index));
    Push(found->second);
  }
  void Call(const PickleValue* callee, const PickleValue* arguments);
  Status Walk(const PickleValue& root);

  std::string_view where_;
  std::span<const std::byte> bytes_;
  const Pickle::Known& known_;
  PickleArena& arena_;
  uint64_t at_ = 0, op_at_ = 0, pushed_ = 0;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
  std::unordered_map<int64_t, PickleValue*> shared_;
  Status status_;
};

void PickleReader::Step(uint8_t op) {
  using enum Op;
  switch (static_cast<Op>(op)) {
    case kMark:
      if (marks_.size() >= kMostValues) return Fail(fmt::format("more than {} marks", kMostValues));
      return marks_.push_back(stack_.size());
    case kPop:
      if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
      Pop();
      return;
    case kPopMark:
      PopToMark();
      return;
    case kDup:
      return Push(Top());
    case kProtocol:
      if (const uint64_t version = Number(1); version > 5) {
        Fail(fmt::format("protocol {}; 2 to 5 are supported", version));
      }
      return;
    case kFrame:
      Number(8);
      return;
    case kBinPut:
      return Put(Number(1));
    case kLongBinPut:
      return Put(Number(4));
    case kMemoize:
      return Put(memo_.size());
    case kBinGet:
      return Get(Number(1));
    case kLongBinGet:
      return Get(Number(4));
    default:
      return StepNumbers(op);
  }
}

void PickleReader::StepNumbers(uint8_t op) {
  using enum Op;
  switch (static_cast<Op>(op)) {
    case kNone:
      return Push(Shared(Kind::kNone, 0));
    case kNewTrue:
      return Push(Shared(Kind::kBool, 1));
    case kNewFalse:
      return Push(Shared(Kind::kBool, 0));
    case kBinInt:
      return PushInt(static_cast<int32_t>(Number(4)));
    case kBinInt1:
      return PushInt(static_cast<int64_t>(Number(1)));
    case kBinInt2:
      return PushInt(static_cast<int64_t>(Number(2)));
    case kLong1:
      return PushLong(Number(1));
    case kLong4:
      return PushLong(Number(4));
    case kBinFloat: {
      const uint64_t bits = __builtin_bswap64(Number(8));
      PickleValue& v = Make(Kind::kFloat);
      std::memcpy(&v.real, &bits, sizeof bits);
      return Push(&v);
    }
    default:
      return StepTexts(op);
  }
}

void PickleReader::PushLong(uint64_t size) {
  const std::string_view taken = Take(size);
  if (taken.size() > 8) return Fail(fmt::format("an integer of {} bytes; 8 are supported", size));
  uint64_t value = 0;
  for (size_t i = 0; i < taken.size(); ++i) {
    value |= uint64_t{static_cast<uint8_t>(taken[i])} << (8 * i);
  }
  const bool negative = !taken.empty() && (static_cast<uint8_t>(taken.back()) & 0x80) != 0;
  if (negative && taken.size() < 8) value |= ~uint64_t{0} << (8 * taken.size());
  PushInt(static_cast<int64_t>(value));
}

void PickleReader::StepTexts(uint8_t op) {
  using enum Op;
  switch (static_cast<Op>(op)) {
    case kShortBinString:
    case kShortBinUnicode:
      return PushText(Kind::kText, Take(Number(1)));
    case kBinString:
    case kBinUnicode:
      return PushText(Kind::kText, Take(Number(4)));
    case kBinUnicode8:
      return PushText(Kind::kText, Take(Number(8)));
    case kShortBinBytes:
      return PushText(Kind::kBytes, Take(Number(1)));
    case kBinBytes:
      return PushText(Kind::kBytes, Take(Number(4)));
    case kBinBytes8:
    case kByteArray8:
      return PushText(Kind::kBytes, Take(Number(8)));
    default:
      return StepContainers(op);
  }
}

void PickleReader::StepContainers(uint8_t op) {
  using enum Op;
  switch (static_cast<Op>(op)) {
    case kEmptyTuple:
      return PushItems(Kind::kTuple, {});
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return PushItems(Kind::kTuple, PopSome(op - static_cast<int>(kTuple1) + 1));
    case kTuple:
      return PushItems(Kind::kTuple, PopToMark());
    case kEmptyList:
      return PushItems(Kind::kList, {});
    case kList:
      return PushItems(Kind::kList, PopToMark());
    case kEmptySet:
      return PushItems(Kind::kSet, {});
    case kFrozenSet:
      return PushItems(Kind::kSet, PopToMark());
    case kEmptyDict:
      return PushItems(Kind::kDict, {});
    case kDict:
      PushItems(Kind::kDict, PopToMark());
      if (stack_.back()->items.size() % 2 != 0) Fail("a key without a value");
      return;
    case kAppend:
      return Extend(PopSome(1), false);
    case kAppends:
    case kAddItems:
      return Extend(PopToMark(), false);
    case kSetItem:
      return Extend(PopSome(2), true);
    case kSetItems:
      return Extend(PopToMark(), true);
    default:
      return StepCalls(op);
  }
}

// Adds to what is on the stack's top.
void PickleReader::Extend(std::vector<const PickleValue*> values, bool by_key) {
  PickleValue* to = Top();
  const bool takes = to->is(Kind::kCall) ||
                     (by_key ? to->is(Kind::kDict) : to->is(Kind::kList) || to->is(Kind::kSet));
  if (!takes) return Fail(fmt::format("values are added to {}", Describe(*to)));
  if (by_key && values.size() % 2 != 0) return Fail("a key without a value");
  to->items.insert(to->items.end(), values.begin(), values.end());
}

void PickleReader::StepCalls(uint8_t op) {
  using enum Op;
  switch (static_cast<Op>(op)) {
    case kGlobal: {
      const std::string_view module = Line();
      return PushGlobal(module, Line());
    }
    case kStackGlobal: {
      const PickleValue* name = Pop();
      const PickleValue* module = Pop();
      if (!name->is(Kind::kText) || !module->is(Kind::kText)) {
        return Fail("a global whose name is no text");
      }
      return PushGlobal(module->text, name->text);
    }
    case kReduce:
    case kNewObject: {
      const PickleValue* arguments = Pop();
      return Call(Pop(), arguments);
    }
    case kNewObjectEx: {
      if (!Pop()->items.empty()) return Fail("a call with named arguments");
      const PickleValue* arguments = Pop();
      return Call(Pop(), arguments);
    }
    case kBuild: {
      const PickleValue* state = Pop();
      PickleValue* v = Top();
      if (!v->is(Kind::kCall)) return Fail(fmt::format("{} is given a state", Describe(*v)));
      v->state = state;
      return;
    }
    case kBinPersistent: {
      const PickleValue* id = Pop();
      if (!id->is(Kind::kTuple)) {
        return Fail(fmt::format("a persistent id: expected a tuple, found {}", Describe(*id)));
      }
      return PushItems(Kind::kPersistent, id->items);
    }
    default:
      return Fail(
          fmt::format("opcode 0x{:02x} is none of protocols 2 to 5, or is not supported", op));
  }
}

void PickleReader::PushGlobal(std::string_view module, std::string_view name) {
  if (!status_.ok()) return;
  const std::string full = fmt::format("{}.{}", module, name);
  if (full.size() > kMostGlobal) return Fail("a global whose name is too long");
  if (!known_(module, name)) {
    return Fail(
        fmt::format("it names the global {}, which is not known here; nothing of a pickle "
                    "is executed",
                    Printable(full)));
  }
  PushText(Kind::kGlobal, full);
}

void PickleReader::Call(const PickleValue* callee, const PickleValue* arguments) {
  // TorchScript calls an enumeration with its value itself.
  if (callee->is(Kind::kGlobal) && (arguments->is_number() || arguments->is(Kind::kText))) {
    PickleValue& one = Make(Kind::kTuple);
    one.items = {arguments};
    arguments = &one;
  }
  if (!callee->is(Kind::kGlobal) || !arguments->is(Kind::kTuple)) {
    return Fail(fmt::format("{} is called with {}", Describe(*callee), Describe(*arguments)));
  }
  PickleValue& v = Make(Kind::kCall);
  v.callee = callee;
  v.called_with = arguments;
  Push(&v);
}

// Finds values that hold themselves, and bounds depth and size of the tree.
Status PickleReader::Walk(const PickleValue& root) {
  struct Turn {
    PickleNode* v;
    size_t next = 0;
  };
  const auto child = [](const PickleValue& v, size_t i) -> const PickleValue* {
    if (i < v.items.size()) return v.items[i];
    const PickleValue* own[] = {v.callee, v.called_with, v.state};
    return own[i - v.items.size()];
  };
  std::vector<Turn> path = {{&NodeOf(&root)}};
  path[0].v->entered = true;
  while (!path.empty()) {
    Turn& turn = path.back();
    PickleNode& v = *turn.v;
    if (turn.next == v.items.size() + 3) {
      v.left = true;
      v.walked += 1;
      path.pop_back();
      if (path.empty()) break;
      PickleNode& above = *path.back().v;
      above.walked = std::min(above.walked + v.walked, Pickle::kWalked + 1);
      above.depth = std::max(above.depth, v.depth + 1);
      continue;
    }
    const PickleValue* next = child(v, turn.next++);
    if (next == nullptr) continue;
    PickleNode& below = NodeOf(next);
    if (below.left) {
      v.walked = std::min(v.walked + below.walked, Pickle::kWalked + 1);
      v.depth = std::max(v.depth, below.depth + 1);
    } else if (below.entered) {
      return InvalidInput(fmt::format("{}: {} holds itself", where_, Describe(below)));
    } else {
      below.entered = true;
      path.push_back({&below});
    }
  }
  const PickleNode& top = NodeOf(&root);
  if (top.depth > Pickle::kDepth) {
    return InvalidInput(fmt::format("{}: values are nested {} deep; {} are supported", where_,
                                    top.depth, Pickle::kDepth));
  }
  if (top.walked > Pickle::kWalked) {
    return InvalidInput(
        fmt::format("{}: more than {} values, those that several share counted "
                    "each time",
                    where_, Pickle::kWalked));
  }
  return {};
}

}  // namespace

const PickleValue* PickleValue::Find(std::string_view key) const {
  const PickleValue* found = nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i]->is(Kind::kText) && items[i]->text == key) found = items[i + 1];
  }
  return found;
}

std::string Describe(const PickleValue& v) {
  constexpr const char* kNames[] = {"None",  "a bool",  "an int",         "a float", "a text",
                                    "bytes", "a tuple", "a list",         "a set",   "a dict",
                                    "",      "",        "a persistent id"};
  if (v.is(Kind::kGlobal)) return Printable(v.text);
  if (v.is(Kind::kCall)) return fmt::format("a {}", Printable(v.callee->text));
  return kNames[static_cast<size_t>(v.kind)];
}

Result<Pickle> Pickle::Read(std::string_view where, std::span<const std::byte> bytes,
                            const Known& known) {
  auto arena = std::make_shared<PickleArena>();
  RELAYVM_ASSIGN_OR_RETURN(const PickleValue* root,
                           PickleReader(where, bytes, known, *arena).Run());
  Pickle pickle;
  pickle.root_ = root;
  pickle.values_ = std::move(arena);
  return pickle;
}

}  // namespace relayvm::import

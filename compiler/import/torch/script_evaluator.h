// Evaluates TorchScript while it is imported: what is known (modules, attributes, sizes, lists) is
// computed, and what only running tells is written as Relay. Methods are inlined by the objects
// that they are called on. A branch on a condition that is not known evaluates both arms and joins
// what they did; a loop whose turns are not known carries what its body changes.
//
// Errors of the code's operators are noted, all of them, and evaluation goes on with unknown items.
// Not thread-safe. Tested by script_test.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/import/torch/aliases.h"
#include "compiler/import/torch/script_code.h"
#include "compiler/import/torch/script_item.h"
#include "compiler/import/torch/script_shapes.h"
#include "compiler/import/user_operators.h"

namespace relayvm::import::torch {

// "add" of "aten::add".
inline std::string_view OwnScriptName(std::string_view name) {
  const size_t at = name.find("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

using Names = std::map<std::string, Item, std::less<>>;

// A call of a function: what its names mean.
struct Frame {
  Names names;
  const ScriptFile* file = nullptr;
  std::shared_ptr<Frame> outer;  // of a function in a function
  bool returned = false;
  Item result;
};

// What must hold, or the program fails with the message.
struct Guard {
  Value holds;
  std::string message;
  ir::Span span;
};

class Evaluator {
 public:
  struct Config {
    ScriptCode* code;
    TypedBuilder* b;
    ir::SourceMap* sources;
    uint32_t model;  // of the source map
    std::stop_token stop;
    // What an attribute of the file is in place of what the file says; nullopt: that.
    std::function<std::optional<Item>(const std::string& path, const Item& stored)> given;
    const UserOperators* user_operators;
  };
  explicit Evaluator(Config config);

  TypedBuilder& b() { return b_; }
  Aliases& aliases() { return aliases_; }
  Shapes& shapes() { return shapes_; }
  Heap& heap() { return heap_; }

  // The module of data.pkl.
  Item Root();
  const FunctionDef* MethodOf(const Item& object, std::string_view name, const ScriptFile** file);
  Item CallMethod(const Item& object, std::string_view name, std::vector<Item> arguments);
  Item DefaultOf(const ScriptFile& file, const Parameter& parameter);
  // The attributes of the file's objects that were changed, by their paths, and what they are.
  const std::set<std::string>& written() const { return written_; }
  Item AtPath(const std::string& path);
  // As the file has it.
  Item FirstAt(const std::string& path);
  // What must hold of those that were met outside of branches and loops.
  Value WithGuards(Value v);
  bool has_guards() const { return !guards_.empty(); }
  // The program fails where that is given.
  void ExpectNone(const Item& maybe, const std::string& message);
  // The first fatal error, or all that is not supported.
  Status Finish();
  // A tensor's value now.
  Value ReadTensor(const Item& tensor);

 private:
  struct Args {
    std::string_view name;  // "aten::add"
    std::vector<Item> items;
    std::vector<std::pair<std::string, Item>> keywords;
    const Expr* call = nullptr;
    size_t size() const { return items.size(); }
    const Item& operator[](size_t i) const { return items[i]; }
  };
  using Builtin = std::optional<Item> (Evaluator::*)(Args& a);

  // --- Places and errors (script_evaluator.cc) ---
  struct Here {
    const ScriptFile* file = nullptr;
    uint32_t offset = 0;
  };
  void SetPlace(std::string_view op);
  std::string Place() const;
  Item Fail(StatusCode code, std::string text);
  template <typename... A>
  Item Fail(fmt::format_string<A...> text, A&&... a) {
    return Fail(StatusCode::kInvalidInput, fmt::format(text, std::forward<A>(a)...));
  }
  template <typename... A>
  Item Unsupported(fmt::format_string<A...> text, A&&... a) {
    return Fail(StatusCode::kUnsupported, fmt::format(text, std::forward<A>(a)...));
  }
  // The builder's error, if it has one, is noted.
  bool TakeError();
  Item Raise(std::string message);
  bool Stopped() const { return raised_.has_value() || !fatal_.ok(); }
  bool Step();
  bool Is(const Status& status);

  // --- Statements and expressions (script_evaluator.cc) ---
  void Run(const std::vector<Stmt>& body, Frame& f);
  void Execute(const Stmt& s, Frame& f);
  void Assign(const Stmt& s, Frame& f);
  void AssignTo(const Expr& target, Item value, Frame& f);
  Item Evaluate(const Expr& e, Frame& f);
  Item EvaluateName(const Expr& e, Frame& f);
  Item EvaluateAttribute(const Expr& e, Frame& f);
  Item EvaluateIndex(const Expr& e, Frame& f);
  std::optional<std::vector<Item>> Unpacked(const Item& item, size_t count);

  // --- Calls (script_calls.cc) ---
  Item EvaluateCall(const Expr& e, Frame& f);
  std::optional<Item> SpecialForm(const Expr& e, Frame& f);
  Item CastTo(const ScriptType& type, Item item);
  Item Typed(const ScriptType& type, Item item);
  std::optional<bool> IsInstance(const Item& item, const ScriptType& type);
  Item CallNamed(const std::string& name, Args a);
  Item CallFunction(const Callable& c, std::vector<Item> arguments,
                    std::vector<std::pair<std::string, Item>> keywords);
  Item Construct(const ScriptCode::Found& found, Args a);
  Item CallItemMethod(const Item& object, std::string_view name, Args a, const Expr& e);
  Item CallOperator(std::string name, Args a);
  Item CallTable(const std::string& name, Args& a);
  Item CallUserConverter(const std::string& name, const Args& a);
  std::optional<Item> Upgraded(const std::string& name, Args& a);
  // Each alternative of an item that is one of two.
  std::optional<Item> ForEachAlternative(const std::string& name, const Args& a);
  std::optional<Argument> AsArgument(const Item& item);
  Item OfArgument(const Argument& a);
  void NoteWrites(const Argument& a);

  // --- Objects of the file (script_objects.cc) ---
  Item Load(const PickleValue& v, const ScriptType& type, const std::string& path);
  Item LoadTensor(const PickleValue& v, const std::string& path);
  Item LoadObject(const PickleValue& v, const std::string& path);
  Item LoadCell(Item::Kind kind, const ScriptType& type, CellContent content,
                const std::string& path);
  Item AttributeOf(const Item& object, const std::string& name);
  // An attribute of the file that one arm of a branch has not looked at, as the other has found it.
  Item Resolved(const Cell& object, const std::string& name, const Item& item) const;
  void SetAttribute(const Item& object, const std::string& name, Item value);
  Item ModuleAt(const Item& container, const Item& index);
  Item EnumMember(const ScriptCode::Found& found, const std::string& type, std::string_view name);
  std::optional<ScriptCode::Found> FindName(const std::string& name);

  // --- Branches (script_branches.cc) ---
  struct Raised {
    std::string message;
    ir::Span span;
  };
  struct Arm {
    std::vector<Item> results;
    Names names;
    std::vector<Guard> guards;
    std::optional<Raised> raised;
    std::vector<std::pair<std::shared_ptr<Cell>, CellContent>> cells;  // as they are after it
    std::vector<std::pair<std::shared_ptr<Storage>, Value>> storages;
  };
  // Runs it, takes back what it did, and tells what that was.
  Arm RunArm(const std::function<std::vector<Item>()>& run);
  void Apply(const Arm& arm);
  void NoteImplications(const Value& condition, const Item& x, const Item& y, const Item& joined);
  // What it gave, once what both did is joined.
  std::vector<Item> Join(const Value& condition, Arm yes, Arm no);
  void JoinEffects(const Arm& yes, const Arm& no, const Value& condition,
                   std::vector<std::pair<Item, Item>>* pairs,
                   std::vector<std::function<void(Item)>>* set);
  void Entangle(const Item& x, const Item& y, const Item& joined, uint64_t first_cell,
                uint64_t first_storage);
  void AddGuard(Value holds, const Raised& raised);
  Item Fork(const Value& condition, const std::function<Item()>& yes,
            const std::function<Item()>& no);
  void If(const Stmt& s, Frame& f);
  struct Condition {
    std::optional<bool> known;
    Value value;
    bool unknown = false;  // an error was noted
  };
  Condition ConditionOf(const Item& item);
  Value BoolOf(const Condition& c);
  // Runs where a bool of the graph is known to be `is`: what follows from that is known too.
  Arm RunArmWhere(const Value& condition, bool is, const std::function<std::vector<Item>()>& run);
  void Assume(ir::NodeId condition, bool is, int depth = 0);
  // A bool of the graph is `when`: then another is `is`.
  void Implies(const Value& condition, bool when, const Value& other, bool is);
  uint64_t StorageMark();

  // --- Loops (script_loops.cc) ---
  struct Slot;
  struct Loop;
  void While(const Stmt& s, Frame& f);
  void For(const Stmt& s, Frame& f);
  bool Unroll(const Stmt& s, Frame& f, int64_t turns);
  void RunLoopOf(Loop& loop, Frame& f);
  bool FindSlots(Loop& loop, Frame& f);
  bool SpoilUneven(Loop& loop);
  bool ScratchTurn(Loop& loop, Frame& f);
  bool WidenSlots(Loop& loop, const Arm& arm, const Names& before);
  bool WidenSlot(Loop& loop, Slot slot, const Item& before, const Item& after);
  void SetSlots(Loop& loop, Frame& f, std::span<const Value> values, const Value& i);
  Item SlotItem(const Slot& slot, const Names& names);
  Item ArmItem(const Slot& slot, const Arm& arm);
  Turn LoopTurn(Loop& loop, Frame& f, const Value& i, const TypedBuilder::State& state);
  void FinishLoop(Loop& loop, Frame& f, const TypedBuilder::State& out);

  // --- Numbers (script_scalars.cc) ---
  struct BuiltinRow;
  static const BuiltinRow kBuiltinRows[];
  static const std::map<std::string_view, Builtin>& Builtins();
  std::optional<Item> Arithmetic(Args& a);
  std::optional<Item> Unary(Args& a);
  std::optional<Item> Compare(Args& a);
  std::optional<Item> Bitwise(Args& a);
  Item Negated(const Value& v);
  std::optional<Item> Not(Args& a);
  std::optional<Item> Extremum(Args& a);
  std::optional<Item> ToNumber(Args& a);
  std::optional<Item> OfTensor(Args& a);
  std::optional<Item> Identity(Args& a);
  std::optional<Item> IsSameAs(Args& a);
  std::optional<Item> Ignored(Args& a);
  std::optional<Item> IsOff(Args& a);
  std::optional<Item> RaiseException(Args& a);
  std::optional<Item> Unwrap(Args& a);
  std::optional<Item> RangeHelpers(Args& a);
  Item Number(const Value& v);
  Value ScalarOf(const Item& item, DType dtype);
  Item NumberAs(const Item& item, ScriptType::Kind kind);
  Item ComplexArithmetic(std::string_view op, const Item& x, const Item& y);
  Item KnownArithmetic(std::string_view op, const Item& x, const Item& y);
  Item EqualItems(const Item& x, const Item& y);

  // --- Lists, tuples, dictionaries (script_lists.cc, script_dicts.cc) ---
  bool Readable(const Item& cell_item);
  bool Writable(const Item& cell_item);
  CellContent& ChangeCell(const Item& cell_item);
  const std::vector<Item>* KnownItems(const Item& list);  // null: its length is not known
  Item NewList(std::vector<Item> items, ScriptType type = {});
  Item LengthOf(const Item& item);
  Item ElementAt(const Item& list, const Item& index);
  void AppendTo(const Item& list, const Item& element);
  std::optional<Item> Length(Args& a);
  std::optional<Item> GetItem(Args& a);
  std::optional<Item> Append(Args& a);
  std::optional<Item> Extend(Args& a);
  std::optional<Item> Insert(Args& a);
  std::optional<Item> Pop(Args& a);
  std::optional<Item> RemoveOf(Args& a);
  std::optional<Item> SetItem(Args& a);
  std::optional<Item> DeleteItem(Args& a);
  std::optional<Item> SliceOf(Args& a);
  std::optional<Item> ListCopy(Args& a);
  std::optional<Item> Reversed(Args& a);
  std::optional<Item> Sorted(Args& a);
  std::optional<Item> Clear(Args& a);
  std::optional<Item> Contains(Args& a);
  std::optional<Item> IndexOf(Args& a);
  std::optional<Item> CountOf(Args& a);
  std::optional<Item> SumOf(Args& a);
  std::optional<Item> AnyAll(Args& a);
  std::optional<Item> AddLists(Args& a);
  std::optional<Item> TensorOfList(Args& a);
  std::optional<Item> StackOfRows(Args& a);
  std::optional<Item> TupleIndex(Args& a);
  std::optional<Item> DictKeys(Args& a);
  std::optional<Item> DictGet(Args& a);
  std::optional<Item> DictUpdate(Args& a);
  static bool IsOpenKey(const Item& key);
  Item EntryPresence(const Item& dict, const Item& key);
  std::optional<size_t> KeyIn(const Item& dict, const Item& key);
  Item ToList(const Item& tensor, const ScriptType& type);

  // --- Strings (script_strings.cc) ---
  std::optional<Item> Format(Args& a);
  std::optional<Item> StringOf(Args& a);
  std::optional<Item> StringMethod(Args& a);
  std::string TextOf(const Item& item, bool quoted = false);
  bool IsKnownText(const Item& item);

  // --- Strings that only running tells (script_texts.cc) ---
  Value TextValue(const Item& item);
  Item TextItem(const Value& v);
  Item TextOfNumber(const Item& item);
  Item ConcatTexts(const Item& x, const Item& y);
  Item EqualTexts(const Item& x, const Item& y);
  Value TextsOf(const std::vector<Item>& items);
  Item EntryAt(const Item& dict, const Item& key, const std::function<Item()>& otherwise);
  Value PlaceOfKey(const std::vector<Item>& keys, const Item& key);
  std::optional<Item> TextMethod(Args& a);
  std::optional<Item> JoinTexts(Args& a);

  ScriptCode& code_;
  TypedBuilder& b_;
  ir::SourceMap& sources_;
  uint32_t model_;
  std::stop_token stop_;
  std::function<std::optional<Item>(const std::string&, const Item&)> given_;
  const UserOperators& user_operators_;
  Heap heap_;
  Aliases aliases_;
  Shapes shapes_;

  Here here_;
  std::map<std::pair<const ScriptFile*, uint32_t>, std::string> places_;
  Status fatal_;
  struct Problem {
    StatusCode code;
    std::string place, text;
    size_t count;
  };
  std::vector<Problem> problems_;
  std::optional<Raised> raised_;
  std::vector<Guard> guards_;
  uint64_t steps_ = 0;
  int depth_ = 0;  // of calls
  // Of operators on one of two alternatives: what does not fit one fails when it is that one.
  int alternatives_ = 0;
  std::unordered_map<ir::NodeId, bool> assumed_;
  struct Implication {
    bool when;
    ir::NodeId other;
    bool is;
  };
  std::unordered_map<ir::NodeId, std::vector<Implication>> implications_;
  std::string operator_ = "an operator";  // that takes arguments

  std::map<const PickleValue*, Item> loaded_;
  std::set<std::string> written_;
  std::unordered_map<const Storage*, std::string> stored_tensors_;
  std::map<std::string, std::pair<std::shared_ptr<Cell>, std::string>> holders_;  // by path
  std::map<std::string, std::pair<const PickleValue*, ScriptType>> sources_of_;
  std::map<std::string, Item> resolved_;
  std::map<std::string, Item> enums_;
  // Storages one of which a tensor is: who is written is not seen by the other.
  struct Tangle {
    std::weak_ptr<Storage> other;
    ir::NodeId value;  // of the other, then
  };
  std::unordered_map<const Storage*, std::vector<Tangle>> tangles_;
  std::vector<std::shared_ptr<Storage>> tangled_;  // kept, so that no other has their places
};

}  // namespace relayvm::import::torch

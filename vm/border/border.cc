#include "vm/border/border.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/disassembler.h"
#include "bytecode/program.h"
#include "vm/border/shared_object.h"
#include "vm/border/signature_dims.h"
#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

// --- Inputs ---

std::string Describe(const Object* object) {
  switch (object->kind) {
    case ObjectKind::kTensor: {
      auto* tensor = static_cast<const Tensor*>(object);
      if (tensor->rank == 0) return std::string(DTypeName(tensor->dtype));
      return fmt::format("Tensor[({}), {}]", Joined(tensor->shape()), DTypeName(tensor->dtype));
    }
    case ObjectKind::kAdt: {
      auto* adt = static_cast<const Adt*>(object);
      return fmt::format("a tuple or constructor with tag {} and {} fields", adt->tag,
                         adt->num_fields);
    }
    case ObjectKind::kClosure:
      return "a function";
    case ObjectKind::kRef:
      return "a reference";
    case ObjectKind::kDeviceTensor:
      return "a tensor on a device";
    case ObjectKind::kEmpty:
      return "nothing";
  }
  return "?";
}

bool TensorMatches(const ValueType& type, const Object* object) {
  if (object->kind != ObjectKind::kTensor) return false;
  auto* tensor = static_cast<const Tensor*>(object);
  if (tensor->dtype != type.dtype || tensor->rank != type.dims.size()) return false;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i] >= 0 && type.dims[i] != tensor->dims[i]) return false;
  }
  return true;
}

// The work of a visit, for BorderPoll.
constexpr size_t kVisit = 64;

constexpr const char* kNoFunctions = "functions cannot be passed in from the host";
constexpr const char* kNoStrings =
    "strings cannot be passed in where the function leaves the type open";
constexpr const char* kNoReferences = "references cannot be passed in from the host";

// Walks a value along its type, without recursion. Types of fields are closures: a type, and what
// its variables stand for.
class TypeChecker {
 public:
  // Fills `detail` in when a tensor is not as expected.
  TypeChecker(const Program& program, StatusDetail* detail, BorderPoll* poll,
              const TensorVisitor* visitor = nullptr)
      : program_(program), detail_(*detail), poll_(*poll), visitor_(visitor) {}

  // Empty when `root` is of `type` or when it was stopped, else what is wrong.
  std::string Check(const Object* root, const ValueType& type) {
    Push(root, &type, nullptr);
    while (!work_.empty()) {
      Item item = work_.back();
      work_.pop_back();
      std::string problem = Visit(item);
      if (!problem.empty()) return problem;
      if (!poll_.GoesOn(kVisit)) return "";
    }
    return "";
  }

 private:
  struct Environment;
  struct Bound {
    const ValueType* type;
    const Environment* environment;
    auto operator<=>(const Bound&) const = default;  // NOLINT(modernize-use-nullptr): its defect
  };
  struct Environment {
    std::vector<Bound> args;
  };
  struct Item {
    const Object* object;
    Bound type;
  };

  void Push(const Object* object, const ValueType* type, const Environment* environment) {
    // A tree is shared inside only where counts are above one, so only those are remembered.
    if (object->count.load(std::memory_order_relaxed) > kUncounted + 1 &&
        !FieldsOf(const_cast<Object*>(object)).empty() &&
        !seen_.insert({object, {type, environment}}).second) {
      return;
    }
    work_.push_back({object, {type, environment}});
  }

  const Environment* EnvironmentOf(const ValueType& adt, const Environment* outer) {
    std::vector<Bound> args;
    for (const ValueType& arg : adt.args) {
      if (arg.kind == ValueType::Kind::kTypeVar && outer != nullptr &&
          arg.index < outer->args.size()) {
        args.push_back(outer->args[arg.index]);
      } else {
        args.push_back({&arg, outer});
      }
    }
    // List[T] inside List[T]: nothing new.
    if (outer != nullptr && args == outer->args) return outer;
    auto [it, inserted] = environments_.try_emplace(args, nullptr);
    if (inserted) it->second = &storage_.emplace_back(Environment{std::move(args)});
    return it->second;
  }

  [[gnu::cold]] std::string Mismatch(const Item& item) const {
    if (item.type.type->kind == ValueType::Kind::kTensor &&
        item.object->kind == ObjectKind::kTensor) {
      std::span<const int64_t> found = static_cast<const Tensor*>(item.object)->shape();
      detail_.expected = item.type.type->dims;
      detail_.found.assign(found.begin(), found.end());
    }
    return fmt::format("expected {}, found {}", TypeToString(program_, *item.type.type),
                       Describe(item.object));
  }

  // A value whose type the export leaves open: its parts are whatever the host made. Those that
  // only a program can make stay out, since they are of one invocation.
  std::string VisitOpen(const Item& item) {
    switch (item.object->kind) {
      case ObjectKind::kTensor:
        // Where a type is open, nothing would tell that they are strings.
        return static_cast<const Tensor*>(item.object)->dtype == DType::kString ? kNoStrings : "";
      case ObjectKind::kAdt: {
        std::span<Object*> fields = FieldsOf(const_cast<Object*>(item.object));
        for (size_t i = fields.size(); i-- > 0;) Push(fields[i], item.type.type, nullptr);
        return "";
      }
      case ObjectKind::kClosure:
        return kNoFunctions;
      case ObjectKind::kRef:
        return kNoReferences;
      case ObjectKind::kDeviceTensor:
      case ObjectKind::kEmpty:
        return Mismatch(item);
    }
    return "";
  }

  std::string Visit(Item item) {
    while (item.type.type->kind == ValueType::Kind::kTypeVar) {
      const Environment* environment = item.type.environment;
      // The variables of ADTs have a meaning, those of the export have none.
      if (environment == nullptr || item.type.type->index >= environment->args.size())
        return VisitOpen(item);
      Bound bound = environment->args[item.type.type->index];
      if (bound == item.type) return VisitOpen(item);
      item.type = bound;
    }
    const ValueType& type = *item.type.type;
    switch (type.kind) {
      case ValueType::Kind::kTensor:
        if (!TensorMatches(type, item.object)) return Mismatch(item);
        if (visitor_ == nullptr) return "";
        return (*visitor_)(type, *static_cast<const Tensor*>(item.object));
      case ValueType::Kind::kTuple: {
        auto* tuple = static_cast<const Adt*>(item.object);
        if (item.object->kind != ObjectKind::kAdt || tuple->tag != 0 ||
            tuple->num_fields != type.args.size()) {
          return Mismatch(item);
        }
        for (size_t i = type.args.size(); i-- > 0;)
          Push(tuple->fields[i], &type.args[i], item.type.environment);
        return "";
      }
      case ValueType::Kind::kAdt: {
        const AdtInfo& info = program_.adts[type.index];
        auto* adt = static_cast<const Adt*>(item.object);
        if (item.object->kind != ObjectKind::kAdt || adt->tag >= info.constructors.size())
          return Mismatch(item);
        const ConstructorInfo& constructor = info.constructors[adt->tag];
        if (adt->num_fields != constructor.fields.size()) {
          detail_.expected = {static_cast<int64_t>(constructor.fields.size())};
          detail_.found = {adt->num_fields};
          return fmt::format("{} takes {} fields, found {}", constructor.name,
                             constructor.fields.size(), adt->num_fields);
        }
        const Environment* environment = EnvironmentOf(type, item.type.environment);
        for (size_t i = constructor.fields.size(); i-- > 0;) {
          Push(adt->fields[i], &constructor.fields[i], environment);
        }
        return "";
      }
      case ValueType::Kind::kFunction:
        return kNoFunctions;
      case ValueType::Kind::kRef:
        return kNoReferences;
      case ValueType::Kind::kTypeVar:
        return "";
    }
    return "";
  }

  const Program& program_;
  StatusDetail& detail_;
  BorderPoll& poll_;
  const TensorVisitor* visitor_;  // or null
  std::vector<Item> work_;
  std::set<std::pair<const Object*, Bound>> seen_;
  std::map<std::vector<Bound>, const Environment*> environments_;
  std::deque<Environment> storage_;
};

// --- Results ---

// Tensors up to this size are copied out: cheaper than keeping pages of the heap alive for them.
constexpr size_t kCopyBytes = Heap::kMaxSmall;

struct HeapMemory : ExternalMemory {
  Heap* heap;
  void* block;
  size_t bytes;
};
struct ConstantMemory : ExternalMemory {
  std::shared_ptr<const Executable> executable;
};
struct OwnerMemory : ExternalMemory {
  Object* owner;
};

// What may become of the memory of an object's large tensors.
enum class Ownership : uint8_t {
  kAll,     // it leaves the heap, whoever else holds it: the run has ended
  kUnique,  // it leaves the heap where nobody else holds it
  kNone,    // it is copied
};

// False when it was stopped.
bool CopyBytes(char* to, const char* from, size_t bytes, BorderPoll* poll) {
  constexpr size_t kMost = 1 << 20;
  for (; bytes > kMost; bytes -= kMost, to += kMost, from += kMost) {
    std::memcpy(to, from, kMost);
    if (!poll->Ask()) return false;
  }
  if (bytes > 0) std::memcpy(to, from, bytes);
  return true;
}
// Null without memory, or when it was stopped.
Tensor* CopyShared(const Tensor* from, BorderPoll* poll) {
  const size_t bytes = from->bytes();
  Tensor* to = NewSharedTensor(from->dtype, from->shape(), bytes);
  if (to == nullptr || CopyBytes(to->data, from->data, bytes, poll)) return to;
  ReleaseShared(to);
  return nullptr;
}
// Packed strings become ids of `strings`.
Tensor* ImportStrings(Heap& heap, const Tensor* from, BorderPoll* poll, StringTable* strings) {
  Tensor* to =
      strings == nullptr ? nullptr : NewTensor(heap, DType::kString, from->rank, from->bytes());
  if (to == nullptr) return nullptr;
  std::copy_n(from->dims, from->rank, to->dims);
  const PackedStrings texts(from->data, from->num_elements());
  auto* ids = reinterpret_cast<int64_t*>(to->data);
  for (int64_t i = 0; i < texts.size(); ++i) {
    ids[i] = strings->Intern(texts[i]);
    if (ids[i] < 0 || !poll->GoesOn(kVisit + texts[i].size())) return nullptr;
  }
  return to;
}
// The reverse. Null without memory or when it was stopped; *unknown: it holds what is no id.
Tensor* ExportStrings(const Tensor* from, BorderPoll* poll, const StringTable* strings,
                      bool* unknown) {
  const auto n = static_cast<size_t>(from->num_elements());
  const std::span<const int64_t> ids(reinterpret_cast<const int64_t*>(from->data), n);
  size_t text_bytes = 0;
  for (const int64_t id : ids) {
    const auto text = strings == nullptr ? std::nullopt : strings->Text(id);
    *unknown = !text;
    if (!text || !poll->GoesOn(kVisit)) return nullptr;
    text_bytes += text->size();
  }
  Tensor* to = NewSharedStrings(from->shape(), n, text_bytes);
  if (to == nullptr) return nullptr;
  StringPacker packer(to);
  for (const int64_t id : ids) {
    const std::string_view text = *strings->Text(id);
    packer.Add(text);
    if (poll->GoesOn(kVisit + text.size())) continue;
    ReleaseShared(to);
    return nullptr;
  }
  return to;
}
Tensor* CopyLocal(Heap& heap, const Tensor* from, BorderPoll* poll, StringTable* strings) {
  if (from->dtype == DType::kString) return ImportStrings(heap, from, poll, strings);
  const size_t bytes = from->bytes();
  Tensor* to = NewTensor(heap, from->dtype, from->rank, bytes);
  if (to == nullptr) return nullptr;
  std::copy_n(from->dims, from->rank, to->dims);
  return CopyBytes(to->data, from->data, bytes, poll) ? to : nullptr;
}

// Of small tensors, without the machinery. Null when it is another, or without memory.
Tensor* CopySmall(const Object* object, BorderPoll* poll) {
  if (object->kind != ObjectKind::kTensor || object->home == Home::kShared) return nullptr;
  const auto* tensor = static_cast<const Tensor*>(object);
  const bool copies = tensor->bytes() <= kCopyBytes && tensor->dtype != DType::kString;
  return copies ? CopyShared(tensor, poll) : nullptr;
}

class Exporter {
 public:
  // `counts`: what is made is charged to the heap.
  Exporter(Heap& heap, const std::shared_ptr<const Executable>& executable, bool counts,
           BorderPoll* poll, const StringTable* strings)
      : heap_(heap), executable_(executable), counts_(counts), poll_(*poll), strings_(strings) {}

  // When it is not kOk, nothing is left of what was made.
  StatusCode Export(Object* root, Ownership ownership, Value* value) {
    Object* result = Empty();
    StatusCode code = StatusCode::kOk;
    const bool has_memory = HasMemoryFor([&] {
      code = Walk(root, &result, ownership);
      if (code == StatusCode::kOk && !refs_.empty()) code = CheckCycles(result);
    });
    if (!has_memory) code = StatusCode::kResourceExhausted;
    // What was made may be a cycle.
    if (code != StatusCode::kOk) BreakRefs();
    *value = Value::Adopt(result);
    if (code != StatusCode::kOk) *value = Value();
    return code;
  }

  // Why Export gave `code`.
  [[gnu::cold]] Failure FailureOf(StatusCode code, const char* what) const {
    switch (code) {
      case StatusCode::kResourceExhausted:
        return MemoryFailure(heap_, what, asked_bytes_);
      case StatusCode::kInvalidInput:
        return {code, fmt::format("{} holds {}", what, refusal_)};
      case StatusCode::kUnsupported:
        return {code,
                "the result holds references that form a cycle; these cannot leave the program"};
      default:
        return {code, InterruptMessage(code)};
    }
  }
  size_t num_objects() const { return num_objects_; }

 private:
  struct Item {
    Object* from;
    Object** slot;
    Ownership ownership;
  };

  // What is made is counted in steps, so that a small result costs nothing.
  static constexpr size_t kStep = 64 << 10;
  // An entry of a hash table, as malloc has it.
  static constexpr size_t kEntryBytes = 56;

  struct Known {
    Object* to = nullptr;     // what was made of it
    size_t copied_bytes = 0;  // of its views
  };

  // Throws bad_alloc, too; *result is what was made so far.
  StatusCode Walk(Object* root, Object** result, Ownership ownership) {
    for (Item item{root, result, ownership};;) {
      ++num_objects_;
      Object* made = Convert(item.from, item.ownership);
      if (made == nullptr) {
        return poll_.stopped()       ? poll_.answer()
               : refusal_ != nullptr ? StatusCode::kInvalidInput
                                     : StatusCode::kResourceExhausted;
      }
      *item.slot = made;
      if (made_bytes_ >= kStep) [[unlikely]] {
        if (const StatusCode code = CountMade(); code != StatusCode::kOk) return code;
      }
      if (work_.empty()) return StatusCode::kOk;
      item = work_.back();
      work_.pop_back();
    }
  }

  StatusCode CountMade() {
    const size_t work_bytes = work_.capacity() * sizeof(Item);
    made_bytes_ += work_bytes - std::exchange(work_bytes_, work_bytes);
    asked_bytes_ = std::exchange(made_bytes_, 0);
    if (counts_ && !heap_.Charge(asked_bytes_)) return StatusCode::kResourceExhausted;
    poll_.Ask();
    return poll_.answer();
  }

  // Empties the references that were made, so that nothing holds itself.
  void BreakRefs() {
    for (Ref* ref : refs_) RetainShared(ref);
    for (Ref* ref : refs_) ReleaseShared(std::exchange(ref->content, Empty()));
    for (Ref* ref : refs_) ReleaseShared(ref);
  }

  // A shared object for `from`, with a reference for the caller; its fields are left as work. Null,
  // or bad_alloc, without memory, or null when it was stopped: then nothing was made.
  Object* Convert(Object* from, Ownership ownership) {
    if (from->home == Home::kShared) {
      RetainShared(from);
      return from;
    }
    if (from->kind == ObjectKind::kEmpty) return from;
    const bool remember = !IsUnique(from) || from->kind == ObjectKind::kRef;
    if (remember) {
      const auto it = known_.find(from);
      if (it != known_.end() && it->second.to != nullptr) {
        RetainShared(it->second.to);
        return it->second.to;
      }
    }
    if (ownership == Ownership::kUnique && !IsUnique(from)) ownership = Ownership::kNone;
    Object* to = nullptr;
    switch (from->kind) {
      case ObjectKind::kEmpty:
        return from;
      case ObjectKind::kTensor:
        to = ConvertTensor(static_cast<Tensor*>(from), ownership);
        break;
      case ObjectKind::kAdt:
        to = NewSharedAdt(static_cast<Adt*>(from)->tag, static_cast<Adt*>(from)->num_fields);
        break;
      case ObjectKind::kClosure:
        to = NewSharedClosure(static_cast<Closure*>(from)->function);
        break;
      case ObjectKind::kRef:
        to = NewSharedRef();
        break;
      case ObjectKind::kDeviceTensor:
        refusal_ = "a tensor on a device, which tensor.copy brings to the host";
        return nullptr;
    }
    if (to == nullptr) {
      asked_bytes_ = from->kind == ObjectKind::kTensor
                         ? TensorHeaderBytes(0) + static_cast<const Tensor*>(from)->bytes()
                         : sizeof(Adt) + 8 * FieldsOf(from).size();
      return nullptr;
    }
    made_bytes_ += SharedObjectBytes(to);
    std::span<Object*> from_fields = FieldsOf(from), to_fields = FieldsOf(to);
    if (to_fields.empty() && (!remember || work_.empty())) return to;  // nothing asks for it again
    Value made = Value::Adopt(to);                                     // until nothing can fail
    for (size_t i = to_fields.size(); i-- > 0;) {
      work_.push_back({from_fields[i], &to_fields[i], ownership});
    }
    if (remember) {
      known_[from].to = to;
      made_bytes_ += kEntryBytes;
    }
    if (from->kind == ObjectKind::kRef) refs_.push_back(static_cast<Ref*>(to));
    RetainShared(to);
    return to;
  }

  // Of the memory at `data`.
  Tensor* Wrap(const Tensor* from, char* data, ExternalMemory* memory) {
    made_bytes_ += kEntryBytes;  // of `memory`
    return NewSharedTensor(from->dtype, from->shape(), data, from->bytes(), memory);
  }

  // What the caller's buffer has is nobody else's to hold.
  static bool IsInOutput(const Tensor* tensor) {
    return tensor->storage() == Storage::kOutput ||
           (tensor->storage() == Storage::kView && tensor->owner->storage() == Storage::kOutput);
  }

  // Whether a tensor that is better copied may be: a view only until the copies of its owner's
  // views are as large as the owner, which they share from then on.
  bool MayCopy(const Tensor* from) {
    if (from->storage() != Storage::kView || IsUnique(from->owner) || work_.empty()) return true;
    auto [it, inserted] = known_.try_emplace(from->owner);
    if (inserted) made_bytes_ += kEntryBytes;
    size_t& copied_bytes = it->second.copied_bytes;
    if (from->bytes() > from->owner->capacity - copied_bytes) return false;
    copied_bytes += from->bytes();
    return true;
  }

  Tensor* ConvertTensor(Tensor* from, Ownership ownership) {
    if (from->dtype == DType::kString) {
      bool unknown = false;
      Tensor* packed = ExportStrings(from, &poll_, strings_, &unknown);
      if (unknown) refusal_ = "a string that has no text";
      return packed;
    }
    const bool moves = ownership == Ownership::kAll || from->home == Home::kImmortal ||
                       (ownership == Ownership::kUnique && from->storage() == Storage::kOwned);
    if ((from->bytes() <= kCopyBytes || !moves || IsInOutput(from)) && MayCopy(from))
      return CopyShared(from, &poll_);
    if (from->home == Home::kImmortal) return WrapConstant(from);
    if (from->storage() == Storage::kOwned) {
      auto* memory = new (std::nothrow) HeapMemory;
      if (memory == nullptr) return nullptr;
      memory->release = [](ExternalMemory* self) {
        auto* m = static_cast<HeapMemory*>(self);
        Heap::FreeExported(m->heap, m->block, m->bytes);
        delete m;
      };
      memory->heap = &heap_;
      memory->block = from->data;
      memory->bytes = from->capacity;
      memory->is_writable = true;
      heap_.Export(from->data, from->capacity);
      // From here on the local header owns nothing.
      from->storage_code = static_cast<uint8_t>(Storage::kExternal);
      return Wrap(from, from->data, memory);
    }
    // A view; or what was just exported, of which only the object remembered is asked for again.
    Tensor* owner = from->owner;
    if (owner->home == Home::kImmortal) return WrapConstant(from);
    auto* shared_owner = static_cast<Tensor*>(Convert(owner, ownership));
    if (shared_owner == nullptr) return nullptr;
    // The owner may be remembered only by count; a view is one holder, so a lone owner is not asked
    // for twice.
    auto* memory = new (std::nothrow) OwnerMemory;
    if (memory == nullptr) {
      ReleaseShared(shared_owner);
      return nullptr;
    }
    memory->release = [](ExternalMemory* self) {
      auto* m = static_cast<OwnerMemory*>(self);
      ReleaseShared(m->owner);
      delete m;
    };
    memory->owner = shared_owner;
    memory->is_callers = shared_owner->storage() == Storage::kExternal &&
                         shared_owner->external != nullptr && shared_owner->external->is_callers;
    return Wrap(from, shared_owner->data + (from->data - owner->data), memory);
  }

  Tensor* WrapConstant(const Tensor* from) {
    auto* memory = new (std::nothrow) ConstantMemory;
    if (memory == nullptr) return nullptr;
    memory->release = [](ExternalMemory* self) { delete static_cast<ConstantMemory*>(self); };
    memory->executable = executable_;
    return Wrap(from, from->data, memory);
  }

  // Depth-first search over what was made; cycles can only go through references. Throws bad_alloc.
  StatusCode CheckCycles(Object* root) {
    std::unordered_map<Object*, bool> finished;
    std::vector<std::pair<Object*, size_t>> path = {{root, 0}};
    finished.emplace(root, false);
    while (!path.empty()) {
      auto& [object, next] = path.back();
      std::span<Object*> fields = FieldsOf(object);
      if (next == fields.size()) {
        finished[object] = true;
        path.pop_back();
        continue;
      }
      Object* child = fields[next++];
      auto [it, inserted] = finished.emplace(child, false);
      if (inserted) {
        path.push_back({child, 0});
        made_bytes_ += kEntryBytes + sizeof(path[0]);
        if (made_bytes_ < kStep) continue;
        if (const StatusCode code = CountMade(); code != StatusCode::kOk) return code;
      } else if (!it->second && child->home == Home::kShared) {
        return StatusCode::kUnsupported;
      }
    }
    return StatusCode::kOk;
  }

  Heap& heap_;
  const std::shared_ptr<const Executable>& executable_;
  const bool counts_;
  BorderPoll& poll_;
  const StringTable* strings_;
  const char* refusal_ = nullptr;  // what cannot be a value; null: nothing is so
  std::vector<Item> work_;
  std::unordered_map<const Object*, Known> known_;  // of those that several hold
  std::vector<Ref*> refs_;
  size_t num_objects_ = 0;
  size_t made_bytes_ = 0;   // that CountMade is still to be told of
  size_t work_bytes_ = 0;   // of work_, when it was last counted
  size_t asked_bytes_ = 1;  // of what there was no memory for
};

}  // namespace

Status ExportStatus(Failure failure, const std::string& function) {
  failure.detail.places = {{.function = function}};
  failure.detail.subject = function;
  return {failure.code, fmt::format("{}: {}", function, failure.message),
          std::make_shared<StatusDetail>(std::move(failure.detail))};
}

namespace {

[[gnu::cold, gnu::noinline]] Status DimsStatus(const Program& program, const ExportInfo& function,
                                               const SignatureDims& dims,
                                               std::span<const Value> inputs) {
  BorderPoll poll;
  SignatureDims::Mismatch wrong = dims.Check(program, inputs, nullptr, function.param_names, &poll);
  if (wrong.text.empty()) return OkStatus();
  std::string text = fmt::format("{}: {}", function.name, wrong.text);
  if (!wrong.other_name.empty()) {
    text += fmt::format("; where these are two sizes, relayc --shape {} gives one another name",
                        wrong.other_name);
  }
  return {StatusCode::kInvalidArgument, text,
          std::make_shared<StatusDetail>(std::move(wrong.detail))};
}

// What is not as the types of plain tensors say: data, or an error.
[[gnu::noinline]] Status CheckAnyInputs(const Program& program, const ExportInfo& function,
                                        const SignatureDims& dims, std::span<const Value> inputs) {
  if (inputs.size() != function.params.size()) {
    StatusDetail detail{.expected = {static_cast<int64_t>(function.params.size())},
                        .found = {static_cast<int64_t>(inputs.size())}};
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: expected {} inputs, found {}", function.name, function.params.size(),
                        inputs.size()),
            std::make_shared<StatusDetail>(std::move(detail))};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Object* object = inputs[i].object() != nullptr ? inputs[i].object() : Empty();
    const ValueType& type = function.params[i];
    if (type.kind == ValueType::Kind::kTensor && TensorMatches(type, object)) continue;
    StatusDetail detail;
    BorderPoll poll;
    std::string problem = TypeChecker(program, &detail, &poll).Check(object, type);
    if (problem.empty()) continue;
    std::string name = i < function.param_names.size() ? function.param_names[i] : "";
    detail.subject = name.starts_with('%') ? name.substr(1) : name;
    if (!name.empty() && name.front() != '%') name.insert(0, 1, '%');
    if (name.empty()) detail.subject = name = std::to_string(i);
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: parameter {}: {}", function.name, name, problem),
            std::make_shared<StatusDetail>(std::move(detail))};
  }
  if (dims.empty() || dims.Agree(inputs)) return OkStatus();
  return DimsStatus(program, function, dims, inputs);
}

}  // namespace

Status CheckInputs(const Program& program, const ExportInfo& function, const SignatureDims& dims,
                   std::span<const Value> inputs) {
  // The common case, without the machinery and its frame.
  bool fits = inputs.size() == function.params.size();
  for (size_t i = 0; fits && i < inputs.size(); ++i) {
    const Object* object = inputs[i].object();
    const ValueType& type = function.params[i];
    fits =
        object != nullptr && type.kind == ValueType::Kind::kTensor && TensorMatches(type, object);
  }
  if (fits && (dims.empty() || dims.Agree(inputs))) return OkStatus();
  return CheckAnyInputs(program, function, dims, inputs);
}

std::string VisitTensors(const Program& program, const Object* object, const ValueType& type,
                         const TensorVisitor& visitor, BorderPoll* poll) {
  StatusDetail detail;
  return TypeChecker(program, &detail, poll, &visitor).Check(object, type);
}

bool IsTensorOf(const Object* object, const ValueType& type) {
  return object != nullptr && type.kind == ValueType::Kind::kTensor && TensorMatches(type, object);
}

std::string CheckType(const Program& program, const Object* object, const ValueType& type,
                      StatusDetail* detail, BorderPoll* poll) {
  if (IsTensorOf(object, type)) return "";
  return TypeChecker(program, detail, poll).Check(object == nullptr ? Empty() : object, type);
}

namespace {

// The machinery is apart from what small tensors take: the frames of these are large, and an
// invocation that waits in a host function has a page of its stack less without them.
[[gnu::noinline]] Result<Value> ExportAny(Heap& heap,
                                          const std::shared_ptr<const Executable>& executable,
                                          const std::string& function, Object* object,
                                          BorderPoll* poll, size_t* num_objects,
                                          const StringTable* strings) {
  Exporter exporter(heap, executable, /*counts=*/true, poll, strings);
  Value value;
  const StatusCode code = exporter.Export(object, Ownership::kAll, &value);
  if (num_objects != nullptr) *num_objects = exporter.num_objects();
  if (code != StatusCode::kOk)
    return ExportStatus(exporter.FailureOf(code, "the result"), function);
  return value;
}

[[gnu::noinline]] Result<Value> ExportAnyArgument(
    Heap& heap, const std::shared_ptr<const Executable>& executable, Object* object, bool last_use,
    BorderPoll* poll, const StringTable* strings) {
  // The host's own: it may give each back at once.
  Exporter exporter(heap, executable, /*counts=*/false, poll, strings);
  Value value;
  const StatusCode code =
      exporter.Export(object, last_use ? Ownership::kUnique : Ownership::kNone, &value);
  if (code == StatusCode::kOk) return value;
  Failure failure = exporter.FailureOf(code, "an argument");
  return Status(failure.code, failure.message,
                std::make_shared<StatusDetail>(std::move(failure.detail)));
}

}  // namespace

Result<Value> ExportObject(Heap& heap, const std::shared_ptr<const Executable>& executable,
                           const std::string& function, Object* object, BorderPoll* poll,
                           size_t* num_objects, StringTable* strings) {
  if (num_objects != nullptr) *num_objects = 1;
  if (Tensor* copy = CopySmall(object, poll)) return Value::Adopt(copy);
  return ExportAny(heap, executable, function, object, poll, num_objects, strings);
}

Result<Value> ExportArgument(Heap& heap, const std::shared_ptr<const Executable>& executable,
                             Object* object, bool last_use, BorderPoll* poll,
                             StringTable* strings) {
  if (Tensor* copy = CopySmall(object, poll)) return Value::Adopt(copy);
  return ExportAnyArgument(heap, executable, object, last_use, poll, strings);
}

Object* ImportValue(Heap& heap, const Value& value, BorderPoll* poll, StringTable* strings) {
  if (value.is_tensor())
    return CopyLocal(heap, static_cast<const Tensor*>(value.object()), poll, strings);
  struct Item {
    const Object* from;
    Object** slot;
  };
  Object* result = Empty();
  std::vector<Item> work = {{value.object(), &result}};
  std::unordered_map<const Object*, Object*> converted;  // of those that several hold
  while (!work.empty()) {
    const Item item = work.back();
    work.pop_back();
    if (!poll->GoesOn(kVisit)) return nullptr;
    const bool shared = item.from->count.load(std::memory_order_relaxed) > kUncounted + 1;
    if (const auto known = shared ? converted.find(item.from) : converted.end();
        known != converted.end()) {
      Retain(known->second);
      *item.slot = known->second;
      continue;
    }
    Object* to = nullptr;
    if (item.from->kind == ObjectKind::kTensor) {
      auto* tensor = static_cast<const Tensor*>(item.from);
      to = CopyLocal(heap, tensor, poll, strings);
      if (to == nullptr || !poll->GoesOn(std::min(tensor->bytes(), kCopyBytes))) return nullptr;
    } else {
      const auto* from = static_cast<const Adt*>(item.from);
      Adt* adt = NewAdt(heap, static_cast<uint32_t>(from->tag), from->num_fields);
      if (adt == nullptr) return nullptr;
      for (size_t i = from->num_fields; i-- > 0;)
        work.push_back({from->fields[i], &adt->fields[i]});
      to = adt;
    }
    if (shared) converted.emplace(item.from, to);
    *item.slot = to;
  }
  return result;
}

}  // namespace relayvm::vm

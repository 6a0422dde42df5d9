// Values of objects, and objects of values: what leaves a run's heap, and what enters it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/status_detail.h"
#include "vm/border/border.h"
#include "vm/border/shared_object.h"
#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

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
    if (ids[i] < 0 || !poll->GoesOn(BorderPoll::kVisit + texts[i].size())) return nullptr;
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
    if (!text || !poll->GoesOn(BorderPoll::kVisit)) return nullptr;
    text_bytes += text->size();
  }
  Tensor* to = NewSharedStrings(from->shape(), n, text_bytes);
  if (to == nullptr) return nullptr;
  StringPacker packer(to);
  for (const int64_t id : ids) {
    const std::string_view text = *strings->Text(id);
    packer.Add(text);
    if (poll->GoesOn(BorderPoll::kVisit + text.size())) continue;
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
           BorderPoll* poll, const StringTable* strings, std::span<const Value> given = {})
      : heap_(heap),
        executable_(executable),
        counts_(counts),
        poll_(*poll),
        strings_(strings),
        given_(given) {}

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

  // An input whose memory the run had for itself, of which `from` is all; null: none.
  Object* GivenOf(const Tensor* from) const {
    for (const Value& value : given_) {
      auto* given = static_cast<Tensor*>(value.object());
      if (given != nullptr && given->kind == ObjectKind::kTensor && given->data == from->data &&
          given->dtype == from->dtype && std::ranges::equal(given->shape(), from->shape()))
        return given;
    }
    return nullptr;
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
    if (from->storage() == Storage::kOutput && !given_.empty()) {
      if (Object* given = GivenOf(from)) {
        RetainShared(given);
        return static_cast<Tensor*>(given);
      }
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
  const std::span<const Value> given_;
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

namespace {

// The machinery is apart from what small tensors take: the frames of these are large, and an
// invocation that waits in a host function has a page of its stack less without them.
[[gnu::noinline]] Result<Value> ExportAny(Heap& heap,
                                          const std::shared_ptr<const Executable>& executable,
                                          const std::string& function, Object* object,
                                          BorderPoll* poll, size_t* num_objects,
                                          const StringTable* strings,
                                          std::span<const Value> given) {
  Exporter exporter(heap, executable, /*counts=*/true, poll, strings, given);
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
                           size_t* num_objects, StringTable* strings,
                           std::span<const Value> given) {
  if (num_objects != nullptr) *num_objects = 1;
  if (Tensor* copy = CopySmall(object, poll)) return Value::Adopt(copy);
  return ExportAny(heap, executable, function, object, poll, num_objects, strings, given);
}

Result<Value> ExportArgument(Heap& heap, const std::shared_ptr<const Executable>& executable,
                             Object* object, bool last_use, BorderPoll* poll,
                             StringTable* strings) {
  if (Tensor* copy = CopySmall(object, poll)) return Value::Adopt(copy);
  return ExportAnyArgument(heap, executable, object, last_use, poll, strings);
}

bool GiveInputs(Heap& heap, std::span<Value> inputs, std::span<Object*> args) {
  constexpr size_t kLarge = size_t{64} << 10;
  bool any = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i]->kind != ObjectKind::kTensor) continue;
    const auto* tensor = static_cast<const Tensor*>(args[i]);
    // What left a heap is counted still; a host's own tensor is not, and must not be a result.
    if (tensor->bytes() < kLarge || tensor->storage() != Storage::kExternal) continue;
    auto* data = static_cast<char*>(inputs[i].mutable_data());
    if (data == nullptr || tensor->data != data) continue;
    Tensor* own = NewOutputTensor(heap, tensor->dtype, tensor->rank, data, tensor->bytes());
    if (own == nullptr) continue;
    std::ranges::copy(tensor->shape(), own->dims);
    args[i] = own;
    any = true;
  }
  return any;
}

Object* ImportValue(Heap& heap, const Value& value, BorderPoll* poll, StringTable* strings,
                    const DeviceImporter* from_device) {
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
    if (!poll->GoesOn(BorderPoll::kVisit)) return nullptr;
    const bool shared = item.from->count.load(std::memory_order_relaxed) > kUncounted + 1;
    if (const auto known = shared ? converted.find(item.from) : converted.end();
        known != converted.end()) {
      Retain(known->second);
      *item.slot = known->second;
      continue;
    }
    Object* to = nullptr;
    const bool is_tensor = IsTensor(item.from);
    const auto* const tensor = is_tensor ? static_cast<const Tensor*>(item.from) : nullptr;
    if (is_tensor && from_device != nullptr &&
        (strings == nullptr || tensor->dtype != DType::kString)) {
      const bool is_there = item.from->kind == ObjectKind::kDeviceTensor;
      to = is_there ? (*from_device)(tensor) : const_cast<Object*>(item.from);
      if (to == nullptr) return nullptr;
    } else if (is_tensor) {
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

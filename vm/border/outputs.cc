#include "vm/border/outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bytecode/base/message.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/disassembler.h"
#include "bytecode/program.h"
#include "vm/border/border.h"
#include "vm/memory/allocator.h"

namespace relayvm::vm {
namespace {

std::string TensorText(DType dtype, std::span<const int64_t> dims) {
  if (dims.empty()) return std::string(DTypeName(dtype));
  return fmt::format("Tensor[({}), {}]", Joined(dims), DTypeName(dtype));
}

bool IsTensorType(const ValueType* type) { return type->kind == ValueType::Kind::kTensor; }

// Of the output that buffer `index` is for: its name, else its number.
[[gnu::cold]] std::string NameOf(const ExportInfo& function, size_t index) {
  std::vector<const ValueType*> outputs;
  AddOutputs(function.result, &outputs);
  size_t output = 0;
  for (size_t tensors = 0;; ++output) {
    if (IsTensorType(outputs[output]) && tensors++ == index) break;
  }
  std::string name = OutputNames(function, outputs)[output];
  return name.empty() ? std::to_string(output) : name;
}

[[gnu::cold]] Status Mismatch(const ExportInfo& function, size_t index, const OutputBuffer& buffer,
                              const std::string& expected, std::span<const int64_t> expected_dims) {
  std::string name = NameOf(function, index);
  std::string text =
      fmt::format("{}: output {}: expected a buffer for {}, found one for {}", function.name, name,
                  expected, TensorText(buffer.dtype, buffer.dims));
  StatusDetail detail{.subject = std::move(name),
                      .expected = {expected_dims.begin(), expected_dims.end()},
                      .found = {buffer.dims.begin(), buffer.dims.end()}};
  return {StatusCode::kInvalidArgument, std::move(text),
          std::make_shared<StatusDetail>(std::move(detail))};
}

bool MayHold(const ValueType& type, const OutputBuffer& buffer) {
  return buffer.dtype == type.dtype && buffer.dims.size() == type.dims.size() &&
         std::equal(buffer.dims.begin(), buffer.dims.end(), type.dims.begin(),
                    [](int64_t found, int64_t expected) {
                      return found >= 0 && (expected < 0 || expected == found);
                    });
}

bool Overlap(const char* a, size_t a_bytes, const char* b, size_t b_bytes) {
  return std::less<>()(a, b + b_bytes) && std::less<>()(b, a + a_bytes);
}

size_t BytesOf(const OutputBuffer& buffer) {
  return static_cast<size_t>(CheckedTensorBytes(buffer.dtype, buffer.dims));
}

struct CopyToBuffer {
  const Tensor* from;
  char* to;
  size_t bytes;
};

// A tensor that stays in the result, though a buffer lies over its memory; or on a device.
struct Kept {
  size_t leaf;
  Tensor* copy;
};

class Taker {
 public:
  Taker(Heap& heap, const ExportInfo& function, std::span<const OutputBuffer> outputs,
        const OutputMover& move)
      : heap_(heap), function_(function), outputs_(outputs), move_(move) {}

  // Finds the tensors of `object` that have buffers, and checks them. Copies those that have none,
  // and lie where a buffer does: they are inputs that are passed through.
  Status Find(const ValueType& type, Object* object) {
    if (type.kind == ValueType::Kind::kTensor) return FindTensor(object);
    if (type.kind != ValueType::Kind::kTuple) return OkStatus();
    std::span<Object*> fields = FieldsOf(object);
    if (object->kind != ObjectKind::kAdt || fields.size() != type.args.size()) {
      return {StatusCode::kInvalidInput,
              fmt::format("{}: expected a tuple of {} fields as result, found {}", function_.name,
                          type.args.size(), ObjectKindName(object->kind)),
              std::make_shared<StatusDetail>(
                  StatusDetail{.expected = {static_cast<int64_t>(type.args.size())},
                               .found = {static_cast<int64_t>(fields.size())},
                               .expected_text = "tuple",
                               .found_text = std::string(ObjectKindName(object->kind))})};
    }
    for (size_t i = 0; i < fields.size(); ++i)
      RELAYVM_RETURN_IF_ERROR(Find(type.args[i], fields[i]));
    return OkStatus();
  }

  // A result that is one tensor, and goes to the buffer: the same without lists of parts.
  Status TakeOne(const Object* object) const {
    RELAYVM_RETURN_IF_ERROR(Check(0, object));
    const auto* tensor = static_cast<const Tensor*>(object);
    if (tensor->bytes() > 0) std::memmove(outputs_[0].data, tensor->data, tensor->bytes());
    return OkStatus();
  }

  void CopyAll() {
    // What a buffer lies over is saved before anything is written.
    const auto covered = [&](const CopyToBuffer& from) {
      return std::ranges::any_of(copies_, [&](const CopyToBuffer& to) {
        return Overlap(from.from->data, from.bytes, to.to, to.bytes);
      });
    };
    std::vector<std::unique_ptr<char[]>> saved(copies_.size());
    for (size_t i = 0; i < copies_.size(); ++i) {
      const CopyToBuffer& copy = copies_[i];
      if (copy.from->data == copy.to || !covered(copy)) continue;
      saved[i] = std::make_unique_for_overwrite<char[]>(copy.bytes);
      std::memcpy(saved[i].get(), copy.from->data, copy.bytes);
    }
    for (size_t i = 0; i < copies_.size(); ++i) {
      const CopyToBuffer& copy = copies_[i];
      const char* from = saved[i] != nullptr ? saved[i].get() : copy.from->data;
      if (from != copy.to) std::memcpy(copy.to, from, copy.bytes);
    }
  }

  // What is left of `object`, with a reference; null without memory.
  Object* Rest(const ValueType& type, Object* object) {
    if (type.kind == ValueType::Kind::kTensor) {
      const size_t leaf = rest_leaf_++;
      if (HasBuffer(leaf)) return Empty();
      const auto kept = std::ranges::find(kept_, leaf, &Kept::leaf);
      if (kept != kept_.end()) return kept->copy;
    }
    if (type.kind != ValueType::Kind::kTuple) {
      Retain(object);
      return object;
    }
    std::span<Object*> fields = FieldsOf(object);
    Adt* rest = NewAdt(heap_, 0, static_cast<uint32_t>(fields.size()));
    if (rest == nullptr) return nullptr;
    std::fill_n(rest->fields, fields.size(), Empty());
    for (size_t i = 0; i < fields.size(); ++i) {
      rest->fields[i] = Rest(type.args[i], fields[i]);
      if (rest->fields[i] == nullptr) return nullptr;  // the heap is reset
    }
    return rest;
  }

 private:
  bool HasBuffer(size_t leaf) const {
    return leaf < outputs_.size() && outputs_[leaf].data != nullptr;
  }

  Status Keep(size_t leaf, const Object* object) {
    auto* tensor = static_cast<const Tensor*>(object);
    if (object->kind != ObjectKind::kTensor || tensor->bytes() == 0) return OkStatus();
    const auto covers = [&](const OutputBuffer& buffer) {
      return buffer.data != nullptr && Overlap(tensor->data, tensor->bytes(),
                                               static_cast<char*>(buffer.data), BytesOf(buffer));
    };
    if (std::ranges::none_of(outputs_, covers)) return OkStatus();
    Tensor* copy = NewTensor(heap_, tensor->dtype, tensor->rank, tensor->bytes());
    if (copy == nullptr)
      return ExportStatus(MemoryFailure(heap_, "the result", tensor->bytes()), function_.name);
    std::ranges::copy(tensor->shape(), copy->dims);
    std::memcpy(copy->data, tensor->data, tensor->bytes());
    kept_.push_back({leaf, copy});
    return OkStatus();
  }

  Status Move(size_t leaf, Object* object) {
    if (!IsTensor(object)) return Check(leaf, object);
    RELAYVM_ASSIGN_OR_RETURN(Tensor* const there,
                             move_(static_cast<Tensor*>(object), *outputs_[leaf].device));
    kept_.push_back({leaf, there});
    return OkStatus();
  }

  Status FindTensor(Object* object) {
    const size_t leaf = leaf_++;
    if (leaf < outputs_.size() && outputs_[leaf].device != nullptr) return Move(leaf, object);
    if (!HasBuffer(leaf)) return Keep(leaf, object);
    RELAYVM_RETURN_IF_ERROR(Check(leaf, object));
    const auto* tensor = static_cast<const Tensor*>(object);
    if (tensor->bytes() > 0)
      copies_.push_back({tensor, static_cast<char*>(outputs_[leaf].data), tensor->bytes()});
    return OkStatus();
  }

  // That `object` is what the buffer is for.
  Status Check(size_t leaf, const Object* object) const {
    const OutputBuffer& buffer = outputs_[leaf];
    auto* tensor = static_cast<const Tensor*>(object);
    if (object->kind != ObjectKind::kTensor) {
      return {StatusCode::kInvalidInput,
              fmt::format("{}: output {}: expected a tensor, found {}", function_.name,
                          NameOf(function_, leaf), ObjectKindName(object->kind)),
              std::make_shared<StatusDetail>(
                  StatusDetail{.subject = NameOf(function_, leaf),
                               .expected_text = "tensor",
                               .found_text = std::string(ObjectKindName(object->kind))})};
    }
    const std::span<const int64_t> shape = tensor->shape();
    if (tensor->dtype != buffer.dtype ||
        !std::equal(shape.begin(), shape.end(), buffer.dims.begin(), buffer.dims.end())) {
      return Mismatch(function_, leaf, buffer, TensorText(tensor->dtype, shape), shape);
    }
    return OkStatus();
  }

  Heap& heap_;
  const ExportInfo& function_;
  std::span<const OutputBuffer> outputs_;
  const OutputMover& move_;
  size_t leaf_ = 0, rest_leaf_ = 0;  // tensors seen by Find and by Rest
  std::vector<CopyToBuffer> copies_;
  std::vector<Kept> kept_;
};

}  // namespace

void AddOutputs(const ValueType& type, std::vector<const ValueType*>* outputs) {
  if (type.kind != ValueType::Kind::kTuple) return outputs->push_back(&type);
  for (const ValueType& field : type.args) AddOutputs(field, outputs);
}

std::vector<std::string> OutputNames(const ExportInfo& function,
                                     std::span<const ValueType* const> outputs) {
  std::vector<std::string> names(outputs.size());
  const std::vector<std::string>& given = function.output_names;
  const bool all = given.size() == outputs.size();
  if (!all && given.size() != static_cast<size_t>(std::ranges::count_if(outputs, IsTensorType)))
    return names;
  for (size_t i = 0, next = 0; i < names.size(); ++i) {
    if (all || IsTensorType(outputs[i])) names[i] = given[next++];
  }
  return names;
}

void HoldDims(std::span<OutputBuffer> outputs, std::vector<int64_t>* held) {
  held->clear();
  for (const OutputBuffer& output : outputs)
    held->insert(held->end(), output.dims.begin(), output.dims.end());
  const int64_t* next = held->data();
  for (OutputBuffer& output : outputs) {
    output.dims = {next, output.dims.size()};
    next += output.dims.size();
  }
}

Status CheckOutputs(const Program& program, const ExportInfo& function,
                    std::span<const OutputBuffer> outputs) {
  const ValueType* const only = &function.result;
  std::vector<const ValueType*> several;
  if (!IsTensorType(only)) {
    AddOutputs(*only, &several);
    std::erase_if(several, std::not_fn(IsTensorType));
  }
  const std::span<const ValueType* const> leaves =
      IsTensorType(only) ? std::span(&only, 1) : std::span(several);
  if (outputs.size() > leaves.size()) {
    StatusDetail detail{.expected = {static_cast<int64_t>(leaves.size())},
                        .found = {static_cast<int64_t>(outputs.size())}};
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: expected at most {} output buffers, found {}", function.name,
                        leaves.size(), outputs.size()),
            std::make_shared<StatusDetail>(std::move(detail))};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputBuffer& buffer = outputs[i];
    if (buffer.device != nullptr &&
        (buffer.data != nullptr || leaves[i]->dtype == DType::kString)) {
      return {StatusCode::kInvalidArgument,
              fmt::format("{}: output {}: {}", function.name, NameOf(function, i),
                          buffer.data != nullptr ? "a buffer and a device, expected one of them"
                                                 : "strings on a device")};
    }
    if (buffer.data == nullptr) continue;
    if (buffer.dtype == DType::kString) {
      return {StatusCode::kInvalidArgument,
              fmt::format("{}: output {}: strings have no buffer: their size is not known before",
                          function.name, NameOf(function, i))};
    }
    if (!MayHold(*leaves[i], buffer) || CheckedTensorBytes(buffer.dtype, buffer.dims) < 0) {
      return Mismatch(function, i, buffer, TypeToString(program, *leaves[i]), leaves[i]->dims);
    }
    for (size_t j = 0; j < i; ++j) {
      if (outputs[j].data == nullptr ||
          !Overlap(static_cast<char*>(buffer.data), BytesOf(buffer),
                   static_cast<char*>(outputs[j].data), BytesOf(outputs[j]))) {
        continue;
      }
      return {StatusCode::kInvalidArgument,
              fmt::format("{}: the buffers of outputs {} and {} overlap", function.name,
                          NameOf(function, j), NameOf(function, i))};
    }
  }
  return OkStatus();
}

Result<Object*> TakeOutputs(Heap& heap, const ExportInfo& function, Object* result,
                            std::span<const OutputBuffer> outputs, const OutputMover& move) {
  Taker taker(heap, function, outputs, move);
  if (function.result.kind == ValueType::Kind::kTensor && !outputs.empty() && outputs[0].data) {
    RELAYVM_RETURN_IF_ERROR(taker.TakeOne(result));
    Release(heap, result);
    return Empty();
  }
  RELAYVM_RETURN_IF_ERROR(taker.Find(function.result, result));
  taker.CopyAll();
  Object* rest = taker.Rest(function.result, result);
  if (rest == nullptr) return ExportStatus(MemoryFailure(heap, "the result"), function.name);
  Release(heap, result);
  return rest;
}

}  // namespace relayvm::vm

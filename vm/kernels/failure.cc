#include "vm/kernels/failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bytecode/base/message.h"
#include "bytecode/base/printable.h"
#include "bytecode/kernel_abi.h"

namespace relayvm::vm {
namespace {

std::string PlaceText(const StatusPlace& place) {
  if (place.file.empty()) return fmt::format("{}+{:#x}", place.function, place.instruction);
  if (place.line == 0) return fmt::format("{} ({})", place.function, place.file);  // a model's node
  return fmt::format("{} ({}:{}:{})", place.function, place.file, place.line, place.column);
}

std::vector<int64_t> Copy(std::span<const int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

}  // namespace

Status MakeStatus(Failure failure, std::vector<StatusPlace> places, uint64_t more) {
  std::string text = fmt::format("{}: {}", PlaceText(places[0]), failure.message);
  for (size_t i = 1; i < places.size(); ++i) {
    // Adapters that the compiler makes for hosts stand nowhere in the program.
    if (places[i].file.empty() && places[i].function.find(" (boxed)") != std::string::npos)
      continue;
    text += fmt::format("\n  called from {}", PlaceText(places[i]));
  }
  if (more > 0) text += fmt::format("\n  and {} more calls", more);
  failure.detail.places = std::move(places);
  return {failure.code, std::move(text), std::make_shared<StatusDetail>(std::move(failure.detail))};
}

std::string ShapeString(std::span<const int64_t> dims) { return "(" + Joined(dims) + ")"; }

const char* InterruptMessage(StatusCode reason) {
  return reason == StatusCode::kCancelled ? "cancelled" : "the deadline has passed";
}

Failure ScalarFailureOf(FailureKind kind, Opcode opcode, const std::string& message,
                        std::vector<int64_t> numbers) {
  std::string text = FailureText(kind, opcode, message, numbers);
  const bool is_range = kind == FailureKind::kRange;
  if (is_range && numbers[2] > INT64_MIN) --numbers[2];  // the largest, as kernels say it
  return {is_range ? StatusCode::kOutOfRange : StatusCode::kFailedPrecondition,
          std::move(text),
          {.numbers = std::move(numbers)}};
}

Failure MemoryFailure(const Heap& heap, const std::string& what, size_t bytes,
                      const std::string& subject) {
  const HeapStats stats = heap.stats();
  const auto number = [](size_t n) {
    return static_cast<int64_t>(std::min<uint64_t>(n, INT64_MAX));
  };
  if (heap.refusal() == Heap::Refusal::kRuntime) {
    const size_t limit = heap.budget()->limit(), drawn = heap.budget()->drawn();
    StatusDetail detail{.subject = subject, .numbers = {number(drawn), number(limit)}};
    if (bytes != 0) detail.expected = {number(limit - drawn)};
    if (bytes != 0) detail.found = {number(bytes)};
    return {StatusCode::kResourceExhausted,
            fmt::format("no memory for {}: {} bytes are in use of the {} of all invocations; raise "
                        "the runtime's memory limit",
                        what, drawn, limit),
            std::move(detail)};
  }
  StatusDetail detail{.subject = subject,
                      .numbers = {number(stats.live_bytes), number(heap.limit())}};
  if (bytes != 0) {
    detail.expected = {number(heap.limit() - std::min(stats.live_bytes, heap.limit()))};
    detail.found = {number(bytes)};
  }
  if (heap.refusal() == Heap::Refusal::kPages) {
    detail.numbers.push_back(number(heap.page_bytes()));
    return {
        StatusCode::kResourceExhausted,
        fmt::format("no memory for {}: {} bytes are in use of {}, in pages of {}, most of which "
                    "hold few objects; raise the memory limit",
                    what, stats.live_bytes, heap.limit(), heap.page_bytes()),
        std::move(detail)};
  }
  // Blocks are larger than what is asked for, by a quarter and a page at most.
  const size_t room = heap.limit() - std::min(stats.live_bytes, heap.limit());
  const bool at_limit = heap.refusal() != Heap::Refusal::kSystem &&
                        (bytes == 0 || room < kPageBytes || (room - kPageBytes) / 5 * 4 < bytes);
  return {StatusCode::kResourceExhausted,
          fmt::format("no memory for {}: {} bytes are in use of {}; {}", what, stats.live_bytes,
                      heap.limit(),
                      !at_limit ? "the system, or the host's memory source, has no more"
                      : heap.limit_is_machines()
                          ? "the machine, or its control group, has no more beside the inputs"
                          : "raise the memory limit"),
          std::move(detail)};
}

Failure CallFailure(const Heap& heap, const std::string& kernel, int64_t units,
                    size_t scratch_bytes, uint32_t workers) {
  if (units < 0 || units > UINT32_MAX) {
    return {StatusCode::kOutOfRange,
            fmt::format("kernel {}: {} units of work", kernel, units),
            {.subject = kernel, .expected = {UINT32_MAX}, .found = {units}}};
  }
  size_t all = 0;
  if (__builtin_mul_overflow(scratch_bytes, workers, &all)) all = SIZE_MAX;
  return MemoryFailure(
      heap,
      fmt::format("{} bytes of a kernel's scratch, for each of {} threads", scratch_bytes, workers),
      all, kernel);
}

Failure KernelFailure(const Heap& heap, const StringTable* strings, const std::string& kernel,
                      int32_t code, StatusCode reason, const RelayvmKernelFault& fault) {
  Failure failure{StatusCode::kInternal, {}, {.subject = kernel}};
  std::string what;
  switch (code) {
    case RELAYVM_KERNEL_OUT_OF_MEMORY:
      return MemoryFailure(heap, fmt::format("the buffers of kernel {}", kernel), 0, kernel);
    case RELAYVM_KERNEL_STOPPED:
      failure.code = reason != StatusCode::kOk ? reason : StatusCode::kCancelled;
      what = InterruptMessage(failure.code);
      break;
    case RELAYVM_KERNEL_INDEX_OUT_OF_RANGE:
      failure.code = StatusCode::kOutOfRange;
      failure.check = fault.given;
      if (fault.given != 0) failure.detail.numbers = {fault.found, fault.least, fault.most};
      what = "index out of range" + OutOfRangeText(fault);
      break;
    case RELAYVM_KERNEL_INVALID_ARGUMENT:
      failure.code = StatusCode::kFailedPrecondition;
      what = "invalid argument";
      break;
    default: {
      const auto text = code == RELAYVM_KERNEL_BAD_TEXT && fault.given != 0 && strings != nullptr
                            ? strings->Text(fault.found)
                            : std::nullopt;
      if (!text) {
        what = fmt::format("failed with code {}", code);
        break;
      }
      constexpr size_t kShown = 60;
      std::string shown = Printable(text->substr(0, kShown));
      if (text->size() > kShown) shown += "...";
      failure.code = StatusCode::kFailedPrecondition;
      failure.detail.expected_text = "number";
      what = fmt::format("expected a number, found the text '{}'", shown);
      failure.detail.found_text = std::move(shown);
    }
  }
  failure.message = fmt::format("kernel {}: {}", kernel, what);
  return failure;
}

Failure ItemFailure(const Tensor& tensor, DType dtype, int64_t position) {
  return {StatusCode::kInvalidInput,
          fmt::format("tensor.item: element {} of {}, tensor is {} of shape {}", position,
                      DTypeName(dtype), DTypeName(tensor.dtype), ShapeString(tensor.shape())),
          {.found = Copy(tensor.shape()),
           .expected_text = std::string(DTypeName(dtype)),
           .found_text = std::string(DTypeName(tensor.dtype)),
           .numbers = {position, tensor.num_elements()}}};
}

Failure DimsFailure(std::span<const int64_t> dims) {
  const bool negative = std::ranges::any_of(dims, [](int64_t d) { return d < 0; });
  return {negative ? StatusCode::kFailedPrecondition : StatusCode::kResourceExhausted,
          fmt::format("a tensor of shape {}: {}", ShapeString(dims),
                      negative ? "a dimension is negative" : "its size overflows"),
          {.found = Copy(dims)}};
}

bool IsPossibleShape(std::span<const int64_t> dims) {
  constexpr int64_t kLimit = int64_t{1} << 60;
  int64_t elements = 1;
  for (const int64_t dim : dims) {
    if (dim == 0) continue;
    if (dim < 0 || elements > kLimit / dim) return false;
    elements *= dim;
  }
  return true;
}

Failure ShapeFailure(const std::string& message, std::span<const int64_t> dims) {
  return {StatusCode::kFailedPrecondition,
          fmt::format("{}: no tensor has the shape {}", message, ShapeString(dims)),
          {.found = Copy(dims)}};
}

Failure RuleFailure(const std::string& message, const Status& status, std::span<const int64_t> data,
                    std::span<const int64_t> numbers) {
  return {status.code(),
          fmt::format("{}: {}", message, status.message()),
          {.expected = Copy(numbers), .found = Copy(data)}};
}

Failure ViewFailure(std::span<const int64_t> dims, const Tensor& from) {
  return {StatusCode::kFailedPrecondition,
          fmt::format("a view of shape {} on a tensor of shape {}", ShapeString(dims),
                      ShapeString(from.shape())),
          {.expected = Copy(dims), .found = Copy(from.shape())}};
}

Failure AppendFailure(DType dtype, std::span<const int64_t> dims, const Tensor& head,
                      const Tensor& tail) {
  return {StatusCode::kFailedPrecondition,
          fmt::format("a tensor of {}, shape {}, from one of {}, shape {}, and one of {}, shape {}",
                      DTypeName(dtype), ShapeString(dims), DTypeName(head.dtype),
                      ShapeString(head.shape()), DTypeName(tail.dtype), ShapeString(tail.shape())),
          {.expected = Copy(dims),
           .found = Copy(head.shape()),
           .expected_text = std::string(DTypeName(dtype)),
           .found_text = std::string(DTypeName(head.dtype))}};
}

std::string TensorText(int64_t bytes, std::span<const int64_t> dims) {
  return fmt::format("a tensor of {} bytes, shape {}", bytes, ShapeString(dims));
}

}  // namespace relayvm::vm

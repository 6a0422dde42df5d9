#include <fmt/format.h>

#include "bytecode/base/printable.h"
#include "compiler/import/checked.h"
#include "compiler/import/tflite/graph_importer.h"

namespace relayvm::import::tflite {

TypedBuilder& NodeContext::b() const { return importer_.b(); }
Code NodeContext::code() const { return importer_.file().CodeOf(op_); }
size_t NodeContext::num_outputs() const {
  return op_.outputs() == nullptr ? 0 : op_.outputs()->size();
}

namespace {

const Tensor& TensorAt(const Subgraph& graph, const flatbuffers::Vector<int32_t>* list, size_t i) {
  static const Tensor* const kNone = new Tensor;
  if (list == nullptr || i >= list->size()) return *kNone;
  const int at = list->Get(static_cast<uint32_t>(i));
  return at < 0 ? *kNone : graph.tensors[static_cast<size_t>(at)];
}

}  // namespace

const Tensor& NodeContext::In(size_t i) const { return TensorAt(graph_, op_.inputs(), i); }
const Tensor& NodeContext::Out(size_t i) const { return TensorAt(graph_, op_.outputs(), i); }
const Tensor& NodeContext::Between(size_t i) const {
  return TensorAt(graph_, op_.intermediates(), i);
}

// A table without fields: its list of fields is in front of it.
const void* NodeContext::EmptyTable() {
  static const struct {
    uint16_t vtable_size = 4, table_size = 4;
    int32_t to_vtable = 4;
  } kEmpty;
  return &kEmpty.to_vtable;
}

std::string_view NodeContext::CustomOptions() const {
  const auto options = importer_.file().CustomOptionsOf(op_);
  if (options.ok()) return *options;
  b().Fail(options.status().code(), options.status().message());
  return {};
}

std::optional<std::vector<int64_t>> NodeContext::ConstantInts(size_t i,
                                                              std::string_view what) const {
  auto numbers = b().ConstantInts(Input(i));
  if (!numbers && b().status().ok())
    Unsupported("{} must be known when compiling", InputText(i, what));
  return numbers;
}

int NodeContext::Axis(int64_t axis, int rank) const { return AxisIn(b(), axis, rank); }

std::string NodeContext::InputText(size_t i, std::string_view what) const {
  const std::string& name = In(i).name;
  return name.empty() ? std::string(what) : fmt::format("{} '{}'", what, Printable(name));
}

ir::Span NodeContext::InputSpan(size_t i, std::string_view what) const {
  return importer_.SpanOf(graph_, op_, InputText(i, what));
}

}  // namespace relayvm::import::tflite

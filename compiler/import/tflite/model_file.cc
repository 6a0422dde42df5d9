#include "compiler/import/tflite/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bytecode/base/printable.h"
#include "bytecode/base/string_table.h"
#include "compiler/import/tflite/sparse.h"

namespace relayvm::import::tflite {

namespace {

constexpr uint32_t kMostDepth = 16, kMostTables = 4'000'000;
constexpr uint32_t kMostRank = 32;
constexpr int64_t kMostElements = int64_t{1} << 40;

struct TypeRow {
  fb::TensorType type;
  std::string_view name;
  std::optional<DType> dtype;
  int bits;  // of an element in a file
};
constexpr TypeRow kTypes[] = {
    {fb::TensorType::FLOAT32, "float32", DType::kFloat32, 32},
    {fb::TensorType::FLOAT16, "float16", DType::kFloat16, 16},
    {fb::TensorType::INT32, "int32", DType::kInt32, 32},
    {fb::TensorType::UINT8, "uint8", DType::kUInt8, 8},
    {fb::TensorType::INT64, "int64", DType::kInt64, 64},
    {fb::TensorType::STRING, "string", DType::kString, 0},
    {fb::TensorType::BOOL, "bool", DType::kBool, 8},
    {fb::TensorType::INT16, "int16", DType::kInt16, 16},
    {fb::TensorType::COMPLEX64, "complex64", DType::kFloat32, 64},
    {fb::TensorType::INT8, "int8", DType::kInt8, 8},
    {fb::TensorType::FLOAT64, "float64", DType::kFloat64, 64},
    {fb::TensorType::COMPLEX128, "complex128", std::nullopt, 128},
    {fb::TensorType::UINT64, "uint64", DType::kUInt64, 64},
    {fb::TensorType::RESOURCE, "resource", std::nullopt, 0},
    {fb::TensorType::VARIANT, "variant", std::nullopt, 0},
    {fb::TensorType::UINT32, "uint32", DType::kUInt32, 32},
    {fb::TensorType::UINT16, "uint16", DType::kUInt16, 16},
    {fb::TensorType::INT4, "int4", DType::kInt8, 4},
    {fb::TensorType::BFLOAT16, "bfloat16", DType::kBFloat16, 16},
    {fb::TensorType::INT2, "int2", DType::kInt8, 2},
    {fb::TensorType::UINT4, "uint4", DType::kUInt8, 4},
    {fb::TensorType::FLOAT8_E4M3FN, "float8_e4m3fn", std::nullopt, 8},
    {fb::TensorType::FLOAT8_E5M2, "float8_e5m2", std::nullopt, 8},
};

const TypeRow* FindType(fb::TensorType type) {
  const auto* found =
      std::ranges::find_if(kTypes, [&](const TypeRow& row) { return row.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}

template <typename T>
std::span<const T> SpanOf(const flatbuffers::Vector<T>* v) {
  return v == nullptr ? std::span<const T>() : std::span<const T>(v->data(), v->size());
}

std::string TextOf(const flatbuffers::String* s) { return s == nullptr ? "" : s->str(); }

// Integers of `bits` bits, the lowest first, one a byte.
SharedBytes Unpacked(std::span<const std::byte> packed, int64_t count, int bits, bool is_signed) {
  SharedBytes out = SharedBytes::Zeros(static_cast<size_t>(count));
  const std::span<std::byte> to = out.Mutable();
  const int64_t each = 8 / bits;
  const int low = (1 << bits) - 1, sign = 1 << (bits - 1);
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned>(packed[static_cast<size_t>(i / each)]);
    int value = static_cast<int>(byte >> (i % each * bits)) & low;
    if (is_signed) value = (value ^ sign) - sign;
    to[static_cast<size_t>(i)] = static_cast<std::byte>(value);
  }
  return out;
}

// A count, as many offsets and the end, int32 each, then the bytes.
Result<HostTensor> StringsOf(std::span<const std::byte> bytes, const std::vector<int64_t>& shape,
                             int64_t elements, StringTable& table) {
  const auto wrong = [](const std::string& what) {
    return Status(StatusCode::kInvalidInput, "strings: " + what);
  };
  const auto number = [&](size_t i) {
    int32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    return static_cast<int64_t>(value);
  };
  const auto size = static_cast<int64_t>(bytes.size());
  if (size < 8 || number(0) != elements || size < 4 * (elements + 2))
    return wrong(fmt::format("expected {} of them, and their offsets", elements));
  std::vector<std::string_view> texts;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t from = number(static_cast<size_t>(i + 1));
    const int64_t to = number(static_cast<size_t>(i + 2));
    if (from < 0 || to < from || to > size) return wrong("an offset is out of range");
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + from,
                       static_cast<size_t>(to - from));
  }
  return InternStrings(table, {DType::kString, shape, PackStrings(texts)});
}

}  // namespace

std::optional<DType> DTypeOf(fb::TensorType type) {
  const TypeRow* row = FindType(type);
  return row == nullptr ? std::nullopt : row->dtype;
}

std::string_view TypeName(fb::TensorType type) {
  const TypeRow* row = FindType(type);
  return row == nullptr ? "an unknown type" : row->name;
}

Status ModelFile::Wrong(const std::string& what) const {
  return {StatusCode::kInvalidInput, fmt::format("{}: {}", path_, what)};
}

Result<std::unique_ptr<ModelFile>> ModelFile::Read(const std::string& path, SharedBytes bytes) {
  std::unique_ptr<ModelFile> file(new ModelFile);
  file->path_ = path;
  file->bytes_ = std::move(bytes);
  // What lies behind 2 GiB are bytes of tensors.
  const size_t size = std::min(file->bytes_.size(), size_t{FLATBUFFERS_MAX_BUFFER_SIZE} - 1);
  const auto* data = reinterpret_cast<const uint8_t*>(file->bytes_.data());
  if (size < 8 || std::memcmp(data + 4, "TFL3", 4) != 0) {
    return file->Wrong(fmt::format(
        "expected a TensorFlow Lite model, which has TFL3 behind its first 4 bytes, found {} bytes",
        file->bytes_.size()));
  }
  flatbuffers::Verifier verifier(data, size, kMostDepth, kMostTables);
  if (!fb::VerifyModelBuffer(verifier)) {
    return file->Wrong(fmt::format(
        "a TensorFlow Lite model that is damaged or cut short: its flatbuffer of {} bytes has "
        "tables or vectors that do not lie in it",
        size));
  }
  file->model_ = fb::GetModel(data);
  RELAYVM_RETURN_IF_ERROR(file->Check());
  return file;
}

// --- What tables say of each other ---

Status ModelFile::Check() {
  if (model_->subgraphs() == nullptr || model_->subgraphs()->size() == 0)
    return Wrong("the model has no subgraph");
  // Tables may be shared: what is copied of them is bounded by the file's size.
  size_t copied = 0;
  const size_t most = (size_t{64} << 20) + 16 * bytes_.size();
  for (const fb::SubGraph* graph : *model_->subgraphs()) {
    Subgraph& s = subgraphs_.emplace_back();
    s.table = graph;
    s.name = TextOf(graph->name());
    const std::string where = fmt::format("subgraph {}", subgraphs_.size() - 1);
    if (graph->tensors() != nullptr) {
      for (const fb::Tensor* t : *graph->tensors()) {
        RELAYVM_ASSIGN_OR_RETURN(
            Tensor tensor,
            CheckedTensor(*t, fmt::format("{}, tensor {}", where, s.tensors.size())));
        copied += sizeof(Tensor) + tensor.name.size() + 12 * tensor.quantisation.scales.size();
        if (copied > most) return Wrong("the descriptions of its tensors are larger than the file");
        s.tensors.push_back(std::move(tensor));
      }
    }
    const auto numbers = static_cast<int>(s.tensors.size());
    for (const auto& [list, to, what] : {std::tuple{graph->inputs(), &s.inputs, "input"},
                                         {graph->outputs(), &s.outputs, "output"}}) {
      for (const int32_t i : SpanOf(list)) {
        if (i < 0 || i >= numbers) {
          return Wrong(fmt::format("{}: {} {} is tensor {}; it has {}", where, what, to->size(), i,
                                   numbers));
        }
        to->push_back(i);
      }
    }
    RELAYVM_RETURN_IF_ERROR(CheckOperators(s, where));
    SpreadTypes(&s);
  }
  return CheckSignatures();
}

Result<Tensor> ModelFile::CheckedTensor(const fb::Tensor& t, const std::string& where) const {
  Tensor out;
  out.table = &t;
  out.name = TextOf(t.name());
  const auto wrong = [&](const std::string& what) {
    return Wrong(fmt::format("{} '{}': {}", where, Printable(out.name), what));
  };
  out.type = t.type();
  if (FindType(t.type()) == nullptr)
    return wrong(fmt::format("type {} is not known", static_cast<int>(t.type())));
  out.dtype = DTypeOf(t.type());
  out.is_variable = t.is_variable();
  const auto shape = SpanOf(t.shape()), open = SpanOf(t.shape_signature());
  if (shape.size() > kMostRank) return wrong(fmt::format("rank {}", shape.size()));
  if (!open.empty() && open.size() != shape.size()) {
    return wrong(
        fmt::format("its shape has {} dims, its shape_signature {}", shape.size(), open.size()));
  }
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_open = shape[i] == -1 || (!open.empty() && open[i] < 0);
    if (shape[i] < -1) return wrong(fmt::format("dim {} is {}", i, shape[i]));
    out.shape.push_back(is_open ? -1 : shape[i]);
    elements *= std::max(1, shape[i]);
    if (elements > kMostElements) return wrong("more than 2^40 elements");
  }
  const uint32_t buffers = model_->buffers() == nullptr ? 0 : model_->buffers()->size();
  if (t.buffer() != 0 && t.buffer() >= buffers)
    return wrong(fmt::format("its data is buffer {}; the model has {}", t.buffer(), buffers));
  if (!out.is_variable && t.buffer() != 0) {
    RELAYVM_ASSIGN_OR_RETURN(const auto data, BytesOf(t.buffer()));
    out.is_constant = data.has_value();
  }
  // A constant is what its shape says, whatever the signature.
  for (size_t i = 0; out.is_constant && i < shape.size(); ++i) out.shape[i] = std::max(0, shape[i]);
  const fb::QuantizationParameters* q = t.quantization();
  out.is_of_blocks = q != nullptr && q->details_type() != fb::QuantizationDetails::NONE &&
                     q->details_type() != fb::QuantizationDetails::CustomQuantization;
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return out;
  const auto scales = SpanOf(q->scale());
  const auto zeros = SpanOf(q->zero_point());
  const int axis = q->quantized_dimension();
  if (!zeros.empty() && zeros.size() != scales.size()) {
    return wrong(
        fmt::format("quantised with {} scales and {} zero points", scales.size(), zeros.size()));
  }
  if (scales.size() > 1 && (axis < 0 || static_cast<size_t>(axis) >= shape.size() ||
                            static_cast<size_t>(std::max(0, shape[axis])) != scales.size())) {
    return wrong(fmt::format("quantised with {} scales along dimension {} of rank {}",
                             scales.size(), axis, shape.size()));
  }
  const bool is_narrow = out.dtype && IsInt(*out.dtype) && DTypeBytes(*out.dtype) <= 2;
  const int64_t low = !is_narrow                  ? INT64_MIN
                      : IsUnsignedInt(*out.dtype) ? 0
                                                  : -(int64_t{1} << (DTypeBits(*out.dtype) - 1));
  const int64_t high = !is_narrow ? INT64_MAX : low + (int64_t{1} << DTypeBits(*out.dtype)) - 1;
  out.quantisation.axis = axis;
  for (size_t i = 0; i < scales.size(); ++i) {
    const int64_t zero = zeros.empty() ? 0 : zeros[i];
    if (!std::isfinite(scales[i]) || scales[i] < 0 || zero < low || zero > high)
      return wrong(fmt::format("quantised with scale {} and zero point {}", scales[i], zero));
    out.quantisation.scales.push_back(scales[i]);
    out.quantisation.zeros.push_back(zero);
  }
  return out;
}

Status ModelFile::CheckOperators(const Subgraph& graph, const std::string& where) const {
  if (graph.table->operators() == nullptr) return OkStatus();
  const uint32_t codes = model_->operator_codes() == nullptr ? 0 : model_->operator_codes()->size();
  const auto tensors = static_cast<int>(graph.tensors.size());
  size_t i = 0;
  for (const fb::Operator* op : *graph.table->operators()) {
    const auto wrong = [&](const std::string& what) {
      return Wrong(fmt::format("{}, operator {}: {}", where, i, what));
    };
    if (op->opcode_index() >= codes)
      return wrong(fmt::format("operator code {}; the model has {}", op->opcode_index(), codes));
    for (const auto* list : {op->inputs(), op->outputs(), op->intermediates()}) {
      for (const int32_t at : SpanOf(list)) {
        if (at < -1 || at >= tensors)
          return wrong(fmt::format("refers to tensor {}; the subgraph has {}", at, tensors));
      }
    }
    ++i;
  }
  return OkStatus();
}

// Interpreters give the results of arithmetic the type of its operands, whatever files say of
// tensors in between.
void ModelFile::SpreadTypes(Subgraph* graph) const {
  if (graph->table->operators() == nullptr) return;
  for (const fb::Operator* op : *graph->table->operators()) {
    const auto code = CodeOf(*op);
    const bool spreads = code == fb::BuiltinOperator::ADD || code == fb::BuiltinOperator::SUB ||
                         code == fb::BuiltinOperator::MUL || code == fb::BuiltinOperator::DIV ||
                         code == fb::BuiltinOperator::MAXIMUM ||
                         code == fb::BuiltinOperator::MINIMUM;
    const auto inputs = SpanOf(op->inputs()), outputs = SpanOf(op->outputs());
    if (!spreads || inputs.empty() || outputs.empty() || inputs[0] < 0 || outputs[0] < 0) continue;
    const Tensor& in = graph->tensors[static_cast<size_t>(inputs[0])];
    Tensor& out = graph->tensors[static_cast<size_t>(outputs[0])];
    if (!in.dtype || !in.quantisation || !out.quantisation) continue;
    out.type = in.type;
    out.dtype = in.dtype;
  }
}

Status ModelFile::CheckSignatures() const {
  if (model_->signature_defs() == nullptr) return OkStatus();
  for (const fb::SignatureDef* s : *model_->signature_defs()) {
    const std::string key = TextOf(s->signature_key());
    if (s->subgraph_index() >= subgraphs_.size()) {
      return Wrong(fmt::format("signature '{}': subgraph {}; the model has {}", Printable(key),
                               s->subgraph_index(), subgraphs_.size()));
    }
    const size_t tensors = subgraphs_[s->subgraph_index()].tensors.size();
    for (const auto* list : {s->inputs(), s->outputs()}) {
      if (list == nullptr) continue;
      for (const fb::TensorMap* m : *list) {
        if (m->tensor_index() < tensors) continue;
        return Wrong(fmt::format("signature '{}': '{}' is tensor {}; the subgraph has {}",
                                 Printable(key), Printable(TextOf(m->name())), m->tensor_index(),
                                 tensors));
      }
    }
  }
  return OkStatus();
}

// --- Operators ---

fb::BuiltinOperator ModelFile::CodeOf(const fb::Operator& op) const {
  const fb::OperatorCode& code = *model_->operator_codes()->Get(op.opcode_index());
  return std::max(static_cast<fb::BuiltinOperator>(code.deprecated_builtin_code()),
                  code.builtin_code());
}

std::string ModelFile::NameOf(const fb::Operator& op) const {
  const fb::BuiltinOperator code = CodeOf(op);
  if (code == fb::BuiltinOperator::CUSTOM) {
    return TextOf(model_->operator_codes()->Get(op.opcode_index())->custom_code());
  }
  const char* name = fb::EnumNameBuiltinOperator(code);
  return name[0] != 0 ? name : fmt::format("operator {}", static_cast<int>(code));
}

Result<std::string_view> ModelFile::CustomOptionsOf(const fb::Operator& op) const {
  const uint64_t offset = op.large_custom_options_offset(), size = op.large_custom_options_size();
  if (offset > 1) {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return Wrong(fmt::format("{}: its options are {} bytes at {}, the file has {}", NameOf(op),
                               size, offset, bytes_.size()));
    }
    return std::string_view(reinterpret_cast<const char*>(bytes_.data()) + offset, size);
  }
  const auto options = SpanOf(op.custom_options());
  return std::string_view(reinterpret_cast<const char*>(options.data()), options.size());
}

// --- Data ---

Result<std::optional<SharedBytes>> ModelFile::BytesOf(uint32_t buffer) const {
  const fb::Buffer& b = *model_->buffers()->Get(buffer);
  if (b.offset() > 1) {
    if (b.offset() > bytes_.size() || b.size() > bytes_.size() - b.offset()) {
      return Wrong(fmt::format("buffer {}: {} bytes at {}; the file has {}", buffer, b.size(),
                               b.offset(), bytes_.size()));
    }
    return std::optional(bytes_.Slice(b.offset(), b.size()));
  }
  const auto data = SpanOf(b.data());
  if (data.empty()) return std::optional<SharedBytes>();
  const auto at = reinterpret_cast<const std::byte*>(data.data()) - bytes_.data();
  return std::optional(bytes_.Slice(static_cast<size_t>(at), data.size()));
}

Result<HostTensor> ModelFile::ElementsOf(const Tensor& tensor, StringTable& strings) const {
  const auto wrong = [&](StatusCode code, const std::string& what) {
    return Status(code, fmt::format("{}: tensor '{}': {}", path_, Printable(tensor.name), what));
  };
  const TypeRow& type = *FindType(tensor.type);
  if (!type.dtype || type.bits == 0) {
    if (type.type != fb::TensorType::STRING)
      return wrong(StatusCode::kUnsupported, fmt::format("elements of {}", type.name));
  }
  RELAYVM_ASSIGN_OR_RETURN(const auto found, BytesOf(tensor.table->buffer()));
  const SharedBytes bytes = found.value_or(SharedBytes());
  HostTensor out{*type.dtype, tensor.shape, {}};
  int64_t elements = out.size();
  if (type.type == fb::TensorType::STRING) {
    auto texts = StringsOf({bytes.data(), bytes.size()}, tensor.shape, elements, strings);
    if (!texts.ok()) return wrong(texts.status().code(), texts.status().message());
    return texts;
  }
  const fb::SparsityParameters* sparsity = tensor.table->sparsity();
  const auto stored = sparsity == nullptr
                          ? elements
                          : static_cast<int64_t>(bytes.size() * 8 / static_cast<size_t>(type.bits));
  const auto expected = static_cast<size_t>((stored * type.bits + 7) / 8);
  if (bytes.size() != expected) {
    return wrong(StatusCode::kInvalidInput,
                 fmt::format("expected {} bytes of data for {} elements of {}, found {}", expected,
                             stored, type.name, bytes.size()));
  }
  if (type.bits < 8) {
    out.data = Unpacked({bytes.data(), bytes.size()}, stored, type.bits, IsSignedInt(*type.dtype));
  } else {
    const size_t width = DTypeBytes(out.dtype);
    const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % width == 0;
    out.data = is_aligned ? bytes : SharedBytes::Copy({bytes.data(), bytes.size()});
  }
  if (tensor.is_complex()) out.shape.push_back(2);
  if (sparsity != nullptr) {
    auto dense = DenseOf(*sparsity, out, stored);
    if (!dense.ok()) return wrong(dense.status().code(), dense.status().message());
    out = *std::move(dense);
  }
  NormalizeBools(out);
  return out;
}

}  // namespace relayvm::import::tflite

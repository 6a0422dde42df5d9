#include "tools/serve/grpc/message.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/grpc/typed_contents.h"
#include "tools/serve/protocol/tensor_bytes.h"

namespace relayvm::serve {
namespace {

using google::protobuf::io::CodedInputStream;

// Fields of which protobuf makes more memory than bytes that they take: an empty input takes 2.
constexpr size_t kMaxFields = 1 << 18;
// Messages that are not for inference.
constexpr size_t kMaxMessage = 1 << 20;
// Below this, a copy costs less than one more slice.
constexpr size_t kCopied = 4096;

constexpr int kInputs = 5, kOutputs = 6, kRawInput = 7;  // of ModelInferRequest
constexpr int kRawOutput = 6;                            // of ModelInferResponse

Status Invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }
Status Malformed() { return Invalid("the message is no ModelInferRequest"); }

bool SkipValue(CodedInputStream& in, uint32_t wire_type) {
  uint64_t number = 0;
  uint32_t length = 0;
  switch (wire_type) {
    case 0:
      return in.ReadVarint64(&number);
    case 1:
      return in.Skip(8);
    case 2:
      return in.ReadVarint32(&length) && length <= INT32_MAX && in.Skip(static_cast<int>(length));
    case 5:
      return in.Skip(4);
    default:
      return false;
  }
}

// Counts the fields that have bytes of their own, down to the strings of an input's contents.
bool CountFields(CodedInputStream& in, int depth, size_t* count) {
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t length = 0;
    if ((tag & 7) != 2) {
      if (!SkipValue(in, tag & 7)) return false;
      continue;
    }
    if (++*count > kMaxFields) return true;
    if (!in.ReadVarint32(&length) || length > INT32_MAX) return false;
    // Only an input and its contents are looked into: the rest is packed numbers or text.
    if (depth == 0 || (depth == 1 && tag >> 3 != 5)) {
      if (!in.Skip(static_cast<int>(length))) return false;
      continue;
    }
    const auto limit = in.PushLimit(static_cast<int>(length));
    if (!CountFields(in, depth - 1, count)) return false;
    if (*count > kMaxFields) return true;
    in.PopLimit(limit);
  }
  return in.ConsumedEntireMessage();
}

std::string Label(const inference::ModelInferRequest::InferInputTensor& input) {
  return "input " + Printable(input.name());
}

Status ReadParameter(const std::string& name, const inference::InferParameter& from,
                     Parameters* to) {
  using Choice = inference::InferParameter::ParameterChoiceCase;
  switch (from.parameter_choice_case()) {
    case Choice::kBoolParam:
      to->emplace_back(name, from.bool_param());
      return OkStatus();
    case Choice::kInt64Param:
      to->emplace_back(name, from.int64_param());
      return OkStatus();
    case Choice::kStringParam:
      to->emplace_back(name, from.string_param());
      return OkStatus();
    case Choice::kDoubleParam:
      to->emplace_back(name, from.double_param());
      return OkStatus();
    case Choice::kUint64Param:
      if (from.uint64_param() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return Invalid(fmt::format("parameter {}: {} is above 2^63 - 1", Printable(name),
                                   from.uint64_param()));
      }
      to->emplace_back(name, static_cast<int64_t>(from.uint64_param()));
      return OkStatus();
    case Choice::PARAMETER_CHOICE_NOT_SET:
      break;
  }
  return Invalid("parameter " + Printable(name) + " has no value");
}

Status ReadRequestedOutputs(const inference::ModelInferRequest& message, InferRequest* request) {
  for (const auto& output : message.outputs()) {
    if (output.name().empty()) return Invalid("an output has no name");
    for (const auto& [name, value] : output.parameters()) {
      if (name.starts_with("shared_memory"))
        return {StatusCode::kUnsupported, "outputs: shared memory is not served"};
      if (name == "classification")
        return {StatusCode::kUnsupported, "outputs: classification is not served"};
    }
    request->outputs.push_back({output.name(), std::nullopt});
  }
  return OkStatus();
}

// What the memory of a slice belongs to.
void DropTensor(void* tensor) { delete static_cast<Value*>(tensor); }

void AppendVarint(size_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) bytes->push_back(static_cast<char>(number | 0x80));
  bytes->push_back(static_cast<char>(number));
}

// Slices of a message: what is small together, large tensors where they are.
class SliceWriter {
 public:
  std::string& text() { return text_; }
  void Add(const Value& tensor) {
    if (tensor.bytes() < kCopied) {
      if (tensor.bytes() > 0) text_.append(static_cast<const char*>(tensor.data()), tensor.bytes());
      return;
    }
    Flush();
    auto owner = std::make_unique<Value>(tensor);
    // Nobody writes to it.
    slices_.emplace_back(const_cast<void*>(tensor.data()), tensor.bytes(), DropTensor, owner.get());
    static_cast<void>(owner.release());
    size_ += tensor.bytes();
  }
  size_t size() const { return size_ + text_.size(); }
  // `prefix` stands before all else.
  grpc::ByteBuffer Finish(const std::string& prefix) {
    Flush();
    if (!prefix.empty()) slices_.insert(slices_.begin(), grpc::Slice(prefix));
    return {slices_.data(), slices_.size()};
  }

 private:
  void Flush() {
    if (text_.empty()) return;
    slices_.emplace_back(text_);
    size_ += text_.size();
    text_.clear();
  }

  std::string text_;
  std::vector<grpc::Slice> slices_;
  size_t size_ = 0;  // of these
};

}  // namespace

Status InferMessage::Parse(const grpc::ByteBuffer& bytes) {
  bytes_ = bytes;
  raw_.clear();
  header_.Clear();
  if (!bytes_.Valid()) return Malformed();
  RELAYVM_RETURN_IF_ERROR(Walk());
  return ParseHeader();
}

Status InferMessage::Walk() {
  grpc::ProtoBufferReader reader(&bytes_);
  CodedInputStream in(&reader);
  size_t count = 0;
  for (;;) {
    const auto begin = static_cast<size_t>(in.CurrentPosition());
    const uint32_t tag = in.ReadTag();
    if (tag == 0) return in.ConsumedEntireMessage() ? OkStatus() : Malformed();
    const int field = static_cast<int>(tag >> 3);
    uint32_t length = 0;
    if ((tag & 7) != 2) {
      if (!SkipValue(in, tag & 7)) return Malformed();
      continue;
    }
    if (!in.ReadVarint32(&length) || length > INT32_MAX) return Malformed();
    ++count;
    if (field == kInputs || field == kOutputs) {
      const auto limit = in.PushLimit(static_cast<int>(length));
      if (!CountFields(in, field == kInputs ? 1 : 0, &count)) return Malformed();
      in.PopLimit(limit);
    } else {
      const auto at = static_cast<size_t>(in.CurrentPosition());
      if (field == kRawInput) raw_.push_back({begin, at, length});
      if (!in.Skip(static_cast<int>(length))) return Malformed();
    }
    if (count > kMaxFields) {
      return Invalid(fmt::format(
          "the message has more than {} fields: send strings in raw_input_contents", kMaxFields));
    }
  }
}

Status InferMessage::ParseHeader() {
  if (raw_.empty()) {
    grpc::ProtoBufferReader reader(&bytes_);
    return header_.ParseFromZeroCopyStream(&reader) ? OkStatus() : Malformed();
  }
  // What stands around the raw contents.
  std::string around;
  grpc::ProtoBufferReader reader(&bytes_);
  CodedInputStream in(&reader);
  const auto append = [&](size_t end) {
    const size_t bytes = end - static_cast<size_t>(in.CurrentPosition()), old = around.size();
    around.resize(old + bytes);
    return in.ReadRaw(around.data() + old, static_cast<int>(bytes));
  };
  for (const Piece& piece : raw_) {
    if (!append(piece.begin)) return Malformed();
    if (!in.Skip(static_cast<int>(piece.at + piece.bytes - piece.begin))) return Malformed();
  }
  if (!append(bytes_.Length())) return Malformed();
  return header_.ParseFromString(around) ? OkStatus() : Malformed();
}

Result<InferRequest> InferMessage::TakeRequest(Runtime& runtime) {
  InferRequest request;
  request.id = header_.id();
  for (const auto& [name, value] : header_.parameters())
    RELAYVM_RETURN_IF_ERROR(ReadParameter(name, value, &request.parameters));
  RELAYVM_RETURN_IF_ERROR(ReadRequestedOutputs(header_, &request));
  for (const auto& input : header_.inputs()) {
    if (input.name().empty()) return Invalid("an input has no name");
    for (const auto& [name, value] : input.parameters()) {
      if (name.starts_with("shared_memory"))
        return Status(StatusCode::kUnsupported, Label(input) + ": shared memory is not served");
    }
  }
  if (raw_.empty()) {
    for (const auto& input : header_.inputs()) {
      RELAYVM_ASSIGN_OR_RETURN(const TensorType type,
                               TypeOf(Label(input), input.datatype(), input.shape()));
      RELAYVM_ASSIGN_OR_RETURN(Value value,
                               ReadTypedContents(Label(input), type, input.contents(), runtime));
      request.inputs.push_back({input.name(), std::move(value)});
    }
  } else {
    RELAYVM_RETURN_IF_ERROR(ReadRaw(runtime, &request));
  }
  bytes_.Clear();
  return request;
}

Status InferMessage::ReadRaw(Runtime& runtime, InferRequest* request) {
  if (raw_.size() != static_cast<size_t>(header_.inputs_size())) {
    return Invalid(fmt::format("{} inputs and {} raw_input_contents: expected one for each input",
                               header_.inputs_size(), raw_.size()));
  }
  grpc::ProtoBufferReader reader(&bytes_);
  CodedInputStream in(&reader);
  for (size_t i = 0; i < raw_.size(); ++i) {
    const auto& input = header_.inputs(static_cast<int>(i));
    const std::string label = Label(input);
    if (HasTypedContents(input.contents()))
      return Invalid(label + " has contents and raw_input_contents");
    RELAYVM_ASSIGN_OR_RETURN(const TensorType type, TypeOf(label, input.datatype(), input.shape()));
    const auto [begin, at, bytes] = raw_[i];
    if (!in.Skip(static_cast<int>(at) - in.CurrentPosition())) return Malformed();
    Value value;
    if (type.dtype == DType::kString) {
      std::string packed;
      if (!in.ReadString(&packed, static_cast<int>(bytes))) return Malformed();
      RELAYVM_ASSIGN_OR_RETURN(value, UnpackTexts(label, type.dims, type.count, packed));
    } else {
      const auto element = static_cast<size_t>(DTypeBytes(type.dtype));
      if (bytes % element != 0 || bytes / element != type.count) {
        return Invalid(fmt::format("{}: expected {} elements of {} bytes, found {} bytes", label,
                                   type.count, element, bytes));
      }
      RELAYVM_ASSIGN_OR_RETURN(value, runtime.NewTensor(type.dtype, type.dims));
      auto* data = static_cast<uint8_t*>(value.mutable_data());
      if (bytes > 0 && !in.ReadRaw(data, static_cast<int>(bytes))) return Malformed();
      if (type.dtype == DType::kBool)  // 1 is all that programs know as true
        std::transform(data, data + bytes, data, [](uint8_t byte) { return byte != 0 ? 1 : 0; });
    }
    request->inputs.push_back({input.name(), std::move(value)});
  }
  return OkStatus();
}

Result<grpc::ByteBuffer> WriteInferAnswer(InferResponse response, bool in_stream) {
  inference::ModelInferResponse header;
  header.set_model_name(std::move(response.model));
  header.set_model_version(std::move(response.version));
  header.set_id(std::move(response.id));
  for (const InferTensor& output : response.outputs) {
    auto* described = header.add_outputs();
    described->set_name(output.name);
    described->set_datatype(std::string(DatatypeName(output.value.dtype())));
    for (const int64_t dim : output.value.dims()) described->add_shape(dim);
  }
  SliceWriter writer;
  header.AppendToString(&writer.text());
  const auto begin_field = [&](size_t bytes) {
    writer.text().push_back(static_cast<char>((kRawOutput << 3) | 2));
    AppendVarint(bytes, &writer.text());
  };
  for (const InferTensor& output : response.outputs) {
    if (output.value.dtype() == DType::kString) {
      RELAYVM_ASSIGN_OR_RETURN(const std::string packed, PackTexts(output));
      begin_field(packed.size());
      writer.text() += packed;
    } else {
      begin_field(output.value.bytes());
      writer.Add(output.value);
    }
  }
  std::string prefix;
  if (in_stream) {
    prefix.push_back((2 << 3) | 2);  // infer_response
    AppendVarint(writer.size(), &prefix);
  }
  if (writer.size() + prefix.size() > INT32_MAX) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the answer has {} bytes, above gRPC's 2 GiB", writer.size()));
  }
  return writer.Finish(prefix);
}

grpc::ByteBuffer WriteStreamError(const std::string& id, std::string_view text) {
  inference::ModelStreamInferResponse message;
  message.set_error_message(std::string(text));
  message.mutable_infer_response()->set_id(id);
  return WriteMessage(message);
}

Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  if (bytes.Length() > kMaxMessage)
    return Invalid(fmt::format("expected a message of {} bytes at the most", kMaxMessage));
  grpc::ByteBuffer shared = bytes;
  if (!shared.Valid()) return OkStatus();  // nothing was sent: all fields have their defaults
  grpc::ProtoBufferReader reader(&shared);
  if (!message->ParseFromZeroCopyStream(&reader))
    return Invalid("the message is no " + message->GetTypeName());
  return OkStatus();
}

grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

}  // namespace relayvm::serve

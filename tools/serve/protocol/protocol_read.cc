#include <fmt/format.h>

#include <cstring>
#include <span>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_reader.h"
#include "tools/serve/protocol/protocol.h"
#include "tools/serve/protocol/tensor_bytes.h"

namespace relayvm::serve {
namespace {

constexpr size_t kMaxRank = 255;

Status Invalid(std::string message) { return {StatusCode::kInvalidArgument, std::move(message)}; }

// An input as it is read, until all of it is there.
struct InputText {
  const char* kind = "input";
  std::string name, datatype;
  std::vector<int64_t> dims;
  bool has_shape = false;
  std::optional<size_t> data;  // where it stands in the JSON
  std::optional<int64_t> binary_bytes;
  bool is_shared_memory = false;

  std::string Label() const { return std::string(kind) + " " + Printable(name); }
};

bool ReadParameter(JsonReader& reader, Parameter* parameter) {
  switch (reader.Peek()) {
    case JsonReader::Kind::kBool:
      return reader.ReadBool(&parameter->emplace<bool>());
    case JsonReader::Kind::kString:
      return reader.ReadString(&parameter->emplace<std::string>());
    case JsonReader::Kind::kNumber: {
      JsonReader as_integer = reader;
      int64_t integer = 0;
      if (!as_integer.ReadInt(&integer)) return reader.ReadDouble(&parameter->emplace<double>());
      reader.Rewind(as_integer.position());
      *parameter = integer;
      return true;
    }
    default:
      return reader.Fail("expected a parameter that is a string, a number, true or false");
  }
}

template <typename Each>  // bool(std::string& key, Parameter& value)
bool ReadParameterObject(JsonReader& reader, const Each& each) {
  if (!reader.BeginObject()) return false;
  Parameter value;
  for (std::string key; reader.NextKey(&key);) {
    if (!ReadParameter(reader, &value) || !each(key, value)) return false;
  }
  return reader.ok();
}

bool ReadShape(JsonReader& reader, InputText* input) {
  if (input->has_shape) return reader.Fail("a second shape");
  input->has_shape = true;
  if (!reader.BeginArray()) return false;
  while (reader.NextElement()) {
    int64_t dim = 0;
    if (!reader.ReadInt(&dim)) return false;
    if (dim < 0) return reader.Fail("a negative dim in a shape");
    if (input->dims.size() == kMaxRank)
      return reader.Fail(fmt::format("a shape of more than {} dims", kMaxRank));
    input->dims.push_back(dim);
  }
  return reader.ok();
}

bool ReadInputParameters(JsonReader& reader, InputText* input) {
  return ReadParameterObject(reader, [&](const std::string& key, const Parameter& value) {
    if (key.starts_with("shared_memory")) input->is_shared_memory = true;
    if (key != "binary_data_size") return true;
    const int64_t* bytes = std::get_if<int64_t>(&value);
    if (bytes == nullptr || *bytes < 0)
      return reader.Fail("expected a binary_data_size of 0 or above");
    input->binary_bytes = *bytes;
    return true;
  });
}

// The members of an object; of an empty body none.
template <typename Each>  // bool(JsonReader& reader, const std::string& key)
Status ReadMembers(std::string_view body, const Each& each) {
  if (body.empty()) return OkStatus();
  JsonReader reader(body);
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(&key) && each(reader, key);) {
    }
  }
  reader.ExpectEnd();
  return reader.status();
}

class InferReader {
 public:
  InferReader(std::string_view json, std::string_view binary, Runtime& runtime,
              const ReadLimits& limits)
      : reader_(json), binary_(binary), runtime_(runtime), limits_(limits) {}

  Result<InferRequest> Read() {
    if (reader_.BeginObject()) {
      for (std::string key; reader_.NextKey(&key);) {
        if (!ReadMember(key)) break;
      }
    }
    RELAYVM_RETURN_IF_ERROR(status_);
    reader_.ExpectEnd();
    RELAYVM_RETURN_IF_ERROR(reader_.status());
    if (!has_inputs_)
      return Invalid(is_answer_ ? "it has no outputs" : "the request has no inputs");
    if (!binary_.empty()) {
      return Invalid(fmt::format("{} bytes behind the binary data of all {}", binary_.size(),
                                 is_answer_ ? "outputs" : "inputs"));
    }
    return std::move(request_);
  }

  // The same of an answer, whose outputs are where a request's inputs are.
  Result<InferRequest> ReadAnswer() {
    is_answer_ = true;
    return Read();
  }

 private:
  bool ReadMember(const std::string& key) {
    if (key == "id") return reader_.ReadString(&request_.id);
    if (is_answer_ && key == "model_name") return reader_.ReadString(&request_.model);
    if (is_answer_ && key == "model_version") return reader_.ReadString(&request_.version);
    if (is_answer_ && key != "outputs") return reader_.Skip();
    if (key == (is_answer_ ? "outputs" : "inputs")) {
      if (std::exchange(has_inputs_, true)) return reader_.Fail(key + " a second time");
      return ReadInputs();
    }
    if (key == "outputs") {
      if (!request_.outputs.empty()) return reader_.Fail("outputs a second time");
      return ReadOutputs();
    }
    if (key == "parameters") return ReadRequestParameters();
    return reader_.Skip();
  }

  bool ReadRequestParameters() {
    return ReadParameterObject(reader_, [&](std::string& key, Parameter& value) {
      if (key == "binary_data_output") {
        const bool* is_binary = std::get_if<bool>(&value);
        if (is_binary == nullptr) return reader_.Fail("binary_data_output is true or false");
        request_.binary_output = *is_binary;
        return true;
      }
      request_.parameters.emplace_back(std::move(key), std::move(value));
      return true;
    });
  }

  bool ReadInputs() {
    if (!reader_.BeginArray()) return false;
    while (reader_.NextElement()) {
      InputText input;
      if (is_answer_) input.kind = "output";
      if (!ReadInput(&input)) return false;
    }
    return reader_.ok();
  }

  bool ReadInput(InputText* input) {
    if (!reader_.BeginObject()) return false;
    Value value;
    for (std::string key; reader_.NextKey(&key);) {
      bool done = true;
      if (key == "name") {
        done = reader_.ReadString(&input->name);
      } else if (key == "datatype") {
        done = reader_.ReadString(&input->datatype);
      } else if (key == "shape") {
        done = ReadShape(reader_, input);
      } else if (key == "parameters") {
        done = ReadInputParameters(reader_, input);
      } else if (key == "data") {
        if (input->data) return reader_.Fail("data a second time");
        input->data = reader_.position();
        if (input->has_shape && !input->datatype.empty()) {
          if (!Take(ReadData(*input), &value)) return false;
        } else {
          done = reader_.Skip();
        }
      } else {
        done = reader_.Skip();
      }
      if (!done) return false;
    }
    if (!reader_.ok() || !Finish(*input, &value)) return false;
    request_.inputs.push_back({std::move(input->name), std::move(value)});
    return true;
  }

  bool Finish(const InputText& input, Value* value) {
    if (input.name.empty()) return Fail(Invalid(fmt::format("an {} has no name", input.kind)));
    if (!input.has_shape || input.datatype.empty())
      return Fail(Invalid(input.Label() + " has no " + (input.has_shape ? "datatype" : "shape")));
    if (input.is_shared_memory)
      return Fail({StatusCode::kUnsupported, input.Label() + ": shared memory is not served"});
    if (input.binary_bytes) {
      if (input.data) return Fail(Invalid(input.Label() + " has data and binary data"));
      return Take(ReadBinary(input), value);
    }
    if (!input.data) return Fail(Invalid(input.Label() + " has no data"));
    if (*value) return true;
    const size_t end = reader_.position();
    reader_.Rewind(*input.data);
    if (!Take(ReadData(input), value)) return false;
    reader_.Rewind(end);
    return true;
  }

  // The dtype and the number of elements.
  Result<std::pair<DType, int64_t>> TypeOf(const InputText& input) {
    const std::optional<DType> dtype = ParseDatatype(input.datatype);
    if (!dtype) {
      return Invalid(
          fmt::format("{}: no such datatype: {}", input.Label(), Printable(input.datatype)));
    }
    const std::optional<int64_t> count = NumElements(input.dims);
    if (!count) return Invalid(input.Label() + ": its shape has more than 2^63 elements");
    return std::pair(*dtype, *count);
  }

  Result<Value> NewTensor(const InputText& input, DType dtype, size_t count) {
    const auto element = static_cast<size_t>(DTypeBytes(dtype));
    if (count > limits_.max_tensor_bytes / element) {
      return Status(StatusCode::kOutOfRange,
                    fmt::format("{}: {} elements of {} bytes are more than the {} bytes of memory "
                                "for all runs",
                                input.Label(), count, element, limits_.max_tensor_bytes));
    }
    return Named(input, runtime_.NewTensor(dtype, input.dims));
  }

  template <typename T>
  Result<Value> ReadNumbers(const InputText& input, DType dtype, size_t count) {
    RELAYVM_ASSIGN_OR_RETURN(Value value, NewTensor(input, dtype, count));
    std::span<T> elements(static_cast<T*>(value.mutable_data()), count);
    if (!reader_.ReadElements<T>(input.dims, elements))
      return reader_.status().WithContext(input.Label());
    return value;
  }

  Result<Value> ReadTexts(const InputText& input, size_t count) {
    // Two quotes and a comma each.
    if (count > reader_.bytes_left() / 3 + 1)
      return Invalid(
          fmt::format("{}: its shape has {} elements, its data fewer", input.Label(), count));
    RELAYVM_RETURN_IF_ERROR(AskFor(input, count * kTextBytes));
    std::vector<std::string_view> texts;
    texts.reserve(count);
    std::string decoded;
    if (!reader_.ReadStrings(input.dims, count, &texts, &decoded))
      return reader_.status().WithContext(input.Label());
    size_t bytes = decoded.size();
    for (const std::string_view text : texts) bytes += text.size();
    RELAYVM_RETURN_IF_ERROR(AskFor(input, bytes));
    return Named(input, Value::CopyStrings(input.dims, texts));
  }

  // What a string takes beside its bytes: where it is, as it is read and in the tensor.
  static constexpr size_t kTextBytes = sizeof(std::string_view) + sizeof(int64_t);
  Status AskFor(const InputText& input, size_t bytes) const {
    if (limits_.grant == nullptr || limits_.grant(bytes)) return OkStatus();
    return {StatusCode::kResourceExhausted,
            fmt::format("{}: its strings need {} bytes, and all requests have too much memory now",
                        input.Label(), bytes)};
  }

  // JSON's data, where the reader stands.
  Result<Value> ReadData(const InputText& input) {
    RELAYVM_ASSIGN_OR_RETURN(const auto type, TypeOf(input));
    const auto [dtype, count] = type;
    // Each element takes a digit and a comma: no memory for what cannot come.
    if (static_cast<uint64_t>(count) > reader_.bytes_left() / 2 + 1)
      return Invalid(
          fmt::format("{}: its shape has {} elements, its data fewer", input.Label(), count));
    const auto size = static_cast<size_t>(count);
    switch (dtype) {
      case DType::kBool:
        return ReadNumbers<bool>(input, dtype, size);
      case DType::kInt8:
        return ReadNumbers<int8_t>(input, dtype, size);
      case DType::kInt16:
        return ReadNumbers<int16_t>(input, dtype, size);
      case DType::kInt32:
        return ReadNumbers<int32_t>(input, dtype, size);
      case DType::kInt64:
        return ReadNumbers<int64_t>(input, dtype, size);
      case DType::kUInt8:
        return ReadNumbers<uint8_t>(input, dtype, size);
      case DType::kUInt16:
        return ReadNumbers<uint16_t>(input, dtype, size);
      case DType::kUInt32:
        return ReadNumbers<uint32_t>(input, dtype, size);
      case DType::kUInt64:
        return ReadNumbers<uint64_t>(input, dtype, size);
      case DType::kFloat32:
        return ReadNumbers<float>(input, dtype, size);
      case DType::kFloat64:
        return ReadNumbers<double>(input, dtype, size);
      case DType::kString:
        return ReadTexts(input, size);
      case DType::kFloat16:
      case DType::kBFloat16:
        break;
    }
    return Status(StatusCode::kUnsupported, input.Label() + ": " + input.datatype +
                                                " has no JSON form: send it as binary data");
  }

  Result<Value> ReadBinary(const InputText& input) {
    RELAYVM_ASSIGN_OR_RETURN(const auto type, TypeOf(input));
    const auto [dtype, count] = type;
    const auto size = static_cast<uint64_t>(*input.binary_bytes);
    if (size > binary_.size()) {
      return Invalid(fmt::format("{}: binary_data_size is {}, and {} bytes are left", input.Label(),
                                 size, binary_.size()));
    }
    const std::string_view bytes = binary_.substr(0, size);
    binary_.remove_prefix(size);
    if (dtype == DType::kString) {
      // Each has its length before it.
      const size_t most = std::min<size_t>(static_cast<size_t>(count), bytes.size() / 4);
      RELAYVM_RETURN_IF_ERROR(AskFor(input, most * kTextBytes + bytes.size() - most * 4));
      return UnpackTexts(input.Label(), input.dims, static_cast<size_t>(count), bytes);
    }
    const auto element = static_cast<uint64_t>(DTypeBytes(dtype));
    if (size % element != 0 || size / element != static_cast<uint64_t>(count)) {
      return Invalid(
          fmt::format("{}: expected {} elements of {} bytes, found binary data of {} bytes",
                      input.Label(), count, element, size));
    }
    RELAYVM_ASSIGN_OR_RETURN(Value value, NewTensor(input, dtype, static_cast<size_t>(count)));
    if (dtype == DType::kBool) {  // a byte that is not 0 is true, and 1 is all that programs know
      bool* out = static_cast<bool*>(value.mutable_data());
      for (size_t i = 0; i < size; ++i) out[i] = bytes[i] != 0;
    } else if (size > 0) {
      std::memcpy(value.mutable_data(), bytes.data(), size);
    }
    return value;
  }

  bool ReadOutputs() {
    if (!reader_.BeginArray()) return false;
    while (reader_.NextElement()) {
      RequestedOutput& output = request_.outputs.emplace_back();
      if (!reader_.BeginObject()) return false;
      for (std::string key; reader_.NextKey(&key);) {
        const bool done = key == "name"         ? reader_.ReadString(&output.name)
                          : key == "parameters" ? ReadOutputParameters(&output)
                                                : reader_.Skip();
        if (!done) return false;
      }
      if (reader_.ok() && output.name.empty()) return Fail(Invalid("an output has no name"));
    }
    return reader_.ok();
  }

  bool ReadOutputParameters(RequestedOutput* output) {
    return ReadParameterObject(reader_, [&](const std::string& key, const Parameter& value) {
      if (key.starts_with("shared_memory"))
        return Fail({StatusCode::kUnsupported, "outputs: shared memory is not served"});
      if (key == "classification")
        return Fail({StatusCode::kUnsupported, "outputs: classification is not served"});
      if (key != "binary_data") return true;
      const bool* is_binary = std::get_if<bool>(&value);
      if (is_binary == nullptr) return reader_.Fail("binary_data is true or false");
      output->binary = *is_binary;
      return true;
    });
  }

  static Result<Value> Named(const InputText& input, Result<Value> value) {
    if (!value.ok()) return value.status().WithContext(input.Label());
    return value;
  }
  bool Take(Result<Value> from, Value* to) {
    if (!from.ok()) return Fail(from.status());
    *to = std::move(*from);
    return true;
  }
  bool Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  JsonReader reader_;
  std::string_view binary_;  // what is left of it
  Runtime& runtime_;
  const ReadLimits& limits_;
  InferRequest request_;
  bool has_inputs_ = false, is_answer_ = false;
  Status status_;
};

}  // namespace

Result<InferRequest> ReadInferRequest(std::string_view body, std::optional<size_t> json_bytes,
                                      Runtime& runtime, const ReadLimits& limits) {
  const size_t size = json_bytes.value_or(body.size());
  if (size > body.size()) {
    return Invalid(fmt::format("Inference-Header-Content-Length is {}, and the body has {} bytes",
                               size, body.size()));
  }
  return InferReader(body.substr(0, size), body.substr(size), runtime, limits).Read();
}

Result<InferResponse> ReadInferResponse(std::string_view body, std::optional<size_t> json_bytes,
                                        Runtime& runtime) {
  const size_t size = json_bytes.value_or(body.size());
  if (size > body.size()) return Invalid("the JSON ends early");
  RELAYVM_ASSIGN_OR_RETURN(
      InferRequest answer,
      InferReader(body.substr(0, size), body.substr(size), runtime, ReadLimits{}).ReadAnswer());
  return InferResponse{std::move(answer.model), std::move(answer.version), std::move(answer.id),
                       std::move(answer.inputs)};
}

Result<Parameters> ReadParameters(std::string_view body) {
  Parameters parameters;
  const Status failed = ReadMembers(body, [&](JsonReader& reader, const std::string& key) {
    if (key != "parameters") return reader.Skip();
    return ReadParameterObject(reader, [&](std::string& name, Parameter& value) {
      parameters.emplace_back(std::move(name), std::move(value));
      return true;
    });
  });
  if (!failed.ok()) return failed;
  return parameters;
}

Result<bool> ReadIndexRequest(std::string_view body) {
  bool only_ready = false;
  const Status failed = ReadMembers(body, [&](JsonReader& reader, const std::string& key) {
    return key == "ready" ? reader.ReadBool(&only_ready) : reader.Skip();
  });
  if (!failed.ok()) return failed;
  return only_ready;
}

}  // namespace relayvm::serve

#include "tools/values/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/file_mapping.h"
#include "bytecode/base/suggestion.h"
#include "bytecode/io/npz.h"
#include "tools/values/literal.h"
#include "tools/values/numbers.h"
#include "tools/values/tensor_file.h"
#include "vm/border/optional_inputs.h"

namespace relayvm::tools {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

Result<std::string> ReadStandardInput() {
  std::string text;
  char buffer[1 << 16];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, stdin)) text.append(buffer, n);
  if (std::ferror(stdin)) return {StatusCode::kInvalidInput, "standard input cannot be read"};
  return text;
}

class Reader {
 public:
  Reader(TypeTable& types, const ExportInfo& function) : types_(types), function_(function) {
    for (const ValueType& t : function.params) ids_.push_back(types.InternOf(function, t));
    values_.resize(ids_.size());
  }

  Result<std::vector<Value>> Read(std::span<const std::string> args, bool without_states) {
    for (const std::string& arg : args) RELAYVM_RETURN_IF_ERROR(ReadArg(arg));
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] || MayBeLeftOut(i) || (without_states && IsState(i))) continue;
      return Usage(fmt::format("parameter {} has no --input", Name(i)));
    }
    return std::move(values_);
  }

  Status ReadStates(const std::string& path, State* state) {
    RELAYVM_ASSIGN_OR_RETURN(const NamedTensors tensors, ReadNpz(path));
    for (const auto& [name, tensor] : tensors) {
      const std::optional<size_t> index = Find(name);
      if (!index || !IsState(*index)) {
        return {StatusCode::kInvalidInput,
                fmt::format("{}: {} keeps no {} between runs", path, function_.name, name)};
      }
      RELAYVM_ASSIGN_OR_RETURN(Value read, ToValue(tensor));
      Result<Value> value = FitTensor(read, types_, TypeOf(*index, ""));
      if (!value.ok()) return value.status().WithContext(path + ": " + name);
      RELAYVM_RETURN_IF_ERROR(state->Set(function_.param_names[*index], *std::move(value)));
    }
    return OkStatus();
  }

 private:
  bool IsState(size_t i) const {
    return std::ranges::any_of(function_.states, [i](const StateInfo& s) { return s.input == i; });
  }
  // It stays without a value, which a run takes (vm/border/optional_inputs.h).
  bool MayBeLeftOut(size_t i) const {
    return vm::OptionalFormOf(types_.program(), function_.params[i]).has_value();
  }

  Status ReadArg(const std::string& arg) {
    std::string_view text = arg;
    std::optional<size_t> index;
    // A parameter's name, which may hold any character; else what is before the first = may be
    // meant as one, unless the = belongs to a literal or a file's name.
    size_t equals = FindNamed(text);
    if (equals == std::string_view::npos) {
      equals = text.find_first_of("=[(@ ");
      if (equals != std::string_view::npos && text[equals] != '=') equals = std::string_view::npos;
    }
    if (equals != std::string_view::npos) {
      std::string_view name = text.substr(0, equals);
      index = Find(name);
      if (!index && !IsFillHead(name) && name.find('/') == std::string_view::npos) {
        if (IsDims(name)) {
          return Usage(fmt::format("--input {0}: a tensor of a size says its dtype: {1}x{2}{3}",
                                   arg, name, DTypeOfNext(), text.substr(equals)));
        }
        const std::vector<std::string_view> names(function_.param_names.begin(),
                                                  function_.param_names.end());
        return Usage(fmt::format("--input {}: there is no parameter {}{}", arg, name,
                                 DidYouMean(name, names)));
      }
      if (index) text = text.substr(equals + 1);
    }
    if (!index && text.ends_with(".npz")) return ReadArchive(std::string(text));
    for (size_t i = 0; !index && i < values_.size(); ++i) {
      if (!values_[i]) index = i;
    }
    if (!index) return Usage(fmt::format("--input {}: all parameters have a value", arg));
    if (values_[*index])
      return Usage(fmt::format("--input {}: {} has a value already", arg, Name(*index)));
    if (text == "-" && std::exchange(reads_standard_input_, true))
      return Usage(fmt::format("--input {}: standard input is read already", arg));
    Result<Value> value = ReadOne(std::string(text), *index);
    if (!value.ok()) {
      // Whatever is wrong with a value, such as its size: the use was right.
      Status bad = value.status().code() == StatusCode::kInvalidArgument
                       ? Status(StatusCode::kInvalidInput, value.status().message())
                       : value.status();
      return bad.WithContext("--input " + Name(*index));
    }
    values_[*index] = std::move(value).value();
    return OkStatus();
  }

  // 1x3x32
  static bool IsDims(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789x") == std::string_view::npos &&
           IsFillHead(fmt::format("{}xf32", text));
  }
  // As a filled tensor has it, of the next parameter.
  std::string_view DTypeOfNext() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i] && types_.kind(ids_[i]) == ValueType::Kind::kTensor)
        return ShortDTypeName(types_.dtype(ids_[i]));
    }
    return ShortDTypeName(DType::kFloat32);
  }

  // The = after a parameter's name, the longest that fits.
  size_t FindNamed(std::string_view text) const {
    size_t longest = 0;
    for (const std::string& name : function_.param_names) {
      if (name.size() > longest && text.size() > name.size() && text.starts_with(name) &&
          text[name.size()] == '=') {
        longest = name.size();
      }
    }
    return longest == 0 ? std::string_view::npos : longest;
  }

  // What is held by a value that may be left out, where `text` is not one of its constructors; else
  // the parameter's type.
  TypeTable::Id TypeOf(size_t index, std::string_view text) {
    const TypeTable::Id type = ids_[index];
    const auto form = vm::OptionalFormOf(types_.program(), function_.params[index]);
    if (!form) return type;
    const std::string_view head = text.substr(0, text.find_first_of("( "));
    for (const ConstructorInfo& c : types_.adt(type).constructors) {
      if (head == c.name) return type;
    }
    const bool is_tag = head.size() < text.size() && !head.empty() &&
                        head.find_first_not_of("0123456789") == std::string_view::npos;
    return is_tag ? type : types_.ConstructorFields(type, form->some)[0];
  }

  Result<Value> ReadOne(const std::string& text, size_t index) {
    const TypeTable::Id type = TypeOf(index, text);
    if (text == "-") {
      RELAYVM_ASSIGN_OR_RETURN(std::string all, ReadStandardInput());
      Result<Value> value = FromBytes(all, index);
      return value.ok() ? value : value.status().WithContext("standard input");
    }
    const bool is_path = text.find('/') != std::string::npos &&
                         text.find_first_of("@,()[]=\" ") == std::string::npos;
    bool whole_file =
        (text.starts_with('@') && text.find_first_of(",()\"") == std::string::npos) || is_path;
    if (whole_file || text.ends_with(".npy")) {
      std::string path = text.substr(text.starts_with('@') ? 1 : 0);
      ValueType::Kind kind = types_.kind(type);
      bool tensor = kind == ValueType::Kind::kTensor || kind == ValueType::Kind::kTypeVar;
      if (tensor && path.ends_with(".npy")) {
        RELAYVM_ASSIGN_OR_RETURN(Value read, LoadNpy(path));
        Result<Value> value = FitTensor(read, types_, type);
        return value.ok() ? value : value.status().WithContext(path);
      }
      if (whole_file) {
        RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
        std::span<const uint8_t> bytes = file->bytes();
        Result<Value> value =
            FromBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, index);
        return value.ok() ? value : value.status().WithContext(path);
      }
    }
    return ParseLiteral(text, types_, type, Seed(index));
  }

  Result<Value> FromBytes(std::string_view bytes, size_t index) {
    if (IsBinary(bytes.substr(0, 1024)) && !bytes.starts_with(kNpyMagic)) {
      return Status(StatusCode::kInvalidInput,
                    fmt::format("expected a tensor (.npy) or a value as text, found {}",
                                DescribeFile(bytes)));
    }
    const TypeTable::Id type = TypeOf(index, bytes);
    if (!bytes.starts_with(kNpyMagic)) return ParseLiteral(bytes, types_, type, Seed(index));
    RELAYVM_ASSIGN_OR_RETURN(Value value,
                             ValueFromNpy(SharedBytes::Copy(std::as_bytes(std::span(bytes)))));
    return FitTensor(value, types_, type);
  }

  Status ReadArchive(const std::string& path) {
    RELAYVM_ASSIGN_OR_RETURN(NamedTensors tensors, ReadNpz(path));
    bool any = false;
    for (const auto& [name, tensor] : tensors) {
      std::optional<size_t> index = Find(name);
      if (!index) continue;
      any = true;
      if (values_[*index])
        return Usage(fmt::format("--input {}: {} has a value already", path, name));
      RELAYVM_ASSIGN_OR_RETURN(Value read, ToValue(tensor));
      Result<Value> value = FitTensor(read, types_, TypeOf(*index, ""));
      if (!value.ok()) return value.status().WithContext(path + ": " + name);
      values_[*index] = std::move(value).value();
    }
    return any ? OkStatus()
               : Usage(fmt::format("{} has no array with the name of a parameter", path));
  }

  std::optional<size_t> Find(std::string_view name) const {
    for (std::string_view n : {name, name.starts_with('%') ? name.substr(1) : name}) {
      for (size_t i = 0; i < function_.param_names.size(); ++i) {
        if (!n.empty() && function_.param_names[i] == n) return i;
      }
    }
    // By position, from 0, where none is called so.
    size_t position = 0;
    const auto [end, error] = std::from_chars(name.begin(), name.end(), position);
    if (error == std::errc() && end == name.end() && position < ids_.size()) return position;
    return std::nullopt;
  }

  static uint64_t Seed(size_t index) { return index + 1; }

  std::string Name(size_t i) const {
    const std::string& name = function_.param_names[i];
    return name.empty() ? fmt::format("#{}", i) : name;
  }

  Status Usage(const std::string& what) const {
    std::string message = fmt::format("{}; {} takes", what, function_.name);
    message += ids_.empty() ? " no input" : ":";
    for (size_t i = 0; i < ids_.size(); ++i) {
      message += fmt::format("\n  {}: {}", Name(i), types_.ToString(ids_[i]));
    }
    return {StatusCode::kInvalidArgument, message};
  }

  TypeTable& types_;
  const ExportInfo& function_;
  std::vector<TypeTable::Id> ids_;
  std::vector<Value> values_;
  bool reads_standard_input_ = false;
};

}  // namespace

Result<std::vector<Value>> ReadInputs(TypeTable& types, const ExportInfo& function,
                                      std::span<const std::string> args, bool without_states) {
  return Reader(types, function).Read(args, without_states);
}

Status ReadStates(const std::string& path, TypeTable& types, const ExportInfo& function,
                  State* state) {
  return Reader(types, function).ReadStates(path, state);
}

}  // namespace relayvm::tools

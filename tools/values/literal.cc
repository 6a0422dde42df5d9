#include "tools/values/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bytecode/verifier.h"
#include "kernels/te/scalar.h"
#include "tools/values/numbers.h"
#include "tools/values/tensor_file.h"

namespace relayvm::tools {
namespace {

using Kind = ValueType::Kind;
constexpr size_t kMaxRank = kMaxTensorRank;
constexpr size_t kMaxFields = 65535;  // Value::Adt

bool IsWordChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '.' || c == '+' || c == '-';
}

// "2x3xf32" as dims and dtype.
bool ParseFillHead(std::string_view text, std::vector<int64_t>* dims, DType* dtype) {
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    int64_t dim = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || !text.starts_with('x') || dims->size() == kMaxRank) return false;
    text.remove_prefix(1);
    dims->push_back(dim);
  }
  std::optional<DType> parsed = ParseShortDType(text);
  if (parsed) *dtype = *parsed;
  return parsed.has_value();
}

// Against all but the dtype, which may be converted.
Status CheckShape(const Value& tensor, const TypeTable& types, TypeTable::Id type) {
  bool fits = types.kind(type) == Kind::kTensor && tensor.dims().size() == types.dims(type).size();
  for (size_t i = 0; fits && i < tensor.dims().size(); ++i) {
    int64_t dim = types.dims(type)[i];
    fits = dim < 0 || dim == tensor.dims()[i];
  }
  if (fits) return OkStatus();
  return {StatusCode::kInvalidInput,
          fmt::format("expected {}, found {}", types.ToString(type), TensorTypeOf(tensor))};
}

// Of a type parameter that a tensor binds: other tensors of it may be of other sizes.
TypeTable::Id TypeOfAnySize(TypeTable& types, const Value& tensor) {
  ValueType type;
  type.dtype = tensor.dtype();
  type.dims.assign(tensor.dims().size(), -1);
  type.dim_names.resize(type.dims.size());
  return types.Intern(type);
}

// splitmix64 (Steele, Lea and Flood, 2014).
uint64_t NextRandom(uint64_t& state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

void FillRandom(DType dtype, int64_t count, uint64_t& state, char* out) {
  for (int64_t i = 0; i < count; ++i, out += DTypeBytes(dtype)) {
    uint64_t bits = NextRandom(state);
    te::Scalar s = te::IntScalar(static_cast<int64_t>(bits % (dtype == DType::kBool ? 2 : 10)));
    if (IsFloat(dtype)) {
      double unit = static_cast<double>(bits >> 40) / (1 << 24);
      s = te::FloatScalar(te::RoundToDType(2 * unit - 1, dtype));
    }
    te::WriteElement(dtype, s, out);
  }
}

class Parser {
 public:
  Parser(std::string_view text, TypeTable& types, uint64_t seed)
      : text_(text), types_(types), random_(seed) {}

  Result<Value> Parse(TypeTable::Id type) {
    Value done;
    RELAYVM_RETURN_IF_ERROR(Open(type, &done));
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (done) {
        frame.values.push_back(std::move(done));
        done = Value();
      }
      if (frame.fields == nullptr) {
        RELAYVM_RETURN_IF_ERROR(ContinueOpenTuple(&done));
        continue;
      }
      if (frame.values.size() < frame.fields->size()) {
        if (!frame.values.empty() && !Take(',')) return Wrong(MissingFields(frame));
        TypeTable::Id field = (*frame.fields)[frame.values.size()];
        RELAYVM_RETURN_IF_ERROR(Open(field, &done));  // `frame` may have moved
        continue;
      }
      if (!frame.values.empty()) Take(',');
      if (!Take(')'))
        return Wrong(fmt::format("expected ) after {} of {}", CountFields(frame), Describe(frame)));
      done = Value::Adt(frame.tag, std::move(frame.values));
      Pop();
    }
    if (Peek() != '\0') return Wrong("expected the end of the value");
    return done;
  }

 private:
  // A tuple or constructor that is being read.
  struct Frame {
    TypeTable::Id type;
    uint32_t tag;
    const std::vector<TypeTable::Id>* fields;  // null: a tuple of an open type, as long as it comes
    std::vector<Value> values;
    std::vector<TypeTable::Id> open_fields;  // where `fields` is null: of `values`
    bool opens_type = false;                 // its type came from the value
  };

  void Pop() {
    open_depth_ -= stack_.back().opens_type ? 1 : 0;
    stack_.pop_back();
  }

  // Reads a whole value into `done`, or the beginning of one with fields onto the stack (`done`
  // stays empty).
  Status Open(TypeTable::Id type, Value* done) {
    switch (types_.kind(type)) {
      case Kind::kTensor: {
        RELAYVM_ASSIGN_OR_RETURN(*done, Tensor(type));
        return OkStatus();
      }
      case Kind::kTuple:
        if (Peek() == '0') Word();  // by its tag
        if (!Take('(')) return Wrong(fmt::format("expected a tuple {}", types_.ToString(type)));
        stack_.push_back({type, 0, &types_.args(type), {}, {}});
        return OkStatus();
      case Kind::kAdt:
        return OpenConstructor(type, done);
      case Kind::kFunction:
        return Cannot("a function");
      case Kind::kRef:
        return Cannot("a reference");
      case Kind::kTypeVar:
        return OpenAny(type, done);
    }
    return OkStatus();
  }

  // A value that itself says what `type`, a variable, is.
  Status OpenAny(TypeTable::Id type, Value* done) {
    char c = Peek();
    size_t start = at_;
    std::string_view word = c == '@' ? "" : Word();
    bool bracket = Peek() == '(';
    if (bracket && (word.empty() ? c == '(' : word == "0")) {
      Take('(');
      stack_.push_back({type, 0, nullptr, {}, {}});
      return OpenedType();
    }
    at_ = start;
    if (auto found = Constructors().find(word); found != Constructors().end()) {
      if (!found->second) return Wrong("expected a constructor that only one type has");
      types_.Bind(type, types_.NewAdt(*found->second));
      Status opened = OpenConstructor(type, done);
      return opened.ok() && !*done ? OpenedType() : opened;
    }
    if (bracket) return Wrong("expected a constructor of the program, by its name");
    RELAYVM_ASSIGN_OR_RETURN(*done, Tensor(type));
    return OkStatus();
  }

  // Of the frame on top of the stack. What is made of types elsewhere recurses with their depth.
  Status OpenedType() {
    stack_.back().opens_type = true;
    if (++open_depth_ < kMaxTypeDepth) return OkStatus();
    return Wrong(fmt::format("the value's type nests deeper than {}", kMaxTypeDepth));
  }

  // The next field of the tuple on top of the stack, or its end.
  Status ContinueOpenTuple(Value* done) {
    Frame& frame = stack_.back();
    bool more = frame.values.empty() || Take(',');
    if (more && Peek() != ')') {
      if (frame.values.size() == kMaxFields) return Wrong("expected ): the tuple is too long");
      TypeTable::Id field = types_.NewVariable();
      frame.open_fields.push_back(field);
      return Open(field, done);
    }
    if (!Take(')')) return Wrong("expected , or ) in a tuple");
    types_.Bind(frame.type, types_.NewTuple(frame.open_fields));
    *done = Value::Tuple(std::move(frame.values));
    Pop();
    return OkStatus();
  }

  // By name, the ADT that has it; nothing where several do.
  const std::unordered_map<std::string_view, std::optional<uint32_t>>& Constructors() {
    const std::vector<AdtInfo>& adts = types_.program().adts;
    for (; num_adts_known_ < adts.size(); ++num_adts_known_) {
      for (const ConstructorInfo& c : adts[num_adts_known_].constructors) {
        auto [at, inserted] = constructors_.emplace(c.name, num_adts_known_);
        if (!inserted) at->second = std::nullopt;
      }
    }
    return constructors_;
  }

  Status OpenConstructor(TypeTable::Id type, Value* done) {
    const AdtInfo& adt = types_.adt(type);
    Peek();
    size_t start = at_;
    std::string_view name = Word();
    uint32_t tag = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), tag);
    bool by_tag = error == std::errc() && end == name.data() + name.size();
    if (!by_tag) tag = 0;
    while (!by_tag && tag < adt.constructors.size() && adt.constructors[tag].name != name) ++tag;
    if (name.empty() || tag >= adt.constructors.size()) {
      std::string names;
      for (const ConstructorInfo& c : adt.constructors)
        names += (names.empty() ? "" : " or ") + c.name;
      at_ = start;
      return Wrong(fmt::format("expected {} of {}", names, types_.ToString(type)));
    }
    const std::vector<TypeTable::Id>& fields = types_.ConstructorFields(type, tag);
    bool bracket = Take('(');
    if (!bracket && !fields.empty()) {
      return Wrong(fmt::format("expected ( after {}, which has {} field{}",
                               adt.constructors[tag].name, fields.size(),
                               fields.size() == 1 ? "" : "s"));
    }
    if (!bracket) {
      *done = Value::Adt(tag, {});
      return OkStatus();
    }
    stack_.push_back({type, tag, &fields, {}, {}});
    return OkStatus();
  }

  // --- Tensors ---

  Result<Value> Tensor(TypeTable::Id type) {
    const bool open = types_.kind(type) == Kind::kTypeVar;
    char c = Peek();
    size_t start = at_;
    Result<Value> value = Value();
    if (c == '@') {
      RELAYVM_ASSIGN_OR_RETURN(std::string path, File());
      value = LoadNpy(path);
      if (!value.ok()) return value;
      value = FitTensor(*value, types_, type);
      if (value.ok()) return value;
      at_ = start;
      return At(value.status().message());
    }
    if (c == '[') {
      value = List(open ? GuessDType(text_.substr(at_, EndOfList() - at_)) : types_.dtype(type));
    } else if (c == '"') {
      RELAYVM_ASSIGN_OR_RETURN(const std::string text, Quoted());
      value = Strings({}, {text});
    } else if (text_.substr(at_).starts_with("Tensor[")) {
      value = Printed();
    } else {
      std::string_view word = Word();
      if (word.empty()) return Wrong("expected " + Expected(type));
      if (Peek() == '=') {
        at_ = start;
        value = Fill();
      } else {
        DType dtype = open ? GuessDType(word) : types_.dtype(type);
        RELAYVM_ASSIGN_OR_RETURN(Value scalar, Value::NewTensor(dtype, {}));
        if (Status s = ParseElement(word, dtype, scalar.mutable_data()); !s.ok()) {
          at_ = start;
          bool number = word.find_first_of("0123456789") != std::string_view::npos;
          return Wrong(number ? s.message() : "expected " + Expected(type));
        }
        value = std::move(scalar);
      }
    }
    if (!value.ok()) return value;
    if (open) {
      types_.Bind(type, TypeOfAnySize(types_, *value));
      return value;
    }
    if (value->dtype() == types_.dtype(type) && CheckShape(*value, types_, type).ok()) return value;
    at_ = start;
    return At(fmt::format("expected {}, found {}", types_.ToString(type), TensorTypeOf(*value)));
  }

  Result<std::string> File() {
    Take('@');
    if (at_ < text_.size() && text_[at_] == '"') {
      size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return Wrong("expected a \" after the file's name");
      std::string path(text_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
      return path;
    }
    size_t end = std::min(text_.find_first_of(",() \t\r\n", at_), text_.size());
    if (end == at_) return Wrong("expected a file's name after @");
    std::string path(text_.substr(at_, end - at_));
    at_ = end;
    return path;
  }

  // Past the ] of the list that begins here, or the end of the text.
  size_t EndOfList() const {
    size_t depth = 0;
    for (size_t at = text_.find_first_of("[]", at_); at != std::string_view::npos;
         at = text_.find_first_of("[]", at + 1)) {
      if (text_[at] == '[') {
        ++depth;
      } else if (--depth == 0) {
        return at + 1;
      }
    }
    return text_.size();
  }

  // [[1, 2], [3, 4]]: a run of elements, and the length of the lists at each depth.
  Result<Value> List(DType dtype) {
    std::vector<char> data;
    std::vector<std::string> texts;
    std::vector<int64_t> dims;    // -1: no list of that depth has ended
    std::vector<int64_t> counts;  // of the lists that are open
    bool leaves_at_depth_known = false;
    size_t leaf_depth = 0;
    auto count_one = [&] { ++counts.back(); };
    do {
      if (Take('[')) {
        if (!counts.empty()) count_one();
        counts.push_back(0);
        if (counts.size() > kMaxRank) return Wrong("lists are nested too deeply");
        if (leaves_at_depth_known && counts.size() > leaf_depth) {
          return Wrong("expected a number: lists of one depth must be alike");
        }
        if (dims.size() < counts.size()) dims.push_back(-1);
        if (Peek() != ']') continue;
      } else {
        Peek();
        size_t start = at_;
        std::string_view word;
        if (dtype == DType::kString) {
          RELAYVM_ASSIGN_OR_RETURN(texts.emplace_back(), Quoted());
        } else {
          word = Word();
          if (word.empty()) return Wrong("expected a number or [");
        }
        if ((leaves_at_depth_known ? leaf_depth : dims.size()) != counts.size()) {
          at_ = start;
          return Wrong("expected [: lists of one depth must be alike");
        }
        leaves_at_depth_known = true;
        leaf_depth = counts.size();
        count_one();
        if (dtype != DType::kString) {
          size_t end = data.size();
          data.resize(end + static_cast<size_t>(DTypeBytes(dtype)));
          if (Status s = ParseElement(word, dtype, data.data() + end); !s.ok()) {
            at_ = start;
            return Wrong(s.message());
          }
        }
      }
      while (!counts.empty()) {
        bool comma = Take(',');
        if (comma && Peek() != ']') break;
        if (!Take(']')) return Wrong("expected , or ]");
        int64_t& dim = dims[counts.size() - 1];
        if (dim >= 0 && dim != counts.back()) {
          return Wrong(fmt::format("a list of {} among lists of {}", counts.back(), dim));
        }
        dim = counts.back();
        counts.pop_back();
      }
    } while (!counts.empty());
    if (dtype == DType::kString) return Strings(dims, texts);
    return Value::CopyTensor(dtype, dims, data.data());
  }

  static Result<Value> Strings(const std::vector<int64_t>& dims,
                               const std::vector<std::string>& texts) {
    return Value::CopyStrings(dims, std::vector<std::string_view>(texts.begin(), texts.end()));
  }
  // A text as JSON has it.
  Result<std::string> Quoted() {
    if (Peek() != '"') return Wrong("expected a text in quotation marks");
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return Wrong("expected a \" after the text");
    const auto text = nlohmann::json::parse(text_.substr(at_, end + 1 - at_), nullptr,
                                            /*allow_exceptions=*/false);
    if (!text.is_string()) return Wrong("expected a text as JSON writes it");
    at_ = end + 1;
    return text.get<std::string>();
  }

  // 2x3xf32=0.5
  Result<Value> Fill() {
    size_t start = at_;
    std::string_view head = Word();
    std::vector<int64_t> dims;
    DType dtype = DType::kFloat32;
    if (!ParseFillHead(head, &dims, &dtype) || dtype == DType::kString) {
      at_ = start;
      return Wrong("expected dimensions and a dtype before =, such as 2x3xf32");
    }
    Take('=');
    Peek();
    size_t number = at_;
    std::string_view word = Word();
    RELAYVM_ASSIGN_OR_RETURN(Value value, Value::NewTensor(dtype, dims));
    char* data = static_cast<char*>(value.mutable_data());
    int64_t count = value.num_elements();
    if (word == "random") {
      FillRandom(dtype, count, random_, data);
      return value;
    }
    char element[8];
    if (Status s = ParseElement(word, dtype, element); !s.ok()) {
      at_ = number;
      return Wrong(s.message());
    }
    auto width = static_cast<size_t>(DTypeBytes(dtype));
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(data + width * static_cast<size_t>(i), element, width);
    return value;
  }

  // Tensor[(2, 3), float32] [[1., 2., 3.], [4., 5., 6.]]
  Result<Value> Printed() {
    size_t start = at_;
    at_ += std::string_view("Tensor[").size();
    std::vector<int64_t> dims;
    bool ok = Take('(');
    while (ok && !Take(')')) {
      std::string_view word = Word();
      int64_t dim = -1;
      auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), dim);
      ok = error == std::errc() && end == word.data() + word.size() && dim >= 0 &&
           dims.size() < kMaxRank;
      dims.push_back(dim);
      if (ok && !Take(',')) ok = Peek() == ')';
    }
    ok = ok && Take(',');
    std::optional<DType> dtype = ok ? ParseShortDType(Word()) : std::nullopt;
    if (!dtype || !Take(']') || Peek() != '[') {
      at_ = start;
      return Wrong("expected a tensor such as Tensor[(2), float32] [1, 2]");
    }
    RELAYVM_ASSIGN_OR_RETURN(Value value, List(*dtype));
    std::span<const int64_t> found = value.dims();
    if (std::equal(found.begin(), found.end(), dims.begin(), dims.end())) return value;
    // Without elements, lists do not tell all dims.
    if (*dtype == DType::kString && value.num_elements() == 0) return Strings(dims, {});
    RELAYVM_ASSIGN_OR_RETURN(Value shaped, Value::NewTensor(*dtype, dims));
    if (value.num_elements() == 0 && shaped.num_elements() == 0) return shaped;
    at_ = start;
    return Wrong(fmt::format("the numbers are of shape ({})", fmt::join(found, ", ")));
  }

  // --- Text ---

  char Peek() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  std::string_view Word() {
    Peek();
    size_t start = at_;
    while (at_ < text_.size() && IsWordChar(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  std::string Expected(TypeTable::Id type) const {
    if (types_.kind(type) != Kind::kTypeVar) return types_.ToString(type);
    return "a tensor, a tuple or a constructor of the program";
  }
  std::string Describe(const Frame& frame) const {
    if (types_.kind(frame.type) == Kind::kTuple) return "the tuple " + types_.ToString(frame.type);
    return types_.adt(frame.type).constructors[frame.tag].name;
  }
  static std::string CountFields(const Frame& frame) {
    size_t n = frame.fields->size();
    return n == 1 ? "the field" : fmt::format("the {} fields", n);
  }
  std::string MissingFields(const Frame& frame) const {
    return fmt::format("expected , and field {} of {}", frame.values.size() + 1, Describe(frame));
  }

  static Status Cannot(std::string_view what) {
    return {StatusCode::kUnsupported, fmt::format("{} cannot be given as an input", what)};
  }

  // "at character 12: WHAT, found 'Foo(3'".
  Status Wrong(const std::string& what) {
    constexpr size_t kShown = 24;
    Peek();
    std::string_view rest = text_.substr(at_);
    std::string found = rest.empty() ? "the end"
                                     : fmt::format("'{}{}'", rest.substr(0, kShown),
                                                   rest.size() > kShown ? "..." : "");
    return At(fmt::format("{}, found {}", what, found));
  }
  Status At(const std::string& what) const {
    return {StatusCode::kInvalidInput, fmt::format("at character {}: {}", at_ + 1, what)};
  }

  std::string_view text_;
  TypeTable& types_;
  uint64_t random_;
  size_t at_ = 0;
  std::vector<Frame> stack_;
  std::unordered_map<std::string_view, std::optional<uint32_t>> constructors_;
  uint32_t num_adts_known_ = 0;
  int open_depth_ = 0;  // frames with opens_type
};

}  // namespace

Result<Value> FitTensor(const Value& tensor, TypeTable& types, TypeTable::Id type) {
  if (types.kind(type) == Kind::kTypeVar) {
    types.Bind(type, TypeOfAnySize(types, tensor));
    return tensor;
  }
  // Files often hold a number as a tensor of one element.
  if (types.kind(type) == Kind::kTensor && types.dims(type).empty() && tensor.is_tensor() &&
      tensor.dims().size() == 1 && tensor.num_elements() == 1) {
    if (tensor.dtype() == DType::kString && types.dtype(type) == DType::kString)
      return Value::CopyStrings({}, std::vector<std::string_view>{tensor.text(0)});
    RELAYVM_ASSIGN_OR_RETURN(const Value scalar,
                             Value::CopyTensor(tensor.dtype(), {}, tensor.data()));
    return ConvertTensor(scalar, types.dtype(type));
  }
  RELAYVM_RETURN_IF_ERROR(CheckShape(tensor, types, type));
  return ConvertTensor(tensor, types.dtype(type));
}

bool IsFillHead(std::string_view text) {
  std::vector<int64_t> dims;
  DType dtype;
  return ParseFillHead(text, &dims, &dtype);
}

Result<Value> ParseLiteral(std::string_view text, TypeTable& types, TypeTable::Id type,
                           uint64_t seed) {
  return Parser(text, types, seed).Parse(type);
}

}  // namespace relayvm::tools

#include "tools/lib/kernel_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "bytecode/base/host_tensor.h"
#include "compiler/tuner/bench.h"
#include "kernels/op/op.h"
#include "vm/api/relayvm.h"

namespace relayvm::tools {
namespace {

// --- Text ---

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Result<KernelSource> Read() {
    KernelSource source;
    source.op = Word("._");
    if (source.op.empty()) return Fail("an operator's name");
    if (!Take('[')) return Fail("[");
    if (!Next(']') && !Next(';')) {
      do {
        KernelArgument argument;
        RELAYVM_RETURN_IF_ERROR(Argument(&argument));
        source.arguments.push_back(std::move(argument));
      } while (Take(','));
    }
    if (Take(';')) {
      const size_t end = text_.rfind(']');
      if (end == std::string::npos || end < at_) return Fail("]");
      source.attributes = text_.substr(at_, end - at_);
      at_ = end;
    }
    if (!Take(']')) return Fail("] , or ;");
    Skip();
    if (at_ < text_.size()) return Fail("the end");
    return source;
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool Next(char c) {
    Skip();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool Take(char c) {
    if (!Next(c)) return false;
    ++at_;
    return true;
  }
  // Letters, digits, and what `more` has.
  std::string Word(std::string_view more) {
    Skip();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  more.find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    return text_.substr(start, at_ - start);
  }
  Status Argument(KernelArgument* argument) {
    if (!Take('(')) return Fail("a shape in parentheses");
    while (!Next(')')) {
      std::string dim = Word("_");
      if (dim.empty() || !IsDim(dim)) return Fail("a size or a name");
      argument->dims.push_back(std::move(dim));
      if (!Take(',')) break;
    }
    if (!Take(')')) return Fail(")");
    const std::string dtype = Word("");
    if (dtype.empty()) return OkStatus();
    const auto known = ParseDType(dtype);
    if (!known) return Fail("a dtype, as float32");
    argument->dtype = *known;
    return OkStatus();
  }
  static bool IsDim(const std::string& word) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) return true;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size();
  }
  Status Fail(const std::string& expected) const {
    return {
        StatusCode::kInvalidArgument,
        fmt::format("--kernel {}: at character {}: expected {}, found {}", text_, at_ + 1, expected,
                    at_ < text_.size() ? fmt::format("\"{}\"", text_.substr(at_)) : "the end")};
  }

  const std::string& text_;
  size_t at_ = 0;
};

// A dim's value; none where it is a name that `values` does not know.
std::optional<int64_t> ValueOf(const std::string& dim, const DimValues& values) {
  if (const auto known = values.find(dim); known != values.end()) return known->second;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
  if (error != std::errc() || end != dim.data() + dim.size()) return std::nullopt;
  return value;
}

// --- Time ---

Result<std::vector<Value>> RandomArguments(const KernelSource& source, const DimValues& values) {
  std::vector<Value> arguments;
  for (const KernelArgument& a : source.arguments) {
    HostTensor t{a.dtype, {}, {}};
    int64_t bytes = static_cast<int64_t>(DTypeBytes(a.dtype));
    for (const std::string& dim : a.dims) {
      const auto value = ValueOf(dim, values);
      if (!value) {
        return Status(
            StatusCode::kInvalidArgument,
            fmt::format("--emit time: how large is {}? --dim {}=128, for example", dim, dim));
      }
      t.shape.push_back(*value);
      constexpr int64_t kMostBytes = int64_t{1} << 40;
      if (*value < 0 || __builtin_mul_overflow(bytes, *value, &bytes) || bytes > kMostBytes) {
        return Status(StatusCode::kResourceExhausted,
                      fmt::format("--emit time: no memory for ({})", fmt::join(a.dims, ", ")));
      }
    }
    t.data = SharedBytes::Zeros(static_cast<size_t>(bytes));
    tuner::FillRandom(t);
    RELAYVM_ASSIGN_OR_RETURN(Value value, Value::CopyTensor(t.dtype, t.shape, t.data.data()));
    arguments.push_back(std::move(value));
  }
  return arguments;
}

}  // namespace

Result<KernelSource> ParseKernelSource(const std::string& text) { return Reader(text).Read(); }

std::string RelayText(const KernelSource& source, const DimValues& values) {
  std::vector<std::string> params, args;
  for (size_t i = 0; i < source.arguments.size(); ++i) {
    const KernelArgument& a = source.arguments[i];
    std::vector<std::string> dims;
    for (const std::string& dim : a.dims) {
      const auto value = ValueOf(dim, values);
      dims.push_back(value ? std::to_string(*value) : "?");
    }
    params.push_back(dims.empty() ? fmt::format("%x{}: {}", i, DTypeName(a.dtype))
                                  : fmt::format("%x{}: Tensor[({}), {}]", i, fmt::join(dims, ", "),
                                                DTypeName(a.dtype)));
    args.push_back(fmt::format("%x{}", i));
  }
  const OpDef* op = OpTable::Get().Find(source.op);
  std::string call = fmt::format("{}", fmt::join(args, ", "));
  // All of them, where an operator takes a tuple.
  if (op != nullptr && op->tuple_args == std::vector<int>{0} && op->num_args == 1)
    call = "(" + call + ",)";
  if (!source.attributes.empty()) call += ", " + source.attributes;
  return fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{ {}({}) }}\n",
                     fmt::join(params, ", "), source.op, call);
}

Result<std::string> TimeKernel(const KernelSource& source, Program program, const DimValues& values,
                               uint32_t threads) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> arguments, RandomArguments(source, values));
  RELAYVM_ASSIGN_OR_RETURN(auto executable, Executable::FromProgram(std::move(program)));
  RELAYVM_ASSIGN_OR_RETURN(auto runtime, Runtime::Create({.num_threads = threads}));
  RELAYVM_ASSIGN_OR_RETURN(auto invocation, Invocation::Create(runtime, executable));
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kSpan{500};
  constexpr size_t kMost = 100'000;
  std::vector<double> milliseconds;
  const auto end = Clock::now() + kSpan;
  for (size_t i = 0; i < kMost && (i < 4 || Clock::now() < end); ++i) {
    const auto start = Clock::now();
    auto result = invocation->Run("main", arguments);
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    if (!result.ok()) return result.status();
    if (i > 0) milliseconds.push_back(took.count());  // the first takes memory
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const double median = milliseconds[milliseconds.size() / 2];
  std::string at;
  for (const auto& [name, value] : values) at += fmt::format(" {}={}", name, value);
  return fmt::format("{}{}: {:.4g} ms, the least {:.4g}, of {} runs\n", source.op, at, median,
                     milliseconds[0], milliseconds.size());
}

}  // namespace relayvm::tools

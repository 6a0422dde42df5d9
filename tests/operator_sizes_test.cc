// Sizes that only running tells, at their extremes, for every operator that reads one.
//
// Walks the operator table: a call is found by trying argument types until the type relation
// accepts them and lets elements of an argument into a dim or a guard. The program takes a corner
// of the result, so that at -O3 the result is often never made. It runs with each number at 0, -1,
// 2^62 ...: that gives a result or an error, within the limit of memory, and no signal.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "kernels/op/op.h"
#include "kernels/op/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr std::array<int64_t, 9> kHostile = {
    0, 1, -1, INT32_MAX, 1LL << 31, 1LL << 62, INT64_MIN, INT64_MAX, 6148914691236517216};
constexpr size_t kMemoryLimit = size_t{256} << 20;
constexpr size_t kMaxCalls = 2;          // of one operator
constexpr size_t kMaxCandidates = 8000;  // tried for one operator

// What an argument may be. Open dims (-1) get the extents of `value`; integers are hostile.
struct Candidate {
  DType dtype;
  std::vector<int64_t> dims, value;
};
const std::vector<Candidate>& Candidates() {
  static const std::vector<Candidate> kAll = {
      {DType::kFloat32, {-1, -1}, {2, 3}},
      {DType::kInt64, {2}, {2}},
      {DType::kInt64, {1}, {1}},
      {DType::kInt64, {}, {}},
      {DType::kFloat32, {}, {}},
      {DType::kFloat32, {-1, -1, -1, -1}, {1, 2, 3, 4}},
      {DType::kInt64, {2, 2}, {2, 2}},
      {DType::kFloat32, {-1}, {3}},
      {DType::kInt32, {-1}, {3}},
      {DType::kInt64, {-1, 2}, {2, 2}},
      {DType::kFloat32, {-1, -1, -1, -1, -1}, {1, 2, 3, 2, 2}},
  };
  return kAll;
}

struct Call {
  std::vector<size_t> args;  // candidates
  std::vector<int> ranks;    // of the results; of one, unless a tuple
  bool tuple = false;
  auto operator<=>(const Call&) const = default;
};

std::optional<AttrValue> RequiredValue(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
    case AttrKind::kFloat:
    case AttrKind::kIntOrInts:
      return AttrValue(1);
    case AttrKind::kInts:
    case AttrKind::kDims:
      return op_testing::List({1, 1});
    case AttrKind::kDType:
      return AttrValue("float32");
    default:
      return std::nullopt;
  }
}

// The call's ranks, when the relation takes these arguments and reads elements.
std::optional<Call> Accept(const OpDef& op, const Attrs& attrs, const std::vector<size_t>& args) {
  uint32_t next = 1;
  std::set<uint32_t> from_elements;
  std::vector<ArgType> types;
  std::vector<std::optional<std::vector<Dim>>> elements;
  for (size_t a : args) {
    const Candidate& c = Candidates()[a];
    TensorType t{{}, c.dtype};
    int64_t count = 1;
    for (int64_t d : c.dims) {
      t.shape.push_back(d < 0 ? Dim::Symbol(next++, "n") : Dim(d));
      count *= d;
    }
    elements.emplace_back();
    if (c.dtype == DType::kInt64 && count >= 0) {
      elements.back().emplace();
      for (int64_t i = 0; i < count; ++i) {
        from_elements.insert(next);
        elements.back()->push_back(Dim::Symbol(next++, "e", false));
      }
    }
    types.push_back({false, {std::move(t)}});
  }
  op_testing::FakeContext context(attrs, types);
  context.elements = elements;
  bool reads = false;
  context.compute_dim = [&](std::span<const ScalarStep>) -> Result<Dim> {
    reads = true;
    return Dim::Symbol(next++, "s", false);
  };
  context.shape_by_rule = [&](const RuledShape& shape) -> Result<std::vector<Dim>> {
    reads = true;
    std::vector<Dim> dims;
    for (size_t i = 0; i < shape.rank; ++i) dims.push_back(Dim::Symbol(next++, "r"));
    return dims;
  };
  auto result = op.infer(context);
  if (!result.ok()) return std::nullopt;
  auto look = [&](const Dim& d) {
    d.ForEachSymbol([&](const Dim& s) { reads = reads || from_elements.contains(s.symbol_id()); });
  };
  Call call{args, {}, result->is_tuple};
  for (const TensorType& t : result->tensors) {
    call.ranks.push_back(t.rank());
    for (const Dim& d : t.shape) look(d);
  }
  for (const op_testing::Guard& g : context.guards) {
    look(g.a);
    look(g.b);
  }
  if (!reads) return std::nullopt;
  return call;
}

std::vector<Call> FindCalls(const OpDef& op, const Attrs& attrs) {
  std::vector<Call> calls;
  std::set<std::vector<int>> seen;
  if (op.num_args < 1 || !op.infer) return calls;
  std::vector<size_t> args(static_cast<size_t>(op.num_args), 0);
  for (size_t tried = 0; tried < kMaxCandidates && calls.size() < kMaxCalls; ++tried) {
    auto call = Accept(op, attrs, args);
    if (call && seen.insert(call->ranks).second) calls.push_back(*call);
    size_t k = args.size();
    while (k > 0 && ++args[k - 1] == Candidates().size()) args[--k] = 0;
    if (k == 0) break;
  }
  return calls;
}

std::string AttrText(const AttrValue& v) {
  if (const auto* s = std::get_if<std::string>(&v.value)) return '"' + *s + '"';
  if (const auto* d = std::get_if<Dim>(&v.value)) return d->ToString();
  std::string out;
  for (const AttrValue& e : std::get<AttrList>(v.value))
    out += (out.empty() ? "" : ", ") + AttrText(e);
  return "[" + out + "]";
}

std::string ProgramText(const OpDef& op, const std::map<std::string, AttrValue>& attrs,
                        const Call& call) {
  std::string params;
  std::string args;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Candidate& c = Candidates()[call.args[i]];
    std::string dims;
    for (int64_t d : c.dims) {
      dims += (dims.empty() ? "" : ", ") + (d < 0 ? std::string("?") : std::to_string(d));
    }
    std::string separator = i > 0 ? ", " : "";
    params += fmt::format("{}%a{}: Tensor[({}), {}]", separator, i, dims, DTypeName(c.dtype));
    args += fmt::format("{}%a{}", separator, i);
  }
  for (const auto& [name, value] : attrs) args += fmt::format(", {}={}", name, AttrText(value));
  std::string result;
  for (size_t r = 0; r < call.ranks.size(); ++r) {
    std::string value = call.tuple ? fmt::format("%r.{}", r) : "%r";
    std::string begin;
    std::string end;
    for (int i = 0; i < call.ranks[r]; ++i) {
      begin += begin.empty() ? "0" : ", 0";
      end += end.empty() ? "2" : ", 70";
    }
    if (call.ranks[r] > 0) {
      value = fmt::format("strided_slice({}, begin=[{}], end=[{}])", value, begin, end);
    }
    result += (r > 0 ? ", " : "") + value;
  }
  if (call.tuple) result = fmt::format("({},)", result);
  return fmt::format("#[version = \"0.0.5\"]\ndef @main({}) {{\n  let %r = {}({});\n  {}\n}}\n",
                     params, op.name, args, result);
}

// The hostile numbers of a run: all the same, or one of them beside small ones.
std::vector<std::vector<int64_t>> Assignments(size_t count) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t h : kHostile) {
    all.emplace_back(count, h);
    for (int64_t base : {1, 3}) {
      for (size_t i = 0; i < count; ++i) {
        all.emplace_back(count, base);
        all.back()[i] = h;
      }
    }
  }
  return all;
}

std::vector<Value> Inputs(const Call& call, const std::vector<int64_t>& numbers) {
  std::vector<Value> inputs;
  size_t next = 0;
  for (size_t a : call.args) {
    const Candidate& c = Candidates()[a];
    Value v = *Value::NewTensor(c.dtype, c.value);
    for (int64_t i = 0; i < v.num_elements(); ++i) {
      char* at = static_cast<char*>(v.mutable_data()) + i * DTypeBytes(c.dtype);
      if (c.dtype == DType::kInt64) {
        std::memcpy(at, &numbers.at(next++), sizeof(int64_t));
      } else if (c.dtype == DType::kInt32) {
        int32_t one = 1;
        std::memcpy(at, &one, sizeof one);
      } else {
        // Sizes may come from floats too.
        float x = call.args.size() > 1 && c.value.empty() ? static_cast<float>(numbers[0]) : 1.5F;
        std::memcpy(at, &x, sizeof x);
      }
    }
    inputs.push_back(std::move(v));
  }
  return inputs;
}

size_t CountNumbers(const Call& call) {
  size_t count = 0;
  for (size_t a : call.args) {
    size_t elements = 1;
    for (int64_t d : Candidates()[a].value) elements *= static_cast<size_t>(d);
    if (Candidates()[a].dtype == DType::kInt64) count += elements;
  }
  return std::max<size_t>(count, 1);
}

TEST_CASE("sizes at their extremes give a result or an error, for every operator that reads one") {
  auto runtime = *Runtime::Create();
  std::set<std::string> covered;
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    std::map<std::string, AttrValue> given;
    Attrs partial;
    bool possible = true;
    for (const AttrField& field : op.attrs) {
      if (!field.required) continue;
      auto value = RequiredValue(field.kind);
      possible = possible && value;
      if (!value) continue;
      partial.Set(std::string(field.name), *value);
      given[std::string(field.name)] = *value;
    }
    auto attrs = CompleteAttrs(op, partial);
    if (!possible || !attrs.ok()) continue;
    for (const Call& call : FindCalls(op, *attrs)) {
      std::string text = ProgramText(op, given, call);
      CAPTURE(text);
      for (int level : {0, 3}) {
        CompileOptions options;
        options.pipeline.opt_level = level;
        options.kernels.opt_level = 0;
        auto module = frontend::ParseRelay("sizes.relay", text);
        REQUIRE_MESSAGE(module.ok(), module.status().ToString());
        module->entry = "main";
        auto compiled = CompileModule(*std::move(module), options);
        // A rank or axis that must be static, for example.
        if (!compiled.ok()) {
          CHECK(compiled.status().code() != StatusCode::kInternal);
          continue;
        }
        covered.insert(std::string(name));
        auto executable = Executable::FromProgram(std::move(compiled->program));
        REQUIRE(executable.ok());
        InvocationOptions limits;
        limits.memory_limit = kMemoryLimit;
        limits.timeout = std::chrono::seconds(2);
        auto invocation = *Invocation::Create(runtime, *executable, limits);
        for (const std::vector<int64_t>& numbers : Assignments(CountNumbers(call))) {
          CAPTURE(fmt::format("{}", fmt::join(numbers, " ")));
          auto result = invocation->Run("main", Inputs(call, numbers));
          CHECK(invocation->stats().peak_bytes <= kMemoryLimit);
          if (result.ok()) continue;
          INFO(result.status().ToString());
          CHECK(result.status().code() != StatusCode::kInternal);
          CHECK(result.status().message().find("main (sizes.relay") != std::string::npos);
        }
      }
    }
  }
  // Those that take shapes as tensors.
  for (const char* name : {"dyn.reshape", "dyn.tile", "dyn.broadcast_to", "dyn.strided_slice",
                           "dyn.nn.pad", "dyn.full", "dyn.expand_dims", "dyn.squeeze", "arange"}) {
    CHECK_MESSAGE(covered.contains(name), name);
  }
}

}  // namespace
}  // namespace relayvm

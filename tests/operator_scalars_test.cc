// A scalar means what a tensor's element means: for every operator that works element by element
// and every dtype, the VM's instructions on scalars, the compiled kernel on vectors and the
// evaluator of tensor expressions give the same bits, at the extremes of the dtype and on random
// numbers. Functions that kernels approximate are the same in the first two. What the common
// operators must give is said here a second time, in plain C++.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "kernels/op/op.h"
#include "kernels/op/testing.h"
#include "kernels/te/evaluate.h"
#include "kernels/te/scalar.h"
#include "kernels/te/scalar_expression.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr std::array kDTypes = {DType::kBool,    DType::kInt8,    DType::kInt16,   DType::kInt32,
                                DType::kInt64,   DType::kUInt8,   DType::kUInt16,  DType::kUInt32,
                                DType::kUInt64,  DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                DType::kBFloat16};

// --- Numbers to try ---

std::vector<te::Scalar> Samples(DType t) {
  std::vector<te::Scalar> out;
  if (IsFloat(t)) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    for (double x : {0.0,          -0.0,          1.0,
                     -1.0,         0.5,           -2.5,
                     3.0,          -300.7,        127.5,
                     1e-40,        5e-324,        16777217.0,
                     2147483648.0, -2147483649.0, 1e20,
                     -9.3e18,      3.4e38,        1.7e308,
                     kInf,         -kInf,         std::numeric_limits<double>::quiet_NaN()}) {
      out.push_back(te::FloatScalar(te::RoundToDType(x, t)));
    }
    std::mt19937 random(static_cast<uint32_t>(t) + 1);
    std::normal_distribution<double> normal(0, 3);
    for (int i = 0; i < 12; ++i) {
      out.push_back(te::FloatScalar(te::RoundToDType(normal(random), t)));
    }
    return out;
  }
  for (int64_t x : {int64_t{0},
                    int64_t{1},
                    int64_t{-1},
                    int64_t{2},
                    int64_t{-3},
                    int64_t{7},
                    int64_t{31},
                    int64_t{63},
                    int64_t{64},
                    int64_t{127},
                    int64_t{-128},
                    int64_t{255},
                    int64_t{32767},
                    int64_t{-32768},
                    int64_t{2147483647},
                    int64_t{INT32_MIN},
                    int64_t{4294967295},
                    int64_t{1} << 53,
                    (int64_t{1} << 53) + 1,
                    INT64_MAX,
                    INT64_MIN}) {
    te::Scalar s = te::IntScalar(WrapInteger(x, t));
    bool known = false;
    for (te::Scalar o : out) known = known || o.i == s.i;
    if (!known) out.push_back(s);
  }
  return out;
}

HostTensor Vector(DType t, const std::vector<te::Scalar>& values) {
  auto width = static_cast<size_t>(DTypeBytes(t));
  std::vector<std::byte> data(values.size() * width);
  for (size_t i = 0; i < values.size(); ++i) {
    te::WriteElement(t, values[i], data.data() + i * width);
  }
  return {t, {static_cast<int64_t>(values.size())}, std::move(data)};
}

// --- Calls ---

struct Call {
  const OpDef* op;
  std::map<std::string, AttrValue> given;
  Attrs attrs;
  std::vector<DType> args;
  DType result;
  te::Tensor expression;  // on scalars
  std::string Text() const {
    std::string out = op->name;
    for (DType t : args) out += fmt::format(" {}", DTypeName(t));
    for (const auto& [name, value] : given) {
      if (const auto* s = std::get_if<std::string>(&value.value))
        out += fmt::format(" {}={}", name, *s);
    }
    return out;
  }
};

// Functions that kernels compute to within some units in the last place.
bool IsApproximate(const te::Expr& e) {
  if (te::IsApproximate(*e)) return true;
  if (e->kind == te::ExprKind::kLoad && !e->tensor->is_placeholder()) {
    return IsApproximate(e->tensor->body);
  }
  return std::any_of(e->operands.begin(), e->operands.end(), IsApproximate);
}

// Element i of the result is made of elements i of the arguments.
bool IsElementwise(const te::Expr& e) {
  if (e->kind == te::ExprKind::kReduce) return false;
  if (e->kind == te::ExprKind::kLoad) {
    bool same = e->operands.size() == 1 && e->operands[0]->kind == te::ExprKind::kAxis;
    return same && (e->tensor->is_placeholder() || IsElementwise(e->tensor->body));
  }
  return std::all_of(e->operands.begin(), e->operands.end(), IsElementwise);
}

std::optional<Call> TryCall(const OpDef& op, const std::map<std::string, AttrValue>& given,
                            const std::vector<DType>& args) {
  Attrs partial;
  for (const auto& [name, value] : given) partial.Set(name, value);
  auto attrs = CompleteAttrs(op, partial);
  if (!attrs.ok() || !op.infer || !op.compute || op.builtin) return std::nullopt;
  // A sum over an axis of one element starts from 0: of -0 it is 0.
  if (op.fusion == FusionClass::kReduction) return std::nullopt;
  Call call{&op, given, *attrs, args, DType::kBool, nullptr};
  const Dim n = Dim::Symbol(1, "n");
  for (int rank : {1, 0}) {
    std::vector<ArgType> types;
    std::vector<te::Tensor> inputs;
    for (DType t : args) {
      TensorType type{rank == 0 ? std::vector<Dim>{} : std::vector<Dim>{n}, t};
      inputs.push_back(te::Placeholder("p", type.shape, t, static_cast<int>(inputs.size())));
      types.push_back({false, {std::move(type)}});
    }
    op_testing::FakeContext context(*attrs, types);
    auto result = op.infer(context);
    if (!result.ok() || result->is_tuple || result->tensors[0].rank() != rank) return std::nullopt;
    if (rank == 1 && !(result->tensors[0].shape[0] == n)) return std::nullopt;
    call.result = result->tensors[0].dtype;
    std::vector<te::Tensor> computed = op.compute({*attrs, inputs, result->tensors});
    if (computed.size() != 1) return std::nullopt;
    call.expression = computed[0];
    if (rank == 1 && !IsElementwise(call.expression->body)) return std::nullopt;
  }
  const bool approximate = call.expression->rank() == 0 && IsApproximate(call.expression->body);
  const bool half = args.back() == DType::kFloat16 || args.back() == DType::kBFloat16;
  if (!approximate && !half && !te::IsScalarExpression(call.expression)) return std::nullopt;
  return call;
}

std::vector<Call> FindCalls(const OpDef& op, DType t) {
  std::vector<std::map<std::string, AttrValue>> attrs = {{}};
  for (const AttrField& field : op.attrs) {
    if (!field.required) continue;
    std::vector<AttrValue> values;
    if (field.kind == AttrKind::kDType) {
      for (DType to : kDTypes) values.emplace_back(std::string(DTypeName(to)));
    } else if (field.kind == AttrKind::kFloat || field.kind == AttrKind::kInt) {
      values = {AttrValue(5)};
    } else {
      return {};
    }
    std::vector<std::map<std::string, AttrValue>> more;
    for (const auto& partial : attrs) {
      for (const AttrValue& v : values) {
        more.push_back(partial);
        more.back()[std::string(field.name)] = v;
      }
    }
    attrs = std::move(more);
  }
  std::vector<Call> calls;
  if (op.num_args < 1 || op.num_args > 3) return calls;
  for (const auto& given : attrs) {
    std::vector<DType> args(static_cast<size_t>(op.num_args), t);
    auto call = TryCall(op, given, args);
    if (!call && op.num_args == 3) {  // a condition first
      args[0] = DType::kBool;
      call = TryCall(op, given, args);
    }
    if (call) calls.push_back(*std::move(call));
  }
  return calls;
}

std::string AttrText(const AttrValue& v) {
  if (const auto* s = std::get_if<std::string>(&v.value)) return '"' + *s + '"';
  return std::get<Dim>(v.value).ToString();
}

bool SameBits(DType t, const void* a, const void* b) {
  te::Scalar x = te::ReadElement(t, a);
  te::Scalar y = te::ReadElement(t, b);
  if (IsFloat(t) && std::isnan(x.f) && std::isnan(y.f)) return true;
  return x.i == y.i;
}

std::string Shown(DType t, const void* p) {
  te::Scalar s = te::ReadElement(t, p);
  return IsFloat(t) ? fmt::format("{:.17g}", s.f) : fmt::format("{}", s.i);
}

// --- The second opinion ---

__int128 Wide(DType t, te::Scalar s) {
  return t == DType::kUInt64 ? static_cast<__int128>(static_cast<uint64_t>(s.i)) : s.i;
}
__int128 FloorDiv(__int128 a, __int128 b) {
  __int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
te::Scalar Narrow(DType t, __int128 v) {
  return te::IntScalar(WrapInteger(static_cast<int64_t>(static_cast<uint64_t>(v)), t));
}

// What the operator gives on integers, or nothing for one that is not listed.
std::optional<te::Scalar> Expected(const Call& call, const std::vector<te::Scalar>& v) {
  DType t = call.args[0];
  if (call.op->name == "cast") {
    if (IsFloat(t)) return std::nullopt;
    __int128 x = Wide(t, v[0]);
    if (call.result == DType::kBool) return te::IntScalar(x != 0);
    if (call.result == DType::kFloat64) return te::FloatScalar(static_cast<double>(x));
    if (call.result == DType::kFloat32) return te::FloatScalar(static_cast<float>(x));
    return Narrow(call.result, x);
  }
  if (IsFloat(t) || t == DType::kBool) return std::nullopt;
  __int128 a = Wide(t, v[0]);
  __int128 b = v.size() > 1 ? Wide(t, v[1]) : 0;
  const int bits = DTypeBits(t);
  using Fn = std::function<__int128()>;
  const std::map<std::string, Fn> kRules = {
      {"add", [&] { return a + b; }},
      {"subtract", [&] { return a - b; }},
      {"multiply",
       [&] {
         return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                                      static_cast<unsigned __int128>(b));
       }},
      {"divide", [&] { return b == 0 ? 0 : a / b; }},
      {"trunc_divide", [&] { return b == 0 ? 0 : a / b; }},
      {"floor_divide", [&] { return b == 0 ? 0 : FloorDiv(a, b); }},
      {"mod", [&] { return b == 0 ? 0 : a % b; }},
      {"floor_mod", [&] { return b == 0 ? 0 : a - FloorDiv(a, b) * b; }},
      {"maximum", [&] { return a > b ? a : b; }},
      {"minimum", [&] { return a < b ? a : b; }},
      {"left_shift", [&] { return b < 0 || b >= bits ? 0 : a << static_cast<int>(b); }},
      {"right_shift", [&] { return a >> (b < 0 || b >= bits ? 126 : static_cast<int>(b)); }},
      {"bitwise_and", [&] { return a & b; }},
      {"bitwise_or", [&] { return a | b; }},
      {"bitwise_xor", [&] { return a ^ b; }},
      {"bitwise_not", [&] { return ~a; }},
      {"negative", [&] { return -a; }},
      {"abs", [&] { return a < 0 ? -a : a; }},
      {"sign", [&] { return static_cast<__int128>((a > 0) - (a < 0)); }},
      {"equal", [&] { return static_cast<__int128>(a == b); }},
      {"not_equal", [&] { return static_cast<__int128>(a != b); }},
      {"less", [&] { return static_cast<__int128>(a < b); }},
      {"less_equal", [&] { return static_cast<__int128>(a <= b); }},
      {"greater", [&] { return static_cast<__int128>(a > b); }},
      {"greater_equal", [&] { return static_cast<__int128>(a >= b); }},
  };
  auto rule = kRules.find(call.op->name);
  if (rule == kRules.end()) return std::nullopt;
  return Narrow(call.result, rule->second());
}

// --- The test ---

TEST_CASE("operators on scalars, in kernels and in the evaluator give the same bits") {
  auto runtime = *Runtime::Create();
  size_t expected_ones = 0;
  std::set<std::string> covered;
  for (DType t : kDTypes) {
    std::vector<Call> calls;
    for (std::string_view name : OpTable::Get().Names()) {
      if (name == "range_checked") continue;  // most samples end the program
      for (Call& call : FindCalls(*OpTable::Get().Find(name), t)) calls.push_back(std::move(call));
    }
    REQUIRE(!calls.empty());
    // Every pair of samples, as elements of two vectors.
    std::vector<te::Scalar> first;
    std::vector<te::Scalar> second;
    std::vector<te::Scalar> conditions;
    for (te::Scalar a : Samples(t)) {
      for (te::Scalar b : Samples(t)) {
        first.push_back(a);
        second.push_back(b);
        conditions.push_back(te::IntScalar(static_cast<int64_t>(first.size() % 2)));
      }
    }
    const HostTensor va = Vector(t, first);
    const HostTensor vb = Vector(t, second);
    const HostTensor vc = Vector(DType::kBool, conditions);
    auto operands = [&](const Call& call, const char* prefix) {
      std::string out;
      for (size_t i = 0; i < call.args.size(); ++i) {
        const char* letter = call.args[i] != t                    ? "c"
                             : i + 1 == call.args.size() && i > 0 ? "b"
                                                                  : "a";
        out += fmt::format("{}%{}{}", i > 0 ? ", " : "", prefix, letter);
      }
      return out;
    };
    auto operand = [&](const Call& call, size_t i) -> const HostTensor& {
      std::string text = operands(call, "");
      char letter = text.at(1 + 4 * i);
      return letter == 'a' ? va : letter == 'b' ? vb : vc;
    };
    std::string text = fmt::format(
        "#[version = \"0.0.5\"]\ndef @main(%a: {0}, %b: {0}, %c: bool, %va: Tensor[(?), {0}], %vb: "
        "Tensor[(?), {0}], %vc: Tensor[(?), bool]) {{\n  (",
        DTypeName(t));
    for (const Call& call : calls) {
      std::string attrs;
      for (const auto& [name, value] : call.given)
        attrs += fmt::format(", {}={}", name, AttrText(value));
      text += fmt::format("{0}({1}{3}),\n   {0}({2}{3}),\n   ", call.op->name, operands(call, ""),
                          operands(call, "v"), attrs);
    }
    text += ")\n}\n";
    CompileOptions options;
    options.pipeline.opt_level = 1;
    auto module = frontend::ParseRelay("scalars.relay", text);
    REQUIRE_MESSAGE(module.ok(), module.status().ToString());
    module->entry = "main";
    auto compiled = CompileModule(*std::move(module), options);
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
    auto executable = Executable::FromProgram(std::move(compiled->program));
    REQUIRE(executable.ok());
    auto invocation = *Invocation::Create(runtime, *executable);

    std::vector<HostTensor> evaluated;
    for (const Call& call : calls) {
      std::vector<te::Tensor> inputs;
      std::vector<const HostTensor*> data;
      for (size_t i = 0; i < call.args.size(); ++i) {
        data.push_back(&operand(call, i));
        inputs.push_back(te::Placeholder("p", {va.shape[0]}, call.args[i], static_cast<int>(i)));
      }
      const TensorType out{{va.shape[0]}, call.result};
      auto value = te::Evaluate(call.op->compute({call.attrs, inputs, std::span(&out, 1)})[0], data,
                                nullptr);
      REQUIRE(value.ok());
      evaluated.push_back(*std::move(value));
    }
    auto tensor = [](const HostTensor& h) {
      return *Value::CopyTensor(h.dtype, h.shape, h.data.data());
    };
    auto element = [](const HostTensor& h, size_t i) {
      auto width = static_cast<size_t>(DTypeBytes(h.dtype));
      return *Value::CopyTensor(h.dtype, {}, h.data.data() + i * width);
    };
    const Value xa = tensor(va);
    const Value xb = tensor(vb);
    const Value xc = tensor(vc);
    for (size_t i = 0; i < first.size(); ++i) {
      auto result =
          invocation->Run("main", {element(va, i), element(vb, i), element(vc, i), xa, xb, xc});
      REQUIRE_MESSAGE(result.ok(), result.status().ToString());
      for (size_t k = 0; k < calls.size(); ++k) {
        const Call& call = calls[k];
        auto width = static_cast<size_t>(DTypeBytes(call.result));
        const Value scalar_value = result->field(2 * k);
        const Value vector_value = result->field(2 * k + 1);
        const void* scalar = scalar_value.data();
        const void* kernel = static_cast<const char*>(vector_value.data()) + i * width;
        const void* reference = evaluated[k].data.data() + i * width;
        std::vector<te::Scalar> values;
        for (size_t j = 0; j < call.args.size(); ++j) {
          const HostTensor& h = operand(call, j);
          values.push_back(te::ReadElement(
              h.dtype, h.data.data() + i * static_cast<size_t>(DTypeBytes(h.dtype))));
        }
        auto message = [&](const char* what, const void* found) {
          std::string shown;
          for (size_t j = 0; j < call.args.size(); ++j) {
            shown += IsFloat(call.args[j]) ? fmt::format(" {:.17g}", values[j].f)
                                           : fmt::format(" {}", values[j].i);
          }
          return fmt::format("{} of{}: {} gives {}, the evaluator {}", call.Text(), shown, what,
                             Shown(call.result, found), Shown(call.result, reference));
        };
        // What a kernel approximates is compared with the kernel alone.
        const bool approximate = IsApproximate(call.expression->body);
        if (!SameBits(call.result, scalar, approximate ? kernel : reference)) {
          FAIL_CHECK(message("a scalar", scalar));
        }
        if (!approximate && !SameBits(call.result, kernel, reference)) {
          FAIL_CHECK(message("a kernel", kernel));
        }
        if (auto expected = Expected(call, values)) {
          ++expected_ones;
          uint64_t bytes = 0;
          te::WriteElement(call.result, *expected, &bytes);
          if (!SameBits(call.result, reference, &bytes)) FAIL_CHECK(message("C++", &bytes));
        }
        covered.insert(call.op->name);
      }
    }
  }
  CHECK(expected_ones > 50'000);
  for (const char* name : {"add", "left_shift", "bitwise_not", "sign", "clip", "cast", "where",
                           "floor_mod", "trunc_mod", "logical_xor", "round", "isnan", "power",
                           "reinterpret", "fixed_point_multiply"}) {
    CHECK_MESSAGE(covered.contains(name), name);
  }
}

}  // namespace
}  // namespace relayvm

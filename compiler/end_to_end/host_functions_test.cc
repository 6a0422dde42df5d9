// Host functions through the whole compiler: they run as often, in the order and with the values
// that the program as written says, at every level and in the reference interpreter; what they give
// is checked. A walk over the passes that drop, double, merge, move or lay out what they see.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "bytecode/disassembler.h"
#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/reference/interpreter.h"
#include "kernels/te/scalar.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

constexpr const char* kDeclarations = R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil, }
type Box { Full(Tensor[(?, 3), float32]), Empty, }
def @emit(%value: int32, host=1) -> ();
def @show(%t: Tensor[(?, ?), float32], host=1) -> ();
def @show4(%t: Tensor[(?, ?, ?, ?), float32], host="show") -> ();
def @next(host=1) -> int32;
def @twice(%x: int32, host=1) -> int32;
def @rows(%n: int32, host=1) -> Tensor[(?, 3), float32];
def @swap(%p: (int32, Tensor[(?, 3), float32]), host=1) -> (Tensor[(?, 3), float32], int32);
)";

std::string SourceOf(const std::string& source) { return kDeclarations + source; }

// --- The host: what it is called with is written down ---

struct HostTensorValue {
  std::vector<int64_t> shape;
  std::vector<double> elements;
  bool is_float = false;
};

std::string Text(const HostTensorValue& t) {
  std::string text = t.shape.empty() ? "" : fmt::format("({})", fmt::join(t.shape, ","));
  double sum = 0, weighted = 0;
  for (size_t i = 0; i < t.elements.size(); ++i) {
    sum += t.elements[i];
    weighted += t.elements[i] * static_cast<double>(i + 1);
  }
  if (t.shape.empty()) return fmt::format("{:g}", sum);
  return fmt::format("{}{:.4g}/{:.4g}", text, sum, weighted);
}

HostTensorValue Rows(int64_t n) {
  HostTensorValue t{{n, 3}, {}, true};
  for (int64_t i = 0; i < n * 3; ++i) t.elements.push_back(static_cast<double>(i));
  return t;
}

struct Host {
  std::vector<std::string> log;
  int32_t counter = 0;

  // Nothing: the unit tuple.
  std::vector<HostTensorValue> Call(std::string_view name, const std::vector<HostTensorValue>& in) {
    std::string line(name);
    for (const HostTensorValue& t : in) line += " " + Text(t);
    log.push_back(line);
    const auto scalar = [](double value) { return HostTensorValue{{}, {value}, false}; };
    if (name == "next") return {scalar(++counter)};
    if (name == "twice") return {scalar(in[0].elements[0] * 2)};
    if (name == "rows") return {Rows(static_cast<int64_t>(in[0].elements[0]))};
    if (name == "swap") return {in[1], in[0]};
    return {};
  }
};

HostTensorValue FromBytes(DType dtype, std::span<const int64_t> shape, const void* data) {
  HostTensorValue t{{shape.begin(), shape.end()}, {}, dtype == DType::kFloat32};
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  for (int64_t i = 0; i < count; ++i) {
    t.elements.push_back(t.is_float ? static_cast<const float*>(data)[i]
                                    : static_cast<const int32_t*>(data)[i]);
  }
  return t;
}
template <typename T>
std::vector<T> As(const HostTensorValue& t) {
  std::vector<T> out;
  for (double x : t.elements) out.push_back(static_cast<T>(x));
  return out;
}

void Flatten(const Value& v, std::vector<HostTensorValue>* out) {
  if (v.is_tensor()) return out->push_back(FromBytes(v.dtype(), v.dims(), v.data()));
  for (size_t i = 0; i < v.num_fields(); ++i) Flatten(v.field(i), out);
}
Value ToVm(const HostTensorValue& t) {
  if (!t.is_float) return *Value::CopyTensor(DType::kInt32, t.shape, As<int32_t>(t).data());
  return *Value::CopyTensor(DType::kFloat32, t.shape, As<float>(t).data());
}
std::vector<HostFunction> VmFunctions(Host* host) {
  std::vector<HostFunction> functions;
  for (const char* name : {"emit", "show", "next", "twice", "rows", "swap"}) {
    functions.push_back({name, "", [host](HostCall& call) -> Result<Value> {
                           std::vector<HostTensorValue> in;
                           for (const Value& v : call.args()) Flatten(v, &in);
                           std::vector<Value> out;
                           for (const auto& t : host->Call(call.function(), in))
                             out.push_back(ToVm(t));
                           call.waker().Wake();
                           RELAYVM_RETURN_IF_ERROR(call.Suspend());
                           return out.size() == 1 ? out[0] : Value::Tuple(std::move(out));
                         }});
  }
  return functions;
}

void Flatten(const reference::Value& v, std::vector<HostTensorValue>* out) {
  if (const HostTensor* t = reference::TensorOf(v))
    return out->push_back(FromBytes(t->dtype, t->shape, t->data.data()));
  for (const auto& field : v->As<reference::Data>()->fields) Flatten(field, out);
}
reference::Value ToReference(const HostTensorValue& t) {
  HostTensor made{t.is_float ? DType::kFloat32 : DType::kInt32, t.shape, {}};
  made.data = SharedBytes::Zeros(t.elements.size() * 4);
  const std::vector<float> floats = As<float>(t);
  const std::vector<int32_t> ints = As<int32_t>(t);
  const void* from = t.is_float ? static_cast<const void*>(floats.data()) : ints.data();
  if (!t.elements.empty()) std::memcpy(made.data.Mutable().data(), from, t.elements.size() * 4);
  return reference::MakeTensor(std::move(made));
}

// --- Running ---

struct Outcome {
  std::vector<std::string> log;
  std::string result;  // tensors, flattened; or the error
};

std::string ResultText(const std::vector<HostTensorValue>& tensors) {
  std::string text;
  for (const HostTensorValue& t : tensors) text += (text.empty() ? "" : " ") + Text(t);
  return text;
}

Result<std::shared_ptr<const Executable>> Compile(const std::string& source, int level,
                                                  std::vector<HostFunction> functions) {
  RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("test.relay", SourceOf(source)));
  CompileOptions options;
  options.pipeline.opt_level = level;
  options.pipeline.verify = true;
  RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, CompileModule(std::move(module), options));
  return Executable::FromProgram(std::move(compiled.program), {.host_functions = functions});
}

Outcome RunVm(const std::string& source, int level, const std::vector<HostTensorValue>& inputs) {
  Host host;
  auto executable = Compile(source, level, VmFunctions(&host));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto invocation = Invocation::Create(*Runtime::Create(), *executable);
  REQUIRE(invocation.ok());
  std::vector<Value> values;
  for (const HostTensorValue& t : inputs) values.push_back(ToVm(t));
  Result<Value> result = (*invocation)->Run("main", std::move(values));
  if (!result.ok()) return {host.log, result.status().message()};
  std::vector<HostTensorValue> tensors;
  Flatten(*result, &tensors);
  return {host.log, ResultText(tensors)};
}

Outcome RunReference(const std::string& source, const std::vector<HostTensorValue>& inputs) {
  auto module = frontend::ParseRelay("test.relay", SourceOf(source));
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  auto typed = RunFrontendPipeline(*std::move(module));
  REQUIRE_MESSAGE(typed.ok(), typed.status().message());
  Host host;
  reference::Options options;
  options.host = [&](const std::string& name,
                     const std::vector<reference::Value>& args) -> Result<reference::Value> {
    std::vector<HostTensorValue> in;
    for (const auto& v : args) Flatten(v, &in);
    std::vector<reference::Value> out;
    for (const HostTensorValue& t : host.Call(name, in)) out.push_back(ToReference(t));
    return out.size() == 1 ? out[0] : reference::MakeTuple(std::move(out));
  };
  std::vector<reference::Value> values;
  for (const HostTensorValue& t : inputs) values.push_back(ToReference(t));
  auto result = reference::Run(*typed, "main", std::move(values), options);
  if (!result.ok()) return {host.log, result.status().message()};
  std::vector<HostTensorValue> tensors;
  Flatten(*result, &tensors);
  return {host.log, ResultText(tensors)};
}

struct Case {
  const char *what, *source;
  std::vector<std::string> log;
  std::string result;
};

// Each @main takes %x: int32, which is 3.
const Case kCases[] = {
    {"nobody uses the results",
     "def @main(%x: int32) { let %a = @emit(%x); let %b = @next(); %x }",
     {"emit 3", "next"},
     "3"},
    {"equal calls are two calls",
     "def @main(%x: int32) { let %a = @emit(%x); let %b = @emit(%x); (@twice(%x), @twice(%x)) }",
     {"emit 3", "emit 3", "twice 3", "twice 3"},
     "6 6"},
    {"constant arguments are not folded, and a call without arguments is made again",
     "def @main(%x: int32) { let %a = @twice(4); let %b = @next(); let %c = @next(); (%a, %b, %c) "
     "}",
     {"twice 4", "next", "next"},
     "8 1 2"},
    {"a shared expression is evaluated once",
     "def @main(%x: int32) { %0 = @next(); (%0, add(%0, %0)) }",
     {"next"},
     "1 2"},
    {"writes and reads of references keep their places",
     "def @main(%x: int32) { let %r = ref(%x); let %a = @emit(ref_read(%r)); "
     "let %b = ref_write(%r, @next()); let %c = @emit(ref_read(%r)); "
     "let %d = ref_write(%r, 7); let %e = @emit(ref_read(%r)); ref_read(%r) }",
     {"emit 3", "next", "emit 1", "emit 7"},
     "7"},
    {"a function whose only effect is the host's",
     "def @log(%v: int32) { let %a = @emit(%v); let %b = @emit(add(%v, 1)); () }\n"
     "def @main(%x: int32) { let %a = @log(%x); let %b = @log(%x); %x }",
     {"emit 3", "emit 4", "emit 3", "emit 4"},
     "3"},
    {"only the branch that is taken",
     "def @main(%x: int32) { let %a = if (less(%x, 5)) { @emit(1) } else { @emit(2) }; "
     "if (less(%x, 2)) { @twice(%x) } else { @next() } }",
     {"emit 1", "next"},
     "1"},
    {"a branch that is decided at compile time",
     "def @main(%x: int32) { let %a = if (True) { @emit(1) } else { @emit(2) }; "
     "let %b = if (False) { @emit(3) } else { () }; %x }",
     {"emit 1"},
     "3"},
    {"a loop",
     "def @loop(%i: int32, %n: int32) -> int32 { if (less(%i, %n)) { let %a = @emit(%i); "
     "@loop(add(%i, 1), %n) } else { %i } }\n"
     "def @main(%x: int32) { @loop(0, %x) }",
     {"emit 0", "emit 1", "emit 2"},
     "3"},
    {"a loop that is a local function",
     "def @main(%x: int32) { let %loop = fn (%i: int32, %s: int32) -> int32 { "
     "if (less(%i, %x)) { %loop(add(%i, 1), add(%s, @twice(%i))) } else { %s } }; %loop(0, 100) }",
     {"twice 0", "twice 1", "twice 2"},
     "106"},
    {"recursion that is no tail call",
     "def @f(%i: int32) -> int32 { if (equal(%i, 0)) { @next() } else { "
     "add(@f(subtract(%i, 1)), @twice(%i)) } }\n"
     "def @main(%x: int32) { @f(%x) }",
     {"next", "twice 1", "twice 2", "twice 3"},
     "13"},
    {"calls in closures, as often as these are called",
     "def @main(%x: int32) { let %f = fn (%y: int32) { @emit(add(%y, %x)) }; "
     "let %g = fn (%y: int32) { @emit(%y) }; let %a = %f(1); let %b = %f(2); %x }",
     {"emit 4", "emit 5"},
     "3"},
    {"as a value: for a function of the program, and in a list",
     "def @apply(%f: fn (int32) -> int32, %v: int32) -> int32 { %f(%f(%v)) }\n"
     "def @map(%f: fn (int32) -> int32, %l: List[int32]) -> List[int32] { match (%l) { "
     "Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil, } }\n"
     "def @sum(%l: List[int32]) -> int32 { match (%l) { "
     "Cons(%h, %t) => add(%h, @sum(%t)), Nil => 0, } }\n"
     "def @main(%x: int32) { let %f = @twice; let %fs = Cons(@twice, Nil); "
     "let %g = match? (%fs) { Cons(%h, _) => %h, }; "
     "(@apply(@twice, %x), @sum(@map(%f, Cons(1, Cons(%x, Nil)))), %g(5)) }",
     {"twice 3", "twice 6", "twice 1", "twice 3", "twice 5"},
     "12 8 10"},
    {"in the clauses of a match",
     "def @main(%x: int32) { let %l = if (less(%x, 5)) { Cons(%x, Nil) } else { Nil }; "
     "match (%l) { Cons(%h, Nil) => @twice(%h), Cons(%h, _) => @next(), Nil => 0, } }",
     {"twice 3"},
     "6"},
    {"an argument that is a host call",
     "def @main(%x: int32) { @twice(@twice(add(@next(), @next()))) }",
     {"next", "next", "twice 3", "twice 6"},
     "12"},
    {"before and behind arithmetic that fuses",
     "def @main(%x: int32) { let %t = multiply(@rows(%x), 2f); let %a = @show(%t); "
     "let %u = add(%t, 1f); let %b = @show(%u); sum(multiply(%t, %u)) }",
     {"rows 3", "show (3,3)72/480", "show (3,3)81/525"},
     "888"},
    {"tuples go in and come out",
     "def @main(%x: int32) { let %p = @swap((%x, @rows(2))); let %q = @swap((%p.1, %p.0)); "
     "(%q.0, add(%q.1, 1)) }",
     {"rows 2", "swap 3 (2,3)15/70", "swap 3 (2,3)15/70"},
     "(2,3)15/70 4"},
    {"sizes that the host decides",
     "def @main(%x: int32) { let %a = @rows(%x); let %b = @rows(%x); "
     "let %c = concatenate((%a, add(%a, %b)), axis=0); let %d = @show(%c); "
     "nn.dense(%c, @rows(2)) }",
     {"rows 3", "rows 3", "show (6,3)108/1368", "rows 2"},
     "(6,2)576/5022"},
    {"a tensor that grows in a loop, seen by the host each turn",
     "def @grow(%i: int32, %t: Tensor[(1, ?), float32]) -> Tensor[(1, ?), float32] { "
     "if (less(%i, 3)) { let %u = concatenate((%t, reshape(cast(%i, dtype=\"float32\"), "
     "newshape=[1, 1])), axis=1); let %a = @show(%u); @grow(add(%i, 1), %u) } else { %t } }\n"
     "def @main(%x: int32) { @grow(0, zeros(shape=[1, 1], dtype=\"float32\")) }",
     {"show (1,2)0/0", "show (1,3)1/3", "show (1,4)3/11"},
     "(1,4)3/11"},
    {"a product in a loop, whose rows leave it, with the host in between",
     "def @step(%i: int32, %w: Tensor[(3, 3), float32], %s: Tensor[(2, 3), float32]) -> "
     "Tensor[(2, 3), float32] { if (less(%i, 3)) { let %h = nn.dense(%s, %w); "
     "let %a = @show(%h); @step(add(%i, 1), %w, %h) } else { %s } }\n"
     "def @main(%x: int32) { let %r = @rows(3); @step(0, divide(%r, 4f), ones(shape=[2, 3], "
     "dtype=\"float32\")) }",
     {"rows 3", "show (2,3)18/72", "show (2,3)60.75/239.6", "show (2,3)202.5/799.9"},
     "(2,3)202.5/799.9"},
    {"convolutions choose layouts, the host sees the tensor as the program has it",
     "def @main(%x: int32) { let %p = reshape(@rows(192), newshape=[1, 1, 24, 24]); "
     "let %c = nn.conv2d(multiply(%p, 0.001f), ones(shape=[16, 1, 3, 3], dtype=\"float32\"), "
     "padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]); let %a = @show4(%c); "
     "let %d = nn.conv2d(nn.relu(%c), ones(shape=[8, 16, 3, 3], dtype=\"float32\"), "
     "padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]); let %b = @show4(%d); sum(%d) }",
     {},
     ""},
};

const std::vector<HostTensorValue> kThree = {{{}, {3}, false}};

TEST_CASE("host functions: as often, in the order and with the values that the program says") {
  for (const Case& c : kCases) {
    CAPTURE(c.what);
    const Outcome reference = RunReference(c.source, kThree);
    if (!c.log.empty()) {
      CHECK(reference.log == c.log);
      CHECK(reference.result == c.result);
    }
    for (int level = 0; level <= 3; ++level) {
      CAPTURE(level);
      const Outcome vm = RunVm(c.source, level, kThree);
      CHECK(vm.log == reference.log);
      CHECK(vm.result == reference.result);
    }
  }
}

TEST_CASE("host functions: every pass, by itself, keeps them") {
  const std::string source =
      "def @log(%v: int32) { let %a = @emit(%v); let %b = @emit(%v); () }\n"
      "def @loop(%i: int32) -> int32 { if (less(%i, 2)) { let %a = @log(%i); "
      "@loop(add(%i, 1)) } else { @twice(4) } }\n"
      "def @main(%x: int32) { let %f = fn (%y: int32) { @log(%y) }; let %a = %f(%x); "
      "let %b = %f(%x); let %c = @loop(0); @loop(0) }";
  const std::vector<std::string> log = RunReference(source, kThree).log;
  CHECK(log.size() == 14);
  std::vector<std::string> passes;
  PipelineOptions all;
  all.opt_level = 3;
  auto plan = PlanPasses(all);
  REQUIRE(plan.ok());
  for (const PlannedPass& p : *plan) passes.push_back(p.pass.name);
  for (const std::string& disabled : passes) {
    CAPTURE(disabled);
    Host host;
    auto module = frontend::ParseRelay("test.relay", SourceOf(source));
    REQUIRE(module.ok());
    CompileOptions options;
    options.pipeline.opt_level = 3;
    options.pipeline.verify = true;
    options.pipeline.disabled = {disabled};
    auto compiled = CompileModule(*std::move(module), options);
    if (!compiled.ok()) continue;  // one that others need
    auto executable = Executable::FromProgram(std::move(compiled->program),
                                              {.host_functions = VmFunctions(&host)});
    REQUIRE_MESSAGE(executable.ok(), executable.status().message());
    auto invocation = Invocation::Create(*Runtime::Create(), *executable);
    CHECK((*invocation)->Run("main", {Value::Int32(3)}).ok());
    CHECK(host.log == log);
  }
}

// --- Types ---

TEST_CASE("host functions: data types go in and come out") {
  const std::string source =
      "def @pick(%l: List[(int32, Box)], host=1) -> List[Box];\n"
      "def @main(%x: int32) { match (@pick(Cons((%x, Empty), Cons((2, Full(@rows(4))), Nil)))) { "
      "Cons(Full(%t), _) => add(%t, 1f), Cons(Empty, _) => @rows(0), Nil => @rows(1), } }";
  for (int level : {0, 3}) {
    Host host;
    std::vector<HostFunction> functions = VmFunctions(&host);
    functions.push_back(
        {"pick", "fn (List[(int32, Box)]) -> List[Box]", [](HostCall& call) -> Result<Value> {
           const uint32_t cons = *call.executable().FindConstructor("Cons");
           const uint32_t nil = *call.executable().FindConstructor("Nil");
           const Value list = call.args()[0];
           CHECK(list.tag() == cons);
           CHECK(list.field(0).field(0).element(0) == 3);
           const Value second = list.field(1).field(0);
           return Value::Adt(cons, {second.field(1), Value::Adt(nil, {})});
         }});
    auto executable = Compile(source, level, functions);
    REQUIRE_MESSAGE(executable.ok(), executable.status().message());
    auto invocation = Invocation::Create(*Runtime::Create(), *executable);
    Result<Value> result = (*invocation)->Run("main", {Value::Int32(3)});
    REQUIRE_MESSAGE(result.ok(), result.status().message());
    CHECK(result->dims()[0] == 4);
    CHECK(static_cast<const float*>(result->data())[11] == 12.0F);
  }
}

TEST_CASE("host functions: sizes that do not fit what the program says are errors") {
  struct Wrong {
    std::string source, message;
  };
  const Wrong kWrong[] = {
      {"def @main(%x: int32) { let %t: Tensor[(4, 3), float32] = @rows(%x); sum(%t) }",
       "%t: dimension 0: 3 does not equal 4"},
      {"def @main(%x: int32) { sum(add(@rows(%x), @rows(add(%x, 2)))) }", "add"},
      {"def @main(%x: int32) { nn.dense(@rows(%x), reshape(@rows(4), newshape=[3, 4])) }", ""},
  };
  for (const Wrong& w : kWrong) {
    CAPTURE(w.source);
    for (int level : {0, 3}) {
      if (w.message.empty()) {
        Host host;
        CHECK(!Compile(w.source, level, VmFunctions(&host)).ok());
        continue;
      }
      const Outcome vm = RunVm(w.source, level, kThree);
      CHECK_MESSAGE(vm.result.find(w.message) != std::string::npos, vm.result);
    }
  }
  // A result whose size is stated to be that of an argument.
  const std::string tied = R"(
def @same(%t: Tensor[(meta[tir.Var][0], 3), float32], host="rows_like")
    -> Tensor[(meta[tir.Var][0], 3), float32];
def @main(%x: int32) { sum(@same(@rows(%x))) }
#[metadata]
{"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
 {"type_key": "Array", "data": [3]},
 {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4", "span": "0", "type_annotation": "0"}},
 {"type_key": "runtime.String", "repr_str": "n"}], "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}}
)";
  for (int64_t extra : {0, 1}) {
    Host host;
    std::vector<HostFunction> functions = VmFunctions(&host);
    functions.push_back({"rows_like", "", [extra](HostCall& call) -> Result<Value> {
                           return ToVm(Rows(call.args()[0].dims()[0] + extra));
                         }});
    auto executable = Compile(tied, 2, functions);
    REQUIRE_MESSAGE(executable.ok(), executable.status().message());
    auto invocation = Invocation::Create(*Runtime::Create(), *executable);
    Result<Value> result = (*invocation)->Run("main", {Value::Int32(3)});
    CHECK(result.ok() == (extra == 0));
    if (!result.ok())
      CHECK_MESSAGE(
          result.status().message().find(
              "argument 0's dim 0 (n) is 3, the result's dim 0 (n) is 4") != std::string::npos,
          result.status().message());
  }
}

TEST_CASE("host functions: declarations that are refused") {
  struct Wrong {
    std::string source, message;
  };
  const Wrong kWrong[] = {
      {"def @f(%x: int32) -> int32;\n", "expected '{' at the start of a function, found ';'"},
      {"def @f(%x: int32, host=1) -> int32 { %x }\n", "host function @f has a body"},
      {"def @f(%x: int32, host=1) -> int32\n", "expected ';' after the type of host function @f"},
      {"def @f(%x, host=1) -> int32;\n", "parameter %x of host function @f needs a type"},
      {"def @f(%x: int32, host=1);\n", "host function @f needs a result type"},
      {"def @f[A](%x: A, host=1) -> int32;\n", "host function @f has type parameters"},
      {"def @f(%x: fn (int32) -> int32, host=1) -> int32;\n",
       "parameter %x of host function f has type fn (int32) -> int32: functions cannot cross to "
       "the host"},
      {"def @f(%x: (int32, ref(int32)), host=1) -> int32;\n", "references cannot cross"},
      {"def @f(%x: int32, host=\"g\") -> List[ref(int32)];\n",
       "the result of host function g has type List[ref(int32)]: references cannot cross"},
      {"type Lazy { Later(fn () -> int32), }\ndef @f(%x: List[Lazy], host=1) -> int32;\n",
       "functions cannot cross"},
      {"def @f(%x: List[_], host=1) -> int32;\n", "open type"},
  };
  for (const Wrong& w : kWrong) {
    CAPTURE(w.source);
    Host host;
    auto executable = Compile(w.source + "def @main(%x: int32) { %x }", 2, VmFunctions(&host));
    REQUIRE(!executable.ok());
    CHECK_MESSAGE(executable.status().message().find(w.message) != std::string::npos,
                  executable.status().message());
    CHECK(executable.status().message().find("test.relay:1") != std::string::npos);
  }
  Host host;
  auto literal = Compile("def @main(%x: int32) { let %f = fn (%y: int32, host=1) -> int32; %x }", 2,
                         VmFunctions(&host));
  REQUIRE(!literal.ok());
  CHECK(literal.status().message().find("a function of the host has a name") != std::string::npos);
  // Calls are checked as those of any function.
  auto call = Compile("def @main(%x: float32) { @twice(%x) }", 2, VmFunctions(&host));
  REQUIRE(!call.ok());
  CHECK_MESSAGE(call.status().message().find("argument %x of @twice") != std::string::npos,
                call.status().message());
}

TEST_CASE("host functions: declarations survive printing and parsing, as written and typed") {
  const std::string source = "def @main(%x: int32) { let %a = @show(@rows(%x)); @twice(%x) }";
  auto module = frontend::ParseRelay("test.relay", SourceOf(source));
  REQUIRE(module.ok());
  const std::string text = ir::PrintModule(*module, {.for_people = false});
  CHECK_MESSAGE(text.find("def @twice(%x: int32, host=1) -> int32;") != std::string::npos, text);
  CHECK(text.find("%t: Tensor[(?, ?, ?, ?), float32], host=\"show\") -> ();") != std::string::npos);
  auto again = frontend::ParseRelay("again.relay", text);
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(ir::PrintModule(*again, {.for_people = false}) == text);
  auto typed = RunFrontendPipeline(*std::move(again));
  REQUIRE(typed.ok());
  const std::string typed_text = ir::PrintModule(*typed, {.for_people = false});
  auto third = frontend::ParseRelay("third.relay", typed_text);
  REQUIRE_MESSAGE(third.ok(), third.status().message());
  CHECK(RunFrontendPipeline(*std::move(third)).ok());
}

TEST_CASE("host functions: the program keeps what it calls, with its types") {
  Host host;
  auto executable =
      Compile("def @main(%x: int32) { let %a = @show(@rows(%x)); %x }", 2, VmFunctions(&host));
  REQUIRE(executable.ok());
  const Program& program = (*executable)->program();
  REQUIRE(program.host_functions.size() == 2);
  const std::string text = DisassembleProgram(program);
  CHECK_MESSAGE(text.find(".host \"rows\" (int32[]) -> float32[?, 3]") != std::string::npos, text);
  CHECK(text.find("call.host") != std::string::npos);
  // What no code reaches is not asked of the host.
  CHECK(text.find("twice") == std::string::npos);
  auto missing = Compile("def @main(%x: int32) { @twice(%x) }", 2, {});
  REQUIRE(!missing.ok());
  CHECK(missing.status().message() ==
        "the program needs host function 'twice' of type fn (int32) -> int32, which the host has "
        "not registered");
}

}  // namespace
}  // namespace relayvm

// Dims of one name, whoever gives them: a program that runs may rely on them.
#include "vm/border/signature_dims.h"

#include "vm/border/host_testing.h"
#include "vm/device/host_device.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Floats;
using testing::LoadForward;
using testing::LoadText;
using testing::NewInvocation;
using testing::RunFails;
using testing::RunOk;

// Gives its first parameter back.
std::string Signature(const std::string& params, size_t num_params) {
  return fmt::format(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Tree" 1
  .constructor "Leaf" (var 0)
  .constructor "Node" (data 1(var 0), data 1(var 0))
.export "main" f0 ({0}) -> int32[]
.function "main" scalars 0 objects {1} captured 0 registers 0 {1} returns object arena 0
  ret.r r0
.end
)",
                     params, num_params);
}

Value Shaped(std::vector<int64_t> dims) {
  int64_t elements = 1;
  for (const int64_t d : dims) elements *= d;
  return Floats(std::move(dims), std::vector<float>(static_cast<size_t>(elements)));
}
Value List(const std::vector<Value>& items) {
  Value list = Value::Adt(0, {});
  for (size_t i = items.size(); i-- > 0;) list = Value::Adt(1, {items[i], list});
  return list;
}
Value Tuple(std::vector<Value> fields) { return Value::Tuple(std::move(fields)); }

// All its tensors on the device.
Value There(Runtime& runtime, const Value& value, const Device* device) {
  if (value.is_tensor()) return *runtime.CopyTo(value, device);
  std::vector<Value> fields;
  for (size_t i = 0; i < value.num_fields(); ++i)
    fields.push_back(There(runtime, value.field(i), device));
  return Value::Adt(value.tag(), std::move(fields));
}

struct Case {
  const char* params;
  std::vector<Value> inputs;
  const char* message;  // after "main: "; empty: they agree
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.params);
    const auto executable = LoadText(Signature(c.params, c.inputs.size()));
    Result<Value> result = NewInvocation(executable)->Run("main", c.inputs);
    const Status said =
        executable->CheckInputs(executable->info().functions.front().name, c.inputs);
    CHECK(said.ok() == result.ok());
    // Wherever the tensors are.
    const std::shared_ptr<Device> devices[] = {MakeHostDevice("npu")};
    RuntimeOptions options;
    options.devices = devices;
    const auto runtime = *Runtime::Create(options);
    std::vector<Value> there;
    for (const Value& input : c.inputs) there.push_back(There(*runtime, input, devices[0].get()));
    const Result<Value> of_there = (*Invocation::Create(runtime, executable))->Run("main", there);
    CHECK(of_there.status().message() == result.status().message());
    if (std::string_view(c.message).empty()) {
      CHECK_MESSAGE(result.ok(), result.status().message());
      continue;
    }
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kInvalidArgument);
    CHECK(result.status().message() == std::string("main: ") + c.message);
    CHECK(said.message() == result.status().message());
  }
}

constexpr const char* kTwo = R"("x": float32[?"n", ?"k"], "w": float32[?"k", ?"m"])";

TEST_CASE("dims of one name are one number: among inputs, and in one") {
  Check({
      {kTwo, {Shaped({2, 3}), Shaped({3, 5})}, ""},
      {kTwo, {Shaped({2, 0}), Shaped({0, 5})}, ""},
      {kTwo,
       {Shaped({2, 3}), Shaped({5, 7})},
       "x's dim 1 (k) is 3, w's dim 0 (k) is 5; where these are two sizes, relayc --shape "
       "w='(k_2, ?)' gives one another name"},
      {R"("x": float32[?"n", ?"n"])", {Shaped({4, 4})}, ""},
      {R"("x": float32[?"n", ?"n"])",
       {Shaped({2, 3})},
       "x's dim 0 (n) is 2, x's dim 1 (n) is 3; where these are two sizes, relayc --shape "
       "x='(?, n_2)' gives one another name"},
      // A third place, and a name that is no word.
      {R"("ids": float32[?"batch size"], "a": float32[4], "mask": float32[?"batch size", 4])",
       {Shaped({1}), Shaped({4}), Shaped({2, 4})},
       "ids's dim 0 (batch size) is 1, mask's dim 0 (batch size) is 2; where these are two sizes, "
       "relayc --shape mask='(n_2, 4)' gives one another name"},
      // What has no name is any size, each for itself.
      {R"("x": float32[?, ?], "y": float32[?])", {Shaped({2, 3}), Shaped({4})}, ""},
  });
}

TEST_CASE("dims of one name are one number: in tuples, lists and trees") {
  constexpr const char* kTuples =
      R"("x": (float32[?"n"], (float32[?"k", ?"n"], int32[])), "y": (float32[?"k"]))";
  const auto nested = [](int64_t n, int64_t k, int64_t n2) {
    return Tuple({Shaped({n}), Tuple({Shaped({k, n2}), Value::Int32(1)})});
  };
  constexpr const char* kList = R"("l": data 0(float32[?"n", 4]), "x": float32[?"n"])";
  constexpr const char* kLists = R"("l": data 0((float32[?"n"], data 1(float32[?"n"]))))";
  const auto leaf = [](int64_t n) { return Value::Adt(0, {Shaped({n})}); };
  Check({
      {kTuples, {nested(2, 3, 2), Tuple({Shaped({3})})}, ""},
      {kTuples,
       {nested(2, 3, 4), Tuple({Shaped({3})})},
       "x.0's dim 0 (n) is 2, x.1.0's dim 1 (n) is 4"},
      {kTuples,
       {nested(2, 3, 2), Tuple({Shaped({5})})},
       "x.1.0's dim 0 (k) is 3, y.0's dim 0 (k) is 5"},
      {kList, {List({Shaped({2, 4}), Shaped({2, 4})}), Shaped({2})}, ""},
      {kList, {List({}), Shaped({2})}, ""},
      {kList,
       {List({Shaped({2, 4}), Shaped({3, 4})}), Shaped({2})},
       "x's dim 0 (n) is 2, a tensor in l's dim 0 (n) is 3"},
      {kLists, {List({Tuple({Shaped({2}), leaf(2)})})}, ""},
      {kLists,
       {List({Tuple({Shaped({2}), Value::Adt(1, {leaf(2), leaf(3)})})})},
       "a tensor in l's dim 0 (n) is 2, a tensor in l's dim 0 (n) is 3"},
  });
}

TEST_CASE("dims that are expressions have the value that their names give") {
  constexpr const char* kNext = R"("y": float32[?"n + 1"=s0 + 1], "x": float32[?"n"])";
  constexpr const char* kSum =
      R"("x": (float32[?"n", ?"m"]), "y": float32[?"n*2 + m"=s0*2 + s1], "z": float32[3])";
  constexpr const char* kQuotient =
      R"~("x": float32[?"n", ?"m"], "y": float32[?"floordiv(n, m)"=floordiv(s0, s1)])~";
  // A name that data types alone have, and stands behind.
  constexpr const char* kBoth =
      R"("l": data 0(float32[?"n + 1"=s0 + 1]), "k": data 0(float32[?"n"]))";
  constexpr const char* kInside = R"("x": float32[?"n"], "l": data 0(float32[?"n + 1"=s0 + 1]))";
  Check({
      {kNext, {Shaped({4}), Shaped({3})}, ""},
      {kNext,
       {Shaped({5}), Shaped({3})},
       "x's dim 0 (n) is 3, y's dim 0 (n + 1) is 5; where these are two sizes, relayc --shape "
       "y='(n_2,)' gives one another name"},
      {kSum, {Tuple({Shaped({2, 3})}), Shaped({7}), Shaped({3})}, ""},
      {kSum,
       {Tuple({Shaped({2, 3})}), Shaped({8}), Shaped({3})},
       "x.0's dim 0 (n) is 2, x.0's dim 1 (m) is 3, y's dim 0 (n*2 + m) is 8; where these are two "
       "sizes, relayc --shape y='(n_2,)' gives one another name"},
      {kQuotient, {Shaped({7, 2}), Shaped({3})}, ""},
      // Of what has no value, no size is the right one.
      {kQuotient,
       {Shaped({7, 0}), Shaped({3})},
       "x's dim 0 (n) is 7, x's dim 1 (m) is 0, y's dim 0 (floordiv(n, m)) is 3; where these are "
       "two sizes, relayc --shape y='(n_2,)' gives one another name"},
      {kBoth, {List({Shaped({4})}), List({Shaped({3})})}, ""},
      {kBoth, {List({Shaped({4})}), List({})}, ""},
      {kBoth,
       {List({Shaped({4}), Shaped({3})}), List({Shaped({3}), Shaped({3})})},
       "a tensor in k's dim 0 (n) is 3, a tensor in l's dim 0 (n + 1) is 3"},
      {kInside, {Shaped({3}), List({Shaped({4}), Shaped({4})})}, ""},
      {kInside,
       {Shaped({3}), List({Shaped({4}), Shaped({3})})},
       "x's dim 0 (n) is 3, a tensor in l's dim 0 (n + 1) is 3"},
  });
}

TEST_CASE("the numbers are fields of the status, too") {
  const Status status = RunFails(LoadText(Signature(kTwo, 2)), {Shaped({2, 3}), Shaped({5, 7})});
  REQUIRE(status.detail() != nullptr);
  CHECK(status.detail()->subject == "w");
  CHECK(status.detail()->expected == std::vector<int64_t>{3});
  CHECK(status.detail()->found == std::vector<int64_t>{5});
}

TEST_CASE("more names than an invocation keeps on its stack") {
  std::string params;
  std::vector<Value> inputs;
  for (int i = 0; i < 100; ++i) {
    params += fmt::format("{}\"x{}\": float32[?\"n{}\"]", i > 0 ? ", " : "", i, i % 50);
    inputs.push_back(Shaped({i % 50}));
  }
  const auto executable = LoadText(Signature(params, inputs.size()));
  CHECK(NewInvocation(executable)->Run("main", inputs).ok());
  inputs[99] = Shaped({7});
  const std::string message = RunFails(executable, inputs).message();
  CHECK(message.starts_with("main: x49's dim 0 (n49) is 49, x99's dim 0 (n49) is 7; "));
}

TEST_CASE("a name that occurs once is not looked at") {
  const auto executable = LoadText(Signature(R"("x": float32[?"n", ?"k"], "y": float32[?"m"])", 2));
  const ExportInfo& e = executable->program().exports.front();
  CHECK(vm::SignatureDims(e.params, nullptr).empty());
  CHECK(!vm::SignatureDims(LoadText(Signature(kTwo, 2))->program().exports[0].params, nullptr)
             .empty());
}

TEST_CASE("host functions: a result keeps to the names of the arguments") {
  const auto with_rows = [](int64_t rows) {
    return [rows](HostCall&) -> Result<Value> { return Shaped({rows, 4}); };
  };
  const auto same = [&](int64_t rows) {
    return LoadForward(R"(float32[?"n"])", R"(float32[?"n", 4])", with_rows(rows));
  };
  CHECK(RunOk(same(3), {Shaped({3})}).dims()[0] == 3);
  CHECK(
      RunFails(same(2), {Shaped({3})})
          .message()
          .ends_with("host function f: argument 0's dim 0 (n) is 3, the result's dim 0 (n) is 2"));
  const auto next = LoadForward(R"(float32[?"n"])", R"(float32[?"n + 1"=s0 + 1, 4])", with_rows(3));
  CHECK(RunOk(next, {Shaped({2})}).dims()[0] == 3);
  CHECK(RunFails(next, {Shaped({3})})
            .message()
            .ends_with("argument 0's dim 0 (n) is 3, the result's dim 0 (n + 1) is 3"));
}

}  // namespace
}  // namespace relayvm

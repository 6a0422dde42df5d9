// Inputs against declared types, and results as values.
#include "vm/border/border.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "vm/border/host_testing.h"
#include "vm/memory/allocator.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Floats;
using testing::LoadText;
using testing::NewInvocation;
using testing::RunOk;

// A program that gives its one input back.
std::string Identity(const std::string& type) {
  return fmt::format(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Tree" 1
  .constructor "Leaf" (var 0)
  .constructor "Node" (data 1(var 0), data 1(var 0))
.data "Nested" 1
  .constructor "End" ()
  .constructor "Deeper" (var 0, data 2((var 0, var 0)))
.export "main" vars 2 f0 ("x": {0}) -> {0}
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)",
                     type);
}

Value List(const std::vector<Value>& items) {
  Value list = Value::Adt(0, {});
  for (size_t i = items.size(); i-- > 0;) list = Value::Adt(1, {items[i], list});
  return list;
}

TEST_CASE("inputs: what fits passes, and comes back the same") {
  Value one = Value::Float32(1), vector = Floats({2}, {1, 2});
  struct Case {
    const char* type;
    Value value;
  };
  for (const Case& c : {
           Case{"float32[]", one},
           Case{"float32[2]", vector},
           Case{"float32[?\"n\"]", vector},
           Case{"(float32[?\"n\"], float32[])", Value::Tuple({vector, one})},
           Case{"()", Value::Tuple({})},
           Case{"data 0(float32[])", List({one, one, one})},
           Case{"data 0(data 0(float32[?\"n\"]))", List({List({vector}), List({})})},
           Case{"data 1((float32[], data 0(float32[])))",
                Value::Adt(0, {Value::Tuple({one, List({one})})})},
           Case{"data 2(float32[])",
                Value::Adt(1, {one, Value::Adt(1, {Value::Tuple({one, one}), Value::Adt(0, {})})})},
           // What a type parameter of the export leaves open.
           Case{"var 0", one},
           Case{"var 1", List({List({vector}), one, Value::Tuple({})})},
           Case{"var 0", Value::Adt(77, {vector})},
           Case{"data 0(var 1)", List({one, vector, List({})})},
           Case{"(var 0, data 0((var 1, float32[])))",
                Value::Tuple({one, List({Value::Tuple({vector, one})})})},
           Case{"data 2(var 0)", Value::Adt(1, {one, Value::Adt(1, {Value::Tuple({vector, one}),
                                                                    Value::Adt(0, {})})})},
       }) {
    CAPTURE(c.type);
    Value result = RunOk(LoadText(Identity(c.type)), {c.value});
    CHECK(result.object() == c.value.object());
  }
}

TEST_CASE("inputs: what does not fit is named, with what was expected and what came") {
  Value one = Value::Float32(1), vector = Floats({2}, {1, 2});
  struct Case {
    const char* type;
    Value value;
    const char* message;
  };
  for (const Case& c : {
           Case{"float32[?\"n\", 300]", vector,
                "expected Tensor[(n, 300), float32], found Tensor[(2), float32]"},
           Case{"float32[3]", vector, "expected Tensor[(3), float32], found Tensor[(2), float32]"},
           Case{"int32[2]", vector, "expected Tensor[(2), int32], found Tensor[(2), float32]"},
           Case{"float32[]", Value::Tuple({}),
                "expected float32, found a tuple or constructor with tag 0 and 0 fields"},
           Case{"(float32[])", Value::Tuple({one, one}),
                "expected (float32,), found a tuple or constructor with tag 0 and 2"},
           Case{"(float32[], float32[2])", Value::Tuple({one, one}),
                "expected Tensor[(2), float32], found float32"},
           Case{"data 0(float32[])", Value::Adt(2, {}),
                "expected List[float32], found a tuple or constructor with tag 2"},
           Case{"data 0(float32[])", Value::Adt(1, {one}), "Cons takes 2 fields, found 1"},
           Case{"data 0(float32[])", List({one, vector}),
                "expected float32, found Tensor[(2), float32]"},
           Case{"data 0(data 0(float32[]))", List({List({one}), List({vector})}),
                "expected float32, found Tensor[(2)"},
           Case{"data 2(float32[])", Value::Adt(1, {one, Value::Adt(1, {one, Value::Adt(0, {})})}),
                "found float32"},
           Case{"data 0(var 0)", Value::Adt(1, {one}), "Cons takes 2 fields, found 1"},
           Case{"data 0(var 0)", one, "expected List[A], found float32"},
           Case{"data 0((var 0, float32[]))", List({Value::Tuple({one, vector})}),
                "expected float32, found Tensor[(2), float32]"},
           Case{"var 0", Value(), "expected A, found nothing"},
           Case{"fn", one, "functions cannot be passed in"},
           Case{"ref(float32[])", one, "references cannot be passed in"},
       }) {
    CAPTURE(c.type);
    Result<Program> program = Assemble(Identity(c.type));
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Status status = NewInvocation(LoadText(Identity(c.type)))->Run("main", {c.value}).status();
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(testing::Contains(status.message(), "main: parameter %x: "));
    CHECK_MESSAGE(testing::Contains(status.message(), c.message), status.message());
  }
}

TEST_CASE("inputs: a tree that is shared inside is checked once") {
  Value tree = Value::Adt(0, {Value::Float32(1)});
  for (int i = 0; i < 200; ++i) tree = Value::Adt(1, {tree, tree});
  RunOk(LoadText(Identity("data 1(float32[])")), {tree});
  RunOk(LoadText(Identity("var 0")), {tree});
}

TEST_CASE("inputs: deep values take no native stack") {
  std::vector<Value> items(1'000'000 / testing::kSlowdown, Value::Float32(1));
  Value result = RunOk(LoadText(Identity("data 0(float32[])")), {List(items)});
  CHECK(result.num_fields() == 2);
}

// A program of one object function whose result may be anything.
std::shared_ptr<const Executable> Anything(const std::string& body,
                                           const std::string& tables = "") {
  return LoadText(fmt::format(R"(
.version 1
{}
.export "main" f0 () -> float32[]
.function "main" scalars 0 objects 0 captured 0 registers 4 8 returns object arena 0
{}
.end
.function "f" scalars 0 objects 1 captured 1 registers 0 1 returns object arena 0
  ret.r r0!
.end
)",
                              tables, body));
}

TEST_CASE("results: sharing inside is kept") {
  Value v = RunOk(Anything(R"(
  const.i16 i0, 7
  tensor.box r0, i0, int64
  adt.new r1, #1, [r0, r0!]
  adt.new r2, #2, [r1, r1!]
  ret.r r2!)"),
                  {});
  CHECK(v.tag() == 2);
  CHECK(v.field(0).object() == v.field(1).object());
  CHECK(v.field(0).field(0).object() == v.field(0).field(1).object());
  CHECK(testing::ToInt64(v.field(0).field(0)) == 7);
}

TEST_CASE("results: who alone holds what a program made may write it") {
  for (const int size : {100, 20'000}) {
    CAPTURE(size);
    auto executable = Anything(fmt::format(R"(
  const.i16 i0, {}
  tensor.alloc r0, uint8, [i0]
  tensor.alloc r1, uint8, [i0]
  tensor.view r2, r1, [i0]
  adt.new r0, #0, [r0!, r1!, r2!]
  ret.r r0!)",
                                           size));
    Value result = RunOk(executable, {});
    Value own = result.field(0), viewed = result.field(1), view = result.field(2);
    CHECK(own.mutable_data() == nullptr);  // the result has it too
    result = Value();
    CHECK(own.mutable_data() == own.data());
    Value copy = own;
    CHECK(own.mutable_data() == nullptr);
    copy = Value();
    std::memset(own.mutable_data(), 1, own.bytes());
    // Where a view shares the memory, neither may be written through.
    if (view.data() == viewed.data()) {
      CHECK(view.mutable_data() == nullptr);
      CHECK(viewed.mutable_data() == nullptr);
    }
  }
}

TEST_CASE("results: constants, small and large, outlive the program") {
  Value small, large;
  {
    std::string hex;
    for (int i = 0; i < 20000; ++i) hex += fmt::format("{:02x}", i % 256);
    auto executable =
        Anything(R"(
  const.r r0, c0
  const.r r1, c1
  const.i16 i0, 19000
  tensor.view r2, r1, [i0]
  adt.new r0, #0, [r0!, r1!, r2!]
  ret.r r0!)",
                 ".constant uint8[4] \"\"\n  .hex 01020304\n.constant uint8[20000] \"\"\n  .hex " +
                     hex + "\n");
    Value result = RunOk(executable, {});
    small = result.field(0);
    large = result.field(2);
    CHECK(large.data() == executable->program().constants[1].data.data());
  }
  CHECK(testing::ElementsOf<uint8_t>(small) == std::vector<uint8_t>{1, 2, 3, 4});
  CHECK(large.dims()[0] == 19000);
  CHECK(large.element(18999) == 18999 % 256);
}

TEST_CASE("results: closures are opaque, references show their content") {
  Value v = RunOk(Anything(R"(
  const.i16 i0, 7
  tensor.box r0, i0, int64
  closure.new r1, f1, [r0]
  ref.new r2, r0!
  adt.new r3, #0, [r1!, r2, r2!]
  ret.r r3!)"),
                  {});
  CHECK(v.field(0).kind() == Value::Kind::kClosure);
  CHECK(v.field(0).function() == 1);
  CHECK(v.field(1).kind() == Value::Kind::kRef);
  CHECK(testing::ToInt64(v.field(1).field(0)) == 7);
  CHECK(v.field(1).object() == v.field(2).object());
}

TEST_CASE("inputs: functions and references stay in their program, in open types too") {
  Value result = RunOk(Anything(R"(
  const.i16 i0, 7
  tensor.box r0, i0, int64
  closure.new r1, f1, [r0]
  ref.new r2, r0!
  adt.new r3, #0, [r1!, r2!]
  ret.r r3!)"),
                       {});
  auto identity = LoadText(Identity("var 0"));
  auto message = [&](const Value& v) {
    return NewInvocation(identity)->Run("main", {v}).status().message();
  };
  CHECK(message(result.field(0)) ==
        "main: parameter %x: functions cannot be passed in from the host");
  CHECK(message(Value::Tuple({List({result.field(1)})})) ==
        "main: parameter %x: references cannot be passed in from the host");
  CHECK(testing::Contains(message(result), "cannot be passed in"));
}

TEST_CASE("results: references that form a cycle cannot leave") {
  Status status = testing::RunFails(Anything(R"(
  adt.new r0, #0, []
  ref.new r1, r0!
  ref.new r2, r1
  adt.new r3, #0, [r2!]
  ref.set r1, r3!
  ret.r r1!)"),
                                    {});
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(testing::Contains(status.message(), "references that form a cycle"));
}

TEST_CASE("results: deep ones take no native stack") {
  Value v = RunOk(Anything(R"(
  const.i64 i0, 1000000
  adt.new r0, #0, []
L0:
  adt.new r0, #1, [r0!]
  addimm.i i0, i0, -1
  br.if i0, L0
  ret.r r0!)"),
                  {});
  CHECK(v.num_fields() == 1);
}

TEST_CASE("results: a constant is in them once, and views of one tensor share its memory") {
  std::string hex;
  for (int i = 0; i < 20'000; ++i) hex += fmt::format("{:02x}", i % 251);
  for (const int size : {1'000, 20'000}) {
    CAPTURE(size);
    for (const bool is_constant : {true, false}) {
      CAPTURE(is_constant);
      // Eight views of a half, and the whole twice.
      std::string views;
      for (int i = 1; i <= 8; ++i) views += fmt::format("  tensor.view r{}, r0, [i1]\n", i);
      const std::string body = fmt::format(
          R"(
  const.i16 i0, {}
  const.i16 i1, {}
  {}
{}
  adt.new r1, #0, [r1!, r2!, r3!, r4!, r5!, r6!, r7!, r8!, r0, r0!]
  ret.r r1!)",
          size, size / 2, is_constant ? "const.r r0, c0" : "tensor.alloc r0, uint8, [i0]", views);
      const Value v =
          RunOk(LoadText(fmt::format(R"(
.version 1
.constant uint8[{}] ""
  .hex {}
.export "main" f0 () -> float32[]
.function "main" scalars 0 objects 0 captured 0 registers 2 9 returns object arena 0
{}
.end
)",
                                     size, hex.substr(0, static_cast<size_t>(size) * 2), body)),
                {});
      CHECK(v.field(8).object() == v.field(9).object());
      std::vector<const void*> memory;
      for (size_t i = 0; i < 8; ++i) memory.push_back(v.field(i).data());
      std::ranges::sort(memory);
      const auto rest = std::ranges::unique(memory);
      // Copies as large as the whole, and what the others share.
      CHECK(memory.size() - rest.size() <= 3);
      for (size_t i = 0; is_constant && i < 8; ++i) {
        for (int64_t at : {0, 1, size / 2 - 1})
          CHECK(v.field(i).element(at) == static_cast<uint64_t>(at % 251));
      }
    }
  }
}

// --- Limits ---

// A list of `n` boxed numbers.
std::string LongList(int n) {
  return fmt::format(R"(
  const.i64 i0, {}
  adt.new r0, #0, []
L0:
  tensor.box r1, i0, int64
  adt.new r0, #1, [r1!, r0!]
  addimm.i i0, i0, -1
  br.if i0, L0
  ret.r r0!)",
                     n);
}

TEST_CASE("results: what is made for one counts toward the memory limit") {
  constexpr size_t kLimit = 6 << 20;
  // 4 MB in the heap, 4.8 MB outside of it.
  auto invocation = NewInvocation(Anything(LongList(50'000)), {.memory_limit = kLimit});
  for (int i = 0; i < 2; ++i) {
    const Status status = invocation->Run("main", {}).status();
    CHECK(status.code() == StatusCode::kResourceExhausted);
    CHECK(testing::Contains(status.message(), "main: no memory for the result: "));
    CHECK(testing::Contains(status.message(), " of 6291456; raise the memory limit"));
    REQUIRE(status.detail() != nullptr);
    CHECK(status.detail()->subject == "main");
    REQUIRE(status.detail()->places.size() == 1);
    CHECK(status.detail()->places[0].function == "main");
    REQUIRE(status.detail()->numbers.size() == 2);
    CHECK(status.detail()->numbers[0] > static_cast<int64_t>(kLimit - (128 << 10)));
    CHECK(status.detail()->numbers[1] == kLimit);
    CHECK(invocation->stats().peak_bytes <= kLimit);
  }
  invocation->set_memory_limit(2 * kLimit);
  std::vector<Value> results;  // that have left do not count
  for (int i = 0; i < 4; ++i) results.push_back(RunOk(*invocation, {}));
}

TEST_CASE("results: a run that is stopped beside its instructions names its function") {
  auto invocation = NewInvocation(Anything(LongList(1)));
  invocation->Cancel();
  const Status status = invocation->Run("main", {}).status();
  CHECK(status.code() == StatusCode::kCancelled);
  CHECK(status.message() == "main: cancelled");
  REQUIRE(status.detail() != nullptr);
  CHECK(status.detail()->subject == "main");
  REQUIRE(status.detail()->places.size() == 1);
  CHECK(status.detail()->places[0].function == "main");
}

// --- Walks that are stopped ---

// Counts how often it is asked, and says no from the `last` time on.
struct Asked {
  int count = 0, last = INT32_MAX;
  vm::BorderPoll poll{[](void* self) {
                        auto* asked = static_cast<Asked*>(self);
                        return ++asked->count < asked->last ? StatusCode::kOk
                                                            : StatusCode::kCancelled;
                      },
                      this};
};

TEST_CASE("border: walks ask now and then whether to go on, and stop") {
  constexpr int kItems = 50'000;
  auto executable = LoadText(Identity("data 0(int64[])"));
  const ValueType& type = executable->program().exports[0].params[0];
  const Value list = List(std::vector<Value>(kItems, Value::Int64(7)));
  const Value large = *Value::NewTensor(DType::kUInt8, {{8 << 20}});
  auto* heap = new vm::Heap;
  for (const int last : {INT32_MAX, 1, 3}) {
    CAPTURE(last);
    const bool stops = last != INT32_MAX;
    const auto check = [&](const Asked& asked, bool went_on, int expected) {
      CHECK(went_on == !stops);
      CHECK(asked.poll.stopped() == stops);
      CHECK((stops ? asked.count == last : asked.count >= expected));
    };
    heap->BeginRun(SIZE_MAX);
    Asked checks, imports, copies, exports, arguments;
    checks.last = imports.last = copies.last = exports.last = arguments.last = last;
    StatusDetail detail;
    CHECK(vm::CheckType(executable->program(), list.object(), type, &detail, &checks.poll).empty());
    check(checks, !checks.poll.stopped(), kItems / 1024);
    check(imports, vm::ImportValue(*heap, list, &imports.poll) != nullptr, kItems / 1024);
    check(copies, vm::ImportValue(*heap, large, &copies.poll) != nullptr, 7);

    vm::BorderPoll goes_on;
    vm::Object* object = vm::ImportValue(*heap, list, &goes_on);
    REQUIRE(object != nullptr);
    vm::Object* tensor = vm::ImportValue(*heap, large, &goes_on);
    REQUIRE(tensor != nullptr);
    const Result<Value> argument =
        vm::ExportArgument(*heap, executable, tensor, /*last_use=*/false, &arguments.poll);
    check(arguments, argument.ok(), 7);
    const Result<Value> result =
        vm::ExportObject(*heap, executable, "main", object, &exports.poll, nullptr);
    check(exports, result.ok(), kItems * 32 / (64 << 10));
    if (stops) {
      CHECK(argument.status().code() == StatusCode::kCancelled);
      CHECK(result.status().message() == "main: cancelled");
      CHECK(result.status().detail() != nullptr);
    }
    heap->Reset();
  }
  heap->Orphan();
}

TEST_CASE("border: a slice ends inside of what crosses it, and so does a cancellation") {
  const Value list = List(std::vector<Value>(20'000, Value::Int64(7)));
  Invocation* current = nullptr;
  bool cancels = false;
  auto invocation =
      NewInvocation(testing::LoadHost(testing::Forward("data 0(int64[])", "data 0(int64[])",
                                                       R"(
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
)"),
                                      {{"f", "", [&](HostCall&) -> Result<Value> {
                                          if (cancels) current->Cancel();
                                          return list;
                                        }}}));
  current = invocation.get();
  REQUIRE(invocation->Start("main", {List({})}).ok());
  int slices = 1;
  while (invocation->Poll(std::chrono::nanoseconds(1)) != RunState::kDone) ++slices;
  CHECK(invocation->TakeResult().ok());
  CHECK(slices >= 20);
  cancels = true;
  const Status status = invocation->Run("main", {List({})}).status();
  CHECK(status.code() == StatusCode::kCancelled);
  CHECK(status.message() == "main+0x0: host function f: cancelled");
}

// --- Memory that goes back ---

TEST_CASE("results: the memory of many small objects goes back to the machine") {
#if !RELAYVM_ASAN && !RELAYVM_TSAN
  const auto resident_bytes = [] {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    uint64_t pages[2] = {};
    REQUIRE(std::fscanf(file, "%" SCNu64 " %" SCNu64, &pages[0], &pages[1]) == 2);
    std::fclose(file);
    return pages[1] * 4096;
  };
  constexpr size_t kItems = 500'000;
  Value list = Value::Adt(0, {});
  for (size_t i = 0; i < kItems; ++i) list = Value::Adt(1, {Value::Int64(7), std::move(list)});
  const Value after = Value::Int64(7);  // where malloc has the end of its memory
  const size_t before = resident_bytes();
  list = Value();
  CHECK(before - resident_bytes() > kItems * (48 + 48) / 2);
#endif
}

}  // namespace
}  // namespace relayvm

// Runs of programs of each kind, with each allocation failing: of the whole life of an invocation,
// and of a run of one that has run before and runs again afterwards.
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "bytecode/program.h"
#include "tests/faults/fail_each.h"

namespace relayvm::faults {
namespace {

struct Case {
  const char* what;
  const char* text;
  std::vector<Value> inputs;
};

// A list of tensors of 1, 2, .. n elements.
Value List(int64_t n) {
  Value list = Value::Adt(1, {});
  for (; n > 0; --n)
    list = Value::Adt(0, {Floats(std::vector<float>(static_cast<size_t>(n), 2)), list});
  return list;
}

std::vector<Case> Cases() {
  return {
      {"data, recursion, dynamic shapes",
       R"(#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @reverse[A](%xs: List[A], %done: List[A]) -> List[A] {
  match (%xs) { Cons(%x, %rest) => { @reverse(%rest, Cons(%x, %done)) }, Nil => { %done } }
}
def @join(%xs: List[Tensor[(?), float32]]) -> Tensor[(?), float32] {
  match (%xs) { Cons(%x, %rest) => { concatenate((%x, @join(%rest)), axis=0) }, Nil => { zeros(shape=[0], dtype="float32") } }
}
def @main(%xs: List[Tensor[(?), float32]]) {
  let %back = @reverse(%xs, Nil);
  (%back, @join(%back), %xs)
})",
       {List(6)}},
      {"closures and references",
       R"(#[version = "0.0.5"]
type Box { Holds(fn (int32) -> int32) }
def @adder(%k: int32) -> fn (int32) -> int32 { fn (%x: int32) -> int32 { add(%x, %k) } }
def @main(%n: int32) {
  let %cell = ref(%n);
  let %box = Holds(@adder(%n));
  let %fact = fn (%k: int32) -> int32 { if (less(%k, 2)) { 1 } else { multiply(%k, %fact(subtract(%k, 1))) } };
  let %u = ref_write(%cell, %fact(%n));
  (match (%box) { Holds(%f) => { %f(%n) } }, %cell, ref_read(%cell), %box)
})",
       {Value::Int32(6)}},
      {"sizes that running tells",
       R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) {
  let %at = argwhere(%x);
  (%at, take(%x, squeeze(%at, axis=[1]), axis=0), argsort(%x), topk(%x, k=2, ret_type="both"))
})",
       {Floats({0, 3, 0, 5, 1})}},
      {"deep calls",
       R"(#[version = "0.0.5"]
type Tree { Leaf, Node(Tree, int32) }
def @build(%n: int32) -> Tree { if (equal(%n, 0)) { Leaf } else { Node(@build(subtract(%n, 1)), %n) } }
def @depth(%t: Tree) -> int32 { match (%t) { Leaf => { 0 }, Node(%child, _) => { add(1, @depth(%child)) } } }
def @main(%n: int32) -> int32 { @depth(@build(%n)) })",
       {Value::Int32(20000)}},
      {"products, constants and views",
       R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32]) {
  let %w = reshape(arange(0f, 12f, 1f, dtype="float32"), newshape=[3, 4]);
  let %y = nn.softmax(nn.dense(%x, %w));
  (%y, reshape(%y, newshape=[-1]), %w, ones(shape=[20000], dtype="float32"))
})",
       {*Value::CopyTensor(DType::kFloat32, {{2, 4}}, std::vector<float>(8, 0.5F).data())}},
      {"large tensors that leave",
       R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?), float32]) {
  let %n = cast(shape_of(%x), dtype="int64");
  let %large = full(1f, shape=[9000000], dtype="float32");
  let %medium = full(2f, shape=[100000], dtype="float32");
  (%large, %medium, reshape(%medium, newshape=[100, 1000]), %x)
})",
       {Floats({1})}},
  };
}

Status RunOnce(Invocation& invocation, const std::vector<Value>& inputs, Value* result) {
  // The caller's own copy of the inputs is not what is tested.
  std::vector<Value> own;
  try {
    own = inputs;
  } catch (const std::bad_alloc&) {
    return Status::OutOfMemory();
  }
  Result<Value> got = invocation.Run("main", std::move(own));
  if (!got.ok()) return got.status();
  *result = *std::move(got);
  return OkStatus();
}

TEST_CASE("faults: a run fails where an allocation fails, and runs again") {
  for (const Case& c : Cases()) {
    CAPTURE(c.what);
    const CompiledModel model = Compile(c.text);
    const std::shared_ptr<const Executable> executable = Load(model);
    LeavesNothing([&] {
      auto runtime = NewRuntime();
      auto invocation = *Invocation::Create(runtime, executable);
      Value expected, result;
      REQUIRE(RunOnce(*invocation, c.inputs, &expected).ok());
      FailEach([&] { invocation->Trim(); }, [&] { return RunOnce(*invocation, c.inputs, &result); },
               [&] {
                 const Status status = RunOnce(*invocation, c.inputs, &result);
                 REQUIRE_MESSAGE(status.ok(), status.ToString());
                 REQUIRE(testing::SameBits(result, expected));
                 result = Value();
               });
    });
  }
}

TEST_CASE("faults: runtime and invocation are made, or are not") {
  for (const Case& c : Cases()) {
    CAPTURE(c.what);
    const std::shared_ptr<const Executable> executable = Load(Compile(c.text));
    for (const uint32_t threads : {1U, 3U}) {
      LeavesNothing([&] {
        const auto attempt = [&]() -> Status {
          RELAYVM_ASSIGN_OR_RETURN(
              auto runtime, Runtime::Create({.num_threads = threads, .memory_limit = 1 << 30}));
          RELAYVM_ASSIGN_OR_RETURN(auto first, Invocation::Create(runtime, executable));
          RELAYVM_ASSIGN_OR_RETURN(auto second, Invocation::Create(runtime, executable));
          RELAYVM_RETURN_IF_ERROR(first->set_stack_limit(1 << 22));
          RELAYVM_RETURN_IF_ERROR(first->set_on_ready([runtime, executable] {}));
          Value result;
          return RunOnce(*first, c.inputs, &result);
        };
        FailEach(attempt, [&] {});
        CHECK(attempt().ok());
      });
    }
  }
}

TEST_CASE("faults: a program is loaded, or is not") {
  const std::string path = "/tmp/relayvm_faults_" + std::to_string(getpid()) + ".vmx";
  const CompiledModel model = Compile(Cases()[4].text);
  REQUIRE(model.Save(path).ok());
  const SharedBytes bytes = *model.Bytes();
  const std::span<const uint8_t> span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  LeavesNothing([&] {
    std::shared_ptr<const Executable> executable;
    const auto take = [&](Result<std::shared_ptr<const Executable>> loaded) {
      if (loaded.ok()) executable = *loaded;
      return loaded.status();
    };
    const auto works = [&] { executable = nullptr; };
    FailEach([&] { return take(Executable::Load(path)); }, works);
    FailEach([&] { return take(Executable::FromMemory(span, nullptr)); }, works);
    auto owner = std::make_shared<int>();
    FailEach([&] { return take(Executable::FromMemory(span, owner)); }, works);
    CHECK(owner.use_count() == 1);
    FailEach(
        [&]() -> Status {
          try {
            return take(Executable::FromProgram(Program(model.program())));
          } catch (const std::bad_alloc&) {  // of the copy
            return Status::OutOfMemory();
          }
        },
        works);
    CHECK(!Executable::Load(path + ".none").ok());
  });
  std::remove(path.c_str());
}

TEST_CASE("faults: what is refused is refused, or is out of memory") {
  const std::shared_ptr<const Executable> executable = Load(Compile(Cases()[0].text));
  LeavesNothing([&] {
    auto invocation = *Invocation::Create(NewRuntime(), executable);
    struct Refusal {
      StatusCode code;
      std::function<Status()> call;
    };
    const Value wrong = Value::Tuple({Floats({1}), Value::Int64(2)});
    const Refusal refusals[] = {
        {StatusCode::kNotFound, [&] { return invocation->Run("none such function", {}).status(); }},
        {StatusCode::kInvalidArgument, [&] { return invocation->Run("main", {}).status(); }},
        {StatusCode::kNotFound, [&] { return executable->FindConstructor("none").status(); }},
        {StatusCode::kFailedPrecondition, [&] { return invocation->TakeResult().status(); }},
        {StatusCode::kInvalidArgument,
         [&] {
           return Value::NewTensor(DType::kInt64, {{-1, 7}}).status();
         }},
        {StatusCode::kInvalidArgument,
         [&] { return Value::CopyTensor(DType::kInt64, {{7}}, nullptr).status(); }},
        {StatusCode::kInvalidArgument,
         [&] { return Runtime::Create({.num_threads = 5000}).status(); }},
    };
    for (const Refusal& refusal : refusals) {
      for (const Failing failing : {Failing::kOne, Failing::kRest}) {
        for (int64_t number = 1;; ++number) {
          Arm(number, failing);
          const Status status = refusal.call();
          const bool failed = Disarm();
          const bool expected = status.code() == refusal.code ||
                                (failed && status.code() == StatusCode::kResourceExhausted);
          REQUIRE_MESSAGE(expected, status.ToString());
          if (!failed) break;
        }
      }
    }
  });
}

// Gives null where it is told to, and else the system's memory.
class FailingSource : public MemorySource {
 public:
  void* Allocate(size_t bytes, size_t alignment) override {
    if (calls_left == 0) {
      has_failed = true;
      return nullptr;
    }
    --calls_left;
    ++live;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  }
  void Free(void* memory, size_t) override {
    --live;
    std::free(memory);
  }
  int64_t calls_left = INT64_MAX, live = 0;
  bool has_failed = false;
};

TEST_CASE("faults: the host's memory ends at each of its calls") {
  for (const Case& c : Cases()) {
    CAPTURE(c.what);
    const std::shared_ptr<const Executable> executable = Load(Compile(c.text));
    auto source = std::make_shared<FailingSource>();
    LeavesNothing([&] {
      auto runtime = NewRuntime({.memory = source, .max_idle_workspaces = 0});
      Value expected, result;
      for (int64_t calls = 0;; ++calls) {
        auto invocation = *Invocation::Create(runtime, executable);
        source->has_failed = false;
        source->calls_left = calls;
        const Status status = RunOnce(*invocation, c.inputs, &result);
        source->calls_left = INT64_MAX;
        CHECK((status.ok() || status.code() == StatusCode::kResourceExhausted));
        REQUIRE(RunOnce(*invocation, c.inputs, &result).ok());
        if (calls == 0) expected = result;
        CHECK(testing::SameBits(result, expected));
        result = Value();
        if (!source->has_failed) break;
      }
    });
    CHECK(source->live == 0);
  }
}

}  // namespace
}  // namespace relayvm::faults

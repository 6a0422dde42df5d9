#include "vm/border/value.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "vm/testing.h"

#if RELAYVM_ASAN
// Tests ask for more memory than there is, and expect a status.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace relayvm {
namespace {

TEST_CASE("value: tensors from host memory, copied") {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t dims[2] = {2, 3};
  Value v = *Value::CopyTensor(DType::kFloat32, dims, data);
  data[0] = 9;
  CHECK(v.kind() == Value::Kind::kTensor);
  CHECK(v.dtype() == DType::kFloat32);
  CHECK(v.dims()[1] == 3);
  CHECK(v.bytes() == 24);
  CHECK(reinterpret_cast<uintptr_t>(v.data()) % 64 == 0);
  CHECK(testing::ElementsOf<float>(v) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("value: tensors in host memory, wrapped when aligned") {
  int released = 0;
  auto release = [](void* context) { ++*static_cast<int*>(context); };
  auto* memory = static_cast<char*>(std::aligned_alloc(64, 128));
  int64_t dims[1] = {8};
  {
    Value v = *Value::WrapTensor(DType::kInt8, dims, memory, release, &released);
    CHECK(v.data() == memory);
    CHECK(v.mutable_data() == nullptr);
    Value copy = v;
    v = Value();
    CHECK(released == 0);
  }
  CHECK(released == 1);
  memory[5] = 42;
  Value v = *Value::WrapTensor(DType::kInt8, dims, memory + 4, release, &released);
  CHECK(released == 2);  // copied
  CHECK(v.data() != memory + 4);
  CHECK(v.element(1) == 42);
  int64_t negative[1] = {-1};
  CHECK(!Value::WrapTensor(DType::kInt8, negative, memory, release, &released).ok());
  CHECK(released == 3);
  std::free(memory);
}

TEST_CASE("value: bad shapes") {
  int64_t negative[2] = {2, -3};
  CHECK(Value::NewTensor(DType::kInt8, negative).status().message() ==
        "a tensor of shape (2, -3): negative or too large");
  int64_t huge[2] = {int64_t{1} << 40, int64_t{1} << 40};
  CHECK(Value::NewTensor(DType::kInt8, huge).status().code() == StatusCode::kInvalidArgument);
  int64_t large[1] = {int64_t{1} << 47};  // more than a process has of addresses
  CHECK(Value::NewTensor(DType::kInt8, large).status().code() == StatusCode::kResourceExhausted);
  std::vector<int64_t> rank(256, 1);
  CHECK(Value::NewTensor(DType::kInt8, rank).status().message() ==
        "a tensor of rank 256, above 255");
}

TEST_CASE("value: scalars") {
  CHECK(Value::Int64(-5).element(0) == static_cast<uint64_t>(-5));
  CHECK(Value::Int32(-5).bytes() == 4);
  CHECK(Value::Bool(true).element(0) == 1);
  CHECK(*static_cast<const float*>(Value::Float32(1.5f).data()) == 1.5f);
  CHECK(*static_cast<const double*>(Value::Float64(2.5).data()) == 2.5);
  CHECK(Value::Int64(1).dims().empty());
}

TEST_CASE("value: tuples and constructors; what is unshared may be written") {
  Value number = Value::Int64(1);
  *static_cast<int64_t*>(number.mutable_data()) = 7;
  Value pair = Value::Adt(3, {number, Value::Tuple({})});
  CHECK(number.mutable_data() == nullptr);
  CHECK(pair.kind() == Value::Kind::kAdt);
  CHECK(pair.tag() == 3);
  CHECK(pair.num_fields() == 2);
  CHECK(pair.field(0).element(0) == 7);
  CHECK(pair.field(1).num_fields() == 0);
  CHECK(!Value());
  CHECK(Value().kind() == Value::Kind::kNone);
}

TEST_CASE("value: a list of a million is dropped without recursion, from any thread") {
  Value list = Value::Adt(0, {});
  for (int i = 0; i < 1'000'000 / testing::kSlowdown; ++i) {
    std::vector<Value> fields;
    fields.push_back(std::move(list));
    list = Value::Adt(1, std::move(fields));
  }
  std::thread([moved = std::move(list)]() mutable { moved = Value(); }).join();
}

TEST_CASE("value: what is missing is an error, not a crash") {
  const int64_t dims[] = {2, 3};
  CHECK(Value::CopyTensor(DType::kFloat32, dims, nullptr).status().message() ==
        "data is null, expected 24 bytes");
  int released = 0;
  auto release = [](void* count) { ++*static_cast<int*>(count); };
  auto wrapped = Value::WrapTensor(DType::kFloat32, dims, nullptr, release, &released);
  CHECK(wrapped.status().code() == StatusCode::kInvalidArgument);
  CHECK(released == 1);
  const int64_t none[] = {2, 0};
  CHECK(Value::CopyTensor(DType::kFloat32, none, nullptr).ok());
  CHECK(Value::WrapTensor(DType::kFloat32, none, nullptr, nullptr, nullptr).ok());

  // A field that was moved away.
  Value field = Value::Int64(1);
  Value moved = std::move(field);
  Value tuple = Value::Tuple(
      {moved, field});  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  CHECK(tuple.field(1).kind() == Value::Kind::kNone);
  CHECK(!Value::Tuple(std::vector<Value>(65'536, moved)));
  auto program = testing::LoadText(R"(
.version 1
.export "main" f0 ("pair": (int64[], int64[])) -> int64[]
.export "open" vars 1 f1 ("x": var 0) -> var 0
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  adt.get r0, r0!, #1
  ret.r r0!
.end
.function "open" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
  for (const char* function : {"main", "open"}) {
    auto invocation = testing::NewInvocation(program);
    for (const Value& bad : {tuple, Value()}) {
      Status status = invocation->Run(function, {bad}).status();
      CHECK(status.code() == StatusCode::kInvalidArgument);
      CHECK(testing::Contains(status.message(), "found nothing"));
    }
  }
}

TEST_CASE("value: held by many threads") {
  Value shared = Value::Tuple({Value::Int64(1), Value::Int64(2)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([copy = shared] {
      for (int i = 0; i < 10000; ++i) {
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): what is tested
        const Value again = copy;
        const Value field = again.field(static_cast<size_t>(i % 2));
      }
    });
  }
  shared = Value();
  for (std::thread& t : threads) t.join();
}

// Resident bytes of this process.
size_t Resident() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0;
  size_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST_CASE("values: the memory of large tensors goes back when they die") {
#if RELAYVM_TSAN || RELAYVM_ASAN
  MESSAGE("skipped: sanitizers keep shadow pages, and memory that went back for a while");
  return;
#endif
  constexpr size_t kLargest = size_t{4} << 20;
  const std::vector<uint8_t> data(kLargest, 7);
  const size_t before = Resident();
  // Sizes on both sides of where pages of their own begin, many alive together.
  std::vector<Value> values;
  for (int64_t bytes = 1000; bytes <= static_cast<int64_t>(kLargest); bytes += bytes / 10) {
    auto value = Value::CopyTensor(DType::kUInt8, {&bytes, 1}, data.data());
    REQUIRE(value.ok());
    const auto* copy = static_cast<const uint8_t*>(value->data());
    CHECK(copy[0] == 7);
    CHECK(copy[bytes - 1] == 7);
    CHECK(reinterpret_cast<uintptr_t>(copy) % 64 == 0);
    values.push_back(std::move(*value));
  }
  CHECK(Resident() > before + 8 * kLargest);
  values.clear();
  CHECK(Resident() < before + kLargest);
}

}  // namespace
}  // namespace relayvm

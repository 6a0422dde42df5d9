#include "vm/api/dlpack_exchange.h"

#include <cstddef>
#include <cstdlib>

#include "vm/testing.h"

namespace relayvm {
namespace {

static_assert(sizeof(DLTensor) == 48);
static_assert(offsetof(DLManagedTensorVersioned, flags) == 24);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);
static_assert(sizeof(DLDataType) == 4);

// A tensor of another library: elements 0, 1, 2, ... in memory aligned to 64 bytes.
struct Foreign {
  DLManagedTensorVersioned managed{};
  std::vector<int64_t> shape, strides;
  int16_t* memory;
  int deleted = 0;

  explicit Foreign(std::vector<int64_t> dims) : shape(std::move(dims)) {
    memory = static_cast<int16_t*>(std::aligned_alloc(64, 512));
    for (int16_t i = 0; i < 256; ++i) memory[i] = i;
    managed.version = {1, 1};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
    managed.dl_tensor = {memory,
                         {kDLCPU, 0},
                         static_cast<int32_t>(shape.size()),
                         {kDLInt, 16, 1},
                         shape.data(),
                         nullptr,
                         0};
  }
  ~Foreign() { std::free(memory); }
};

TEST_CASE("dlpack: aligned compact memory comes in without a copy") {
  Foreign foreign({2, 3});
  {
    Value v = *FromDLPack(&foreign.managed);
    CHECK(v.data() == foreign.memory);
    CHECK(v.dtype() == DType::kInt16);
    CHECK(v.dims()[1] == 3);
    CHECK(foreign.deleted == 0);
  }
  CHECK(foreign.deleted == 1);
}

TEST_CASE("dlpack: an offset, strides and unaligned memory are copied") {
  Foreign offset({4});
  offset.managed.dl_tensor.byte_offset = 4;
  Value v = *FromDLPack(&offset.managed);
  CHECK(offset.deleted == 1);
  CHECK(testing::ElementsOf<int16_t>(v) == std::vector<int16_t>{2, 3, 4, 5});

  Foreign transposed({3, 2});
  transposed.strides = {1, 3};
  transposed.managed.dl_tensor.strides = transposed.strides.data();
  v = *FromDLPack(&transposed.managed);
  CHECK(transposed.deleted == 1);
  CHECK(testing::ElementsOf<int16_t>(v) == std::vector<int16_t>{0, 3, 1, 4, 2, 5});

  Foreign compact({2, 1, 3});
  compact.strides = {3, 77, 1};  // the stride of a dim of 1 does not matter
  compact.managed.dl_tensor.strides = compact.strides.data();
  v = *FromDLPack(&compact.managed);
  CHECK(v.data() == compact.memory);
  for (int64_t any : {INT64_MAX, INT64_MIN}) {
    for (int64_t step : {1, 2}) {  // in place, and copied
      Foreign one({1, 3});
      one.strides = {any, step};
      one.managed.dl_tensor.strides = one.strides.data();
      Result<Value> in = FromDLPack(&one.managed);
      REQUIRE_MESSAGE(in.ok(), in.status().message());
      CHECK(testing::ElementsOf<int16_t>(*in)[2] == 2 * step);
    }
  }
  v = Value();
}

TEST_CASE("dlpack: what cannot be taken is given back with a reason") {
  struct Case {
    void (*change)(DLManagedTensorVersioned*);
    const char* message;
  };
  for (const Case& c : {
           Case{[](DLManagedTensorVersioned* t) { t->version.major = 2; },
                "DLPack version 2.1, expected 1"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.device.device_type = kDLCUDA; },
                "device type 2"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.dtype = {kDLComplex, 64, 1}; },
                "type code 5 of 64 bits"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.dtype = {kDLInt, 16, 4}; },
                "4 lanes"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.dtype = {kDLUInt, 4, 1}; },
                "type code 1 of 4 bits"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.dtype = {200, 8, 1}; },
                "type code 200 of 8 bits"},
           Case{[](DLManagedTensorVersioned* t) {
                  t->dl_tensor.device.device_type = static_cast<DLDeviceType>(-7);
                },
                "device type -7"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.ndim = 256; },
                "rank 256, expected 0 to 255"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.ndim = INT32_MAX; },
                "rank 2147483647"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.shape = nullptr; },
                "rank 1 without a shape"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.data = nullptr; },
                "the data is null"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.shape[0] = INT64_MAX; },
                "too large"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.byte_offset = UINT64_MAX; },
                "byte offset 18446744073709551615 leaves the address space"},
           Case{[](DLManagedTensorVersioned* t) {
                  static int64_t stride = INT64_MAX;
                  t->dl_tensor.strides = &stride;
                },
                "leave the address space"},
           Case{[](DLManagedTensorVersioned* t) {
                  static int64_t stride = INT64_MIN;
                  t->dl_tensor.strides = &stride;
                },
                "strides (-9223372036854775808) of shape (4) leave the address space"},
           Case{[](DLManagedTensorVersioned* t) {
                  static int64_t stride = int64_t{1} << 45;
                  t->dl_tensor.strides = &stride;
                },
                "leave the address space"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.ndim = -1; }, "rank -1"},
           Case{[](DLManagedTensorVersioned* t) { t->dl_tensor.shape[0] = -1; },
                "a tensor of shape (-1)"},
       }) {
    Foreign foreign({4});
    c.change(&foreign.managed);
    Result<Value> v = FromDLPack(&foreign.managed);
    REQUIRE(!v.ok());
    CHECK_MESSAGE(testing::Contains(v.status().message(), c.message), v.status().message());
    CHECK(foreign.deleted == 1);
  }
}

TEST_CASE("dlpack: every dtype goes out and comes back") {
  for (int d = 0; d < kNumDTypes; ++d) {
    auto dtype = static_cast<DType>(d);
    CAPTURE(DTypeName(dtype));
    Value v = Value::Scalar(dtype, 1);
    DLManagedTensorVersioned* out = *ToDLPack(v);
    CHECK(out->dl_tensor.data == v.data());
    CHECK((out->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
    Value back = *FromDLPack(out);
    CHECK(back.dtype() == dtype);
    CHECK(back.element(0) == 1);
  }
  CHECK(!ToDLPack(Value::Tuple({})).ok());
}

TEST_CASE("dlpack: reversed, broadcast, and empty tensors come in") {
  Foreign reversed({4});
  int64_t stride = -1;
  reversed.managed.dl_tensor.strides = &stride;
  reversed.managed.dl_tensor.byte_offset = 6;
  CHECK(testing::ElementsOf<int16_t>(*FromDLPack(&reversed.managed)) ==
        std::vector<int16_t>{3, 2, 1, 0});
  Foreign broadcast({3});
  stride = 0;
  broadcast.managed.dl_tensor.strides = &stride;
  broadcast.managed.dl_tensor.byte_offset = 10;
  CHECK(testing::ElementsOf<int16_t>(*FromDLPack(&broadcast.managed)) ==
        std::vector<int16_t>{5, 5, 5});
  // No element: neither data nor strides mean anything.
  Foreign empty({0, 3});
  empty.strides = {INT64_MIN, INT64_MAX};
  empty.managed.dl_tensor.strides = empty.strides.data();
  empty.managed.dl_tensor.data = nullptr;
  empty.managed.dl_tensor.byte_offset = UINT64_MAX;
  Value v = *FromDLPack(&empty.managed);
  CHECK(v.num_elements() == 0);
  CHECK(v.dims()[1] == 3);
  v = Value();
  for (Foreign* f : {&reversed, &broadcast, &empty}) CHECK(f->deleted == 1);
}

TEST_CASE("dlpack: what is marked read-only comes in, and stays unwritten") {
  Foreign foreign({4});
  foreign.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  Value v = *FromDLPack(&foreign.managed);
  CHECK(v.data() == foreign.memory);
  CHECK(v.mutable_data() == nullptr);
  v = Value();
}

TEST_CASE("dlpack: a large transposed matrix of each element size") {
  for (auto [dtype, bytes] : {std::pair(DType::kBool, 1),
                              {DType::kBFloat16, 2},
                              {DType::kFloat32, 4},
                              {DType::kFloat64, 8}}) {
    const int64_t rows = 300, columns = 200;
    std::vector<char> memory(static_cast<size_t>(rows * columns * bytes));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 2654435761U >> 13);
    DLManagedTensorVersioned t{};
    int64_t shape[] = {columns, rows}, strides[] = {1, columns};
    t.version = {1, 0};
    DLManagedTensorVersioned* like = *ToDLPack(Value::Scalar(dtype, 0));
    t.dl_tensor = {memory.data(), {kDLCPU, 0}, 2, like->dl_tensor.dtype, shape, strides, 0};
    like->deleter(like);
    Value v = *FromDLPack(&t);
    bool same = true;
    for (int64_t i = 0; i < columns; ++i) {
      for (int64_t j = 0; j < rows; ++j) {
        same = same && std::memcmp(static_cast<const char*>(v.data()) + (i * rows + j) * bytes,
                                   memory.data() + (j * columns + i) * bytes,
                                   static_cast<size_t>(bytes)) == 0;
      }
    }
    CHECK(same);
  }
}

TEST_CASE("dlpack: a value outlives its handle for as long as the consumer wants") {
  Value v = testing::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const void* data = v.data();
  DLManagedTensorVersioned* out = *ToDLPack(v);
  DLManagedTensor* old = *ToLegacyDLPack(v);
  v = Value();
  for (const DLTensor* t : {&out->dl_tensor, &old->dl_tensor}) {
    CHECK(t->data == data);
    CHECK(t->ndim == 2);
    CHECK(t->shape[1] == 3);
    CHECK(t->strides[0] == 3);
    CHECK(t->strides[1] == 1);
    CHECK(static_cast<const float*>(t->data)[5] == 6);
  }
  CHECK(out->version.major == 1);
  out->deleter(out);
  Value back = *FromDLPack(old);  // no copy
  CHECK(back.data() == data);
}

TEST_CASE("dlpack: the structure before 1.0") {
  DLManagedTensor old{};
  int64_t shape[1] = {3};
  alignas(64) static float data[3] = {1, 2, 3};
  static int deleted = 0;
  old.dl_tensor = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  old.deleter = [](DLManagedTensor*) { ++deleted; };
  Value v = *FromDLPack(&old);
  CHECK(v.data() == data);
  v = Value();
  CHECK(deleted == 1);
}

}  // namespace
}  // namespace relayvm

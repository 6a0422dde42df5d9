#include "vm/dlpack_exchange.h"

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
           Case{[](DLManagedTensorVersioned* t) {
                  t->dl_tensor.dtype = {kDLComplex, 64, 1};
                },
                "type code 5 of 64 bits"},
           Case{[](DLManagedTensorVersioned* t) {
                  t->dl_tensor.dtype = {kDLInt, 16, 4};
                },
                "4 lanes"},
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

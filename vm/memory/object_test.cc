#include "vm/memory/object.h"

#include <doctest/doctest.h>

#include <vector>

#include "vm/memory/allocator.h"
#include "vm/testing.h"

namespace relayvm::vm {
namespace {

struct TestHeap {
  Heap* heap = new Heap;
  TestHeap() { heap->BeginRun(SIZE_MAX); }
  ~TestHeap() { heap->Orphan(); }
  operator Heap&() const { return *heap; }  // NOLINT(google-explicit-constructor)
  size_t live() const { return heap->stats().live_bytes; }
};

TEST_CASE("objects: a count of holders, and the end with the last") {
  TestHeap heap;
  Adt* pair = NewAdt(heap, 3, 2);
  pair->fields[0] = NewTensor(heap, DType::kInt8, 0, 1);
  pair->fields[1] = pair->fields[0];
  Retain(pair->fields[1]);
  Retain(pair);
  CHECK(!IsUnique(pair));
  Release(heap, pair);
  CHECK(IsUnique(pair));
  CHECK(heap.live() > 0);
  Release(heap, pair);
  CHECK(heap.live() == 0);
}

TEST_CASE("objects: immortal and shared ones are not counted") {
  TestHeap heap;
  Retain(Empty());
  Release(heap, Empty());
  CHECK(kEmptyObject.count.load() == kUncounted);
}

TEST_CASE("objects: a saturated count stays") {
  TestHeap heap;
  Ref* ref = NewRef(heap);
  ref->content = Empty();
  ref->count.store(kUncounted - 1);
  Retain(ref);
  CHECK(ref->count.load() == kUncounted);
  Retain(ref);
  Release(heap, ref);
  Release(heap, ref);
  CHECK(ref->count.load() == kUncounted);
}

TEST_CASE("objects: deep trees of all kinds go without recursion") {
  TestHeap heap;
  Object* tree = Empty();
  for (int i = 0; i < 3'000'000 / testing::kSlowdown; ++i) {
    switch (i % 3) {
      case 0: {
        Adt* node = NewAdt(heap, 1, 3);
        node->fields[0] = NewTensor(heap, DType::kFloat32, 0, 4);
        node->fields[1] = tree;
        node->fields[2] = Empty();
        tree = node;
        break;
      }
      case 1: {
        Closure* closure = NewClosure(heap, 0, 1);
        closure->captured[0] = tree;
        tree = closure;
        break;
      }
      default: {
        Ref* ref = NewRef(heap);
        ref->content = tree;
        tree = ref;
      }
    }
  }
  Release(heap, tree);
  CHECK(heap.live() == 0);
}

TEST_CASE("objects: rows of more fields than a small block holds") {
  TestHeap heap;
  Adt* adt = NewAdt(heap, 0, 65535);
  for (Object*& field : FieldsOf(adt)) field = Empty();
  Release(heap, adt);
  CHECK(heap.live() == 0);
}

TEST_CASE("tensors: inline when small, aligned always, of any rank") {
  TestHeap heap;
  for (int rank : {0, 1, 4, 5, 12, 13, kMaxRank}) {
    for (size_t bytes :
         {size_t{0}, size_t{1}, size_t{64}, size_t{10'000}, size_t{16'384}, size_t{1'000'000}}) {
      CAPTURE(rank);
      CAPTURE(bytes);
      Tensor* t = NewTensor(heap, DType::kInt8, rank, bytes);
      REQUIRE(t != nullptr);
      for (int i = 0; i < rank; ++i) t->dims[i] = 1;
      const bool scalar = rank == 0 && bytes <= 8;
      CHECK(reinterpret_cast<uintptr_t>(t->data) % (scalar ? 16 : 64) == 0);
      CHECK(size_t{t->capacity} >= bytes);
      for (size_t i = 0; i < bytes; ++i) t->data[i] = 1;
      CHECK(t->rank == rank);
      CHECK((t->storage() == Storage::kScalar) == scalar);
      CHECK((t->storage() == Storage::kInline) == (!scalar && bytes <= 10'000));
      Release(heap, t);
    }
  }
  CHECK(heap.live() == 0);
}

TEST_CASE("views: hold the owner, also through another view") {
  TestHeap heap;
  Tensor* owner = NewTensor(heap, DType::kInt32, 1, 100'000);
  Tensor* view = NewView(heap, owner, 1, owner->data, 400);
  Tensor* second = NewView(heap, view, 2, view->data, 400);
  CHECK(second->owner == owner);
  CHECK(second->dtype == DType::kInt32);
  Release(heap, owner);
  Release(heap, view);
  size_t live = heap.live();
  CHECK(live >= 100'000);
  Release(heap, second);
  CHECK(heap.live() == 0);
}

TEST_CASE("tensor sizes: checked against overflow and negative dims") {
  auto bytes = [](DType t, std::vector<int64_t> dims) { return CheckedTensorBytes(t, dims); };
  CHECK(bytes(DType::kFloat64, {}) == 8);
  CHECK(bytes(DType::kInt16, {3, 5}) == 30);
  CHECK(bytes(DType::kInt16, {3, 0}) == 0);
  CHECK(bytes(DType::kInt8, {0, int64_t{1} << 47}) == 0);
  CHECK(bytes(DType::kInt8, {0, (int64_t{1} << 47) + 1}) == -1);
  CHECK(bytes(DType::kInt16, {int64_t{1} << 62, int64_t{1} << 62, 0}) == -1);
  CHECK(bytes(DType::kInt16, {0, -1}) == -1);
  CHECK(bytes(DType::kInt16, {-1, 0}) == -1);
  CHECK(bytes(DType::kInt8, {int64_t{1} << 47}) == int64_t{1} << 47);
  CHECK(bytes(DType::kInt16, {int64_t{1} << 47}) == -1);
  CHECK(bytes(DType::kInt8, {int64_t{1} << 32, int64_t{1} << 32}) == -1);
}

}  // namespace
}  // namespace relayvm::vm

#include "vm/memory/idle_pool.h"

#include <doctest/doctest.h>

namespace relayvm::vm {
namespace {

struct Thing : IdleLink<Thing> {
  explicit Thing(int number) : number(number) {}
  int number;
};
using ThingPool = IdlePool<Thing>;
constexpr size_t kBytes = ThingPool::kMostBytes / 4;
constexpr int64_t kAge = ThingPool::kLongest;

int NumberOf(const std::unique_ptr<Thing>& thing) { return thing == nullptr ? -1 : thing->number; }

TEST_CASE("idle pool: the latest is taken first, the oldest goes first") {
  ThingPool pool;
  CHECK(pool.Take() == nullptr);
  for (int i = 0; i < 4; ++i) pool.Give(std::make_unique<Thing>(i), 1, i);
  CHECK(NumberOf(pool.Take()) == 3);
  CHECK(NumberOf(pool.TakeOldest()) == 0);
  CHECK(pool.size() == 2);
  CHECK(NumberOf(pool.Take()) == 2);
  CHECK(NumberOf(pool.Take()) == 1);
  CHECK(pool.size() == 0);
}

TEST_CASE("idle pool: bytes and age bound it; the latest stays whatever it is") {
  ThingPool pool;
  for (int i = 0; i < 6; ++i) pool.Give(std::make_unique<Thing>(i), kBytes, i);
  CHECK(NumberOf(pool.TakeSurplus(6, true)) == 0);
  CHECK(NumberOf(pool.TakeSurplus(6, true)) == 1);
  CHECK(pool.TakeSurplus(6, true) == nullptr);
  CHECK(pool.TakeSurplus(2 + kAge, true) == nullptr);
  CHECK(pool.TakeSurplus(3 + kAge, false) == nullptr);
  CHECK(NumberOf(pool.TakeSurplus(3 + kAge, true)) == 2);
  pool.Give(std::make_unique<Thing>(9), 100 * kBytes, 7);
  for (const int number : {3, 4, 5}) CHECK(NumberOf(pool.TakeSurplus(7, false)) == number);
  CHECK(pool.TakeSurplus(100 * kAge, true) == nullptr);
  CHECK(NumberOf(pool.Take()) == 9);
}

}  // namespace
}  // namespace relayvm::vm

#include "vm/platform/fiber.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace relayvm::vm {
namespace {

// A fiber that runs a function object on a stack of its own.
struct TestFiber {
  StackRegion stack;
  std::function<void(Fiber&)> body;
  std::unique_ptr<Fiber> fiber;

  explicit TestFiber(std::function<void(Fiber&)> f) : body(std::move(f)) {
    REQUIRE(stack.Reserve(128 << 10, 0).ok());
    fiber = std::make_unique<Fiber>(
        stack,
        [](void* self) {
          auto* test = static_cast<TestFiber*>(self);
          test->body(*test->fiber);
        },
        this);
  }
};

TEST_CASE("fiber: control goes to and fro") {
  std::string trace;
  TestFiber f([&](Fiber& self) {
    for (char c : {'a', 'b', 'c'}) {
      trace += c;
      self.Suspend();
    }
  });
  for (int i = 0; i < 3; ++i) {
    CHECK(!f.fiber->done());
    f.fiber->Resume();
    trace += '1';
  }
  f.fiber->Resume();
  CHECK(f.fiber->done());
  CHECK(trace == "a1b1c1");
}

TEST_CASE("fiber: many at once, and one inside another") {
  std::vector<std::unique_ptr<TestFiber>> fibers;
  int sum = 0;
  for (int i = 0; i < 50; ++i) {
    fibers.push_back(std::make_unique<TestFiber>([&sum, i](Fiber& self) {
      TestFiber inner([&sum, i](Fiber& in) {
        sum += i;
        in.Suspend();
        sum += i;
      });
      inner.fiber->Resume();
      self.Suspend();
      inner.fiber->Resume();
    }));
  }
  for (int round = 0; round < 2; ++round) {
    for (auto& f : fibers) f->fiber->Resume();
    CHECK(sum == (round + 1) * 49 * 50 / 2);
  }
  for (auto& f : fibers) CHECK(f->fiber->done());
}

TEST_CASE("fiber: exceptions inside are caught inside") {
  std::string caught;
  TestFiber f([&](Fiber& self) {
    try {
      self.Suspend();
      throw std::runtime_error("inside");
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
  });
  f.fiber->Resume();
  f.fiber->Resume();
  CHECK(caught == "inside");
}

TEST_CASE("fiber: resumed by another thread than before") {
  int steps = 0;
  TestFiber f([&](Fiber& self) {
    ++steps;
    self.Suspend();
    ++steps;
  });
  std::thread([&] { f.fiber->Resume(); }).join();
  std::thread([&] { f.fiber->Resume(); }).join();
  CHECK(steps == 2);
}

TEST_CASE("fiber: one that never ran") {
  TestFiber f([](Fiber&) {});
}

}  // namespace
}  // namespace relayvm::vm

#include "vm/platform/address_space.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "vm/platform/process_mutex.h"

namespace relayvm::vm {
namespace {

constexpr size_t kPage = 4096;

bool DiesWhenWriting(char* p) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int fatal : {SIGSEGV, SIGBUS}) std::signal(fatal, SIG_DFL);
    *static_cast<volatile char*>(p) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

TEST_CASE("address space: pieces are apart, aligned, and zero when they are taken again") {
  struct Kind {
    size_t bytes, alignment;
  };
  for (const Kind kind : {Kind{kPage, kPage}, Kind{3 * kPage, kPage},
                          Kind{size_t{64} << 20, size_t{64} << 20}, Kind{size_t{3} << 30, kPage}}) {
    for (int round = 0; round < 3; ++round) {
      std::set<char*> pieces;
      for (int i = 0; i < 200; ++i) {
        char* piece = TakeAddresses(kind.bytes, kind.alignment, false);
        REQUIRE(piece != nullptr);
        CHECK(reinterpret_cast<uintptr_t>(piece) % kind.alignment == 0);
        CHECK(piece[0] == 0);
        CHECK(piece[kind.bytes - 1] == 0);
        piece[0] = piece[kind.bytes - 1] = 1;
        pieces.insert(piece);
      }
      REQUIRE(pieces.size() == 200);
      const char* end = nullptr;
      for (char* piece : pieces) {
        CHECK(piece >= end);
        end = piece + kind.bytes;
      }
      for (char* piece : pieces) GiveAddresses(piece, kind.bytes, kind.alignment, false);
    }
  }
}

TEST_CASE("address space: guards stay where pieces are taken again") {
  for (int round = 0; round < 2; ++round) {
    char* piece = TakeAddresses(4 * kPage, kPage, true);
    REQUIRE(piece != nullptr);
    piece[kPage] = 1;
    CHECK(DiesWhenWriting(piece + kPage - 1));
    CHECK(!DiesWhenWriting(piece + kPage));
    GiveAddresses(piece, 4 * kPage, kPage, true);
  }
}

TEST_CASE("address space: what cannot be had is null") {
  CHECK(TakeAddresses(size_t{1} << 60, kPage, true) == nullptr);
  CHECK(TakeAddresses(SIZE_MAX - kPage + 1, kPage, false) == nullptr);
}

TEST_CASE("address space: from several threads") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      std::vector<char*> mine;
      for (int i = 0; i < 2000; ++i) {
        if (i % 3 != 2) {
          char* piece = TakeAddresses(2 * kPage, kPage, true);
          std::memset(piece + kPage, i, kPage);
          mine.push_back(piece);
        } else {
          GiveAddresses(mine.back(), 2 * kPage, kPage, true);
          mine.pop_back();
        }
      }
      for (char* piece : mine) GiveAddresses(piece, 2 * kPage, kPage, true);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A native program gives a workspace back, and with it stacks and chunks, while it has the lock.
TEST_CASE("address space: whoever has the process's lock may take and give") {
  const std::lock_guard lock(ProcessMutex());
  char* piece = TakeAddresses(1 << 20, 1 << 20, /*guarded=*/true);
  REQUIRE(piece != nullptr);
  GiveAddresses(piece, 1 << 20, 1 << 20, /*guarded=*/true);
}

TEST_CASE("address space: a child of fork() may use it, whatever other threads did") {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) GiveAddresses(TakeAddresses(2 * kPage, kPage, true), 2 * kPage, kPage, true);
    });
  }
  int bad = 0;
  for (int i = 0; i < 100 && bad == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGALRM, SIG_DFL);
      alarm(20);
      char* piece = TakeAddresses(2 * kPage, kPage, true);
      _exit(piece != nullptr ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bad += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(bad == 0);
}

TEST_CASE("address space: a piece that comes and goes maps nothing; few slabs stay mapped") {
  const auto mapped_pages = [] {
    std::ifstream file("/proc/self/statm");
    size_t pages = 0;
    file >> pages;
    return pages;
  };
  char* first = TakeAddresses(6 * kPage, kPage, true);
  GiveAddresses(first, 6 * kPage, kPage, true);
  const size_t before = mapped_pages();
  for (int i = 0; i < 3; ++i) {
    char* piece = TakeAddresses(6 * kPage, kPage, true);
    CHECK(piece == first);
    CHECK(mapped_pages() == before);
    GiveAddresses(piece, 6 * kPage, kPage, true);
  }
  // Stacks of a thousand sizes, one after the other.
  for (size_t pages = 100; pages < 1100; ++pages)
    GiveAddresses(TakeAddresses(pages * kPage, kPage, true), pages * kPage, kPage, true);
  CHECK(mapped_pages() < before + 4 * 64 * 1100);
}

}  // namespace
}  // namespace relayvm::vm

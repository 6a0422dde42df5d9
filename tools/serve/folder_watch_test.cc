#include "tools/serve/folder_watch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temp_folder.h"

namespace relayvm::serve {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using relayvm::testing::TempFolder;

constexpr auto kLong = 20'000ms, kShort = 100ms;

TEST_CASE("files that are closed, renamed and removed are changes; one that is written is none") {
  TempFolder folder;
  fs::create_directories(folder / "r/m/1");
  FolderWatch watch;
  watch.Follow(folder / "r", {});
  CHECK(watch.num_folders() == 3);
  CHECK_FALSE(watch.Wait(kShort));
  {
    std::ofstream file(folder / "r/m/1/model.vmx");
    file << "half" << std::flush;
    CHECK_FALSE(watch.Wait(kShort));
  }
  CHECK(watch.Wait(kLong));
  CHECK_FALSE(watch.Wait(kShort));
  fs::rename(folder / "r/m/1/model.vmx", folder / "r/m/1/other.vmx");
  CHECK(watch.Wait(kLong));
  fs::create_symlink(folder / "r/m/1/other.vmx", folder / "r/m/1/model.vmx");
  CHECK(watch.Wait(kLong));
  fs::remove_all(folder / "r/m");
  CHECK(watch.Wait(kLong));
  CHECK(watch.num_folders() == 1);
}

TEST_CASE("folders that come are changes, and are followed from then on") {
  TempFolder folder;
  fs::create_directories(folder / "r");
  fs::create_directories(folder / "beside");
  FolderWatch watch;
  watch.Follow(folder / "r", {folder / "beside"});
  fs::create_directories(folder / "r/n/7");
  CHECK(watch.Wait(kLong));
  watch.Follow(folder / "r", {folder / "beside"});
  CHECK(watch.num_folders() == 4);
  std::ofstream(folder / "r/n/7/x") << "x";
  CHECK(watch.Wait(kLong));
  std::ofstream(folder / "beside/x") << "x";
  CHECK(watch.Wait(kLong));
}

TEST_CASE("many changes in a row are one, and watches have a bound") {
  TempFolder folder;
  for (int i = 0; i < 10; ++i) fs::create_directories(folder / ("r/m" + std::to_string(i) + "/1"));
  FolderWatch watch(5);
  watch.Follow(folder / "r", {});
  watch.Follow(folder / "r", {});
  CHECK(watch.num_folders() == 5);
  for (int i = 0; i < 100; ++i) std::ofstream(folder / ("r/f" + std::to_string(i))) << "x";
  CHECK(watch.Wait(kLong));
  CHECK_FALSE(watch.Wait(kShort));
}

TEST_CASE("it is woken from elsewhere") {
  TempFolder folder;
  FolderWatch watch;
  watch.Follow(folder / "", {"/no such folder"});
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    watch.Wake();
  });
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(watch.Wait(kLong));
  CHECK(std::chrono::steady_clock::now() - begin < kLong);
  other.join();
}

}  // namespace
}  // namespace relayvm::serve

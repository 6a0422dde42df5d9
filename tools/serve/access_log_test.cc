#include "tools/serve/access_log.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace relayvm::serve {
namespace {

EndedRequest Request() {
  EndedRequest request;
  request.method = "POST";
  request.path = "/v2/models/m/infer";
  request.model = "m";
  request.version = "1";
  request.code = 200;
  request.bytes_in = 120;
  request.bytes_out = 99;
  request.queued_ns = 1'200;
  request.run_ns = 250'300;
  request.begin = std::chrono::system_clock::time_point(
      std::chrono::microseconds(int64_t{1'769'860'800'000'001}));
  request.took = std::chrono::nanoseconds(312'100);
  request.trace = {0x0af7651916cd43dd, 0x8448eb211c80319c, 1, 0, true};
  return request;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Folder {
  std::string path = std::filesystem::temp_directory_path() / "relayvm_access_log_XXXXXX";
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
};

TEST_CASE("a request is a line") {
  std::string line;
  AppendAccessLine(Request(), &line);
  CHECK(line ==
        "{\"time\":\"2026-01-31T12:00:00.000001Z\",\"method\":\"POST\","
        "\"path\":\"/v2/models/m/infer\",\"model\":\"m\",\"version\":\"1\",\"code\":200,"
        "\"bytes_in\":120,\"bytes_out\":99,\"us\":312.1,\"queued_us\":1.2,\"run_us\":250.3,"
        "\"trace\":\"0af7651916cd43dd8448eb211c80319c\"}\n");
}

TEST_CASE("what strangers sent is escaped and cut: a line stays one") {
  EndedRequest request = Request();
  const std::string path = "/\n\"},\r\x1b[2J\x7f\xff\xc2\x9b<b>\\" + std::string(100'000, 'x');
  request.path = path;
  request.method = std::string_view("\0\n", 2);
  request.model = request.version = {};
  request.queued_ns = request.run_ns = -1;
  std::string line;
  AppendAccessLine(request, &line);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(line.size() < 1000);
  CHECK(line.find("xxx...\"") != std::string::npos);
  CHECK(line.find("model") == std::string::npos);
  CHECK(line.find("run_us") == std::string::npos);
  for (const char c : line) CHECK((c == '\n' || static_cast<unsigned char>(c) >= ' '));
  CHECK(line.find('\x7f') == std::string::npos);
  CHECK(line.find("\xc2\x9b") == std::string::npos);
}

TEST_CASE("lines are written in order, and to a new file after it was renamed") {
  const Folder folder;
  const std::string path = folder.path + "/log";
  Counter dropped;
  {
    auto log = AccessLog::Open({path, 1 << 20, std::chrono::milliseconds(5)}, dropped);
    REQUIRE(log.ok());
    (*log)->Write(Request());
    while (ReadAll(path).empty()) ::usleep(1000);
    std::filesystem::rename(path, path + ".1");
    (*log)->Reopen();
    EndedRequest second = Request();
    second.code = 404;
    (*log)->Write(second);
  }
  CHECK(ReadAll(path + ".1").find("\"code\":200") != std::string::npos);
  CHECK(ReadAll(path).find("\"code\":404") != std::string::npos);
  CHECK(dropped.value() == 0);
}

TEST_CASE("a full disk drops lines, counted") {
  if (!std::filesystem::exists("/dev/full")) return;
  Counter dropped;
  {
    auto log = AccessLog::Open({"/dev/full", 1 << 20, std::chrono::milliseconds(5)}, dropped);
    REQUIRE(log.ok());
    for (int i = 0; i < 10; ++i) (*log)->Write(Request());
  }
  CHECK(dropped.value() == 10);
}

TEST_CASE("a pipe that nobody reads holds up neither a request nor the end") {
  const Folder folder;
  const std::string path = folder.path + "/pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  Counter dropped;
  constexpr int kLines = 20'000;
  {
    auto log = AccessLog::Open({path, 64 << 10, std::chrono::milliseconds(5)}, dropped);
    REQUIRE(log.ok());
    for (int i = 0; i < kLines; ++i) (*log)->Write(Request());
  }
  std::string read;
  char bytes[4096];
  for (ssize_t n; (n = ::read(reader, bytes, sizeof bytes)) > 0;)
    read.append(bytes, static_cast<size_t>(n));
  ::close(reader);
  CHECK(dropped.value() > 0);
  const auto whole = static_cast<uint64_t>(std::count(read.begin(), read.end(), '\n'));
  CHECK(dropped.value() + whole == kLines);
}

TEST_CASE("a file that cannot be opened is an error") {
  Counter dropped;
  const auto log = AccessLog::Open({"/nowhere/at/all", 1 << 20}, dropped);
  REQUIRE(!log.ok());
  CHECK(log.status().message() == "/nowhere/at/all: No such file or directory");
}

}  // namespace
}  // namespace relayvm::serve

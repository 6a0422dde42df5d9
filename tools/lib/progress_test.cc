#include "tools/lib/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <memory>

namespace relayvm::tools {
namespace {

// What was written to a file, by any thread.
std::string TextOf(std::FILE* file) {
  std::string text(1 << 20, '\0');
  ssize_t size = ::pread(::fileno(file), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  return text;
}

// What is drawn while `body` runs, with the line's end.
template <typename Body>
std::string Drawn(std::chrono::milliseconds delay, const Body& body) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), std::fclose);
  REQUIRE(out != nullptr);
  {
    ProgressLine line("relayc",
                      {.out = out.get(), .delay = delay, .interval = std::chrono::milliseconds(1)});
    auto wait_for = [&](const std::string& text) {
      while (TextOf(out.get()).find(text) == std::string::npos) std::this_thread::yield();
    };
    body(line, wait_for);
  }
  return TextOf(out.get());
}

TEST_CASE("what takes long shows its latest state, and leaves nothing behind") {
  std::string drawn = Drawn(std::chrono::milliseconds(1), [](ProgressLine& line, auto wait_for) {
    line.SetPass("FuseOps");
    wait_for("\r\x1b[Krelayc: FuseOps");
    line.SetKernels(25, 50);
    wait_for("\r\x1b[Krelayc: kernels [============>           ] 25/50");
    line.SetKernels(50, 50);
    wait_for("[========================] 50/50");
  });
  CHECK(drawn.ends_with("\r\x1b[K"));
}

TEST_CASE("what is short shows nothing") {
  std::string drawn =
      Drawn(std::chrono::hours(1), [](ProgressLine& line, auto) { line.SetKernels(1, 2); });
  CHECK(drawn == "");
}

}  // namespace
}  // namespace relayvm::tools

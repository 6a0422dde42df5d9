// How much code typical kernels are: of the time to compile a program, nearly all goes into LLVM,
// some 30 microseconds for each instruction here. A kernel that grows beyond its row is to be worth
// it: a row may be raised with the measurement that shows so.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/shell.h"

namespace relayvm::tools {
namespace {

struct KernelSize {
  const char* kernel;
  int most;  // instructions in LLVM IR, after its passes, of the kernel and all that it calls
};

const KernelSize kSizes[] = {
    {"nn.dense[(n, 768), (3072, 768)]", 3429},
    {"nn.contrib_dense_pack[(n, 768), (192, 768, 16)]", 1400},
    {"nn.contrib_dense_pack[(128, 96), (6, 96, 16)]", 622},
    {"nn.batch_matmul[(n, 64, 64), (n, 64, 64)]", 706},
    {"nn.conv2d[(n, 256, 14, 14), (256, 256, 1, 1)]", 533},
    {"nn.conv2d[(1, 64, 56, 56), (64, 64, 3, 3); padding=[1, 1]]", 2925},
    {"nn.conv2d[(1, 64, 56, 56), (128, 64, 3, 3); strides=[2, 2], padding=[1, 1]]", 625},
    {"nn.conv2d[(1, 64, 56, 56), (64, 1, 3, 3); padding=[1, 1], groups=64, channels=64]", 500},
    {"nn.conv1d[(1, 128, w), (128, 128, 3); padding=[1, 1]]", 1254},
    {"nn.max_pool2d[(1, 64, 112, 112); pool_size=[3, 3], strides=[2, 2], padding=[1, 1]]", 168},
    {"nn.attention[(1, 12, n, 64), (1, 12, m, 64), (1, 12, m, 64)]", 4204},
    {"nn.attention[(1, 12, 128, 64), (1, 12, 128, 64), (1, 12, 128, 64)]", 1189},
    {"nn.softmax[(n, 128)]", 273},
    {"add[(n, m), (n, m)]", 213},
    {"add[(16, 256), (16, 256)]", 35},
    {"transpose[(16, 64, 128); axes=[0, 2, 1]]", 185},
};

TEST_CASE("kernels are no more code than they are known to need") {
  const Shell shell;
  for (const KernelSize& row : kSizes) {
    CAPTURE(row.kernel);
    const Outcome outcome = shell.Run(
        std::string("relayc -q --target x86-64-v3 --emit llvm -o - --kernel '") + row.kernel + "'");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    int instructions = 0;
    std::istringstream text(outcome.out);
    for (std::string line; std::getline(text, line);) instructions += line.starts_with("  ");
    CHECK(instructions > row.most / 2);  // a row that is no longer near is to be lowered
    CHECK(instructions <= row.most);
  }
}

// What moves whole registers, or goes to the stack, in loops that multiply and add vectors.
int MovesInLoops(const std::string& assembly) {
  std::istringstream text(assembly);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(line);
  }
  std::map<std::string, size_t> labels;
  int most = 0;
  for (size_t end = 0; end < lines.size(); ++end) {
    const std::string& line = lines[end];
    if (line.starts_with(".LBB")) labels[line.substr(0, line.find(':'))] = end;
    const size_t target = line.find(".LBB");
    if (!line.starts_with("\tj") || target == std::string::npos) continue;
    const auto loop = labels.find(line.substr(target));
    if (loop == labels.end()) continue;
    int moves = 0;
    bool multiplies = false, is_innermost = true;
    for (size_t i = loop->second; i < end; ++i) {
      multiplies = multiplies || lines[i].starts_with("\tvfmadd");
      is_innermost = is_innermost && (i == loop->second || !lines[i].starts_with("\tj"));
      const bool is_move =
          lines[i].starts_with("\tvmova") && lines[i].find('%') != std::string::npos;
      moves += is_move && (lines[i].find('(') == std::string::npos ||
                           lines[i].find("%rsp)") != std::string::npos);
    }
    if (multiplies && is_innermost) most = std::max(most, moves);
  }
  return most;
}

TEST_CASE("what tiles sum stays in its registers, whatever timing LLVM schedules for") {
  const Shell shell;
  for (const char* target : {"x86-64-v3", "x86-64-v4", "native"}) {
    for (const char* kernel :
         {"nn.conv2d[(1, 64, 56, 56), (256, 64, 1, 1)]",
          "nn.conv2d[(1, 256, 14, 14), (1024, 256, 1, 1)]",
          "nn.conv2d[(1, 3, 224, 224), (64, 3, 7, 7); strides=[2, 2], padding=[3, 3]]",
          "nn.contrib_dense_pack[(n, 768), (192, 768, 16)]",
          "nn.batch_matmul[(n, 64, 64), (n, 64, 64)]"}) {
      CAPTURE(target);
      CAPTURE(kernel);
      const Outcome outcome = shell.Run(std::string("relayc -q --target ") + target +
                                        " --emit asm -o - --kernel '" + kernel + "'");
      REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
      if (std::string_view(target) != "native")  // which may be older
        CHECK(outcome.out.find("\tvfmadd") != std::string::npos);
      CHECK(MovesInLoops(outcome.out) <= 3);
    }
  }
}

}  // namespace
}  // namespace relayvm::tools

#include "tools/values/profiler.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

TEST_CASE("kernels' times are added up, longest first") {
  Profiler profiler({.kernels = true, .events = true});
  profiler.OnKernel({0, "dense", 1000, 3000, 4});
  profiler.OnKernel({1, "add", 3000, 4000, 1});
  profiler.OnKernel({0, "dense", 5000, 6000, 4});
  CHECK(
      profiler.Json() ==
      R"([{"kernel": "dense", "calls": 2, "total_ms": 0.003, "longest_ms": 0.002}, {"kernel": "add", "calls": 1, "total_ms": 0.001, "longest_ms": 0.001}])");
  CHECK(profiler.Table(8000) ==
        "     calls     total ms      mean us    share  kernel\n"
        "         2        0.003        1.500    37.5%  dense\n"
        "         1        0.001        1.000    12.5%  add\n"
        "                  0.004                 50.0%  outside kernels\n");

  CHECK(profiler.PlacesJson() == "[]");

  Profiler conv({.kernels = true});
  conv.OnKernel({0, "fused_conv_relu_0", 0, 3000, 1});
  conv.OnKernel({1, "add_1", 0, 4000, 1});
  conv.OnKernel({2, "fused_conv_relu_12", 0, 2000, 1});
  CHECK(conv.Table(10000).find("share  operators, of all their kernels\n"
                               "         2        0.005        2.500    50.0%  fused_conv_relu\n"
                               "         1        0.004        4.000    40.0%  add\n") !=
        std::string::npos);
  CHECK(conv.OperatorsJson().starts_with(
      R"([{"operators": "fused_conv_relu", "calls": 2, "total_ms": 0.005, "longest_ms": 0.003})"));

  testing::TempFolder folder;
  REQUIRE(profiler.WriteChromeTrace(folder / "p.json").ok());
  std::ifstream in(folder / "p.json");
  nlohmann::json trace = nlohmann::json::parse(in);
  REQUIRE(trace["traceEvents"].size() == 5);  // after the names of the process and its thread
  CHECK(trace["traceEvents"][4]["name"] == "dense");
  CHECK(trace["traceEvents"][4]["ts"] == 4.0);
  CHECK(trace["traceEvents"][4]["dur"] == 1.0);
  CHECK(!profiler.WriteChromeTrace(folder / "no/p.json").ok());
}

}  // namespace
}  // namespace relayvm::tools

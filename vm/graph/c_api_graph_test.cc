#include "vm/graph/c_api_graph.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/temp_folder.h"
#include "vm/graph/format/graph_files.h"
#include "vm/graph/testing.h"

extern "C" {
const char* RunGraph(const char* folder, const void* params, size_t params_size);
const char* LimitGraph(const char* folder);
const char* MeasureGraph(const char* folder);
const char* CountGraph(const char* folder);
const char* RunGraphOnThreads(const char* folder);
const char* UseGraphWrongly(const char* folder);
}

namespace relayvm::graph {
namespace {

std::string Outcome(const char* failure) { return failure == nullptr ? "" : failure; }

// The small graph as a folder.
struct Folder {
  Folder() { REQUIRE(SaveGraph(testing::Small(), path).ok()); }
  relayvm::testing::TempFolder temp;
  std::string path = temp / "graph";
};

TEST_CASE("c api of graphs: inputs, weights, runs, outputs") {
  const Folder folder;
  const std::string file = folder.temp / "params";
  REQUIRE(WriteTvmParams(file, {{"w", testing::Floats({1, 2, 3, 4})}}).ok());
  const std::string bytes = testing::ReadAll(file);
  CHECK(Outcome(RunGraph(folder.path.c_str(), bytes.data(), bytes.size())) == "");
}

TEST_CASE("c api of graphs: times of nodes, and memory") {
  const Folder folder;
  CHECK(Outcome(MeasureGraph(folder.path.c_str())) == "");
  CHECK(Outcome(CountGraph(folder.path.c_str())) == "");
}

TEST_CASE("c api of graphs: limits of time and memory, cancellation") {
  const Folder folder;
  CHECK(Outcome(LimitGraph(folder.path.c_str())) == "");
}

TEST_CASE("c api of graphs: threads of the host") {
  const Folder folder;
  CHECK(Outcome(RunGraphOnThreads(folder.path.c_str())) == "");
}

TEST_CASE("c api of graphs: wrong use is refused") {
  const Folder folder;
  CHECK(Outcome(UseGraphWrongly(folder.path.c_str())) == "");
}

}  // namespace
}  // namespace relayvm::graph

// What a load test found: a table for people, CSV for programs, a picture. Pure functions. Tested
// by report_test.cc.
#pragma once

#include <string>
#include <vector>

#include "tools/serve/bench/load.h"

namespace relayvm::serve {

// A line for each rate: what was asked for and what was answered, percentiles in milliseconds,
// failures.
std::string LoadTable(const std::vector<LoadResult>& results);
std::string LoadCsv(const std::vector<LoadResult>& results);
// A line for each request, in milliseconds, the shortest of a rate first: inf for one that failed
// or was not sent.
std::string LoadLatencies(const std::vector<LoadResult>& results);

// Latencies (a logarithmic axis) by percentile, a line for each rate; and percentiles by the rate,
// where there are several. SVG without scripts and outside resources.
std::string LoadSvg(const std::string& title, const std::vector<LoadResult>& results);

}  // namespace relayvm::serve

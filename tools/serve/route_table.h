// The table of all paths that the REST server answers, with their methods, and the search in it.
// What openapi.json describes is held against it. Pure functions; thread-safe. Tested by
// openapi_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace relayvm::serve {

enum class RouteId : uint8_t {
  kPage,
  kOpenApi,
  kServer,
  kLive,
  kReady,
  kMetrics,
  kModels,
  kAllStats,
  kModel,
  kModelReady,
  kModelStats,
  kInfer,
  kGenerate,
  kGenerateStream,
  kGraph,
  kProfile,
  kIndex,
  kLoad,
  kUnload
};

struct RouteRow {
  RouteId id;
  std::string_view path;     // {model} and {version} stand for one part each
  std::string_view methods;  // as the header Allow has them
};

// The first that fits a path is its row: what is asked most stands first, and literal parts before
// parameters in their place.
inline constexpr RouteRow kRoutes[] = {
    {RouteId::kInfer, "/v2/models/{model}/infer", "POST"},
    {RouteId::kInfer, "/v2/models/{model}/versions/{version}/infer", "POST"},
    {RouteId::kGenerate, "/v2/models/{model}/generate", "POST"},
    {RouteId::kGenerate, "/v2/models/{model}/versions/{version}/generate", "POST"},
    {RouteId::kGenerateStream, "/v2/models/{model}/generate_stream", "POST"},
    {RouteId::kGenerateStream, "/v2/models/{model}/versions/{version}/generate_stream", "POST"},
    {RouteId::kModelReady, "/v2/models/{model}/ready", "GET, HEAD"},
    {RouteId::kModelReady, "/v2/models/{model}/versions/{version}/ready", "GET, HEAD"},
    {RouteId::kModelStats, "/v2/models/{model}/stats", "GET, HEAD"},
    {RouteId::kModelStats, "/v2/models/{model}/versions/{version}/stats", "GET, HEAD"},
    {RouteId::kGraph, "/v2/models/{model}/graph", "GET, HEAD"},
    {RouteId::kGraph, "/v2/models/{model}/versions/{version}/graph", "GET, HEAD"},
    {RouteId::kProfile, "/v2/models/{model}/profile", "GET, HEAD, POST"},
    {RouteId::kProfile, "/v2/models/{model}/versions/{version}/profile", "GET, HEAD, POST"},
    {RouteId::kAllStats, "/v2/models/stats", "GET, HEAD"},
    {RouteId::kModel, "/v2/models/{model}", "GET, HEAD"},
    {RouteId::kModel, "/v2/models/{model}/versions/{version}", "GET, HEAD"},
    {RouteId::kModels, "/v2/models", "GET, HEAD"},
    {RouteId::kLive, "/v2/health/live", "GET, HEAD"},
    {RouteId::kReady, "/v2/health/ready", "GET, HEAD"},
    {RouteId::kServer, "/v2", "GET, HEAD"},
    {RouteId::kIndex, "/v2/repository/index", "POST"},
    {RouteId::kLoad, "/v2/repository/models/{model}/load", "POST"},
    {RouteId::kUnload, "/v2/repository/models/{model}/unload", "POST"},
    {RouteId::kMetrics, "/metrics", "GET, HEAD"},
    {RouteId::kOpenApi, "/openapi.json", "GET, HEAD"},
    {RouteId::kPage, "/", "GET, HEAD"},
};

struct Route {
  const RouteRow* row = nullptr;
  std::string model, version;  // decoded; empty where the path has none

  RouteId id() const { return row->id; }
  bool Allows(std::string_view method) const;
};

// The row of a request's target: "/v2/models/m/infer?x=1". A slash at the end changes nothing.
// None: there is no such path, or what is behind a % is not two hexadecimal digits.
std::optional<Route> FindRoute(std::string_view target);

}  // namespace relayvm::serve

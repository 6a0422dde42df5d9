// openapi.json against the table of routes: neither has what the other has not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tools/serve/page_routes.h"
#include "tools/serve/route_table.h"

namespace relayvm::serve {
namespace {

using Json = nlohmann::json;

Json Description() {
  Json description = Json::parse(OpenApiSource(), nullptr, /*allow_exceptions=*/false);
  REQUIRE(description.is_object());
  return description;
}

// "POST /v2": methods of the table, but for HEAD, which goes with each GET.
std::set<std::string> Served() {
  std::set<std::string> served;
  for (const RouteRow& row : kRoutes) {
    for (const char* method : {"GET", "POST", "PUT", "DELETE"}) {
      if (Route{&row, "", ""}.Allows(method)) served.insert(method + (" " + std::string(row.path)));
    }
    CHECK(Route{&row, "", ""}.Allows("GET") == Route{&row, "", ""}.Allows("HEAD"));
  }
  return served;
}

void CheckReferences(const Json& all, const Json& part) {
  if (part.is_object() && part.contains("$ref")) {
    const std::string where = part["$ref"];
    CAPTURE(where);
    REQUIRE(where.starts_with("#/"));
    CHECK(all.contains(Json::json_pointer(where.substr(1))));
  }
  if (!part.is_structured()) return;
  for (const Json& child : part) CheckReferences(all, child);
}

TEST_CASE("each path that is served is described, and no other") {
  const Json description = Description();
  std::set<std::string> described;
  for (const auto& [path, item] : description["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
      described.insert(upper + " " + path);
    }
  }
  CHECK(described == Served());
}

TEST_CASE("operations have names of their own, parameters of their path, and answers") {
  const Json description = Description();
  CheckReferences(description, description);
  std::set<std::string> names;
  for (const auto& [path, item] : description["paths"].items()) {
    CAPTURE(path);
    for (const char* parameter : {"model", "version"}) {
      const Json reference = {{"$ref", "#/components/parameters/" + std::string(parameter)}};
      const bool is_declared =
          item.contains("parameters") &&
          std::ranges::find(item["parameters"], reference) != item["parameters"].end();
      CHECK(is_declared == (path.find("{" + std::string(parameter) + "}") != std::string::npos));
    }
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      CHECK(names.insert(operation["operationId"]).second);
      CHECK(operation["responses"].contains("200"));
      CHECK(operation["responses"].contains("405"));
      // What a page of another site makes a browser send is POST.
      CHECK(operation["responses"].contains("403") == (method == "post"));
    }
  }
}

TEST_CASE("a target's row, with what stands for its parameters") {
  struct Case {
    const char* target;
    RouteId id;
    const char *model, *version;
  };
  for (const Case& c : {Case{"/", RouteId::kPage, "", ""}, Case{"/?x=/y", RouteId::kPage, "", ""},
                        Case{"/v2/models/stats", RouteId::kAllStats, "", ""},
                        Case{"/v2/models/stats/stats", RouteId::kModelStats, "stats", ""},
                        Case{"/v2/models/a%2Fb/versions/3/infer/?x", RouteId::kInfer, "a/b", "3"},
                        Case{"/v2/models/versions/versions/versions/ready", RouteId::kModelReady,
                             "versions", "versions"},
                        Case{"/v2/repository/models//load", RouteId::kLoad, "", ""}}) {
    CAPTURE(c.target);
    const auto route = FindRoute(c.target);
    REQUIRE(route.has_value());
    CHECK(route->id() == c.id);
    CHECK(route->model == c.model);
    CHECK(route->version == c.version);
  }
  for (const char* none : {"", "*", "v2", "?", "//", "/v2/models/a/versions", "/v2/models/%4",
                           "/v2/models/a/versions/1/infer/x", "/a/b/c/d/e/f/g/h/i/j/k/l"})
    CHECK_MESSAGE(!FindRoute(none).has_value(), none);
}

}  // namespace
}  // namespace relayvm::serve

#include "tests/fuzz/serve_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/serve/http_body.h"
#include "tools/serve/protocol/json_reader.h"
#include "tools/serve/protocol/protocol.h"
#include "vm/api/relayvm.h"

namespace relayvm::fuzz {
namespace {

namespace http = boost::beast::http;
using namespace std::string_literals;

constexpr size_t kMemory = 64 << 20;

Status Internal(std::string message) { return {StatusCode::kInternal, std::move(message)}; }

bool Has(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

// What ours takes beyond JSON (numbers that Python writes, and 1.e5), or refuses though it is JSON.
bool AreExpectedToDiffer(const std::string& text, const Status& ours) {
  if (ours.ok()) {
    for (const char* word : {"NaN", "Infinity", ".e", ".E"}) {
      if (Has(text, word)) return true;
    }
    return std::any_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
  }
  return Has(ours.message(), "deeper") || Has(ours.message(), "out of range") ||
         text.starts_with("\xef\xbb\xbf");  // a byte order mark
}

constexpr const char* kRequest =
    R"({"id":"7","parameters":{"timeout":20000,"binary_data_output":true,"a":1.5,"b":"c"},)"
    R"("inputs":[{"name":"x","shape":[2,1],"datatype":"FP32","data":[[1],[-2.5e-3]]},)"
    R"({"data":["a","\u00e9\ud83d\ude00"],"name":"t","datatype":"BYTES","shape":[2]},)"
    R"({"name":"n","shape":[],"datatype":"INT64","data":9007199254740993}],)"
    R"("outputs":[{"name":"y","parameters":{"binary_data":false}}]})";
constexpr const char* kBinaryRequest =
    R"({"inputs":[{"name":"x","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}},)"
    R"({"name":"t","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":10}}]})";

// What requests of a connection come to, until one is refused: "POST /a body;".
std::string Parsed(std::string_view bytes, size_t piece, bool* is_refused) {
  serve::ByteBudget budget(kMemory);
  std::string result, buffer;
  std::optional<http::request_parser<serve::BoundedBody>> parser;
  const auto begin = [&] {
    parser.emplace();
    parser->eager(true);
    parser->header_limit(1024);
    parser->body_limit(4096);
    parser->get().body().budget = &budget;
    parser->get().body().limit = 4096;
  };
  begin();
  while (!bytes.empty()) {
    buffer += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (!buffer.empty()) {
      boost::beast::error_code error;
      const size_t used = parser->put(boost::asio::buffer(buffer), error);
      buffer.erase(0, used);
      *is_refused = error && error != http::error::need_more;
      if (*is_refused) return result;
      if (parser->is_done()) {
        const auto& request = parser->get();
        result += fmt::format("{} {} {};", std::string(request.method_string()),
                              std::string(request.target()), request.body().bytes);
        begin();
      } else if (used == 0) {
        break;
      }
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> JsonSeeds() {
  return {kRequest, R"([[[]],{"a":[{},null,true,false]},"\u0000\/\b",-0.5E+10,1e-5,0])",
          std::string(70, '[')};
}

Status ReadJson(const std::string& text) {
  serve::JsonReader reader(text);
  reader.Skip();
  reader.ExpectEnd();
  const bool theirs = nlohmann::json::accept(text);
  if (theirs != reader.ok() && !AreExpectedToDiffer(text, reader.status()))
    return Internal(theirs ? reader.status().message() : "taken for JSON");
  return reader.status();
}

std::vector<std::string> InferSeeds() {
  const std::string json = kBinaryRequest;
  const std::string size{static_cast<char>(json.size()), static_cast<char>(json.size() >> 8)};
  return {"\xff\xff"s + kRequest, size + json + std::string(8, '?') + "\2\0\0\0ab\0\0\0\0"s};
}

Status ReadInfer(const std::string& input) {
  static const std::shared_ptr<Runtime> runtime = *Runtime::Create({.memory_limit = kMemory});
  if (input.size() < 2) return {StatusCode::kInvalidInput, "too short"};
  const size_t size = static_cast<uint8_t>(input[0]) | static_cast<uint8_t>(input[1]) << 8;
  auto request =
      serve::ReadInferRequest(std::string_view(input).substr(2),
                              size == 0xffff ? std::nullopt : std::optional(size), *runtime);
  if (!request.ok()) return request.status();
  serve::InferResponse response{"m", "1", request->id, std::move(request->inputs)};
  const auto written = serve::WriteInferResponse(*request, std::move(response));
  if (!written.ok()) return written.status();
  std::string_view json = written->body;
  for (const auto& [name, value] : written->headers) {
    if (name == "Inference-Header-Content-Length") json = json.substr(0, std::stoul(value));
  }
  return nlohmann::json::accept(json) ? OkStatus() : Internal("an answer that is no JSON");
}

std::vector<std::string> HttpSeeds() {
  return {
      "\3POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
      "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
      "\1POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n1\r\nd\r\n0\r\n"
      "T: u\r\n\r\nHEAD / HTTP/1.0\r\n\r\n",
      "\7POST /z HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 26\r\n\r\n"
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\x4a\x4e\x49\x4d\x03\x00\xef\x39\x8e\x4b"
      "\x06\x00\x00\x00"s};
}

Status ReadHttp(const std::string& input) {
  if (input.empty()) return {StatusCode::kInvalidInput, "too short"};
  const std::string_view bytes = std::string_view(input).substr(1);
  bool is_refused = false, later = false;  // with more to see, damage is seen earlier
  const std::string whole = Parsed(bytes, SIZE_MAX, &is_refused);
  const size_t piece = static_cast<uint8_t>(input[0]) + size_t{1};
  const std::string pieces = Parsed(bytes, piece, &later);
  if (whole != pieces) return Internal(fmt::format("{:?} at once, {:?} in pieces", whole, pieces));
  return is_refused ? InvalidInput("no HTTP") : OkStatus();
}

}  // namespace relayvm::fuzz

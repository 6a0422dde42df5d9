// Requests that come together: joined by their rows where the configuration says that rows are
// independent, and each with its own response, whatever becomes of the others.
#include <doctest/doctest.h>

#include "tools/serve/triton/backend_testing.h"

namespace relayvm::triton {
namespace {

constexpr const char* kRows = "--shape x='(n, m)'";
constexpr const char* kDouble = "def @main(%x: Tensor[(?, ?), float32]) { add(%x, %x) }\n";

TRITONBACKEND_Request RequestOf(int64_t rows, int64_t columns, float first) {
  std::vector<float> x(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i);
  TRITONBACKEND_Request request;
  request.inputs = {Floats("x", {rows, columns}, x)};
  return request;
}

void CheckDouble(const TRITONBACKEND_Request& request, int64_t rows, int64_t columns, float first) {
  const HostTensor& y = OutputOf(request);
  CHECK(y.dims == std::vector<int64_t>{rows, columns});
  const std::vector<float> found = ElementsOf<float>(y.pieces[0]);
  REQUIRE(found.size() == static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == 2 * (first + static_cast<float>(i)));
}

TEST_CASE("rows are free where the configuration says max_batch_size, and it is completed") {
  Served served;
  served.Compile(kDouble, kRows);
  served.model.config["max_batch_size"] = 8;
  REQUIRE(served.Load().empty());
  CHECK(served.model.config["input"][0]["dims"] == Json::parse("[-1]"));
  CHECK(served.model.config["output"][0]["dims"] == Json::parse("[-1]"));
  CHECK(served.model.config.contains("dynamic_batching"));
}

TEST_CASE("requests of the same shape run as one, up to max_batch_size rows") {
  Served served;
  served.Compile(kDouble, kRows);
  served.model.config["max_batch_size"] = 4;
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request a = RequestOf(1, 3, 1), b = RequestOf(2, 3, 50), c = RequestOf(1, 2, 9),
                        d = RequestOf(2, 3, 70), e = RequestOf(0, 3, 0), f = RequestOf(1, 3, 7);
  served.Execute({&a, &b, &c, &d, &e, &f});
  CheckDouble(a, 1, 3, 1);
  CheckDouble(b, 2, 3, 50);
  CheckDouble(c, 1, 2, 9);
  CheckDouble(d, 2, 3, 70);
  CheckDouble(e, 0, 3, 0);
  CheckDouble(f, 1, 3, 7);
  // a, b, e and f; c; d.
  CHECK(served.instance().statistics.batches == std::vector<uint64_t>{4, 1, 2});
}

TEST_CASE("without max_batch_size each runs by itself") {
  Served served;
  served.Compile(kDouble, kRows);
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request a = RequestOf(1, 3, 1), b = RequestOf(2, 3, 50);
  served.Execute({&a, &b});
  CheckDouble(a, 1, 3, 1);
  CheckDouble(b, 2, 3, 50);
  CHECK(served.instance().statistics.batches == std::vector<uint64_t>{1, 1});
}

TEST_CASE("a request that is wrong is not in the batch of the others") {
  Served served;
  served.Compile(kDouble, kRows);
  served.model.config["max_batch_size"] = 8;
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request a = RequestOf(1, 3, 1), wrong = RequestOf(1, 3, 1), b = RequestOf(1, 3, 5);
  wrong.inputs[0].tensor.pieces[0].pop_back();
  served.Execute({&a, &wrong, &b});
  CheckDouble(a, 1, 3, 1);
  CheckDouble(b, 1, 3, 5);
  CHECK(ErrorOf(wrong).find("11 bytes") != std::string::npos);
  CHECK(served.instance().statistics.batches == std::vector<uint64_t>{2});
}

TEST_CASE("where a batch fails, who has not caused it is answered") {
  Served served;
  served.Compile(
      "def @main(%x: Tensor[(?, 2), float32], %i: Tensor[(?, 1), int64], "
      "%u: Tensor[(?, 1), float32]) { scatter_elements(%x, %i, %u, axis=1) }\n",
      "--shape x='(n, 2)' --shape i='(n, 1)' --shape u='(n, 1)'");
  served.model.config["max_batch_size"] = 8;
  REQUIRE(served.Load().empty());
  std::vector<TRITONBACKEND_Request> requests(3);
  std::vector<TRITONBACKEND_Request*> together;
  for (size_t r = 0; r < requests.size(); ++r) {
    const int64_t index = r == 1 ? 1000 : 1;
    requests[r].inputs = {Floats("x", {1, 2}, {1, 2}),
                          {{"i", TRITONSERVER_TYPE_INT64, {1, 1}, {BytesOf<int64_t>({index})}}},
                          Floats("u", {1, 1}, {static_cast<float>(r)})};
    together.push_back(&requests[r]);
  }
  served.Execute(together);
  CHECK(ElementsOf<float>(OutputOf(requests[0]).pieces[0]) == std::vector<float>{1, 0});
  CHECK(ErrorOf(requests[1]).find("1000") != std::string::npos);
  CHECK(requests[1].answers[0].code == TRITONSERVER_ERROR_INVALID_ARG);
  CHECK(ElementsOf<float>(OutputOf(requests[2]).pieces[0]) == std::vector<float>{1, 2});
  CHECK(served.instance().statistics.requests == std::vector<bool>{true, false, true});
}

TEST_CASE("each request has the outputs that it asks for") {
  Served served;
  served.Compile("def @main(%x: Tensor[(?, ?), float32]) { (add(%x, %x), negative(%x)) }\n", kRows);
  served.model.config["max_batch_size"] = 8;
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request a = RequestOf(1, 1, 3), b = RequestOf(1, 1, 5);
  a.outputs = {"output_1"};
  served.Execute({&a, &b});
  REQUIRE(a.answers[0].outputs.size() == 1);
  CHECK(OutputOf(a).name == "output_1");
  CHECK(ElementsOf<float>(OutputOf(a).pieces[0]) == std::vector<float>{-3});
  CHECK(b.answers[0].outputs.size() == 2);
  CHECK(ElementsOf<float>(OutputOf(b, 1).pieces[0]) == std::vector<float>{-5});
  CHECK(served.instance().statistics.batches == std::vector<uint64_t>{2});
}

TEST_CASE("rows that are not free are no batch") {
  const auto message = [](const char* text, const char* options) {
    Served served;
    served.Compile(text, options);
    served.model.config["max_batch_size"] = 8;
    return served.Load();
  };
  CHECK(message("def @main(%x: Tensor[(3, 2), float32]) { negative(%x) }\n", "") ==
        "max_batch_size: input x: Tensor[(3, 2), float32] has 3 rows");
  CHECK(message("def @main(%x: Tensor[(?, 2), float32]) { sum(%x) }\n", "--shape x='(n, 2)'")
            .find("is a scalar") != std::string::npos);
  CHECK(
      message("def @main(%x: Tensor[(?, 2), float32]) { nn.dense(%x, %x) }\n", "--shape x='(n, 2)'")
          .find("depends on the number of rows") != std::string::npos);
  CHECK(message("def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) "
                "{ (negative(%x), negative(%y)) }\n",
                "--shape x='(n, 2)' --shape y='(m, 2)'")
            .find("has m rows, not n") != std::string::npos);
}

TEST_CASE("inputs of a request have the same rows") {
  Served served;
  served.Compile(
      "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), float32]) { add(%x, %y) }\n",
      "--shape x='(n, 2)' --shape y='(n, 2)'");
  served.model.config["max_batch_size"] = 8;
  REQUIRE(served.Load().empty());
  TRITONBACKEND_Request a;
  a.inputs = {Floats("x", {1, 2}, {1, 2}), Floats("y", {2, 2}, {1, 2, 3, 4})};
  served.Execute({&a});
  CHECK(ErrorOf(a) == "input y: expected 1 rows, as the inputs before it have, found 2");
}

}  // namespace
}  // namespace relayvm::triton

// Cells of recurrent networks against plain loops: gates in each order, biases that are there or
// not, weights of data and state in one matrix, open batches.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "vm/engines/dnnl/dnnl_testing.h"

namespace relayvm::onednn_testing {
namespace {

constexpr int64_t kFeatures = 5, kHidden = 12;

float Sigmoid(float v) { return 1.0F / (1.0F + std::exp(-v)); }

// x w^T + b, of w [units, features] from column `first` on.
Tensor Product(const Tensor& x, const Tensor& w, int64_t first = 0) {
  const int64_t depth = x.dims.back(), units = w.dims[0], rows = Count(x.dims) / depth;
  Tensor y{{rows, units}, {}};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t u = 0; u < units; ++u) {
      double sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += static_cast<double>(x.data[static_cast<size_t>(r * depth + k)]) *
               w.data[static_cast<size_t>(u * w.dims[1] + first + k)];
      }
      y.data.push_back(static_cast<float>(sum));
    }
  }
  return y;
}
Tensor Plus(const Tensor& a, const Tensor& b) {
  return Broadcast2(a, b, [](float x, float y) { return x + y; });
}
Tensor Times(const Tensor& a, const Tensor& b) {
  return Broadcast2(a, b, [](float x, float y) { return x * y; });
}
Tensor OneLess(const Tensor& a) {
  return Map(a, [](float v) { return 1.0F - v; });
}
// Part `field` of the columns, of kHidden each.
Tensor Field(const Tensor& t, int64_t field) {
  Tensor part{{t.dims[0], kHidden}, {}};
  for (int64_t r = 0; r < t.dims[0]; ++r) {
    const auto at = t.data.begin() + r * t.dims[1] + field * kHidden;
    part.data.insert(part.data.end(), at, at + kHidden);
  }
  return part;
}
Tensor Tanh(const Tensor& t) {
  return Map(t, [](float v) { return std::tanh(v); });
}
Tensor Gate(const Tensor& t) { return Map(t, Sigmoid); }

// A region of one cell over a batch that is open, with constants by their names.
struct Cell {
  std::string op;
  std::vector<std::pair<std::string, Tensor>> constants;
  Net::Attributes numbers;
  bool is_lstm = false, is_turn = false;  // x is (1, rows, features)

  Net Build() const {
    Net net;
    const Shape state = {"n", kHidden};
    const Shape data = is_turn ? Shape{1, "n", kFeatures} : Shape{"n", kFeatures};
    std::vector<From> inputs = {net.Input(data), net.Input(state)};
    Net::Attributes attributes = numbers;
    std::vector<std::string> names = {"x", "h"};
    if (is_lstm) {
      inputs.emplace_back(net.Input(state));
      names.emplace_back("c");
    }
    for (const auto& [name, value] : constants) {
      inputs.emplace_back(net.Const(value));
      names.push_back(name);
    }
    attributes["operands"] = names;
    const int node = net.Kernel(op, inputs, state, attributes, {}, DType::kFloat32,
                                is_lstm ? std::vector<Shape>{state} : std::vector<Shape>{});
    net.Head(node);
    if (is_lstm) net.Head({node, 1});
    return net;
  }
};
using CellFn = std::function<std::vector<Tensor>(const Tensor&, const Tensor&, const Tensor&)>;

// At several numbers of rows, of one region: its first plan's weights, and others'.
void CheckCell(const Cell& cell, const CellFn& expected) {
  const TestRegion region(cell.Build());
  for (const int64_t rows : {3, 1, 0, 17, 3}) {
    CAPTURE(cell.op);
    CAPTURE(rows);
    Tensor x = Random({rows, kFeatures}, 1);
    const Tensor h = Random({rows, kHidden}, 2), c = Random({rows, kHidden}, 3);
    const std::vector<Tensor> want = expected(x, h, c);
    if (cell.is_turn) x.dims = {1, rows, kFeatures};
    std::vector<Tensor> inputs = {x, h};
    if (cell.is_lstm) inputs.push_back(c);
    const std::vector<Tensor> found = region.Run({rows}, inputs, rows == 17 ? 2 : 1);
    REQUIRE(found.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i) CheckClose(found[i], want[i], 1e-5);
  }
}

// --- lstm_cell ---

// Which gate stands where.
struct LstmOrder {
  int input, forget, next, output;
  Net::Attributes Numbers() const {
    return {{"input", {std::to_string(input)}},
            {"forget", {std::to_string(forget)}},
            {"new", {std::to_string(next)}},
            {"output", {std::to_string(output)}}};
  }
};
std::vector<Tensor> LstmOf(const Tensor& gates, const LstmOrder& at, const Tensor& c) {
  const Tensor memory = Plus(Times(Gate(Field(gates, at.forget)), c),
                             Times(Gate(Field(gates, at.input)), Tanh(Field(gates, at.next))));
  return {Times(Gate(Field(gates, at.output)), Tanh(memory)), memory};
}

TEST_CASE("lstm_cell, with gates in any order and with any biases") {
  if (Provider() == nullptr) return;
  std::vector<int> order = {0, 1, 2, 3};
  const Tensor w = Random({4 * kHidden, kFeatures}, 4), r = Random({4 * kHidden, kHidden}, 5);
  size_t number = 0;
  do {
    const LstmOrder at = {order[0], order[1], order[2], order[3]};
    Cell cell{"lstm_cell", {{"w", w}, {"r", r}}, at.Numbers(), true};
    Tensor sum{{4 * kHidden}, std::vector<float>(4 * kHidden, 0.0F)};
    const std::vector<std::string> biases = {"b", "bh", "bs", "bt"};
    for (size_t i = 0; i < biases.size(); ++i) {
      if (((number >> i) & 1U) == 0) continue;
      Tensor bias = Random({4 * kHidden}, static_cast<uint32_t>(6 + i));
      sum = Plus(sum, bias);
      if (i % 2 != 0) bias.dims = {1, 4 * kHidden};
      cell.constants.emplace_back(biases[i], bias);
    }
    cell.is_turn = number % 3 == 0;
    CheckCell(cell, [&](const Tensor& x, const Tensor& h, const Tensor& c) {
      return LstmOf(Plus(Plus(Product(x, w), Product(h, r)), sum), at, c);
    });
    ++number;
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(number == 24);
}

TEST_CASE("lstm_cell with one matrix for data and state") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({4 * kHidden, kFeatures + kHidden}, 4);
  const LstmOrder at = {2, 0, 1, 3};
  CheckCell({"lstm_cell", {{"w", w}}, at.Numbers(), true},
            [&](const Tensor& x, const Tensor& h, const Tensor& c) {
              return LstmOf(Plus(Product(x, w), Product(h, w, kFeatures)), at, c);
            });
}

TEST_CASE("cells one after the other hand their states on inside of a region") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({4 * kHidden, kFeatures}, 4), r = Random({4 * kHidden, kHidden}, 5);
  const LstmOrder at = {0, 1, 2, 3};
  Net net;
  const Shape state = {"n", kHidden};
  const int x = net.Input({"n", kFeatures}), wc = net.Const(w), rc = net.Const(r);
  From h = net.Input(state), c = net.Input(state);
  Net::Attributes attributes = at.Numbers();
  attributes["operands"] = {"x", "h", "c", "w", "r"};
  for (int i = 0; i < 3; ++i) {
    const int node =
        net.Kernel("lstm_cell", {x, h, c, wc, rc}, state, attributes, {}, DType::kFloat32, {state});
    h = node;
    c = {node, 1};
  }
  // The last cell's memory is read by nothing but a function.
  net.Head(net.Kernel("add", {h, net.Kernel("tanh", {c}, state)}, state));
  const TestRegion region(net);
  const Tensor data = Random({4, kFeatures}, 1);
  std::vector<Tensor> states = {Random({4, kHidden}, 2), Random({4, kHidden}, 3)};
  const std::vector<Tensor> found = region.Run({4}, {data, states[0], states[1]});
  for (int i = 0; i < 3; ++i)
    states = LstmOf(Plus(Product(data, w), Product(states[0], r)), at, states[1]);
  CheckClose(found[0], Plus(states[0], Tanh(states[1])), 1e-5);
}

// --- gru_cell, lbr_gru_cell ---

Tensor Mixed(const Tensor& z, const Tensor& old, const Tensor& next, bool is_negated) {
  return is_negated ? Plus(Times(z, next), Times(OneLess(z), old))
                    : Plus(Times(z, old), Times(OneLess(z), next));
}
Net::Attributes GruNumbers(const std::vector<int>& order) {
  return {{"update", {std::to_string(order[0])}},
          {"reset", {std::to_string(order[1])}},
          {"new", {std::to_string(order[2])}}};
}

TEST_CASE("lbr_gru_cell: the reset comes behind the product with the state") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({3 * kHidden, kFeatures}, 4), r = Random({3 * kHidden, kHidden}, 5),
               b = Random({3 * kHidden}, 6), bh = Random({3 * kHidden}, 7);
  std::vector<int> order = {0, 1, 2};
  do {
    for (const int form : {0, 1, 2, 3, 4}) {
      const bool is_negated = form == 4;
      Cell cell{is_negated ? "lbr_gru_cell_negated" : "lbr_gru_cell",
                {{"w", w}, {"r", r}},
                GruNumbers(order)};
      if ((form & 1) != 0 || is_negated) cell.constants.emplace_back("b", b);
      if ((form & 2) != 0 || is_negated) cell.constants.emplace_back("bh", bh);
      CheckCell(cell, [&](const Tensor& x, const Tensor& h, const Tensor&) -> std::vector<Tensor> {
        Tensor in = Product(x, w), own = Product(h, r);
        if ((form & 1) != 0 || is_negated) in = Plus(in, b);
        if ((form & 2) != 0 || is_negated) own = Plus(own, bh);
        const Tensor z = Gate(Plus(Field(in, order[0]), Field(own, order[0])));
        const Tensor reset = Gate(Plus(Field(in, order[1]), Field(own, order[1])));
        const Tensor next = Tanh(Plus(Field(in, order[2]), Times(reset, Field(own, order[2]))));
        return {Mixed(z, h, next, is_negated)};
      });
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("gru_cell: the reset comes before it, with one matrix for two gates or for each") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({3 * kHidden, kFeatures}, 4), b = Random({3 * kHidden}, 6),
               bh = Random({2 * kHidden}, 7), r = Random({2 * kHidden, kHidden}, 5),
               ru = Random({kHidden, kHidden}, 8), rr = Random({kHidden, kHidden}, 9),
               rn = Random({kHidden, kHidden}, 10);
  const auto vector = [](uint32_t seed) { return Random({kHidden}, seed); };
  std::vector<int> order = {0, 1, 2};
  do {
    for (const bool is_negated : {false, true}) {
      for (const bool is_apart : {false, true}) {
        Cell cell{is_negated ? "gru_cell_negated" : "gru_cell",
                  {{"w", w}, {"b", b}, {"rn", rn}, {"bn", vector(11)}},
                  GruNumbers(order)};
        const int own_update = order[0] == 0 ? 1 : 0;
        if (is_apart) {
          for (const auto& [name, value] : {std::pair("ru", ru),
                                            {"rr", rr},
                                            {"bu", vector(12)},
                                            {"but", vector(13)},
                                            {"br", vector(14)},
                                            {"brt", vector(15)},
                                            {"bnt", vector(16)}})
            cell.constants.emplace_back(name, value);
        } else {
          cell.constants.emplace_back("r", r);
          cell.constants.emplace_back("bh", bh);
          cell.numbers["own_update"] = {std::to_string(own_update)};
          cell.numbers["own_reset"] = {std::to_string(1 - own_update)};
        }
        CheckCell(cell,
                  [&](const Tensor& x, const Tensor& h, const Tensor&) -> std::vector<Tensor> {
                    const Tensor in = Plus(Product(x, w), b);
                    const Tensor both = Plus(Product(h, r), bh);
                    const Tensor u = is_apart ? Plus(Plus(Product(h, ru), vector(12)), vector(13))
                                              : Field(both, own_update);
                    const Tensor t = is_apart ? Plus(Plus(Product(h, rr), vector(14)), vector(15))
                                              : Field(both, 1 - own_update);
                    const Tensor z = Gate(Plus(Field(in, order[0]), u));
                    const Tensor reset = Gate(Plus(Field(in, order[1]), t));
                    Tensor own = Plus(Product(Times(reset, h), rn), vector(11));
                    if (is_apart) own = Plus(own, vector(16));
                    return {Mixed(z, h, Tanh(Plus(Field(in, order[2]), own)), is_negated)};
                  });
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// --- rnn_tanh_cell, rnn_relu_cell ---

TEST_CASE("plain cells") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({kHidden, kFeatures}, 4), r = Random({kHidden, kHidden}, 5),
               b = Random({kHidden}, 6), bh = Random({kHidden}, 7);
  for (const bool is_relu : {false, true}) {
    CheckCell(
        {is_relu ? "rnn_relu_cell" : "rnn_tanh_cell", {{"w", w}, {"r", r}, {"b", b}, {"bh", bh}}},
        [&](const Tensor& x, const Tensor& h, const Tensor&) -> std::vector<Tensor> {
          const Tensor y = Plus(Plus(Product(x, w), b), Plus(Product(h, r), bh));
          return {is_relu ? Map(y, [](float v) { return std::max(v, 0.0F); }) : Tanh(y)};
        });
  }
}

TEST_CASE("threads share a region and its weights") {
  if (Provider() == nullptr) return;
  const Tensor w = Random({4 * kHidden, kFeatures}, 4), r = Random({4 * kHidden, kHidden}, 5);
  const LstmOrder at = {1, 0, 3, 2};
  const Cell cell{"lstm_cell", {{"w", w}, {"r", r}}, at.Numbers(), true};
  const TestRegion region(cell.Build());
  std::vector<std::vector<Tensor>> found(4);
  const auto inputs = [](int64_t rows) {
    return std::vector<Tensor>{Random({rows, kFeatures}, 1), Random({rows, kHidden}, 2),
                               Random({rows, kHidden}, 3)};
  };
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 5; ++n)
        found[static_cast<size_t>(i)] = region.Run({i + 1}, inputs(i + 1));
    });
  }
  for (std::thread& t : threads) t.join();
  for (int64_t i = 0; i < 4; ++i) {
    const std::vector<Tensor> in = inputs(i + 1);
    const auto want = LstmOf(Plus(Product(in[0], w), Product(in[1], r)), at, in[2]);
    for (size_t k = 0; k < 2; ++k) CheckClose(found[static_cast<size_t>(i)][k], want[k], 1e-5);
  }
}

TEST_CASE("cells that are none are refused with what is wrong") {
  if (Provider() == nullptr) return;
  const LstmOrder at = {0, 1, 2, 3};
  const Tensor w = Random({4 * kHidden, kFeatures}, 4), r = Random({4 * kHidden, kHidden}, 5);
  const Cell good{"lstm_cell", {{"w", w}, {"r", r}}, at.Numbers(), true};
  const auto refusal = [&](const std::function<void(Cell&)>& change) {
    Cell cell = good;
    change(cell);
    return Refusal(cell.Build());
  };
  CHECK(refusal([](Cell& c) { c.numbers["new"] = {"1"}; }) ==
        "2: dnnl.lstm_cell: new is gate 1 of 4");
  CHECK(refusal([](Cell& c) { c.numbers["output"] = {"4"}; }) ==
        "2: dnnl.lstm_cell: output is gate 4 of 4");
  CHECK(refusal([](Cell& c) { c.numbers.erase("forget"); }) ==
        "2: dnnl.lstm_cell: forget is gate -1 of 4");
  CHECK(refusal([](Cell& c) { c.is_lstm = false; }) == "2: dnnl.lstm_cell: 1 results of lstm_cell");
  CHECK(refusal([](Cell& c) { c.op = "rnn_tanh_cell"; }) ==
        "2: dnnl.rnn_tanh_cell: 2 results of rnn_tanh_cell");
  CHECK(refusal([](Cell& c) { c.constants.erase(c.constants.begin()); }) ==
        "2: dnnl.lstm_cell: there is no operand w");
  CHECK(refusal([](Cell& c) { c.constants[1].first = "peephole"; }) ==
        "1: dnnl.lstm_cell: data without features");
  CHECK(refusal([](Cell& c) { c.constants.emplace_back("q", Random({4 * kHidden}, 1)); }) ==
        "2: dnnl.lstm_cell: lstm_cell has no operand q");
  CHECK(refusal([](Cell& c) { c.constants.emplace_back("b", Random({3 * kHidden}, 1)); }) ==
        "2: dnnl.lstm_cell: operand b is no vector of 4 gates of 12");
  CHECK(refusal([](Cell& c) { c.constants[0].second = Random({kHidden, kFeatures}, 1); }) ==
        "2: dnnl.lstm_cell: operand w has 12 rows, expected those of 4 gates of 12");
  CHECK(refusal([](Cell& c) { c.constants[1].second = Random({4 * kHidden, 7}, 1); }) ==
        "2: dnnl.lstm_cell: operand r has 7 columns for a state of 12");
  Net large;
  const Shape wide = {"n", int64_t{1} << 62};
  large.Head(large.Kernel("rnn_tanh_cell", {large.Input(wide), large.Input(wide), large.Const(w)},
                          wide, {{"operands", {"x", "h", "w"}}}));
  CHECK(Refusal(large) == "2: dnnl.rnn_tanh_cell: a state of 4611686018427387904");
  // Weights that a run brings.
  Net net;
  const Shape state = {"n", kHidden};
  Net::Attributes attributes = at.Numbers();
  attributes["operands"] = {"x", "h", "c", "w", "r"};
  const std::vector<From> inputs = {net.Input({"n", kFeatures}), net.Input(state), net.Input(state),
                                    net.Input({4 * kHidden, kFeatures}), net.Const(r)};
  net.Head(net.Kernel("lstm_cell", inputs, state, attributes, {}, DType::kFloat32, {state}));
  CHECK(Refusal(net) == "1: dnnl.lstm_cell: operand w is no constant");
  // Sizes that do not fit are found when they are known.
  const TestRegion region(good.Build());
  int32_t status = 0;
  std::string message;
  Net odd;
  const int x = odd.Input({"m", kFeatures}), h = odd.Input(state), c = odd.Input(state);
  odd.Head(odd.Kernel("lstm_cell", {x, h, c, odd.Const(w), odd.Const(r)}, state, attributes, {},
                      DType::kFloat32, {state}));
  const TestRegion open(odd);
  open.Run({2, 3}, {Random({2, kFeatures}, 1), Random({3, kHidden}, 2), Random({3, kHidden}, 3)}, 1,
           &status, &message);
  CHECK(message == "dnnl.lstm_cell: the extents of data, state and weights do not fit");
}

}  // namespace
}  // namespace relayvm::onednn_testing

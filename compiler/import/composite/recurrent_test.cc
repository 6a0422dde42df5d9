#include "compiler/import/composite/recurrent.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

constexpr int64_t kTime = 3, kBatch = 2, kWidth = 2, kHidden = 3;

std::vector<RecurrentActivation> Activations(std::initializer_list<const char*> names) {
  std::vector<RecurrentActivation> out;
  for (const char* name : names) out.push_back({FindActivation(name)});
  return out;
}

// A direction whose weights are ramps of these steps.
RecurrentDirection Ramps(Graph& g, const RecurrentSpec& spec, std::vector<int64_t> steps,
                         int64_t size = kHidden) {
  const auto rows = static_cast<int64_t>(spec.gates.size()) * kHidden;
  RecurrentDirection d;
  d.input.w = g.Ramp({rows, kWidth}, steps[0], 16);
  d.recurrent.w = g.Ramp({rows, size}, steps[1], 16);
  if (steps.size() > 2) d.bias = g.Ramp({rows}, steps[2], 16);
  if (steps.size() > 3) d.recurrent_bias = g.Ramp({rows}, steps[3], 16);
  return d;
}

RecurrentSpec Lstm(Graph& g, bool open) {
  RecurrentSpec spec{.cell = RecurrentCell::kLstm, .gates = "ifco", .hidden = kHidden, .x = {}};
  const std::vector<int64_t> shape = {kTime, kBatch, kWidth};
  spec.x = open ? g.InputRamp(shape) : g.Ramp(shape);
  spec.directions = {Ramps(g, spec, {37, 41, 43, 47}), Ramps(g, spec, {53, 59, 61, 67})};
  for (RecurrentDirection& d : spec.directions)
    d.activations = Activations({"Sigmoid", "tanh", "tanh"});
  spec.directions[1].backward = true;
  return spec;
}

TEST_CASE("an LSTM in both directions, its gates in PyTorch's order") {
  for (const bool open : {false, true}) {
    CAPTURE(open);
    for (const int part : {0, 1, 2}) {
      Graph g;
      const auto r = Recurrent(g.b, Lstm(g, open));
      REQUIRE(r.size() == 2);
      CheckNear(
          g.Run(part == 0   ? r[0].y
                : part == 1 ? r[1].y
                            : r[1].c),
          part == 0
              ? std::vector<double>{0.30596, 0.113726, -0.0269438, 0.265476, 0.0133321, -0.0148678,
                                    0.267871, 0.0699991, -0.0813001, 0.161552, 0.165849, 0.0740977,
                                    0.161145, 0.189464, 0.100117, 0.328603, 0.269127, 0.0299883}
          : part == 1
              ? std::vector<double>{0.193814, 0.041316, 0.173986, 0.288009, -0.00479018, 0.144529,
                                    0.133618, -0.0326285, 0.129803, 0.171379, -0.127551, 0.257989,
                                    0.130191, -0.152498, 0.146422, 0.116771, 0.0487553, 0.168767}
              : std::vector<double>{0.308807, 0.167291, 0.328484, 0.422636, -0.0134662, 0.32647});
    }
  }
}

TEST_CASE("sequences end at their own lengths, and backward begin there") {
  for (const int part : {0, 1, 2, 3}) {
    Graph g;
    RecurrentSpec spec = Lstm(g, part % 2 == 0);
    spec.lengths.emplace(g.b, g.b.Ints({3, 1}), "lengths");
    const auto r = Recurrent(g.b, spec);
    REQUIRE(r.size() == 2);
    CheckNear(
        g.Run(part == 0   ? r[0].y
              : part == 1 ? r[1].y
              : part == 2 ? r[0].h
                          : r[1].c),
        part == 0   ? std::vector<double>{0.30596, 0.113726, -0.0269438, 0.265476, 0.0133321,
                                          -0.0148678, 0.267871, 0.0699991, -0.0813001, 0, 0, 0,
                                          0.161145, 0.189464, 0.100117, 0, 0, 0}
        : part == 1 ? std::vector<double>{0.193814, 0.041316, 0.173986, 0.0814784, 0.042382,
                                          0.155752, 0.133618, -0.0326285, 0.129803, 0, 0, 0,
                                          0.130191, -0.152498, 0.146422, 0, 0, 0}
        : part == 2
            ? std::vector<double>{0.161145, 0.189464, 0.100117, 0.265476, 0.0133321, -0.0148678}
            : std::vector<double>{0.308807, 0.167291, 0.328484, 0.122103, 0.128702, 0.315617});
  }
}

TEST_CASE("a length beyond the time is an error that says so") {
  Graph g;
  RecurrentSpec spec = Lstm(g, false);
  spec.lengths.emplace(g.b, g.b.Ints({4, 1}), "lengths 'n'");
  CHECK(Recurrent(g.b, spec).empty());
  CHECK(g.b.status().message().find("lengths 'n': 4, expected 0 to 3") != std::string::npos);
}

TEST_CASE("GRUs: reset after the product, its gates in PyTorch's order; and before") {
  for (const bool after : {true, false}) {
    Graph g;
    RecurrentSpec spec{
        .cell = RecurrentCell::kGru, .gates = after ? "rzh" : "zrh", .hidden = kHidden, .x = {}};
    spec.x = g.Ramp({kTime, kBatch, kWidth});
    spec.reset_after = after;
    spec.directions = {Ramps(
        g, spec, after ? std::vector<int64_t>{37, 41, 43, 47} : std::vector<int64_t>{37, 41})};
    spec.directions[0].activations = Activations({"sigmoid", "tanh"});
    const auto r = Recurrent(g.b, spec);
    REQUIRE(r.size() == 1);
    CheckNear(
        g.Run(after ? r[0].y : r[0].h),
        after
            ? std::vector<double>{0.415739, 0.0682902, -0.0837412, 0.492182, -0.0601723, -0.0684147,
                                  0.680486, -0.0179194, -0.153693, 0.297408, 0.0572578, 0.257131,
                                  0.478447, 0.0512406, 0.295507, 0.51476, 0.095605, 0.116093}
            : std::vector<double>{-0.019395, 0.163385, 0.341354, -0.0625275, 0.0459051, 0.0951189});
  }
}

TEST_CASE("an LSTM whose state is a projection") {
  for (const bool memory : {false, true}) {
    Graph g;
    RecurrentSpec spec = Lstm(g, true);
    spec.directions = {Ramps(g, spec, {37, 41, 43, 47}, 2)};
    spec.directions[0].activations = Activations({"sigmoid", "tanh", "tanh"});
    spec.directions[0].projection = g.Ramp({2, kHidden}, 53, 16);
    const auto r = Recurrent(g.b, spec);
    REQUIRE(r.size() == 1);
    CheckNear(g.Run(memory ? r[0].c : r[0].y),
              memory
                  ? std::vector<double>{0.413939, 0.258955, 0.319369, 0.543607, 0.311191, 0.130313}
                  : std::vector<double>{0.0649112, 0.0158183, 0.0141959, -0.0187966, 0.00904989,
                                        -0.018311, 0.00804279, -0.0381459, -0.0348112, -0.0840654,
                                        0.041796, -0.0339887});
  }
}

TEST_CASE(
    "without weights of an input gate it is 1 - f; peepholes, and a limit of what gates get") {
  for (const bool memory : {false, true}) {
    Graph g;
    RecurrentSpec spec{.cell = RecurrentCell::kLstm, .gates = "fco", .hidden = kHidden, .x = {}};
    spec.x = g.Ramp({kTime, kBatch, kWidth});
    spec.clip = 0.5;
    spec.directions = {Ramps(g, spec, {37, 41})};
    RecurrentDirection& d = spec.directions[0];
    d.activations = Activations({"sigmoid", "tanh", "tanh"});
    d.peephole_f = g.Ramp({kHidden}, 43);
    d.peephole_o = g.Ramp({kHidden}, 47);
    const auto r = Recurrent(g.b, spec);
    REQUIRE(r.size() == 1);
    CheckNear(g.Run(memory ? r[0].c : r[0].h),
              memory ? std::vector<double>{0.169136, 0.209787, -0.150353, -0.0263394, -0.0724187,
                                           0.017239}
                     : std::vector<double>{0.0674086, 0.12378, -0.0928894, -0.0148212, -0.0315429,
                                           0.00650777});
  }
}

}  // namespace
}  // namespace relayvm::import

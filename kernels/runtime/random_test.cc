#include <cmath>

#include "kernels/runtime/testing.h"

namespace relayvm::builtin_testing {
namespace {

using Words = std::vector<uint64_t>;

Array Key(const Words& words) { return Make<uint64_t>({10}, words); }
const Words kOne = {1, 0, 0, 0, 0, 0, 0, 0, uint64_t{1} << 63, 0};

CallResult Generate(const Array& key, int64_t n) {
  return Call("threefry_generate", {key}, {Empty<uint64_t>({10}), Empty<uint64_t>({n})}, {});
}

// The words are those that Relay's own implementation gives.
TEST_CASE("the recorded sequence, in whole blocks and with a rest") {
  CallResult r = Generate(Key(kOne), 7);
  CHECK(r.outputs[1].as<uint64_t>() == Words{17177944308465414780u, 3733049263667422849u,
                                             17198659010121151173u, 5672677121325786426u,
                                             14101498703966615081u, 357814971985492536u,
                                             17891668859032836076u});
  r = Generate(r.outputs[0], 7);
  CHECK(r.outputs[1].as<uint64_t>()[0] == 5144832089476233313u);
  r = Generate(Key(kOne), 8);
  CHECK(r.outputs[1].as<uint64_t>()[4] == 16457847829685253138u);
  CHECK(r.outputs[0].as<uint64_t>() == Words{1, 0, 0, 0, 0, 0, 0, 8, uint64_t{1} << 63, 0});
}

TEST_CASE("a split extends the path by one bit") {
  const std::vector<Array> out = {Empty<uint64_t>({10}), Empty<uint64_t>({10})};
  CallResult r = Call("threefry_split", {Key(kOne)}, out, {});
  CHECK(r.outputs[0].as<uint64_t>() == Words{1, 0, 0, 0, 0, 0, 0, 0, uint64_t{1} << 62, 0});
  CHECK(r.outputs[1].as<uint64_t>() ==
        Words{1, 0, 0, 0, uint64_t{1} << 63, 0, 0, 0, uint64_t{1} << 62, 0});
  CHECK(Generate(r.outputs[1], 1).outputs[1].as<uint64_t>()[0] == 18213931968550431209u);
  // A full path becomes a new key.
  r = Call("threefry_split", {Key({1, 0, 0, 0, 5, 6, 0, 7, 0, 0})}, out, {});
  CHECK(r.outputs[0].as<uint64_t>()[0] != 1);
  CHECK(r.outputs[0].as<uint64_t>()[8] == uint64_t{1} << 62);
  CHECK(r.outputs[1].as<uint64_t>()[4] == uint64_t{1} << 63);
  // From one word of the path's position to the next.
  r = Call("threefry_split", {Key({1, 0, 0, 0, 0, 0, 0, 0, 1, 0})}, out, {});
  CHECK(r.outputs[0].as<uint64_t>()[8] == 0);
  CHECK(r.outputs[0].as<uint64_t>()[9] == uint64_t{1} << 63);
}

TEST_CASE("a counter without room moves on to a new path") {
  const CallResult r =
      Generate(Key({1, 0, 0, 0, 0, 0, 0, ~uint64_t{0} - 2, uint64_t{1} << 63, 0}), 4);
  const Words next = r.outputs[0].as<uint64_t>();
  CHECK(next[4] == uint64_t{1} << 63);
  CHECK(next[7] == 4);
}

TEST_CASE("uniform and normal numbers") {
  const auto draw = [](const char* name, float a, float b) {
    return Call(name, {Key(kOne), Make<float>({}, {a}), Make<float>({}, {b})},
                {Empty<uint64_t>({10}), Empty<float>({4000})}, {})
        .outputs[1]
        .as<float>();
  };
  double sum = 0;
  for (float x : draw("random_uniform", -1, 3)) {
    CHECK(x >= -1);
    CHECK(x < 3);
    sum += x;
  }
  CHECK(std::abs(sum / 4000 - 1) < 0.1);
  double mean = 0, square = 0;
  for (float x : draw("random_normal", 5, 2)) {
    mean += x / 4000;
    square += (x - 5.0) * (x - 5.0) / 4000;
  }
  CHECK(std::abs(mean - 5) < 0.15);
  CHECK(std::abs(std::sqrt(square) - 2) < 0.15);
}

// Recorded from Relay.
TEST_CASE("multinomial draws by weight") {
  CallResult r =
      Call("random_multinomial",
           {Key({0x1180a, 0, 0, 0, 0, 0, 0, 0, uint64_t{1} << 63, 0}),
            Make<float>({2, 5}, {0.48946375f, 0.4087515f, 0.25593305f, 0.72528195f, 0.14314866f,
                                 0.9848917f, 0.42383355f, 0.15872407f, 0.8016902f, 0.7772825f})},
           {Empty<uint64_t>({10}), Empty<int32_t>({2, 1})}, {});
  CHECK(r.outputs[1].as<int32_t>() == std::vector<int32_t>{4, 1});
}

}  // namespace
}  // namespace relayvm::builtin_testing

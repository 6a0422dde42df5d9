#include <algorithm>
#include <limits>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kBatch = 2, kHeads = 4, kQueries = 3, kKeys = 5, kSize = 2, kValues = 3;

std::vector<double> Mixed(int64_t n) {
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(static_cast<double>((i * 7 + 3) % 11) / 4 - 1);
  return v;
}

// A tensor (batch, heads, positions, elements) with its dims in another order.
HostTensor InLayout(const std::string& layout, const std::vector<int64_t>& dims,
                    const std::vector<double>& values) {
  std::vector<int64_t> shape, index(4, 0);
  for (char letter : layout) shape.push_back(dims[std::string_view("BHSD").find(letter)]);
  std::vector<double> out(values.size());
  for (double value : values) {
    size_t at = 0;
    for (size_t i = 0; i < 4; ++i) {
      const size_t axis = std::string_view("BHSD").find(layout[i]);
      at = at * static_cast<size_t>(dims[axis]) + static_cast<size_t>(index[axis]);
    }
    out[at] = value;
    for (size_t d = 4; d-- > 0;) {
      ++index[d];
      if (index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
  return F32(shape, out);
}

// By plain loops, in the order of the formula.
using Score = std::function<double(double, int64_t b, int64_t h, int64_t m, int64_t n)>;
std::vector<double> Attend(const std::vector<double>& q, const std::vector<double>& k,
                           const std::vector<double>& v, int64_t shared, int64_t keys,
                           const Score& score) {
  std::vector<double> out;
  const auto at = [](const std::vector<double>& x, int64_t i) { return x[static_cast<size_t>(i)]; };
  for (int64_t b = 0; b < kBatch; ++b) {
    for (int64_t h = 0; h < kHeads; ++h) {
      const int64_t head = b * shared + h / (kHeads / shared);
      for (int64_t m = 0; m < kQueries; ++m) {
        std::vector<double> scores;
        for (int64_t n = 0; n < keys; ++n) {
          double sum = 0;
          for (int64_t d = 0; d < kSize; ++d) {
            sum += at(q, ((b * kHeads + h) * kQueries + m) * kSize + d) *
                   at(k, (head * keys + n) * kSize + d);
          }
          scores.push_back(score(sum, b, h, m, n));
        }
        double max = -kInfinity, total = 0;
        for (double s : scores) max = std::max(max, s);
        for (double s : scores) total += std::exp(s - max);
        for (int64_t d = 0; d < kValues; ++d) {
          double sum = 0;
          for (int64_t n = 0; n < keys; ++n) {
            sum += std::exp(scores[static_cast<size_t>(n)] - max) / total *
                   at(v, (head * keys + n) * kValues + d);
          }
          out.push_back(sum);
        }
      }
    }
  }
  return out;
}

struct Case {
  std::string q = "BHSD", k = "BHSD", v = "BHSD", out = "BHSD", score;
  int64_t shared = kHeads, keys = kKeys;
  bool symbolic = true;
};

void Check(const Case& c, const std::vector<HostTensor>& steps, const Score& score) {
  CAPTURE(c.score);
  const std::vector<double> q = Mixed(kBatch * kHeads * kQueries * kSize),
                            k = Mixed(kBatch * c.shared * c.keys * kSize),
                            v = Mixed(kBatch * c.shared * c.keys * kValues);
  std::vector<Arg> args = {InLayout(c.q, {kBatch, kHeads, kQueries, kSize}, q),
                           InLayout(c.k, {kBatch, c.shared, c.keys, kSize}, k),
                           InLayout(c.v, {kBatch, c.shared, c.keys, kValues}, v)};
  Options options;
  options.symbolic = c.symbolic;
  args.insert(args.end(), steps.begin(), steps.end());
  CheckOp("nn.attention",
          {{"q_layout", c.q},
           {"k_layout", c.k},
           {"v_layout", c.v},
           {"out_layout", c.out},
           {"score", c.score}},
          args,
          {InLayout(c.out, {kBatch, kHeads, kQueries, kValues},
                    Attend(q, k, v, c.shared, c.keys, score))},
          options);
}

const Score kPlain = [](double s, int64_t, int64_t, int64_t, int64_t) { return s; };

TEST_CASE("attention in every layout, with heads that share keys, without keys") {
  Check({}, {}, kPlain);
  Check({.q = "BSHD", .k = "BHDS", .v = "SBHD", .out = "BSHD"}, {}, kPlain);
  Check({.out = "DSHB"}, {}, kPlain);
  Check({.shared = 2, .symbolic = false}, {}, kPlain);
  Check({.shared = 1, .symbolic = false}, {}, kPlain);
  Check({.keys = 0}, {}, kPlain);
}

TEST_CASE("steps of the score, in their order") {
  const std::vector<double> bias = Mixed(kQueries * kKeys), row = Mixed(kKeys);
  Check({.score = "multiply add"}, {F32({}, {0.5}), F32({kQueries, kKeys}, bias)},
        [&](double s, int64_t, int64_t, int64_t m, int64_t n) {
          return s * 0.5 + bias[static_cast<size_t>(m * kKeys + n)];
        });
  Check({.score = "divide tanh subtract"}, {F32({}, {8}), F32({1, 1, 1, 1}, {3})},
        [](double s, int64_t, int64_t, int64_t, int64_t) { return std::tanh(s / 8) - 3; });
  const std::vector<double> kept = {1, 0, 1, 1, 0};
  Check({.score = "where"}, {Bool({1, 1, 1, kKeys}, kept), F32({}, {-kInfinity})},
        [&](double s, int64_t, int64_t, int64_t, int64_t n) {
          return kept[static_cast<size_t>(n)] != 0 ? s : -kInfinity;
        });
  Check({.score = "where_not"}, {Bool({kKeys}, kept), F32({kKeys}, row)},
        [&](double s, int64_t, int64_t, int64_t, int64_t n) {
          return kept[static_cast<size_t>(n)] != 0 ? row[static_cast<size_t>(n)] : s;
        });
  // No key is left: softmax gives NaN.
  Check({.score = "where"}, {Bool({}, {0}), F32({}, {-kInfinity})},
        [](double, int64_t, int64_t, int64_t, int64_t) { return -kInfinity; });
}

TEST_CASE("what attention refuses") {
  const HostTensor x = F32({1, 2, 3, 4}, Iota(24));
  const auto fails = [&](const AttrMap& attrs, const std::vector<Arg>& args,
                         const std::string& message) {
    CheckFails("nn.attention", attrs, args, message);
  };
  fails({}, {x, x}, "expected 3 arguments");
  fails({{"score", "add"}}, {x, x, x}, "expected 4 arguments");
  std::string long_score = "tanh";
  for (int i = 0; i < 64; ++i) long_score += " tanh";
  fails({{"score", long_score}}, {x, x, x}, "more than 64 steps");
  fails({{"score", "power"}}, {x, x, x, x}, "found \"power\"");
  fails({{"q_layout", "BHS"}}, {x, x, x}, "q_layout: expected the letters");
  fails({{"k_layout", "BHSS"}}, {x, x, x}, "k_layout: expected the letters");
  fails({}, {x, F32({1, 2, 3, 5}, Iota(30)), x}, "the sizes of queries and keys");
  fails({}, {x, x, F32({1, 2, 5, 4}, Iota(40))}, "the lengths of keys and values");
  fails({}, {F32({1, 3, 1, 4}, Iota(12)), x, x}, "no multiple");
  fails({}, {I32({1, 1, 1, 1}, {1}), x, x}, "expected floats");
  fails({{"score", "add"}}, {x, x, x, F32({2, 3}, Iota(6))}, "the shapes of scores");
  fails({{"score", "where"}}, {x, x, x, F32({}, {1}), F32({}, {1})}, "the dtypes of a score");
}

}  // namespace
}  // namespace relayvm::op_testing

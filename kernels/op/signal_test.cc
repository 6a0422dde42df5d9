#include <cmath>

#include "kernels/op/testing.h"

namespace relayvm::op_testing {
namespace {

const Options kLoose{.static_args = {1}, .tolerance = 1e-5};

TEST_CASE("dft of a line, and back") {
  const HostTensor re = F32({1, 4}, {1, 2, 3, 4}), im = F32({1, 4}, {0, 0, 0, 0});
  const HostTensor spectrum_re = F32({1, 4}, {10, -2, -2, -2}),
                   spectrum_im = F32({1, 4}, {0, 2, 0, -2});
  CheckOp("dft", {}, {re, im}, {spectrum_re, spectrum_im}, kLoose);
  CheckOp("dft", {{"inverse", true}}, {spectrum_re, spectrum_im}, {re, im}, kLoose);
}

TEST_CASE("stft of frames") {
  const HostTensor x = F32({1, 6}, {1, 2, 3, 4, 5, 6}), window = I32({3}, {4, 3, 2});
  const double s = std::sqrt(3.0) / 2;
  const AttrMap attrs = {{"n_fft", 3}, {"hop_length", 3}, {"win_length", 3}};
  CheckOp(
      "stft", attrs, {x, window},
      {F32({1, 2, 2, 2}, {16, 0, 43, 0, 4 - 3.0 - 3, (-6 + 6) * s, 16 - 7.5 - 6, (-15 + 12) * s})},
      kLoose);
  AttrMap scaled = attrs;
  scaled["normalized"] = true;
  scaled["onesided"] = false;
  const double r = 1 / std::sqrt(3.0);
  CheckOp("stft", scaled, {F32({3}, {1, 0, 0}), window},
          {F32({3, 1, 2}, {4 * r, 0, 4 * r, 0, 4 * r, 0})}, kLoose);
  CheckFails("stft", {{"n_fft", 4}, {"win_length", 5}}, {x, window}, "no frames");
  CheckFails("stft", {{"n_fft", 8}, {"win_length", 3}}, {x, window}, "expected at least");
}

}  // namespace
}  // namespace relayvm::op_testing

#include "compiler/import/composite/activations.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numbers>

namespace relayvm::import {

namespace {

Term AffineOf(const Term& x, double alpha, double beta) { return x * alpha + beta; }

// NaN stays.
Term ClippedTo(const Term& x, double low, double high) {
  return Maximum(x.Number(low), Minimum(x.Number(high), x));
}

Term EluOf(const Term& x, double alpha, double) { return Select(x > 0, x, (Exp(x) - 1) * alpha); }

constexpr ActivationDef kActivations[] = {
    {"affine", 2, 1, 0, AffineOf},
    {"clip", 2, -3.402823e38, 3.402823e38, ClippedTo},
    {"elu", 1, 1, 0, EluOf},
    {"gelu", 0, 0, 0, [](const Term& x, double, double) { return GeluOf(x); }},
    {"hardsigmoid", 2, 0.2, 0.5,
     [](const Term& x, double a, double b) { return ClippedTo(AffineOf(x, a, b), 0, 1); }},
    {"hardswish", 0, 0, 0,
     [](const Term& x, double, double) { return x * ClippedTo(AffineOf(x, 1.0 / 6, 0.5), 0, 1); }},
    {"identity", 0, 0, 0, [](const Term& x, double, double) { return x; }},
    {"leakyrelu", 1, 0.01, 0,
     [](const Term& x, double a, double) { return Select(x < 0, x * a, x); }},
    {"parametricsoftplus", 2, 1, 1,
     [](const Term& x, double a, double b) { return Softplus(x * b) * a; }},
    {"relu", 0, 0, 0, [](const Term& x, double, double) { return Maximum(x.Number(0), x); }},
    {"scaledtanh", 2, 1, 1,
     [](const Term& x, double a, double b) { return (x * b).Call("tanh") * a; }},
    {"selu", 2, 1.67326319217681884765625, 1.05070102214813232421875,
     [](const Term& x, double a, double b) { return EluOf(x, a, 0) * b; }},
    {"sigmoid", 0, 0, 0, [](const Term& x, double, double) { return x.Call("sigmoid"); }},
    {"softplus", 0, 0, 0, [](const Term& x, double, double) { return Softplus(x); }},
    {"softsign", 0, 0, 0, [](const Term& x, double, double) { return x / (Abs(x) + 1); }},
    {"tanh", 0, 0, 0, [](const Term& x, double, double) { return x.Call("tanh"); }},
    {"thresholdedrelu", 1, 1, 0,
     [](const Term& x, double a, double) { return Select(x > a, x, x.Number(0)); }},
};

}  // namespace

const ActivationDef* FindActivation(std::string_view name) {
  const auto is = [&](const ActivationDef& a) {
    return std::equal(a.name.begin(), a.name.end(), name.begin(), name.end(), [](char x, char y) {
      return x == static_cast<char>(std::tolower(static_cast<unsigned char>(y)));
    });
  };
  const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations), is);
  return found == std::end(kActivations) ? nullptr : found;
}

Term GeluOf(const Term& x) { return x * 0.5 * ((x * (std::numbers::sqrt2 / 2)).Call("erf") + 1); }
Term TanhGeluOf(const Term& x) {
  const Term inner = x + x * (x * x) * 0.044715;
  return x * 0.5 * ((inner * std::sqrt(2 * std::numbers::inv_pi)).Call("tanh") + 1);
}
Term SwishOf(const Term& x, double alpha) {
  return x * (alpha == 1 ? x : x * alpha).Call("sigmoid");
}

}  // namespace relayvm::import

// Coefficients of the polynomials in math.cc, lowest first: weighted least-squares fits, reweighted
// towards minimax (Lawson), in 60-digit arithmetic. The error is that of the fit, weighted by what
// the term is worth in the result.
#pragma once

#include <array>

namespace relayvm::codegen {

// (e^r - 1 - r)/r^2 for |r| <= ln(2)/2: error 3.3e-9
inline constexpr std::array<double, 5> kExp32 = {0x1.fffffb7b37c6ap-2, 0x1.55548a28089a9p-3,
                                                 0x1.55590045494dap-5, 0x1.123f64da6031bp-7,
                                                 0x1.6a273c8aa91aap-10};
// the same: error 6.3e-20
inline constexpr std::array<double, 11> kExp64 = {
    0x1.0000000000000p-1,  0x1.555555555555cp-3,  0x1.5555555555501p-5,  0x1.111111110ea3ep-7,
    0x1.6c16c16c30ff9p-10, 0x1.a01a01b4642bap-13, 0x1.a01a01347c546p-16, 0x1.71ddedbe46555p-19,
    0x1.27e5b5553a027p-22, 0x1.af703fffeadcdp-26, 0x1.1e40b0ab51e06p-29};
// (log((1+s)/(1-s)) - 2s)/s^3 in z = s^2: error 1.8e-7
inline constexpr std::array<double, 3> kLog32 = {0x1.55555b97c1ec5p-1, 0x1.997bf7c4f4f19p-2,
                                                 0x1.2eee4112ded81p-2};
// the same: error 3.1e-16
inline constexpr std::array<double, 7> kLog64 = {
    0x1.5555555555558p-1, 0x1.99999999951c4p-2, 0x1.2492492e0e76cp-2, 0x1.c71c62c2bb9b2p-3,
    0x1.7462be022fbd3p-3, 0x1.39fd3906877a7p-3, 0x1.2b65f228e1ecfp-3};
// the same after its first coefficient, 2/3: error 2.8e-16
inline constexpr std::array<double, 7> kLogTail64 = {
    0x1.999999999999fp-2, 0x1.249249248e439p-2, 0x1.c71c71d81a696p-3, 0x1.745d09d27cd24p-3,
    0x1.3b18c0f332505p-3, 0x1.1017b1578ec85p-3, 0x1.08843515c068ep-3};
// (sin(r) - r)/r^3 in z = r^2, |r| <= pi/4: error 2.1e-17
inline constexpr std::array<double, 6> kSin64 = {-0x1.5555555555555p-3,  0x1.1111111110b6dp-7,
                                                 -0x1.a01a019e736a7p-13, 0x1.71de378188690p-19,
                                                 -0x1.ae5ff5332817ep-26, 0x1.5e034672e3f3fp-33};
// (cos(r) - 1 + z/2)/z^2: error 1.3e-18
inline constexpr std::array<double, 6> kCos64 = {0x1.5555555555555p-5,  -0x1.6c16c16c16944p-10,
                                                 0x1.a01a019f468acp-16, -0x1.27e4fa0d53300p-22,
                                                 0x1.1eeb5dfb99771p-29, -0x1.9075cbe8dc0c3p-37};
// (tanh(x) - x)/x^3 in z = x^2, |x| <= 0.55: error 2.0e-17
inline constexpr std::array<double, 10> kTanh64 = {
    -0x1.55555555554a1p-2,  0x1.1111111102ccbp-3, -0x1.ba1ba1ad94464p-5,  0x1.664f45c85de35p-6,
    -0x1.226dddc509295p-7,  0x1.d6c62ae18b139p-9, -0x1.7cf42926c4c96p-10, 0x1.2fa48d1292bfep-11,
    -0x1.b9140e3611de9p-13, 0x1.ac165ec3c5799p-15};
// (sinh(x) - x)/x^3 in z = x^2, |x| <= 1: error 2.5e-22
inline constexpr std::array<double, 8> kSinh64 = {
    0x1.5555555555555p-3,  0x1.1111111111111p-7,  0x1.a01a01a01a001p-13, 0x1.71de3a556f971p-19,
    0x1.ae64567929f8cp-26, 0x1.612467cd0f739p-33, 0x1.ae777bf3218c5p-41, 0x1.99f093cfa2757p-49};
// erf(x)/x - 1 in z = x^2, |x| <= 1: error 7.0e-18
inline constexpr std::array<double, 12> kErf64 = {
    0x1.06eba8214db68p-3,  -0x1.812746b0379c2p-2,  0x1.ce2f21a041013p-4,  -0x1.b82ce31206189p-6,
    0x1.565bccfa982ffp-8,  -0x1.c02db0729fcf0p-11, 0x1.f9a2bf6c7c4fcp-14, -0x1.f4ca942c3ddd4p-17,
    0x1.b982771a29167p-20, -0x1.5c16cbb7c12fep-23, 0x1.d783f8ee52658p-27, -0x1.acde3f06a93fbp-31};
// log(erfc(3.5 + 2.5t)), |t| <= 1: error 1.7e-19
inline constexpr std::array<double, 20> kErfc64 = {
    -0x1.c3991652a2619p+3,  -0x1.22a4dc1adcc6dp+4,  -0x1.82b3834743082p+2,  -0x1.4e712efe73a9cp-4,
    0x1.17947baf0b25fp-5,   -0x1.d75a1c0cf151fp-7,  0x1.862d5e0ed9783p-8,   -0x1.3745dbe375af4p-9,
    0x1.d33ae32f67e5bp-11,  -0x1.43b16fa24a9e4p-12, 0x1.b63eb57d1f351p-14,  0x1.88a646b981371p-16,
    0x1.9eb167df0377ep-15,  -0x1.60be278dffe30p-18, -0x1.1fa8274a397a7p-13, -0x1.dc8eee1dd8733p-13,
    -0x1.c8715e0d78b40p-13, -0x1.064a3bbe32f02p-13, -0x1.6387689950ef2p-15, -0x1.b10a4ab298968p-18};
// (atan(x) - x)/x^3 in z = x^2, |x| <= tan(pi/8): error 1.1e-18
inline constexpr std::array<double, 12> kAtan64 = {
    -0x1.5555555555555p-2, 0x1.9999999999957p-3, -0x1.249249248daefp-3, 0x1.c71c71c326264p-4,
    -0x1.745d1663ea523p-4, 0x1.3b139378a97afp-4, -0x1.110e92554a9a6p-4, 0x1.e19aef11cfd41p-5,
    -0x1.ac80708a0a50ap-5, 0x1.74f6bbff351d8p-5, -0x1.1b6f7d60b855ap-5, 0x1.0b4f3c1441373p-6};
// (asin(x) - x)/x^3 in z = x^2, |x| <= 1/2: error 8.6e-19
inline constexpr std::array<double, 14> kAsin64 = {
    0x1.5555555555555p-3,  0x1.3333333333393p-4, 0x1.6db6db6daaf50p-5, 0x1.f1c71c7b1f85bp-6,
    0x1.6e8ba0ff386a1p-6,  0x1.1c4f00ca31596p-6, 0x1.c99024908e602p-7, 0x1.7b08c04332b4fp-7,
    0x1.3b17bb09f0a89p-7,  0x1.3275e42d98663p-7, 0x1.7f1bc4e2aacf8p-9, 0x1.452a19aa494a5p-6,
    -0x1.41eb70dffeb88p-6, 0x1.e944f79f2c96ap-6};

// (tanh(x) - x)/x^3 in z = x^2, |x| <= 0.55: error 3.6e-8
inline constexpr std::array<double, 4> kTanh32 = {-0x1.55545762e02e9p-2, 0x1.10cfc62043467p-3,
                                                  -0x1.af8df66136ba9p-5, 0x1.0d86c6ddc2e1ep-6};
// erf(x)/x - 1 in z = x^2, |x| <= 0.875: error 8.6e-9
inline constexpr std::array<double, 6> kErf32 = {0x1.06eba6d75064bp-3, -0x1.81270b563afc7p-2,
                                                 0x1.ce211e5d7e0ddp-4, -0x1.b6f389b31de7cp-6,
                                                 0x1.49c9fa1b35fddp-8, -0x1.453a9d4634f18p-11};
// log2(erfc(0.875 + t)), 0 <= t <= 3.125: error 3.2e-8 of erf
inline constexpr std::array<double, 6> kErfc32 = {-0x1.1b0f1a1cc7958p+1, -0x1.c0c646e25f458p+1,
                                                  -0x1.31514168739f3p+0, -0x1.118e17e79a692p-4,
                                                  0x1.e333784316ed6p-7,  -0x1.e735f04079a4cp-10};
// (2^r - 1)/r, |r| <= 1/2: error 1.6e-8 of erf, for which it is made
inline constexpr std::array<double, 5> kExp2Of32 = {0x1.62e4242578cfdp-1, 0x1.ebf9b4bf80623p-3,
                                                    0x1.c6baa1d595919p-5, 0x1.3ceca1f884eb2p-7,
                                                    0x1.5ab41876f5e58p-10};

}  // namespace relayvm::codegen

// Functions of complex numbers, as formulas of their parts.
#pragma once

#include <cmath>

#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

// The angle of the point (x, y), of zeros by their signs.
inline Term AngleOf(const Term& y, const Term& x) {
  const Term pi = x.Number(M_PI), half = x.Number(M_PI / 2);
  const Term is_zero = Equal(y, 0);
  const Term below = Or(y < 0, And(is_zero, 1.0 / y < y.Number(0)));
  const Term angle = (y / x).Call("atan");
  const Term left = Select(below, angle - pi, angle + pi);
  // -0 lies left of 0.
  const Term turned = Select(1.0 / x < x.Number(0), Select(below, -pi, pi), y);
  const Term upright = Select(is_zero, turned, Select(y > 0, half, Select(y < 0, -half, y)));
  return Select(Equal(x, 0), upright, Select(x < 0, left, angle));
}

inline Complex Product(const Complex& x, const Complex& y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
inline Complex Quotient(const Complex& x, const Complex& y) {
  const Term size = y.re * y.re + y.im * y.im;
  return {(x.re * y.re + x.im * y.im) / size, (x.im * y.re - x.re * y.im) / size};
}
inline Term SizeOf(const Complex& x) { return Sqrt(x.re * x.re + x.im * x.im); }
inline Term IsZero(const Complex& x) { return And(Equal(x.re, 0), Equal(x.im, 0)); }
inline Complex ZeroWhere(const Term& zero, const Complex& x) {
  return {Select(zero, x.re.Number(0), x.re), Select(zero, x.im.Number(0), x.im)};
}
inline Complex OneLike(const Complex& x) {
  return {x.re.Call("ones_like"), x.re.Call("zeros_like")};
}

inline Complex PowerOf(const Complex& x) {  // e^x
  const Term size = Exp(x.re);
  return {size * Cos(x.im), size * Sin(x.im)};
}
inline Complex LogOf(const Complex& x) { return {Log(SizeOf(x)), AngleOf(x.im, x.re)}; }
// The larger part first, so that nothing is subtracted.
inline Complex SqrtOf(const Complex& x) {
  const Term large = Sqrt((SizeOf(x) + Abs(x.re)) * 0.5);
  const Term none = Equal(large, 0);
  const Term small = Select(none, large, x.im / (Select(none, large.Number(1), large) * 2.0));
  return {Select(x.re < 0, Abs(small), large),
          Select(x.re < 0, Select(x.im < 0, -large, large), small)};
}
inline Complex RsqrtOf(const Complex& x) { return Quotient(OneLike(x), SqrtOf(x)); }
inline Complex SinhOf(const Complex& x) {
  return {x.re.Call("sinh") * Cos(x.im), x.re.Call("cosh") * Sin(x.im)};
}
inline Complex CoshOf(const Complex& x) {
  return {x.re.Call("cosh") * Cos(x.im), x.re.Call("sinh") * Sin(x.im)};
}
inline Complex TanhOf(const Complex& x) { return Quotient(SinhOf(x), CoshOf(x)); }
inline Complex SinOf(const Complex& x) {
  return {Sin(x.re) * x.im.Call("cosh"), Cos(x.re) * x.im.Call("sinh")};
}
inline Complex CosOf(const Complex& x) {
  return {Cos(x.re) * x.im.Call("cosh"), -(Sin(x.re) * x.im.Call("sinh"))};
}
inline Complex TanOf(const Complex& x) { return Quotient(SinOf(x), CosOf(x)); }
inline Complex TimesI(const Complex& x) { return {-x.im, x.re}; }
inline Complex OverI(const Complex& x) { return {x.im, -x.re}; }
inline Complex SumOf(const Complex& x, const Complex& y) { return {x.re + y.re, x.im + y.im}; }
inline Complex Plus(const Complex& x, double y) { return {x.re + y, x.im}; }
// log(z + sqrt(z - 1) sqrt(z + 1)).
inline Complex AcoshOf(const Complex& x) {
  return LogOf(SumOf(x, Product(SqrtOf(Plus(x, -1)), SqrtOf(Plus(x, 1)))));
}
// Odd: of the half with a positive real part, where nothing cancels.
inline Complex AsinhOf(const Complex& x) {
  const Term left = x.re < 0;
  const Complex z = {Select(left, -x.re, x.re), Select(left, -x.im, x.im)};
  const Complex y = LogOf(SumOf(z, SqrtOf(Plus(Product(z, z), 1))));
  return {Select(left, -y.re, y.re), Select(left, -y.im, y.im)};
}
// (log(1 + z) - log(1 - z)) / 2.
inline Complex AtanhOf(const Complex& x) {
  const Complex up = LogOf(Plus(x, 1)), down = LogOf({1.0 - x.re, -x.im});
  return {(up.re - down.re) * 0.5, (up.im - down.im) * 0.5};
}
inline Complex AsinOf(const Complex& x) { return OverI(AsinhOf(TimesI(x))); }
inline Complex AcosOf(const Complex& x) {
  const Complex y = AsinOf(x);
  return {M_PI / 2 - y.re, -y.im};
}
inline Complex AtanOf(const Complex& x) { return OverI(AtanhOf(TimesI(x))); }
inline Complex SigmoidOf(const Complex& x) {
  const Complex power = PowerOf({-x.re, -x.im});
  return Quotient(OneLike(x), {power.re + 1, power.im});
}

}  // namespace relayvm::import::tensorflow

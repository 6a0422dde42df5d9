#include "compiler/import/torch/complex_calls.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <span>

#include "compiler/import/torch/complex.h"

namespace relayvm::import::torch {

namespace {
namespace of_parts {

using Kind = Argument::Kind;
using Names = std::span<const std::string_view>;

bool Among(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool IsComplexArgument(const Argument& a) {
  return a.complex || a.is(Kind::kComplex) ||
         std::any_of(a.items.begin(), a.items.end(), IsComplexArgument);
}

// f(x + iy) = f(x) + i f(y): sums, and what only moves elements.
constexpr std::string_view kLinear[] = {"aten::add",
                                        "aten::sub",
                                        "aten::subtract",
                                        "aten::rsub",
                                        "aten::sum",
                                        "aten::mean",
                                        "aten::cumsum",
                                        "aten::diff",
                                        "aten::trace",
                                        "aten::flip",
                                        "aten::fliplr",
                                        "aten::flipud",
                                        "aten::roll",
                                        "aten::rot90",
                                        "aten::tril",
                                        "aten::triu",
                                        "aten::diagonal",
                                        "aten::diagonal_copy",
                                        "aten::diag",
                                        "aten::diag_embed",
                                        "aten::diagflat",
                                        "aten::unbind",
                                        "aten::unbind_copy",
                                        "aten::split",
                                        "aten::split_copy",
                                        "aten::split_with_sizes",
                                        "aten::chunk",
                                        "aten::split_with_sizes_copy",
                                        "aten::unsafe_chunk",
                                        "aten::unsafe_split",
                                        "aten::tensor_split",
                                        "aten::hsplit",
                                        "aten::vsplit",
                                        "aten::dsplit",
                                        "aten::hstack",
                                        "aten::vstack",
                                        "aten::dstack",
                                        "aten::column_stack",
                                        "aten::row_stack",
                                        "aten::block_diag",
                                        "aten::narrow",
                                        "aten::narrow_copy",
                                        "aten::unfold",
                                        "aten::unfold_copy",
                                        "aten::unflatten",
                                        "aten::pad",
                                        "aten::repeat",
                                        "aten::tile",
                                        "aten::index",
                                        "aten::index_select",
                                        "aten::gather",
                                        "aten::take",
                                        "aten::take_along_dim",
                                        "aten::masked_select",
                                        "aten::masked_fill",
                                        "aten::masked_scatter",
                                        "aten::index_put",
                                        "aten::index_add",
                                        "aten::index_copy",
                                        "aten::index_fill",
                                        "aten::_index_put_impl",
                                        "aten::scatter_add",
                                        "aten::select_scatter",
                                        "aten::slice_scatter",
                                        "aten::diagonal_scatter",
                                        "aten::constant_pad_nd",
                                        "aten::where",
                                        "aten::broadcast_tensors",
                                        "aten::meshgrid",
                                        "aten::copy",
                                        "aten::fill",
                                        "aten::full",
                                        "aten::full_like",
                                        "aten::new_full",
                                        "aten::zeros_like",
                                        "aten::zero",
                                        "aten::empty_like",
                                        "aten::new_zeros",
                                        "aten::new_empty",
                                        "aten::contiguous",
                                        "aten::atleast_1d",
                                        "aten::atleast_2d",
                                        "aten::atleast_3d",
                                        "aten::fft_fftshift",
                                        "aten::fft_ifftshift",
                                        "aten::repeat_interleave",
                                        "aten::avg_pool1d",
                                        "aten::avg_pool2d",
                                        "aten::nansum",
                                        "aten::_unsafe_index",
                                        "aten::_reshape_copy",
                                        "aten::movedim",
                                        "aten::adjoint"};

// Arguments that are terms of such sums: what is real has no imaginary part.
constexpr std::string_view kTerms[] = {"self",   "other",  "value",      "values", "src",
                                       "source", "tensor", "fill_value", "tensors"};

// (x + iy)(u + iv) = xu - yv + i(xv + yu): two factors, and a term that is added, or none.
struct Product {
  std::string_view name;
  size_t factor;    // the first; the other is behind it
  int addend = -1;  // -1: none
};
constexpr Product kProducts[] = {
    {"aten::matmul", 0},    {"aten::mm", 0},         {"aten::bmm", 0},
    {"aten::mv", 0},        {"aten::dot", 0},        {"aten::outer", 0},
    {"aten::ger", 0},       {"aten::inner", 0},      {"aten::kron", 0},
    {"aten::tensordot", 0}, {"aten::linear", 0, 2},  {"aten::conv1d", 0, 2},
    {"aten::conv2d", 0, 2}, {"aten::conv3d", 0, 2},  {"aten::convolution", 0, 2},
    {"aten::addmm", 1, 0},  {"aten::addmv", 1, 0},   {"aten::addr", 1, 0},
    {"aten::addbmm", 1, 0}, {"aten::baddbmm", 1, 0}, {"aten::addcmul", 1, 0}};
const Product* ProductOf(std::string_view name) {
  for (const Product& p : kProducts) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

// --- Formulas of one number z = re + i im ---

using Formula = Argument (*)(const Call&, const Parts&);

Term LengthOf(const Parts& z) {
  // Scaled, so that squares do not overflow.
  const Term most = Maximum(Abs(z.re), Abs(z.im));
  const Term by = Select(Equal(most, 0), most.Number(1), most);
  const Term re = z.re / by, im = z.im / by;
  return most * Sqrt(re * re + im * im);
}
Term AngleOf(const Call& n, const Parts& z) { return {n, n.ValueAs("aten::atan2", {z.im, z.re})}; }
Term Function(const Call& n, std::string_view name, const Term& x) {
  return {n, n.ValueAs(name, {Argument(x)})};
}
Parts Times(const Parts& x, const Parts& y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
Parts Over(const Parts& x, const Parts& y) {
  const Term square = y.re * y.re + y.im * y.im;
  return {(x.re * y.re + x.im * y.im) / square, (x.im * y.re - x.re * y.im) / square};
}
Parts Exponential(const Parts& z) {
  const Term length = Exp(z.re);
  // A real z has a real result, also where the length is infinite.
  return {length * Cos(z.im), Select(Equal(z.im, 0), z.im, length * Sin(z.im))};
}
Parts Logarithm(const Call& n, const Parts& z) {
  return {Function(n, "aten::log", LengthOf(z)), AngleOf(n, z)};
}
Parts Root(const Call& n, const Parts& z) {
  const Term length = LengthOf(z);
  const Term re = Sqrt((length + Abs(z.re)) / 2.0);
  const Term by = Select(Equal(re, 0), re.Number(1), re);
  const Term im = Abs(z.im) / (by * 2.0);
  const Term sign = Select(z.im < 0, z.im.Number(-1), z.im.Number(1));
  static_cast<void>(n);
  return {Select(z.re < 0, im, re), sign * Select(z.re < 0, re, im)};
}
Argument Of(const Parts& p) { return Complex(p.re, p.im); }

Argument Scaled(const Call& n, const Parts& z, double by, Parts (*fn)(const Call&, const Parts&)) {
  const Parts p = fn(n, z);
  return Of({p.re * by, p.im * by});
}
Parts Sinh(const Call& n, const Parts& z) {
  return {Function(n, "aten::sinh", z.re) * Cos(z.im), Function(n, "aten::cosh", z.re) * Sin(z.im)};
}
Parts Cosh(const Call& n, const Parts& z) {
  return {Function(n, "aten::cosh", z.re) * Cos(z.im), Function(n, "aten::sinh", z.re) * Sin(z.im)};
}
Parts One(const Parts& z) { return {z.re * 0.0 + 1.0, z.im * 0.0}; }

struct Row {
  std::string_view name;
  Formula formula;
};
constexpr Row kFormulas[] = {
    {"aten::exp", [](const Call&, const Parts& z) { return Of(Exponential(z)); }},
    {"aten::exp2",
     [](const Call&, const Parts& z) {
       return Of(Exponential({z.re * std::numbers::ln2, z.im * std::numbers::ln2}));
     }},
    {"aten::log", [](const Call& n, const Parts& z) { return Of(Logarithm(n, z)); }},
    {"aten::log2",
     [](const Call& n, const Parts& z) { return Scaled(n, z, std::numbers::log2e, Logarithm); }},
    {"aten::log10",
     [](const Call& n, const Parts& z) { return Scaled(n, z, std::numbers::log10e, Logarithm); }},
    {"aten::sqrt", [](const Call& n, const Parts& z) { return Of(Root(n, z)); }},
    {"aten::rsqrt", [](const Call& n, const Parts& z) { return Of(Over(One(z), Root(n, z))); }},
    {"aten::reciprocal", [](const Call&, const Parts& z) { return Of(Over(One(z), z)); }},
    {"aten::square", [](const Call&, const Parts& z) { return Of(Times(z, z)); }},
    {"aten::sinh", [](const Call& n, const Parts& z) { return Of(Sinh(n, z)); }},
    {"aten::cosh", [](const Call& n, const Parts& z) { return Of(Cosh(n, z)); }},
    {"aten::tanh", [](const Call& n, const Parts& z) { return Of(Over(Sinh(n, z), Cosh(n, z))); }},
    // sin z = -i sinh(iz), cos z = cosh(iz)
    {"aten::sin",
     [](const Call& n, const Parts& z) {
       const Parts s = Sinh(n, {-z.im, z.re});
       return Of({s.im, -s.re});
     }},
    {"aten::cos", [](const Call& n, const Parts& z) { return Of(Cosh(n, {-z.im, z.re})); }},
    {"aten::tan",
     [](const Call& n, const Parts& z) {
       const Parts t = Over(Sinh(n, {-z.im, z.re}), Cosh(n, {-z.im, z.re}));
       return Of({t.im, -t.re});
     }},
    {"aten::sigmoid",
     [](const Call&, const Parts& z) {
       const Parts e = Exponential({-z.re, -z.im});
       return Of(Over(One(z), {e.re + 1.0, e.im}));
     }},
    {"aten::sgn",
     [](const Call&, const Parts& z) {
       const Term length = LengthOf(z);
       const Term by = Select(Equal(length, 0), length.Number(1), length);
       return Of({z.re / by, z.im / by});
     }},
    {"aten::isnan",
     [](const Call&, const Parts& z) {
       return Argument(Or(z.re.Call("isnan"), z.im.Call("isnan")));
     }},
    {"aten::isinf",
     [](const Call&, const Parts& z) {
       return Argument(Or(z.re.Call("isinf"), z.im.Call("isinf")));
     }},
    {"aten::isfinite",
     [](const Call&, const Parts& z) {
       return Argument(And(z.re.Call("isfinite"), z.im.Call("isfinite")));
     }},
    {"aten::logical_not",
     [](const Call&, const Parts& z) { return Argument(And(Equal(z.re, 0), Equal(z.im, 0))); }},
};
Formula FormulaOf(std::string_view name) {
  for (const Row& row : kFormulas) {
    if (row.name == name) return row.formula;
  }
  return nullptr;
}

// Of lengths: what a norm or a test asks of |z|.
constexpr std::string_view kOfLengths[] = {"aten::norm",
                                           "aten::linalg_vector_norm",
                                           "aten::frobenius_norm",
                                           "aten::argwhere",
                                           "aten::nonzero",
                                           "aten::count_nonzero",
                                           "aten::all",
                                           "aten::any",
                                           "aten::nonzero_numpy"};

// --- Calls ---

Argument PartOf(TypedBuilder& b, const Argument& a, bool imaginary, bool is_term) {
  Argument out = a;
  if (a.complex) {
    out.value = Part(Term(b, a.value), imaginary ? 1 : 0);
    out.complex = false;
    out.alias = nullptr;
  } else if (a.is(Kind::kComplex)) {
    return Argument::Float(imaginary ? a.imaginary : a.real);
  } else if (a.is_list()) {
    for (Argument& item : out.items) item = PartOf(b, item, imaginary, is_term);
  } else if (imaginary && is_term && a.is_tensor()) {
    out.value = b.Op("zeros_like", {a.value});
    out.alias = nullptr;
  } else if (imaginary && is_term && a.is_known_number()) {
    return a.is_float() ? Argument::Float(0) : Argument::Int(0);
  }
  return out;
}

Results CallOf(const Call& n, std::vector<Argument> arguments) {
  Call part(n, n.op(), std::move(arguments));
  part.Expect(n.expected());
  return n.op().def->convert(part);
}

Argument Joined(TypedBuilder& b, const Argument& re, const Argument& im) {
  if (re.is_list()) {
    Argument out = re;
    for (size_t i = 0; i < out.items.size() && i < im.items.size(); ++i)
      out.items[i] = Joined(b, re.items[i], im.items[i]);
    return out;
  }
  if (!re.is_tensor() || !im.is_tensor()) return re;
  return Complex(Term(b, re.value), Term(b, b.Cast(im.value, re.value.dtype())));
}

Results ByParts(const Call& n) {
  std::vector<Argument> re, im;
  for (size_t i = 0; i < n.size(); ++i) {
    const bool is_term = Among(n.schema().arguments[i].name, kTerms);
    re.push_back(PartOf(n, n.Arg(i), false, is_term));
    im.push_back(PartOf(n, n.Arg(i), true, is_term));
  }
  Results real = CallOf(n, std::move(re));
  const Results imaginary = CallOf(n, std::move(im));
  if (!n.b().status().ok()) return {};
  for (size_t i = 0; i < real.size() && i < imaginary.size(); ++i)
    real[i] = Joined(n, real[i], imaginary[i]);
  return real;
}

Results ByProducts(const Call& n, const Product& p) {
  const bool pairs[2] = {IsComplexArgument(n.Arg(p.factor)),
                         IsComplexArgument(n.Arg(p.factor + 1))};
  // The product of two parts, with the addend's part: `addend` 0 re, 1 im, 2 none.
  const auto product = [&](bool x, bool y, int addend) {
    std::vector<Argument> arguments;
    for (size_t i = 0; i < n.size(); ++i) {
      const Argument& a = n.Arg(i);
      if (i == p.factor || i == p.factor + 1) {
        arguments.push_back(PartOf(n, a, i == p.factor ? x : y, false));
      } else if (static_cast<int>(i) == p.addend && a.is_tensor() && addend == 2) {
        Argument zero = PartOf(n, a, false, true);
        zero.value = n.b().Op("zeros_like", {zero.value});
        arguments.push_back(p.addend == 0 ? zero : Argument());
      } else {
        arguments.push_back(PartOf(n, a, addend == 1, static_cast<int>(i) == p.addend));
      }
    }
    const Results r = CallOf(n, std::move(arguments));
    return r.empty() ? Term(n, Value()) : Term(n, r[0].value);
  };
  TypedBuilder& b = n.b();
  const auto both = [&](const Term& x, const Term& y) { return b.status().ok() ? x + y : x; };
  const auto less = [&](const Term& x, const Term& y) { return b.status().ok() ? x - y : x; };
  Term re = product(false, false, 0);
  if (pairs[0] && pairs[1]) re = less(re, product(true, true, 2));
  Term im = pairs[1] ? product(false, true, 1) : product(true, false, 1);
  if (pairs[0] && pairs[1]) im = both(im, product(true, false, 2));
  if (!pairs[0] && !pairs[1]) im = both(product(false, false, 1), re * -1.0);
  if (!b.status().ok()) return {};
  return {Complex(re, im)};
}

// einsum: operands one after the other.
Results Einsum(const Call& n) {
  const Argument& operands = n.Arg("tensors");
  const size_t count = operands.items.size();
  if (count > 4) return n.Unsupported("more than 4 complex operands");
  Term sums[2] = {{n, Value()}, {n, Value()}};
  for (size_t choice = 0; choice < (size_t{1} << count); ++choice) {
    int imaginary = 0;
    bool is_there = true;
    std::vector<Argument> parts;
    for (size_t i = 0; i < count; ++i) {
      const bool im = ((choice >> i) & 1) != 0;
      imaginary += im ? 1 : 0;
      is_there = is_there && (!im || operands.items[i].complex);
      parts.push_back(PartOf(n, operands.items[i], im && operands.items[i].complex, false));
    }
    if (!is_there) continue;
    std::vector<Argument> arguments;
    for (size_t i = 0; i < n.size(); ++i) arguments.push_back(n.Arg(i));
    for (Argument& a : arguments) {
      if (a.is_list() && a.items.size() == count && a.items[0].is_tensor())
        a = Argument::List(parts);
    }
    const Results r = CallOf(n, std::move(arguments));
    if (!n.b().status().ok() || r.empty()) return {};
    const Term product(n, r[0].value);
    Term& sum = sums[imaginary % 2];
    const Term signed_product = imaginary % 4 >= 2 ? -product : product;
    sum = sum.value() ? sum + signed_product : signed_product;
  }
  return {Complex(sums[0], sums[1])};
}

DType PartType(const Call& n) {
  DType type = DType::kFloat32;
  for (size_t i = 0; i < n.size(); ++i) {
    const Argument& a = n.Arg(i);
    if (a.is_tensor() && a.value.dtype() == DType::kFloat64) type = DType::kFloat64;
  }
  return type;
}

Results Compared(const Call& n, bool equal) {
  const DType type = PartType(n);
  const Parts x = PartsOf(n, 0, type), y = PartsOf(n, 1, type);
  const Term same = And(Equal(x.re, y.re), Equal(x.im, y.im));
  return {equal ? same : Not(same)};
}

// z^w = exp(w log z); 0 where z is 0.
Results Power(const Call& n) {
  const DType type = PartType(n);
  const Parts z = PartsOf(n, 0, type), w = PartsOf(n, 1, type);
  const Argument& exponent = n.Arg(size_t{1});
  if (exponent.is_known_number() && exponent.number() == 2) return {Of(Times(z, z))};
  const Parts power = Exponential(Times(w, Logarithm(n, z)));
  if (exponent.is_known_number() && exponent.number() == 0) return {Of(power)};
  const Term is_zero = And(Equal(z.re, 0), Equal(z.im, 0));
  const auto unless = [&](const Term& x) { return Select(is_zero, x.Number(0), x); };
  return {Complex(unless(power.re), unless(power.im))};
}

Results Ones(const Call& n) {
  Results r = CallOf(n, [&] {
    std::vector<Argument> parts;
    for (size_t i = 0; i < n.size(); ++i) parts.push_back(PartOf(n, n.Arg(i), false, false));
    return parts;
  }());
  if (!n.b().status().ok() || r.empty() || !r[0].is_tensor()) return {};
  const Term ones(n, r[0].value);
  return {Complex(ones, ones * 0.0)};
}

// New tensors of a complex dtype.
constexpr std::string_view kFactories[] = {
    "aten::zeros",         "aten::ones",          "aten::empty",     "aten::full",
    "aten::new_zeros",     "aten::new_ones",      "aten::new_full",  "aten::new_empty",
    "aten::zeros_like",    "aten::ones_like",     "aten::full_like", "aten::empty_like",
    "aten::empty_strided", "aten::scalar_tensor", "aten::eye"};

bool MakesComplex(const Operator& op, const std::vector<Argument>& arguments) {
  const int at = op.schema.Find("dtype");
  if (at < 0 || !Among(op.schema.name, kFactories)) return false;
  const Argument& dtype = arguments[static_cast<size_t>(at)];
  return dtype.is(Kind::kInt) && IsTorchComplex(dtype.integer);
}
Results Made(const Call& n) {
  std::vector<Argument> re, im;
  for (size_t i = 0; i < n.size(); ++i) {
    const std::string_view name = n.schema().arguments[i].name;
    const bool is_term = name == "fill_value" || name == "s";
    re.push_back(PartOf(n, n.Arg(i), false, is_term));
    im.push_back(PartOf(n, n.Arg(i), true, is_term));
    if (name == "dtype") {
      constexpr int64_t kComplex128 = 10, kFloat = 6, kDouble = 7;
      re.back() = Argument::Int(n.Arg(i).integer == kComplex128 ? kDouble : kFloat);
      im.back() = re.back();
    }
  }
  const Results real = CallOf(n, std::move(re));
  const bool is_filled = n.schema().Find("fill_value") >= 0 || n.schema().Find("s") >= 0;
  const Results imaginary = is_filled ? CallOf(n, std::move(im)) : Results();
  if (!n.b().status().ok() || real.empty()) return {};
  const Term r(n, real[0].value);
  if (!imaginary.empty()) return {Complex(r, Term(n, imaginary[0].value))};
  return {Complex(r, Term(n, n.b().Op("zeros_like", {r})))};
}

// A complex tensor in a dtype that is none: of bools whether it is 0, else the real part.
bool TakesRealPart(const Operator& op, const std::vector<Argument>& arguments) {
  constexpr std::string_view kCasts[] = {"aten::to", "aten::_to_copy"};
  const int at = op.schema.Find("dtype");
  if (at < 0 || arguments.empty() || !arguments[0].complex || !Among(op.schema.name, kCasts))
    return false;
  const Argument& dtype = arguments[static_cast<size_t>(at)];
  return dtype.is(Kind::kInt) && !IsTorchComplex(dtype.integer);
}
Results CastToReal(const Call& n) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < n.size(); ++i) arguments.push_back(n.Arg(i));
  const Parts z = PartsOf(n, 0, PartType(n));
  arguments[0] = n.Dtype() == DType::kBool ? Argument(Not(And(Equal(z.re, 0), Equal(z.im, 0))))
                                           : Argument(z.re);
  return CallOf(n, std::move(arguments));
}

bool IsOfParts(const Operator& op, const std::vector<Argument>& arguments) {
  const std::string_view name = op.schema.name;
  const Takes takes = op.def->takes;
  if (MakesComplex(op, arguments) || TakesRealPart(op, arguments)) return true;
  if (takes == Takes::kComplex || takes == Takes::kAll) return false;
  if (std::none_of(arguments.begin(), arguments.end(), IsComplexArgument)) return false;
  if (Among(name, kLinear) || Among(name, kOfLengths)) return true;
  return ProductOf(name) != nullptr || FormulaOf(name) != nullptr || name == "aten::einsum" ||
         name == "aten::eq" || name == "aten::ne" || name == "aten::pow" ||
         name == "aten::ones_like" || name == "aten::new_ones";
}

// Factors of terms ("alpha") may be real alone.
bool HasComplexFactor(const Call& n) {
  for (size_t i = 0; i < n.size(); ++i) {
    const std::string_view name = n.schema().arguments[i].name;
    if ((name == "alpha" || name == "beta") && n.Arg(i).is(Kind::kComplex)) return true;
  }
  return false;
}

Results ConvertedParts(Call& n) {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < n.size(); ++i) arguments.push_back(n.Arg(i));
  if (!n.b().status().ok() || !IsOfParts(n.op(), arguments)) return n.op().def->convert(n);
  const std::string_view name = n.schema().name;
  if (HasComplexFactor(n)) return n.Unsupported("a complex alpha or beta");
  if (MakesComplex(n.op(), arguments)) return Made(n);
  if (TakesRealPart(n.op(), arguments)) return CastToReal(n);
  if (Among(name, kLinear)) return ByParts(n);
  if (const Product* p = ProductOf(name)) return ByProducts(n, *p);
  if (name == "aten::einsum") return Einsum(n);
  if (name == "aten::eq" || name == "aten::ne") return Compared(n, name == "aten::eq");
  if (name == "aten::pow") return Power(n);
  if (name == "aten::ones_like" || name == "aten::new_ones") return Ones(n);
  const Parts z = PartsOf(n, 0, PartType(n));
  if (const Formula formula = FormulaOf(name)) return {formula(n, z)};
  arguments[0] = Argument(LengthOf(z));
  return CallOf(n, std::move(arguments));
}

}  // namespace of_parts
}  // namespace

bool IsComplexCall(const Operator& op, const std::vector<Argument>& arguments) {
  return of_parts::IsOfParts(op, arguments);
}
Results Converted(Call& call) { return of_parts::ConvertedParts(call); }

}  // namespace relayvm::import::torch

// Random numbers: those without state are TensorFlow's own (Philox 4x32-10 of Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3"), as arithmetic of their places. Others are the
// same ones by a node's seeds, or by a key that is its name.
#include <array>
#include <cmath>

#include "compiler/import/checked.h"
#include "compiler/import/composite/axes.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// Words of 32 bits, held in int64: products wrap, and their bits are those of unsigned numbers.
constexpr double kWord = 4294967295.0;
Term LowWord(const Term& x) { return x.Call("bitwise_and", x.Number(kWord)); }
Term HighWord(const Term& x) { return LowWord(x.Call("right_shift", x.Number(32))); }
Term Xor(const Term& x, const Term& y) { return x.Call("bitwise_xor", y); }

using Words = std::array<Term, 4>;
struct Generator {
  std::array<Term, 2> key;
  Words counter;
};

Words Mixed(const Generator& from) {
  Words c = from.counter;
  std::array<Term, 2> key = from.key;
  for (int round = 0; round < 10; ++round) {
    const Term p0 = c[0] * static_cast<double>(0xD2511F53U);
    const Term p1 = c[2] * static_cast<double>(0xCD9E8D57U);
    c = {Xor(Xor(HighWord(p1), c[1]), key[0]), LowWord(p1), Xor(Xor(HighWord(p0), c[3]), key[1]),
         LowWord(p0)};
    key = {LowWord(key[0] + static_cast<double>(0x9E3779B9U)),
           LowWord(key[1] + static_cast<double>(0xBB67AE85U))};
  }
  return c;
}

Term Word(TypedBuilder& b, uint32_t value) { return {b, b.Int(value)}; }

// What a seed of two numbers makes of the generator: its words are mixed once.
Generator OfSeed(NodeContext& n, size_t input) {
  TypedBuilder& b = n.b();
  const Term seed = Term(n, input).As(DType::kInt64);
  const Term s0 = ElementOf(seed, 0), s1 = ElementOf(seed, 1);
  const Words mixed = Mixed({{Word(b, 0x3ec8f720), Word(b, 0x02461e29)},
                             {LowWord(s0), HighWord(s0), LowWord(s1), HighWord(s1)}});
  return {{mixed[0], mixed[1]}, {Word(b, 0), Word(b, 0), mixed[2], mixed[3]}};
}
Generator OfKey(NodeContext& n, size_t key_input, size_t counter_input) {
  TypedBuilder& b = n.b();
  const Term key = Term(b, b.Cast(n.Input(key_input), DType::kInt64)),
             counter = Term(b, b.Cast(n.Input(counter_input), DType::kInt64));
  const Term k = ElementOf(key, 0), c0 = ElementOf(counter, 0), c1 = ElementOf(counter, 1);
  return {{LowWord(k), HighWord(k)}, {LowWord(c0), HighWord(c0), LowWord(c1), HighWord(c1)}};
}
// By the node's seeds, as TensorFlow's first run is; without any by its name (FNV-1a).
Generator OfName(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto seed = static_cast<uint64_t>(n.Int("seed", 0)),
             other = static_cast<uint64_t>(n.Int("seed2", 0));
  if (seed != 0 || other != 0) {
    const auto word = [&](uint64_t v) { return Word(b, static_cast<uint32_t>(v)); };
    return {{word(seed), word(seed >> 32)},
            {Word(b, 0), Word(b, 0), word(other), word(other >> 32)}};
  }
  uint32_t hash = 2166136261U;
  for (const char c : n.name()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return {{Word(b, hash), Word(b, hash ^ 0x5bd1e995U)},
          {Word(b, 0), Word(b, 0), Word(b, 0), Word(b, 0)}};
}

// Numbers of groups of four: `count` words (`pairs`: of two) in order.
struct Drawn {
  Words words;  // each (groups)
  Term count;   // of results, rank 0
};
Drawn Draw(const Generator& from, const Term& count, int64_t each) {
  TypedBuilder& b = count.b();
  const Term groups =
      (count + static_cast<double>(each - 1)).Call("floor_divide", Term(b, b.Int(each)));
  const Term place = Range(groups);
  // The counter's lower half may carry.
  const Term low = from.counter[0] + place;
  const Term carried = from.counter[1] + HighWord(low);
  const Generator at = {from.key,
                        {LowWord(low), LowWord(carried),
                         LowWord(from.counter[2] + HighWord(carried)), from.counter[3]}};
  return {Mixed(at), count};
}
// The results of all groups, one after the other, in that shape.
Term Listed(const Drawn& drawn, const std::vector<Term>& parts, const Value& shape) {
  TypedBuilder& b = drawn.count.b();
  std::vector<Value> columns;
  for (const Term& part : parts) columns.push_back(part.Expand(1));
  const Term all = Term(b, b.Concat(columns, 1)).Reshape({-1});
  const Term cut(b,
                 b.Op("dyn.strided_slice", {all, b.Ints({0}), AsVector(drawn.count), b.Ints({1})}));
  return {b, ShapedAs(b, cut, {shape})};
}

enum class Law : uint8_t { kUniform, kNormal, kTruncated, kIntegers, kAllIntegers };

// 23 bits of a word as a number of 0 to 1; of two words 52 bits.
Term UnitOf(const Term& word, int bits = 23) {
  return word.Call("bitwise_and", word.Number((1 << bits) - 1)).As(DType::kFloat32) *
         (1.0 / (1 << bits));
}
Term WideUnitOf(const Term& high, const Term& low) {
  const Term top = high.Call("bitwise_and", high.Number(0xfffff)).As(DType::kFloat64);
  return (top * 0x1p32 + low.As(DType::kFloat64)) * 0x1p-52;
}
// Box and Muller's two numbers of the normal law.
std::vector<Term> Normals(const Term& u, const Term& v) {
  const Term radius = Sqrt(Log(Maximum(u, u.Number(1e-7))) * -2.0), angle = v * (2 * M_PI);
  return {Sin(angle) * radius, Cos(angle) * radius};
}
// Of the normal law the numbers that lie in -2..2: each group of results takes the first such
// of its own 256 counters an element; of 16 at most 12 are outside, as good as never.
Outputs Truncated(NodeContext& n, const Generator& from, const Term& count, const Value& shape,
                  DType dtype) {
  TypedBuilder& b = n.b();
  const bool wide = dtype == DType::kFloat64;
  const int64_t each = wide ? 2 : 4;
  const Term groups =
      (count + static_cast<double>(each - 1)).Call("floor_divide", Term(b, b.Int(each)));
  const double skipped = 64.0 * static_cast<double>(each);
  std::vector<Value> columns;
  constexpr size_t kTries = 16;
  for (int block = 0; columns.size() < kTries; ++block) {
    const Term low = from.counter[0] + Range(groups) * skipped + static_cast<double>(block);
    const Term carried = from.counter[1] + HighWord(low);
    const Words w = Mixed({from.key,
                           {LowWord(low), LowWord(carried),
                            LowWord(from.counter[2] + HighWord(carried)), from.counter[3]}});
    std::vector<Term> units;
    if (wide) {
      units = {WideUnitOf(w[0], w[1]), WideUnitOf(w[2], w[3])};
    } else {
      for (const Term& word : w) units.push_back(UnitOf(word));
    }
    for (size_t i = 0; i + 1 < units.size(); i += 2) {
      for (const Term& x : Normals(units[i], units[i + 1])) columns.push_back(x.Expand(1));
    }
  }
  const Term tries(b, b.Concat(columns, 1));
  const Term inside = Abs(tries) < 2;
  const Term number = inside.As(DType::kInt32).Call("cumsum", {{"axis", 1}});
  std::vector<Value> parts;
  for (int64_t k = 1; k <= each; ++k) {
    const Term is_it = And(inside, Equal(number, static_cast<double>(k)));
    parts.push_back(Select(is_it, tries, tries.Number(0)).Over("sum", {1}));
  }
  const Term all = Term(b, b.Concat(parts, 1)).Reshape({-1});
  const Value cut = b.Op("dyn.strided_slice", {all, b.Ints({0}), AsVector(count), b.Ints({1})});
  return {Term(b, ShapedAs(b, cut, {shape})).As(dtype)};
}

Outputs Numbers(NodeContext& n, Law law, const Generator& from, size_t shape_input, DType dtype,
                const std::optional<Term>& low = std::nullopt,
                const std::optional<Term>& high = std::nullopt) {
  TypedBuilder& b = n.b();
  if (!CountOf(n, n.Input(shape_input), "shape")) return {};
  const Value shape = b.Cast(n.Input(shape_input), DType::kInt64);
  const Term count(b, b.Op("prod", {shape}, {{"axis", AttrList{0}}}));
  const bool wide = DTypeBits(dtype) == 64;
  const Term all = n.Input(shape_input).dim(0).is_const(0) ? Term(b, b.Int(1)) : count;
  if (law == Law::kTruncated) return Truncated(n, from, all, shape, dtype);
  const Drawn drawn = Draw(from, all, wide ? 2 : 4);
  const Words& w = drawn.words;
  std::vector<Term> parts;
  if (law == Law::kIntegers || law == Law::kAllIntegers) {
    if (wide) {
      parts = {w[0] + w[1].Call("left_shift", w[1].Number(32)),
               w[2] + w[3].Call("left_shift", w[3].Number(32))};
    } else {
      parts = {w[0], w[1], w[2], w[3]};
    }
    const Term bits = Listed(drawn, parts, shape);
    if (law == Law::kAllIntegers) return {bits.As(dtype)};
    const Term size = *high - *low;
    // Of 64 bits as an unsigned number: 2^63 more than what its lower bits are.
    const Term positive = bits.Call("bitwise_and", Term(b, b.Int(INT64_MAX)));
    const Term top = Term(b, b.Int(INT64_MAX)).Call("floor_mod", size) + 1;
    const Term rest = positive.Call("floor_mod", size);
    const Term more = (rest + top).Call("floor_mod", size);
    return {(Select(bits < 0, more, rest) + *low).As(dtype)};
  }
  std::vector<Term> units;
  const bool uniform = law == Law::kUniform;
  const int bits = uniform && dtype == DType::kFloat16    ? 10
                   : uniform && dtype == DType::kBFloat16 ? 7
                                                          : 23;
  if (wide) {
    units = {WideUnitOf(w[0], w[1]), WideUnitOf(w[2], w[3])};
  } else {
    for (const Term& word : w) units.push_back(UnitOf(word, bits));
  }
  if (law == Law::kNormal) {
    for (size_t i = 0; i + 1 < units.size(); i += 2) {
      const std::vector<Term> two = Normals(units[i], units[i + 1]);
      parts.insert(parts.end(), two.begin(), two.end());
    }
  } else {
    parts = units;
  }
  return {Listed(drawn, parts, shape).As(dtype)};
}

Term Bound(NodeContext& n, size_t i) { return AsScalar(Term(n, i)).As(DType::kInt64); }

// (shape), by the node's name.
template <Law kLaw>
Outputs OfNode(NodeContext& n) {
  return Numbers(n, kLaw, OfName(n), 0, n.Type("dtype", DType::kFloat32));
}
Outputs IntegersOfNode(NodeContext& n) {
  return Numbers(n, Law::kIntegers, OfName(n), 0, n.Input(1).dtype(), Bound(n, 1), Bound(n, 2));
}
// (shape, seed)
template <Law kLaw>
Outputs Stateless(NodeContext& n) {
  const DType fallback = kLaw == Law::kAllIntegers ? DType::kUInt64 : DType::kFloat32;
  return Numbers(n, kLaw, OfSeed(n, 1), 0, n.Type("dtype", fallback));
}
Outputs StatelessIntegers(NodeContext& n) {
  return Numbers(n, Law::kIntegers, OfSeed(n, 1), 0, n.Input(2).dtype(), Bound(n, 2), Bound(n, 3));
}
// (shape, key, counter, algorithm)
template <Law kLaw>
Outputs StatelessV2(NodeContext& n) {
  const DType fallback = kLaw == Law::kAllIntegers ? DType::kUInt64 : DType::kFloat32;
  return Numbers(n, kLaw, OfKey(n, 1, 2), 0, n.Type("dtype", fallback));
}
Outputs StatelessIntegersV2(NodeContext& n) {
  return Numbers(n, Law::kIntegers, OfKey(n, 1, 2), 0, n.Input(4).dtype(), Bound(n, 4),
                 Bound(n, 5));
}

Outputs KeyAndCounter(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Generator g = OfSeed(n, 0);
  const auto joined = [&](const Term& low, const Term& high) {
    return AsVector((low + high.Call("left_shift", high.Number(32))).As(DType::kUInt64)).value();
  };
  return {joined(g.key[0], g.key[1]),
          b.Concat({joined(g.counter[0], g.counter[1]), joined(g.counter[2], g.counter[3])}, 0)};
}
Outputs Algorithm(NodeContext& n) { return {n.b().Int(1, DType::kInt32)}; }
Outputs KeyCounterAlgorithm(NodeContext& n) {
  Outputs out = KeyAndCounter(n);
  out.push_back(n.b().Int(1, DType::kInt32));
  return out;
}

// Rows in an order of random numbers.
Outputs Shuffled(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Drawn drawn = Draw(OfName(n), Extent(b, n.Input(0), 0), 4);
  std::vector<Term> units;
  for (const Term& word : drawn.words) units.push_back(UnitOf(word));
  const Term order = Listed(drawn, units, b.DimOf(n.Input(0), 0))
                         .Call("argsort", {{"axis", 0}, {"dtype", "int64"}});
  return {Term(n, 0).Take(order, 0)};
}

// Rows of logarithms of weights: places whose sums of weights a number lies between.
Outputs Multinomial(NodeContext& n, const Generator& from) {
  TypedBuilder& b = n.b();
  const Term x(n, 0);
  if (x.rank() != 2) return n.Fail("expected logits of rank 2");
  const Term samples(b, NotNegative({n, 1, "num_samples"}));
  const Term wanted = AsScalar(samples).As(DType::kInt64);
  const Drawn drawn = Draw(from, Extent(b, x, 0) * wanted, 2);
  const Words& w = drawn.words;
  const std::vector<Term> units = {WideUnitOf(w[0], w[1]), WideUnitOf(w[2], w[3])};
  const Term unit = Listed(drawn, units, b.Concat({b.DimOf(x, 0), AsVector(wanted)}, 0));
  const Term weights = Exp((x - Max(x, {1})).As(DType::kFloat64));
  const Term sums = weights.Call("cumsum", {{"axis", 1}}).Expand(1);
  const Term found = unit * Sum(weights, {1});
  const Term below = (sums <= found.Expand(2)).As(DType::kInt64).Over("sum", {2}, false);
  return {Minimum(below, Extent(b, x, 1) - 1).As(n.Type("output_dtype", DType::kInt64))};
}
Outputs MultinomialOfNode(NodeContext& n) { return Multinomial(n, OfName(n)); }
Outputs StatelessMultinomial(NodeContext& n) { return Multinomial(n, OfSeed(n, 2)); }

constexpr OperatorDef kRandomOperators[] = {
    {"Multinomial", 2, 2, MultinomialOfNode, {}, "20"},
    {"RandomShuffle", 1, 1, Shuffled},
    {"RandomStandardNormal", 1, 1, OfNode<Law::kNormal>, {}, "1"},
    {"RandomUniform", 1, 1, OfNode<Law::kUniform>, {}, "1"},
    {"RandomUniformInt", 3, 3, IntegersOfNode, {}, "1"},
    {"StatelessMultinomial", 3, 3, StatelessMultinomial, {}, "201"},
    {"StatelessRandomGetAlg", 0, 0, Algorithm},
    {"StatelessRandomGetKeyCounter", 1, 1, KeyAndCounter, "key counter", "1"},
    {"StatelessRandomGetKeyCounterAlg", 1, 1, KeyCounterAlgorithm, "key counter alg", "1"},
    {"StatelessRandomNormal", 2, 2, Stateless<Law::kNormal>, {}, "11"},
    {"StatelessRandomNormalV2", 4, 4, StatelessV2<Law::kNormal>, {}, "1110"},
    {"StatelessRandomUniform", 2, 2, Stateless<Law::kUniform>, {}, "11"},
    {"StatelessRandomUniformFullInt", 2, 2, Stateless<Law::kAllIntegers>, {}, "11"},
    {"StatelessRandomUniformFullIntV2", 4, 4, StatelessV2<Law::kAllIntegers>, {}, "1110"},
    {"StatelessRandomUniformInt", 4, 4, StatelessIntegers, {}, "1100"},
    {"StatelessRandomUniformIntV2", 6, 6, StatelessIntegersV2, {}, "111000"},
    {"StatelessRandomUniformV2", 4, 4, StatelessV2<Law::kUniform>, {}, "1110"},
    {"StatelessTruncatedNormal", 2, 2, Stateless<Law::kTruncated>, {}, "11"},
    {"StatelessTruncatedNormalV2", 4, 4, StatelessV2<Law::kTruncated>, {}, "1110"},
    {"TruncatedNormal", 1, 1, OfNode<Law::kTruncated>, {}, "1"},
};

}  // namespace

std::span<const OperatorDef> RandomOperators() { return kRandomOperators; }

}  // namespace relayvm::import::tensorflow

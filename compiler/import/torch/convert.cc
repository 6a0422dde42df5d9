#include "compiler/import/torch/convert.h"

#include <algorithm>

namespace relayvm::import::torch {

Value Sliced(TypedBuilder& b, const Value& v, int axis, const Value& from, const Value& to,
             int64_t step) {
  const auto first = b.ConstantInts(from), last = b.ConstantInts(to);
  if (first && last) {
    return b.Op("strided_slice", {v},
                {{"begin", AttrList{(*first)[0]}},
                 {"end", AttrList{(*last)[0]}},
                 {"strides", AttrList{step}},
                 {"axes", AttrList{axis}}});
  }
  std::vector<Value> begin, end;
  std::vector<int64_t> steps;
  for (int i = 0; i < axis; ++i) {
    begin.push_back(b.Ints({0}));
    end.push_back(b.Ints({INT64_MAX}));
    steps.push_back(1);
  }
  begin.push_back(b.Reshape(from, {1}));
  end.push_back(b.Reshape(to, {1}));
  steps.push_back(step);
  return b.Op("dyn.strided_slice", {v, b.Concat(begin, 0), b.Concat(end, 0), b.Ints(steps)});
}

Term PlacesOf(TypedBuilder& b, int64_t count) {
  constexpr int64_t kFew = 1 << 16;
  if (count <= kFew) return {b, b.Ints(Iota(std::max<int64_t>(count, 0)))};
  return Range(Term(b, b.Int(count)));
}

}  // namespace relayvm::import::torch

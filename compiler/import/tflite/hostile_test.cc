// Operators with inputs and options that do not fit: each gives an error, or a module.
#include <cstdint>

#include "compiler/import/tflite/testing.h"

namespace relayvm::import::tflite::testing {
namespace {

// Options with one number in each of their fields, of whatever width they read.
Table OptionsOf(Builder& b, int64_t number) {
  const auto start = b.StartTable();
  for (flatbuffers::voffset_t field = 0; field < 18; ++field)
    b.AddElement<int64_t>(flatbuffers::FieldIndexToOffset(field), number, 0);
  return b.EndTable(start);
}

struct Strange {
  std::vector<int32_t> shape;
  TensorType type;
  double number;  // of constants
  float scale;
};
constexpr int64_t kNumbers[] = {0, 1, -1, 3, INT64_MAX, INT64_MIN, int64_t{1} << 31};

// Whether the last inputs are constants says `constants`, a bit for each.
std::string ModelOf(const OperatorDef& row, const Strange& s, int count, unsigned constants,
                    int64_t number) {
  Model m;
  std::vector<int32_t> inputs, given, outputs;
  int64_t elements = 1;
  for (const int32_t d : s.shape) elements *= d < 0 ? 1 : d;
  for (int i = 0; i < count; ++i) {
    const bool is_constant = (constants >> (i % 8) & 1) != 0;
    Described d{s.type, s.shape, s.scale, 0};
    if (is_constant) {
      for (int32_t& dim : d.shape) dim = dim < 0 ? 1 : dim;
      d.data.assign(static_cast<size_t>(elements), s.number);
    }
    inputs.push_back(m.Add(d));
    if (!is_constant) given.push_back(inputs.back());
  }
  outputs.push_back(m.Add({s.type, s.shape, s.scale, 0}));
  m.Op2(row.code, inputs, outputs, row.options,
        row.options == Options::NONE ? Table(0) : OptionsOf(m.builder(), number), row.options2,
        row.options2 == Options2::NONE ? Table(0) : OptionsOf(m.builder(), number),
        row.custom.empty() ? nullptr : std::string(row.custom).c_str());
  m.Close(given, {outputs[0]});
  // What operators call.
  m.Add({s.type, s.shape}), m.Add({TensorType::BOOL, {}, 0, 0, {1}});
  m.Close({0}, {0});
  return m.Bytes();
}

TEST_CASE("operators whose inputs and options do not fit give errors") {
  const Strange strange[] = {{{2, 3}, TensorType::FLOAT32, 1e30, 0},
                             {{1, 4, 4, 2}, TensorType::INT8, -128, 0.5F},
                             {{}, TensorType::INT32, -7, 0},
                             {{0}, TensorType::INT64, 0, 0},
                             {{-1, -1, 2}, TensorType::FLOAT32, -1, 0},
                             {{2}, TensorType::INT32, INT32_MAX, 0},
                             {{1, 2, 1, 2, 1}, TensorType::UINT8, 3, 1},
                             {{3}, TensorType::BOOL, 1, 0},
                             {{2, 2, 3, 2}, TensorType::INT16, 99, 1e-9F}};
  size_t models = 0, imported = 0;
  for (const OperatorDef& row : Operators()) {
    CAPTURE(fb::EnumNameBuiltinOperator(row.code));
    const int most = row.max_inputs < 0 ? row.min_inputs + 2 : row.max_inputs;
    for (const Strange& s : strange) {
      const size_t at = models % std::size(kNumbers);
      for (const auto& [count, constants] : {std::pair{row.min_inputs, 0U},
                                             {most, 0xFEU},
                                             {std::max(0, row.min_inputs - 1), 0xF0U}}) {
        ++models;
        const auto module = Import(ModelOf(row, s, count, constants, kNumbers[at]));
        if (module.ok()) {
          ++imported;
          const auto typed = InferTypes(*module);
          CHECK((typed.ok() || !typed.status().message().empty()));
        } else {
          CHECK(!module.status().message().empty());
          CHECK(module.status().code() != StatusCode::kInternal);
        }
      }
    }
  }
  CHECK(imported > models / 50);
  CHECK(imported < models);
}

}  // namespace
}  // namespace relayvm::import::tflite::testing

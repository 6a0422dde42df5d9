// Every row of the table with calls that no program makes: numbers far out of range, empty lists,
// ranks that do not fit, None, arguments of other kinds. Each is an error or a value, and none a
// crash.
#include <doctest/doctest.h>

#include "compiler/frontend/parser.h"
#include "compiler/import/control_flow.h"
#include "compiler/import/torch/aliases.h"

namespace relayvm::import::torch {
namespace {

using Base = SchemaType::Base;

// Calls of one row; the same ones each time.
class HostileCalls {
 public:
  HostileCalls(const ir::Module& prelude, uint64_t seed)
      : module_(prelude),
        b_(module_),
        aliases_(b_),
        state_(seed * 2862933555777941757U + 3037000493U) {}

  Status Make(const Operator& op) {
    std::vector<Argument> arguments;
    const size_t count = op.schema.arguments.size();
    const size_t given = Below(12) == 0 ? Below(count + 2) : count;
    for (size_t i = 0; i < given; ++i) {
      const bool named = i < count;
      const SchemaType type = named ? op.schema.arguments[i].type : SchemaType();
      if (named && op.schema.arguments[i].has_default && Below(3) == 0) {
        arguments.push_back(op.schema.arguments[i].fallback);
      } else {
        arguments.push_back(Of(type));
      }
    }
    auto bound = Bind(op.schema, arguments, {}, true);
    if (!bound.ok()) return bound.status();
    aliases_.Run(op, *std::move(bound), Below(6) == 0);
    return b_.status();
  }

 private:
  uint64_t Below(uint64_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % n;
  }
  template <typename T, size_t kSize>
  T One(const T (&of)[kSize]) {
    return of[Below(kSize)];
  }

  int64_t Number() {
    constexpr int64_t kAll[] = {0,
                                1,
                                2,
                                3,
                                1,
                                2,
                                5,
                                -1,
                                -2,
                                -7,
                                64,
                                1000,
                                int64_t{1} << 31,
                                -(int64_t{1} << 40),
                                INT64_MAX,
                                INT64_MIN};
    return One(kAll);
  }
  Argument Tensor() {
    constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat32, DType::kFloat32, DType::kInt64,
                                DType::kBool,    DType::kUInt8,   DType::kFloat64, DType::kFloat16};
    constexpr int64_t kExtents[] = {1, 2, 3, 4, 2, 3, 0};
    std::vector<Dim> dims;
    const size_t rank = Below(3) == 0 ? Below(7) : 2 + Below(3);
    for (size_t i = 0; i < rank; ++i) {
      dims.push_back(Below(5) == 0 ? Dim::Symbol(module_.ids->Next(), "d") : Dim(One(kExtents)));
    }
    const DType dtype = One(kTypes);
    Argument tensor(b_.Use(b_.NewVar("x", ir::MakeTensorType(dims, dtype))));
    if (Below(16) == 0) {
      auto quantised = std::make_shared<Quantisation>();
      quantised->scale = b_.Scalar(0.5, DType::kFloat32);
      quantised->zero_point = b_.Int(0, DType::kInt32);
      quantised->dtype = dtype;
      tensor.quantised = std::move(quantised);
    }
    tensor.complex = Below(16) == 0 && !dims.empty() && dims.back().is_const(2);
    return aliases_.Fresh(std::move(tensor));
  }
  Argument Single(Base base) {
    if (Below(25) == 0) base = static_cast<Base>(Below(10));
    switch (base) {
      case Base::kTensor:
        return Tensor();
      case Base::kInt:
        if (Below(10) == 0)
          return ScalarArgument(b_, b_.Use(b_.NewVar("n", ir::MakeScalarType(DType::kInt64))));
        return Argument::Int(Number());
      case Base::kFloat:
      case Base::kScalar: {
        constexpr double kAll[] = {0, 1, 0.5, -1, 2, 1e300, -1e-300, HUGE_VAL, NAN};
        return Below(2) == 0 ? Argument::Float(One(kAll)) : Argument::Int(Number());
      }
      case Base::kBool:
        return Argument::Bool(Below(2) == 0);
      case Base::kComplex:
        return Argument::Complex(1, -2);
      case Base::kString: {
        constexpr const char* kAll[] = {"",       "sum",       "mean",   "none",
                                        "same",   "valid",     "floor",  "bilinear",
                                        "linear", "ij,jk->ik", "..i->i", "(\n"};
        return Argument::String(One(kAll));
      }
      case Base::kDevice:
        return Argument::Device("cpu");
      case Base::kGenerator:
        return {};
      case Base::kAny: {
        auto object = std::make_shared<Object>();
        object->type = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
        object->state = Argument::Tuple({Tensor(), Argument()});
        if (Below(2) == 0) return Tensor();
        return Argument::OfObject(std::move(object));
      }
    }
    return {};
  }
  Argument Of(const SchemaType& type) {
    if (Below(type.optional ? 4 : 40) == 0) return {};
    if (!type.list && Below(40) != 0) return Single(type.base);
    if (Below(20) == 0) return Single(type.base);
    std::vector<Argument> items;
    const size_t count =
        Below(3) == 0 || type.length == 0 ? Below(6) : static_cast<size_t>(type.length);
    for (size_t i = 0; i < count; ++i)
      items.push_back(type.element_optional && Below(3) == 0 ? Argument() : Single(type.base));
    return Argument::List(std::move(items));
  }

  ir::Module module_;
  TypedBuilder b_;
  Aliases aliases_;
  uint64_t state_;
};

TEST_CASE("every row is an error or a value, whatever it is called with") {
  constexpr uint64_t kCalls = 12;
  const ir::Module prelude = *frontend::ParseRelay("prelude", kPrelude);
  uint64_t seed = 1, values = 0;
  for (const Operator* op : AllOperators()) {
    CAPTURE(op->schema.full_name());
    for (uint64_t i = 0; i < kCalls; ++i) {
      const Status status = HostileCalls(prelude, ++seed).Make(*op);
      values += status.ok() ? 1 : 0;
      CHECK_MESSAGE(status.code() != StatusCode::kInternal, status.message());
      if (!status.ok()) CHECK(!status.message().empty());
    }
  }
  // Not all of them are refused.
  CHECK(values > 1000);
}

}  // namespace
}  // namespace relayvm::import::torch

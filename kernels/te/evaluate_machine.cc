// Runs the evaluator's code.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "bytecode/base/message.h"
#include "kernels/te/evaluate_code.h"

namespace relayvm::te {
namespace {

// Sums and products of float16 are rounded at each step, those of other floats kept in double
// and rounded once, at the end.
void Accumulate(const Instruction& in, Scalar x, Scalar& acc) {
  DType t = in.operand_dtype;
  if (IsFloat(t)) {
    switch (in.reduce) {
      case ReduceKind::kSum:
        acc.f += x.f;
        if (t == DType::kFloat16) acc.f = RoundToDType(acc.f, t);
        return;
      case ReduceKind::kProd:
        acc.f *= x.f;
        if (t == DType::kFloat16) acc.f = RoundToDType(acc.f, t);
        return;
      case ReduceKind::kMax:
        acc.f = x.f > acc.f ? x.f : acc.f;
        return;
      case ReduceKind::kMin:
        acc.f = x.f < acc.f ? x.f : acc.f;
        return;
      case ReduceKind::kAll:
        acc.f = acc.f != 0 && x.f != 0;
        return;
      default:
        acc.f = acc.f != 0 || x.f != 0;
        return;
    }
  }
  switch (in.reduce) {
    case ReduceKind::kSum:
      acc = ApplyBinary(BinaryOp::kAdd, t, acc, x);
      return;
    case ReduceKind::kProd:
      acc = ApplyBinary(BinaryOp::kMultiply, t, acc, x);
      return;
    case ReduceKind::kMax:
      acc = ApplyBinary(BinaryOp::kMax, t, acc, x);
      return;
    case ReduceKind::kMin:
      acc = ApplyBinary(BinaryOp::kMin, t, acc, x);
      return;
    case ReduceKind::kAll:
      acc.i = acc.i != 0 && x.i != 0;
      return;
    default:
      acc.i = acc.i != 0 || x.i != 0;
      return;
  }
}

// The first element always counts, so that an all-NaN (or all-lowest) range gives a position in
// it.
void TakeArg(const Instruction& in, Scalar x, int64_t step, Scalar& best, int64_t& position) {
  BinaryOp better = in.reduce == ReduceKind::kArgMax ? BinaryOp::kGreater : BinaryOp::kLess;
  bool wins = ApplyBinary(better, in.operand_dtype, x, best).i != 0;
  bool ties = ApplyBinary(BinaryOp::kEqual, in.operand_dtype, x, best).i != 0;
  if (wins || (ties && (in.select_last || position < 0))) {
    best = x;
    position = step;
  }
}

}  // namespace

Status Machine::Run(const Code& code, int lanes, Mask mask) {
  for (const Instruction& in : code.instructions) {
    Scalar* out = slot(in.result);
    switch (in.kind) {
      case ExprKind::kIntImm:
      case ExprKind::kFloatImm:
        std::fill(out, out + lanes, in.constant);
        break;
      case ExprKind::kLoad:
        RELAYVM_RETURN_IF_ERROR(RunLoad(in, out, lanes, mask));
        break;
      case ExprKind::kUnary: {
        const Scalar* x = slot(in.operands[0]);
        for (int i = 0; i < lanes; ++i) out[i] = ApplyUnary(in.unary, in.operand_dtype, x[i]);
        break;
      }
      case ExprKind::kBinary:
        RunBinary(in, out, lanes);
        break;
      case ExprKind::kCast: {
        const Scalar* x = slot(in.operands[0]);
        for (int i = 0; i < lanes; ++i) out[i] = ApplyCast(in.operand_dtype, in.dtype, x[i]);
        break;
      }
      case ExprKind::kReinterpret: {
        const Scalar* x = slot(in.operands[0]);
        for (int i = 0; i < lanes; ++i) out[i] = ApplyReinterpret(in.operand_dtype, in.dtype, x[i]);
        break;
      }
      case ExprKind::kSelect:
        RELAYVM_RETURN_IF_ERROR(RunSelect(in, out, lanes, mask));
        break;
      case ExprKind::kReduce:
        RELAYVM_RETURN_IF_ERROR(RunReduce(in, out, lanes, mask));
        break;
      case ExprKind::kChecked:
        RELAYVM_RETURN_IF_ERROR(RunChecked(in, out, lanes, mask));
        break;
      default:
        return Status(StatusCode::kInternal, "unexpected instruction in the evaluator");
    }
  }
  return OkStatus();
}

Status Machine::RunLoad(const Instruction& in, Scalar* out, int lanes, Mask mask) {
  int64_t flat[kBlock] = {};
  for (size_t d = 0; d < in.strides.size(); ++d) {
    const Scalar* index = slot(in.operands[d]);
    int64_t extent = in.tensor->shape[d];
    int64_t stride = in.strides[d];
    for (int i = 0; i < lanes; ++i) {
      if (mask != nullptr && mask[i] == 0) continue;
      if (index[i].i < 0 || index[i].i >= extent) {
        return Status(StatusCode::kOutOfRange,
                      fmt::format("index {} out of range for dimension {} of {}, which is {}",
                                  index[i].i, d, in.node->name, extent));
      }
      flat[i] += index[i].i * stride;
    }
  }
  const std::byte* data = in.tensor->data.data();
  int bytes = DTypeBytes(in.dtype);
  if (mask == nullptr && in.dtype == DType::kFloat32) {
    // Weights of a mapped file stand anywhere.
    for (int i = 0; i < lanes; ++i) {
      float value;
      std::memcpy(&value, data + flat[i] * bytes, sizeof value);
      out[i].f = value;
    }
    return OkStatus();
  }
  for (int i = 0; i < lanes; ++i) {
    bool on = mask == nullptr || mask[i] != 0;
    out[i] = on ? ReadElement(in.dtype, data + flat[i] * bytes) : IntScalar(0);
  }
  return OkStatus();
}

template <typename Fn>
void Machine::Lanes(const Instruction& in, Scalar* out, int lanes, Fn fn) {
  const Scalar* a = slot(in.operands[0]);
  const Scalar* b = slot(in.operands[1]);
  for (int i = 0; i < lanes; ++i) out[i] = fn(a[i], b[i]);
}

// The operators that real programs spend their time in get a loop of their own.
void Machine::RunBinary(const Instruction& in, Scalar* out, int lanes) {
  DType t = in.operand_dtype;
  if (t == DType::kInt64) {
    switch (in.binary) {
      case BinaryOp::kAdd:
        return Lanes(in, out, lanes, [](Scalar a, Scalar b) {
          return IntScalar(
              static_cast<int64_t>(static_cast<uint64_t>(a.i) + static_cast<uint64_t>(b.i)));
        });
      case BinaryOp::kMultiply:
        return Lanes(in, out, lanes, [](Scalar a, Scalar b) {
          return IntScalar(
              static_cast<int64_t>(static_cast<uint64_t>(a.i) * static_cast<uint64_t>(b.i)));
        });
      case BinaryOp::kLess:
        return Lanes(in, out, lanes, [](Scalar a, Scalar b) { return IntScalar(a.i < b.i); });
      case BinaryOp::kGreaterEqual:
        return Lanes(in, out, lanes, [](Scalar a, Scalar b) { return IntScalar(a.i >= b.i); });
      default:
        break;
    }
  }
  if (t == DType::kFloat32) {
    auto round = [](double v) { return FloatScalar(static_cast<float>(v)); };
    switch (in.binary) {
      case BinaryOp::kAdd:
        return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f + b.f); });
      case BinaryOp::kSubtract:
        return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f - b.f); });
      case BinaryOp::kMultiply:
        return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f * b.f); });
      case BinaryOp::kDivide:
        return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f / b.f); });
      default:
        break;
    }
  }
  Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return ApplyBinary(in.binary, t, a, b); });
}

Status Machine::RunSelect(const Instruction& in, Scalar* out, int lanes, Mask mask) {
  const Scalar* condition = slot(in.operands[0]);
  uint8_t on_true[kBlock];
  uint8_t on_false[kBlock];
  bool any_true = false;
  bool any_false = false;
  for (int i = 0; i < lanes; ++i) {
    bool on = mask == nullptr || mask[i] != 0;
    on_true[i] = on && condition[i].i != 0;
    on_false[i] = on && condition[i].i == 0;
    any_true = any_true || on_true[i] != 0;
    any_false = any_false || on_false[i] != 0;
  }
  if (any_true) {
    RELAYVM_RETURN_IF_ERROR(
        Run(*in.first, lanes, any_false || mask != nullptr ? on_true : nullptr));
  }
  if (any_false) {
    RELAYVM_RETURN_IF_ERROR(
        Run(*in.second, lanes, any_true || mask != nullptr ? on_false : nullptr));
  }
  const Scalar* if_true = slot(in.first->result);
  const Scalar* if_false = slot(in.second->result);
  for (int i = 0; i < lanes; ++i)
    out[i] = on_true[i] != 0 ? if_true[i] : (on_false[i] != 0 ? if_false[i] : IntScalar(0));
  return OkStatus();
}

Status Machine::RunChecked(const Instruction& in, Scalar* out, int lanes, Mask mask) {
  const Scalar* x = slot(in.operands[0]);
  const Scalar* least = slot(in.operands[1]);
  const Scalar* end = slot(in.operands[2]);
  for (int i = 0; i < lanes; ++i) {
    const bool on = mask == nullptr || mask[i] != 0;
    if (on && (x[i].i < least[i].i || x[i].i >= end[i].i)) {
      return Status(StatusCode::kOutOfRange,
                    "index out of range" + OutOfRangeText(x[i].i, least[i].i, end[i].i));
    }
    out[i] = on ? x[i] : least[i];
  }
  return OkStatus();
}

Status Machine::RunReduce(const Instruction& in, Scalar* out, int lanes, Mask mask) {
  bool is_arg = in.reduce == ReduceKind::kArgMax || in.reduce == ReduceKind::kArgMin;
  std::vector<Scalar> best(static_cast<size_t>(lanes), ReduceIdentity(in.reduce, in.operand_dtype));
  std::vector<int64_t> position(static_cast<size_t>(lanes), -1);
  int64_t total = 1;
  for (int64_t extent : in.extents) total *= extent;
  std::vector<int64_t> index(in.extents.size(), 0);
  for (int64_t step = 0; step < total; ++step) {
    for (size_t d = 0; d < index.size(); ++d) {
      Scalar* axis = slot(in.axis_slots[d]);
      std::fill(axis, axis + lanes, IntScalar(index[d]));
    }
    RELAYVM_RETURN_IF_ERROR(Run(*in.first, lanes, mask));
    const Scalar* x = slot(in.first->result);
    for (int i = 0; i < lanes; ++i) {
      Scalar& acc = best[static_cast<size_t>(i)];
      if (is_arg) {
        TakeArg(in, x[i], step, acc, position[static_cast<size_t>(i)]);
      } else {
        Accumulate(in, x[i], acc);
      }
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < in.extents[d]) break;
      index[d] = 0;
    }
  }
  for (size_t i = 0; i < static_cast<size_t>(lanes); ++i) {
    if (is_arg) {
      int64_t p = std::max<int64_t>(position[i], 0);
      out[i] = ApplyCast(DType::kInt64, in.dtype, IntScalar(p));
    } else {
      out[i] = IsFloat(in.dtype) ? FloatScalar(RoundToDType(best[i].f, in.dtype)) : best[i];
    }
  }
  return OkStatus();
}

}  // namespace relayvm::te

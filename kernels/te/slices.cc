#include "kernels/te/slices.h"

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace relayvm::te {
namespace {

// Walks over both computations side by side.
class Comparison {
 public:
  Comparison(const Dim& whole, const Dim& slice, size_t num_inputs)
      : whole_(whole), slice_(slice), roles_(num_inputs, Role::kNone) {}

  // `is_sliced`: their first dims are the batch's.
  bool IsSame(const Tensor& a, const Tensor& b, bool is_sliced) {
    if (done_.contains({a.get(), b.get(), is_sliced})) return true;
    if (a->dtype != b->dtype || a->rank() != b->rank() || (is_sliced && a->rank() == 0))
      return false;
    if (is_sliced && (a->shape[0] != whole_ || b->shape[0] != slice_)) return false;
    for (size_t i = is_sliced ? 1 : 0; i < a->shape.size(); ++i) {
      if (a->shape[i] != b->shape[i]) return false;
    }
    if (a->is_placeholder() || b->is_placeholder()) {
      if (!a->is_placeholder() || !b->is_placeholder() || a->input_index != b->input_index ||
          a->input_index < 0 || static_cast<size_t>(a->input_index) >= roles_.size())
        return false;
      const Role role = is_sliced ? Role::kSliced : Role::kShared;
      Role& known = roles_[static_cast<size_t>(a->input_index)];
      if (known != Role::kNone && known != role) return false;
      known = role;
    } else {
      for (size_t i = 0; i < a->axes.size(); ++i) axes_[a->axes[i].get()] = b->axes[i].get();
      if (is_sliced) batch_axes_.insert(a->axes[0].get());
      if (!IsSame(a->body, b->body)) return false;
    }
    done_.insert({a.get(), b.get(), is_sliced});
    return true;
  }

  std::vector<bool> sliced_inputs() const {
    std::vector<bool> sliced;
    for (const Role role : roles_) sliced.push_back(role == Role::kSliced);
    return sliced;
  }

 private:
  enum class Role : uint8_t { kNone, kSliced, kShared };

  bool IsBatchAxis(const Expr& e) const {
    return e->kind == ExprKind::kAxis && batch_axes_.contains(e->axis.get());
  }

  // A batch of one has its only place as a number, too.
  bool IsOwnPlace(const Expr& a, const Expr& b) const {
    if (!IsBatchAxis(a)) return false;
    if (b->kind == ExprKind::kIntImm) return slice_.is_const(1) && b->int_value == 0;
    return b->kind == ExprKind::kAxis && axes_.at(a->axis.get()) == b->axis.get();
  }

  bool IsSame(const Expr& a, const Expr& b) {
    if (compared_.contains({a.get(), b.get()})) return true;
    if (a->kind != b->kind || a->dtype != b->dtype || a->operands.size() != b->operands.size() ||
        a->int_value != b->int_value || a->unary != b->unary || a->binary != b->binary ||
        a->reduce != b->reduce || a->select_last != b->select_last ||
        a->axes.size() != b->axes.size() ||
        std::bit_cast<uint64_t>(a->float_value) != std::bit_cast<uint64_t>(b->float_value))
      return false;
    if (a->kind == ExprKind::kDim && a->dim != b->dim) return false;
    if (a->kind == ExprKind::kAxis) {
      const auto at = axes_.find(a->axis.get());
      return !IsBatchAxis(a) && at != axes_.end() && at->second == b->axis.get();
    }
    for (size_t i = 0; i < a->axes.size(); ++i) {
      if (a->axes[i]->extent != b->axes[i]->extent) return false;
      axes_[a->axes[i].get()] = b->axes[i].get();
    }
    size_t first = 0;
    if (a->kind == ExprKind::kLoad) {
      const bool is_sliced = !a->operands.empty() && IsOwnPlace(a->operands[0], b->operands[0]);
      first = is_sliced ? 1 : 0;
      if (!IsSame(a->tensor, b->tensor, is_sliced)) return false;
    }
    for (size_t i = first; i < a->operands.size(); ++i) {
      if (!IsSame(a->operands[i], b->operands[i])) return false;
    }
    compared_.insert({a.get(), b.get()});
    return true;
  }

  const Dim whole_, slice_;
  std::vector<Role> roles_;
  std::unordered_map<const AxisNode*, const AxisNode*> axes_;  // of the whole: the slice's
  std::set<const AxisNode*> batch_axes_;                       // of the whole
  std::set<std::pair<const ExprNode*, const ExprNode*>> compared_;
  std::set<std::tuple<const TensorNode*, const TensorNode*, bool>> done_;
};

}  // namespace

std::optional<std::vector<bool>> SlicedInputs(const std::vector<Tensor>& whole,
                                              const std::vector<Tensor>& slice, size_t num_inputs) {
  if (whole.empty() || whole.size() != slice.size() || whole[0]->rank() == 0 ||
      slice[0]->rank() == 0)
    return std::nullopt;
  Comparison comparison(whole[0]->shape[0], slice[0]->shape[0], num_inputs);
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!comparison.IsSame(whole[i], slice[i], /*is_sliced=*/true)) return std::nullopt;
  }
  return comparison.sliced_inputs();
}

}  // namespace relayvm::te

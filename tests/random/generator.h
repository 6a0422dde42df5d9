// A generator of random well-typed Relay programs, as text with inputs as text: what fails can be
// read, and replayed with relayrun.
//
// A program grows by steps. A step looks for operands among the values in scope, writes one
// binding (or a whole if, match, function ...) and adds its value to the scope. Programs do not
// fail when they run. Equal seeds give equal programs on every machine.
//
//   generator.cc       scopes, blocks, @main and its inputs
//   make_value.cc      a value of a given type
//   elementwise_steps.cc, reduce_steps.cc, shape_steps.cc, select_steps.cc
//                      operators
//   dims_steps.cc      tensors whose sizes other tensors' contents decide
//   control_steps.cc   scalars, if, match, data, tuples, references
//   function_steps.cc  closures, functions, recursion, functions of functions
//
// Tested by the ctest entry random_programs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/random/random.h"
#include "tests/random/types.h"

namespace relayvm::random_programs {

struct RandomProgram {
  std::string text;
  std::array<std::vector<std::string>, kRuns> inputs;  // a literal for each parameter of @main
  std::set<std::string> features;                      // what it uses: "if", "op.take", ...
};

// What a program can use, other than operators: a test counts how many do.
extern const std::vector<std::string> kFeatures;

RandomProgram Generate(const Random& random);

struct Value {
  std::string text;  // a variable, or a pure expression without one
  TypePtr type;
  int uses = 0;
};
// Whether two correct computations of it are equal.
inline bool IsComparable(const Value& v) {
  return !IsFloat(v.type->dtype) || v.type->range.exact();
}
std::string Ints(const std::vector<int64_t>& values);  // "[1, 2]"

// A scalar variable that becomes dims, and the dim that it becomes.
struct SizeValue {
  std::string text;
  DType dtype;
  Size size;
};

struct Scope {
  std::vector<Value> values;
  std::vector<SizeValue> sizes;
  std::string lines;
  int indent = 1;
  int depth = 0;  // of blocks
};

class Generator {
 public:
  explicit Generator(const Random& random) : random_(random) {}
  RandomProgram Run();

 private:
  // --- Chance ---
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& all) {
    return all[static_cast<size_t>(Below(static_cast<int>(all.size())))];
  }

  // --- Scopes (generator.cc) ---
  using Predicate = std::function<bool(const Value&)>;
  std::string NewName(const char* stem) { return stem + std::to_string(next_name_++); }
  // A value that fits, later ones rather than earlier; null when there is none. Valid until the
  // scope grows.
  Value* Pick(Scope& scope, const Predicate& fits);
  std::optional<Value> PickCopy(Scope& scope, const Predicate& fits);
  std::optional<Value> PickTensor(Scope& scope, const Predicate& fits);
  // Adds `text` as a value: as a let, a graph binding, or (when it is pure) as it stands.
  bool Add(Scope& scope, const std::string& feature, const std::string& text, TypePtr type,
           bool pure = true);
  Value Let(Scope& scope, const std::string& text, TypePtr type, bool pure);
  void Declare(Scope& scope, std::string variable, TypePtr type);
  // As an annotation may say it: some sizes left open, some said that are not known.
  TypePtr Restated(const Type& type);
  // For a value from elsewhere: what its type does not know of sizes is not that of other values.
  TypePtr Fresh(const TypePtr& type);
  void Use(const std::string& feature) { features_.insert(feature); }
  Scope Inner(const Scope& outer);
  // `{ lines; result }` after some steps; the result is of `want` (less known sizes may be known).
  std::optional<std::string> BlockOf(Scope scope, int steps, const TypePtr& want,
                                     TypePtr* found = nullptr);
  // `value` joined with something that was computed from `begin` on, so that little is dead.
  static Value Combine(Scope& scope, const Value& value, size_t begin);
  void Steps(Scope& scope, int count);
  bool Step(Scope& scope);
  std::string InputText(const Type& type, int run, int depth);
  TypePtr ParameterType(int index);
  Size SomeSize();
  std::vector<TypePtr> SomeFields();
  void DeclareData();

  // --- Values of a type (make_value.cc) ---
  // `value` scaled to the contract of its type; nothing when it can't be.
  std::optional<Value> Fit(const Value& value, const Type& want);
  // A value of `want` within its contracts, from the scope or made.
  std::optional<std::string> MakeValue(Scope& scope, const TypePtr& want, int depth = 0);
  std::optional<std::string> MakeTensor(Scope& scope, const Type& want);
  std::optional<std::string> MakeData(Scope& scope, const Type& want, int depth);
  std::optional<std::string> MakeClosure(Scope& scope, const Type& want, int depth);
  static std::string Number(DType dtype, double value);
  std::string SmallNumber(DType dtype);
  // An int32 from 0 to `limit`, for counters.
  std::string SmallCount(Scope& scope, int limit);

  struct Constructor {
    std::string name;
    std::vector<TypePtr> fields;  // for the type's arguments
  };
  std::vector<Constructor> ConstructorsOf(const Type& adt) const;

  // --- Steps: true when something was added ---
  bool UnaryStep(Scope& scope);
  bool BinaryStep(Scope& scope);
  bool CompareStep(Scope& scope);
  bool LogicStep(Scope& scope);
  bool WhereStep(Scope& scope);
  bool CastStep(Scope& scope);
  bool ReduceStep(Scope& scope);
  bool ArgReduceStep(Scope& scope);
  bool SoftmaxStep(Scope& scope);
  bool ReshapeStep(Scope& scope);
  bool TransposeStep(Scope& scope);
  bool DimsStep(Scope& scope);
  bool ConcatenateStep(Scope& scope);
  bool TupleArgumentStep(Scope& scope);
  bool SplitStep(Scope& scope);
  bool TakeStep(Scope& scope);
  bool SliceStep(Scope& scope);
  bool DenseStep(Scope& scope);
  bool RepeatStep(Scope& scope);
  bool CreateStep(Scope& scope);
  bool ScanStep(Scope& scope);
  bool ShapeStep(Scope& scope);
  bool SortStep(Scope& scope);
  bool DataShapeStep(Scope& scope);
  bool SizeStep(Scope& scope);
  bool SizedStep(Scope& scope);

  bool ScalarStep(Scope& scope);
  bool IfStep(Scope& scope);
  bool DataStep(Scope& scope);
  bool MatchStep(Scope& scope);
  bool TupleStep(Scope& scope);
  bool TupleGetStep(Scope& scope);
  bool RefStep(Scope& scope);
  bool RefReadStep(Scope& scope);
  bool RefWriteStep(Scope& scope);
  bool ClosureStep(Scope& scope);
  bool CallValueStep(Scope& scope);
  bool LocalRecursionStep(Scope& scope);
  bool GrowStep(Scope& scope);
  bool FunctionStep(Scope& scope);
  bool CallAgainStep(Scope& scope);
  bool RecursionStep(Scope& scope);
  bool MutualRecursionStep(Scope& scope);
  bool CurriedStep(Scope& scope);
  bool ListFunctionStep(Scope& scope);
  bool TreeFunctionStep(Scope& scope);
  bool PolymorphicStep(Scope& scope);

  // --- Helpers of steps ---
  std::optional<Shape> Broadcast(const Shape& a, const Shape& b) const;
  // A vector of the numbers, which are scalars of one dtype.
  std::string ShapeText(const std::vector<std::string>& numbers);
  bool Concatenated(Shape* shape, const Shape& next, size_t axis);
  bool Reduced(const Type& x, std::string* attrs, Shape* out, int64_t* count, bool* empty);
  struct PatternVar {
    std::string name;
    TypePtr type;
  };
  std::string RandomPattern(const TypePtr& type, int depth, std::vector<PatternVar>* vars);
  // A type that values in scope have, for results of blocks; null when there is none.
  TypePtr ResultType(Scope& scope);
  struct Function {
    std::string name;
    std::vector<TypePtr> params;
    TypePtr result;
  };
  // Arguments for `params`, each of them chosen from the scope or made.
  std::optional<std::string> Arguments(Scope& scope, const std::vector<TypePtr>& params);
  // Values of the scope to be parameters of a new function, as contracts.
  std::vector<Value> SomeOperands(Scope& scope, int count);
  const std::string& Library(const std::string& name);

  Random random_;
  int next_name_ = 0, next_graph_ = 0, next_unknown_ = 1;
  int budget_ = 0;  // steps left
  std::set<std::string> features_;
  std::string definitions_;
  std::set<std::string> library_;
  std::vector<Function> functions_;
  std::array<std::array<int64_t, kRuns>, 4> dynamic_{};  // the sizes that `?` stands for
  std::vector<Constructor> own_constructors_;            // of the program's own type
};

}  // namespace relayvm::random_programs

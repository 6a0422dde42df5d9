// Functions of the compiler's IR as Python's nodes, and back. The classes that users see are in
// relayvm/compiler/nodes.py; records.py there makes them of lists of records, operands before their
// users, and such lists of them. A record is a tuple of
//
//   kind      a string, as below
//   operands  positions of other records
//   payload   what else the kind has
//   type      a Type, None where it follows from the operands (let) or there is none (op)
//   span      a Span, None where it is unknown
//   bound     the Var that the value is bound to, None for atoms, lets and nodes made in Python
//
//   kind         operands               payload
//   var                                 Var, or (name, Type or None)
//   constant                            Constant
//   global                              name
//   constructor                         (type definition, name)
//   op                                  name; of a text as it was written, where no call has it
//   op_call      args                   Call: operator and attributes
//   call         callee, args           None, or {attributes} of a text as it was written
//   tuple        fields
//   get          tuple                  index
//   let          var, value, body
//   function     params, body           Function, or (type params, result Type or None, {attributes})
//   if           condition, then, else
//   match        data, clauses          whether the clauses are complete
//   clause       pattern, value
//   pattern_any
//   pattern_var  var
//   pattern_constructor  patterns       (type definition, name)
//   pattern_tuple        patterns
//   ref_create, ref_read, ref_write     (operands in this order)
//   internal     args                   Expr: of a kind that only the compiler makes
//
// Handles keep what owns their node. Types, dims and constants that are made in Python belong to no
// module: where they, or those of another module, come into one, their symbols and type variables
// become new ones of it. REQUIRES: the GIL is held.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/token_places.h"
#include "compiler/ir/ir.h"
#include "tools/python/src/module.h"

namespace relayvm::python {

// What owns a module's nodes and numbers its symbols; null: made in Python.
using Home = std::shared_ptr<ir::Arena>;

struct PyVar {
  const ir::Var* var;
  Home home;
};
struct PyType {
  ir::Type type;
  Home home;
};
struct PyDim {
  Dim dim;
  Home home;
};
struct PyConstant {
  std::shared_ptr<const ir::Constant> constant;
  Home home;
};
struct PyFunction {
  std::shared_ptr<const ir::Function> function;  // the module's own node, or a literal's
  Home home;
  std::vector<std::string> attr_order;  // of a text as it was written
};
struct PyExpr {
  const ir::Expr* expr;
  Home home;
};
// A call of an operator: the attributes are complete.
struct PyCall {
  const OpDef* op;
  Attrs attrs;
  Home home;
};
struct PySpan {
  ir::Span span;
  std::shared_ptr<ir::SourceMap> sources;
  frontend::WrittenPlace written = {};  // of a node of a text as it was written; line 0: none
};

// Symbols and type variables that Python makes have ids from here on.
inline constexpr uint32_t kFirstPythonId = 1U << 31;

// The records of a function of a typed module; the last is it.
pybind11::list FunctionRecords(const PyModule& module, const std::string& name);

// The records of a text as it stands, where in them its functions are, and a module of its types:
// ([record], [(name, position)], Module). Types are those that were written. Of an expression: it
// alone, without a name. The first `skipped` bytes come before line 1.
pybind11::tuple WrittenRecords(const std::string& name, const std::string& text, bool is_expression,
                               size_t skipped);

// The module whose functions are those of `functions`: name -> Function, for one that stays as it
// is, or the records of one that is made anew. Typed and verified, as far as passes after
// `module.holds` need it. `who` is named in errors. Where `module` is not typed, the result is a
// program as written: its types are checked, and left to be inferred.
PyModule WithFunctions(const PyModule& module, const pybind11::dict& functions,
                       const std::string& who);

// The same module, typed, and the types of the functions that are made anew: name -> [Type of each
// record, None of what has none]. What variables are called is not kept, nor what values are bound
// to; errors may name them otherwise.
pybind11::tuple InferFunctions(const PyModule& module, const pybind11::dict& functions);

// AttrValue of an object, and back: None, bool, int, Dim, float, str, tuples of them.
AttrValue AttrOf(pybind11::handle object);
pybind11::object ObjectOf(const AttrValue& value, const Home& home);

// relayvm.compiler._native's classes and functions for all this.
void AddNodes(pybind11::module_& m);
void AddNodeBuilder(pybind11::class_<PyModule>& module);

}  // namespace relayvm::python

/* Custom operators in a shared library: `relayc --plugin libmine.so`, and the same for vmrun. A
 * standalone C header (with kernel_abi.h).
 *
 * The library exports
 *     const RelayvmOperatorPlugin* relayvm_operator_plugin(void);
 * which gives its operators. Relay text calls one by its name, `mine.scale(%x, factor=2f)`; in an
 * ONNX model it is the node of its domain and op_type. It takes tensors, gives a tensor (or a tuple
 * of them), and depends on nothing else: the compiler may drop, merge and move its calls.
 *
 * `infer` gives the types of the results. Dims may be symbols; they are handles here, and
 * arithmetic on them is the context's. What goes wrong there (a wrong input, fail(), an axis that
 * does not exist) is remembered, and the call of the operator is then an error of the program:
 * functions always return.
 *
 * `kernel` is called with the range 0..1 (kernel_abi.h); buffers: inputs, then outputs. Scalars:
 * for each input, then each output: dtype, rank, dims; then the attributes in order: INT and BOOL
 * their value, FLOAT the bits of its double, INTS the count and then the values. The dims that it
 * sees are those of the buffers. Executables name the operators that they call: who runs them loads
 * the library (vmrun --plugin; LoadOptions::kernels = LoadOperatorLibrary(path)->kernels()).
 *
 * Both may be called by several threads at once. The library stays loaded. Tested by
 * tests/operator_plugins; tools/examples/operators is an example. */
#ifndef RELAYVM_KERNELS_RUNTIME_OPERATOR_PLUGIN_H_
#define RELAYVM_KERNELS_RUNTIME_OPERATOR_PLUGIN_H_

#include <stdint.h>

#include "bytecode/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has nothing else. */
#define RELAYVM_OPERATOR_ABI 1

/* Of tensors' elements: relayvm_dtype of c_api.h. */
enum RelayvmElement {
  RELAYVM_ELEMENT_BOOL = 0,
  RELAYVM_ELEMENT_INT8 = 1,
  RELAYVM_ELEMENT_INT16 = 2,
  RELAYVM_ELEMENT_INT32 = 3,
  RELAYVM_ELEMENT_INT64 = 4,
  RELAYVM_ELEMENT_UINT8 = 5,
  RELAYVM_ELEMENT_UINT16 = 6,
  RELAYVM_ELEMENT_UINT32 = 7,
  RELAYVM_ELEMENT_UINT64 = 8,
  RELAYVM_ELEMENT_FLOAT16 = 9,
  RELAYVM_ELEMENT_BFLOAT16 = 10,
  RELAYVM_ELEMENT_FLOAT32 = 11,
  RELAYVM_ELEMENT_FLOAT64 = 12
};

/* A dim, valid until `infer` returns. */
typedef int32_t RelayvmDim;

typedef struct RelayvmTypeContext RelayvmTypeContext;
struct RelayvmTypeContext {
  uint32_t struct_size; /* of the caller: functions from there on are absent */
  uint32_t num_inputs;
  int32_t (*dtype)(const RelayvmTypeContext* c, uint32_t input);
  uint32_t (*rank)(const RelayvmTypeContext* c, uint32_t input);
  RelayvmDim (*dim)(const RelayvmTypeContext* c, uint32_t input, uint32_t axis);
  RelayvmDim (*number)(const RelayvmTypeContext* c, int64_t value);
  /* 1, and *value, when the dim is a number that is known now. */
  int32_t (*is_known)(const RelayvmTypeContext* c, RelayvmDim dim, int64_t* value);
  RelayvmDim (*add)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  RelayvmDim (*sub)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  RelayvmDim (*mul)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  RelayvmDim (*floordiv)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  RelayvmDim (*min)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  RelayvmDim (*max)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  /* States that a is b, or one of them is 1, and gives the other. */
  RelayvmDim (*broadcast)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b);
  /* State what must hold: an error when it cannot, a check when the program runs where it is not
   * proved. `what` tells people: "the columns". */
  void (*require_equal)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b, const char* what);
  void (*require_at_least)(const RelayvmTypeContext* c, RelayvmDim a, RelayvmDim b,
                           const char* what);
  /* Attributes by position: INT, BOOL; FLOAT; INTS. */
  int64_t (*attr_int)(const RelayvmTypeContext* c, uint32_t attribute);
  double (*attr_float)(const RelayvmTypeContext* c, uint32_t attribute);
  uint32_t (*attr_count)(const RelayvmTypeContext* c, uint32_t attribute);
  int64_t (*attr_element)(const RelayvmTypeContext* c, uint32_t attribute, uint32_t index);
  void (*result)(const RelayvmTypeContext* c, uint32_t output, int32_t dtype, uint32_t rank,
                 const RelayvmDim* dims);
  void (*fail)(const RelayvmTypeContext* c, const char* message);
};

enum RelayvmAttributeKind {
  RELAYVM_ATTRIBUTE_INT = 0,
  RELAYVM_ATTRIBUTE_FLOAT = 1,
  RELAYVM_ATTRIBUTE_BOOL = 2,
  RELAYVM_ATTRIBUTE_INTS = 3
};
typedef struct RelayvmAttribute {
  const char* name;
  int32_t kind;
  int32_t is_required;  /* else it has the default; of INTS none */
  int64_t default_int;  /* INT, BOOL */
  double default_float; /* FLOAT */
} RelayvmAttribute;

typedef struct RelayvmOperator {
  const char* name;        /* in Relay text: "mine.scale" */
  const char* onnx_domain; /* NULL: not in ONNX */
  const char* onnx_name;
  uint32_t num_inputs;
  uint32_t num_outputs; /* above 1: the result is a tuple */
  const RelayvmAttribute* attributes;
  uint32_t num_attributes;
  void (*infer)(const RelayvmTypeContext* c);
  RelayvmKernelFn kernel;
} RelayvmOperator;

typedef struct RelayvmOperatorPlugin {
  uint32_t abi;           /* RELAYVM_OPERATOR_ABI; first in every version */
  uint32_t operator_size; /* sizeof(RelayvmOperator) */
  const RelayvmOperator* operators;
  uint32_t num_operators;
} RelayvmOperatorPlugin;

typedef const RelayvmOperatorPlugin* (*RelayvmOperatorPluginFn)(void);
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* RELAYVM_KERNELS_RUNTIME_OPERATOR_PLUGIN_H_ */

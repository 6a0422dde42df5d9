/* Operators whose type functions do what they may not, one for each mistake; and, built with
 * BAD_LIBRARY, libraries that are refused. */
#include <stddef.h>

#include "kernels/runtime/operator_plugin.h"

#define OPERATOR(function, body)                      \
  static void function(const RelayvmTypeContext* c) { \
    RelayvmDim d = c->dim(c, 0, 0);                   \
    (void)d;                                          \
    body;                                             \
  }

static void Give(const RelayvmTypeContext* c, RelayvmDim d) {
  c->result(c, 0, RELAYVM_ELEMENT_FLOAT32, 1, &d);
}
static RelayvmDim many[300];

OPERATOR(Nothing, (void)0)
OPERATOR(NegativeDim, Give(c, c->number(c, -3)))
OPERATOR(NegativeLater, Give(c, c->sub(c, d, c->number(c, 5))))
OPERATOR(HighRank, c->result(c, 0, RELAYVM_ELEMENT_FLOAT32, 300, many))
OPERATOR(BadType, c->result(c, 0, 77, 1, &d))
OPERATOR(BadOutput, c->result(c, 1, RELAYVM_ELEMENT_FLOAT32, 1, &d))
OPERATOR(NoDims, c->result(c, 0, RELAYVM_ELEMENT_FLOAT32, 1, NULL))
OPERATOR(BadHandle, Give(c, 12345))
OPERATOR(BadInput, Give(c, c->dim(c, 3, 0)))
OPERATOR(BadAxis, Give(c, c->dim(c, 0, 9)))
OPERATOR(BadAttribute, Give(c, c->number(c, c->attr_int(c, 4))))
OPERATOR(WrongAttribute, Give(c, c->number(c, c->attr_int(c, 0))))
OPERATOR(BadElement, Give(c, c->number(c, c->attr_element(c, 1, 9))))
OPERATOR(ByZero, Give(c, c->floordiv(c, d, c->number(c, 0))))
OPERATOR(Overflow, Give(c, c->mul(c, c->number(c, INT64_MAX), c->number(c, INT64_MAX))))
OPERATOR(Fails, c->fail(c, NULL))
OPERATOR(Unequal, (c->require_equal(c, c->number(c, 2), c->number(c, 3), "the rows"), Give(c, d)))
OPERATOR(Same, Give(c, d))
OPERATOR(Sums, Give(c, c->number(c, c->attr_element(c, 1, 0) + c->attr_count(c, 1))))

static int32_t Refuse(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                      uint32_t end) {
  (void)env, (void)args, (void)begin, (void)end;
  return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
}

static const RelayvmAttribute kAttributes[] = {
    {"f", RELAYVM_ATTRIBUTE_FLOAT, 0, 0, 1.5},
    {"list", RELAYVM_ATTRIBUTE_INTS, 0, 0, 0},
};
#define ENTRY(name, infer) \
  { "bad." name, NULL, NULL, 1, 1, kAttributes, 2, infer, Refuse }
static const RelayvmOperator kOperators[] = {
    ENTRY("nothing", Nothing),
    ENTRY("negative", NegativeDim),
    ENTRY("negative_later", NegativeLater),
    ENTRY("high_rank", HighRank),
    ENTRY("bad_type", BadType),
    ENTRY("bad_output", BadOutput),
    ENTRY("no_dims", NoDims),
    ENTRY("bad_handle", BadHandle),
    ENTRY("bad_input", BadInput),
    ENTRY("bad_axis", BadAxis),
    ENTRY("bad_attribute", BadAttribute),
    ENTRY("wrong_attribute", WrongAttribute),
    ENTRY("bad_element", BadElement),
    ENTRY("by_zero", ByZero),
    ENTRY("overflow", Overflow),
    ENTRY("fails", Fails),
    ENTRY("unequal", Unequal),
    ENTRY("refuses", Same),
    ENTRY("sums", Sums),
};

const RelayvmOperatorPlugin* relayvm_operator_plugin(void) {
  static RelayvmOperatorPlugin plugin = {RELAYVM_OPERATOR_ABI, sizeof(RelayvmOperator), kOperators,
                                         sizeof(kOperators) / sizeof(kOperators[0])};
#if BAD_LIBRARY == 1
  plugin.abi = 77;
#elif BAD_LIBRARY == 2
  return NULL;
#elif BAD_LIBRARY == 3
  static RelayvmOperator wrong;
  wrong = kOperators[0];
  wrong.name = "add";
  plugin.operators = &wrong;
  plugin.num_operators = 1;
#elif BAD_LIBRARY == 4
  static RelayvmOperator wrong;
  wrong = kOperators[0];
  wrong.name = "two words";
  plugin.operators = &wrong;
  plugin.num_operators = 1;
#elif BAD_LIBRARY == 5
  static RelayvmOperator wrong;
  wrong = kOperators[0];
  wrong.kernel = NULL;
  plugin.operators = &wrong;
  plugin.num_operators = 1;
#elif BAD_LIBRARY == 6
  plugin.num_operators = 0;
#endif
  return &plugin;
}

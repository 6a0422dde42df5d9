// Formulas over inputs of nodes.
#pragma once

#include "compiler/import/arithmetic.h"
#include "compiler/import/onnx/convert.h"

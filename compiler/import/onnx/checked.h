// What is checked of nodes' inputs.
#pragma once

#include "compiler/import/checked.h"
#include "compiler/import/onnx/arithmetic.h"

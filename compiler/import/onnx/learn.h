// What operators of ai.onnx.ml share: constants of attributes, and what becomes of scores.
#pragma once

#include "compiler/import/onnx/arithmetic.h"
#include "compiler/import/onnx/strings.h"

namespace relayvm::import {

inline constexpr std::string_view kLearning = "ai.onnx.ml";

// Input 0 as float32 rows of known width: (rows, width). Where the model leaves it open it is what
// its `numbers` give each of `lines`; else an error and nullopt.
std::optional<Term> Rows(NodeContext& n, size_t numbers, int64_t lines);

// post_transform of scores (rows, classes). One score alone is a number of its own: as in ONNX
// Runtime, which ONNX's text leaves open, only PROBIT applies.
Term Transformed(NodeContext& n, const Term& scores, const std::string& how);
// Labels (rows), int64 or strings, for places of classes.
Term LabelsOf(NodeContext& n, const Term& places, const Labels& labels);
// Labels of classes: classlabels_*.
Labels ClassLabels(NodeContext& n, const char* ints, const char* strings);

}  // namespace relayvm::import

#include "compiler/import/composite/nms.h"

#include "compiler/import/composite/testing.h"

namespace relayvm::import {
namespace {

using testing::CheckNear;
using testing::Graph;

// The second box overlaps the first by 9 / 11, the third none.
const std::vector<double> kBoxes = {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11};

TEST_CASE("of boxes that overlap the best is left, by class") {
  Graph g;
  NmsSpec spec{.boxes = g.Input(kBoxes, {1, 3, 4}),
               .scores = g.Input({0.5, 0.9, 0.1, 0.7, 0.2, 0.8}, {1, 2, 3})};
  spec.most = g.b.Int(2);
  spec.iou_threshold = g.b.Scalar(0.5, DType::kFloat32);
  spec.score_threshold = g.b.Scalar(0.15, DType::kFloat32);
  // (batch, class, box): of class 0 box 1, box 2 scoring too little; of class 1 boxes 2 and 0.
  CheckNear(g.Run(NonMaxSuppressed(g.b, spec)), {0, 0, 1, 0, 1, 2, 0, 1, 0});
}

TEST_CASE("boxes by their centres; none are taken where none are wanted") {
  for (const bool wanted : {true, false}) {
    Graph g;
    NmsSpec spec{.boxes = g.Constant({0.5, 0.5, 1, 1, 0.6, 0.5, 1, 1}, {1, 2, 4}),
                 .scores = g.Constant({0.5, 0.9}, {1, 1, 2}),
                 .centres = true};
    if (wanted) spec.most = g.b.Int(9);
    spec.iou_threshold = g.b.Scalar(0.5, DType::kFloat32);
    CheckNear(g.Run(NonMaxSuppressed(g.b, spec)),
              wanted ? std::vector<double>{0, 0, 1} : std::vector<double>{});
  }
}

TEST_CASE("boxes with one score each, as torchvision's nms has them") {
  Graph g;
  NmsSpec spec{.boxes = g.Input(kBoxes, {3, 4}), .scores = g.Input({0.5, 0.9, 0.1}, {3})};
  spec.iou_threshold = g.b.Scalar(0.5, DType::kFloat32);
  CheckNear(g.Run(KeptBoxes(g.b, spec)), {1, 2});
}

}  // namespace
}  // namespace relayvm::import

"""torchvision's models for networks_pytorch.py: the smallest of each family."""

import torch, torchvision
from torchvision import models as M


def images(n, size, c=3):
    return lambda: (torch.rand(n, c, size, size),)


CLASSIFIERS = """alexnet:64 convnext_tiny:32 densenet121:32 efficientnet_b0:64 efficientnet_v2_s:64 googlenet:64 inception_v3:96 mnasnet0_5:64
maxvit_t:224 mobilenet_v2:64 mobilenet_v3_small:64 mobilenet_v3_large:64 regnet_y_400mf:64 regnet_x_400mf:64 resnet18:64 resnet50:64
resnext50_32x4d:64 wide_resnet50_2:64 shufflenet_v2_x0_5:64 squeezenet1_0:64 squeezenet1_1:64 swin_t:64 swin_v2_t:64 vgg11:32 vgg11_bn:32 vit_b_32:224"""

DETECTORS = """fasterrcnn_resnet50_fpn fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_resnet50_fpn_v2 maskrcnn_resnet50_fpn keypointrcnn_resnet50_fpn
retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 fcos_resnet50_fpn ssd300_vgg16 ssdlite320_mobilenet_v3_large"""


class Detector(torch.nn.Module):
    """What people trace: a list of one image, the dict's values."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return tuple(self.model([image])[0].values())


def detector(name):
    options = dict(weights=None, weights_backbone=None, num_classes=5)
    if "ssd" not in name:
        options.update(min_size=96, max_size=128)
    if "keypoint" in name:
        options.update(num_classes=2)
    if "rcnn" in name:
        options.update(rpn_pre_nms_top_n_test=100, rpn_post_nms_top_n_test=20, box_score_thresh=0.0, box_detections_per_img=10)
    else:
        options.update(score_thresh=0.01 if "ssd" in name else 0.0, detections_per_img=10, topk_candidates=50)
    m = M.get_model(name, **options).eval()
    g = torch.Generator().manual_seed(1)
    gain = {"ssd300_vgg16": 0.2, "ssdlite320_mobilenet_v3_large": 8.0, "retinanet_resnet50_fpn": 0.3}.get(name, 2.0)  # scores that differ, below 1
    for n, p in m.named_parameters():
        if p.dim() > 1 and ("head" in n or "predictor" in n or "rpn" in n) and ("cls" in n or "bbox" in n or "logits" in n or "class" in n):
            p.data.copy_(torch.randn(p.shape, generator=g) * (gain / p[0].numel() ** 0.5))
    return m


def add(case):
    for text in CLASSIFIERS.split():
        name, size = text.split(":")
        size = int(size)
        options = dict(init_weights=False) if name in ("googlenet", "inception_v3") else {}
        make = lambda name=name, options=options: M.get_model(name, weights=None, **options)
        case("torchvision", name, make, images(2, size), ways="tse", more=images(3, size))
        if size < 96 and name not in ("maxvit_t", "vit_b_32"):
            case("torchvision", name + "_hw", make, images(2, size), ways="e", more=images(3, size + 32))
        if name in ("resnet18", "mobilenet_v3_small", "shufflenet_v2_x0_5", "swin_t"):
            case("torchvision", name, make, images(2, size), ways="fld", more=images(3, size))
    for name in DETECTORS.split():
        size = 320 if "ssd" in name else 96
        make = lambda name=name: detector(name)
        case("torchvision", name, make, lambda size=size: ([torch.rand(3, size, size), torch.rand(3, size - 16, size)],), ways="s", fixed=True)
        case("torchvision", name, lambda name=name: Detector(detector(name)), lambda size=size: (torch.rand(3, size, size),), ways="te")
    for name in "deeplabv3_mobilenet_v3_large lraspp_mobilenet_v3_large fcn_resnet50 deeplabv3_resnet50".split():
        make = lambda name=name: M.get_model(name, weights=None, weights_backbone=None, aux_loss="resnet" in name or None)
        case("torchvision", name, make, images(2, 64), ways="tse", more=images(3, 64))
        case("torchvision", name + "_hw", make, images(2, 64), ways="e", more=images(3, 96))
    for name in "r3d_18 mc3_18 r2plus1d_18 s3d mvit_v1_b mvit_v2_s swin3d_t".split():
        make = lambda name=name: M.get_model(name, weights=None)
        frames, size = (16, 224) if "mvit" in name or name == "s3d" else (4, 32)
        video = lambda n, f=frames, s=size: (torch.rand(n, 3, f, s, s),)
        case("torchvision", name, make, lambda v=video: v(1 if size == 224 else 2), ways="tse", more=None if size == 224 else lambda v=video: v(3))
    for name in "raft_small raft_large".split():
        make = lambda name=name: M.get_model(name, weights=None)
        flow = lambda: (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128))
        case("torchvision", name, make, flow, ways="tse")
    Q = M.quantization
    for name in "googlenet inception_v3 mobilenet_v2 mobilenet_v3_large resnet18 resnext101_32x8d shufflenet_v2_x0_5".split():
        size = 96 if name == "inception_v3" else 64
        options = dict(init_weights=False) if name in ("googlenet", "inception_v3") else {}
        make = lambda name=name, options=options: getattr(Q, name)(weights=None, quantize=True, **options)
        case("torchvision", "quantised_" + name, make, images(2, size), ways="ts", more=images(3, size), shake=False)

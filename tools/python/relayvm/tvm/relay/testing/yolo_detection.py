"""What YOLO's outputs tell: boxes, those that are the same thing, and pictures with them. A layer is a dict: type ("Yolo" or "Region"), output (an
array of boxes of a cell, numbers of a box, rows, columns), biases, classes; mask of "Yolo", coords and background of "Region"."""
from typing import NamedTuple

import numpy


class Box(NamedTuple):
    """A box by its centre and size."""

    x: float
    y: float
    w: float
    h: float


def nms_comparator(a, b):
    """More than 0 where a finding comes before another one: of the class sort_class, or as it is sure that there is something."""
    if b.get("sort_class", -1) >= 0:
        return a["prob"][b["sort_class"]] - b["prob"][b["sort_class"]]
    return a["objectness"] - b["objectness"]


def _box(data, at, anchor, width, height):
    """The box of a cell, in parts of the network's picture. anchor: its usual size, of a picture of width and height."""
    n, row, column = at
    x, y, w, h = (float(data[n, i, row, column]) for i in range(4))
    return Box((column + x) / data.shape[3], (row + y) / data.shape[2], float(numpy.exp(w)) * anchor[0] / width,
               float(numpy.exp(h)) * anchor[1] / height)


def _in_picture(box, im_shape, net_shape, relative):
    """A box in the picture, which stands in the middle of the network's, as large as it fits."""
    (width, height), (net_width, net_height) = im_shape, net_shape
    if net_width / width < net_height / height:
        used_width, used_height = net_width, height * net_width // width
    else:
        used_width, used_height = width * net_height // height, net_height
    x = (box.x - (net_width - used_width) / 2 / net_width) / (used_width / net_width)
    y = (box.y - (net_height - used_height) / 2 / net_height) / (used_height / net_height)
    w, h = box.w * net_width / used_width, box.h * net_height / used_height
    return Box(x, y, w, h) if relative else Box(x * width, y * height, w * width, h * height)


def _finding(box, prob, objectness, thresh):
    prob = numpy.array(prob, dtype=float)
    prob[prob < thresh] = 0
    return {"bbox": box, "prob": prob, "objectness": objectness}


def _of_yolo(layer, thresh, net_shape):
    data, anchors = layer["output"], numpy.reshape(layer["biases"], (-1, 2))
    for at in zip(*numpy.nonzero(data[:, 4] > thresh)):
        n, row, column = at
        objectness = data[n, 4, row, column]
        box = _box(data, at, anchors[layer["mask"][n]], *net_shape)
        yield {**_finding(box, objectness * data[n, 5:6 + layer["classes"], row, column], objectness, thresh), "classes": layer["classes"]}


def _of_region(layer, thresh):
    data, anchors, first = layer["output"], numpy.reshape(layer["biases"], (-1, 2)), layer["coords"]
    for row, column, n in numpy.ndindex(data.shape[2], data.shape[3], data.shape[0]):
        scale = 1 if layer["background"] else data[n, first, row, column]
        is_there = scale > thresh
        prob = scale * data[n, first + 1:first + 1 + layer["classes"], row, column] if is_there else numpy.zeros(layer["classes"])
        yield _finding(_box(data, (n, row, column), anchors[n], data.shape[3], data.shape[2]), prob, scale if is_there else 0, thresh)


def fill_network_boxes(net_shape, im_shape, thresh, relative, tvm_out):
    """What layers found: dicts of bbox, prob (of each class) and objectness. Shapes are of (width, height).
    relative: boxes in parts of the picture."""
    found = []
    for layer in tvm_out:
        if layer["type"] in ("Yolo", "Region"):
            found += _of_yolo(layer, thresh, net_shape) if layer["type"] == "Yolo" else _of_region(layer, thresh)
    for one in found:
        one["bbox"] = _in_picture(one["bbox"], im_shape, net_shape, relative)
    return found


def _common_part(a, b):
    """The area that two boxes have in common, as a part of what they cover."""
    w = min(a.x + a.w / 2, b.x + b.w / 2) - max(a.x - a.w / 2, b.x - b.w / 2)
    h = min(a.y + a.h / 2, b.y + b.h / 2) - max(a.y - a.h / 2, b.y - b.h / 2)
    common = w * h if w > 0 and h > 0 else 0
    return common / (a.w * a.h + b.w * b.h - common)


def do_nms_sort(dets, classes, thresh):
    """Of each class: findings whose box has more than `thresh` in common with that of a surer one get 0. Sorts the list by the last class, with
    those behind that are nothing."""
    there, rest = [d for d in dets if d["objectness"] != 0], [d for d in dets if d["objectness"] == 0]
    for kind in range(classes):
        for one in there:
            one["sort_class"] = kind
        there.sort(key=lambda d, kind=kind: -d["prob"][kind])
        for i, one in enumerate(there):
            if one["prob"][kind] == 0:
                continue
            for other in there[i + 1:]:
                if _common_part(one["bbox"], other["bbox"]) > thresh:
                    other["prob"][kind] = 0
    dets[:] = there + rest


def _colour(kind, classes):
    """Red, green and blue of a class, each between 0 and 1."""
    wheel = numpy.array([[1, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 1, 0], [1, 0, 0]], dtype=float)
    at = kind * 123457 % classes / classes * 5
    low = int(at)
    blue, green, red = wheel[low] + (at - low) * (wheel[min(low + 1, 5)] - wheel[low])
    return [red, green, blue]


def get_detections(im, det, thresh, names, classes):
    """(whether a finding is sure enough, {category, labelstr, left, top, right, bot, width, rgb}) in a picture of (colours, rows, columns)."""
    kinds = [j for j in range(classes) if det["prob"][j] > thresh]
    if not kinds:
        return False, None
    _, rows, columns = im.shape
    b = det["bbox"]
    return True, {"category": kinds[0], "labelstr": [f"{names[j]} {round(float(det['prob'][j]), 4)}" for j in kinds],
                  "left": max(int((b.x - b.w / 2) * columns), 0), "top": max(int((b.y - b.h / 2) * rows), 0),
                  "right": min(int((b.x + b.w / 2) * columns), columns - 1), "bot": min(int((b.y + b.h / 2) * rows), rows - 1),
                  "width": int(rows * 0.006), "rgb": _colour(kinds[0], classes)}


def _label(font_path, text, rgb):
    from PIL import Image, ImageDraw, ImageFont
    font = ImageFont.truetype(font_path, 25)
    width = int(ImageDraw.Draw(Image.new("RGB", (1, 1))).textlength(text, font=font))
    image = Image.new("RGB", (max(width, 1), 30), tuple(int(c * 255) for c in rgb))
    ImageDraw.Draw(image).text((0, 0), text, fill="black", font=font)
    return numpy.asarray(image).transpose(2, 0, 1) / 255


def _draw(im, found):
    """The box's lines, into the picture."""
    left, top, right, bottom, colour = found["left"], found["top"], found["right"], found["bot"], numpy.reshape(found["rgb"], (3, 1, 1))
    for i in range(max(found["width"], 1)):
        for place in (numpy.s_[:, top + i:top + i + 1, left:right + 1], numpy.s_[:, bottom - i:bottom - i + 1, left:right + 1],
                      numpy.s_[:, top:bottom + 1, left + i:left + i + 1], numpy.s_[:, top:bottom + 1, right - i:right - i + 1]):
            im[place] = colour


def draw_detections(font_path, im, dets, thresh, names, classes):
    """Draws findings into a picture of (colours, rows, columns), each between 0 and 1. It needs Pillow, and the path of a font."""
    for det in dets:
        is_there, found = get_detections(im, det, thresh, names, classes)
        if not is_there:
            continue
        _draw(im, found)
        label = _label(font_path, "".join(found["labelstr"]), found["rgb"])
        top = found["top"] + found["width"]
        top = top - label.shape[1] if top >= label.shape[1] else top
        part = im[:, top:top + label.shape[1], found["left"]:found["left"] + label.shape[2]]
        part[...] = label[:, :part.shape[1], :part.shape[2]]


def show_detections(im, dets, thresh, names, classes):
    """Prints findings."""
    for det in dets:
        is_there, found = get_detections(im, det, thresh, names, classes)
        if is_there:
            print(f"class:{found['labelstr']} left:{found['left']} top:{found['top']} right:{found['right']} bottom:{found['bot']}")


__all__ = ["Box", "do_nms_sort", "draw_detections", "fill_network_boxes", "get_detections", "nms_comparator", "show_detections"]

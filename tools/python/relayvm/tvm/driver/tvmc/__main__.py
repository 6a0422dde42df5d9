"""From the shell, as TVM's users write it:

    python3 -m relayvm.tvm.driver.tvmc compile --target llvm --output model.tar model.onnx
    python3 -m relayvm.tvm.driver.tvmc run --inputs in.npz --output out.npz model.tar
"""
import argparse
import re
import sys

import numpy

from ....errors import Error
from . import TVMCException, TVMCPackage, compile, load, result_utils, run


def _shapes(text):
    """{"data": [1, 3, 224, 224]} of "data:[1,3,224,224]"."""
    found = dict(re.findall(r"([^\s:\[\],]+):\[([^\]]*)\]", text))
    return {name: [int(d) if d.strip().lstrip("-").isdigit() else d.strip() for d in dims.split(",") if d.strip()] for name, dims in found.items()}


def _parser():
    parser = argparse.ArgumentParser("tvmc", description="compiles and runs models; relayc and vmrun do more")
    steps = parser.add_subparsers(dest="step", required=True)
    one = steps.add_parser("compile", help="a model's file to a program")
    one.add_argument("FILE")
    one.add_argument("--target", default="llvm", help="llvm, llvm -mcpu=skylake-avx512 ...")
    one.add_argument("-o", "--output", default="module.tar", help="the program's file (module.tar)")
    one.add_argument("--model-format")
    one.add_argument("--input-shapes", help='"data:[1,3,224,224] ids:[1,-1]"')
    one.add_argument("-O", "--opt-level", type=int, default=3)
    one.add_argument("--desired-layout", choices=["NCHW", "NHWC"])
    one.add_argument("--tuning-records", help="a log of relayc --tune-log")
    one.add_argument("--disabled-pass", default="", help="names, with commas between them")
    two = steps.add_parser("run", help="a program")
    two.add_argument("FILE")
    two.add_argument("-i", "--inputs", help="an .npz; what it does not have is made up by --fill-mode")
    two.add_argument("-o", "--outputs", help="the .npz to write")
    two.add_argument("--device", default="cpu", choices=["cpu"])
    two.add_argument("--fill-mode", default="random", choices=["random", "zeros", "ones", "arange"])
    two.add_argument("--print-time", action="store_true")
    two.add_argument("--print-top", type=int, metavar="N")
    two.add_argument("--repeat", type=int, default=1)
    two.add_argument("--number", type=int, default=1)
    return parser


def main(arguments=None):
    """The exit status."""
    asked = _parser().parse_args(arguments)
    try:
        return _compile(asked) if asked.step == "compile" else _run(asked)
    except (Error, TVMCException, OSError, TypeError, ValueError) as error:
        print(f"tvmc: {error}", file=sys.stderr)
        return 1


def _compile(asked):
    model = load(asked.FILE, asked.model_format, _shapes(asked.input_shapes or ""))
    compile(model, asked.target, asked.opt_level, tuning_records=asked.tuning_records, package_path=asked.output,
            desired_layout=asked.desired_layout, disabled_pass=[name for name in asked.disabled_pass.split(",") if name])
    return 0


def _run(asked):
    inputs = dict(numpy.load(asked.inputs)) if asked.inputs else None
    result = run(TVMCPackage(asked.FILE), asked.device, inputs=inputs, fill_mode=asked.fill_mode, repeat=asked.repeat, number=asked.number)
    if asked.print_time:
        print(result.format_times())
    if asked.print_top:
        print(result_utils.get_top_results(result, asked.print_top))
    if asked.outputs:
        result.save(asked.outputs)
    return 0


if __name__ == "__main__":
    sys.exit(main())

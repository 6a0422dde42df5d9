#!/usr/bin/python3
"""Compiles the shipped examples and holds their results against the recorded ones (computed with NumPy).

usage: run_examples.py BIN_FOLDER EXAMPLES_FOLDER
Closes with the line "N passed, N failed".
"""
import os
import subprocess
import sys
import tempfile

TREE = ("Node(Node(Leaf(@{e}/tree_lstm_leaf0.npy), Leaf(@{e}/tree_lstm_leaf1.npy)), "
        "Node(Leaf(@{e}/tree_lstm_leaf2.npy), Node(Leaf(@{e}/tree_lstm_leaf1.npy), Leaf(@{e}/tree_lstm_leaf0.npy))))")
CASES = [  # program, parameters, input, expected file or printed result
    ("lstm", "lstm.npz", "{e}/lstm_sentence1.npy", "lstm_sentence1.expected.npy"),
    ("lstm", "lstm.npz", "{e}/lstm_sentence2.npy", "lstm_sentence2.expected.npy"),
    ("tree_lstm", "tree_lstm.npz", TREE, "tree_lstm.expected.npy"),
    ("cnn", "cnn.npz", "{e}/cnn_pictures.npy", "cnn.expected.npy"),
    ("while_loop", None, "{e}/while_loop_numbers.npy", "while_loop.expected.npz"),
    ("newton.onnx", None, "numbers={e}/newton_numbers.npy", "newton.expected.npz"),
    ("newton.onnx", None, "numbers={e}/newton_more.npy", "newton_more.expected.npz"),
    ("lists", None, "Cons(3, Cons(1, Cons(2, Nil)))", "= (Cons(1, Cons(2, Cons(3, Nil))), 14)"),
]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    binary, examples = sys.argv[1:]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for program, params, arg, expected in CASES:
            source = os.path.join(examples, program if "." in program else program + ".relay")
            vmx = os.path.join(folder, program + ".vmx")
            run = [os.path.join(binary, "vmrun"), vmx, "--input", arg.replace("{e}", examples)]
            if not expected.startswith("="):
                run += ["--expect", os.path.join(examples, expected), "--rtol", "1e-4", "--atol", "1e-5"]
            relayc = os.path.join(binary, "relayc")
            params = ["--params", os.path.join(examples, params)] if params else []
            commands = [[relayc, source, "-o", vmx] + params, run]
            if program.endswith(".onnx"):  # a model is the same program as Relay text
                text = os.path.join(folder, program + ".relay")
                commands += [[relayc, source, "--emit", "relay", "-o", text], [relayc, text, "-o", vmx], run]
            for command in commands:
                p = subprocess.run(command, capture_output=True, text=True, timeout=300)
                if p.returncode != 0:
                    break
            right = p.returncode == 0 and (not expected.startswith("=") or p.stdout.strip() == expected[2:])
            passed += right
            failed += not right
            if not right:
                print(f"{program}: exit {p.returncode}: {p.stdout}{p.stderr}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Adds the opcode of bytecode/README.md ("An opcode, step by step") as it says there, and looks for it where it should be.

usage: add_opcode.py SOURCE_FOLDER BUILD_FOLDER [--whole]

The short form (two minutes) runs it on all machines of bytecode/semantics.h; --whole compiles a program to it, too (walk.py).
"""
import os

import walk
from walk import run

TEST = """
#include <doctest/doctest.h>
#include "bytecode/assembler.h"
#include "bytecode/disassembler.h"
#include "bytecode/opcode.h"

TEST_CASE("the walk's instruction has its text and its version") {
  using namespace relayvm;
  CHECK(GetOpcodeInfo(Opcode::kAbsI).mnemonic == "abs.i");
  CHECK(KindOf(Opcode::kAbsI) == RowKind::kScalar);
  CHECK(VersionOf(Opcode::kAbsI) == kBytecodeVersion);
}
"""
# What the table and the semantics are compiled into: the decoder, the verifier, and each machine, with the test of all.
READERS = ["bytecode/opcode.cc", "bytecode/instruction.cc", "bytecode/verifier.cc", "bytecode/verifier_code.cc",
           "bytecode/assembler.cc", "bytecode/memory_report.cc", "vm/run/interpreter.cc", "vm/run/interpreter_slow.cc",
           "compiler/graph/build_graph.cc", "compiler/aot/static_plan.cc", "compiler/aot/function_emitter.cc",
           "compiler/aot/machines_test.cc"]
PROGRAM = '#[version = "0.0.5"]\ndef @main(%x: int64) { abs(%x) }\n'


def short_form(w):
    said, changed = w.short(TEST, "relayvm_aot_tests", "machines_test.cc", also=READERS)
    print(said, "files:", *changed)


def whole_form(w):
    tree, made = w.whole(["relayc", "vmrun", "relayvm_bytecode_tests", "relayvm_vm_tests", "relayvm_aot_tests"])
    binary = lambda name: os.path.join(made, "bin", name)
    print(run([binary("relayvm_bytecode_tests"), "-tc=opcode*,instruction*,verifier*,assembler*,memory report*"]))
    print(run([binary("relayvm_vm_tests"), "-tc=interpreter*"]), run([binary("relayvm_aot_tests"), "-tc=random programs*"]))
    program, compiled = os.path.join(w.folder, "abs.relay"), os.path.join(w.folder, "abs.vmx")
    with open(program, "w") as f:
        f.write(PROGRAM)
    run([binary("relayc"), program, "-q", "-o", compiled])
    listing = os.path.join(w.folder, "abs.txt")
    run([binary("relayc"), program, "-q", "--emit", "bytecode", "-o", listing])
    with open(listing) as f:
        text = f.read()
    assert "  abs.i i0, i0\n" in text and text.startswith(".version 7\n"), text
    assert run([binary("vmrun"), compiled, "--input", "-5"]) == "5i64\n"


walk.main("bytecode/README.md", "An opcode, step by step", short_form, whole_form)

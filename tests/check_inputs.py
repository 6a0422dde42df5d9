#!/usr/bin/python3
"""A compilation that is taken from the cache is known by all that it asked of the file system: what
reads a model asks compiler/import/input_files.h, and nobody else. (Options that name files are read
by ReadCompilerOptions, and count by what they hold.)

usage: check_inputs.py SOURCE_FOLDER
"""
import os
import re
import sys

FOLDERS = ["compiler", "kernels/op", "kernels/te", "kernels/codegen"]
ASKS = re.compile(
    r"FileMapping::Open|\bifstream\b|\bfopen\b|::open\(|::stat\(|dlopen|getenv|directory_iterator|MemoryBuffer::getFile|"
    r"\b(?:fs|filesystem)::(?:exists|is_\w+|file_size|status|(?:weakly_)?canonical|absolute|current_path|read_symlink)\b")
# Who may, and why what it reads is known all the same.
ALLOWED = {
    "compiler/import/input_files.cc": "it is the place",
    # CompileOptions has what these read, which the key has.
    "compiler/rules/rule_pass.cc": "InsertedPass::content",
    "compiler/tuner/schedule_log.cc": "CompileOptions::schedules",
    "kernels/codegen/x86_64.cc": "Machine",
    # Such compilations are not kept.
    "compiler/pass_plugin.cc": "passes of others",
    "compiler/regions/region_options.cc": "engines",
    # Not asked while a model is compiled, or not about it.
    "compiler/frontend/params.cc": "for callers: the driver gives bytes",
    "kernels/codegen/object_cache.cc": "the cache itself",
    "kernels/codegen/link.cc": "LLD's own output; --emit exe",
    "kernels/codegen/contraction/harness.h": "of tests",
    "kernels/codegen/foreign_kernels.h": "of tests",
}


def main():
    root = sys.argv[1]
    wrong, seen = [], set()
    for folder in FOLDERS:
        for at, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(at, name), root)
                if not re.search(r"\.(cc|h)$", name) or re.search(r"_test\.cc$|testing\.h$", name):
                    continue
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        if not ASKS.search(line.split("//")[0]):
                            continue
                        seen.add(path)
                        if path not in ALLOWED:
                            wrong.append(f"{path}:{number}: asks the file system past InputFiles: {line.strip()}")
    wrong += [f"check_inputs.py: {path} asks nothing: take it from the list" for path in sorted(set(ALLOWED) - seen)]
    print("\n".join(wrong) or f"{len(seen)} files ask the file system, as the list says")
    sys.exit(1 if wrong else 0)


main()

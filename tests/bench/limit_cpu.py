#!/usr/bin/env python3
"""Writes copies of a peer's shared libraries that see a processor of AVX2, for tables at that level on a machine that has AVX-512.

usage: limit_cpu.py LIBRARY.so... --to FOLDER

CPUID becomes UD2 in the copies (both are two bytes), and FOLDER/liblimited_cpu.so, which is made of c/limited_cpu.c and is to be preloaded,
answers for it:

    limit_cpu.py .../onnxruntime/capi/libonnxruntime.so.1.32.0 --to avx2
    LD_PRELOAD=avx2/liblimited_cpu.so ORT_LIBRARY=avx2/libonnxruntime.so.1.32.0 run_benchmarks.py ...

Our own programs take RELAYVM_MAX_CPU_LEVEL=x86-64-v3. Needs binutils (objdump, readelf) and a C compiler. What asks by other ways (glibc's
own functions, /proc/cpuinfo) sees the machine as it is.
"""
import argparse
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def limit(source, target):
    """Writes the copy; gives how many instructions it replaced."""
    with open(source, "rb") as file:
        data = bytearray(file.read())
    sections = [[int(x, 16) for x in m] for m in re.findall(r"PROGBITS\s+([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", output_of("readelf", "-SW", source))]
    count = 0
    for line in output_of("objdump", "-d", "--no-show-raw-insn", "-w", source).splitlines():
        if "\tcpuid" not in line:
            continue
        address = int(line.split(":")[0], 16)
        offset = next(address - start + file_offset for start, file_offset, size in sections if start and start <= address < start + size)
        if data[offset:offset + 2] != b"\x0f\xa2":
            raise SystemExit(f"{source}: expected CPUID at {address:#x}, found {data[offset:offset + 2].hex()}")
        data[offset:offset + 2] = b"\x0f\x0b"
        count += 1
    with open(target, "wb") as file:
        file.write(data)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY.so")
    parser.add_argument("--to", required=True, metavar="FOLDER")
    args = parser.parse_args()
    os.makedirs(args.to, exist_ok=True)
    preloaded = os.path.join(args.to, "liblimited_cpu.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", os.path.join(HERE, "c", "limited_cpu.c"), "-o", preloaded], check=True)
    for library in args.libraries:
        count = limit(library, os.path.join(args.to, os.path.basename(library)))
        print(f"{os.path.basename(library)}: {count} CPUID instructions")


if __name__ == "__main__":
    main()

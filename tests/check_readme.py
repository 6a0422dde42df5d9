#!/usr/bin/python3
"""usage: check_readme.py README.md MAIN.cc       the README's C++ example is the program that the tests build"""
import re
import sys

shown = re.search(r"```cpp\n(.*?)```", open(sys.argv[1]).read(), re.S).group(1)
sys.exit(0 if shown == open(sys.argv[2]).read() else "the README's example and tests/embedding/main.cc differ")

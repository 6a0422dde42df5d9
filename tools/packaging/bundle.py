"""Takes into the wheels' files what not every Linux has: the shared libraries that they need, under names of their own, and of LLVM only what
the compiler calls. Says the oldest manylinux that the result runs on, by PEP 600 and the symbols that auditwheel goes by."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

# What every Linux has that a manylinux tag names.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6",
              "libz.so.1", "ld-linux-x86-64.so.2"}
# The newest versions of symbols that a tag allows: glibc's minor version is the tag's own.
CXX_LIMITS = [(27, "3.4.24"), (31, "3.4.28"), (34, "3.4.29"), (35, "3.4.30"), (39, "3.4.33")]

# Files of what is compiled into ours, by wheel: the licences of the packages that have them go with it. A name without a folder is g++'s own.
EVERY_WHEEL = ["/usr/include/fmt/core.h", "/usr/include/boost/version.hpp", "/usr/include/flatbuffers/flatbuffers.h", "/usr/include/CLI/CLI.hpp",
               "/usr/include/nlohmann/json.hpp"]
INSIDE_LLVM = "/usr/lib/llvm-19/include/llvm/ADT/StringRef.h"
INSIDE = {
    "relayvm": EVERY_WHEEL,
    "relayvm-compiler": [*EVERY_WHEEL, INSIDE_LLVM, "/usr/include/onnx/onnx_pb.h", "/usr/include/zlib.h", "libgcc.a"],
    "relayvm-serve": EVERY_WHEEL,
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bundle.py: {' '.join(map(str, command))[:300]}\n{done.stdout}{done.stderr}")
    return done.stdout


def is_dynamic(path):
    with open(path, "rb") as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and int.from_bytes(head[16:18], "little") in (2, 3)  # a program, or a library


def needed(path):
    return run("patchelf", "--print-needed", path).split()


def found_at(path):
    """Where the dynamic linker of this machine finds what a file needs, all of it: {soname: path}."""
    lines = subprocess.run(["ldd", str(path)], capture_output=True, text=True).stdout.splitlines()
    return dict(m.groups() for m in (re.match(r"\s*(\S+) => (/\S+)", line) for line in lines) if m)


def package_of(path):
    if not os.path.isabs(path):
        path = run("g++", f"-print-file-name={path}").strip()
    for name in (path, os.path.realpath(path), re.sub("^/usr", "", os.path.realpath(path))):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    sys.exit(f"bundle.py: no Debian package has {path}, so that its licence is not known")


def licence_of(package):
    """(name, text) of a package's licence: the same for all packages of one source."""
    path = pathlib.Path("/usr/share/doc") / package / "copyright"
    if not path.exists():
        sys.exit(f"bundle.py: {path} is not there")
    text = path.read_bytes()
    if package.startswith("libboost"):
        # Of two megabytes, on all of Boost's files, what holds for the headers and the library here.
        return "boost.txt", re.search(rb"(?ms)^License: BSL-1\.0\n Boost Software License.*?^$", text).group(0)
    return f"{package}.txt", text


def small_llvm(users, work, name, version):
    """LLVM's shared library with only what `users` call, of the archives, with the symbol versions that these look for."""
    symbols = set()
    for user in users:
        for line in run("nm", "-D", "--undefined-only", "--with-symbol-versions", user).splitlines():
            symbol, _, of = line.split()[-1].partition("@")
            if of == version:
                symbols.add(symbol)
    config = "llvm-config-19"
    # Polly is a package of its own, which nothing here calls.
    archives = [a for a in run(config, "--link-static", "--libfiles").split() if os.path.exists(a)]
    system = run(config, "--link-static", "--system-libs").split()
    out = work / name
    (work / "llvm.map").write_text(f"{version} {{\n  global:\n" + "".join(f"    {s};\n" for s in sorted(symbols)) + "  local: *;\n};\n")
    (work / "llvm.roots").write_text("".join(f"-Wl,-u,{s}\n" for s in sorted(symbols)))
    # LLD prepares link-time optimisation, which the compiler never asks for: for all targets of LLVM, of which ours are two, and with Polly.
    stub = work / "stubs.c"
    foreign = sorted(s for s in symbols if s.startswith("LLVMInitialize") and not re.match(r"LLVMInitialize(X86|AArch64)", s))
    # glibc's arc4random is of 2.36, a version newer than all else here needs.
    random = ("#include <sys/random.h>\n__attribute__((visibility(\"hidden\"))) unsigned arc4random(void) {\n"
              "  unsigned v = 0;\n  return getrandom(&v, sizeof v, 0) == sizeof v ? v : 0;\n}\n")
    stub.write_text(random + "void _Z18getPollyPluginInfov(void) { __builtin_trap(); }\n" + "".join(f"void {s}(void) {{}}\n" for s in foreign))
    run("g++", "-shared", "-fPIC", "-fuse-ld=gold", "-o", out, "-x", "c", stub, "-x", "none", f"-Wl,-soname,{name}", "-Wl,--gc-sections", "-Wl,-O1", "-Wl,--no-undefined", "-Wl,--as-needed",
        f"-Wl,--version-script={work / 'llvm.map'}", f"@{work / 'llvm.roots'}", "-Wl,--start-group", *archives, "-Wl,--end-group", *system)
    run("strip", out)
    return out


class Bundle:
    def __init__(self, stage, owner_of, work):
        self.stage, self.owner_of, self.work = stage, owner_of, work
        self.files = [p for p in stage.rglob("*") if p.is_file() and is_dynamic(p)]
        self.own = {p.name for p in self.files}
        self.sources = {}  # soname: path
        for file in self.files:
            self.sources.update({k: v for k, v in found_at(file).items() if k not in self.own})
        self.licences = {name: dict(licence_of(package_of(f)) for f in files) for name, files in INSIDE.items()}

    def wheel_of(self, file):
        return self.owner_of(str(file.relative_to(self.stage)))

    def foreign(self, file):
        return [n for n in needed(file) if n not in EVERYWHERE and n not in self.own]

    def replace_llvm(self):
        users = [f for f in self.files if any(n.startswith("libLLVM") for n in needed(f))]
        if not users:
            return
        name = next(n for n in needed(users[0]) if n.startswith("libLLVM"))
        whole = self.sources[name]
        made = small_llvm(users, self.work, name, "LLVM_" + re.search(r"(\d+\.\d+)$", name).group(1))
        print(f"{name}: {os.path.getsize(whole) / 1e6:.1f} MB, of which the compiler's wheel has {made.stat().st_size / 1e6:.1f} MB")
        self.sources[name] = str(made)
        self.sources.update({k: v for k, v in found_at(made).items()})

    def take(self):
        """Each foreign library once in each wheel whose files need it and whose base (relayvm) has not got it."""
        places = {}  # (wheel, soname): path
        for wheel in ("relayvm", "relayvm-compiler", "relayvm-serve"):
            todo = [f for f in self.files if self.wheel_of(f) == wheel]
            while todo:
                for name in self.foreign(todo.pop()):
                    if (wheel, name) in places or ("relayvm", name) in places:
                        continue
                    source = self.sources.get(name)
                    if source is None:
                        sys.exit(f"bundle.py: {name} is not found on this machine")
                    stem, _, rest = name.partition(".so")
                    digest = hashlib.sha256(pathlib.Path(source).read_bytes()).hexdigest()[:8]
                    place = self.stage / f"{wheel.replace('-', '_')}.libs" / f"{stem}-{digest}.so{rest}"
                    place.parent.mkdir(exist_ok=True)
                    shutil.copy(source, place)
                    place.chmod(0o755)
                    places[wheel, name] = place
                    todo.append(place)
                    licence, text = licence_of(package_of(INSIDE_LLVM if name.startswith("libLLVM") else source))
                    if text not in self.licences[wheel].values():
                        self.licences[wheel][licence] = text
        return places

    def patch(self, places):
        for file in [*self.files, *places.values()]:
            wheel = self.wheel_of(file)
            renames, folders = [], []
            for name in self.foreign(file):
                place = places.get((wheel, name)) or places["relayvm", name]
                renames += ["--replace-needed", name, place.name]
                folders.append("$ORIGIN/" + os.path.relpath(place.parent, file.parent))
            if file in places.values():
                renames += ["--set-soname", file.name]
            # A library of ours that another folder has: beside the runtime.
            for name in needed(file):
                if name in self.own and not (file.parent / name).exists():
                    folders += ["$ORIGIN/" + os.path.relpath(f.parent, file.parent) for f in self.files if f.name == name]
            folders = list(dict.fromkeys(re.sub("/\\.$", "", f) for f in folders))
            if any((file.parent / name).exists() for name in needed(file)):
                folders.insert(0, "$ORIGIN")
            # One thing at a time: patchelf 0.14 mixes up the names of several.
            while renames:
                count = 2 if renames[0] == "--set-soname" else 3
                run("patchelf", *renames[:count], file)
                del renames[:count]
            if folders:
                run("patchelf", "--set-rpath", ":".join(folders), file)
        return list(places.values())


def least_tag(files):
    """manylinux_2_N_ARCH: N is glibc's newest symbol version, or what libstdc++'s newest one needs."""
    glibc, cxx = (0, ""), ((0,), "")
    for file in files:
        for version in re.findall(r"\bGLIBC_2\.(\d+)", run("objdump", "-p", file)):
            glibc = max(glibc, (int(version), file.name))
        for version in re.findall(r"\bGLIBCXX_([\d.]+)", run("objdump", "-p", file)):
            cxx = max(cxx, (tuple(map(int, version.split("."))), file.name))
    least = next(n for n, limit in CXX_LIMITS if cxx[0] <= tuple(map(int, limit.split("."))))
    minor = max(glibc[0], least)
    print(f"manylinux_2_{minor}: glibc 2.{glibc[0]} by {glibc[1]}, libstdc++ {'.'.join(map(str, cxx[0]))} by {cxx[1]}")
    return f"manylinux_2_{minor}_{os.uname().machine}"


def bundle(stage, owner_of, work, build):
    for tool in ("patchelf", "ldd", "objdump", "nm"):
        if shutil.which(tool) is None:
            sys.exit(f"bundle.py: there is no {tool}: it is in Debian's packages patchelf, libc-bin and binutils")
    made = Bundle(stage, owner_of, work)
    made.replace_llvm()
    taken = made.patch(made.take())
    return least_tag([*made.files, *taken]), made.licences

"""Makes the wheels of what is built: relayvm (the runtime), relayvm-compiler and relayvm-serve. Any Python from 3.8 runs it, with nothing
but its standard library.

usage: python3 make_wheels.py [--build build/release] [--out wheels] [--python PYTHON ...] [--pybind11 FOLDER] [--plain]

--python     one more Python to make wheels for, which the build's modules are compiled for once more (its headers are needed); once for each
--pybind11   the folder of pybind11's headers for these, where Debian's are too old for them (3.12 and newer: pybind11 2.13)
--plain      as the build is, for this machine alone (tag linux_ARCH): without it the libraries that not every Linux has are taken inside, and
             the tag is the oldest manylinux that the symbols allow. Needs patchelf, and LLVM's archives (llvm-19-dev)
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE))
import bundle  # noqa: E402

SITE = "relayvm compiles and runs Relay programs and ONNX models on CPUs."

# Of each distribution: what it says, what it needs, which files of the package are its own (the first that matches), and its entry points.
WHEELS = {
    "relayvm-serve": dict(
        summary="Serves compiled models by the Open Inference Protocol (HTTP and gRPC)",
        files=r"relayvm/bin/(vmserve|vmbench)$", requires=["relayvm"], tools=["vmserve", "vmbench"], groups={}),
    "relayvm-compiler": dict(
        summary="Compiles Relay programs and ONNX models for relayvm",
        files=r"relayvm/(compiler|onnx|torch|tvm|engines|lib)/|relayvm/bin/(compiler-tools|relayc|relayrun|vmasm)$", requires=["relayvm"],
        tools=["relayc", "relayrun", "vmasm"], groups={"torch_dynamo_backends": ["relayvm = relayvm.torch:backend"]}),
    "relayvm": dict(
        summary="Runs compiled Relay programs and ONNX models", files=r"relayvm/", requires=["numpy"],
        tools=["vmrun", "vmdump", "relayvm"], groups={}),
}


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"make_wheels.py: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def cached(build, name):
    found = re.search(rf"(?m)^{name}:[A-Z]+=(.*)$", (build / "CMakeCache.txt").read_text())
    return found.group(1) if found else ""


def tag_of(python):
    return run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip()


def modules_for(build, pythons, pybind11):
    """The modules for more Pythons: {tag: folder}."""
    if not pythons:
        return {}
    options = ["-DRELAYVM_WHEEL_PYTHONS=" + ";".join(os.path.abspath(shutil.which(p) or p) for p in pythons)]
    if pybind11:
        options.append(f"-DRELAYVM_WHEEL_PYBIND11={pybind11}")
    run("cmake", *options, build)
    tags = [tag_of(p) for p in pythons]
    run("cmake", "--build", build, "--target", *[f"relayvm_python{part}_{tag}" for tag in tags for part in ("", "_compiler")])
    return {tag: build / f"python_{tag}" for tag in tags}


def hashed(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def description(name):
    """What an index of packages shows: README_NAME.md, beside this file."""
    return (HERE / "wheels" / f"{name}.md").read_text()


def metadata(name, version):
    wheel = WHEELS[name]
    needs = [r if r == "numpy" else f"{r}=={version}" for r in wheel["requires"]]
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {wheel['summary']}", "License: Apache-2.0",
             "Classifier: License :: OSI Approved :: Apache Software License", "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Programming Language :: C++", "Requires-Python: >=3.9", *[f"Requires-Dist: {r}" for r in needs],
             "License-File: LICENSE", "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + "\n\n" + description(name)


def write_wheel(out, name, version, tag, files, licences):
    """files: {name in the wheel: path}; licences: {name: bytes}. Names, times and order are the same for the same files."""
    wheel = WHEELS[name]
    plain = name.replace("-", "_")
    info = f"{plain}-{version}.dist-info"
    entries = [("console_scripts", [f"{t} = relayvm._tools:{t}" for t in wheel["tools"]]), *wheel["groups"].items()]
    texts = {f"{info}/METADATA": metadata(name, version),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: relayvm\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {t}\n" for t in tag.split(";")),
             f"{info}/entry_points.txt": "".join(f"[{group}]\n" + "".join(f"{line}\n" for line in lines) + "\n" for group, lines in entries)}
    first = tag.split(";")[0]
    path = out / f"{plain}-{version}-{first}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(inside, data, mode):
            entry = zipfile.ZipInfo(inside, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
            record.append(f"{inside},{hashed(data)},{len(data)}")
        for inside in sorted(files):
            add(inside, files[inside].read_bytes(), 0o755 if os.access(files[inside], os.X_OK) and "/bin/" in inside else 0o644)
        for inside in sorted(licences):
            add(f"{info}/licenses/{inside}", licences[inside], 0o644)
        for inside, text in texts.items():
            add(inside, text.encode(), 0o644)
        record.append(f"{info}/RECORD,,")
        entry = zipfile.ZipInfo(f"{info}/RECORD", (2026, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100644 << 16
        archive.writestr(entry, "\n".join(record) + "\n", zipfile.ZIP_DEFLATED, 9)
    return path


def help_pages(build, name, version):
    """Manual pages and completions of a wheel's tools, which pip puts into share/ of its environment: {name in the wheel: path}."""
    pages = {}
    for tool in WHEELS[name]["tools"]:
        for page in (f"man/man1/{tool}.1", f"bash-completion/completions/{tool}", f"zsh/vendor-completions/_{tool}", f"fish/vendor_completions.d/{tool}.fish"):
            path = build / "share" / page
            if not path.exists():
                sys.exit(f"make_wheels.py: there is no {path}: expected what the target relayvm_help_pages makes; build everything")
            pages[f"{name.replace('-', '_')}-{version}.data/data/share/{page}"] = path
    return pages


def examples(name, version):
    """The files that the site's pages are about, which come with the compiler, in share/ too."""
    if name != "relayvm-compiler":
        return {}
    folder = SOURCE / "tools" / "examples"
    paths = [p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {f"{name.replace('-', '_')}-{version}.data/data/share/relayvm/examples/{p.relative_to(folder)}": p for p in paths}


def owner_of(inside):
    """The distribution that a file of the package is in; libraries that were taken inside lie beside their users' packages."""
    taken = re.match(r"relayvm(_compiler|_serve)?\.libs/", inside)
    if taken:
        return "relayvm" + (taken.group(1) or "").replace("_", "-")
    return next(name for name, wheel in WHEELS.items() if re.match(wheel["files"], inside))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build" / "release")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("wheels"))
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--pybind11")
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    build = args.build.resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    version = cached(build, "CMAKE_PROJECT_VERSION")
    modules = modules_for(build, args.python, args.pybind11)
    with tempfile.TemporaryDirectory() as work:
        stage = pathlib.Path(work) / "stage"
        run("cmake", "--build", build, "--target", "runtime-tools", "compiler-tools")
        run("cmake", "--install", build, "--component", "wheel", "--strip", "--prefix", stage)
        # A wheel has no links: a library goes by its soname alone.
        for link in [p for p in stage.rglob("*") if p.is_symlink()]:
            target = link.resolve()
            link.unlink()
            target.rename(link)
        own = [p for p in stage.rglob("_native*.so")]
        if not own:
            sys.exit(f"make_wheels.py: {build} installed no module of Python: expected a build folder where it was configured, with everything built")
        tags = {run(cached(build, "_Python3_EXECUTABLE") or "/usr/bin/python3", "-c", "import sys; print('cp%d%d' % sys.version_info[:2])").strip():
                own}
        for tag, folder in modules.items():
            tags[tag] = []
            for module in folder.rglob("_native*.so"):
                copy = stage / module.relative_to(folder)
                run("strip", "-o", copy, module)
                tags[tag].append(copy)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        licences = {"LICENSE": (SOURCE / "LICENSE").read_bytes()}
        taken = {}
        if not args.plain:
            platform, taken = bundle.bundle(stage, owner_of, pathlib.Path(work), build)
        every_module = {m for group in tags.values() for m in group}
        inside = {str(p.relative_to(stage)): p for p in stage.rglob("*") if p.is_file()}
        for name in WHEELS:
            texts = {**licences, **taken.get(name, {})}
            for tag, own in tags.items():
                files = {i: p for i, p in inside.items() if owner_of(i) == name and (p not in every_module or p in own)}
                files.update(help_pages(build, name, version))
                files.update(examples(name, version))
                is_for_all = name == "relayvm-serve"
                path = write_wheel(args.out, name, version, f"py3-none-{platform}" if is_for_all else f"{tag}-{tag}-{platform}", files, texts)
                print(f"{path.stat().st_size / 1e6:6.2f} MB  {path.name}")
                if is_for_all:
                    break


if __name__ == "__main__":
    main()

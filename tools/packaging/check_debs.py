"""Installs, uses and purges the Debian packages.

usage: python3 check_debs.py DEBS [--root FOLDER] [--lintian]

Without --root in a copy of this machine's files (an overlay in a namespace of its own), where what the packages depend on has to be
installed; with --root in a system that debootstrap made, where apt brings it. Needs root. Exit status 77: this machine allows no such copy.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXPECTED = ["librelayvm-compiler0.1", "librelayvm-dev", "librelayvm0.1", "python3-relayvm", "relayvm-server", "relayvm-tools"]

# Which package must hold what, and which must not.
CONTENTS = {
    "librelayvm0.1": ["usr/lib/librelayvm.so.0.1", "usr/lib/librelayvm_graph.so.0.1"],
    "librelayvm-compiler0.1": ["usr/lib/librelayvm_compiler.so.0.1"],
    "librelayvm-dev": ["usr/include/relayvm/relayvm.h", "usr/include/relayvm/compiler.h", "usr/lib/librelayvm.so", "usr/lib/librelayvm_aot.a",
                       "usr/lib/cmake/relayvm/relayvm-config.cmake", "usr/lib/pkgconfig/relayvm.pc"],
    "relayvm-tools": [f"usr/bin/{tool}" for tool in ("relayc", "relayrun", "vmrun", "vmdump", "vmasm", "relayvm")]
                     + ["usr/share/man/man1/relayc.1.gz", "usr/share/bash-completion/completions/vmrun", "usr/lib/relayvm/native_main.o",
                        "usr/share/relayvm/examples/newton.onnx"],
    "python3-relayvm": ["usr/lib/python3/dist-packages/relayvm/__init__.py"],
    "relayvm-server": ["usr/bin/vmserve", "usr/bin/vmbench", "usr/lib/systemd/system/relayvm-server.service", "etc/default/relayvm-server",
                       "var/lib/relayvm-server/models/"],
}

C_PROGRAM = """
#include <relayvm/c_api.h>
#include <stdio.h>
int main(void) { printf("%s\\n", relayvm_version()); return 0; }
"""

PYTHON = """
import numpy as np, relayvm as rvm
f = rvm.compile(rvm.parse('#[version = "0.0.5"]\\ndef @main(%x: Tensor[(?), float32]) { multiply(%x, 7f) }')).load()
assert f(np.ones(3, np.float32)).tolist() == [7, 7, 7], f
print(rvm.__version__)
"""

# vmserve by the unit's own line, as a user without any rights, and without memory that is both written and run.
SERVER = r"""
import ctypes, json, os, pathlib, re, shlex, subprocess, sys, time, urllib.request
unit = pathlib.Path("/usr/lib/systemd/system/relayvm-server.service").read_text()
line = re.search(r"(?m)^ExecStart=(.*)$", unit).group(1).replace("$VMSERVE_OPTIONS", "--http-port 0 --metrics-port 0 --grpc-port 0")
os.makedirs("/var/cache/relayvm-server", exist_ok=True)
os.chown("/var/cache/relayvm-server", 65534, 65534)
def rights():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)      # no new privileges
    libc.prctl(65, 1, 0, 0, 0)      # MemoryDenyWriteExecute, where the kernel has it (6.3)
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    os.umask(0o077)
server = subprocess.Popen(shlex.split(line), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=rights, cwd="/")
said, port = "", None
for text in server.stdout:
    said += text
    if text.startswith("http "):
        port = int(text.rsplit(":", 1)[1])
    if text.startswith("ready"):
        break
else:
    sys.exit("the server did not begin: " + said)
def ask(path, body=None):
    return json.load(urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", body), timeout=60))
body = {"inputs": [{"name": "x", "shape": [2], "datatype": "FP32", "data": [1, 2]}]}
answer = ask("/v2/models/sevens/infer", json.dumps(body).encode())
assert answer["outputs"][0]["data"] == [7, 14], answer
server.terminate()
assert server.wait(60) == 0
print("served")
"""

SEVENS = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { multiply(%x, 7f) }\n'


class Root:
    """A system in a folder, in a namespace of mounts of its own, where commands run by chroot."""

    def __init__(self, folder, prepare):
        self.folder = folder
        self.prepare = prepare

    def run(self, script, check=True):
        whole = f"set -e\n{self.prepare}\nexec chroot {self.folder} sh -ec \"$SCRIPT\"\n"
        env = {**os.environ, "SCRIPT": script, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/tmp",
               "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONDONTWRITEBYTECODE": ""}
        for name in [n for n in env if n.startswith(("RELAYVM_", "PYENV"))]:
            del env[name]
        done = subprocess.run(["unshare", "-m", "sh", "-c", whole], env=env, capture_output=True, text=True)
        if check and done.returncode != 0:
            sys.exit(f"check_debs.py: exit status {done.returncode} of\n{script}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout


def overlay(work):
    for name in ("upper", "work", "system"):
        (work / name).mkdir()
    return Root(work / "system", f"mount -t tmpfs none {work}/system 2>/dev/null && umount {work}/system\n"
                                 f"mount -t overlay overlay -o lowerdir=/,upperdir={work}/upper,workdir={work}/work {work}/system\n"
                                 f"mount -t proc proc {work}/system/proc\nmount --rbind /dev {work}/system/dev")


def check_contents(debs):
    names = {}
    for deb in sorted(debs.glob("*.deb")):
        fields = subprocess.run(["dpkg-deb", "-f", deb, "Package", "Depends"], capture_output=True, text=True, check=True).stdout
        name = re.search(r"Package: (\S+)", fields).group(1)
        listing = subprocess.run(["dpkg-deb", "-c", deb], capture_output=True, text=True, check=True).stdout
        files = {re.sub(r"^\./", "", line.split(None, 5)[5].split(" -> ")[0]) for line in listing.splitlines()}
        for path in CONTENTS[name]:
            assert path in files, f"{deb.name} has no {path}"
        for doc in ("copyright", "changelog.Debian.gz"):
            assert f"usr/share/doc/{name}/{doc}" in files, f"{deb.name} has no {doc}"
        if name not in ("librelayvm-dev",):
            assert not any(f.startswith("usr/include") for f in files), f"{deb.name} has headers"
        assert not any(line.split()[1] != "root/root" for line in listing.splitlines()), f"{deb.name}: files of another owner than root"
        names[name] = deb
        print(f"{deb.stat().st_size / 1e6:6.2f} MB  {deb.name}  {re.sub('.*Depends: ', '', fields, flags=re.S).strip()}")
    assert sorted(names) == EXPECTED, sorted(names)


def use(root, is_clean):
    inside = "/tmp/relayvm-debs"
    packages = " ".join(EXPECTED)
    if is_clean:
        root.run("apt-get update -q; apt-get install -q -y --no-install-recommends " + inside + "/*.deb")
    else:
        root.run(f"dpkg -i {inside}/*.deb")
    files = [f for f in root.run(f"dpkg -L {packages}").splitlines() if f and not os.path.isdir(f"/{f}")]
    print("installed:", root.run("relayc --version; vmserve --version").replace("\n", "; "))
    root.run(f"cd {inside}; relayc -q sevens.relay -o sevens.vmx; vmrun sevens.vmx --input '[1, 2]' --json | grep -q '7, 14'")
    root.run(f"cd {inside}; relayc -q sevens.relay --executor aot --emit exe -o sevens; ./sevens --input '[1, 2]' --json | grep -q '7, 14'")
    print(root.run("relayvm doctor | grep -E '^(passed|FAILED)'"), end="")
    print("python", root.run(f"cat >/tmp/p.py <<'END'\n{PYTHON}\nEND\ncd /; /usr/bin/python3 /tmp/p.py"), end="")
    if is_clean:
        root.run("apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config >/dev/null")
    print("C", root.run(f"cat >/tmp/p.c <<'END'\n{C_PROGRAM}\nEND\ncd /tmp; gcc p.c -o p $(pkg-config --cflags --libs relayvm) && ./p"), end="")
    root.run(f"mkdir -p /var/lib/relayvm-server/models/sevens/1; cp {inside}/sevens.vmx /var/lib/relayvm-server/models/sevens/1/model.vmx")
    print(root.run(f"cat >/tmp/s.py <<'END'\n{SERVER}\nEND\n/usr/bin/python3 /tmp/s.py"), end="")
    said = root.run("command -v systemd-analyze >/dev/null && systemd-analyze verify relayvm-server.service 2>&1 || true")
    assert "relayvm-server" not in said, said
    root.run(f"rm -rf /var/lib/relayvm-server/models/sevens; dpkg --purge {packages}")
    left = root.run("for f in $(cat); do [ ! -e $f ] || echo $f; done".replace("$(cat)", " ".join(files)))
    left += root.run("ls -d /usr/lib/python3/dist-packages/relayvm /etc/default/relayvm-server /var/lib/relayvm-server /var/cache/relayvm-server "
                     "/usr/include/relayvm /usr/lib/relayvm 2>/dev/null || true")
    assert not left.strip(), f"left after purging:\n{left}"
    print("purged")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("debs", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--lintian", action="store_true")
    args = parser.parse_args()
    check_contents(args.debs)
    if args.lintian:
        done = subprocess.run(["lintian", "--no-tag-display-limit", "--fail-on", "error,warning", *sorted(args.debs.glob("*.deb"))],
                              capture_output=True, text=True)
        print(done.stdout + done.stderr)
        assert done.returncode == 0, "lintian"
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="relayvm-debs-") as work:
        work = pathlib.Path(work)
        if args.root:
            root = Root(args.root, f"mount -t proc proc {args.root}/proc\nmount --rbind /dev {args.root}/dev")
            inside = args.root / "tmp" / "relayvm-debs"
        else:
            # Files of /tmp are on the copy's own layer too.
            root = overlay(work)
            inside = work / "upper" / "tmp" / "relayvm-debs"
            if subprocess.run(["unshare", "-m", "sh", "-ec", root.prepare], capture_output=True).returncode != 0:
                print("skipped: no overlay can be mounted here")
                sys.exit(77)
        shutil.rmtree(inside, ignore_errors=True)
        inside.mkdir(parents=True)
        inside.parent.chmod(0o1777)
        for deb in args.debs.glob("*.deb"):
            shutil.copy(deb, inside)
        (inside / "sevens.relay").write_text(SEVENS)
        use(root, is_clean=args.root is not None)


if __name__ == "__main__":
    main()

"""Runs the second stage of the Containerfile in a system that debootstrap made, and its server. Needs root, and apt's packages.

usage: python3 check_container.py ROOT DEBS MODEL.vmx

ROOT is changed by it. The first stage is the README's first command and make_debs.sh, which have tests of their own.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.request

root, debs, model = map(pathlib.Path, sys.argv[1:4])
text = (pathlib.Path(__file__).resolve().parent / "Containerfile").read_text()
stages = re.split(r"(?m)^FROM .*$", text)[1:]
assert len(stages) == 2, f"expected two stages, found {len(stages)}"
user, entry = "root", None
shutil.rmtree(root / "debs", ignore_errors=True)


def mounted(command):
    return ["unshare", "-m", "sh", "-c", f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; exec \"$@\"", "sh", *command]


for line in stages[1].strip().splitlines():
    word, _, rest = line.partition(" ")
    if word == "COPY":
        _, source, target = rest.split()
        assert (source, target) == ("/debs", "/debs"), line
        shutil.copytree(debs, root / "debs")
    elif word == "RUN":
        done = subprocess.run(mounted(["chroot", str(root), "sh", "-c", rest]), capture_output=True, text=True,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    elif word == "USER":
        user = rest
    elif word == "ENTRYPOINT":
        entry = json.loads(rest)
    else:
        assert word == "EXPOSE", f"what is {word}?"

(root / "models" / "m" / "1").mkdir(parents=True, exist_ok=True)
shutil.copy(model, root / "models" / "m" / "1" / "model.vmx")
command = ["chroot", f"--userspec={user}", str(root), *entry, "--http-port", "18731", "--grpc-port", "0", "--metrics-port", "0"]
server = subprocess.Popen(mounted(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/var/cache/relayvm-server"})
try:
    said = ""
    for line in server.stdout:
        said += line
        if line.startswith("ready"):
            break
    assert "ready, 1 models" in said, said
    assert json.load(urllib.request.urlopen("http://127.0.0.1:18731/v2/models/m", timeout=30))["name"] == "m"
finally:
    server.terminate()
assert server.wait(60) in (0, -15), server.returncode
size = int(subprocess.run(["du", "-sm", "--exclude=proc", "--exclude=dev", root], capture_output=True, text=True).stdout.split()[0])
print(f"the container's second stage serves, as {user}; {size} MB")

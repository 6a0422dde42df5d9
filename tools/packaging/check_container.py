"""Runs the stages of the Containerfile in systems that debootstrap made, and the server that comes of them. Needs root, and apt's packages.

usage: python3 check_container.py ROOT MODEL.vmx (--debs FOLDER | --build ROOT [--source CHECKOUT])

ROOT is the second stage's system, and is changed by it.
--debs    packages that were made before: the second stage runs alone, within a minute
--build   the first stage's system, which makes the packages (a quarter of an hour of two cores). What is copied there is what git keeps of
          --source (this checkout); what was built there before, of files that are the same, is not built again
"""
import argparse
import io
import json
import pathlib
import re
import shutil
import subprocess
import tarfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root"}


def read_stages():
    """Of each stage its lines: (word, rest)."""
    text = (HERE / "Containerfile").read_text()
    stages = [[line.split(" ", 1) for line in stage.strip().splitlines()] for stage in re.split(r"(?m)^FROM .*$", text)[1:]]
    assert len(stages) == 2, f"Containerfile: expected two stages, found {len(stages)}"
    return stages


def mounted(root, command):
    return ["unshare", "-m", "sh", "-c", f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; exec \"$@\"", "sh", *command]


def run(root, folder, command):
    begin = time.monotonic()
    done = subprocess.run(mounted(root, ["chroot", root, "sh", "-c", f"cd {folder}; {command}"]), capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode == 0, f"RUN {command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    print(f"{time.monotonic() - begin:6.1f} s  RUN {command}", flush=True)


def copy_checkout(source, target):
    listing = subprocess.run(["git", "-C", source, "archive", "HEAD"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(listing)) as archive:
        for member in archive:
            path = target / member.name
            if member.isfile() and not (path.is_file() and path.read_bytes() == archive.extractfile(member).read()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.extractfile(member).read())
                path.chmod(member.mode)


def first_stage(lines, root, source):
    folder = "/"
    for word, rest in lines:
        if word == "COPY":
            assert rest == ". /src", f"COPY {rest}: expected the checkout, to /src"
            copy_checkout(source, root / "src")
        elif word == "WORKDIR":
            folder = rest
        else:
            assert word == "RUN", f"what is {word}?"
            run(root, folder, rest)


def second_stage(lines, root, debs):
    """The image's user, and its command."""
    user, entry = "root", None
    for word, rest in lines:
        if word == "COPY":
            assert rest == "--from=build /debs /debs", f"COPY {rest}: expected the first stage's packages"
            shutil.rmtree(root / "debs", ignore_errors=True)
            shutil.copytree(debs, root / "debs")
        elif word == "RUN":
            run(root, "/", rest)
        elif word == "USER":
            user = rest
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        else:
            assert word == "EXPOSE", f"what is {word}?"
    return user, entry


def serve(root, user, entry, model):
    folder = root / "models" / "m" / "1"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(model, folder / "model.vmx")
    command = ["chroot", f"--userspec={user}", root, *entry, "--http-port", "18731", "--grpc-port", "0", "--metrics-port", "0"]
    server = subprocess.Popen(mounted(root, command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**ENVIRONMENT, "HOME": "/var/cache/relayvm-server"})
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    made = parser.add_mutually_exclusive_group(required=True)
    made.add_argument("--debs", type=pathlib.Path)
    made.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parent.parent)
    args = parser.parse_args()
    first, second = read_stages()
    if args.build:
        first_stage(first, args.build.resolve(), args.source)
    root = args.root.resolve()
    user, entry = second_stage(second, root, args.debs or args.build / "debs")
    serve(root, user, entry, args.model)
    size = subprocess.run(["du", "-sm", "--exclude=proc", "--exclude=dev", root], capture_output=True, text=True).stdout.split()[0]
    print(f"the container's second stage serves, as {user}; {size} MB")


if __name__ == "__main__":
    main()

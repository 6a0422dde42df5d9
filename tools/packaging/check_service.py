"""Boots systemd in a system that debootstrap made, in namespaces of its own, and uses the service of the server's package. Needs root, a
hierarchy of cgroups of version 2, and apt's packages.

usage: python3 check_service.py ROOT DEBS MODEL.vmx

ROOT is changed by it. MODEL.vmx takes one list of float32.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.request

PORT = 18741
PATH = "export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive; "
# In the new namespaces: the system's root, with its kernel's settings for reading only, and systemd as its first process.
BOOT = """
set -e
mount --make-rprivate /
mount --bind {root} {root}
cd {root}
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs dev/shm
: >dev/console
pivot_root . mnt
umount -l /mnt
cd /
export container=check PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec /lib/systemd/systemd --unit=multi-user.target --log-target=journal </dev/null >/dev/console 2>&1
"""


def run(command, check=True):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert not check or done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return (done.stdout + done.stderr).strip()


def until(what, condition):
    for _ in range(100):
        if condition():
            return
        time.sleep(0.2)
    sys.exit(f"{what}: not within 20 s")


def answers(path="/v2/health/ready", body=None):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", body, timeout=20).read()
    except OSError:
        return None


def use(inside, root):
    def show(name):
        return inside(f"systemctl show -p {name} --value relayvm-server")

    inside("systemctl enable --now relayvm-server")
    until("the server is ready", lambda: answers() is not None)
    process = inside(f"cat /proc/{show('MainPID')}/status")
    fields = dict(re.findall(r"(?m)^(\w+):\s*(.*)$", process))
    user = int(fields["Uid"].split()[0])
    assert 61184 <= user <= 65519, f"expected a user that exists while it runs, found {user}"
    assert (int(fields["CapEff"], 16), int(fields["CapBnd"], 16), fields["NoNewPrivs"], fields["Seccomp"]) == (0, 0, "1", "2"), fields
    name = json.loads(answers("/v2/models/m"))["inputs"][0]["name"]
    body = {"inputs": [{"name": name, "shape": [2], "datatype": "FP32", "data": [4, 9]}]}
    assert json.loads(answers("/v2/models/m/infer", json.dumps(body).encode()))["outputs"], "no outputs"
    print(f"serves as user {user}; {inside('systemd-analyze security --no-pager relayvm-server | tail -1')}")
    before = show("MainPID")
    inside("systemctl reload relayvm-server")
    assert (show("ActiveState"), show("MainPID")) == ("active", before), "a reload ended it"
    inside(f"bash -c 'kill -9 {before}'")
    until("it begins again", lambda: show("MainPID") not in (before, "0") and answers() is not None)
    inside("systemctl stop relayvm-server")
    assert show("Result") == "success", inside("systemctl status --no-pager relayvm-server", check=False)
    inside("systemctl start relayvm-server")
    inside("dpkg --purge relayvm-server")
    assert inside("systemctl is-active relayvm-server", check=False) == "inactive", "it runs after it was purged"
    assert not (root / "var/cache/relayvm-server").exists(), "its cache is left"
    print("reloads, begins again when it is killed, stops, and is purged while it runs")


def main():
    root, debs, model = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    shutil.rmtree(root / "debs", ignore_errors=True)
    shutil.copytree(debs, root / "debs")
    run(["chroot", str(root), "sh", "-ec", PATH + "apt-get update -q; apt-get install -q -y --no-install-recommends systemd /debs/relayvm-server_*.deb"])
    folder = root / "var/lib/relayvm-server/models/m/1"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(model, folder / "model.vmx")
    (root / "etc/default/relayvm-server").write_text(f'VMSERVE_OPTIONS="--http-port {PORT} --grpc-port 0 --metrics-port 0"\n')
    mounts = pathlib.Path("/proc/mounts").read_text()
    groups = re.search(r"(?m)^\S+ (\S+) cgroup2 ", mounts)
    if groups is None:
        sys.exit("check_service.py: expected a hierarchy of cgroups of version 2 in /proc/mounts, found none")
    group = pathlib.Path(groups.group(1)) / "relayvm-check-service"
    group.mkdir(exist_ok=True)
    boot = f"echo $$ >{group}/cgroup.procs; exec unshare --fork --pid --mount --cgroup --ipc --uts sh -c \"$0\""
    system = subprocess.Popen(["sh", "-c", boot, BOOT.format(root=root)])
    try:
        first = pathlib.Path(f"/proc/{system.pid}/task/{system.pid}/children")
        until("systemd begins", lambda: first.read_text().split() and
              pathlib.Path(f"/proc/{first.read_text().split()[0]}/comm").read_text() == "systemd\n")
        enter = ["nsenter", "-t", first.read_text().split()[0], "-m", "-p", "-i", "-u", "-C", "sh", "-c"]
        until("systemd is up", lambda: run([*enter, "/bin/systemctl is-system-running"], check=False) in ("running", "degraded"))
        use(lambda command, check=True: run([*enter, PATH + command], check), root)
    finally:
        for process in first.read_text().split():
            subprocess.run(["kill", "-9", process])
        system.wait()
        for child in sorted(group.rglob("*"), reverse=True):
            if child.is_dir():
                child.rmdir()
        group.rmdir()


if __name__ == "__main__":
    main()

"""Virtual environments with clients of package registries, for tests: made once below the build folder, and kept between runs.

    python = client_environment.python_with(folder, ["tritonclient[grpc,http]==2.60.0"])

Unavailable says why there is none: the installation fails, as it does within a minute where no registry answers, or takes too long. Tests
skip what needs it then. How fast a registry answers is not asked before: pip takes what it has kept, or what PIP_FIND_LINKS names, as
soon as it knows the version. Tests that run at once share environments; one whose installation was cut short is made anew.
"""
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time

INSTALL_SECONDS = 300
ASK_AGAIN_SECONDS = 900  # after an installation failed


class Unavailable(Exception):
    """Why there is no such environment, for people."""


def python_with(folder, requirements):
    """The Python of an environment in `folder` that has `requirements`, as pip takes them."""
    folder = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    key = "\n".join([sys.version, *requirements])
    environment = os.path.join(folder, re.match(r"[\w.-]+", requirements[0])[0] + "-" + hashlib.sha256(key.encode()).hexdigest()[:12])
    whole = os.path.join(environment, "whole")  # made last
    with open(environment + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(whole):
            install_now_and_then(environment, requirements)
            open(whole, "w", encoding="utf-8").close()
    return os.path.join(environment, "bin", "python")


def run_pip(seconds, *arguments, python=sys.executable):
    try:
        done = subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments], timeout=seconds,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except subprocess.TimeoutExpired:
        return f"pip {arguments[0]} took longer than {seconds} s"
    if done.returncode == 0:
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else f"pip {arguments[0]} ended with {done.returncode}"


def install_now_and_then(environment, requirements):
    """Says what failed a short time ago without another try."""
    failed = environment + ".failed"
    if os.path.exists(failed) and 0 <= time.time() - os.path.getmtime(failed) < ASK_AGAIN_SECONDS:
        with open(failed, encoding="utf-8") as file:
            raise Unavailable(file.read() + " (a short time ago)")
    try:
        install(environment, requirements)
    except Unavailable as why:
        with open(failed, "w", encoding="utf-8") as file:
            file.write(str(why))
        raise


def install(environment, requirements):
    shutil.rmtree(environment, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Unavailable(f"python -m venv: {(made.stdout + made.stderr).strip()}")
    failure = run_pip(INSTALL_SECONDS, "install", "--retries", "1", "--timeout", "15", *requirements,
                      python=os.path.join(environment, "bin", "python"))
    if failure:
        shutil.rmtree(environment, ignore_errors=True)
        raise Unavailable(f"{' '.join(requirements)}: {failure}")

"""A server of models as a process beside this one: `relayvm.serve`."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import weakref

from .errors import Error
from .keywords import spelt
from .model import Model

__all__ = ["Server", "serve"]


def _executable(given):
    if given is not None:
        return os.fspath(given)
    if path := os.environ.get("RELAYVM_VMSERVE"):
        return path
    package = os.path.dirname(os.path.abspath(__file__))
    # Of the package relayvm-serve; of a build, beside its python/.
    for path in (os.path.join(package, "bin", "vmserve"), os.path.join(package, "..", "..", "bin", "vmserve")):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    path = shutil.which("vmserve")
    if path is None:
        raise FileNotFoundError("serve: there is no vmserve: it comes with the package relayvm-serve; else it is looked for in PATH, and "
                                "RELAYVM_VMSERVE names it")
    return path


def _file_of(model, folder, name):
    """A .vmx of what `serve` was given: its own, or one of the folder."""
    if isinstance(model, Model):
        if model._source is None:
            raise TypeError(f"serve: {name}: this Model was not loaded from a file: serve the file, its bytes, or the Executable")
        model = model._source
    made = os.path.join(folder, f"{len(os.listdir(folder))}.vmx")
    if isinstance(model, (bytes, bytearray, memoryview)):
        with open(made, "wb") as file:
            file.write(model)
        return made
    if isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith(".vmx"):
        return os.path.abspath(os.fspath(model))
    if not hasattr(model, "save"):
        from . import compiler
        model = compiler.compile(model)
    model.save(made)
    return made


class Server:
    """A running server; `with relayvm.serve(model) as server:` ends it at the end of the block.

    url: "http://127.0.0.1:PORT" of the Open Inference Protocol's REST form. http_port, metrics_port: those that are bound. names: the
    models that were given. pid: of its process, which ends with this one, however that ends. Usable from any thread.
    """

    def __init__(self, process, folder, host, ports, names, scheme):
        self._process, self._lock = process, threading.Lock()
        self.host, self.names, self.pid = host, names, process.pid
        self.http_port, self.metrics_port = ports["http"], ports["metrics"]
        shown = f"[{host}]" if ":" in host else "127.0.0.1" if host == "0.0.0.0" else host
        self.url = f"{scheme}://{shown}:{self.http_port}"
        self._end = weakref.finalize(self, _end, process, folder)

    @property
    def is_running(self):
        """Whether its process is there."""
        return self._process.poll() is None

    def stop(self, timeout=30):
        """Lets requests that came end, for `timeout` seconds at the most, and ends the server. Its exit status; once more, nothing happens."""
        with self._lock:
            if self.is_running:
                self._process.terminate()
                try:
                    self._process.wait(timeout)
                except subprocess.TimeoutExpired:
                    self._process.kill()
            self._end()
            return self._process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def __repr__(self):
        return f"<relayvm server {self.url}: {', '.join(self.names)}{'' if self.is_running else ', ended'}>"


def _end(process, folder):
    process.stdin.close()
    if process.poll() is None:
        process.terminate()
        process.wait()
    process.stdout.close()
    process.stderr.close()
    shutil.rmtree(folder, ignore_errors=True)


def _pass_on(stream):
    """What the server says of itself, to this process's standard error."""
    try:
        for line in stream:
            sys.stderr.write(line)
    except ValueError:  # it is closed
        pass


@spelt
def serve(model=None, *, name="model", models=None, host="127.0.0.1", port=0, metrics_port=0, repository=None, tls_cert=None, tls_key=None,
          token_file=None, options=(), executable=None):
    """Starts a server of the Open Inference Protocol for a model, and returns it as a `Server` when it is ready.

        with rvm.serve("model.vmx", name="scorer") as server:
            requests.post(server.url + "/v2/models/scorer/infer", json={"inputs": [...]})

    model: a .vmx file, its bytes, an `Executable`, a `Model` that was loaded from a file, or what `compile` takes. name: its name there.
    models: {name: model}, more of them. repository: a folder of NAME/VERSION/model.vmx, looked at again while it runs. port, metrics_port: 0
    is any; `Server.http_port` says which. tls_cert, tls_key: PEM files, for HTTPS. token_file: a file with the token that requests must carry.
    options: more of vmserve's, as on its command line. executable: vmserve itself, where it is not to be looked for.
    The server is a process of its own: a model's failure never ends this one. Error with vmserve's words where it does not begin.
    """
    given = dict(models or {})
    if model is not None:
        if name in given:
            raise ValueError(f"serve: two models are called {name}")
        given[name] = model
    if not given and repository is None:
        raise TypeError("serve: expected a model, models or a repository")
    command = [_executable(executable), "--host", host, "--http-port", str(port), "--metrics-port", str(metrics_port), "--end-with-input"]
    for option, value in (("--models", repository), ("--tls-cert", tls_cert), ("--tls-key", tls_key), ("--token-file", token_file)):
        if value is not None:
            command += [option, os.fspath(value)]
    folder = tempfile.mkdtemp(prefix="relayvm-serve-")
    try:
        for each, source in given.items():
            command += ["--model", f"{each}={_file_of(source, folder, each)}"]
        process = subprocess.Popen([*command, *map(str, options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    ports = {}
    for line in process.stdout:
        if line.startswith("ready"):
            break
        word, _, rest = line.partition(" ")
        ports[word] = int(rest.rpartition(":")[2])
    else:
        said = process.stderr.read().strip()
        _end(process, folder)
        raise Error(said.removeprefix("vmserve: ") or f"vmserve ended with status {process.returncode}")
    threading.Thread(target=_pass_on, args=(process.stderr,), daemon=True).start()
    return Server(process, folder, host, ports, list(given), "https" if tls_cert is not None else "http")

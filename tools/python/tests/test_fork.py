"""A child of os.fork() with a runtime of its own runs, whatever other threads of the parent do."""
import os
import signal
import threading

import numpy as np

import relayvm as rvm

TEXT = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(?), float32]) { (argsort(%x), add(%x, 1f)) }\n'


def test_children_run_while_threads_run(tmp_path):
    path = str(tmp_path / "model.vmx")
    rvm.compile(rvm.parse(TEXT)).save(path)
    x = np.float32([3, 1, 2])
    native = rvm.create_executor("aot", rvm.parse(TEXT)).evaluate()

    def run():
        order, more = rvm.load(path, runtime=rvm.Runtime(num_threads=2), verify=True)(x)
        assert list(np.asarray(order)) == [1, 2, 0] and list(np.asarray(more)) == [4, 2, 3]
        assert list(np.asarray(native(x)[0])) == [1, 2, 0]

    stop, failed = threading.Event(), []

    def keep():
        while not stop.is_set():
            try:
                run()
            except BaseException as error:
                failed.append(error)
                return

    threads = [threading.Thread(target=keep) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(60)
                code = 1
                try:
                    run()
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed


def test_a_damaged_file_is_refused_by_who_asks(tmp_path):
    path = tmp_path / "model.vmx"
    mod = rvm.parse('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1000), float32], %w: Tensor[(1000), float32]) { add(%x, %w) }\n')
    rvm.compile(mod, params={"w": np.arange(1000, dtype="f4") + 0.5}).save(str(path))
    content = bytearray(path.read_bytes())
    at = content.find((np.arange(1000, dtype="f4") + 0.5).tobytes())
    assert at > 0
    content[at + 6] ^= 1
    path.write_bytes(content)
    rvm.load(path)
    for source in path, bytes(content):
        try:
            rvm.load(source, verify=True)
            raise AssertionError("loaded")
        except ValueError as error:
            assert "is damaged" in str(error), error

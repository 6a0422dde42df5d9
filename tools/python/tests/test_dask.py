"""Programs over Dask's collections, in this process and on a cluster of processes of which one is killed."""
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

dask = pytest.importorskip("dask", reason="pip install dask distributed")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
relayvm_dask = pytest.importorskip("relayvm.dask")

SCALE = "def @main(%x: Tensor[(?, 2), float32], %f: float32) { (multiply(%x, %f), sum(%x, axis=[1])) }"
SQUARE = "def @main(%x: Tensor[(?, ?), float32]) { multiply(%x, %x) }"
SCATTER = ("def @main(%x: Tensor[(?, 2), float32], %i: Tensor[(?, 1), int64], %u: Tensor[(?, 1), float32]) "
           "{ scatter_elements(%x, %i, %u, axis=1) }")


def compiled(text, tmp_path, **options):
    path = tmp_path / "model.vmx"
    rvm.compile(rvm.parse('#[version = "0.0.5"]\n' + text), **options).save(str(path))
    return str(path)


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="pip install distributed")
    with dask.config.set({"distributed.worker.profile.enabled": False}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as made:
                yield made
    gc.collect()


def test_rows_of_arrays(tmp_path):
    model = relayvm_dask.Model(compiled(SCALE, tmp_path))
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    y, sums = model.map_rows(da.from_array(x, chunks=(3, 1)), f=np.float32(2))
    assert (y.shape, y.dtype, y.chunks[0], sums.shape) == ((10, 2), np.float32, (3, 3, 3, 1), (10,))
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(y.compute(), x * 2)
        np.testing.assert_array_equal(sums.compute(), x.sum(1))


def test_a_single_output_and_sizes_that_other_dims_name(tmp_path):
    model = relayvm_dask.Model(compiled(SQUARE, tmp_path))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    y = model.map_rows(da.from_array(x, chunks=2))
    assert y.shape == (4, 3)
    np.testing.assert_array_equal(y.compute(scheduler="sync"), x * x)


def test_rows_of_an_unknown_number(tmp_path):
    model = relayvm_dask.Model(compiled(SQUARE, tmp_path))
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    lazy = da.from_array(x, chunks=(2, 2))
    y = model.map_rows(lazy[lazy[:, 0] > 3])
    np.testing.assert_array_equal(y.compute(scheduler="sync"), x[2:] ** 2)


def test_rows_that_are_none_are_refused(tmp_path):
    x = da.ones((4, 2), chunks=2, dtype=np.float32)
    fixed = relayvm_dask.Model(compiled("def @main(%x: Tensor[(4, 2), float32]) { negative(%x) }", tmp_path))
    with pytest.raises(ValueError, match="expected rows of any number"):
        fixed.map_rows(x)
    crossed = relayvm_dask.Model(compiled("def @main(%x: Tensor[(?, 2), float32]) { nn.dense(%x, %x) }", tmp_path))
    with pytest.raises(ValueError, match="depends on the number of rows"):
        crossed.map_rows(x)
    reduced = relayvm_dask.Model(compiled("def @main(%x: Tensor[(?, 2), float32]) { sum(%x) }", tmp_path))
    with pytest.raises(ValueError, match="output_0: expected"):
        reduced.map_rows(x)
    with pytest.raises(TypeError, match="there is no input y; it has x"):
        reduced.map_rows(x, y=x)
    with pytest.raises(TypeError, match="an array of Dask"):
        reduced.map_rows(np.ones((4, 2), np.float32))


def test_bags(tmp_path):
    model = relayvm_dask.Model(compiled(SCALE, tmp_path))
    inputs = [(np.full((n % 3, 2), n, np.float32), 2) for n in range(10)]
    bag = db.from_sequence([inputs[0], {"x": inputs[1][0], "f": 2}, *inputs[2:]], npartitions=3)
    results = model.map(bag).compute(scheduler="sync")
    for (x, _), (y, sums) in zip(inputs, results):
        np.testing.assert_array_equal(y, x * 2)
        np.testing.assert_array_equal(sums, x.sum(1))


def test_bags_in_stacks(tmp_path):
    model = relayvm_dask.Model(compiled(SQUARE, tmp_path))
    inputs = [np.arange(1 + n % 2, dtype=np.float32) + n for n in range(11)]
    results = model.map(db.from_sequence(inputs, npartitions=2), stack=4).compute(scheduler="sync")
    assert len(results) == len(inputs)
    for x, y in zip(inputs, results):
        np.testing.assert_array_equal(y, x * x)


def test_what_a_program_raises(tmp_path, client):
    model = relayvm_dask.Model(compiled(SCATTER, tmp_path))
    x, i, u = np.ones((1, 2), np.float32), np.array([[1000]]), np.ones((1, 1), np.float32)
    with pytest.raises(rvm.Error, match="1000"):
        model.delayed(x, i, u).compute()
    with pytest.raises(TypeError, match="i .* is missing"):
        model.delayed(x=x).compute()
    good = model.delayed(x, np.array([[1]]), dask.delayed(u)).compute()
    np.testing.assert_array_equal(good, [[1, 1]])


def loads(_):
    """How many programs a worker has loaded, and where from."""
    from relayvm import shipping
    return os.getpid(), len(shipping._models), dict(shipping._brought)


def test_a_program_goes_to_each_worker_once(tmp_path, client):
    path = compiled(SQUARE, tmp_path)
    with open(path, "rb") as file:
        model = relayvm_dask.Model(file.read())  # no path that workers could see
    before = dict.fromkeys(client.scheduler_info()["workers"])
    x = np.arange(400, dtype=np.float32).reshape(200, 2)
    for _ in range(3):
        y = model.map_rows(da.from_array(x, chunks=(5, 2)))
        np.testing.assert_array_equal(y.compute(), x * x)
    told = client.run(loads, None)
    assert set(told) == set(before)
    for _, count, brought in told.values():
        assert model.content in brought and count >= 1
    model.withdraw()
    assert all(model.content not in brought for _, _, brought in client.run(loads, None).values())


def test_a_file_that_workers_have_too(tmp_path, client):
    path = compiled(SQUARE + " // shared", tmp_path)
    model = relayvm_dask.Model(path, is_shared=True)
    x = np.ones((4, 2), np.float32)
    np.testing.assert_array_equal(model.map_rows(da.from_array(x, chunks=2)).compute(), x)
    assert all(model.content not in brought for _, _, brought in client.run(loads, None).values())
    compiled(SCALE, tmp_path)  # another one in its place
    with pytest.raises(rvm.NotFound, match="is not that file here"):
        client.submit(_fresh, model._program).result()


def _fresh(program):
    from relayvm import shipping
    shipping.forget(program.content)
    return program.loaded()


def slow(row):
    time.sleep(0.02)
    return row


def test_a_worker_is_killed_in_the_middle(tmp_path, client):
    with open(compiled(SQUARE, tmp_path), "rb") as file:
        model = relayvm_dask.Model(file.read())
    inputs = [np.array([n, n], np.float32) for n in range(200)]
    results = model.map(db.from_sequence(inputs, npartitions=100).map(slow), stack=2)
    pids = [pid for pid, _, _ in client.run(loads, None).values()]
    timer = threading.Timer(0.5, os.kill, (pids[0], signal.SIGKILL))
    timer.start()
    found = results.compute()
    timer.join()
    np.testing.assert_array_equal(np.stack(found), np.stack(inputs) ** 2)
    client.wait_for_workers(2, timeout=60)
    # The one that came in its place has the program, too.
    told = client.run(loads, None)
    assert pids[0] not in [pid for pid, _, _ in told.values()] and all(model.content in brought for _, _, brought in told.values())

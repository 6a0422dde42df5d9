"""Regions of programs that other engines run."""
import os
import shutil
import subprocess
import warnings

import numpy as np
import pytest

import relayvm as rvm

TEXT = r"""
.version 1
.region "net_0" engine "scale" constants () symbols 0 json "{\"factor\": 2}"
.kernel "scale:net_0" scalars 7 s0=0 s1=11 s2=1 s4=11 s5=1 buffers (float32[s3], out float32[s6]) units 1 builtin region 0
.export "main" f0 ("x": float32[2]) -> float32[2]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  const.i16 i0, 0
  const.i16 i1, 11
  const.i16 i2, 1
  const.i16 i3, 2
  tensor.alloc r1, float32, [i3]
  kernel.1 k0, [i0, i1, i2, i3, i1, i2, i3], [r0, r1]
  ret.r r1!
.end
"""
ENGINE = os.environ.get("RELAYVM_TEST_ENGINE", "")


@pytest.fixture
def net(tmp_path):
    vmasm = shutil.which("vmasm")
    if not vmasm or not os.path.exists(ENGINE):
        pytest.skip("vmasm or the engine for tests is not here (RELAYVM_TEST_ENGINE)")
    (tmp_path / "net.txt").write_text(TEXT)
    subprocess.run([vmasm, tmp_path / "net.txt", "-o", tmp_path / "net.vmx"], check=True)
    return tmp_path / "net.vmx"


def test_engines_run_where_the_host_allows_them(net):
    x = np.array([1, 2], "float32")
    np.testing.assert_array_equal(rvm.load(net, engines={"scale": ENGINE})(x), [2, 4])
    np.testing.assert_array_equal(rvm.load(net.read_bytes(), engines={"scale": ENGINE})(x), [2, 4])
    for engines in [(), ("dnnl",), ["other"]]:
        with pytest.raises(rvm.Unsupported, match="regions for engine scale, which this host does not allow"):
            rvm.load(net, engines=engines)
    with pytest.raises(rvm.Unsupported, match="there is no librelayvm_scale.so in"):
        rvm.load(net, engines=["scale"])


def test_engines_are_names_or_a_dict():
    with pytest.raises(TypeError, match="expected names or a dict of names and files, found the text 'dnnl'"):
        rvm.load("none.vmx", engines="dnnl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FileNotFoundError):
            rvm.load("none.vmx", engines=())

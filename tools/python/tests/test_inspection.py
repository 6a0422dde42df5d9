"""Looking at what the compiler made: bytecode, kernels and memory by name, pictures."""
import re
import xml.etree.ElementTree

import pytest

import relayvm as rvm

TEXT = """#[version = "0.0.5"]
def @twice(%x: Tensor[(?, 8), float32]) { add(%x, tanh(%x)) }
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(16, 8), float32]) {
  if (less(0, 1)) { nn.relu(nn.dense(@twice(%x), %w, units=16)) } else { nn.dense(%x, %w, units=16) }
}
"""


@pytest.fixture(scope="module")
def exe():
    return rvm.compile(TEXT, opt_level=2)


def test_bytecode_by_function(exe):
    main = exe.bytecode("main")
    assert main.startswith('.function "main"') and main.endswith(".end\n") and main.count(".function") == 1
    assert main in exe.bytecode()
    with pytest.raises(KeyError, match="no function nope; there are main"):
        exe.bytecode("nope")


def test_kernels_by_name(exe):
    assert exe.kernels and all(re.match(r"[a-z_0-9]+$", name) for name in exe.kernels)
    for name in exe.kernels:
        ir, assembly = exe.kernel_ir(name), exe.assembly(name)
        assert ir.startswith("define ") and f"@{name}(" in ir.split("\n")[0]
        assert f"\n{name}:\n" in assembly and "ret" in assembly
    dense = next(name for name in exe.kernels if "dense" in name)
    assert exe.kernel_ir(dense).count("\ndefine ") > 0  # what it calls comes along
    for look in (exe.kernel_ir, exe.assembly):
        with pytest.raises(KeyError, match=f"no kernel nope; there are {exe.kernels[0]}"):
            look("nope")


def test_memory_formula(exe, tmp_path):
    formula = exe.memory_formula()
    assert "x.0*" in formula
    exe.save(tmp_path / "m.vmx")
    assert rvm.load(tmp_path / "m.vmx").memory_formula("main") == formula
    with pytest.raises(KeyError, match="no function nope; it has main"):
        exe.memory_formula("nope")


def test_drawing(tmp_path):
    mod = rvm.parse(TEXT).infer_types()
    drawing = rvm.draw(mod)
    root = xml.etree.ElementTree.fromstring(str(drawing))
    texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"x", "w", "nn.dense", "nn.relu", "if", "@twice", "result"} <= set(texts)
    assert "-> (x.0, 16) float32" in texts and "units=16" in texts
    assert {"then", "else"} <= {t for t in texts if not t.startswith("-")}
    assert drawing._repr_svg_() == str(drawing)
    drawing.save(tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_text() == str(drawing)
    with pytest.raises(KeyError, match="no function nope; there are main, twice"):
        rvm.draw(mod, "nope")
    assert str(rvm.draw(mod["twice"])) == str(rvm.draw(mod, "twice"))

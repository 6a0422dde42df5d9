"""relayc --emit graph.html: what is in the page, of a model and of a program with names that are markup.

usage: python3 check_model_page.py RELAYC EXAMPLES
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

relayc, examples = sys.argv[1], pathlib.Path(sys.argv[2])
HOSTILE = '#[version = "0.0.5"]\ndef @main(%"</script><b>x": Tensor[(2), float32]) { nn.relu(%"</script><b>x") }\n'


def page_of(source, folder):
    out = pathlib.Path(folder) / "page.html"
    subprocess.run([relayc, "-q", str(source), "--emit", "graph.html", "-o", str(out)], check=True)
    text = out.read_text()
    assert text.count("</script>") == 1 and "https:" not in text, "the page is not self-contained"
    return json.loads(re.search(r"(?m)^const model = (\{.*\});$", text).group(1))


with tempfile.TemporaryDirectory() as folder:
    model = page_of(examples / "newton.onnx", folder)
    nodes = [n for f in model["functions"] for n in f["nodes"]]
    assert model["title"] == "newton.onnx" and not model["truncated"]
    assert any(n.get("kernels") for n in nodes), "no node has kernels"
    assert all(f < i for f_ in model["functions"] for i, n in enumerate(f_["nodes"]) for f in n["from"]), "an edge goes back"
    source = pathlib.Path(folder) / "hostile.relay"
    source.write_text(HOSTILE)
    names = [n["name"] for n in page_of(source, folder)["functions"][0]["nodes"]]
    assert "</script><b>x" in names, names
print(f"{len(nodes)} nodes")

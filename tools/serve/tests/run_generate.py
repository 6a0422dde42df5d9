#!/usr/bin/python3
"""The stories example as vmserve tells it: generate and generate_stream against vmrun, their ends, and clients that go in the middle.

usage: run_generate.py BIN_FOLDER EXAMPLES_FOLDER MODELS_FOLDER

With MODELS_FOLDER/stories260K/{stories260K.bin, tok512.bin} the text is a real story; else the weights are noise, of which the rest holds
as well. Closes with the line "N checks passed".
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

import run_serve
from run_serve import Server, check

STEPS = 60
ZOO = ("Zoo was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red ball. "
       "She wanted to play with it, but she didn't want to play with")


def noise(path):
    """Weights of a model that has learnt nothing."""
    import numpy as np
    rng = np.random.default_rng(7)
    shapes = {"embedding": (512, 64), "rms_final": (64,), "rope_cos": (512, 4), "rope_sin": (512, 4)}
    for layer in range(5):
        shapes.update({f"layers.{layer}.{name}": shape for name, shape in (
            ("rms_att", (64,)), ("wq", (64, 64)), ("wk", (32, 64)), ("wv", (32, 64)), ("wo", (64, 64)), ("rms_ffn", (64,)), ("w1", (172, 64)),
            ("w2", (64, 172)), ("w3", (172, 64)))})
    np.savez(path, **{name: rng.standard_normal(shape).astype("float32") * 0.2 for name, shape in shapes.items()})


def compiled(binary, examples, weights, folder):
    params, vmx = os.path.join(folder, "stories.npz"), os.path.join(folder, "stories.vmx")
    if weights:
        subprocess.run(["/usr/bin/python3", os.path.join(examples, "stories.py"), "weights", weights, params], check=True)
    else:
        noise(params)
    subprocess.run([os.path.join(binary, "relayc"), os.path.join(examples, "stories.relay"), "--params", params, "-q", "-o", vmx], check=True)
    return vmx


def events(server, body):
    status, content, headers = server.ask("POST", "/v2/models/stories/generate_stream", json.dumps(body))
    check(status == 200 and headers["Content-Type"] == "text/event-stream", content)
    return [json.loads(line[6:]) for line in content.decode().split("\n\n") if line]


def generate(server, body):
    status, content, _ = server.ask("POST", "/v2/models/stories/generate", json.dumps(body))
    return status, json.loads(content)


def check_tokens(server, binary, vmx, prompt):
    """All three ways give vmrun's tokens."""
    command = [os.path.join(binary, "vmrun"), vmx, "--json", "--input", json.dumps(prompt), "--input", str(STEPS)]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["data"]
    body = {"prompt": prompt, "steps": STEPS}
    status, answer = generate(server, dict(body, id="a"))
    check(status == 200 and answer["id"] == "a", answer)
    check(answer["output_0"] == expected, "the tokens are vmrun's")
    check(prompt + answer["emitted"] == expected, "what was emitted is what comes behind the prompt")
    *emitted, last = events(server, body)
    check([e["emitted"] for e in emitted] == answer["emitted"], "an event for each token")
    check(last["output_0"] == expected, "and one for all")
    status, inferred = server.infer("stories", [{"name": "prompt", "datatype": "INT32", "shape": [len(prompt)], "data": prompt},
                                                {"name": "steps", "datatype": "INT32", "shape": [], "data": [STEPS]}])
    check(status == 200 and inferred["outputs"][0]["data"] == expected, inferred)


def check_ends(server, prompt):
    """By steps, by a deadline before and after it began, by what is wrong."""
    for steps in (0, 1, len(prompt), len(prompt) + 3):
        status, answer = generate(server, {"prompt": prompt, "steps": steps})
        check(status == 200 and len(answer.get("emitted", [])) == max(0, steps - len(prompt) + 1), (steps, answer))
    status, answer = generate(server, {"prompt": prompt, "steps": 2_000_000_000, "parameters": {"timeout": 200_000}})
    check(status == 504 or 1 in answer["emitted"], (status, answer))
    *_, last = events(server, {"prompt": prompt, "steps": 2_000_000_000, "parameters": {"timeout": 200_000}})
    check("error" in last or last["output_0"][-1] == 1, f"a deadline, or the story's end: {last}")
    for wrong in ({"prompt": prompt}, {"prompt": [[1]], "steps": 3}, {"prompt": "one", "steps": 3}, {"prompt": [1], "steps": 0.5}):
        check(generate(server, wrong)[0] == 400, wrong)


def check_story(server, examples, tokenizer):
    url = f"http://127.0.0.1:{server.ports['http']}/v2/models/stories"
    command = ["/usr/bin/python3", os.path.join(examples, "stories.py"), "tell", url, tokenizer]
    told = subprocess.run([*command, str(STEPS), "Zoo"], check=True, capture_output=True, text=True).stdout
    check(told == ZOO + "\n", f"the story: {told}")
    # Some 256 tokens long, and then it has an end: the model says so long before its steps are over.
    end = subprocess.run([*command, "500", "Zoo"], check=True, capture_output=True, text=True).stdout
    check(end.startswith(ZOO) and len(end) < 1500, f"the whole story: {end}")


def active(server):
    text = server.ask("GET", "/metrics")[1].decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(("vmserve_active_runs ", "vmserve_queued_runs ")))


def check_leavers(server, prompt):
    """Their runs end, whichever way they asked; others are answered meanwhile."""
    for path in ("generate_stream", "generate") * 3:
        body = json.dumps({"prompt": prompt, "steps": 2_000_000_000}).encode()
        with socket.create_connection(("127.0.0.1", server.ports["http"]), timeout=60) as connection:
            connection.sendall(b"POST /v2/models/stories/%s HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(body)) + body)
            if path == "generate_stream":
                data = b""
                while data.count(b"data: ") < 3:
                    part = connection.recv(4096)
                    check(part, "the stream goes on")
                    data += part
    check(generate(server, {"prompt": prompt, "steps": 10})[0] == 200, "others are answered")
    end = time.time() + 30
    while active(server) > 0 and time.time() < end:
        time.sleep(0.05)
    check(active(server) == 0, "no run goes on for nobody")


def main():
    binary, examples, models = sys.argv[1:4]
    weights, tokenizer = (os.path.join(models, "stories260K", name) for name in ("stories260K.bin", "tok512.bin"))
    is_real = os.path.exists(weights) and os.path.exists(tokenizer)
    prompt = [1, 410, 469, 347]
    with tempfile.TemporaryDirectory() as folder:
        vmx = compiled(binary, examples, weights if is_real else None, folder)
        server = Server(binary, "--model", f"stories={vmx}", "--workers", "2")
        try:
            check_tokens(server, binary, vmx, prompt)
            check_ends(server, prompt)
            check_leavers(server, prompt)
            if is_real:
                check_story(server, examples, tokenizer)
            check(server.end() == 0, "it ends when it is told")
        finally:
            server.process.kill()
    print(f"{run_serve.PASSED} checks passed" + ("" if is_real else ", without the real weights"))


if __name__ == "__main__":
    main()

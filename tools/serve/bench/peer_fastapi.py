#!/usr/bin/env python3
"""The peer: ONNX Runtime inside FastAPI and uvicorn, as people write it, with the Open Inference Protocol's metadata and infer.

usage: peer_fastapi.py NAME=MODEL.onnx --port N [--workers N] [--threads N] [--max-batch N --max-delay MS [--runners N] [--sorted]]

With --max-batch requests wait up to MS for others, are padded to the longest (with zeros, by their last dim), run as one by a thread, and are
cut apart; --runners of such batches run at a time, each with --threads of ONNX Runtime's. With --sorted a batch has the oldest request and
those that wait with the nearest lengths; else they go in their order. Without, each runs at once in the event loop, which is faster for small
models. Needs fastapi, uvicorn, uvloop, httptools, orjson, onnxruntime and numpy of PyPI: `compare.py` says how.
"""
import argparse
import asyncio
import json
import os

import numpy as np
import onnxruntime
import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

DTYPES = {"FP32": np.float32, "FP64": np.float64, "INT64": np.int64, "INT32": np.int32, "BOOL": np.bool_, "UINT8": np.uint8}
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
ORT = {"tensor(float)": "FP32", "tensor(double)": "FP64", "tensor(int64)": "INT64", "tensor(int32)": "INT32", "tensor(bool)": "BOOL",
       "tensor(uint8)": "UINT8"}


class Model:
    def __init__(self, path, settings):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = settings["threads"]
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.outputs = [o.name for o in self.session.get_outputs()]
        self.max_batch, self.max_delay = settings["max_batch"], settings["max_delay"] / 1000
        self.is_sorted, self.runners = settings["sorted"], settings["runners"]
        self.waiting, self.came, self.tasks = [], None, []

    def metadata(self, name):
        def specs(tensors):
            return [{"name": t.name, "datatype": ORT[t.type], "shape": [d if isinstance(d, int) else -1 for d in t.shape]} for t in tensors]
        return {"name": name, "versions": ["1"], "platform": "onnxruntime", "inputs": specs(self.session.get_inputs()),
                "outputs": specs(self.session.get_outputs())}

    async def run(self, inputs):
        if self.max_batch <= 1:
            return self.session.run(self.outputs, inputs)
        if self.came is None:
            self.came = asyncio.Event()
            self.tasks = [asyncio.create_task(self.batches()) for _ in range(self.runners)]
        loop = asyncio.get_running_loop()
        answer = loop.create_future()
        self.waiting.append((loop.time() + self.max_delay, inputs, answer))
        self.came.set()
        return await answer

    async def take(self):
        """The next batch: full, or its oldest request has waited for long enough."""
        loop = asyncio.get_running_loop()
        while True:
            left = self.waiting[0][0] - loop.time() if self.waiting else None
            if left is not None and (left <= 0 or len(self.waiting) >= self.max_batch):
                break
            self.came.clear()
            try:
                await asyncio.wait_for(self.came.wait(), left)
            except (asyncio.TimeoutError, TimeoutError):
                pass
        order = self.waiting
        if self.is_sorted:
            length = length_of(order[0][1])
            order = sorted(order, key=lambda one: abs(length_of(one[1]) - length))
        batch = order[:self.max_batch]
        taken = {id(one) for one in batch}
        self.waiting = [one for one in self.waiting if id(one) not in taken]
        return batch

    async def batches(self):
        while True:
            batch = await self.take()
            try:
                run = asyncio.get_running_loop().run_in_executor(None, self.run_padded, [inputs for _, inputs, _ in batch])
                for (_, _, answer), result in zip(batch, await run):
                    if not answer.done():
                        answer.set_result(result)
            except Exception as error:
                for _, _, answer in batch:
                    if not answer.done():
                        answer.set_exception(error)

    def run_padded(self, batch):
        if len(batch) == 1:
            return [self.session.run(self.outputs, batch[0])]
        joined = {}
        lengths = [length_of(inputs) for inputs in batch]
        longest = max(lengths)
        for name in batch[0]:
            rows = [inputs[name] for inputs in batch]
            if rows[0].ndim > 1 and rows[0].shape[-1] in lengths:
                rows = [np.pad(r, [(0, 0)] * (r.ndim - 1) + [(0, longest - r.shape[-1])]) for r in rows]
            joined[name] = np.concatenate(rows)
        whole = self.session.run(self.outputs, joined)
        sizes = [next(iter(inputs.values())).shape[0] for inputs in batch]
        results, at = [], 0
        for size, length in zip(sizes, lengths):
            cut = [o[at:at + size] for o in whole]
            cut = [o[:, :length] if o.ndim > 1 and o.shape[1] == longest else o for o in cut]
            results.append(cut)
            at += size
        return results


def length_of(inputs):
    return next(iter(inputs.values())).shape[-1]


def read(body, header):
    if not header:
        asked = orjson.loads(body)
        return asked, {i["name"]: np.array(i["data"], DTYPES[i["datatype"]]).reshape(i["shape"]) for i in asked["inputs"]}
    at = int(header)
    asked, inputs = orjson.loads(body[:at]), {}
    for i in asked["inputs"]:
        size = i["parameters"]["binary_data_size"]
        inputs[i["name"]] = np.frombuffer(body[at:at + size], DTYPES[i["datatype"]]).reshape(i["shape"])
        at += size
    return asked, inputs


def write(name, names, results, is_binary):
    outputs, data = [], []
    for output, value in zip(names, results):
        spec = {"name": output, "datatype": NAMES[value.dtype], "shape": list(value.shape)}
        if is_binary:
            data.append(value.tobytes())
            spec["parameters"] = {"binary_data_size": len(data[-1])}
        else:
            spec["data"] = value.ravel().tolist()
        outputs.append(spec)
    text = orjson.dumps({"model_name": name, "model_version": "1", "outputs": outputs})
    if not is_binary:
        return Response(text, media_type="application/json")
    return Response(text + b"".join(data), media_type="application/octet-stream", headers={"Inference-Header-Content-Length": str(len(text))})


def make_app():
    name, _, path = os.environ["PEER_MODEL"].partition("=")
    model = Model(path, json.loads(os.environ["PEER_SETTINGS"]))
    app = FastAPI()

    @app.get("/v2/models/" + name)
    async def metadata():
        return model.metadata(name)

    @app.post(f"/v2/models/{name}/infer")
    async def infer(request: Request):
        asked, inputs = read(await request.body(), request.headers.get("inference-header-content-length"))
        results = await model.run(inputs)
        return write(name, model.outputs, results, bool((asked.get("parameters") or {}).get("binary_data_output")))

    return app


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--max-batch", type=int, default=1)
    parser.add_argument("--max-delay", type=float, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runners", type=int, default=1)
    parser.add_argument("--sorted", action="store_true")
    arguments = parser.parse_args()
    os.environ.update(PEER_MODEL=arguments.model, PEER_SETTINGS=json.dumps(vars(arguments)),
                      PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))
    uvicorn.run("peer_fastapi:make_app", factory=True, host="127.0.0.1", port=arguments.port, workers=arguments.workers, loop="uvloop",
                http="httptools", log_level="warning", access_log=False)


if __name__ == "__main__":
    main()

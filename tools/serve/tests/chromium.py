"""A page in headless Chromium, driven by its DevTools protocol over a pipe: what a person at it does, and what it shows."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, program, width=1280, height=900):
        # Chromium reads from 3 and writes to 4.
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        self.folder = tempfile.mkdtemp()
        command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "--disable-background-networking"]
        shell = f"exec 3<&{to_read} 4>&{to_write}; exec \"$@\""
        self.process = subprocess.Popen(["bash", "-c", shell, "chromium", *command], pass_fds=(to_read, to_write),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.urls, self.complaints = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                more = os.read(self.back, 1 << 16)
                if not more:
                    raise RuntimeError("Chromium has gone")
                self.buffer += more
            text, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(text)
            self.note(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.urls.append(parameters["request"]["url"])
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, what, seconds=60):
        end = time.time() + seconds
        while time.time() < end:
            value = self.js(f"(v => v instanceof Node ? true : v)({expression})")
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"{what}: not within {seconds} s; the page shows:\n" + str(self.js("document.body.innerText")))

    def click(self, element):
        """`element`: an expression. As the mouse does."""
        self.js(f"({element}).scrollIntoView({{block: 'center'}})")
        x, y = self.js(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(({element}).getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, element, text):
        self.click(element)
        self.js(f"({element}).select()")
        self.call("Input.insertText", text=text)

    def choose(self, element, option):
        self.js(f"(e => {{ e.value = {json.dumps(option)}; e.dispatchEvent(new Event('change')); }})({element})")

    def put_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def end(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

#!/usr/bin/python3
"""Uses vmserve's page in headless Chromium as a person does: clicks, types, looks at what it shows.

usage: run_page.py BIN_FOLDER EXAMPLES_FOLDER [SCREENSHOT_FOLDER]

Exits with 77 where there is no Chromium. Closes with the line "N checks passed".
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import run_serve
from chromium import Browser, find_chromium
from run_serve import Server, check

HOSTILE = "<img src=x onerror=window.pwned=1>&amp;'\"\u202e"
PICTURE = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 24, 32), float32]) -> Tensor[(1, 3, 24, 32), float32] { subtract(1f, %x) }
"""
BUTTON = "[...document.querySelectorAll('#models button')].find(b => b.textContent.startsWith({}))"


def write_png(path, width, height, colour):
    rows = b"".join(b"\0" + b"".join(bytes(colour(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_npy(path, numbers):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(numbers)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(numbers)}f", *numbers))


def compile_relay(binary, text, path):
    os.makedirs(os.path.dirname(path))
    with open(path + ".relay", "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run([os.path.join(binary, "relayc"), path + ".relay", "-q", "-o", path], check=True)
    os.remove(path + ".relay")


def make_models(binary, examples, folder):
    run_serve.make_repository(binary, examples, folder)
    compile_relay(binary, PICTURE, os.path.join(folder, "picture", "1", "model.vmx"))
    os.makedirs(os.path.join(folder, HOSTILE, "2"))
    shutil.copy(os.path.join(folder, "lstm", "1", "model.vmx"), os.path.join(folder, HOSTILE, "2", "model.vmx"))
    os.makedirs(os.path.join(folder, "broken", "1"))
    with open(os.path.join(folder, "broken", "1", "model.vmx"), "w") as f:
        f.write("<b>not a model</b>")


class Page:
    def __init__(self, browser, server, shots):
        self.browser, self.server, self.shots = browser, server, shots
        browser.open(f"http://127.0.0.1:{server.ports['http']}/")

    def wait_for_models(self):
        self.browser.wait("document.querySelectorAll('#models button').length >= 5", "models are listed")

    def choose_model(self, name):
        self.browser.click(BUTTON.format(json.dumps(name)))
        self.browser.wait("document.querySelector('#model h2')?.textContent.startsWith(" + json.dumps(name) + ")", name)

    def run(self):
        self.browser.wait("!document.getElementById('run').disabled", "the run before")
        self.browser.js("document.getElementById('result').replaceChildren()")
        self.browser.click("document.getElementById('run')")
        return self.browser.wait("document.getElementById('result').innerText", "a result")

    def shot(self, name):
        if not self.shots:
            return
        for width in (1280, 420):
            self.browser.resize(width, 900)
            self.browser.screenshot(os.path.join(self.shots, f"{name}_{width}.png"))
            wide = self.browser.js("document.documentElement.scrollWidth")
            check(wide <= width, f"{name}: {wide} pixels fit {width}")
        self.browser.resize(1280, 900)


def check_numbers(page):
    browser = page.browser
    page.choose_model("newton")
    browser.type("document.querySelector('textarea')", "2, 9")
    result = page.run()
    check("1.41421" in result and "3" in result, f"newton of 2 and 9: {result}")
    check("ms" in browser.js("document.getElementById('latency').textContent"), "the latency is shown")
    browser.type("document.querySelector('textarea')", "2, <b>x</b>")
    check("is no number" in page.run(), "what is no number is refused")
    browser.type("document.querySelector('textarea')", "2 9")
    browser.click("document.getElementById('with-profile')")
    page.run()
    browser.wait("document.querySelectorAll('#profile .bar').length > 0", "the profile has bars")
    check("recorded: 1 runs" in browser.js("document.getElementById('profile').innerText"), "of this run")
    browser.click("document.getElementById('show-graph')")
    browser.wait("document.querySelectorAll('#graph rect').length > 2", "the graph is drawn")
    check(browser.js("document.querySelectorAll('#graph path').length") > 1, "with edges")
    page.shot("newton")


def check_files(page, folder):
    browser = page.browser
    path = os.path.join(folder, "x.npy")
    write_npy(path, [16.0, 25.0])
    browser.choose("document.querySelector('fieldset select')", ".npy file")
    browser.put_file("fieldset input[type=file]", path)
    check("4, 5" in page.run(), "a .npy file is taken")
    with open(path, "wb") as f:
        f.write(b"<script>window.pwned=1</script>")
    browser.put_file("fieldset input[type=file]", path)
    check("no .npy file" in page.run(), "another file is refused")


def check_image(page, folder):
    browser = page.browser
    path = os.path.join(folder, "image.png")
    write_png(path, 32, 24, lambda x, y: (255 if x < 16 else 0, 0, 255 if y < 12 else 0))
    page.choose_model("picture")
    browser.choose("document.querySelector('fieldset select')", "image")
    browser.put_file("fieldset input[type=file]", path)
    browser.wait("[...document.querySelectorAll('fieldset canvas')].some(c => c.width === 32 && !c.hidden)", "it is drawn")
    page.run()
    pixel = ("(c => [...c.getContext('2d').getImageData({}, {}, 1, 1).data.slice(0, 3)])"
             "(document.querySelector('#result canvas'))")
    check(browser.js(pixel.format(0, 0)) == [0, 255, 0], "red and blue become green")
    check(browser.js(pixel.format(31, 23)) == [255, 255, 255], "black becomes white")
    page.shot("picture")


def check_hostile(page):
    browser = page.browser
    page.choose_model("broken")
    browser.wait("document.querySelector('#model .error')", "why it is not ready")
    page.choose_model(HOSTILE)
    browser.wait("document.querySelectorAll('fieldset').length > 0", "its inputs")
    for box in range(browser.js("document.querySelectorAll('fieldset').length")):
        browser.choose(f"document.querySelectorAll('fieldset')[{box}].querySelector('select')", "random")
    browser.js("document.getElementById('with-profile').checked = true")
    page.run()
    browser.click("document.getElementById('show-graph')")
    browser.wait("document.querySelectorAll('#graph rect').length > 2", "the graph is drawn")
    page.shot("hostile")
    check(browser.js("document.querySelectorAll('img').length") == 0, "names are text")
    check(browser.js("typeof window.pwned") == "undefined", "and run nothing")
    script = "document.head.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 1'}))"
    browser.js(script)
    check(browser.js("typeof window.pwned") == "undefined", "the policy lets no other script run")


def check_header(server):
    status, body, headers = server.ask("GET", "/")
    check(status == 200 and headers["Content-Type"].startswith("text/html"), "the page")
    policy = headers["Content-Security-Policy"]
    check("default-src 'none'" in policy and "unsafe" not in policy, policy)
    check(b"__NONCE__" not in body and b"http://www.w3.org/2000/svg" in body, "nonces are filled in")
    check(server.ask("GET", "/")[2]["Content-Security-Policy"] != policy, "each page has its own")
    status, _, _ = server.ask("POST", "/v2/repository/index", headers={"Sec-Fetch-Site": "cross-site"})
    check(status == 403, "pages of other sites change nothing")


def check_token(browser, binary, folder, shots):
    """A server that wants a token: the page comes without, asks for it, and keeps it for its tab alone."""
    path = os.path.join(folder, "token")
    with open(path, "w") as f:
        f.write("a-token-of-this-test\n")
    server = Server(binary, "--models", os.path.join(folder, "models"), "--cache", os.path.join(folder, "cache"), "--token-file", path)
    try:
        check(server.ask("GET", "/v2/models")[0] == 401, "a token is needed")
        page = Page(browser, server, shots)

        def give(token):
            browser.wait("document.getElementById('token')", "the page asks for a token")
            browser.type("document.getElementById('token')", token)
            browser.click("document.querySelector('#token-form button')")

        give("another-token")
        browser.wait("document.getElementById('token-form')?.innerText.includes('another token')", "a wrong one is refused")
        check(browser.js("sessionStorage.length") == 0, "and not kept")
        page.shot("token")
        give("a-token-of-this-test")
        page.wait_for_models()
        page.choose_model("newton")
        browser.type("document.querySelector('textarea')", "2, 9")
        check("1.41421" in page.run(), "newton with a token")
        check(browser.js("localStorage.length + document.cookie.length") == 0, "nothing outlives the tab")
        check(all("token" not in url for url in browser.urls), "and no address has it")
        Page(browser, server, shots).wait_for_models()
        browser.click("document.getElementById('forget')")
        browser.wait("document.getElementById('token')", "it is forgotten")
        check(browser.js("sessionStorage.length") == 0, "from the tab, too")
    finally:
        server.end()


def main():
    binary, examples = sys.argv[1:3]
    shots = sys.argv[3] if len(sys.argv) > 3 else None
    program = find_chromium()
    if program is None:
        print("there is no Chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        models = os.path.join(folder, "models")
        make_models(binary, examples, models)
        server = Server(binary, "--models", models, "--cache", os.path.join(folder, "cache"))
        browser = Browser(program)
        try:
            check_header(server)
            page = Page(browser, server, shots)
            page.wait_for_models()
            check_numbers(page)
            check_files(page, folder)
            check_image(page, folder)
            check(browser.complaints == [], f"nothing is complained of: {browser.complaints}")
            check_hostile(page)
            origin = f"http://127.0.0.1:{server.ports['http']}/"
            foreign = [u for u in browser.urls if not u.startswith((origin, "blob:" + origin, "about:"))]
            check(foreign == [], f"nothing else is asked: {foreign}")
            check_token(browser, binary, folder, shots)
        finally:
            browser.end()
            server.end()
    print(f"{run_serve.PASSED} checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())

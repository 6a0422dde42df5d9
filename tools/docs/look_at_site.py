#!/usr/bin/python3
"""Looks at the built site in headless Chromium as a person does: on a wide screen and on a narrow one, and asks its search.

usage: look_at_site.py HTML_FOLDER [FOLDER]    (with FOLDER: leaves pictures there)

Every page (without FOLDER: every one that is written, and some of the reference): nothing is wider than the screen, no script fails, nothing is asked of another host, text is there. Exits with 77 where there is no
Chromium. Closes with the line "N pages at N widths, N wrong".
"""
import base64
import functools
import http.server
import os
import sys
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../serve/tests"))
from chromium import Browser, find_chromium  # noqa: E402

WIDTHS = (1280, 400)
SHOWN = ("index", "start/first_model", "from/onnxruntime", "howto/dynamic_batch", "reference/relayc", "reference/relay_nn", "reference/errors", "how/index", "figures")
QUESTIONS = (("dynamic batch", "howto/dynamic_batch"), ("float16", "howto/precision"), ("why is my first run slow", "howto/first_run"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/favicon.ico":  # which browsers ask for by themselves
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = find_chromium()
    if not program:
        print("there is no Chromium")
        return 77
    root, pictures = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"http://127.0.0.1:{server.server_address[1]}/"
    pages = sorted(os.path.relpath(os.path.join(folder, name), root)[:-5] for folder, _, names in os.walk(root) for name in names if name.endswith(".html"))
    if pictures is None:  # of the reference one page of a kind
        pages = [page for page in pages if page in SHOWN or page.split("/")[0] in ("start", "from", "howto", "how", "contribute")]
    wrong = []
    browser = Browser(program)
    try:
        for page in pages:
            browser.open(host + page + ".html")
            browser.wait("document.readyState === 'complete' && location.href.endsWith(" + repr(page + ".html") + ")", page)
            for width in WIDTHS:
                browser.resize(width, 900)
                wide = browser.js("document.documentElement.scrollWidth")
                if wide > width:
                    wrong.append(f"{page}: {wide} wide on a screen of {width}")
                if not browser.js("(document.querySelector('[role=main]') || {innerText: ''}).innerText.trim().length") and page != "search":
                    wrong.append(f"{page}: no text at {width}")
                if pictures and page in SHOWN:
                    shot = browser.call("Page.captureScreenshot", format="png")["data"]
                    with open(os.path.join(pictures, f"{page.replace('/', '_')}_{width}.png"), "wb") as f:
                        f.write(base64.b64decode(shot))
        for question, page in QUESTIONS:
            browser.open(host + "search.html?" + urllib.parse.urlencode({"q": question}))
            browser.wait("document.querySelectorAll('ul.search li a').length > 2", question)
            found = browser.js("[...document.querySelectorAll('ul.search li a')].slice(0, 3).map(a => a.getAttribute('href'))")
            if not any(link.split(".html")[0] == page for link in found):
                wrong.append(f"search for {question}: expected {page}, found {', '.join(found)}")
        wrong += [f"asks {url}" for url in browser.urls if url.startswith("http") and not url.startswith(host)]
        wrong += browser.complaints
    finally:
        browser.end()
        server.shutdown()
    print("\n".join(wrong[:40]), end="\n" if wrong else "")
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

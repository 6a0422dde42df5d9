#!/usr/bin/python3
"""Uses the page of relayc --emit graph.html in headless Chromium as a person does: clicks, searches, zooms, folds, reads.

usage: look_at_model_page.py BIN_FOLDER MODEL [--input NAME=FILE]... [--pictures FOLDER]

MODEL is compiled, made a page of, and run with the inputs for a profile. Prints what was seen and how
long the page took. Exits with 77 where there is no Chromium.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../serve/tests"))
from chromium import Browser, find_chromium  # noqa: E402

FRAME = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"  # the frame after this one has been painted
TIMED = "(async () => { const start = performance.now(); %s; await " + FRAME + "; return performance.now() - start; })()"
BOXES = "[...document.querySelectorAll('#stage .box')]"
CHOSEN = "document.querySelector('#stage .box.chosen')"
RIGHT = "document.getElementById('right')"
TRANSFORM = "document.querySelector('#stage svg > g').getAttribute('transform')"


class Page:
    def __init__(self, path, pictures):
        self.browser, self.pictures = Browser(find_chromium(), 1400, 900), pictures
        self.browser.open("file://" + path)
        self.browser.wait("document.querySelectorAll('#stage .box').length", "a graph is drawn")
        self.js = self.browser.js
        self.model = self.js("model")
        self.times = {"first paint": self.js("performance.getEntriesByType('paint').at(-1)?.startTime ?? performance.now()")}

    def act(self, what, expression):
        """What a person does, and how long until it is on the screen, in milliseconds."""
        self.times[what] = self.js(TIMED % expression)

    def search(self, words):
        self.act(f"search '{words}'", f"const s = find('search'); s.value = {json.dumps(words)}; s.dispatchEvent(new Event('input'))")
        found = self.js("document.getElementById('found')?.innerText || ''")
        return int(found.split()[0]) if found else 0

    def shot(self, name):
        if self.pictures:
            self.browser.screenshot(os.path.join(self.pictures, name + ".png"))

    def reveal(self, i):
        """Goes to a node, as its link in a list does: what is said of it."""
        self.js(f"choose({i}, true)")
        return self.js(RIGHT + ".innerText")


def check_move(page):
    """Wheel, buttons, dragging: what is under the mouse stays there, and Fit comes back."""
    browser, js = page.browser, page.js
    x, y = js("(r => [r.x + r.width / 3, r.y + r.height / 3])(find('stage').getBoundingClientRect())")
    before = js("({...view})")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-200)
    browser.wait(f"view.scale > {before['scale']}", "the wheel brings it nearer")
    after, edge = js("({...view})"), js("(r => [r.x, r.y])(find('stage').getBoundingClientRect())")
    at = [((x - edge[0]) - v["x"]) / v["scale"] for v in (before, after)]
    moved = abs(at[0] - at[1]) * after["scale"]  # by pixels: the browser rounds where the mouse is
    assert moved < 1, f"what is under the mouse moved from {at[0]} to {at[1]}, {moved} pixels"
    for kind, right in (("mousePressed", 0), ("mouseMoved", 50), ("mouseReleased", 50)):
        browser.call("Input.dispatchMouseEvent", type=kind, x=x + right, y=y, button="left", buttons=int(kind != "mouseReleased"), clickCount=1)
    assert abs(js("view.x") - after["x"] - 50) < 1, "dragging moves it along"
    browser.click("find('out')")
    assert js("view.scale") < after["scale"], "a button takes it further away"
    page.act("zoom", "zoom(1.3)")
    browser.click("find('fit')")
    assert js("view.scale") == before["scale"], "Fit comes back"
    assert js(TRANSFORM).startswith("translate(") and "NaN" not in js(TRANSFORM), js(TRANSFORM)


def check_folding(page):
    js, browser = page.js, page.browser
    shown = js(BOXES + ".length")
    page.act("unfold all", "find('unfold').click()")
    everything = js(BOXES + ".length")
    assert everything == js("nodes.length"), f"{everything} boxes of {js('nodes.length')} nodes"
    page.act("zoom, all unfolded", "zoom(0.8)")
    page.act("choose, all unfolded", f"{BOXES}.at(-1).dispatchEvent(new Event('click'))")
    page.shot("unfolded")
    page.act("fold all", "find('fold').click()")
    folded = js(BOXES + ".length")
    groups = js("document.querySelectorAll('#stage .box.group').length")
    assert folded <= shown <= everything and (groups > 0) == (folded < everything), (folded, groups, shown, everything)
    if groups:
        browser.click("document.querySelector('#stage .box.group rect')")
        assert js(BOXES + ".length") > folded, "a click unfolds a group"
        browser.click("document.querySelector('#left .row')")
    browser.js("openSome(); refresh(); fit()")
    assert js(BOXES + ".length") == shown
    return everything, shown, groups


def check_node(page):
    """A node with each of what is known of some: what is on the right is what the model says."""
    js, nodes = page.js, page.model["functions"][0]["nodes"]
    seen = []
    for what in ("attrs", "constants", "kernels", "place", "parent"):
        i = next((i for i, n in enumerate(nodes) if n.get(what) is not None and n["kind"] == "op" and n["from"]), None)
        if i is None:
            continue
        said, node = page.reveal(i), nodes[i]
        assert node["op"] in said and node["type"].split("\n")[0] in said, said
        assert js(f"{CHOSEN} !== null"), f"{node['op']} is marked"
        near = js("document.querySelectorAll('#stage path.near').length")
        assert near >= 1, f"its edges are: {near}"
        if what == "attrs":
            assert all(name in said and value in said for name, value in node["attrs"].items()), said
        if what == "kernels":
            assert all(kernel in said for kernel in node["kernels"]), said
        if what == "constants":
            constant = page.model["constants"][node["constants"][0]]
            assert "mean" in said and "range" in said, said
            heights = js("[...document.querySelectorAll('.bars')].map(b => b.children.length)")
            assert ("bins" not in constant or constant["min"] == constant["max"]) or 24 in heights, heights
        page.shot("node_" + what)
        seen.append(what)
    # Inputs and users are links.
    user = next(i for i, n in enumerate(nodes) if n["from"] and n["kind"] == "op")
    page.reveal(user)
    page.browser.click(f"[...{RIGHT}.querySelectorAll('h3')].find(h => h.innerText === 'Inputs').nextElementSibling")
    assert js("chosen") == nodes[user]["from"][0], "a link leads to the input"
    return seen


def check_search(page):
    js, nodes = page.js, page.model["functions"][0]["nodes"]
    op = next(n["op"] for n in nodes if n["kind"] == "op")
    found = page.search(op)
    assert found >= sum(n["op"] == op for n in nodes), f"{op}: {found}"
    assert page.search("nothing is called so") == 0
    page.search(op)
    page.browser.click("find('search')")
    for kind in ("keyDown", "keyUp"):
        page.browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13)
    assert js("chosen") >= 0 and js(f"{CHOSEN} !== null"), "Enter goes to the first"
    page.shot("search")
    page.search("")


def check_profile(page, profile):
    js, nodes = page.js, page.model["functions"][0]["nodes"]
    page.browser.put_file("#profile", profile)
    page.browser.wait("times !== null", "the profile is read")
    about, heats = js("find('about').innerText"), js("document.querySelectorAll('#stage .heat').length")
    assert "ms in all" in about and heats > 0, about
    # What the boxes of the whole graph say is not more than all the time.
    shares = js("[...document.querySelectorAll('#stage .box > title')].map(t => parseFloat(t.textContent))")
    assert 0 < sum(shares) <= 100 + 0.05 * len(shares), f"{sum(shares)} % of the time"  # each is rounded to a tenth
    slowest = js("[...find('left').querySelectorAll('.row')].map(r => r.innerText).filter(t => / ms /.test(t))")
    assert slowest and len(slowest) == len(set(slowest)), slowest
    page.browser.click("[...find('left').querySelectorAll('.row')].find(r => / ms /.test(r.innerText))")
    said = js(RIGHT + ".innerText")
    assert " ms" in said and "time" in said, said
    page.shot("profile")
    with open(profile, "w") as f:
        f.write("{}")
    page.browser.put_file("#profile", profile)
    page.browser.wait("!find('about').innerText.includes('ms in all')", "a file that is none is refused")
    assert nodes and js("times !== null"), "and what was read before stays"
    return about


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("model")
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--pictures")
    flags = parser.parse_args()
    if find_chromium() is None:
        print("there is no Chromium")
        return 77
    if flags.pictures:
        os.makedirs(flags.pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page_file, program, profile = (os.path.join(folder, name) for name in ("page.html", "program.vmx", "profile.json"))
        relayc = os.path.join(flags.bin, "relayc")
        subprocess.run([relayc, "-q", flags.model, "--emit", "graph.html", "-o", page_file], check=True)
        subprocess.run([relayc, "-q", flags.model, "-o", program], check=True)
        inputs = [word for text in flags.input for word in ("--input", text)]
        subprocess.run([os.path.join(flags.bin, "vmrun"), program, *inputs, "--profile", profile], check=True, stdout=subprocess.DEVNULL)
        page = Page(page_file, flags.pictures)
        try:
            page.shot("first")
            check_move(page)
            everything, shown, groups = check_folding(page)
            seen = check_node(page)
            check_search(page)
            about = check_profile(page, profile)
            assert page.browser.complaints == [], page.browser.complaints
            foreign = [url for url in page.browser.urls if not url.startswith(("file:", "about:"))]
            assert foreign == [], f"the page asked for {foreign}"
        finally:
            page.browser.end()
        print(f"{everything} nodes, {shown} boxes at first, {groups} groups when folded; looked at nodes with {', '.join(seen)}; {about}")
        print("; ".join(f"{what}: {time:.0f} ms" for what, time in page.times.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

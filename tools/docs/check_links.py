#!/usr/bin/python3
"""Every link of the built site leads somewhere: to a file that is there, and to an anchor that it has. No page asks another host for anything.

usage: check_links.py HTML_FOLDER
Closes with the line "N links of N pages, N broken".
"""
import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag in ("img", "script", "link", "iframe"):
            self.loads += [attrs[name] for name in ("src", "href") if attrs.get(name)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = os.path.abspath(sys.argv[1])
    pages = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".html"):
                pages[os.path.join(folder, name)] = Page(os.path.join(folder, name))
    count, wrong = 0, []
    for path, page in pages.items():
        for link in page.links + page.loads:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc:
                if link in page.loads:
                    wrong.append(f"{os.path.relpath(path, root)}: loads {link}, of another host")
                elif target.scheme not in ("https", "mailto") and target.hostname != "127.0.0.1":
                    wrong.append(f"{os.path.relpath(path, root)}: {link}")
                continue
            count += 1
            file = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(target.path))) if target.path else path
            if not os.path.exists(file):
                wrong.append(f"{os.path.relpath(path, root)}: {link}: there is no such file")
            elif target.fragment and file in pages and urllib.parse.unquote(target.fragment) not in pages[file].anchors:
                wrong.append(f"{os.path.relpath(path, root)}: {link}: there is no such anchor")
    print("\n".join(wrong[:50]), end="\n" if wrong else "")
    print(f"{count} links of {len(pages)} pages, {len(wrong)} broken")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Asks the built site's search what newcomers ask (questions.txt), and expects the right page among the first three answers.

usage: check_search.py HTML_FOLDER [QUESTION]    (with a question: prints what it finds)

The ranking is that of the page's script, Sphinx' searchtools.js with scorer.js, over the index that it loads, searchindex.js.
look_at_site.py asks the script itself, in a browser. Closes with the line "N questions, N without the right page".
"""
import os
import re
import sys

from sphinx.search import js_index
from sphinx.search.en import SearchEnglish

TITLE, PARTIAL_TITLE, TERM, PARTIAL_TERM, NAME, PARTIAL_NAME = 15, 7, 5, 2, 11, 6
PRIORITIES = {0: 15, 1: 5, 2: -5}
ABOVE = 3  # scorer.js: pages that explain, above those that list


class Search:
    def __init__(self, folder):
        with open(os.path.join(folder, "searchindex.js"), encoding="utf-8") as f:
            self.index = js_index.loads(f.read())
        self.language = SearchEnglish({})

    def ask(self, query):
        """Names of pages, the best first."""
        index, lower = self.index, query.lower()
        words = [w for w in re.split(r"[^\w]+", query.lower()) if w]
        terms = {self.language.stem(w) for w in words if w not in self.language.stopwords and not w.isdigit()}
        results = []
        for table, name in ((index["alltitles"], True), (index["indexentries"], False)):
            for title, places in table.items():
                if lower in (title.lower() if name else title) and len(lower) >= len(title) / 2:
                    results += [(int(100 * len(lower) / len(title) + 0.5), index["titles"][file], index["docnames"][file]) for file, _ in places]
        for word in dict.fromkeys(words):
            results += self.objects(word, set(words) - {word})
        results += self.texts(terms)
        results = [(score + (0 if page.startswith(("reference/", "contribute/")) else ABOVE), title, page) for score, title, page in results]
        results.sort(key=lambda r: (-r[0], r[1].lower()))
        return list(dict.fromkeys(page for _, _, page in results))

    def objects(self, word, others):
        index = self.index
        for prefix, members in index["objects"].items():
            for file, kind, priority, _, name in members:
                full = f"{prefix}.{name}" if prefix else name
                last = full.lower().split(".")[-1]
                title = index["titles"][file]
                text = f"{prefix} {name} {index['objnames'][str(kind)][2]} {title}".lower()
                if word in full.lower() and all(other in text for other in others):
                    score = NAME if word in (full.lower(), last) else PARTIAL_NAME if word in last else 0
                    yield score + PRIORITIES.get(priority, 0), full, index["docnames"][file]

    def texts(self, terms):
        index, scores = self.index, {}
        for word in terms:
            found = [(index["terms"].get(word), TERM), (index["titleterms"].get(word), TITLE)]
            if len(word) > 2:
                if word not in index["terms"]:
                    found += [(files, PARTIAL_TERM) for term, files in index["terms"].items() if word in term]
            for files, score in found:
                for file in [] if files is None else files if isinstance(files, list) else [files]:
                    scores.setdefault(file, {})[word] = score
        long = sum(len(word) > 2 for word in terms)
        return [(max(of.values()), index["titles"][file], index["docnames"][file]) for file, of in scores.items() if len(of) in (len(terms), long)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    search = Search(sys.argv[1])
    if len(sys.argv) == 3:
        print("\n".join(search.ask(sys.argv[2])[:10]))
        return 0
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions.txt")) as f:
        questions = [line.strip().split(" | ") for line in f if line.strip() and not line.startswith("#")]
    wrong = 0
    for question, page in questions:
        found = search.ask(question)
        if page not in found[:3]:
            wrong += 1
            print(f'"{question}": expected {page} among the first three, found {", ".join(found[:3]) or "nothing"}')
    print(f"{len(questions)} questions, {wrong} without the right page")
    return 1 if wrong or not questions else 0


if __name__ == "__main__":
    sys.exit(main())

// How the search ranks: as Sphinx does, and pages that explain above those that list. check_search.py does the same.
var Scorer = {
  score: ([page, title, anchor, description, score, file]) =>
    score + (page.startsWith("reference/") || page.startsWith("contribute/") ? 0 : 3),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

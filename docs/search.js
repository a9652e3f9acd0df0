// How the site's search weighs what it finds. Sphinx's own numbers, but a heading that holds the words as they were
// asked comes before all pages that only hold the words somewhere. It has an anchor, and no description as names have.
var Scorer = {
  score: ([, , anchor, description, score]) => score + (anchor && !description ? 15 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

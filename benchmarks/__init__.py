"""The scripts behind the figures: each writes data files (`--docs docs`), from which `pages` fills in the tables.

`pages.FIGURES` lists every data file with its script, and docs/results.md shows that list, with when each was measured.
`pictures` draws the pictures of that page. The other modules are what these share: `harness` measures rows and seeds in
turns, `data` reads and writes the files.
"""

"""`selfplay sweep` trains with many settings and seeds; `selfplay report` says what came of it."""

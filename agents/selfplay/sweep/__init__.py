"""`selfplay sweep` trains with many settings and seeds; `selfplay report` compares the results."""

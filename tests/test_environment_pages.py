"""The tables on the pages of the environments are those of the code."""

from pathlib import Path

import pytest

from docs import tables


def test_the_tables_of_the_pages_are_those_of_the_code() -> None:
    tables.main(check=True)


@pytest.mark.parametrize(
    ("page", "right", "changed"),
    [
        ("turn", "| `rows` | `3` |", "| `rows` | `4` |"),
        ("batch", "`play(rules, state, actions)`", "`play(rules, state)`"),
    ],
)
def test_a_table_out_of_date_is_noticed(page: str, right: str, changed: str) -> None:
    text = Path(tables.FOLDER, f"{page}.md").read_text()
    assert right in text
    assert right in tables.filled(page, text.replace(right, changed))

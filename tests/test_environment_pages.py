"""The tables on the pages of the environments are those of the code."""

from docs import tables


def test_the_tables_of_the_pages_are_those_of_the_code() -> None:
    tables.main(check=True)

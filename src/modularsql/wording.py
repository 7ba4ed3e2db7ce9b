"""Words that every room uses."""


def counted(number: int, one: str, many: str = "") -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

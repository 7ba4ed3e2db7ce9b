"""What random queries ask of their columns: conditions, expressions, aggregates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from .random_schemas import NUMBERS, TEXTS, Part, RandomSchema, Text


@dataclass
class Conditions:
    """Draws conditions and expressions over the columns of some parts of FROM."""

    random: Random
    schema: RandomSchema
    ctes: list[Part] = field(default_factory=list)
    seen: list[Part] = field(default_factory=list)  # what a bare name may mean
    merged: set[str] = field(default_factory=set)  # the columns of USING
    names: int = 0
    has_padding: bool = False  # RIGHT and FULL JOIN

    @property
    def literal(self) -> str:
        """A literal that may be compared with the schema's columns."""
        if self.is_sqlite:
            return self.random.choice([*NUMBERS, *TEXTS])
        return self.random.choice(TEXTS if self.schema.is_text else NUMBERS)

    @property
    def is_sqlite(self) -> bool:
        """Whether the dialect is SQLite's."""
        return self.schema.dialect == "sqlite"

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return self.random.random() < share

    def name(self, stem: str) -> str:
        """A name that is used once."""
        self.names += 1
        return f"{stem}{self.names}"

    def query(self, depth: int, outer: Sequence[Part] = (), width: int = 0) -> Text:
        """A query in a condition or an output."""
        raise NotImplementedError

    def column(self, parts: Sequence[Part]) -> str:
        """A column of one of the parts, mostly with its alias; rarely the row id."""
        part = self.random.choice(list(parts))
        name = self.random.choice([part.columns[0], *part.columns])
        # SELECT DISTINCT of a derived table's row id, all NULL, keeps its repeats in SQLite 3.40.
        if part.has_row_id and self.chance(0.04):
            name = "rowid"
        if name in self.merged and self.chance(0.5):
            return name
        if self.chance(0.15):
            homes = sum(name in other.columns for other in self.seen)
            if homes == 1 or self.chance(0.03):
                return name
        return f"{part.alias}.{name}"

    def condition(self, before: Sequence[Part], part: Part, outer: Sequence[Part]) -> str:
        """An ON: equalities with what stands before, at times more or less than that."""
        if self.chance(0.03):
            return self.hidden(before)
        terms = []
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])):
            one, other = self.column([part]), self.column(before)
            if self.chance(0.5):
                shared = [(b, c) for b in before for c in b.columns if c in part.columns]
                if shared:
                    home, name = self.random.choice(shared)
                    one, other = f"{part.alias}.{name}", f"{home.alias}.{name}"
            if self.chance(0.15):
                other = self.literal
            op = self.random.choice(["="] * 12 + ["<", "<>", "IS NOT DISTINCT FROM"])
            terms.append(f"{one} {op} {other}" if self.chance(0.5) else f"{other} {op} {one}")
        if self.chance(0.12):
            terms.append(self.predicate([*before, part], outer, int(self.chance(0.3))))
        word = " OR " if self.chance(0.06) else " AND "
        return word.join(terms)

    def hidden(self, before: Sequence[Part]) -> str:
        """A condition that depends on more than the values of the columns it names."""
        one = self.column(before)
        loose = [f"{part.alias}.{name}" for part in before for name in part.loose]
        if loose and self.is_sqlite and self.chance(0.7):
            one = self.random.choice(loose)
        if self.is_sqlite and self.chance(0.5):
            return self.random.choice(
                [f"hex({one}) > hex({self.literal})", f"typeof({one}) = 'integer'"]
            )
        table = self.random.choice(self.schema.tables)
        return f"EXISTS (SELECT 1 FROM {table.name} AS h WHERE h.id = {one})"

    def predicate(self, parts: Sequence[Part], outer: Sequence[Part], depth: int) -> str:
        """One condition of WHERE."""
        one, other = self.column(parts), self.column(parts)
        literal, second = self.literal, self.literal
        if outer and self.chance(0.4):
            other = self.column(outer)
        simple = [
            f"{one} = {literal}",
            f"{one} = {literal}",
            f"{one} = {other}",
            f"{other} = {one}",
            f"{one} IS NULL",
            f"{one} IS NOT NULL",
            f"{one} IN ({literal})",
            f"{one} IN ({literal}, {second})",
            f"({one} = {literal} OR {other} = {second})",
            f"{one} <> {literal}",
            f"NOT ({one} = {other})",
            f"{one} NOT IN ({literal}, {second})",
            f"{one} BETWEEN {literal} AND {second}",
            f"{one} || '' = {other}",
            f"{one} IS NOT DISTINCT FROM {other}",
        ]
        if self.is_sqlite or self.schema.is_text:
            simple.append(f"{one} LIKE {literal}")
        if self.is_sqlite:
            simple += [f"typeof({one}) = 'text'", f"hex({one}) < hex({other})"]
            simple += [f"{one} IS {literal}", f'{one} = "a"', f"{one} = {other} COLLATE NOCASE"]
            simple += [f'{one} = "{self.random.choice(parts[0].columns)}"']
        if depth and self.chance(0.25):
            inner = self.query(depth - 1, [*outer, *parts], width=1).sql
            choices = [f"EXISTS ({inner})", f"{one} IN ({inner})", f"{one} NOT IN ({inner})"]
            choices.append(f"NOT EXISTS ({inner})")
            choices.append(f"{one} = ({inner})")
            if not self.is_sqlite:
                choices += [f"{one} >= ALL ({inner})", f"{one} = ANY ({inner})"]
            return self.random.choice(choices)
        return self.random.choice(simple)

    def expression(self, parts: Sequence[Part]) -> str:
        """Something computed."""
        one, other = self.column(parts), self.column(parts)
        choices = [
            f"{one} || ''",
            f"COALESCE({one}, {other})",
            f"CASE WHEN {one} = {other} THEN {other} END",
            "1",
            "'a'",
            f"{one} IS NULL",
        ]
        if self.is_sqlite:
            choices += [
                f"CAST({one} AS TEXT)",
                f"typeof({one})",
                f"{one} COLLATE NOCASE",
                '"b"',
                f"hex({one})",
            ]
        if self.is_sqlite or self.schema.is_text:
            choices.append(f"LOWER({one})")
        if self.is_sqlite or not self.schema.is_text:
            choices.append(f"{one} + 1")
        if self.chance(0.02):
            return f"(SELECT MAX({one}))"  # an aggregate of the query around
        if self.chance(0.06):
            inner = self.query(0, parts, width=1).sql
            return (
                f"({inner} LIMIT 1)"
                if self.chance(0.5)
                else f"(SELECT COUNT(*) FROM ({inner}) AS n)"
            )
        return self.random.choice(choices)

    def aggregate(self, parts: Sequence[Part]) -> str:
        """One aggregate."""
        one = self.column(parts)
        return self.random.choice(
            ["COUNT(*)", f"COUNT({one})", f"MAX({one})", f"MIN({one})", f"COUNT(DISTINCT {one})"]
        )

"""Random queries as text, over a random schema, from a small grammar.

Most of them run; the others are counted and passed over. Joins lean towards keys, because only
then there is something to prove.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .random_conditions import Conditions
from .random_schemas import LOOSE, Part, Text


@dataclass
class Queries(Conditions):
    """Draws queries; `deep` ones hold queries in queries in queries."""

    deep: bool = True

    def whole(self) -> str:
        """A query, with CTEs before it at times."""
        self.has_padding = self.chance(0.4)
        some = [0, 0, 0, 1, 1, 2] if self.deep else [0, 0, 0, 0, 0, 1, 1]
        definitions = [self.definition() for _ in range(self.random.choice(some))]
        sql = self.query(2 if self.deep else self.random.choice([0, 0, 1, 1])).sql
        return f"WITH RECURSIVE {', '.join(definitions)} {sql}" if definitions else sql

    def definition(self) -> str:
        """A CTE, at times recursive, at times with names for its columns."""
        name = self.name("w")
        if self.chance(0.15):
            word = self.random.choice(["UNION", "UNION ALL"])
            start = self.random.choice(["1", "1", "(SELECT MAX(id) FROM t0)"])
            self.ctes.append(Part(name, ("x",)))
            return f"{name}(x) AS (SELECT {start} {word} SELECT x + 1 FROM {name} WHERE x < 3)"
        query = self.query(1)
        if self.chance(0.7):
            self.ctes.append(Part(name, query.columns))
            return f"{name} AS ({query.sql})"
        columns = tuple(f"x{i}" for i in range(len(query.columns)))
        self.ctes.append(Part(name, columns))
        return f"{name}({', '.join(columns)}) AS ({query.sql})"

    def query(self, depth: int, outer: Sequence[Part] = (), width: int = 0) -> Text:
        """A SELECT or a set operation of `width` columns (0: any)."""
        around, merged = self.seen, self.merged
        # SQLite 3.40 errs where UNION ALL or parentheses meet RIGHT or FULL JOIN.
        if depth and self.chance(0.15) and not (self.is_sqlite and self.has_padding):
            query = self.set_operation(depth - 1, outer, width)
        else:
            query = self.select(depth, outer, width)
        self.seen, self.merged = around, merged
        return query

    def set_operation(self, depth: int, outer: Sequence[Part], width: int) -> Text:
        """Two or three queries of equal width, at times told apart by a constant."""
        words = ["UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"]
        if not self.is_sqlite:
            words += ["EXCEPT ALL", "INTERSECT ALL"]
        left = self.select(depth, outer, width or self.random.randint(1, 3))
        texts, ops = [left.sql], []
        for _ in range(self.random.choice([1, 1, 2])):
            ops.append(self.random.choice(words))
            twin = self.chance(0.3)  # the same query again: the likeliest to repeat rows
            right = left if twin else self.select(depth, outer, len(left.columns))
            texts.append(right.sql)
        columns = left.columns
        if self.chance(0.4):
            tags = self.random.choice([("1", "2", "3"), ("'a'", "'b'", "'c'"), ("1", "1", "2")])
            texts = [
                f"SELECT {tag} AS tag, d.* FROM ({text}) d"
                for tag, text in zip(tags, texts, strict=False)
            ]
            columns = ("tag", *columns)
            if width:
                return left
        sql = texts[0]
        for op, text in zip(ops, texts[1:], strict=True):
            sql += f" {op} {text}"
        return Text(sql, columns)

    # FROM

    def sources(self, depth: int, outer: Sequence[Part]) -> tuple[str, list[Part]]:
        """FROM with its joins."""
        text, part = self.source(depth, outer)
        self.merged = set()
        parts, near = [part], [part]  # near: what ON sees where a comma binds weaker than JOIN
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3])):
            more, part = self.source(depth, outer, parts)
            # In ON SQLite looks at what is still to come as well.
            to_come = [Part("", ("id", "a", "b", "c"))] if self.chance(0.8) else []
            self.seen = [*parts, part, *to_come]
            if self.chance(0.07) and not (self.is_sqlite and self.has_padding):
                inner, other = self.source(0, outer, [*parts, part])
                on = self.condition([part], other, outer)
                kind = self.random.choice([*self.kinds(), "LEFT JOIN"])
                nested = f"({more} {kind} {inner} ON {on})"
                on = self.condition(near, self.random.choice([part, other]), outer)
                kind = self.random.choice([*self.kinds(), "LEFT JOIN", "LEFT JOIN"])
                text += f" {kind} {nested} ON {on}"
                parts += [part, other]
                near += [part, other]
                continue
            joined = self.join(more, near, part, outer, after_comma=len(near) < len(parts))
            text += joined
            parts.append(part)
            near = [part] if joined.startswith(",") and not self.is_sqlite else [*near, part]
        return text, parts

    def kinds(self) -> list[str]:
        """Kinds of join, as often as they are to come."""
        padding = ["RIGHT JOIN", "FULL JOIN", "RIGHT JOIN", "FULL JOIN"] if self.has_padding else []
        return ["JOIN"] * 5 + ["LEFT JOIN"] * 4 + padding

    def join(
        self,
        text: str,
        before: list[Part],
        part: Part,
        outer: Sequence[Part],
        *,
        after_comma: bool = False,
    ) -> str:
        """One more source, by some kind of join."""
        if part.is_one_row and "LATERAL" not in text and self.chance(0.6):
            return f" LEFT JOIN {text} ON {self.hidden(before)}"
        kinds = self.kinds()
        if after_comma:
            kinds += ["RIGHT JOIN"] * 20
        if not self.is_sqlite and self.chance(0.15):
            kinds = ["SEMI JOIN", "ANTI JOIN", "ASOF JOIN", "ASOF JOIN", "POSITIONAL JOIN"]
        kind = self.random.choice(kinds)
        if kind == "POSITIONAL JOIN":
            return f" POSITIONAL JOIN {text}"
        homes = {c: sum(c in b.columns for b in before) for c in part.columns}
        common = [c for c in homes if homes[c] == 1 or (homes[c] > 1 and self.chance(0.1))]
        how = self.random.random()
        if kind == "ASOF JOIN" and self.chance(0.4):
            how = 0.1
        if self.is_sqlite and self.has_padding and len(before) > 1:
            how = max(how, 0.2)  # USING after a FULL JOIN lets NULL match NULL in SQLite 3.40
        if how < (0.3 if self.has_padding else 0.15) and common:
            names = self.random.sample(common, self.random.randint(1, min(2, len(common))))
            self.merged = self.merged | set(names)
            return f" {kind} {text} USING ({', '.join(names)})"
        clear = max(homes.values(), default=0) < 2 or self.chance(0.1)
        if how < 0.2 and kind != "ASOF JOIN" and clear:
            return f" NATURAL {kind} {text}"
        if how < 0.25:
            return f" CROSS JOIN {text}"
        if how < (0.3 if self.is_sqlite else 0.4):
            return f", {text}"
        on = self.condition(before, part, outer)
        if kind == "ASOF JOIN":
            column = f"{before[-1].alias}.{self.random.choice(before[-1].columns)}"
            on += f" AND {column} >= {part.alias}.{self.random.choice(part.columns)}"
        return f" {kind} {text} ON {on}"

    def source(
        self, depth: int, outer: Sequence[Part], before: Sequence[Part] = ()
    ) -> tuple[str, Part]:
        """A table, a CTE, a derived table, VALUES."""
        alias = self.name("s")
        if self.ctes and self.chance(0.3):
            cte = self.random.choice(self.ctes)
            return f"{cte.alias} AS {alias}", Part(alias, cte.columns)
        if self.chance(0.08):
            value = self.random.choice(["COUNT(*)", "MAX(id)", "MIN(id)"])
            home = self.random.choice(self.schema.tables).name
            return f"(SELECT {value} AS id FROM {home}) AS {alias}", Part(
                alias, ("id",), is_one_row=True
            )
        if before and not self.is_sqlite and self.chance(0.04):
            home, one = self.random.choice(self.schema.tables).name, self.column(before)
            counted = f"SELECT COUNT(*) AS id FROM {home} AS h WHERE h.id = {one}"
            return f"LATERAL ({counted}) AS {alias}", Part(alias, ("id",), is_one_row=True)
        if depth and self.chance(0.25):
            if before and not self.is_sqlite and self.chance(0.3):
                query = self.query(depth - 1, [*outer, *before])
                return f"LATERAL ({query.sql}) AS {alias}", Part(alias, query.columns)
            query = self.query(depth - 1, outer)
            return f"({query.sql}) AS {alias}", Part(alias, query.columns)
        if not self.is_sqlite and self.chance(0.04):
            rows = self.random.choice(["(1, 2)", "(1, 2), (1, 3)"])
            return f"(VALUES {rows}) AS {alias}(id, a)", Part(alias, ("id", "a"))
        if self.schema.views and self.chance(0.1):
            view = self.random.choice(self.schema.views)
            return f"{view.alias} AS {alias}", Part(alias, view.columns)
        table = self.random.choice(self.schema.tables)
        if self.chance(0.1) and all(part.alias != table.name for part in [*before, *outer]):
            alias = table.name
        named = table.name if alias == table.name else f"{table.name} AS {alias}"
        loose = tuple(c for c, kind in table.columns.items() if kind in LOOSE)
        has_row_id = "WITHOUT ROWID" not in table.ddl
        return named, Part(alias, tuple(table.columns), has_row_id, loose=loose)

    def where(self, parts: Sequence[Part], outer: Sequence[Part], depth: int) -> str:
        """WHERE, or nothing."""
        terms = [
            self.predicate(parts, outer, depth) for _ in range(self.random.choice([0, 0, 1, 1, 2]))
        ]
        return f" WHERE {' AND '.join(terms)}" if terms else ""

    # SELECT

    def select(self, depth: int, outer: Sequence[Part], width: int) -> Text:
        """One SELECT of some shape."""
        text, parts = self.sources(depth, outer)
        self.seen = parts
        body = f" FROM {text}{self.where(parts, outer, depth)}"
        self.seen = parts
        shape = self.random.random()
        if shape < 0.25:
            query = self.grouped(parts, body, width)
        elif shape < 0.32:
            query = self.aggregated(parts, body, width)
        elif shape < 0.4 and not width:
            query = self.numbered(parts, body)
        else:
            query = self.plain(parts, body, width)
        if self.chance(0.07):
            cut = self.random.choice(["LIMIT 1", "LIMIT 1", "LIMIT 2", "LIMIT 1 OFFSET 1"])
            return Text(f"SELECT * FROM ({query.sql} ORDER BY 1 {cut}) AS one", query.columns)
        return query

    def plain(self, parts: Sequence[Part], body: str, width: int) -> Text:
        """Columns and expressions, at times DISTINCT, at times a star."""
        distinct = "DISTINCT " if self.chance(0.25) else ""
        if not width and self.chance(0.15):
            if self.chance(0.3):
                part = self.random.choice(list(parts))
                return Text(f"SELECT {distinct}{part.alias}.*{body}", part.columns)
            columns = tuple(dict.fromkeys(c for part in parts for c in part.columns))
            return Text(f"SELECT {distinct}*{body}", columns)
        items, names = self.items(parts, width or self.random.randint(1, 4))
        if not self.is_sqlite and distinct and self.chance(0.2):
            distinct = f"DISTINCT ON ({self.column(parts)}) "
        return Text(f"SELECT {distinct}{', '.join(items)}{body}", names)

    def items(self, parts: Sequence[Part], count: int) -> tuple[list[str], tuple[str, ...]]:
        """Outputs with their names: bare columns keep theirs at times."""
        items, names = [], []
        for _ in range(count):
            item = self.column(parts) if self.chance(0.8) else self.expression(parts)
            bare = item.rpartition(".")[2]
            if bare in ("id", "a", "b", "c") and self.chance(0.6):
                name = bare
            elif self.chance(0.1):
                name = self.random.choice(["id", "a"])
            else:
                name = self.name("o")
            items.append(item if name == bare else f"{item} AS {name}")
            names.append(name)
        return items, tuple(names)

    def aggregated(self, parts: Sequence[Part], body: str, width: int) -> Text:
        """Aggregates without GROUP BY."""
        names = tuple(self.name("o") for _ in range(width or self.random.randint(1, 2)))
        items = [f"{self.aggregate(parts)} AS {name}" for name in names]
        return Text(f"SELECT {', '.join(items)}{body}", names)

    def grouped(self, parts: Sequence[Part], body: str, width: int) -> Text:
        """GROUP BY columns, expressions, positions or aliases."""
        keys, items, names = [], [], []
        count = min(width, 2) if width else self.random.randint(1, 2)
        for at in range(count):
            key = self.column(parts) if self.chance(0.8) else self.expression(parts)
            if self.chance(0.1):
                keys.append(key)
                continue
            name = self.name("o") if self.chance(0.7) else self.random.choice(["id", "a", "b"])
            items.append(f"{key} AS {name}")
            names.append(name)
            by_position = len(items) == at + 1 and self.chance(0.2)
            keys.append(str(at + 1) if by_position else name if self.chance(0.15) else key)
        while len(items) < (width or len(keys) + self.random.randint(0, 1)):
            bare = self.is_sqlite and self.chance(0.3)
            name = self.name("o")
            items.append(f"{self.column(parts) if bare else self.aggregate(parts)} AS {name}")
            names.append(name)
        if not items:
            items, names = ["COUNT(*) AS n"], ["n"]
        having = ""
        if self.chance(0.2):
            kept = ["COUNT(*) > 1", f"{self.column(parts)} = {self.literal}"]
            having = f" HAVING {self.random.choice(kept)}"
        distinct = "DISTINCT " if self.chance(0.1) else ""
        by = f" GROUP BY {', '.join(keys)}"
        if not self.is_sqlite and self.chance(0.25):
            by = self.regrouped(keys)
        return Text(f"SELECT {distinct}{', '.join(items)}{body}{by}{having}", tuple(names))

    def regrouped(self, keys: Sequence[str]) -> str:
        """GROUP BY with more groups than the values of its keys."""
        names = ", ".join(keys)
        sets = ", ".join([*(f"({key})" for key in keys), "()"])
        choices = [f"ROLLUP ({names})", f"CUBE ({names})", f"GROUPING SETS ({sets})", "ALL"]
        return f" GROUP BY {self.random.choice(choices)}"

    def numbered(self, parts: Sequence[Part], body: str) -> Text:
        """The first row of each partition."""
        items, names = self.items(parts, self.random.randint(1, 3))
        partition = self.random.choice(["", f"PARTITION BY {self.column(parts)} "])
        rank = "RANK" if self.chance(0.15) else "ROW_NUMBER"
        window = f"{rank}() OVER ({partition}ORDER BY {self.column(parts)})"
        inner = f"SELECT {', '.join(items)}, {window} AS rn{body}"
        if not self.is_sqlite and self.chance(0.5):
            return Text(f"SELECT {', '.join(items)}{body} QUALIFY {window} = 1", names)
        where = self.random.choice([" WHERE rn = 1", " WHERE rn = 1", " WHERE rn < 3", ""])
        return Text(f"SELECT * FROM ({inner}) AS numbered{where}", (*names, "rn"))

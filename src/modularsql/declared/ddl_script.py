"""What a script has declared so far: its tables and views, by name."""

from dataclasses import dataclass, field

from modularsql.declared.cursor import UnreadableError
from modularsql.declared.ddl_draft import DraftTable
from modularsql.declared.ddl_rules import Rules
from modularsql.declared.lexer import Lexer


@dataclass(slots=True, kw_only=True)
class View:
    """A view: the names given to its columns, and its query as text."""

    name: str
    schema: str
    columns: list[str]
    query: str


@dataclass(slots=True, kw_only=True)
class Script:
    """The state between statements. `schema` follows USE and SET search_path."""

    dialect: str
    rules: Rules
    lexer: Lexer
    schema: str
    tables: list[DraftTable] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def find(self, path: tuple[str, ...]) -> DraftTable | None:
        """The table of that name: in the schema named, else the current one, else any."""
        name = path[-1].casefold()
        named = [table for table in self.tables if table.name.casefold() == name]
        schema = (path[-2] if len(path) > 1 else self.schema).casefold()
        inside = [table for table in named if table.schema.casefold() == schema]
        return next(iter(inside or (named if len(path) == 1 else [])), None)

    def get(self, path: tuple[str, ...]) -> DraftTable:
        """The same, where a statement makes no sense without the table."""
        table = self.find(path)
        if table is None:
            raise UnreadableError(f"no table {'.'.join(path)} was created before")
        return table

    def place(self, path: tuple[str, ...]) -> tuple[str, str]:
        """Schema and name of something new."""
        return (path[-2] if len(path) > 1 else self.schema), path[-1]

    def drop(self, path: tuple[str, ...]) -> None:
        """Forget a table or view, if it was ever there."""
        table = self.find(path)
        if table is not None:
            self.tables.remove(table)
        schema, name = (part.casefold() for part in self.place(path))
        self.views = [
            v for v in self.views if (v.schema.casefold(), v.name.casefold()) != (schema, name)
        ]

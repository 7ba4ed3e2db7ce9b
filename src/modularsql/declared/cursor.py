"""Reading tokens one after the other: names, words, groups in parentheses, lists."""

from collections.abc import Iterator, Sequence

from modularsql.declared.lexer import Token

_TYPES_WITH_ANGLES = frozenset({"STRUCT", "ARRAY", "MAP", "ROW", "TABLE"})
_END = Token("", "", 0, 0)


class UnreadableError(Exception):
    """The statement is not of the shape that its first words promise; `str` says where."""


class Cursor:
    """A place in a list of tokens of one statement."""

    __slots__ = ("at", "text", "tokens")

    def __init__(self, tokens: Sequence[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def peek(self, ahead: int = 0) -> Token:
        """The token at this place, an empty one behind the end."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def word(self, ahead: int = 0) -> str:
        """The token in upper case; empty for quoted names, strings and behind the end."""
        return self.peek(ahead).word

    def accept(self, *words: str) -> bool:
        """Step over these words if they stand here, all of them."""
        if any(self.word(i) != word for i, word in enumerate(words)):
            return False
        self.at += len(words)
        return True

    def accept_any(self, words: frozenset[str]) -> str:
        """Step over one of these words and say which; empty if none stands here."""
        word = self.word()
        if not word or word not in words:
            return ""
        self.at += 1
        return word

    @property
    def at_name(self) -> bool:
        """Whether a name stands here, quoted or not; SQLite takes strings for names too."""
        word = self.word()
        if not word:
            return not self.done
        return (word[0].isalnum() or word[0] == "_") and not word.isdigit()

    def name(self) -> str:
        """Step over a name."""
        if not self.at_name:
            raise UnreadableError(f"a name is missing {self.here()}")
        self.at += 1
        return self.tokens[self.at - 1].name

    def path(self) -> tuple[str, ...]:
        """A name with what stands before it: `(schema, name)`."""
        names = [self.name()]
        while self.accept("."):
            names.append(self.name())
        return tuple(names)

    def group(self) -> "Cursor":
        """What stands in the parentheses that open here; steps behind them."""
        if self.word() != "(":
            raise UnreadableError(f"'(' is missing {self.here()}")
        start = self.at + 1
        self.skip()
        return Cursor(self.tokens[start : self.at - 1], self.text)

    def skip(self) -> None:
        """Step over one token, or over a whole group in parentheses."""
        if self.word() != "(":
            self.at += 1
            return
        depth = 0
        while not self.done:
            depth += {"(": 1, ")": -1}.get(self.word(), 0)
            self.at += 1
            if depth == 0:
                return
        raise UnreadableError("')' is missing at the end")

    def items(self) -> Iterator["Cursor"]:
        """What is left, cut at commas outside parentheses and `STRUCT<…>`."""
        start = self.at
        angles = 0
        while not self.done:
            word = self.word()
            if word == "<" and (angles or self._behind() in _TYPES_WITH_ANGLES):
                angles += 1
            elif word == ">" and angles:
                angles -= 1
            elif word == "," and not angles:
                yield Cursor(self.tokens[start : self.at], self.text)
                start = self.at + 1
            self.skip()
        if start < len(self.tokens):
            yield Cursor(self.tokens[start:], self.text)

    def raw(self, start: int, end: int) -> str:
        """The text of the tokens from `start` up to `end`, on one line."""
        if start >= end:
            return ""
        text = self.text[self.tokens[start].start : self.tokens[end - 1].end]
        return " ".join(text.split())

    def here(self) -> str:
        """The place in words, for messages."""
        if self.done:
            return "at the end"
        return f"before {self.text[self.peek().start : self.peek().end]!r}"

    def _behind(self) -> str:
        return self.tokens[self.at - 1].word if self.at else ""

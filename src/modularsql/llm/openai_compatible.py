"""Any server that speaks the OpenAI chat protocol, through the official `openai` library.

OpenAI, Azure (its v1 address), vLLM, Ollama, llama.cpp, LM Studio and OpenRouter differ in what
they take; a server that refuses an optional part of a request is asked without it from then on.
Body and time of an answer are bounded here, since a server is foreign too.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from modularsql.errors import ModelError, RefusedError, SetupError
from modularsql.llm.completion import read_completion
from modularsql.llm.reach import check_reach
from modularsql.llm.retrying import Attempt, HttpError, Retrying
from modularsql.ports import ChatReply, ChatRequest

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
_LARGEST_BODY = 16 * 2**20
_REFUSED_PART = (400, 422, 501)
_NO_REPLY = "see that the server runs, and that base_url is right (most end in /v1)"
_TOO_MUCH = "wait, or lower the settings model_concurrency and samples"
_TOO_LONG = "where the prompt is too long, lower full_schema_tokens and schema_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where a model is served, and how patiently it is asked. `seconds` bounds one reply with
    all its attempts; an empty `key` sends none."""

    url: str = OPENAI_URL
    key: str = ""
    seconds: float = 60.0
    attempts: int = 5
    concurrency: int = 8
    calls: str = "any"

    def __repr__(self) -> str:
        return f"Server(url={self.url!r})"  # the key stays out of logs and tracebacks

    def client(self) -> "openai.OpenAI":
        """The library's client; nothing is sent. Raises `SetupError` without the library."""
        try:
            import openai
        except ImportError as error:
            raise SetupError(
                "asking a model needs the openai library", "pip install 'modularsql[llm]'", "driver"
            ) from error
        # An empty key would make the library look into the environment; `config` does that.
        return openai.OpenAI(
            api_key=self.key or "none",
            base_url=self.url,
            max_retries=0,
            organization="",
            project="",
        )

    def send(self, create: Callable[..., Any], body: Mapping[str, Any], attempt: Attempt) -> bytes:
        """One request by a streaming method of the client; the body of its answer.

        Raises `HttpError` for what may be tried again, `ModelError` for a body without end.
        """
        import openai

        try:
            with create(**body, timeout=attempt.seconds()) as response:
                raw = bytearray()
                for chunk in response.iter_bytes():
                    raw += chunk
                    if len(raw) > _LARGEST_BODY:
                        raise ModelError(f"the reply has more than {_LARGEST_BODY:,} bytes")
                    attempt.check()
        except openai.APIStatusError as error:
            raise HttpError(
                status=error.status_code,
                words=_words(error),
                retry_after=error.response.headers.get("retry-after"),
            ) from None
        except openai.APITimeoutError:
            raise HttpError(status=0, words="no answer in time") from None
        except (HttpError, ModelError):
            raise
        except Exception as error:  # a cut-off reply raises the transport's own exceptions
            raise HttpError(status=0, words=_cause(error)) from None
        return bytes(raw)

    def said(self, name: str, failure: HttpError) -> ModelError | SetupError:
        """What a failure means to those who can mend it; a key never stands in the words."""
        where = f"{name} at {self.url}"
        words = failure.words
        if self.key:
            words = words.replace(self.key, "…")
        match failure.status:
            case 401 | 403:
                # The server's own words may hold a part of the key.
                said = f"{where} does not accept the key (HTTP {failure.status})"
                hint = "put a valid key into the variable that the setting api_key_variable names"
                return SetupError(said, hint, "model_key")
            case 404:
                said = f"there is no {where} (HTTP 404)"
                return SetupError(said, "check the settings model and base_url", "model_name")
            case status if 400 <= status < 500 and status not in (408, 409, 429):
                # It may be this one request, as where a prompt is too long for the model.
                said = f"{where} refuses the request (HTTP {status}: {words})"
                return RefusedError(said, _TOO_LONG)
            case 0:
                return ModelError(f"{where} cannot be used: {words}", _NO_REPLY)
            case 429:
                return ModelError(f"{where} failed (HTTP 429: {words})", _TOO_MUCH)
            case status:
                return ModelError(f"{where} failed (HTTP {status}: {words})", _NO_REPLY)


class OpenAICompatible:
    """A `Model` on a server."""

    def __init__(self, name: str, server: Server) -> None:
        """Nothing is sent before the first `chat`. Raises `SetupError` without the library."""
        self.name = name
        self._server = server
        self._retrying = Retrying(seconds=server.seconds, attempts=server.attempts)
        self._lock = threading.Lock()
        self._without: frozenset[str] = frozenset()
        check_reach(server.url, server.calls)

    @cached_property
    def _client(self) -> "openai.OpenAI":
        return self._server.client()

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; there may be fewer replies than asked for (`llm.sampling`)."""
        _ = self._client  # to import the library takes seconds, which are not the server's
        while True:
            without = self._without
            body = chat_body(self.name, request, without)
            try:
                return self._retrying.run(lambda attempt, body=body: self._send(body, attempt))  # type: ignore[misc]
            except HttpError as failure:
                part = _refused_part(failure, body)
                if part is None:
                    raise self._server.said(self.name, failure) from None
                with self._lock:
                    self._without |= {part}

    def _send(self, body: Mapping[str, Any], attempt: Attempt) -> ChatReply:
        create = self._client.chat.completions.with_streaming_response.create
        return read_completion(self._server.send(create, body, attempt))


def chat_body(
    name: str, request: ChatRequest, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The request as the protocol has it, without the parts that the server refused before."""
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    parts: dict[str, Any] = {
        "model": name,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
        "temperature": request.temperature,
        limit: request.max_tokens,
    }
    if request.n > 1:
        parts["n"] = request.n
    if request.seed is not None:
        parts["seed"] = request.seed
    if request.schema is not None:
        form = {"name": "reply", "schema": dict(request.schema), "strict": True}
        parts["response_format"] = {"type": "json_schema", "json_schema": form}
    return {part: value for part, value in parts.items() if part not in without}


_OPTIONAL = ("response_format", "max_tokens", "temperature", "seed", "n")
_HINTS = {"response_format": ("response_format", "json_schema"), "n": ("'n'", '"n"', "n_choices")}


def _refused_part(failure: HttpError, body: Mapping[str, Any]) -> str | None:
    """The optional part of the request that a server names in its refusal."""
    if failure.status not in _REFUSED_PART:
        return None
    for part in _OPTIONAL:
        if part in body and any(hint in failure.words for hint in _HINTS.get(part, (part,))):
            return part
    return None


def _words(error: "openai.APIStatusError") -> str:
    """The server's own words in short."""
    try:
        text = error.response.text
    except Exception:  # the body of a failure may itself be cut off
        text = str(error)
    return " ".join(text.split())[:300]


def _cause(error: Exception) -> str:
    reason = error.__cause__ or error
    return str(reason)[:300] or type(reason).__name__

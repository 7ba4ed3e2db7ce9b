"""Models of servers that do not speak the OpenAI protocol, through the package litellm.

Names are litellm's (`litellm:anthropic/…`), keys those variables that litellm reads by itself.
"""

import os
from typing import Any

from modularsql.config import Settings
from modularsql.errors import ModelError, RefusedError, SetupError
from modularsql.llm.completion import completion_of
from modularsql.llm.openai_compatible import chat_body
from modularsql.llm.reach import check_reach
from modularsql.llm.retrying import Attempt, HttpError, Retrying
from modularsql.ports import ChatReply, ChatRequest

_SOMEWHERE = "https://litellm.invalid"
_OPERATOR = (401, 403, 404)  # no key, no right, no such model


class LiteLLM:
    """A `Model` that litellm knows; `url` is the address where it has one of its own."""

    def __init__(self, name: str, url: str | None, settings: Settings) -> None:
        """Nothing is sent before the first `chat`. Raises `SetupError` where none may be."""
        self.name = name
        self._url = url
        self._retrying = Retrying(seconds=settings.model_timeout, attempts=settings.model_attempts)
        check_reach(url or _SOMEWHERE, settings.calls)

    def chat(self, request: ChatRequest) -> ChatReply:
        """See `ports.Model`; parts of a request that a server does not know are left out."""
        litellm = self._package()
        body = chat_body(self.name, request)

        def send(attempt: Attempt) -> Any:
            try:
                return litellm.completion(
                    **body,
                    api_base=self._url,
                    timeout=attempt.seconds(),
                    num_retries=0,
                    max_retries=0,
                    drop_params=True,
                )
            except Exception as error:  # each provider has its own; all carry an HTTP status
                status = getattr(error, "status_code", None)
                words = type(error).__name__
                raise HttpError(
                    status=status if isinstance(status, int) else 0, words=words
                ) from None

        try:
            return completion_of(self._retrying.run(send).model_dump())
        except HttpError as failure:
            said = f"{self.name} failed (HTTP {failure.status}: {failure.words})"
            if failure.status in _OPERATOR:
                raise SetupError(said) from None
            raise (ModelError(said) if failure.again else RefusedError(said)) from None

    def _package(self) -> Any:
        """litellm, kept from fetching its prices as it is imported, and from printing."""
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            import litellm
        except ImportError as error:
            raise SetupError(
                f"asking {self.name} needs litellm", "pip install 'modularsql[litellm]'", "driver"
            ) from error
        litellm.suppress_debug_info = True
        return litellm

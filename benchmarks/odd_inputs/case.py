"""One odd input to one call, and what became of it."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from hideseek import HideSeekError

_SECONDS = 10


@dataclass(frozen=True)
class Case:
    """One input to one call.

    Attributes:
        call: The function or method.
        given: The input, in a few words.
        run: Makes the call.
        allowed: What it may raise.
    """

    call: str
    given: str
    run: Callable[[], Any]
    allowed: tuple[type[BaseException], ...] = (HideSeekError,)

    @property
    def name(self) -> str:
        """The call and its input."""
        return f"{self.call}: {self.given}"


class Outcome(NamedTuple):
    """What a case did: "accepted" or the type of the error, its message, and whether that is as it should be."""

    kind: str
    message: str
    good: bool


def outcome(case: Case) -> Outcome:
    """Run a case, silently."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        try:
            with _limited():
                case.run()
        except Exception as error:
            return Outcome(type(error).__name__, str(error), isinstance(error, case.allowed))
    return Outcome("accepted", "", True)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise a TimeoutError in what takes far too long."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took longer than {_SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def each(call: str, inputs: Mapping[str, Any], function: Callable[[Any], Any]) -> Iterator[Case]:
    """A case for each input to a function of one argument; an input that is a function is called to make it."""
    for given, value in inputs.items():
        yield Case(call, given, lambda value=value: function(value()) if _makes(value) else function(value))


def _makes(value: Any) -> bool:
    return getattr(value, "__name__", "") == "<lambda>"


def any_of(
    call: str,
    parameters: Mapping[str, Mapping[str, Any]],
    function: Callable[..., Any],
    allowed: tuple[type[BaseException], ...] = (HideSeekError,),
) -> Iterator[Case]:
    """A case for each odd value of each keyword of a function."""
    for parameter, values in parameters.items():
        for given, value in values.items():
            yield Case(call, f"{parameter}={given}", lambda p=parameter, v=value: function(**{p: v}), allowed)

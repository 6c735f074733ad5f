"""Training steps and answers on a CPU in C, without the interpreter between the operations."""

from hideseek.engine.native.answers import NativeAnswers, can_answer
from hideseek.engine.native.steps import NativeSteps, native_available, suits

__all__ = ["NativeAnswers", "NativeSteps", "can_answer", "native_available", "suits"]

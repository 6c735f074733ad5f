"""Training steps and answers on a CPU in C, without the interpreter between the operations."""

from hideseek.engine.native.answers import NativeAnswers, can_answer
from hideseek.engine.native.steps import NativeParts, NativeSteps, native_available, native_steps
from hideseek.engine.native.task import fits

__all__ = ["NativeAnswers", "NativeParts", "NativeSteps", "can_answer", "fits", "native_available", "native_steps"]

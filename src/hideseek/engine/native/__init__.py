"""Training steps on a CPU in C, without the interpreter between the operations."""

from hideseek.engine.native.steps import NativeSteps, native_available, suits

__all__ = ["NativeSteps", "native_available", "suits"]

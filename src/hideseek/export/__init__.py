"""Fitted models for programs without this library: one description, and the files that are made from it."""

from hideseek.export.description import describe, kept_encoder, kept_features

__all__ = ["describe", "kept_encoder", "kept_features"]

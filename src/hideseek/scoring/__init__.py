"""Explaining tables batch by batch: in other engines, and from files to files."""

from hideseek.scoring._files import SMALL, ExplainedFiles, explain_files
from hideseek.scoring._fragments import Source
from hideseek.scoring._outputs import OUTPUTS
from hideseek.scoring._scorer import Scorer

__all__ = ["OUTPUTS", "SMALL", "ExplainedFiles", "Scorer", "Source", "explain_files"]

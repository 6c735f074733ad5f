"""Tables of any size: explained batch by batch, in other engines and from files to files, and sampled for a fit."""

from hideseek.scoring._files import SMALL, ExplainedFiles, explain_files
from hideseek.scoring._fragments import Source
from hideseek.scoring._outputs import OUTPUTS
from hideseek.scoring._sampling import SampledFiles, sample_files
from hideseek.scoring._scorer import Scorer

__all__ = ["OUTPUTS", "SMALL", "ExplainedFiles", "SampledFiles", "Scorer", "Source", "explain_files", "sample_files"]

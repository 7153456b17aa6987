"""Corpora of any size: documents dealt in shards to processes or machines, and what is found added up.

A shard is measured by one function wherever it runs, and measurements add up exactly in any order, so a result
does not depend on the size of shards, the number of workers, or which of them ended first.
"""

from tokalign.scale.sample import TextSample
from tokalign.scale.shards import SHARD_BYTES
from tokalign.scale.survey import Plan, Survey, Surveyor

__all__ = ["SHARD_BYTES", "Plan", "Survey", "Surveyor", "TextSample"]

"""Inflection boundaries (stem | ending) of Polish word forms, from SGJP readings and ending rules."""

from tokalign.morphology.analysis import FORMS_SCHEMA, Analysis, Kind, analyse, analyse_forms, verdicts
from tokalign.morphology.endings import boundary

__all__ = ["FORMS_SCHEMA", "Analysis", "Kind", "analyse", "analyse_forms", "boundary", "verdicts"]

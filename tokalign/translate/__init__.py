"""Translation between vocabularies through bytes: draft → target candidates, target → draft context."""

from tokalign.translate.published import CountedTranslator, LengthTranslator, NaiveTranslator
from tokalign.translate.resync import Resync, resynchronise
from tokalign.translate.tail import Tail
from tokalign.translate.translation import ExactTranslator, Translation, Translator, whole_letters

__all__ = [
    "CountedTranslator",
    "ExactTranslator",
    "LengthTranslator",
    "NaiveTranslator",
    "Resync",
    "Tail",
    "Translation",
    "Translator",
    "resynchronise",
    "whole_letters",
]

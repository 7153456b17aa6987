"""What is counted: the two sides, the kinds of slices, and the counts by name."""

from __future__ import annotations

SIDES = ("target", "draft")

SLICES: dict[str, str] = {
    "overall": "all the text",
    "inside_words": "the positions inside words, and the words",
    "diacritic": "words that hold the letter, and the letter itself; 'none' are words without any",
    "inside_letters": "the positions inside letters of more than one byte",
    "inflection": "words by what the dictionary says of their ending",
    "pos": "words by part of speech, 'unknown' where the dictionary has none",
    "word_length": "words by their length in characters",
    "characters": "runs of like characters; a boundary is of the class of the character that follows it",
}
"""Kinds of slices: what the counts of each are about."""

# Counts that add up over words.
WORD_COUNTS = (
    "bytes",
    "chars",
    "words",  # runs of letters and marks
    "tokens_target",  # tokens that reach into the word, once for each word; in "overall" all tokens
    "tokens_draft",
    "boundaries_target",  # boundaries strictly inside the word; in "overall" inside the document
    "boundaries_draft",
    "boundaries_shared",
    "boundaries_near",  # pairs of unshared boundaries one byte apart, see boundaries.near_misses
    "continued_target",  # words cut at least once
    "continued_draft",
    "single_target",  # words that one token holds, with nothing but one space before them
    "single_draft",
    "same",  # words cut at the same places by both
    "endings",  # words whose ending the dictionary tells ("ambiguous": any of the endings it allows)
    "endings_cut_target",  # of these, words with a boundary before the ending
    "endings_cut_draft",
    "endings_cut_both",  # cut by both, at any place allowed
    "endings_cut_shared",  # cut by both at one place
    "endings_split_target",  # endings whose word is cut anywhere
    "endings_split_draft",
)
LETTER_COUNTS = ("letters", "letters_cut_target", "letters_cut_draft", "letters_cut_both")
DOCUMENT_COUNTS = ("space_words", "chunks", "chunks_one_to_one")
COUNTS = (*WORD_COUNTS, *LETTER_COUNTS, "runs", *DOCUMENT_COUNTS)

"""The slow definition of a measurement, against which the fast one is tested: every word, every document."""

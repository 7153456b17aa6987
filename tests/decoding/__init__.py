"""Tests of the package decoder. (A folder of that name would hide the package itself.)"""

"""Whole prediction sets: data sets, prediction files, and what runs over both."""

"""Reads and writes files, and says what is wrong with them: text, arrays, tables, units, errors; knows no robot."""

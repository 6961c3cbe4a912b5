"""Findings about the library's algorithms, in the formats that MPI libraries read. One module for each format:

write(rules, ...) -> Export     the file and how it is used
"""

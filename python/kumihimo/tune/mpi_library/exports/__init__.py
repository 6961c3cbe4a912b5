"""What was learnt about the library's algorithms, in the forms that MPI libraries read. A module a form:

write(rules, ...) -> Export     the file and how it is used
"""

"""The library below the command: what `import kumihimo` offers (docs/python.md).

Functions have the names of the verbs and take their options by the same names. They return frozen dataclasses, print
nothing, and raise the errors of the command. The package imports these modules when a name is first used.
"""

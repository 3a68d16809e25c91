"""Functions of a user's own, called own functions.

An own function is written as a Python function, which is called its text. The text runs on arrays of
expressions, and calls functions of the robot, which are the rows of the function table.
"""

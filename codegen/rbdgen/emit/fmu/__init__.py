"""A functional mock-up unit of FMI 3.0 for co-simulation, whose step is an integration step of the folder."""

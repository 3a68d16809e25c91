"""A script of MATLAB whose Legacy Code Tool makes blocks of Simulink of the C."""

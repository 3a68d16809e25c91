"""Regressors: functions that are linear in inertial parameters, as the matrices that multiply these."""

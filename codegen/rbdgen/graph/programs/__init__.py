"""Programs: functions as loops over straight lines, and the pure passes from program to program."""

"""Programs: functions as loops over straight lines, and pure passes from program to program."""

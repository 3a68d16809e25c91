"""From a robot to a generated folder or a library: `page.py` has all steps, the others the longer ones."""

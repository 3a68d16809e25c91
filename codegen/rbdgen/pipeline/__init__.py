"""From a robot to a generated folder or a library: `page.py` is the story, the rest its longer steps."""

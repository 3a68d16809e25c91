"""The data of a page that shows a robot."""

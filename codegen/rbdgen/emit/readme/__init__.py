"""The README of a generated folder, and the page of figures that is appended for small machines."""

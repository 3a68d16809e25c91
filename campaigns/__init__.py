"""Campaigns: many hostile cases that are made from a seed, tried and counted; `make attack` runs them."""

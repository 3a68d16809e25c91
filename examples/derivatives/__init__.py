"""The experiments of Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms (RSS
2018), section V: how long derivatives of inverse and forward dynamics take, and how exact they are."""

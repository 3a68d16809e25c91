"""JavaScript: the statements of the C, printed for engines that run neither C nor WebAssembly."""

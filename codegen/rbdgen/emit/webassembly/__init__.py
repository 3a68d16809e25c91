"""WebAssembly: the ES module that calls a folder's C once it is compiled."""

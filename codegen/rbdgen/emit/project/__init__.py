"""Files by which a C or C++ project uses the folder: Makefile, CMakeLists.txt and a C++ header."""

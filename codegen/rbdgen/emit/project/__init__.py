"""What a C or C++ project takes the folder in with: Makefile, CMakeLists.txt, a C++ header."""

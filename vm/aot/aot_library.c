/* The library is made of archives; CMake asks for a source. */
typedef int relayvm_aot_library_has_no_code_of_its_own;

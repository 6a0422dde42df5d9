/* librelayvm is made of whole static libraries; a library needs a source of its own. */
typedef int relayvm_runtime_library;

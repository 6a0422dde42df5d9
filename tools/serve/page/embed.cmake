# Makes a source of a file's bytes, a function of page_routes.h: cmake -DINPUT=... -DNAME=PageSource -DOUTPUT=... -P embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"tools/serve/page_routes.h\"

namespace relayvm::serve {
std::string_view ${NAME}() {
  static constexpr unsigned char kBytes[] = {
${bytes}};
  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};
}
}  // namespace relayvm::serve
")

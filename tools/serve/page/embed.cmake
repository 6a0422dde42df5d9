# Makes a source of a file's bytes: cmake -DINPUT=... -DOUTPUT=... -P embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"tools/serve/page_routes.h\"

namespace relayvm::serve {
namespace {
constexpr unsigned char kPageBytes[] = {
${bytes}};
}  // namespace
std::string_view PageSource() { return {reinterpret_cast<const char*>(kPageBytes), sizeof kPageBytes}; }
}  // namespace relayvm::serve
")

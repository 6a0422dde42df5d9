// What tools/serve/protocol/tls.cc calls of OpenSSL for a client, without OpenSSL: it is taken from
// the system when TLS is first asked for. For the wheels' vmrun, so that two megabytes for https URLs
// alone are not in the wheel, and security fixes are the system's. Without an OpenSSL each call
// fails, and the error that it leaves says what is missing.
// Tested by tools/python/tests/check_wheels.sh.
#include <dlfcn.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>
#include <utility>

namespace {

constexpr const char* kLibrary = "libssl.so.3";
constexpr unsigned long kMissing = 1;  // NOLINT(google-runtime-int): a code of OpenSSL's errors

// nullptr where it cannot be loaded. It needs libcrypto, so that names of both are found in it.
void* Library() {
  static void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  return library;
}

// Of a call that failed without an OpenSSL.
bool& IsErrorPending() {
  thread_local bool is_pending = false;
  return is_pending;
}

template <typename Result, typename... Arguments>
Result CallByName(Result (*)(Arguments...), const char* name,
                  std::type_identity_t<Arguments>... arguments) {
  void* const found = Library() == nullptr ? nullptr : ::dlsym(Library(), name);
  if (found != nullptr) return reinterpret_cast<Result (*)(Arguments...)>(found)(arguments...);
  IsErrorPending() = true;
  return Result();
}

}  // namespace

// One line each: Call(FUNCTION, its arguments).
#define Call(FUNCTION, ...) CallByName(&FUNCTION, #FUNCTION __VA_OPT__(, ) __VA_ARGS__)

extern "C" {

size_t BIO_ctrl_pending(BIO* b) { return Call(BIO_ctrl_pending, b); }
int BIO_free(BIO* b) { return Call(BIO_free, b); }
BIO* BIO_new(const BIO_METHOD* type) { return Call(BIO_new, type); }
int BIO_read(BIO* b, void* data, int size) { return Call(BIO_read, b, data, size); }
const BIO_METHOD* BIO_s_mem() { return Call(BIO_s_mem); }
int BIO_write(BIO* b, const void* data, int size) { return Call(BIO_write, b, data, size); }

SSL_CTX* SSL_CTX_new(const SSL_METHOD* method) { return Call(SSL_CTX_new, method); }
void SSL_CTX_free(SSL_CTX* c) { Call(SSL_CTX_free, c); }
long SSL_CTX_ctrl(SSL_CTX* c, int command, long number, void* pointer) {
  return Call(SSL_CTX_ctrl, c, command, number, pointer);
}
uint64_t SSL_CTX_set_options(SSL_CTX* c, uint64_t options) {
  return Call(SSL_CTX_set_options, c, options);
}
int SSL_CTX_set_default_verify_paths(SSL_CTX* c) {
  return Call(SSL_CTX_set_default_verify_paths, c);
}
int SSL_CTX_load_verify_locations(SSL_CTX* c, const char* file, const char* folder) {
  return Call(SSL_CTX_load_verify_locations, c, file, folder);
}
void SSL_CTX_set_verify(SSL_CTX* c, int mode, SSL_verify_cb callback) {
  Call(SSL_CTX_set_verify, c, mode, callback);
}

SSL* SSL_new(SSL_CTX* c) { return Call(SSL_new, c); }
void SSL_free(SSL* s) { Call(SSL_free, s); }
long SSL_ctrl(SSL* s, int command, long number, void* pointer) {
  return Call(SSL_ctrl, s, command, number, pointer);
}
int SSL_do_handshake(SSL* s) { return Call(SSL_do_handshake, s); }
int SSL_get_error(const SSL* s, int status) { return Call(SSL_get_error, s, status); }
long SSL_get_verify_result(const SSL* s) { return Call(SSL_get_verify_result, s); }
X509_VERIFY_PARAM* SSL_get0_param(SSL* s) { return Call(SSL_get0_param, s); }
int SSL_is_init_finished(const SSL* s) { return Call(SSL_is_init_finished, s); }
int SSL_read(SSL* s, void* data, int size) { return Call(SSL_read, s, data, size); }
void SSL_set_accept_state(SSL* s) { Call(SSL_set_accept_state, s); }
void SSL_set_bio(SSL* s, BIO* in, BIO* out) { Call(SSL_set_bio, s, in, out); }
void SSL_set_connect_state(SSL* s) { Call(SSL_set_connect_state, s); }
int SSL_shutdown(SSL* s) { return Call(SSL_shutdown, s); }
int SSL_write(SSL* s, const void* data, int size) { return Call(SSL_write, s, data, size); }
const SSL_METHOD* TLS_client_method() { return Call(TLS_client_method); }

int X509_VERIFY_PARAM_set1_host(X509_VERIFY_PARAM* p, const char* name, size_t size) {
  return Call(X509_VERIFY_PARAM_set1_host, p, name, size);
}
int X509_VERIFY_PARAM_set1_ip_asc(X509_VERIFY_PARAM* p, const char* address) {
  return Call(X509_VERIFY_PARAM_set1_ip_asc, p, address);
}
const char* X509_verify_cert_error_string(long code) {
  return Call(X509_verify_cert_error_string, code);
}

void ERR_clear_error() { Call(ERR_clear_error); }
unsigned long ERR_get_error() {
  return std::exchange(IsErrorPending(), false) ? kMissing : Call(ERR_get_error);
}
const char* ERR_reason_error_string(unsigned long code) {
  if (code == kMissing) {
    return "libssl.so.3 cannot be loaded: https URLs need OpenSSL 3 on this system (Debian's "
           "package libssl3), http URLs do not";
  }
  return Call(ERR_reason_error_string, code);
}

}  // extern "C"

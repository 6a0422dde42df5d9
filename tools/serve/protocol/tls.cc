#include "tools/serve/protocol/tls.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace relayvm::serve {

struct TlsContext::Impl {
  explicit Impl(SSL_CTX* c) : context(c) {}
  ~Impl() { SSL_CTX_free(context); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  SSL_CTX* context;
};

struct TlsSession::Impl {
  ~Impl() { SSL_free(ssl); }
  SSL* ssl = nullptr;
  BIO* in = nullptr;   // of ssl
  BIO* out = nullptr;  // of ssl
};

namespace {

constexpr size_t kRecord = 16 << 10;  // what a record holds at most

std::string TakeErrors() {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    if (!text.empty()) continue;  // the first says it
    const char* reason = ERR_reason_error_string(code);
    text = reason == nullptr ? "error " + std::to_string(code) : reason;
  }
  return text.empty() ? "no reason given" : text;
}

Status Bad(const std::string& what) {
  return {StatusCode::kInvalidInput, what + ": " + TakeErrors()};
}

Result<std::shared_ptr<TlsContext>> Make(const SSL_METHOD* method) {
  ERR_clear_error();
  SSL_CTX* context = SSL_CTX_new(method);
  if (context == nullptr) return Bad("TLS");
  auto impl = std::make_shared<TlsContext::Impl>(context);
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Renegotiation and compression let a peer make work of nothing.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return std::make_shared<TlsContext>(std::move(impl));
}

bool IsAddress(const std::string& host) {
  std::array<unsigned char, 16> address{};
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::ForServer(const std::string& certificate_file,
                                                          const std::string& key_file) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<TlsContext> made, Make(TLS_server_method()));
  SSL_CTX* context = made->impl().context;
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1)
    return Bad(certificate_file);
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
    return Bad(key_file);
  if (SSL_CTX_check_private_key(context) != 1)
    return Bad(key_file + " is not the key of " + certificate_file);
  return made;
}

Result<std::shared_ptr<TlsContext>> TlsContext::ForClient(const std::string& authorities_file) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<TlsContext> made, Make(TLS_client_method()));
  SSL_CTX* context = made->impl().context;
  const bool found =
      authorities_file.empty()
          ? SSL_CTX_set_default_verify_paths(context) == 1
          : SSL_CTX_load_verify_locations(context, authorities_file.c_str(), nullptr) == 1;
  if (!found) return Bad(authorities_file.empty() ? "the system's authorities" : authorities_file);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return made;
}

TlsSession::TlsSession(std::shared_ptr<TlsContext> context, const std::string& host)
    : context_(std::move(context)), impl_(std::make_unique<Impl>()) {
  ERR_clear_error();
  impl_->ssl = SSL_new(context_->impl().context);
  impl_->in = BIO_new(BIO_s_mem());
  impl_->out = BIO_new(BIO_s_mem());
  if (impl_->ssl == nullptr || impl_->in == nullptr || impl_->out == nullptr) {
    BIO_free(impl_->in);
    BIO_free(impl_->out);
    SSL_free(std::exchange(impl_->ssl, nullptr));
    failure_ = Status::OutOfMemory();
    return;
  }
  SSL_set_bio(impl_->ssl, impl_->in, impl_->out);
  if (host.empty()) {
    SSL_set_accept_state(impl_->ssl);
    return;
  }
  SSL_set_connect_state(impl_->ssl);
  X509_VERIFY_PARAM* verify = SSL_get0_param(impl_->ssl);
  const int named = IsAddress(host) ? X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str())
                                    : X509_VERIFY_PARAM_set1_host(verify, host.c_str(), 0);
  if (named != 1) {
    failure_ = Bad(host);
    return;
  }
  if (!IsAddress(host)) SSL_set_tlsext_host_name(impl_->ssl, host.c_str());
  SSL_do_handshake(impl_->ssl);  // wants to read: the first bytes are there to be sent
  TakeOutgoing();
}

TlsSession::~TlsSession() = default;

void TlsSession::End() {
  if (!failure_.ok() || !is_ready()) return;
  ERR_clear_error();
  SSL_shutdown(impl_->ssl);
  TakeOutgoing();
}

bool TlsSession::is_ready() const {
  return impl_->ssl != nullptr && SSL_is_init_finished(impl_->ssl) == 1;
}

void TlsSession::TakeOutgoing() {
  const size_t pending = BIO_ctrl_pending(impl_->out);
  const size_t before = outgoing_.size();
  outgoing_.resize(before + pending);
  const int taken =
      pending == 0 ? 0 : BIO_read(impl_->out, outgoing_.data() + before, static_cast<int>(pending));
  outgoing_.resize(before + static_cast<size_t>(std::max(taken, 0)));
}

bool TlsSession::Fail() {
  if (failure_.ok()) {
    const long verified = SSL_get_verify_result(impl_->ssl);
    const std::string reason = TakeErrors();
    failure_ = {StatusCode::kInvalidInput,
                verified == X509_V_OK
                    ? "TLS: " + reason
                    : std::string("TLS: ") + X509_verify_cert_error_string(verified)};
  }
  TakeOutgoing();  // an alert
  return false;
}

bool TlsSession::Receive(std::string_view bytes,
                         const std::function<void(std::string_view)>& plain) {
  if (!failure_.ok()) return false;
  ERR_clear_error();
  std::array<char, kRecord> record;
  while (!bytes.empty()) {
    const auto some = static_cast<int>(std::min(bytes.size(), kRecord));
    if (BIO_write(impl_->in, bytes.data(), some) != some) return Fail();
    bytes.remove_prefix(static_cast<size_t>(some));
    int read = 0;
    while ((read = SSL_read(impl_->ssl, record.data(), static_cast<int>(record.size()))) > 0)
      plain({record.data(), static_cast<size_t>(read)});
    const int why = SSL_get_error(impl_->ssl, read);
    if (why == SSL_ERROR_ZERO_RETURN) {
      TakeOutgoing();
      return false;
    }
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return Fail();
  }
  TakeOutgoing();
  return true;
}

bool TlsSession::Send(std::string_view plain) {
  if (!failure_.ok()) return false;
  ERR_clear_error();
  while (!plain.empty()) {
    const auto some = static_cast<int>(std::min(plain.size(), kRecord));
    if (SSL_write(impl_->ssl, plain.data(), some) != some) return Fail();
    plain.remove_prefix(static_cast<size_t>(some));
    TakeOutgoing();
  }
  return true;
}

}  // namespace relayvm::serve

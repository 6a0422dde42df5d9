// ClientShares: how many requests each address has under way, within a limit. Thread-safe. Of
// http_server.cc alone; tested by http_server_test.cc.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace relayvm::serve {

class ClientShares {
 public:
  // A request's, until it goes. May outlive its connection, and not the ClientShares.
  class Share {
   public:
    Share() = default;
    ~Share() { Give(); }
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      if (this == &other) return *this;
      Give();
      of_ = std::exchange(other.of_, nullptr);
      at_ = other.at_;
      is_taken_ = std::exchange(other.is_taken_, false);
      return *this;
    }
    bool is_taken() const { return is_taken_; }

   private:
    friend class ClientShares;
    void Give() {
      if (of_ != nullptr) std::exchange(of_, nullptr)->Give(at_);
      is_taken_ = false;
    }
    ClientShares* of_ = nullptr;
    std::map<std::string, size_t>::iterator at_;
    bool is_taken_ = false;
  };

  explicit ClientShares(size_t limit) : limit_(limit) {}  // 0: none

  Share Take(const boost::asio::ip::address& address) {
    Share share;
    share.is_taken_ = true;
    if (limit_ == 0) return share;
    const std::lock_guard lock(mutex_);
    const auto at = counts_.try_emplace(KeyOf(address), 0).first;
    if (at->second >= limit_) {
      share.is_taken_ = false;
      return share;
    }
    ++at->second;
    share.of_ = this;
    share.at_ = at;
    return share;
  }

 private:
  // A host of IPv6 has 2^64 addresses, most often.
  static std::string KeyOf(const boost::asio::ip::address& address) {
    if (address.is_v4()) {
      const auto bytes = address.to_v4().to_bytes();
      return {bytes.begin(), bytes.end()};
    }
    const auto v6 = address.to_v6();
    const auto bytes = v6.to_bytes();
    if (v6.is_v4_mapped()) return {bytes.begin() + 12, bytes.end()};
    return {bytes.begin(), bytes.begin() + 8};
  }
  void Give(std::map<std::string, size_t>::iterator at) {
    const std::lock_guard lock(mutex_);
    if (--at->second == 0) counts_.erase(at);
  }

  const size_t limit_;
  std::mutex mutex_;
  std::map<std::string, size_t> counts_;
};

}  // namespace relayvm::serve

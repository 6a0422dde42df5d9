// The body of a request as Boost.Beast's parser fills it: it grows as bytes come, never by what a
// header says, and counts them toward a budget of all connections. Of http_server.cc alone.
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relayvm::serve {

inline std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

class ByteBudget {
 public:
  explicit ByteBudget(size_t limit) : limit_(limit) {}
  bool Take(size_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit_) return true;
    Give(bytes);
    return false;
  }
  void Give(size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const size_t limit_;
  std::atomic<size_t> used_{0};
};

struct CountedBytes {
  std::string bytes;
  ByteBudget* budget = nullptr;

  CountedBytes() = default;
  ~CountedBytes() {
    if (budget != nullptr) budget->Give(bytes.size());
  }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;
};

struct BoundedBody {
  using value_type = CountedBytes;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(boost::beast::http::header<isRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& error) {
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      const std::size_t size = boost::asio::buffer_size(buffers);
      if (!body_.budget->Take(size)) {
        error = make_error_code(boost::system::errc::not_enough_memory);
        return 0;
      }
      error = {};
      const std::size_t before = body_.bytes.size();
      try {
        for (auto i = boost::asio::buffer_sequence_begin(buffers);
             i != boost::asio::buffer_sequence_end(buffers); ++i)
          body_.bytes.append(static_cast<const char*>(i->data()), i->size());
      } catch (const std::bad_alloc&) {
        body_.bytes.resize(before);
        body_.budget->Give(size);
        error = make_error_code(boost::system::errc::not_enough_memory);
        return 0;
      }
      return size;
    }
    void finish(boost::beast::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace relayvm::serve

// The body of a request as Boost.Beast's parser fills it: it grows as bytes come, never by what a
// header says, and counts them toward a budget of all connections. What is compressed is taken
// apart on the way, and what comes out is what is bounded. Of http_server.cc alone.
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/http_inflate.h"

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
  size_t limit = 0;  // of bytes

  CountedBytes() = default;
  ~CountedBytes() {
    if (budget != nullptr) budget->Give(bytes.size());
  }
  CountedBytes(const CountedBytes&) = delete;
  CountedBytes& operator=(const CountedBytes&) = delete;

  // Nothing, or why it is not added.
  boost::system::errc::errc_t Add(std::string_view more) {
    namespace errc = boost::system::errc;
    if (more.size() > limit - bytes.size()) return errc::file_too_large;
    if (!budget->Take(more.size())) return errc::not_enough_memory;
    try {
      bytes.append(more);
    } catch (const std::bad_alloc&) {
      budget->Give(more.size());
      return errc::not_enough_memory;
    }
    return errc::success;
  }
};

// Its errors: not_enough_memory; file_too_large; not_supported, a coding that is not known;
// bad_message, what is damaged in its coding.
struct BoundedBody {
  using value_type = CountedBytes;

  class reader {
   public:
    template <bool isRequest, class Fields>
    reader(boost::beast::http::header<isRequest, Fields>& header, value_type& body)
        : body_(body), coding_([&header] {  // which is empty as yet
            const auto coding = header["Content-Encoding"];
            return std::string_view(coding.data(), coding.size());
          }) {}
    ~reader() {
      if (inflater_ != nullptr) body_.budget->Give(Inflater::kBytes);
    }
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;

    void init(const boost::optional<std::uint64_t>&, boost::beast::error_code& error) {
      error = {};
      const std::optional<bool> is_identity = Inflater::IsIdentity(coding_());
      if (!is_identity) return Fail(boost::system::errc::not_supported, error);
      if (*is_identity) return;
      if (!body_.budget->Take(Inflater::kBytes))
        return Fail(boost::system::errc::not_enough_memory, error);
      inflater_ = Inflater::Create();
      if (inflater_ != nullptr) return;
      body_.budget->Give(Inflater::kBytes);
      Fail(boost::system::errc::not_enough_memory, error);
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, boost::beast::error_code& error) {
      error = {};
      std::size_t size = 0;
      for (auto i = boost::asio::buffer_sequence_begin(buffers);
           i != boost::asio::buffer_sequence_end(buffers) && !error; ++i) {
        Put({static_cast<const char*>(i->data()), i->size()}, error);
        size += i->size();
      }
      return error ? 0 : size;
    }
    void finish(boost::beast::error_code& error) {
      error = {};
      if (inflater_ != nullptr && has_begun_ && !inflater_->is_whole())
        Fail(boost::system::errc::bad_message, error);
    }

   private:
    static void Fail(boost::system::errc::errc_t why, boost::beast::error_code& error) {
      if (why != boost::system::errc::success) error = make_error_code(why);
    }
    void Put(std::string_view bytes, boost::beast::error_code& error) {
      if (inflater_ == nullptr) return Fail(body_.Add(bytes), error);
      has_begun_ = true;
      auto why = boost::system::errc::success;
      const auto end = inflater_->Add(bytes, [&](std::string_view more) {
        why = body_.Add(more);
        return why == boost::system::errc::success;
      });
      Fail(end == Inflater::End::kDamaged ? boost::system::errc::bad_message : why, error);
    }

    value_type& body_;
    std::function<std::string_view()> coding_;
    std::unique_ptr<Inflater> inflater_;
    bool has_begun_ = false;
  };
};

}  // namespace relayvm::serve

// The last answer of each view that this process gave: shown again, with its age beside it, while it cannot give a new
// one, because its own storage or workers hang. Each passed the CHECK (S33) when it was given.
//
// Bounded: kMost answers of at most kMostBytes each; the one that was given longest ago goes first. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/mutex.h"
#include "common/http/http_request.h"

namespace ratchet::api {

struct KnownAnswer {
  std::string rows;  // of the envelope
  std::string data;
  std::int64_t at_ms = 0;  // wall clock
};

class KnownAnswers {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostBytes = 512U << 10;

  // Path and parameters: what an answer is an answer to.
  [[nodiscard]] static std::string KeyOf(const http::HttpRequest& request);
  // A larger one is not kept, and the one before it goes.
  void Put(const std::string& key, KnownAnswer answer);
  // Null: none is known.
  [[nodiscard]] std::shared_ptr<const KnownAnswer> Get(const std::string& key) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const KnownAnswer>> answers_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::api

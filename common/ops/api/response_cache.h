// The last answer of each view that this process gave. It is shown again, with its age, while the process cannot give a
// new one because its own storage or workers hang. Each answer passed the CHECK, S33 (check before state replies), when
// it was given.
//
// Bounded: kMost answers of at most kMostBytes each; the oldest one is dropped first. Thread-safe.
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

// The rows that an answer shows, and how many exist.
struct ShownRows {
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;
  std::uint64_t total = 0;
};

struct CachedResponse {
  std::optional<ShownRows> rows;  // nullopt: the view has no rows
  std::string data;
  std::int64_t at_ms = 0;  // wall clock
};

class ResponseCache {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostBytes = 512U << 10;

  // Path and parameters: the key of an answer.
  [[nodiscard]] static std::string KeyOf(const http::HttpRequest& request);
  // A larger answer is not kept, and the previous one is dropped.
  void Put(const std::string& key, CachedResponse answer);
  // Null: no answer is known.
  [[nodiscard]] std::shared_ptr<const CachedResponse> Get(const std::string& key) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const CachedResponse>> answers_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::api

#include "common/ops/api/response_cache.h"

#include <algorithm>
#include <utility>

namespace ratchet::api {

std::string ResponseCache::KeyOf(const http::HttpRequest& request) {
  std::string key = request.path;
  for (const auto& [name, value] : request.query) key += '\n' + name + '=' + value;
  return key;
}

void ResponseCache::Put(const std::string& key, CachedResponse answer) {
  MutexLock lock(mutex_);
  answers_.erase(key);
  if (key.size() + answer.data.size() > kMostBytes) return;
  if (answers_.size() >= kMost) {
    answers_.erase(std::min_element(answers_.begin(), answers_.end(),
                                    [](const auto& a, const auto& b) { return a.second->at_ms < b.second->at_ms; }));
  }
  answers_.emplace(key, std::make_shared<const CachedResponse>(std::move(answer)));
}

std::shared_ptr<const CachedResponse> ResponseCache::Get(const std::string& key) const {
  MutexLock lock(mutex_);
  const auto found = answers_.find(key);
  return found == answers_.end() ? nullptr : found->second;
}

}  // namespace ratchet::api

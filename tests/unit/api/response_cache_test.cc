#include "common/ops/api/response_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace ratchet::api {
namespace {

TEST(ResponseCacheTest, AnAnswerIsTheOneToItsParameters) {
  http::HttpRequest first;
  first.path = "/api/v1/regions";
  first.query = {{"limit", "2"}, {"table", "t"}};
  http::HttpRequest second = first;
  second.query["limit"] = "3";
  ResponseCache answers;
  answers.Put(ResponseCache::KeyOf(first), {{}, "[1]", 10});
  answers.Put(ResponseCache::KeyOf(first), {{}, "[2]", 11});
  ASSERT_NE(answers.Get(ResponseCache::KeyOf(first)), nullptr);
  EXPECT_EQ(answers.Get(ResponseCache::KeyOf(first))->data, "[2]");
  EXPECT_EQ(answers.Get(ResponseCache::KeyOf(second)), nullptr);
}

TEST(ResponseCacheTest, AreBoundedInNumberAndSize) {
  ResponseCache answers;
  for (std::size_t i = 0; i <= ResponseCache::kMost; ++i)
    answers.Put(std::to_string(i), {{}, "x", static_cast<std::int64_t>(i)});
  EXPECT_EQ(answers.Get("0"), nullptr) << "given longest ago";
  EXPECT_NE(answers.Get("1"), nullptr);
  answers.Put("1", {{}, std::string(ResponseCache::kMostBytes, 'x'), 1'000});
  EXPECT_EQ(answers.Get("1"), nullptr) << "an older one would be shown as the newest";
}

}  // namespace
}  // namespace ratchet::api

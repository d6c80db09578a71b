#include "common/api/known_answers.h"

#include <string>

#include <gtest/gtest.h>

namespace ratchet::api {
namespace {

TEST(KnownAnswersTest, AnAnswerIsTheOneToItsParameters) {
  http::HttpRequest first;
  first.path = "/api/v1/regions";
  first.query = {{"limit", "2"}, {"table", "t"}};
  http::HttpRequest second = first;
  second.query["limit"] = "3";
  KnownAnswers answers;
  answers.Put(KnownAnswers::KeyOf(first), {"", "[1]", 10});
  answers.Put(KnownAnswers::KeyOf(first), {"", "[2]", 11});
  ASSERT_NE(answers.Get(KnownAnswers::KeyOf(first)), nullptr);
  EXPECT_EQ(answers.Get(KnownAnswers::KeyOf(first))->data, "[2]");
  EXPECT_EQ(answers.Get(KnownAnswers::KeyOf(second)), nullptr);
}

TEST(KnownAnswersTest, AreBoundedInNumberAndSize) {
  KnownAnswers answers;
  for (std::size_t i = 0; i <= KnownAnswers::kMost; ++i)
    answers.Put(std::to_string(i), {"", "x", static_cast<std::int64_t>(i)});
  EXPECT_EQ(answers.Get("0"), nullptr) << "given longest ago";
  EXPECT_NE(answers.Get("1"), nullptr);
  answers.Put("1", {"", std::string(KnownAnswers::kMostBytes, 'x'), 1'000});
  EXPECT_EQ(answers.Get("1"), nullptr) << "an older one would be shown as the newest";
}

}  // namespace
}  // namespace ratchet::api

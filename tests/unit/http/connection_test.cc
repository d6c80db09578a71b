#include "common/http/http_connection.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::http {
namespace {

using State = HttpConnection::State;

class HttpConnectionTest : public ::testing::Test {
 protected:
  HttpConnectionTest() : connection_(limits_, now_) {}

  // Takes all unsent bytes.
  std::string Drain() {
    std::string text;
    while (connection_.wants_write()) {
      const std::string piece(connection_.Unsent().substr(0, 7));
      text += piece;
      next_ = connection_.Sent(piece.size(), now_);
    }
    return text;
  }

  HttpConnectionLimits limits_;
  TimePoint now_{std::chrono::hours(1)};
  HttpConnection connection_;
  std::optional<HttpRequest> next_;
};

TEST_F(HttpConnectionTest, RequestsThatComeInPiecesAndTogetherAreAnsweredInTurn) {
  EXPECT_FALSE(connection_.Took("GET /a HTT", now_).has_value());
  const auto first = connection_.Took("P/1.1\r\n\r\nGET /b HTTP/1.1\r\nConnection: close\r\n\r\n", now_);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->path, "/a");
  EXPECT_EQ(connection_.state(), State::kWaiting);
  EXPECT_FALSE(connection_.wants_read()) << "what a client sends meanwhile waits in its socket";
  connection_.Answer(HttpResponse::Text(200, "one"), now_);
  EXPECT_THAT(Drain(),
              ::testing::AllOf(::testing::StartsWith("HTTP/1.1 200 OK\r\n"), ::testing::EndsWith("\r\n\r\none\n")));
  ASSERT_TRUE(next_.has_value());
  EXPECT_EQ(next_->path, "/b");
  connection_.Answer(HttpResponse::Text(200, "two"), now_);
  EXPECT_THAT(Drain(), ::testing::HasSubstr("Connection: close"));
  EXPECT_EQ(connection_.state(), State::kClosed);
}

TEST_F(HttpConnectionTest, ARequestHasATimeFromItsFirstByte) {
  const TimePoint began = now_;
  EXPECT_FALSE(connection_.Took("G", now_).has_value());
  now_ += limits_.request / 2;
  EXPECT_FALSE(connection_.Took("E", now_).has_value());
  EXPECT_EQ(connection_.deadline(), began + limits_.request) << "a byte now and then buys no time";
  connection_.Expire(began + limits_.request);
  EXPECT_THAT(Drain(), ::testing::StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(connection_.state(), State::kClosed);
}

TEST_F(HttpConnectionTest, AnIdleClientIsClosedWithoutAWord) {
  connection_.Expire(connection_.deadline());
  EXPECT_EQ(connection_.state(), State::kClosed);
}

TEST_F(HttpConnectionTest, AnAnswerThatIsNotTakenInTimeIsGivenUp) {
  ASSERT_TRUE(connection_.Took("GET / HTTP/1.1\r\n\r\n", now_).has_value());
  connection_.Answer(HttpResponse::Text(200, "long"), now_);
  EXPECT_FALSE(connection_.Sent(1, now_ + limits_.answer / 2).has_value());
  EXPECT_EQ(connection_.deadline(), now_ + limits_.answer);
  connection_.Expire(now_ + limits_.answer);
  EXPECT_EQ(connection_.state(), State::kClosed);
}

TEST_F(HttpConnectionTest, AHeadThatIsTooLongIsRefused) {
  EXPECT_FALSE(connection_.Took(std::string(limits_.head_bytes, 'x'), now_).has_value());
  EXPECT_THAT(Drain(), ::testing::StartsWith("HTTP/1.1 431 "));
  EXPECT_EQ(connection_.state(), State::kClosed);
}

TEST_F(HttpConnectionTest, HeadHasTheFieldsOfGetAndNoBody) {
  ASSERT_TRUE(connection_.Took("HEAD / HTTP/1.1\r\n\r\n", now_).has_value());
  connection_.Answer(HttpResponse::Text(200, "four"), now_);
  const std::string text = Drain();
  EXPECT_THAT(text, ::testing::HasSubstr("Content-Length: 5\r\n"));
  EXPECT_THAT(text, ::testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpConnectionTest, AStreamGoesOnUntilItsSourceEnds) {
  ASSERT_TRUE(connection_.Took("GET /s HTTP/1.1\r\n\r\n", now_).has_value());
  HttpResponse response;
  response.stream = [] { return std::string("more"); };
  connection_.Answer(std::move(response), now_);
  EXPECT_FALSE(connection_.DetachSource()) << "its head has not gone";
  EXPECT_THAT(Drain(), ::testing::Not(::testing::HasSubstr("Content-Length")));
  StreamSource source = connection_.DetachSource();
  ASSERT_TRUE(source);
  EXPECT_FALSE(connection_.DetachSource()) << "one call at a time";
  connection_.AddToStream(source(), source, now_);
  EXPECT_EQ(Drain(), "more");
  source = connection_.DetachSource();
  connection_.Expire(now_ + limits_.answer);
  EXPECT_EQ(connection_.state(), State::kStreaming) << "a slow source is not a slow client";
  connection_.AddToStream(std::string("unread"), source, now_);
  connection_.Expire(now_ + limits_.answer);
  EXPECT_EQ(connection_.state(), State::kClosed) << "a client that does not read goes";
}

}  // namespace
}  // namespace ratchet::http

#include "common/http/http_request.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ratchet::http {
namespace {

TEST(HttpRequestTest, ARequestIsTakenApart) {
  HttpRequest request;
  HttpRefusal refusal;
  const std::string head =
      "GET /api/v1/table/a%20b%2Fc?limit=10&after=%C3%A4+x&flag HTTP/1.1\r\nHost: h\r\nAccept:  text/html \r\n\r\n";
  EXPECT_EQ(HeadLength(head + "GET /"), head.size());
  ASSERT_TRUE(ParseHead(head, &request, &refusal)) << refusal.why;
  EXPECT_EQ(request.path, "/api/v1/table/a b/c");
  EXPECT_EQ(request.Parameter("after"), "\xC3\xA4 x");
  EXPECT_EQ(request.Parameter("flag"), "");
  EXPECT_EQ(request.fields.at("accept"), "text/html");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.head);
  EXPECT_EQ(request.Number("limit", 1, 0, 100).value(), 10U);
  EXPECT_EQ(request.Number("absent", 7, 0, 100).value(), 7U);
  EXPECT_EQ(request.Number("limit", 1, 0, 9).error().message(), "limit: a whole number from 0 to 9 is expected");
  EXPECT_FALSE(request.Number("after", 1, 0, 9).ok());
}

TEST(HttpRequestTest, WhatAPageDoesNotNeedIsRefusedByName) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"POST / HTTP/1.1\r\n\r\n", 405},
      {"GET / HTTP/2\r\n\r\n", 505},
      {"GET http://other/ HTTP/1.1\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\n\r\n", 400},
      {"GET /%4 HTTP/1.1\r\n\r\n", 400},
      {"GET /?a=%1 HTTP/1.1\r\n\r\n", 400},
      {"hello\r\n\r\n", 400},
      {"\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), 400},
  };
  for (const auto& [head, status] : cases) {
    HttpRequest request;
    HttpRefusal refusal;
    EXPECT_FALSE(ParseHead(head, &request, &refusal)) << head;
    EXPECT_EQ(refusal.status, status) << head;
    EXPECT_FALSE(refusal.why.empty()) << head;
  }
  HttpRequest request;
  HttpRefusal refusal;
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 65; ++i) many += "f" + std::to_string(i) + ": x\r\n";
  EXPECT_FALSE(ParseHead(many + "\r\n", &request, &refusal));
  EXPECT_EQ(refusal.status, 431);
}

TEST(HttpRequestTest, TheClientSaysWhetherTheConnectionStays) {
  HttpRequest request;
  HttpRefusal refusal;
  ASSERT_TRUE(ParseHead("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", &request, &refusal));
  EXPECT_FALSE(request.keep_alive);
  ASSERT_TRUE(ParseHead("GET / HTTP/1.0\r\n\r\n", &request, &refusal));
  EXPECT_FALSE(request.keep_alive);
  ASSERT_TRUE(ParseHead("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &request, &refusal));
  EXPECT_TRUE(request.keep_alive);
  EXPECT_TRUE(request.head);
}

}  // namespace
}  // namespace ratchet::http

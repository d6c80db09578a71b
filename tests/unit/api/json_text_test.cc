#include "common/ops/api/json_text.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace ratchet::api {
namespace {

TEST(JsonTextTest, EveryTextBecomesJson) {
  EXPECT_EQ(JsonString("plain"), "\"plain\"");
  EXPECT_EQ(JsonString("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(JsonString("</script>"), "\"\\u003c/script\\u003e\"");
  EXPECT_EQ(JsonString("\xC3\xA4\xF0\x9F\x99\x82"), "\"\xC3\xA4\xF0\x9F\x99\x82\"");
  // Not UTF-8: a lone byte, a cut sequence, an overlong one, a surrogate, one above the last code point.
  EXPECT_EQ(JsonString("\xFFx"), "\"\\ufffdx\"");
  EXPECT_EQ(JsonString("\xC3"), "\"\\ufffd\"");
  EXPECT_EQ(JsonString("\xC0\xAF"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xED\xA0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xF5\x80\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

TEST(JsonTextTest, AllBytesAreReadAgain) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(JsonString(all).c_str());
  ASSERT_FALSE(document.HasParseError());
  EXPECT_EQ(std::string(document.GetString(), 128), all.substr(0, 128));
}

}  // namespace
}  // namespace ratchet::api

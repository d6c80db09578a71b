#include "common/base/json_writer.h"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace ratchet {
namespace {

std::string Quoted(std::string_view text) { return JsonWriter().Text(text).text(); }

TEST(JsonWriterTest, Utf8StaysAndOtherBytesAreReplaced) {
  EXPECT_EQ(Quoted("plain"), "\"plain\"");
  EXPECT_EQ(Quoted("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(Quoted("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82"), "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x99\x82\"");
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(Quoted("\xFFx"), "\"" + replaced + "x\"");
  EXPECT_EQ(Quoted("a\xC3"), "\"a" + replaced + "\"") << "cut off";
  EXPECT_EQ(Quoted("\xC0\xAF"), "\"" + replaced + replaced + "\"") << "overlong";
  EXPECT_EQ(Quoted("\xED\xA0\x80"), "\"" + replaced + replaced + replaced + "\"") << "a surrogate";
  EXPECT_EQ(Quoted("\xF5\x80\x80\x80"), "\"" + replaced + replaced + replaced + replaced + "\"") << "too large";
}

TEST(JsonWriterTest, AllBytesAreReadAgain) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(Quoted(all).c_str());
  ASSERT_FALSE(document.HasParseError());
  EXPECT_EQ(std::string(document.GetString(), 128), all.substr(0, 128));
}

TEST(JsonWriterTest, MembersAndElementsAreSeparated) {
  JsonWriter json;
  json.BeginObject().Add("text", "a").Add("large", UINT64_MAX).Add("small", std::int64_t{-1}).Add("flag", true);
  json.AddRaw("raw", "[1,2]").Key("list").BeginArray().Number(1U).Null().EndArray().EndObject();
  EXPECT_EQ(json.text(),
            R"({"text":"a","large":18446744073709551615,"small":-1,"flag":true,"raw":[1,2],"list":[1,null]})");
}

}  // namespace
}  // namespace ratchet

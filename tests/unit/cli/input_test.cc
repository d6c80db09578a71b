// User input: numbers, typing errors, the beginnings of names, times.
#include <map>

#include <gtest/gtest.h>

#include "common/rpc/exceptions.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/printer.h"
#include "common/tools/cli/suggest.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

TEST(WholeNumbers, HaveNoSignAndNothingBehindThem) {
  EXPECT_EQ(*ParseWhole("0", 0, 10), 0U);
  EXPECT_EQ(*ParseWhole("9223372036854775807", 1, kLargest), kLargest);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.5", "0x10", "1e3", "eleven", "11", "18446744073709551616"}) {
    const auto number = ParseWhole(text, 0, 10);
    ASSERT_FALSE(number.ok()) << text;
    EXPECT_EQ(number.error().code(), Code::kInvalidArgument);
    EXPECT_NE(number.error().message().find(text), std::string::npos) << number.error().message();
  }
  EXPECT_FALSE(ParseWhole("18446744073709551615", 1, kLargest).ok()) << "what -1 would become";
}

// Each flag and argument that takes a number refuses a sign, by declaration.
TEST(Verbs, RefuseNegativeNumbersEverywhere) {
  CLI::App app("test", "ratchet");
  Action action;
  AddAllVerbs(app, action);
  int numbers = 0;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    for (const CLI::Option* option : verb->get_options()) {
      const std::string type = option->get_type_name();
      if (type != kind::kNumber && type != kind::kMillis && type != kind::kPid) continue;
      ++numbers;
      const CLI::Validator* check = const_cast<CLI::Option*>(option)->get_validator(0);
      ASSERT_NE(check, nullptr) << verb->get_name() << " " << option->get_name();
      std::string negative = "-1";
      EXPECT_NE((*check)(negative), "") << verb->get_name() << " " << option->get_name();
    }
  }
  EXPECT_GT(numbers, 15);
}

TEST(Verbs, EachShowsItsOwnExamples) {
  CLI::App app("test", "ratchet");
  app.footer("general");
  Action action;
  AddAllVerbs(app, action);
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    EXPECT_NE(verb->get_footer().find("ratchet " + verb->get_name()), std::string::npos) << verb->get_name();
    EXPECT_EQ(verb->get_footer().find("general"), std::string::npos) << verb->get_name();
  }
}

TEST(DidYouMean, FindsWhatIsNear) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("tabel", "table"), 1U) << "two letters swapped";
  const std::vector<std::string> attributes = {"VERSIONS", "MIN_VERSIONS", "TTL"};
  EXPECT_EQ(Nearest("VERSION", attributes), "VERSIONS");
  EXPECT_EQ(Nearest("versions", attributes), "VERSIONS");
  EXPECT_EQ(Nearest("TLT", attributes), "TTL");
  EXPECT_EQ(Nearest("COLOUR", attributes), "");
  EXPECT_EQ(Nearest("proc", {"put", "procedures", "locks"}), "procedures");
  EXPECT_EQ(Nearest("", attributes), "");
  EXPECT_EQ(DidYouMean("scna", {"scan"}), "; did you mean 'scan'?");
  EXPECT_EQ(DidYouMean("zzz", {"scan"}), "");
}

TEST(Regions, AUniqueBeginningIsEnough) {
  const std::vector<NamedRegion> regions = {
      {"t", "56f9a"}, {"t", "56f0b"}, {"u", "9"}, {"hbase:meta", "1588230740"}, {"u", "15882"}};
  EXPECT_EQ(ChooseRegion("56f9", regions)->encoded, "56f9a");
  EXPECT_EQ(ChooseRegion("9", regions)->table, "u");
  EXPECT_EQ(ChooseRegion("15882", regions)->table, "u") << "a whole name wins";
  const auto several = ChooseRegion("56f", regions);
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().code(), Code::kInvalidArgument);
  EXPECT_NE(several.error().message().find("56f9a of table t, 56f0b of table t"), std::string::npos)
      << several.error().message();
  for (const char* none : {"77", ""}) EXPECT_EQ(ChooseRegion(none, regions).error().code(), Code::kNotFound);
}

TEST(Since, TakesSpansAndTimes) {
  constexpr std::int64_t kNow = 1'700'000'000'000;
  EXPECT_EQ(*ParseSince("90s", kNow), kNow - 90'000);
  EXPECT_EQ(*ParseSince("2h", kNow), kNow - 7'200'000);
  EXPECT_EQ(*ParseSince("1970-01-02T00:00:01", kNow), 86'401'000);
  EXPECT_EQ(*ParseSince("1970-01-02T00:00:01Z", kNow), 86'401'000);
  EXPECT_EQ(*ParseSince("1970-01-02 00:01", kNow), 86'460'000);
  for (const char* text : {"", "5", "-5m", "5 m", "yesterday", "5y", "1970-01-02T25:00:00", "9999999999999h"}) {
    EXPECT_FALSE(ParseSince(text, kNow).ok()) << text;
  }
}

TEST(ExitStatus, OneWordHasOneCode) {
  std::map<std::string_view, int> codes;
  for (int code = 1; code <= 15; ++code) {
    for (const auto remote : {std::string_view(), rpc::exception::kDoNotRetryIo, rpc::exception::kIllegalArgumentIo,
                              rpc::kCallTimeout, rpc::exception::kTableNotFound, rpc::exception::kTableExists}) {
      const Ending ending = EndingOf(Error(static_cast<Code>(code), "e", std::string(remote)));
      const auto [place, fresh] = codes.emplace(ending.word, ending.exit);
      EXPECT_EQ(place->second, ending.exit) << ending.word << " " << remote;
    }
  }
  EXPECT_EQ(codes.at("INVALID_ARGUMENT"), kExitUsage);
  EXPECT_EQ(codes.at("TIMEOUT"), kExitTimeout);
}

TEST(Texts, AreCutToColumnsNotToBytes) {
  EXPECT_EQ(Shortened("abcdef", 0), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(Shortened("abcdef", 4), "abc\xE2\x80\xA6");
  EXPECT_EQ(Shortened("\xC3\xA4\xC3\xB6\xC3\xBC", 2), "\xC3\xA4\xE2\x80\xA6");
}

}  // namespace
}  // namespace ratchet::cli

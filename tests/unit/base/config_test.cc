#include "common/base/config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace ratchet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The settings of an imaginary server, with every kind.
struct Server {
  std::int64_t workers = 16;
  Millis session{2000};
  std::uint64_t cache = 64 << 20;
  double jitter = 0.1;
  bool verbose = false;
  std::string level = "info";
  std::string root;
  std::vector<std::string> peers;
  std::vector<std::string> commands;
  Settings settings{"ratchet-test", "A test."};

  Server() {
    settings.AddText({"root", "shared directory", {"hbase.rootdir"}}, &root, Presence::kRequired);
    settings.AddInt({"workers", "threads", {"hbase.procedure.workers"}}, &workers, {1, 128}, "threads");
    settings.AddMillis({"session-ms", "session time-out", {}}, &session, Millis(400), Millis(60'000));
    settings.AddBytes({"cache-bytes", "block cache", {}}, &cache, 1 << 20, 1ULL << 40);
    settings.AddDouble({"jitter", "of delays", {}}, &jitter, 0, 1);
    settings.AddBool({"verbose", "say more", {}}, &verbose);
    settings.AddText({"log-level", "least level", {}}, &level, Presence::kOptional, {"debug", "info", "warn"});
    settings.AddList({"peer", "peers", {}}, &peers);
  }

  Result<Settings::Outcome> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "ratchet-test");
    return settings.Parse(static_cast<int>(arguments.size()), arguments.data(), &output);
  }
  // The message of the error that these arguments must cause.
  std::string Refusal(std::vector<const char*> arguments) {
    const auto outcome = Parse(std::move(arguments));
    if (outcome.ok()) return "(accepted)";
    EXPECT_EQ(outcome.error().code(), Code::kInvalidArgument);
    return outcome.error().message();
  }
  std::string output;
};

class ConfigTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"RATCHET_WORKERS", "RATCHET_SESSION_MS", "RATCHET_CONFIG"}) unsetenv(name);
    std::filesystem::remove(file_);
  }
  const char* WriteFile(const std::string& text) {
    std::ofstream(file_) << text;
    return file_.c_str();
  }
  const std::string file_ = testing::TempDir() + "ratchet_config_" + std::to_string(getpid()) + ".conf";
};

TEST_F(ConfigTest, DefaultsStandWhenNothingIsGiven) {
  Server server;
  ASSERT_TRUE(server.Parse({"--root", "/r"}).ok());
  EXPECT_EQ(server.root, "/r");
  EXPECT_EQ(server.workers, 16);
  EXPECT_EQ(server.session, Millis(2000));
  EXPECT_FALSE(server.verbose);
}

TEST_F(ConfigTest, EveryKindIsRead) {
  Server server;
  ASSERT_TRUE(server
                  .Parse({"--root=/r", "--workers", "4", "--session-ms", "3s", "--cache-bytes=2MiB", "--jitter", "0.5",
                          "--verbose", "--log-level", "warn", "--peer", "a", "--peer", "b,c"})
                  .ok());
  EXPECT_EQ(server.workers, 4);
  EXPECT_EQ(server.session, Millis(3000));
  EXPECT_EQ(server.cache, 2u << 20);
  EXPECT_EQ(server.jitter, 0.5);
  EXPECT_TRUE(server.verbose);
  EXPECT_EQ(server.level, "warn");
  EXPECT_THAT(server.peers, ElementsAre("a", "b", "c"));
}

TEST_F(ConfigTest, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const char* file = WriteFile("# comment\nworkers = 2  # trailing\nsession-ms = 5s\nlog-level=debug\n\n");
  setenv("RATCHET_WORKERS", "3", 1);
  setenv("RATCHET_SESSION_MS", "6000", 1);
  Server server;
  ASSERT_TRUE(server.Parse({"--config", file, "--root", "/r", "--session-ms", "7000"}).ok());
  EXPECT_EQ(server.level, "debug");
  EXPECT_EQ(server.workers, 3);
  EXPECT_EQ(server.session, Millis(7000));
  EXPECT_THAT(server.settings.Dump(), HasSubstr("workers = 3   # RATCHET_WORKERS\n"));
  EXPECT_THAT(server.settings.Dump(), HasSubstr("session-ms = 7000   # --session-ms\n"));
  EXPECT_THAT(server.settings.Dump(), HasSubstr("log-level = debug   # " + file_ + ":4\n"));
  EXPECT_THAT(server.settings.Dump(), HasSubstr("jitter = 0.1   # default\n"));
}

TEST_F(ConfigTest, RowsHaveValueDefaultAndSource) {
  setenv("RATCHET_WORKERS", "3", 1);
  Server server;
  ASSERT_TRUE(server.Parse({"--root", "/r = x   # y"}).ok());
  std::map<std::string, SettingRow> rows;
  for (SettingRow& row : server.settings.List()) rows[row.name] = row;
  EXPECT_EQ(rows["workers"].value, "3");
  EXPECT_EQ(rows["workers"].default_value, "16");
  EXPECT_EQ(rows["workers"].SourceText(), "RATCHET_WORKERS");
  EXPECT_EQ(rows["root"].value, "/r = x   # y") << "a value may look like a line of --print-config";
  EXPECT_EQ(rows["root"].source, "--root");
}

TEST_F(ConfigTest, AliasesOfTheOriginalAreAccepted) {
  const char* file = WriteFile("hbase.rootdir = /from/file\n");
  Server server;
  ASSERT_TRUE(server.Parse({"--config", file, "--hbase.procedure.workers", "9"}).ok());
  EXPECT_EQ(server.root, "/from/file");
  EXPECT_EQ(server.workers, 9);
}

TEST_F(ConfigTest, AWrongSettingIsRefusedWithItsNameSourceAndRange) {
  EXPECT_THAT(
      Server().Refusal({"--root", "/r", "--workers", "0"}),
      testing::AllOf(HasSubstr("setting workers from --workers"), HasSubstr("'0'"), HasSubstr("threads, 1 to 128")));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--workers", "many"}), HasSubstr("expected a whole number"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--session-ms", "2 weeks"}), HasSubstr("setting session-ms"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--session-ms", "61s"}), HasSubstr("ms, 400 to 60000"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--cache-bytes", "3MB"}), HasSubstr("64KiB"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--log-level", "loud"}), HasSubstr("debug | info | warn"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--verbose=perhaps"}), HasSubstr("setting verbose"));
  setenv("RATCHET_WORKERS", "129", 1);
  EXPECT_THAT(Server().Refusal({"--root", "/r"}), HasSubstr("setting workers from RATCHET_WORKERS"));
}

TEST_F(ConfigTest, UnknownNamesAreRefused) {
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--wrokers", "3"}), HasSubstr("wrokers"));
  EXPECT_THAT(Server().Refusal({"--root", "/r", "stray"}), HasSubstr("stray"));
  const char* file = WriteFile("root = /r\nwrokers = 3\n");
  EXPECT_THAT(Server().Refusal({"--config", file}),
              testing::AllOf(HasSubstr(file_ + ":2"), HasSubstr("no setting 'wrokers'")));
  EXPECT_THAT(Server().Refusal({"--config", "/nonexistent/x"}), HasSubstr("cannot read '/nonexistent/x'"));
  EXPECT_THAT(Server().Refusal({"--config", WriteFile("just words\n")}), HasSubstr("expected 'name = value'"));
}

// A directory opens like a file, and its first read fails.
TEST_F(ConfigTest, ADirectoryAsConfigFileIsRefused) {
  const std::string directory = testing::TempDir();
  EXPECT_THAT(Server().Refusal({"--root", "/r", "--config", directory.c_str()}),
              testing::AllOf(HasSubstr("setting config"), HasSubstr(directory + "' is a directory")));
  setenv("RATCHET_CONFIG", directory.c_str(), 1);
  EXPECT_THAT(Server().Refusal({"--root", "/r"}), HasSubstr("is a directory"));
}

TEST_F(ConfigTest, ARequiredSettingMustComeFromSomewhere) {
  EXPECT_THAT(Server().Refusal({}), HasSubstr("setting root is required"));
}

TEST_F(ConfigTest, HelpListsEverySettingWithUnitRangeAndDefault) {
  Server server;
  const auto outcome = server.Parse({"--help"});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, Settings::Outcome::kPrinted);
  for (const char* text : {"--root", "--workers", "threads, 1 to 128", "default 16", "--session-ms", "ms, 400 to 60000",
                           "default 64MiB", "hbase.procedure.workers", "RATCHET_", "--print-config"}) {
    EXPECT_THAT(server.output, HasSubstr(text));
  }
}

TEST_F(ConfigTest, PrintConfigIsAConfigFile) {
  Server server;
  const auto outcome = server.Parse({"--print-config", "--workers", "5"});  // works without the required settings
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, Settings::Outcome::kPrinted);
  Server again;
  ASSERT_TRUE(again.Parse({"--config", WriteFile(server.output), "--root", "/r"}).ok());
  EXPECT_EQ(again.workers, 5);
}

TEST_F(ConfigTest, PositionalsAreCollectedWhenAskedFor) {
  Server server;
  server.settings.AllowPositionals("command", &server.commands);
  ASSERT_TRUE(server.Parse({"up", "--root", "/r", "now"}).ok());
  EXPECT_THAT(server.commands, ElementsAre("up", "now"));
}

TEST_F(ConfigTest, TwoSettingsOfOneNameAreAProgrammersError) {
  Server server;
  std::int64_t other = 0;
  EXPECT_DEATH(server.settings.AddInt({"workers", "again", {}}, &other, {}), "used twice");
}

// The sources of an imaginary server whose file changes while it runs.
struct Reloading : Server {
  Live<std::int64_t> at_once{4};
  Live<Millis> period{Millis{1000}};
  int levels_told = 0;
  Reloading() {
    settings.AddInt({"at-once", "moves", {}}, &at_once, {1, 100});
    settings.AddMillis({"period-ms", "pause", {}}, &period, Millis(1), Millis(60'000));
    settings.OnReload("log-level", [this] { ++levels_told; });
  }
};

TEST_F(ConfigTest, AReloadChangesWhatIsLiveAndNamesWhatNeedsARestart) {
  Reloading server;
  const Live<std::int64_t> copy = server.at_once;  // as options are passed on
  const char* file = WriteFile("root = /r\nat-once = 5\nworkers = 3\n");
  ASSERT_TRUE(server.Parse({"--config", file, "--period-ms", "7"}).ok());
  WriteFile("root = /r\nat-once = 9\nworkers = 4\nperiod-ms = 50\nlog-level = debug\n");
  const auto report = server.settings.Reload();
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(copy.Get(), 9);
  EXPECT_EQ(server.period.Get(), Millis(7));  // the command line still wins
  EXPECT_EQ(server.level, "debug");
  EXPECT_EQ(server.levels_told, 1);
  EXPECT_EQ(server.workers, 3);
  EXPECT_THAT(report->changed, testing::UnorderedElementsAre(HasSubstr("at-once is '9' now"), HasSubstr("log-level")));
  EXPECT_THAT(report->need_restart, ElementsAre(HasSubstr("workers stays '3': it needs a restart for '4'")));
  EXPECT_THAT(server.settings.Dump(), HasSubstr("; needs a restart for '4' (" + file_ + ":3)"));
  const auto rows = server.settings.List();
  const auto workers = std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.name == "workers"; });
  ASSERT_NE(workers, rows.end());
  EXPECT_EQ(workers->wanted, "'4' (" + file_ + ":3)");

  WriteFile("root = /r\nworkers = 3\n");  // back to the default, and so is at-once
  const auto back = server.settings.Reload();
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(copy.Get(), 4);
  EXPECT_EQ(server.levels_told, 2);
  EXPECT_TRUE(back->need_restart.empty());
  EXPECT_THAT(server.settings.Dump(), testing::Not(HasSubstr("needs a restart")));
}

TEST_F(ConfigTest, AReloadOfAnInvalidFileChangesNothing) {
  Reloading server;
  const char* file = WriteFile("root = /r\nat-once = 5\n");
  ASSERT_TRUE(server.Parse({"--config", file}).ok());
  for (const char* wrong : {"root = /r\nat-once = 9\nworkers = many\n", "root = /r\nat-once = 9\nwrokers = 1\n",
                            "root = /r\nat-once = 9\nat-once = 1000\n"}) {
    WriteFile(wrong);
    const auto report = server.settings.Reload();
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(report.error().message(), HasSubstr(file_));
    EXPECT_EQ(server.at_once.Get(), 5);
  }
}

TEST_F(ConfigTest, HelpSaysWhatChangesAtAReload) {
  Reloading server;
  ASSERT_TRUE(server.Parse({"--help"}).ok());
  EXPECT_THAT(server.output, HasSubstr("changes at a reload"));
}

}  // namespace
}  // namespace ratchet

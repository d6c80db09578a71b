// `ratchet-master --check-root`: one line for each check.
#include "master/process/root_check.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace ratchet::master {
namespace {

namespace fs = std::filesystem;

class RootCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / "ratchet-root-check";
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void File(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "";
  }
  std::string Text() {
    const auto checks = CheckRootDirectory(root_.string());
    EXPECT_TRUE(checks.ok()) << checks.error().ToString();
    refused_ = checks.ok() && AnyRefused(*checks);
    return checks.ok() ? CheckText(*checks) : std::string();
  }
  bool refused_ = false;

 private:
  fs::path root_;
};

TEST_F(RootCheckTest, ANewRootPasses) {
  EXPECT_EQ(Text(),
            "ok       procedures/: missing\nok       numbers/: missing\nok       age of procedures/: no newer epoch is "
            "known\n");
  EXPECT_FALSE(refused_);
}

TEST_F(RootCheckTest, ALostStoreIsNamedWithWhatShowsIt) {
  File("data/hbase/meta.1/desc.1.1");
  File("numbers/store.3.112");
  const std::string text = Text();
  EXPECT_TRUE(refused_);
  EXPECT_NE(text.find("REFUSED  procedures/: procedures/ is missing, but epochs up to 3 were claimed here"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ok       numbers/: store.3.112, pid limit 0"), std::string::npos) << text;
}

TEST_F(RootCheckTest, AnEmptyStoreBesideTablesIsOlder) {
  File("procedures/claim.3");
  File("data/default/t.17/desc.17.17");
  File("numbers/store.3.112");
  const std::string text = Text();
  EXPECT_TRUE(refused_);
  for (const char* line : {"REFUSED  sequence of procedures/: procedures/ is an older copy: it ends at sequence 0",
                           "REFUSED  pids in data/: procedures/ is an older copy: its largest pid is 0",
                           "REFUSED  hbase:meta: procedures/ has no record of hbase:meta's location"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST_F(RootCheckTest, ARootThatCannotBeReadIsAnError) { EXPECT_FALSE(CheckRootDirectory("/nowhere/at/all").ok()); }

}  // namespace
}  // namespace ratchet::master

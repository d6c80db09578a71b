// S160 (the root is its user's): which modes of the root and of the cluster's key are accepted.
#include "common/io/root_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "common/io/cluster_key.h"

namespace ratchet::io {
namespace {

constexpr std::uint32_t kSelf = 990;

class RootAccessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char made[] = "/tmp/ratchet-root-access-XXXXXX";
    ASSERT_NE(::mkdtemp(made), nullptr);
    path_ = made;
    root_ = PosixDisk().Open(path_).value();
  }
  void TearDown() override {
    Change("", 0700);
    LookAtRootAccess(*root_);
    std::filesystem::remove_all(path_);
  }
  void Change(const std::string& name, mode_t mode) const {
    ASSERT_EQ(::chmod((path_ + "/" + name).c_str(), mode), 0) << name;
  }
  std::uint32_t ModeNow() const { return ReadMode(*root_, ".").value().value().mode & 07777; }

  std::string path_;
  std::unique_ptr<Directory> root_;
};

TEST(RootModeTest, OthersMayNotChangeTheRoot) {
  for (std::uint32_t mode = 0; mode < 01000; ++mode) {
    const RootVerdict verdict = JudgeRoot("/srv/root", {S_IFDIR | mode, kSelf}, kSelf);
    const bool others_write = (mode & 020) != 0 || (mode & 002) != 0;
    const bool others_read = (mode & 004) != 0 || (mode & 001) != 0;
    EXPECT_EQ(verdict.usable.ok(), !others_write) << std::oct << mode;
    EXPECT_EQ(verdict.problem.empty(), !others_write && !others_read) << std::oct << mode;
  }
}

TEST(RootModeTest, TheTextsNameTheDirectoryTheModeAndTheRemedy) {
  const RootVerdict refused = JudgeRoot("/srv/root", {S_IFDIR | 0775, kSelf}, kSelf);
  EXPECT_NE(refused.usable.error().message().find("/srv/root has mode 0775"), std::string::npos);
  EXPECT_NE(refused.usable.error().message().find("chmod go-w /srv/root"), std::string::npos);
  const RootVerdict readable = JudgeRoot("/srv/root", {S_IFDIR | 0755, kSelf}, kSelf);
  EXPECT_NE(readable.problem.find("/srv/root has mode 0755"), std::string::npos);
  EXPECT_NE(readable.problem.find("chmod 700 /srv/root"), std::string::npos);
}

TEST(RootModeTest, AnotherOwnerIsAProblemExceptRoot) {
  EXPECT_TRUE(JudgeRoot("/r", {S_IFDIR | 0700, 0}, kSelf).problem.empty());
  EXPECT_TRUE(JudgeRoot("/r", {S_IFDIR | 0700, 1000}, 0).problem.empty()) << "root uses a directory of another user";
  const RootVerdict verdict = JudgeRoot("/r", {S_IFDIR | 0750, 1000}, kSelf);
  EXPECT_TRUE(verdict.usable.ok());
  EXPECT_NE(verdict.problem.find("the user 1000"), std::string::npos);
}

TEST_F(RootAccessTest, AReadableRootIsAProblemUntilItIsChanged) {
  Change("", 0755);
  EXPECT_TRUE(CheckRootAccess(*root_).ok()) << "a root of an earlier version stays usable";
  EXPECT_NE(RootAccessProblem().find("mode 0755"), std::string::npos);
  Change("", 0700);
  LookAtRootAccess(*root_);
  EXPECT_EQ(RootAccessProblem(), "");
}

TEST_F(RootAccessTest, ARootThatOthersMayChangeIsRefused) {
  for (const mode_t mode : {0770, 0702, 0777, 01777}) {
    Change("", mode);
    EXPECT_EQ(CheckRootAccess(*root_).error().code(), Code::kFailedPrecondition) << std::oct << mode;
  }
}

TEST_F(RootAccessTest, ANewRootIsClosed) {
  Change("", 0755);
  CloseNewRoot(*root_);
  EXPECT_EQ(ModeNow(), 0700u);
  EXPECT_EQ(RootAccessProblem(), "");
}

TEST_F(RootAccessTest, AKeyThatOthersMayReadOrChangeIsRefusedAndShown) {
  ASSERT_TRUE(EnsureClusterKeys(*root_, {NewClusterKey()}).ok());
  for (const mode_t mode : {0604, 0602, 0620, 0666}) {
    Change(kClusterKeyFile, mode);
    const auto keys = ReadClusterKeys(*root_);
    ASSERT_FALSE(keys.ok()) << std::oct << mode;
    EXPECT_EQ(keys.error().code(), Code::kFailedPrecondition);
    EXPECT_NE(keys.error().message().find("chmod 600 " + path_ + "/cluster.key"), std::string::npos);
    LookAtRootAccess(*root_);
    EXPECT_NE(RootAccessProblem().find("cluster.key"), std::string::npos);
  }
  for (const mode_t mode : {0600, 0400, 0640}) {
    Change(kClusterKeyFile, mode);
    EXPECT_TRUE(ReadClusterKeys(*root_).ok()) << std::oct << mode;
    LookAtRootAccess(*root_);
    EXPECT_EQ(RootAccessProblem(), "");
  }
}

#if defined(RATCHET_MUTANTS)
TEST_F(RootAccessTest, ARootThatOthersMayChangeIsNoticed) {
  Change("", 0777);
  const ScopedMutant mutant("root.any_writer");
  EXPECT_TRUE(CheckRootAccess(*root_).ok());
}

TEST_F(RootAccessTest, AKeyThatOthersMayReadIsNoticed) {
  ASSERT_TRUE(EnsureClusterKeys(*root_, {NewClusterKey()}).ok());
  Change(kClusterKeyFile, 0644);
  const ScopedMutant mutant("root.any_reader_of_the_key");
  EXPECT_TRUE(ReadClusterKeys(*root_).ok());
}
#endif

}  // namespace
}  // namespace ratchet::io

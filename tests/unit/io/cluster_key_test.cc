#include "common/io/cluster_key.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

TEST(ClusterKeyTest, IsMadeOnceAndSurvives) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  EXPECT_EQ(ReadClusterKeys(*root).error().code(), Code::kNotFound);
  const auto first = EnsureClusterKeys(*root, {NewClusterKey()});
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  ASSERT_EQ(first->size(), 1u);
  EXPECT_TRUE(first->front().starts_with(kProofKeyPrefix));
  EXPECT_EQ(first->front().size(), kProofKeyPrefix.size() + 64);
  EXPECT_EQ(EnsureClusterKeys(*root, {NewClusterKey()}).value(), *first) << "a second master takes the first one's key";
  EXPECT_EQ(ReadClusterKeys(*root).value(), *first);
  EXPECT_EQ(root->List().value().size(), 1u) << "drafts go";
  disk.PowerFailure();
  auto again = disk.NewProcess();
  auto reopened = again->Open("/root");
  ASSERT_TRUE(reopened.ok());
  EXPECT_EQ(ReadClusterKeys(**reopened).value(), *first);
}

TEST(ClusterKeyTest, AnyOtherBytesAreAnErrorThatNamesTheFile) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  for (const std::string& bytes : {std::string(), std::string("\n"), std::string("short\n"), std::string(32, '\0'),
                                   std::string("a short second key\nand more"),
                                   std::string("three keys are too\nmany for this file\nwhatever they are\n"),
                                   std::string(70'000, 'x'), std::string(32, '\xff')}) {
    ASSERT_TRUE(WriteFileAtomically(*root, kClusterKeyFile, bytes).ok());
    const auto key = EnsureClusterKeys(*root, {NewClusterKey()});
    ASSERT_FALSE(key.ok()) << bytes.size();
    EXPECT_EQ(key.error().code(), Code::kCorruption);
    EXPECT_NE(key.error().message().find("cluster.key"), std::string::npos);
    EXPECT_EQ(root->ReadAll(kClusterKeyFile).value(), bytes) << "what is there is never replaced";
  }
}

TEST(ClusterKeyTest, TwoKeysAreReadInTheirOrderAndWrittenBack) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  const ClusterKeys both{NewClusterKey(), "00112233445566778899aabbccddeeff"};
  EXPECT_EQ(EnsureClusterKeys(*root, both).value(), both);
  EXPECT_EQ(ReadClusterKeys(*root).value(), both);
  ASSERT_TRUE(WriteFileAtomically(*root, kClusterKeyFile, both[1] + " \n\n" + both[0]).ok());
  EXPECT_EQ(ReadClusterKeys(*root).value(), ClusterKeys({both[1], both[0]}));
}

// A standby that is elected does not wait for the disk, and writes only what is lost.
TEST(ClusterKeyTest, IsRestoredWhereItIsLost) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  const ClusterKeys old{NewClusterKey()};
  const ClusterKeys replaced{NewClusterKey()};
  ASSERT_EQ(EnsureClusterKeys(*root, replaced).value(), replaced);
  process->Trace(true);
  EXPECT_EQ(ReadOrRestoreClusterKeys(*root, old).value(), replaced);
  EXPECT_TRUE(process->trace().empty());
  ASSERT_TRUE(root->Unlink(kClusterKeyFile).ok());
  EXPECT_EQ(ReadOrRestoreClusterKeys(*root, old).value(), old);
  disk.PowerFailure();
  process = disk.NewProcess();
  root = process->Open("/root").value();
  EXPECT_EQ(ReadClusterKeys(*root).value(), old);
  ASSERT_TRUE(WriteFileAtomically(*root, kClusterKeyFile, "short\n").ok());
  EXPECT_EQ(ReadOrRestoreClusterKeys(*root, old).error().code(), Code::kCorruption);
}

TEST(ClusterKeyTest, OnlyItsOwnerMayReadIt) {
  char path[] = "/tmp/ratchet-cluster-key-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  {
    auto root = PosixDisk().Open(path);
    ASSERT_TRUE(root.ok());
    ASSERT_TRUE(EnsureClusterKeys(**root, {NewClusterKey()}).ok());
    struct stat info {};
    ASSERT_EQ(::stat((std::string(path) + "/" + kClusterKeyFile).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace ratchet::io

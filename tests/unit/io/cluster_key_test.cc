#include "common/io/cluster_key.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/io/sim_disk.h"

namespace ratchet::io {
namespace {

TEST(ClusterKeyTest, IsMadeOnceAndSurvives) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  EXPECT_EQ(ReadClusterKey(*root).error().code(), Code::kNotFound);
  const auto first = EnsureClusterKey(*root, NewClusterKey());
  ASSERT_TRUE(first.ok()) << first.error().ToString();
  EXPECT_EQ(first->size(), 32u);
  EXPECT_EQ(EnsureClusterKey(*root, NewClusterKey()).value(), *first) << "a second master takes the first one's key";
  EXPECT_EQ(ReadClusterKey(*root).value(), *first);
  EXPECT_EQ(root->List().value().size(), 1u) << "drafts go";
  disk.PowerFailure();
  auto again = disk.NewProcess();
  auto reopened = again->Open("/root");
  ASSERT_TRUE(reopened.ok());
  EXPECT_EQ(ReadClusterKey(**reopened).value(), *first);
}

TEST(ClusterKeyTest, AnyOtherBytesAreAnErrorThatNamesTheFile) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->OpenOrMake("/root").value();
  for (const std::string& bytes :
       {std::string(), std::string("\n"), std::string("short\n"), std::string(32, '\0'),
        std::string("two lines of it\nand more"), std::string(70'000, 'x'), std::string(32, '\xff')}) {
    ASSERT_TRUE(WriteFileAtomically(*root, kClusterKeyFile, bytes).ok());
    const auto key = EnsureClusterKey(*root, NewClusterKey());
    ASSERT_FALSE(key.ok()) << bytes.size();
    EXPECT_EQ(key.error().code(), Code::kCorruption);
    EXPECT_NE(key.error().message().find("cluster.key"), std::string::npos);
    EXPECT_EQ(root->ReadAll(kClusterKeyFile).value(), bytes) << "what is there is never replaced";
  }
}

TEST(ClusterKeyTest, OnlyItsOwnerMayReadIt) {
  char path[] = "/tmp/ratchet-cluster-key-XXXXXX";
  ASSERT_NE(::mkdtemp(path), nullptr);
  {
    auto root = PosixDisk().Open(path);
    ASSERT_TRUE(root.ok());
    ASSERT_TRUE(EnsureClusterKey(**root, NewClusterKey()).ok());
    struct stat info {};
    ASSERT_EQ(::stat((std::string(path) + "/" + kClusterKeyFile).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777u, 0600u);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace ratchet::io

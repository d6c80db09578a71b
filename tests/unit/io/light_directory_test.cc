// Directories and files that hold no descriptor while they are idle.
#include <sys/resource.h>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>

#include "common/io/light_directory.h"
#include "common/io/record_log.h"
#include "common/io/spare_descriptor.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

std::size_t DescriptorsInUse() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += entry.path().empty() ? 0 : 1;
  return count;
}

class LightDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / fmt::format("ratchet_light_{}", ::getpid());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "data/ns/t.1/region");
    root_ = PosixDisk().Open(path_.string()).value();
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::unique_ptr<Directory> Light() { return OpenLightDirectory(*root_, "data/ns/t.1/region").value(); }

  std::filesystem::path path_;
  std::unique_ptr<Directory> root_;
};

TEST_F(LightDirectoryTest, DoesWhatDirectoriesDo) {
  const auto light = Light();
  EXPECT_EQ(light->path(), (path_ / "data/ns/t.1/region").string());
  auto file = light->Create("a").value();
  ASSERT_TRUE(file->Append("12345").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(light->Create("a").error().code(), Code::kAlreadyExists);
  EXPECT_EQ(light->ReadAll("a").value(), "12345");
  ASSERT_TRUE(light->Link("a", "b").ok());
  ASSERT_TRUE(light->Rename("a", "c").ok());
  EXPECT_FALSE(light->Exists("a").value());
  ASSERT_TRUE(light->SyncFile("c").ok());
  ASSERT_TRUE(light->Cut("c", 3).ok());
  ASSERT_TRUE(light->MakeDir("d").ok());
  ASSERT_TRUE(light->Sync().ok());
  ASSERT_TRUE(light->RenameTo("c", *root_, "moved").ok());
  EXPECT_EQ(root_->ReadAll("moved").value(), "123");
  EXPECT_EQ(light->Reopen().value()->List().value(), (std::vector<std::string>{"b", "d"}));
  ASSERT_TRUE(light->RemoveDir("d").ok());
  ASSERT_TRUE(light->Unlink("b").ok());
  EXPECT_TRUE(light->List().value().empty());
}

TEST_F(LightDirectoryTest, IsNotThereWhenItIsNotThere) {
  EXPECT_EQ(OpenLightDirectory(*root_, "data/ns/t.1/other").error().code(), Code::kNotFound);
  const auto light = Light();
  ASSERT_TRUE(root_->Rename("data/ns/t.1", "gone").ok());
  EXPECT_EQ(light->Create("late").error().code(), Code::kNotFound);
  EXPECT_FALSE(light->Exists("late").value());
  EXPECT_FALSE(light->Sync().ok());
}

TEST_F(LightDirectoryTest, HoldsNoDescriptorAndNeitherDoItsSyncedFiles) {
  const std::size_t before = DescriptorsInUse();
  std::vector<std::unique_ptr<Directory>> directories;
  std::vector<std::unique_ptr<RecordWriter>> writers;
  for (int i = 0; i < 50; ++i) {
    directories.push_back(Light());
    const std::string name = fmt::format("log-{}", i);
    writers.push_back(
        std::make_unique<RecordWriter>(directories.back()->Create(name).value(), LogIdentity{1, LogFileId(name)}));
    ASSERT_TRUE(writers.back()->Add(1, 1, 1, "first").ok());
    ASSERT_TRUE(writers.back()->Sync().ok());
  }
  EXPECT_EQ(DescriptorsInUse(), before);
  // Writes again; one file has another name by now.
  ASSERT_TRUE(directories[7]->Rename("log-7", "renamed").ok());
  EXPECT_EQ(OpenAgain(writers[7]->file()).error().code(), Code::kNotFound);
  FollowName(writers[7]->file(), "renamed");
  for (std::size_t i = 0; i < writers.size(); ++i) {
    ASSERT_TRUE(writers[i]->Add(1, 1, 2, "second").ok());
    ASSERT_TRUE(writers[i]->Sync().ok());
    const std::string bytes = directories[i]->ReadAll(i == 7 ? "renamed" : fmt::format("log-{}", i)).value();
    RecordReader reader(bytes, {});
    Record record;
    int records = 0;
    while (reader.Next(&record)) ++records;
    EXPECT_EQ(records, 2) << i;
    EXPECT_EQ(reader.tail().end, LogEnd::kClean);
  }
  EXPECT_EQ(DescriptorsInUse(), before);
}

// A failed sync ends the process: the lack of a descriptor must not be treated as one.
TEST_F(LightDirectoryTest, IsSyncedAlsoWhenNoDescriptorIsLeft) {
  const auto light = Light();
  SpareDescriptor::OfProcess().While([] { return 0; });  // it is reserved now
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken;
  for (int fd = ::open("/", O_PATH); fd >= 0; fd = ::open("/", O_PATH)) taken.push_back(fd);
  const auto listed = light->List();
  const Status synced = light->Sync();
  const auto looked = light->Exists("a");
  ::setrlimit(RLIMIT_NOFILE, &before);
  for (const int fd : taken) ::close(fd);
  EXPECT_FALSE(listed.ok());  // there was none
  EXPECT_TRUE(synced.ok());
  EXPECT_TRUE(looked.ok());
}

TEST(LightDirectoryOnTheDoubleTest, IsAnOrdinaryHandle) {
  SimDisk disk;
  const auto process = disk.NewProcess();
  ASSERT_TRUE(process->OpenOrMake("/root/data/ns").ok());
  const auto root = process->Open("/root").value();
  EXPECT_TRUE(OpenLightDirectory(*root, "data/ns").value()->Create("a").ok());
  EXPECT_EQ(OpenLightDirectory(*root, "data/other").error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace ratchet::io

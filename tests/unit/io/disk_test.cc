// The requirements for every disk, checked on the real disk and on the double, and the additional behaviour of the
// double.
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/io/disk.h"
#include "common/io/file_descriptor.h"
#include "tests/support/sim_disk.h"

namespace ratchet::io {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/ratchet-disk-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class AnyDiskTest : public ::testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<Directory> Root() {
    if (GetParam()) return PosixDisk().OpenOrMake(temporary_.path() + "/a/b").value();
    return process_->OpenOrMake("/a/b").value();
  }
  TemporaryDirectory temporary_;
  SimDisk sim_;
  std::unique_ptr<SimDisk::Process> process_ = sim_.NewProcess();
};
INSTANTIATE_TEST_SUITE_P(Disks, AnyDiskTest, ::testing::Values(true, false),
                         [](const auto& param) { return param.param ? "Posix" : "Sim"; });

void Write(Directory& directory, const std::string& name, std::string_view content) {
  auto file = directory.Create(name);
  ASSERT_TRUE(file.ok()) << file.error().ToString();
  ASSERT_TRUE((*file)->Append(content).ok());
  ASSERT_TRUE((*file)->Sync().ok());
}

TEST_P(AnyDiskTest, CreateIsExclusiveAndErrorsHaveCodes) {
  const auto root = Root();
  Write(*root, "f", "hello");
  EXPECT_EQ(root->Create("f").error().code(), Code::kAlreadyExists);
  EXPECT_EQ(root->ReadAll("f").value(), "hello");
  EXPECT_EQ(root->ReadAll("g").error().code(), Code::kNotFound);
  EXPECT_EQ(root->OpenDir("g").error().code(), Code::kNotFound);
  EXPECT_EQ(root->Unlink("g").error().code(), Code::kNotFound);
  EXPECT_EQ(root->Rename("g", "h").error().code(), Code::kNotFound);
  EXPECT_TRUE(root->Exists("f").value());
  EXPECT_FALSE(root->Exists("g").value());
  EXPECT_TRUE(root->MakeDir("d").ok());
  EXPECT_EQ(root->MakeDir("d").error().code(), Code::kAlreadyExists);
  EXPECT_EQ(root->List().value(), (std::vector<std::string>{"d", "f"}));
  EXPECT_TRUE(root->SyncFile("f").ok());
  EXPECT_TRUE(root->Sync().ok());
}

TEST_P(AnyDiskTest, HandlesSurviveTheRenamingOfTheirDirectory) {
  const auto root = Root();
  ASSERT_TRUE(root->MakeDir("old").ok());
  const auto handle = root->OpenDir("old").value();
  Write(*handle, "before", "1");
  ASSERT_TRUE(root->Rename("old", "new").ok());
  ASSERT_TRUE(root->MakeDir("old").ok());  // another process takes the name
  Write(*handle, "after", "2");
  EXPECT_EQ(root->OpenDir("new").value()->List().value(), (std::vector<std::string>{"after", "before"}));
  EXPECT_TRUE(root->OpenDir("old").value()->List().value().empty());
  EXPECT_EQ(handle->Reopen().value()->ReadAll("after").value(), "2");
}

TEST_P(AnyDiskTest, RenameReplacesFilesAndLinksAreExclusive) {
  const auto root = Root();
  Write(*root, "a", "A");
  Write(*root, "b", "B");
  EXPECT_TRUE(root->Rename("a", "b").ok());
  EXPECT_EQ(root->ReadAll("b").value(), "A");
  EXPECT_FALSE(root->Exists("a").value());
  ASSERT_TRUE(root->Link("b", "c").ok());
  EXPECT_EQ(root->Link("b", "c").error().code(), Code::kAlreadyExists);
  ASSERT_TRUE(root->Unlink("b").ok());
  EXPECT_EQ(root->ReadAll("c").value(), "A");
  ASSERT_TRUE(root->MakeDir("d").ok());
  const auto target = root->OpenDir("d").value();
  ASSERT_TRUE(root->RenameTo("c", *target, "moved").ok());
  EXPECT_EQ(target->ReadAll("moved").value(), "A");
  EXPECT_EQ(root->RemoveDir("d").error().code(), Code::kAlreadyExists) << "not empty";
  ASSERT_TRUE(target->Unlink("moved").ok());
  EXPECT_TRUE(root->RemoveDir("d").ok());
}

TEST_P(AnyDiskTest, ZeroFilledFilesAreWrittenFromTheirBeginning) {
  const auto root = Root();
  {
    auto file = root->Create("spare").value();
    ASSERT_TRUE(file->ZeroFill(10'000).ok());
    ASSERT_TRUE(file->Sync().ok());
    EXPECT_EQ(file->size(), 0U);
  }
  auto file = root->OpenForWrite("spare").value();
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Append("def").ok());
  EXPECT_EQ(file->size(), 6U);
  ASSERT_TRUE(file->Preallocate(20'000).ok());
  const std::string content = root->ReadAll("spare").value();
  EXPECT_GE(content.size(), 10'000U);
  EXPECT_EQ(content.substr(0, 7), std::string("abcdef\0", 7));
  const auto reader = root->OpenForRead("spare").value();
  char bytes[4] = {};
  EXPECT_EQ(reader->ReadAt(2, bytes, 3).value(), 3U);
  EXPECT_STREQ(bytes, "cde");
  EXPECT_EQ(reader->ReadAt(1'000'000, bytes, 3).value(), 0U);
  EXPECT_EQ(root->OpenForWrite("nothing").error().code(), Code::kNotFound);
}

TEST_P(AnyDiskTest, UnusedSpaceIsGivenBack) {
  const auto root = Root();
  auto file = root->Create("log").value();
  ASSERT_TRUE(file->ZeroFill(10'000).ok());
  ASSERT_TRUE(file->Append("abc").ok());
  ASSERT_TRUE(file->Trim().ok());
  EXPECT_EQ(root->ReadAll("log").value(), "abc");
  ASSERT_TRUE(file->Append("def").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(root->ReadAll("log").value(), "abcdef");
  ASSERT_TRUE(root->Cut("log", 100).ok());
  EXPECT_EQ(root->ReadAll("log").value(), "abcdef") << "a cut lengthens nothing";
  ASSERT_TRUE(root->Cut("log", 4).ok());
  EXPECT_EQ(root->ReadAll("log").value(), "abcd");
  EXPECT_EQ(root->Cut("nothing", 4).error().code(), Code::kNotFound);
}

TEST_P(AnyDiskTest, AFileIsNoDirectory) {
  const auto root = Root();
  Write(*root, "f", "hello");
  EXPECT_EQ(root->OpenDir("f").error().code(), Code::kFailedPrecondition);
}

TEST_P(AnyDiskTest, SmallFilesAreWrittenAtomically) {
  const auto root = Root();
  ASSERT_TRUE(WriteFileAtomically(*root, "id", "one").ok());
  Write(*root, "id.tmp", "left over");
  ASSERT_TRUE(WriteFileAtomically(*root, "id", "two").ok());
  EXPECT_EQ(root->ReadAll("id").value(), "two");
  EXPECT_EQ(root->List().value().size(), 1U);
}

TEST(SimDiskTest, APowerFailureForgetsUnsyncedBytesAndNames) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->Open("/").value();
  auto file = root->Create("named").value();
  ASSERT_TRUE(file->Append("durable").ok());
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(root->Sync().ok());
  ASSERT_TRUE(file->Append(" lost").ok());
  Write(*root, "unnamed", "synced, but its name was not");
  disk.PowerFailure();
  EXPECT_FALSE(root->List().ok()) << "the process is dead";
  process = disk.NewProcess();
  root = process->Open("/").value();
  EXPECT_EQ(root->List().value(), std::vector<std::string>{"named"});
  EXPECT_EQ(root->ReadAll("named").value(), "durable");
}

TEST(SimDiskTest, UnsyncedRemovalsAndRenamesComeBack) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->Open("/").value();
  Write(*root, "a", "A");
  Write(*root, "b", "B");
  ASSERT_TRUE(root->Sync().ok());
  ASSERT_TRUE(root->Unlink("a").ok());
  ASSERT_TRUE(root->Rename("b", "c").ok());
  disk.PowerFailure();
  process = disk.NewProcess();
  root = process->Open("/").value();
  EXPECT_EQ(root->List().value(), (std::vector<std::string>{"a", "b"}));
}

TEST(SimDiskTest, RandomLossKeepsSomeSectorsAndSomeNames) {
  int kept = 0;
  int torn = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SimDisk disk;
    auto process = disk.NewProcess();
    auto root = process->Open("/").value();
    auto file = root->Create("f").value();
    ASSERT_TRUE(file->Append(std::string(2048, 'x')).ok());
    disk.PowerFailure(SimDisk::Loss::kRandom, seed);
    process = disk.NewProcess();
    root = process->Open("/").value();
    const auto content = root->ReadAll("f");
    if (!content.ok()) continue;
    ++kept;
    if (content->find('x') != std::string::npos && content->find('\0') != std::string::npos) ++torn;
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 50);
  EXPECT_GT(torn, 3);
}

TEST(SimDiskTest, HooksFailSkipTearAndKill) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->Open("/").value();
  process->SetHook(FailOps(SimOp::kCreate, "forbidden", Code::kNoSpace));
  EXPECT_EQ(root->Create("forbidden").error().code(), Code::kNoSpace);
  auto file = root->Create("f").value();
  ASSERT_TRUE(root->Sync().ok());
  process->SetHook(SkipOp(process->operations() + 2));  // the next sync is only pretended
  ASSERT_TRUE(file->Append("x").ok());
  ASSERT_TRUE(file->Sync().ok());
  process->SetHook(
      [](const SimEvent& event) { return event.op == SimOp::kAppend ? SimVerdict::Tear(2) : SimVerdict::Proceed(); });
  EXPECT_FALSE(file->Append("torn").ok());
  EXPECT_TRUE(process->crashed());
  EXPECT_EQ(disk.Content("/f").value(), "xto");
  disk.PowerFailure();
  EXPECT_EQ(disk.Content("/f").value(), "");
}

TEST(SimDiskTest, AFailedSyncMarksPagesCleanAsTheKernelDoes) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->Open("/").value();
  auto file = root->Create("f").value();
  ASSERT_TRUE(root->Sync().ok());
  ASSERT_TRUE(file->Append("lost").ok());
  process->SetHook(FailOps(SimOp::kSyncFile, "f", Code::kIo));
  EXPECT_FALSE(file->Sync().ok());
  process->SetHook({});
  EXPECT_TRUE(file->Sync().ok()) << "the second sync lies";
  disk.PowerFailure();
  EXPECT_EQ(disk.Content("/f").value(), std::string(4, '\0').substr(0, disk.Content("/f").value().size()));
}

TEST(SimDiskTest, AFullDiskRefusesBytesButNotNames) {
  SimDisk disk;
  auto process = disk.NewProcess();
  auto root = process->Open("/").value();
  auto spare = root->Create("spare").value();
  ASSERT_TRUE(spare->ZeroFill(100).ok());
  disk.SetCapacity(120);
  auto file = root->Create("f").value();
  EXPECT_EQ(file->Append(std::string(21, 'x')).error().code(), Code::kNoSpace);
  EXPECT_TRUE(file->Append(std::string(20, 'x')).ok());
  EXPECT_TRUE(spare->Append(std::string(100, 'y')).ok()) << "into what was reserved";
  EXPECT_EQ(spare->Append("z").error().code(), Code::kNoSpace);
}

// The journal converts an unwritten extent to a written one, at the sync of its data.
TEST(PosixDiskTest, ReservedSpaceNeedsNoJournalLater) {
  const TemporaryDirectory temporary;
  auto file = PosixDisk().OpenOrMake(temporary.path()).value()->Create("reserved").value();
  ASSERT_TRUE(file->Preallocate(1 << 20).ok());
  const FileDescriptor fd(::open((temporary.path() + "/reserved").c_str(), O_RDONLY | O_CLOEXEC));
  constexpr unsigned kExtents = 64;
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + kExtents * sizeof(fiemap_extent)> room{};
  auto* const map = reinterpret_cast<fiemap*>(room.data());
  map->fm_length = FIEMAP_MAX_OFFSET;
  map->fm_extent_count = kExtents;
  if (::ioctl(fd.get(), FS_IOC_FIEMAP, map) != 0) GTEST_SKIP() << "this file system does not report its extents";
  std::uint64_t written = 0;
  for (unsigned i = 0; i < map->fm_mapped_extents; ++i) {
    const fiemap_extent& extent = map->fm_extents[i];
    EXPECT_EQ(extent.fe_flags & (FIEMAP_EXTENT_UNWRITTEN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN), 0U);
    written += extent.fe_length;
  }
  EXPECT_GE(written, 1U << 20);
}

}  // namespace
}  // namespace ratchet::io

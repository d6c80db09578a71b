// The files of snapshots: durable when a method returns, and never changed by a master that was deposed.
#include "tests/unit/master_shell/files_fixture.h"

namespace ratchet::master {
namespace {

class SnapshotFilesTest : public FilesTest {};

TEST_F(SnapshotFilesTest, AreThereAfterAPowerFailure) {
  EXPECT_TRUE(files_->ListSnapshots().value().empty()) << "there is no folder yet";
  ASSERT_TRUE(files_->CreateSnapshotLayout("s.7", {"aaa"}).ok());
  ASSERT_TRUE(files_->CreateSnapshotLayout("s.7", {"aaa", "bbb"}).ok()) << "done again, by the next master";
  ASSERT_TRUE(files_->PutSnapshotFile("s.7", "parts", "first").ok());
  ASSERT_TRUE(files_->PutSnapshotFile("s.7", "parts", "second").ok());
  PowerFailure();
  EXPECT_EQ(files_->ListSnapshots().value(), std::vector<std::string>{"s.7"});
  EXPECT_EQ(files_->ReadSnapshotFile("s.7", "parts").value(), "second");
  EXPECT_EQ(files_->ReadSnapshotFile("s.7", "complete").error().code(), Code::kNotFound);
  EXPECT_EQ(process_->Open("/root/snapshots/s.7").value()->List().value(),
            (std::vector<std::string>{"aaa", "bbb", "parts"}));
}

TEST_F(SnapshotFilesTest, ADamagedOneIsNotRead) {
  ASSERT_TRUE(files_->CreateSnapshotLayout("s.7", {}).ok());
  ASSERT_TRUE(files_->PutSnapshotFile("s.7", "complete", "content").ok());
  auto directory = process_->Open("/root/snapshots/s.7").value();
  std::string bytes = directory->ReadAll("complete").value();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    ASSERT_TRUE(io::WriteFileAtomically(*directory, "complete", damaged).ok());
    EXPECT_EQ(files_->ReadSnapshotFile("s.7", "complete").error().code(), Code::kCorruption) << "byte " << at;
  }
  ASSERT_TRUE(io::WriteFileAtomically(*directory, "complete", "x").ok());
  EXPECT_EQ(files_->ReadSnapshotFile("s.7", "complete").error().code(), Code::kCorruption) << "too short";
}

TEST_F(SnapshotFilesTest, GoToTheArchiveOnceAndMayBeRepeated) {
  ASSERT_TRUE(files_->CreateSnapshotLayout("s.7", {"aaa"}).ok());
  ASSERT_TRUE(files_->ArchiveSnapshot("s.7", Epoch(3)).ok());
  PowerFailure();
  ASSERT_TRUE(files_->ArchiveSnapshot("s.7", Epoch(3)).ok());
  EXPECT_TRUE(files_->ListSnapshots().value().empty());
  EXPECT_TRUE(process_->Open("/root/archive/3/snapshots/s.7/aaa").ok());
  EXPECT_EQ(files_->PutSnapshotFile("s.7", "complete", "late").error().code(), Code::kNotFound);
}

TEST_F(SnapshotFilesTest, ADeposedMasterTouchesNone) {
  ASSERT_TRUE(files_->CreateSnapshotLayout("s.7", {"aaa"}).ok());
  owner_ = Error(Code::kFenced, "deposed");
  EXPECT_EQ(files_->CreateSnapshotLayout("s.8", {}).error().code(), Code::kFenced);
  EXPECT_EQ(files_->PutSnapshotFile("s.7", "complete", "x").error().code(), Code::kFenced);
  EXPECT_EQ(files_->ArchiveSnapshot("s.7", Epoch(3)).error().code(), Code::kFenced);
  EXPECT_EQ(files_->ListSnapshots().value(), std::vector<std::string>{"s.7"});
}

}  // namespace
}  // namespace ratchet::master

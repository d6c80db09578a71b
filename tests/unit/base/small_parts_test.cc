// SmallVector, UniqueFunction, AdaptiveMutex, PartLock, ReadSmallFile and HexDigit.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/adaptive_mutex.h"
#include "common/base/hex.h"
#include "common/base/part_lock.h"
#include "common/base/small_file.h"
#include "common/base/small_vector.h"
#include "common/base/unique_function.h"

namespace ratchet {
namespace {

TEST(SmallVectorTest, GrowsBeyondItselfAndMoves) {
  for (const int count : {0, 1, 3, 4, 100}) {
    SmallVector<int, 3> from;
    for (int i = 0; i < count; ++i) from.push_back(i);
    SmallVector<int, 3> to;
    to.push_back(77);
    to = std::move(from);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): that it is empty is promised
    from.push_back(5);
    ASSERT_EQ(to.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) EXPECT_EQ(to[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(from.size(), 1U);
  }
}

TEST(SmallFileTest, OnlyARegularFileWithinItsBoundIsRead) {
  const std::string path = ::testing::TempDir() + "ratchet_small_file_" + std::to_string(::getpid());
  std::ofstream(path) << "four";
  EXPECT_EQ(ReadSmallFile(path, 4).value(), "four");
  EXPECT_EQ(ReadSmallFile(path, 3).error().message(), path + ": larger than 3 bytes");
  const FileGuard guard{S_IWOTH, "chmod o-w"};
  EXPECT_TRUE(ReadSmallFile(path, 4, guard).ok());
  ASSERT_EQ(::chmod(path.c_str(), 0602), 0);
  EXPECT_EQ(ReadSmallFile(path, 4, guard).error().message(), path + ": chmod o-w");
  std::filesystem::remove(path);
  EXPECT_EQ(ReadSmallFile(path, 4).error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(ReadSmallFile(::testing::TempDir(), 4).ok());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(ReadSmallFile(path, 4).ok()) << "a pipe would wait for its writer";
  std::filesystem::remove(path);
}

TEST(SmallFileTest, ANewSecretReplacesNoFile) {
  const std::string path = ::testing::TempDir() + "ratchet_new_secret_" + std::to_string(::getpid());
  ASSERT_TRUE(WriteNewSecret(path, "first").ok());
  EXPECT_EQ(ReadSmallFile(path, 5, SecretFile()).value(), "first");
  EXPECT_EQ(WriteNewSecret(path, "other").error().code(), Code::kAlreadyExists);
  EXPECT_EQ(ReadSmallFile(path, 5).value(), "first");
  for (const mode_t open : {0604, 0602, 0620}) {
    ASSERT_EQ(::chmod(path.c_str(), open), 0);
    EXPECT_FALSE(ReadSmallFile(path, 5, SecretFile()).ok()) << open;
  }
  std::filesystem::remove(path);
}

static_assert(HexDigit('0') == 0 && HexDigit('9') == 9 && HexDigit('a') == 10 && HexDigit('F') == 15);
static_assert(HexDigit('g') == -1 && HexDigit('/') == -1 && HexDigit(':') == -1 && HexDigit('@') == -1);

TEST(UniqueFunctionTest, KeepsWhatItOwnsInlineOrNot) {
  auto alive = std::make_shared<int>(1);
  {
    UniqueFunction<int(int)> small = [held = std::make_unique<std::shared_ptr<int>>(alive)](int n) {
      return **held + n;
    };
    UniqueFunction<int(int)> large = [held = alive, pad = std::string(100, 'x'), more = std::string(100, 'y')](int n) {
      return *held + n + static_cast<int>(pad.size() + more.size());
    };
    EXPECT_EQ(alive.use_count(), 3);
    UniqueFunction<int(int)> moved = std::move(small);
    EXPECT_FALSE(static_cast<bool>(small));  // NOLINT(bugprone-use-after-move): that it is empty is promised
    EXPECT_EQ(moved(1), 2);
    moved = std::move(large);
    EXPECT_EQ(alive.use_count(), 2) << "what it held before is gone";
    EXPECT_EQ(moved(1), 202);
    moved = nullptr;
    EXPECT_EQ(alive.use_count(), 1);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

// Uses more threads than processors, so that some sleep and must be woken.
TEST(AdaptiveMutexTest, ExcludesAndWakesEverybody) {
  constexpr int kThreads = 16;
  constexpr int kEach = 20'000;
  AdaptiveMutex mutex;
  int counter = 0;  // guarded by mutex
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        mutex.Lock();
        const int seen = counter;
        if (i % 1000 == 0) std::this_thread::yield();  // some are preempted inside the section
        counter = seen + 1;
        mutex.Unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, kThreads * kEach);
  const bool taken = mutex.TryLock();
  EXPECT_TRUE(taken);
  if (!taken) return;
  std::thread([&mutex] {
    const bool taken_twice = mutex.TryLock();
    EXPECT_FALSE(taken_twice);
    if (taken_twice) mutex.Unlock();
  }).join();
  mutex.Unlock();
}

#if defined(RATCHET_MUTANTS)
TEST(PartLockTest, OneAfterTheOtherIsLegalOnEachThread) {
  const RecordedPartLocks recorded;
  Mutex one;
  Mutex other;
  {
    const PartLock lock(one);
    std::thread([&other] { const PartLock theirs(other); }).join();
  }
  { const PartLock lock(other); }
  ExpectNoPartLock("a part");
  EXPECT_TRUE(recorded.violations().empty());
}

TEST(PartLockTest, ACallOfAnotherPartUnderALockIsNoticed) {
  Mutex one;
  Mutex other;
  {
    const RecordedPartLocks recorded;
    const PartLock lock(one);
    ExpectNoPartLock("the executor");
    { const PartLock inner(other); }
    ASSERT_EQ(recorded.violations().size(), 2U);
    EXPECT_EQ(recorded.violations()[0].find("the executor is entered while the lock of small_parts_test.cc:"), 0U);
    EXPECT_EQ(recorded.violations()[1].find("small_parts_test.cc:"), 0U);
  }
  EXPECT_DEATH(
      {
        const PartLock lock(one);
        ExpectNoPartLock("the executor");
      },
      "the executor is entered while the lock of small_parts_test.cc");
}
#endif

}  // namespace
}  // namespace ratchet

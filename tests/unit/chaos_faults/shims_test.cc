// The preloaded library in programs that every system has: date shows a changed clock, dd a failing sync.
#include <cstddef>
#include <ctime>

#include <filesystem>
#include <fstream>

#include <netdb.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "chaos/cluster/child_process.h"
#include "chaos/shim/process_shims.h"
#include "common/base/fault_point.h"

namespace ratchet::chaos {
namespace {

constexpr Millis kPatience{60'000};

class ShimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    const auto bin = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "bin";
    auto made = ProcessShims::Create(bin / "libratchet_shim.so", folder_);
    if (!made.ok()) GTEST_SKIP() << made.error().ToString();
    shims_ = std::move(*made);
    const auto control = shims_->Of("p");
    ASSERT_TRUE(control.ok());
    control_ = *control;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Runs a program with the library and returns its exit code. Its text is in output().
  int Run(std::vector<std::string> arguments) {
    LaunchSpec spec;
    spec.arguments = std::move(arguments);
    spec.output = folder_ / "output";
    std::filesystem::remove(spec.output);
    const auto environment = shims_->EnvironmentOf("p");
    EXPECT_TRUE(environment.ok());
    spec.environment = *environment;
    const auto id = Launch(spec);
    EXPECT_TRUE(id.ok());
    std::optional<Ended> ended;
    EXPECT_TRUE(WaitUntil("its end", kPatience, [&] { return (ended = CheckEnded(*id)).has_value(); }).ok());
    return ended && ended->code ? *ended->code : -1;
  }
  std::int64_t DateSays() {
    EXPECT_EQ(Run({"date", "+%s"}), 0);
    std::int64_t seconds = 0;
    std::ifstream(folder_ / "output") >> seconds;
    return seconds;
  }
  int SyncAFile() {
    return Run({"dd", "if=/dev/zero", "of=" + (folder_ / "file").string(), "count=1", "conv=fdatasync"});
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("ratchet_shims_" + std::to_string(getpid()));
  std::unique_ptr<ProcessShims> shims_;
  ShimControl* control_ = nullptr;
};

TEST_F(ShimsTest, InjectsNothingUntilArmed) {
  const std::int64_t before = SystemClock().WallMillis() / 1'000;
  EXPECT_GE(DateSays(), before);
  EXPECT_EQ(SyncAFile(), 0);
  EXPECT_EQ(control_->syncs, 1U);
  EXPECT_EQ(control_->clock_reads_changed, 0U);
}

TEST_F(ShimsTest, ClocksJump) {
  control_->clock_offset_ns = -3'600'000'000'000;
  EXPECT_LT(DateSays(), SystemClock().WallMillis() / 1'000 - 3'000);
  EXPECT_GT(control_->clock_reads_changed, 0U);
  Behave(*control_);
  EXPECT_GT(DateSays(), SystemClock().WallMillis() / 1'000 - 3'000);
}

TEST_F(ShimsTest, ClocksDrift) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  control_->drift_since_ns = (now.tv_sec - 1'000) * 1'000'000'000;  // for 1,000 s
  control_->drift_ppm = 1'000'000;                                  // at double speed
  EXPECT_GT(DateSays(), SystemClock().WallMillis() / 1'000 + 900);
}

TEST_F(ShimsTest, SyncsFail) {
  control_->sync_errno = EIO;
  EXPECT_EQ(SyncAFile(), 1);
  EXPECT_GE(control_->syncs_failed, 1U);  // dd tries fsync after a failed fdatasync
  Behave(*control_);
  EXPECT_EQ(SyncAFile(), 0);
}

TEST_F(ShimsTest, OneReadInNFails) {
  std::ofstream(folder_ / "file") << "text";
  const std::string program = "import os\nfd = os.open('" + (folder_ / "file").string() + R"(', os.O_RDONLY)
failed = 0
for _ in range(30):
    try:
        assert os.pread(fd, 4, 0) == b'text'
    except OSError:
        failed += 1
print(failed)
)";
  const auto failed = [&] {
    EXPECT_EQ(Run({"python3", "-c", program}), 0);
    int count = -1;
    std::ifstream(folder_ / "output") >> count;
    return count;
  };
  EXPECT_EQ(failed(), 0);
  control_->one_in = 3;
  control_->read_errno = EIO;
  EXPECT_EQ(failed(), 10);
  EXPECT_GE(control_->reads_failed, 10U);
  Behave(*control_);
  EXPECT_EQ(failed(), 0);
}

TEST_F(ShimsTest, ListingsFail) {
  EXPECT_EQ(Run({"ls", folder_.string()}), 0);
  control_->list_errno = EIO;
  EXPECT_NE(Run({"ls", folder_.string()}), 0);
  EXPECT_GE(control_->lists_failed, 1U);
}

TEST_F(ShimsTest, DescriptorsAreRefused) {
  const auto refused = [&](const std::string& arm) {
    EXPECT_EQ(Run({"python3", "-c", "import errno, mmap, os, socket\nrefused = 0\n" + arm + R"(
for make in (lambda: os.open('/etc/passwd', os.O_RDONLY), socket.socket, socket.socketpair):
    try:
        made = make()
    except OSError as e:
        refused += e.errno == errno.ENFILE
os.write(1, b'%d' % refused)
)"}),
              0);
    int count = -1;
    std::ifstream(folder_ / "output") >> count;
    return count;
  };
  EXPECT_EQ(refused(""), 0);
  EXPECT_EQ(control_->descriptors_refused, 0U);
  // The program sets the order itself: without a descriptor it could not start.
  const std::size_t at = offsetof(ShimControl, descriptor_errno);
  EXPECT_EQ(refused("control = mmap.mmap(os.open(os.environ['" + std::string(kShimVariable) +
                    "'], os.O_RDWR), 0)\ncontrol[" + std::to_string(at) + ":" + std::to_string(at + 4) + "] = (" +
                    std::to_string(ENFILE) + ").to_bytes(4, 'little')"),
            3);
  EXPECT_GE(control_->descriptors_refused, 3U);
  Behave(*control_);
  EXPECT_EQ(refused(""), 0);
}

// How many of these calls below the folder fail: make a folder, rename it, write a file, link it, remove the link.
constexpr const char* kChanges = R"(
import os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
file = os.open(sys.argv[1] + '/file', os.O_WRONLY)
failed = []
for name, change in (('mkdir', lambda: os.mkdir('made', dir_fd=folder)),
                     ('rename', lambda: os.rename('made', 'named', src_dir_fd=folder, dst_dir_fd=folder)),
                     ('write', lambda: os.pwrite(file, b'x', 0)),
                     ('link', lambda: os.link('file', 'second', src_dir_fd=folder, dst_dir_fd=folder)),
                     ('unlink', lambda: os.unlink('second', dir_fd=folder)),
                     ('rmdir', lambda: os.rmdir('named', dir_fd=folder))):
    try:
        change()
    except OSError as e:
        failed.append(name + ':' + str(e.errno))
print(','.join(failed))
)";

TEST_F(ShimsTest, ChangesOfFilesFail) {
  std::ofstream(folder_ / "file") << "text";
  const auto failed = [&](int expected = 0) {
    EXPECT_EQ(Run({"python3", "-B", "-c", kChanges, folder_.string()}), expected);
    std::string line;
    std::ifstream output(folder_ / "output");
    std::getline(output, line);
    return line;
  };
  const auto with = [](const std::string& name, int error) { return name + ":" + std::to_string(error); };
  EXPECT_EQ(failed(), "");
  control_->write_errno = EROFS;
  EXPECT_EQ(failed(), with("mkdir", EROFS) + "," + with("rename", EROFS) + "," + with("write", EROFS) + "," +
                          with("link", EROFS) + "," + with("unlink", EROFS) + "," + with("rmdir", EROFS));
  EXPECT_EQ(control_->writes_refused, 6U);
  Behave(*control_);
  control_->create_errno = ENOSPC;
  EXPECT_EQ(failed(), with("mkdir", ENOSPC) + "," + with("rename", ENOENT) + "," + with("rmdir", ENOENT));
  EXPECT_EQ(control_->creations_refused, 1U);
  Behave(*control_);
  control_->nth_errno = EIO;
  control_->nth_call = 3;
  EXPECT_EQ(failed(), with("write", EIO));
  EXPECT_EQ(control_->nth_acted, 1U);
  control_->nth_errno = 0;
  control_->nth_call = 3;
  EXPECT_EQ(failed(kFaultExitCode), "");
  EXPECT_EQ(control_->nth_acted, 2U);
}

TEST_F(ShimsTest, LookUpsOfNamesFailAndNumbersDoNot) {
  const auto finds = [&](const std::string& host) {
    return Run({"python3", "-c", "import socket, sys\nsocket.getaddrinfo(sys.argv[1], 80)", host}) == 0;
  };
  EXPECT_TRUE(finds("localhost"));
  control_->lookup_error = EAI_AGAIN;
  EXPECT_FALSE(finds("localhost"));
  EXPECT_EQ(control_->lookups_failed, 1U);
  EXPECT_TRUE(finds("127.0.0.1"));
}

TEST_F(ShimsTest, SyncsAreSlow) {
  control_->sync_delay_ms = 200;
  const auto begun = SystemClock().Now();
  EXPECT_EQ(SyncAFile(), 0);
  EXPECT_GE(SystemClock().Now() - begun, Millis(200));
  EXPECT_EQ(control_->syncs_delayed, 1U);
}

}  // namespace
}  // namespace ratchet::chaos

// A small ext4 of its own below a directory. The thread that makes it leaves the common mount namespace: only it, and
// what it starts afterwards, sees the files. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/result.h"

namespace ratchet::chaos {

class LoopDisk {
 public:
  // kUnsupported, saying what is missing, where that cannot be done.
  [[nodiscard]] static Result<std::unique_ptr<LoopDisk>> Create(std::filesystem::path image, std::uint64_t bytes,
                                                                std::filesystem::path mount_point);
  ~LoopDisk();  // unmounts; a process that still uses it keeps it until it ends
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  // Writes a file until there is no space left; OK means that the kernel said so. Of that, `leave` bytes are given
  // back.
  [[nodiscard]] Status Fill(std::uint64_t leave = 0);
  // Of what Fill took, so many bytes become free.
  [[nodiscard]] Status GiveBack(std::uint64_t bytes);
  // What the kernel says is left for files.
  [[nodiscard]] Result<std::uint64_t> Left() const;
  [[nodiscard]] Status Free();
  // From now on every access fails, and what was not synced is lost.
  [[nodiscard]] Status FailPower();
  // Everything that used it has ended. What the journal holds is recovered.
  [[nodiscard]] Status MountAgain();

 private:
  LoopDisk(std::filesystem::path image, std::filesystem::path mount_point)
      : image_(std::move(image)), mount_point_(std::move(mount_point)) {}
  [[nodiscard]] Status Mount();

  const std::filesystem::path image_;
  const std::filesystem::path mount_point_;
};

}  // namespace ratchet::chaos

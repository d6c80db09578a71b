// A small ext4 file system in an image file below a directory. The thread that makes it leaves the common mount
// namespace: only this thread, and processes that it starts afterwards, see the files. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/result.h"

namespace ratchet::chaos {

class LoopDisk {
 public:
  // kUnsupported names what is missing on this machine.
  [[nodiscard]] static Result<std::unique_ptr<LoopDisk>> Create(std::filesystem::path image, std::uint64_t bytes,
                                                                std::filesystem::path mount_point);
  ~LoopDisk();  // unmounts; a process that still uses the disk keeps it until it ends
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;

  // Writes a file until the disk is full; OK means that the kernel returned ENOSPC. Then frees `leave` bytes.
  [[nodiscard]] Status Fill(std::uint64_t leave = 0);
  // Frees this number of bytes of the file of Fill.
  [[nodiscard]] Status GiveBack(std::uint64_t bytes);
  // Returns the free space for files according to the kernel.
  [[nodiscard]] Result<std::uint64_t> Left() const;
  [[nodiscard]] Status Free();
  // From now on every access fails, and data that was not synced is lost.
  [[nodiscard]] Status FailPower();
  // From now on every change fails, also of open files, as after an error of ext4. Reads continue.
  [[nodiscard]] Status TurnReadOnly();
  // Mounts the disk again, when all processes that used it have ended. The journal is replayed.
  [[nodiscard]] Status MountAgain();

 private:
  LoopDisk(std::filesystem::path image, std::filesystem::path mount_point)
      : image_(std::move(image)), mount_point_(std::move(mount_point)) {}
  [[nodiscard]] Status Mount();

  const std::filesystem::path image_;
  const std::filesystem::path mount_point_;
};

}  // namespace ratchet::chaos

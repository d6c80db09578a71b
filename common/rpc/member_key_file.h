// Follows cluster.key while the process runs, so that a key can be replaced without a restart: reads the file every few
// seconds, and within a second after a proof failed. A new content is used once it was read twice, so that a file that
// is being written changes nothing. A file that is missing or damaged changes nothing either.
//
// Threads: one of its own, which may hang at the storage without an effect on others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/rpc/member_identity.h"

namespace ratchet::rpc {

class MemberKeyFile {
 public:
  struct Pace {
    Millis look{1'000};         // whether a proof has failed
    Millis read{5'000};         // at the latest
    Millis between_reads{200};  // of the two that must agree
  };
  using Read = std::function<Result<std::vector<std::string>>()>;

  MemberKeyFile(std::shared_ptr<MemberIdentity> identity, Read read, Pace pace);
  MemberKeyFile(std::shared_ptr<MemberIdentity> identity, Read read)
      : MemberKeyFile(std::move(identity), std::move(read), Pace()) {}
  // Waits for a running read.
  ~MemberKeyFile();
  MemberKeyFile(const MemberKeyFile&) = delete;
  MemberKeyFile& operator=(const MemberKeyFile&) = delete;

 private:
  void Run();
  void Follow();
  // False when the object is being destroyed.
  [[nodiscard]] bool Pause(Millis pause);

  const std::shared_ptr<MemberIdentity> identity_;
  const Read read_;
  std::string unread_;  // why the last read failed; only the thread uses it
  const Pace pace_;
  Mutex mutex_;
  CondVar changed_;
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses the others
};

}  // namespace ratchet::rpc

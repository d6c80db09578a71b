// ProtectedStream: the bytes of a connection after a login with the protection auth-int or auth-conf. In both
// directions they are units of a 4-byte length and wrapped bytes; a frame may span units, and a unit may have several.
// Internal.
//
// Thread-safe: the I/O thread opens while another thread seals.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/rpc/frame.h"
#include "common/rpc/gssapi_sasl.h"

namespace ratchet::rpc {

inline constexpr std::size_t kMostSealedUnit = 1u << 20;  // that this side makes, if the client takes it

class ProtectedStream {
 public:
  // kInvalidArgument: the client takes units that are too small.
  [[nodiscard]] static Result<std::unique_ptr<ProtectedStream>> Make(std::unique_ptr<SecurityContext> context,
                                                                     const KerberosLogin& login);

  // Appends the plain bytes of all units that are complete with `bytes` to `plain`. `most`: bytes of a unit. Every
  // error: a unit was changed, repeated, reordered, too large, or not protected as agreed, S156 (the protection is one
  // that both want); the connection must end. One thread.
  [[nodiscard]] Status Open(std::string_view bytes, std::size_t most, std::string& plain);
  // Bytes of units that are not complete. The thread of Open.
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  // The parts, as one sequence of bytes, in units. An error: the connection must end.
  [[nodiscard]] Result<std::string> Seal(const std::vector<std::string_view>& parts);

 private:
  ProtectedStream(std::unique_ptr<SecurityContext> context, bool encrypts, std::size_t plain_of_unit)
      : encrypts_(encrypts), plain_of_unit_(plain_of_unit), context_(std::move(context)) {}
  [[nodiscard]] Status SealUnit(std::string_view plain, std::string& sealed) REQUIRES(mutex_);

  const bool encrypts_;
  const std::size_t plain_of_unit_;
  FrameBuffer pending_{0};
  Mutex mutex_;  // no other one is locked while it is held
  const std::unique_ptr<SecurityContext> context_ PT_GUARDED_BY(mutex_);
};

}  // namespace ratchet::rpc

#include "common/rpc/protected_stream.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"

namespace ratchet::rpc {
namespace {

Error BadUnit(std::string why) { return {Code::kInvalidArgument, std::move(why)}; }

}  // namespace

Result<std::unique_ptr<ProtectedStream>> ProtectedStream::Make(std::unique_ptr<SecurityContext> context,
                                                               const KerberosLogin& login) {
  const bool encrypts = login.protection == Protection::kPrivacy;
  const std::size_t plain = context->PlainLimit(std::min(login.most_unit, kMostSealedUnit), encrypts);
  if (plain == 0) return BadUnit(fmt::format("the client takes units of {} bytes only", login.most_unit));
  return std::unique_ptr<ProtectedStream>(new ProtectedStream(std::move(context), encrypts, plain));
}

Status ProtectedStream::Open(std::string_view bytes, std::size_t most, std::string& plain) {
  pending_.Append(bytes);
  std::string unit;
  for (;;) {
    const FrameBuffer::Cut cut = pending_.Next(unit, most);
    if (cut == FrameBuffer::Cut::kNothing) return Ok();
    if (cut != FrameBuffer::Cut::kFrame)
      return BadUnit(fmt::format("a protected unit of {} bytes; at most {}", ReadBig32(pending_.Peek()), most));
    const MutexLock lock(mutex_);
    RATCHET_ASSIGN(const SecurityContext::Plain opened, context_->Unwrap(unit));
    if (encrypts_ && !opened.encrypted && !RATCHET_MUTANT("rpc.open_what_is_not_encrypted"))
      return BadUnit("a unit that is not encrypted, and the agreed protection is auth-conf");
    plain += opened.bytes;
  }
}

Status ProtectedStream::SealUnit(std::string_view plain, std::string& sealed) {
  RATCHET_ASSIGN(const std::string wrapped, context_->Wrap(plain, encrypts_));
  AppendBig32(static_cast<std::uint32_t>(wrapped.size()), sealed);
  sealed += wrapped;
  return Ok();
}

// Small parts share a unit; a part that fills units by itself is not copied first.
Result<std::string> ProtectedStream::Seal(const std::vector<std::string_view>& parts) {
  std::string sealed;
  std::string gathered;
  const MutexLock lock(mutex_);
  for (std::string_view part : parts) {
    while (!part.empty()) {
      if (gathered.empty() && part.size() >= plain_of_unit_) {
        RATCHET_TRY(SealUnit(part.substr(0, plain_of_unit_), sealed));
        part.remove_prefix(plain_of_unit_);
        continue;
      }
      const std::size_t count = std::min(part.size(), plain_of_unit_ - gathered.size());
      gathered += part.substr(0, count);
      part.remove_prefix(count);
      if (gathered.size() < plain_of_unit_) continue;
      RATCHET_TRY(SealUnit(gathered, sealed));
      gathered.clear();
    }
  }
  if (!gathered.empty()) RATCHET_TRY(SealUnit(gathered, sealed));
  return sealed;
}

}  // namespace ratchet::rpc

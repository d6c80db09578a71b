// RightsHolder: the image of rights by which a region server judges now.
//
// Owned by the process. Thread-safe. Rights never go back (S127: images only rise): an image of an older master, or of
// an earlier change, is refused, so a message that was late cannot bring back a right that was revoked.
#pragma once

#include <memory>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/rights/rights_image.h"

namespace ratchet::rights {

// Where a judge finds the present image. Thread-safe.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  // Null if there is none: then the process may serve no user.
  [[nodiscard]] virtual std::shared_ptr<const RightsImage> image() const = 0;
  // The answer to users while there is none: PleaseHoldException.
  [[nodiscard]] virtual Error WhyNone() const;
};

class RightsHolder final : public ImageSource, public TokenKeySource {
 public:
  // Null until the first image.
  [[nodiscard]] std::shared_ptr<const RightsImage> image() const override {
    const MutexLock lock(mutex_);
    return image_;
  }
  [[nodiscard]] std::shared_ptr<const TokenKeys> token_keys() const override {
    const MutexLock lock(mutex_);
    return image_ == nullptr ? nullptr : image_->token_keys();
  }
  [[nodiscard]] std::shared_ptr<const RevokedTokens> revoked_tokens() const override {
    const MutexLock lock(mutex_);
    return image_ == nullptr ? nullptr : image_->revoked_tokens();
  }
  // False, and nothing changes, if the present image has a higher number. It accepts the same number again.
  [[nodiscard]] bool Take(std::shared_ptr<const RightsImage> image);

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const RightsImage> image_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::rights

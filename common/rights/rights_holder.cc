#include "common/rights/rights_holder.h"

#include <utility>

#include "common/base/check.h"
#include "common/base/exception_names.h"
#include "common/base/mutant.h"

namespace ratchet::rights {

Error ImageSource::WhyNone() const {
  return {Code::kUnavailable, "this process does not have the rights of users yet; try again later",
          std::string(exception::kPleaseHold)};
}

bool RightsHolder::Take(std::shared_ptr<const RightsImage> image) {
  RATCHET_CHECK(image != nullptr, "an image of rights is taken that is none");
  const MutexLock lock(mutex_);
  const bool older = image_ != nullptr && image->number() < image_->number();
  if (older && !RATCHET_MUTANT("rights.go_back")) return false;
  if (image_ == nullptr || image->number() != image_->number()) image_ = std::move(image);
  return true;
}

}  // namespace ratchet::rights

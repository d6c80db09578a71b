#include "chaos/faults/point_order.h"

#include <algorithm>

#include "common/base/fault_point.h"
#include "common/base/setting_value.h"

namespace ratchet::chaos {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

Result<std::uint64_t> ParseSkip(std::string_view text) {
  const auto number = ParseInt(text);
  if (number.ok() && *number >= 0) return static_cast<std::uint64_t>(*number);
  return Error(Code::kInvalidArgument, fmt::format("'{}' after @ must be the number of hits to skip", text));
}

}  // namespace

std::string PointOrder::ToText() const {
  return name + (match.empty() ? "" : "~" + match) + "=" + action + (skip == 0 ? "" : "@" + std::to_string(skip));
}

Result<PointOrder> ParsePoint(std::string_view text) {
  PointOrder order;
  order.action = "crash";
  std::string_view rest = text;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    RATCHET_ASSIGN(order.skip, ParseSkip(rest.substr(at + 1)));
    rest = rest.substr(0, at);
  }
  if (const auto equals = rest.find('='); equals != std::string_view::npos) {
    order.action = rest.substr(equals + 1);
    rest = rest.substr(0, equals);
  }
  if (const auto tilde = rest.find('~'); tilde != std::string_view::npos) {
    order.match = rest.substr(tilde + 1);
    rest = rest.substr(0, tilde);
  }
  order.name = rest;
  const auto names = FaultPoints::Instance().Names();
  if (std::find(names.begin(), names.end(), order.name) == names.end()) {
    return Error(Code::kInvalidArgument, fmt::format("fault point '{}' does not exist; see fault_points.def", rest));
  }
  const bool known = order.action == "crash" || order.action == "fail" || order.action == "pause" ||
                     (StartsWith(order.action, "delay:") && ParseInt(order.action.substr(6)).ok());
  if (!known) {
    return Error(Code::kInvalidArgument,
                 fmt::format("the action '{}' must be crash, fail, pause or delay:MILLISECONDS", order.action));
  }
  return order;
}

Result<PointOrder> ParseStep(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' must be TYPE:STEP, such as ServerCrash:SPLIT_LOG", text));
  }
  PointOrder order{"executor.before_commit", "", "crash", 0};
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    RATCHET_ASSIGN(order.skip, ParseSkip(text.substr(at + 1)));
    text = text.substr(0, at);
  }
  order.match = text;
  return order;
}

}  // namespace ratchet::chaos

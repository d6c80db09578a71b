#include "regionserver/host/online_list.h"

#include "common/model/open_regions_digest.h"
#include "common/model/proto/region_server_status.pb.h"

namespace ratchet::regionserver {

void OnlineList::Opened(const std::string& encoded_name, std::uint64_t open_number) {
  Closed(encoded_name);
  open_[encoded_name] = open_number;
  digest_ += DigestOfOpenRegion(encoded_name, open_number);
}

void OnlineList::Closed(const std::string& encoded_name) {
  changed_.insert(encoded_name);
  const auto known = open_.find(encoded_name);
  if (known == open_.end()) return;
  digest_ -= DigestOfOpenRegion(encoded_name, known->second);
  open_.erase(known);
}

OnlineList::List OnlineList::Next() {
  List list;
  list.number = ++number_;
  list.base = acknowledged_;
  list.size = open_.size();
  list.digest = digest_;
  sent_.merge(changed_);
  changed_.clear();
  if (list.base == 0) {
    list.open.assign(open_.begin(), open_.end());
    sent_.clear();  // the next list builds on this one, or is a full one
    return list;
  }
  for (const std::string& name : sent_) {
    const auto known = open_.find(name);
    if (known == open_.end()) {
      list.closed.push_back(name);
    } else {
      list.open.push_back(*known);
    }
  }
  return list;
}

void OnlineList::Answered(std::uint64_t taken) {
  acknowledged_ = taken == number_ ? taken : 0;
  if (acknowledged_ != 0) sent_.clear();
}

void FillList(const OnlineList::List& list, hbase::pb::RegionServerReportRequest& request) {
  request.set_list_number(list.number);
  if (list.base != 0) request.set_list_base(list.base);
  request.set_list_size(list.size);
  request.set_list_digest(list.digest);
  for (const auto& [name, open_number] : list.open) {
    auto& online = *request.add_online();
    online.set_encoded_name(name);
    online.set_open_number(open_number);
  }
  for (const std::string& name : list.closed) request.add_closed(name);
}

}  // namespace ratchet::regionserver

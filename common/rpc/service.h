// A named table of methods that a server offers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/model/message_limits.h"
#include "common/rpc/call.h"
#include "common/rpc/method.h"
#include "common/rpc/method_stats.h"

namespace ratchet::rpc {

struct MethodOptions {
  QueueClass queue = QueueClass::kData;
  // Only for the cluster's own processes (S77: members only); requests of others are refused before the call is queued.
  bool members_only = false;
};

// Register all methods before the server starts; constant afterwards. Method names are matched exactly.
class Service {
 public:
  using MessagePtr = std::shared_ptr<google::protobuf::MessageLite>;
  struct Entry {
    MethodOptions options;
    std::function<MessagePtr()> new_request;
    const MessageShape* shape = nullptr;  // of the request
    // Chooses the queue once the request is known (e.g. a read of hbase:meta); may be empty.
    std::function<QueueClass(const CallContext&, const google::protobuf::MessageLite&)> classify;
    std::function<void(const CallContext&, const google::protobuf::MessageLite&, std::string_view, RawResponder)> run;
    std::shared_ptr<MethodStats> stats = std::make_shared<MethodStats>();
  };

  // `name`: simple name of the protobuf service, e.g. "ClientService".
  explicit Service(std::string_view name) : name_(name) {}

  // `method`: a method of this service. `handler`: void(const CallContext&, const Request&, std::string_view cells,
  // Responder<Response>). It runs on a handler thread of the method's class; it may block, or keep the responder and
  // answer later. An exception from it is answered as an internal error.
  template <class Request, class Response, class Handler>
  Service& On(const Method<Request, Response>& method, Handler handler, MethodOptions options = {}) {
    RATCHET_CHECK(method.service == name_, "a method of another service is registered");
    Entry entry;
    entry.options = options;
    entry.new_request = [] { return std::make_shared<Request>(); };
    entry.shape = &ShapeOf(*Request::descriptor());
    entry.run = [handler = std::move(handler)](const CallContext& context, const google::protobuf::MessageLite& request,
                                               std::string_view cells, RawResponder responder) {
      handler(context, static_cast<const Request&>(request), cells, Responder<Response>(std::move(responder)));
    };
    methods_[std::string(method.name)] = std::move(entry);
    return *this;
  }

  // `choose`: QueueClass(const CallContext&, const Request&). The method must be registered already.
  template <class Request, class Response, class Choose>
  Service& ClassifyBy(const Method<Request, Response>& method, Choose choose) {
    methods_.at(std::string(method.name)).classify =
        [choose = std::move(choose)](const CallContext& context, const google::protobuf::MessageLite& request) {
          return choose(context, static_cast<const Request&>(request));
        };
    return *this;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<std::string> MethodNames() const {
    std::vector<std::string> names;
    for (const auto& [name, method] : methods_) names.push_back(name);
    return names;
  }
  // `visit`: void(const std::string& name, const MethodStats&), by name.
  template <class Visit>
  void VisitStats(Visit visit) const {
    for (const auto& [name, method] : methods_) visit(name, *method.stats);
  }
  // nullptr when there is no such method.
  [[nodiscard]] const Entry* Find(std::string_view method) const {
    const auto found = methods_.find(method);
    return found == methods_.end() ? nullptr : &found->second;
  }

 private:
  const std::string name_;
  std::map<std::string, Entry, std::less<>> methods_;
};

}  // namespace ratchet::rpc

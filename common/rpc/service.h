// A named table of methods that a server offers.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/arena.h>

#include "common/base/check.h"
#include "common/base/result.h"
#include "common/model/message_limits.h"
#include "common/rights/need.h"
#include "common/rpc/call.h"
#include "common/rpc/method.h"
#include "common/rpc/method_stats.h"

namespace ratchet::rights {
class Judge;  // common/rights/judge.h
}  // namespace ratchet::rights

namespace ratchet::rpc {

struct MethodOptions {
  QueueClass queue = QueueClass::kData;
};

// Register all methods before the server starts; constant afterwards. Method names are matched exactly.
class Service {
 public:
  using MessagePtr = std::shared_ptr<google::protobuf::MessageLite>;
  struct Entry {
    explicit Entry(rights::Need its_need) : need(its_need) {}
    // Requests of others than members are refused before the call is queued, if the need is so.
    const rights::Need need;
    MethodOptions options;
    Effect effect = Effect::kChanges;
    std::function<MessagePtr()> new_request;
    const MessageShape* shape = nullptr;  // of the request
    // Chooses the queue once the request is known (e.g. a read of hbase:meta); may be empty.
    std::function<QueueClass(const CallContext&, const google::protobuf::MessageLite&)> classify;
    std::function<void(const CallContext&, const google::protobuf::MessageLite&, std::string_view, RawResponder)> run;
    // Answers on the I/O thread, or returns false without a trace: then `run` answers. May be empty.
    std::function<bool(const CallContext&, const google::protobuf::MessageLite&, RawResponder)> at_once;
    // Finds what a request demands, for a need with a target. An error is the answer of the call.
    std::function<Result<rights::Demands>(const CallContext&, const google::protobuf::MessageLite&)> demands;
    std::shared_ptr<MethodStats> stats = std::make_shared<MethodStats>();

    // S130 (one check before each handler): an error if the caller may not make this call. `judge` may be null: then
    // every caller may. Needs of the kinds kFilter and kHandler pass; their handlers judge. `again`: the call was
    // judged before and has waited since, so what was logged of it is not logged again.
    [[nodiscard]] Status Allows(const rights::Judge* judge, const CallContext& context,
                                const google::protobuf::MessageLite& request, bool again = false) const;
  };

  // `name`: simple name of the protobuf service, e.g. "ClientService".
  explicit Service(std::string_view name) : name_(name) {}

  // `method`: a method of this service. `handler`: void(const CallContext&, const Request&, std::string_view cells,
  // Responder<Response>). It runs on a handler thread of the method's class; it may block, or keep the responder and
  // answer later. An exception from it is answered as an internal error.
  template <class Request, class Response, class Handler>
  Service& On(const Method<Request, Response>& method, Handler handler, MethodOptions options = {}) {
    RATCHET_CHECK(method.service == name_, "a method of another service is registered");
    Entry entry(method.need);
    entry.options = options;
    entry.effect = method.effect;
    entry.new_request = [] {
      const auto request = std::make_shared<RequestInArena<Request>>();
      return MessagePtr(request, request->message);
    };
    entry.shape = &ShapeOf(*Request::descriptor());
    entry.run = [handler = std::move(handler)](const CallContext& context, const google::protobuf::MessageLite& request,
                                               std::string_view cells, RawResponder responder) {
      handler(context, static_cast<const Request&>(request), cells, Responder<Response>(std::move(responder)));
    };
    methods_.erase(std::string(method.name));
    methods_.emplace(method.name, std::move(entry));
    return *this;
  }

  // For a method whose need has a target: `find` is (const CallContext&, const Request&) -> rights::Target, or a
  // Result of one, or of a std::vector of them. The need applies to each. The method must be registered already.
  template <class Request, class Response, class Find>
  Service& TargetOf(const Method<Request, Response>& method, Find find) {
    return DemandsOf(method,
                     [find = std::move(find), need = method.need](const CallContext& context,
                                                                  const Request& request) -> Result<rights::Demands> {
                       auto targets = TargetsOf(find(context, request));
                       if (!targets.ok()) return std::move(targets).error();
                       return DemandsFor(need, *targets);
                     });
  }
  // For a need of the kind kRequest: `find` is (const CallContext&, const Request&) -> Result<rights::Demands>. An
  // empty list demands nothing.
  template <class Request, class Response, class Find>
  Service& DemandsOf(const Method<Request, Response>& method, Find find) {
    methods_.at(std::string(method.name)).demands =
        [find = std::move(find)](const CallContext& context,
                                 const google::protobuf::MessageLite& request) -> Result<rights::Demands> {
      return find(context, static_cast<const Request&>(request));
    };
    return *this;
  }
  // Ends the process if a method whose need has a target has no function that finds it.
  void CheckComplete() const;

  // `choose`: QueueClass(const CallContext&, const Request&). The method must be registered already.
  template <class Request, class Response, class Choose>
  Service& ClassifyBy(const Method<Request, Response>& method, Choose choose) {
    methods_.at(std::string(method.name)).classify =
        [choose = std::move(choose)](const CallContext& context, const google::protobuf::MessageLite& request) {
          return choose(context, static_cast<const Request&>(request));
        };
    return *this;
  }

  // `answer`: bool(const CallContext&, const Request&, Responder<Response>). Runs on an I/O thread for calls of kData,
  // up to ServerOptions::at_once_per_turn: it must end soon and never wait for the storage or for another thread. It
  // returns false, and has changed nothing, if the handler has to answer. The method must be registered and classified.
  template <class Request, class Response, class Answer>
  Service& AtOnce(const Method<Request, Response>& method, Answer answer) {
    Entry& entry = methods_.at(std::string(method.name));
    RATCHET_CHECK(static_cast<bool>(entry.classify), "only a classified method is parsed on an I/O thread");
    // The attempt passes Allows by, so it judges itself, as its handler does.
    RATCHET_CHECK(entry.need == rights::Need::ByHandler(), "the attempt would not be judged");
    entry.at_once = [answer = std::move(answer)](const CallContext& context,
                                                 const google::protobuf::MessageLite& request, RawResponder responder) {
      return answer(context, static_cast<const Request&>(request), Responder<Response>(std::move(responder)));
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
  // A request with its parts: small ones need no allocation besides this object.
  template <class Request>
  struct RequestInArena {
    alignas(std::max_align_t) std::array<char, 1'024> first_bytes;
    google::protobuf::Arena arena{first_bytes.data(), first_bytes.size()};
    Request* const message = google::protobuf::Arena::CreateMessage<Request>(&arena);
  };

  static Result<std::vector<rights::Target>> TargetsOf(rights::Target one) {
    return std::vector<rights::Target>{std::move(one)};
  }
  static Result<std::vector<rights::Target>> TargetsOf(Result<rights::Target> one) {
    if (!one.ok()) return std::move(one).error();
    return std::vector<rights::Target>{std::move(*one)};
  }
  static Result<std::vector<rights::Target>> TargetsOf(Result<std::vector<rights::Target>> all) { return all; }
  // Without a target the need applies everywhere.
  static rights::Demands DemandsFor(rights::Need need, const std::vector<rights::Target>& targets);

  const std::string name_;
  std::map<std::string, Entry, std::less<>> methods_;
};

}  // namespace ratchet::rpc

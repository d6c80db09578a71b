// Lists every method that a master or a region server may serve, from the message definitions: a method Foo has a
// FooRequest. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace ratchet::chaos {

struct HostileMethod {
  std::string name;  // the name on the wire
  const google::protobuf::Descriptor* request = nullptr;
};

// Returns the services of the processes. Each method is called on each service, because a refusal is an answer, too.
[[nodiscard]] const std::vector<std::string>& HostileServices();
// Returns the methods except those that end a process, stop a cluster, or are an operator's pauses and locks: these are
// legal, so the cluster would execute them.
[[nodiscard]] const std::vector<HostileMethod>& HostileMethods();
// Returns true for the methods that are left out.
[[nodiscard]] bool IsLeftOut(std::string_view method);

}  // namespace ratchet::chaos

// Every method that a master or a region server may serve, read from the message definitions: a method Foo takes a
// FooRequest. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/descriptor.h>

namespace ratchet::chaos {

struct HostileMethod {
  std::string name;  // as it is called on the wire
  const google::protobuf::Descriptor* request = nullptr;
};

// Which services a process has; each method is asked of each of them, since a refusal is an answer, too.
[[nodiscard]] const std::vector<std::string>& HostileServices();
// Without those that end a process or stop a cluster when they are understood, and without the operator's pauses and
// locks: an administrator may do these, and the cluster would do as it is told.
[[nodiscard]] const std::vector<HostileMethod>& HostileMethods();
// The methods that are left out.
[[nodiscard]] bool IsLeftOut(std::string_view method);

}  // namespace ratchet::chaos

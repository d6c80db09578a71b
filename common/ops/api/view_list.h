// The JSON views: for each its path, its parameters, the command that shows the same, and the function that runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/http/http_request.h"
#include "common/tools/cli/views.h"

namespace ratchet::api {

struct View {
  std::string_view name;        // the part after "/api/v1/"; a name that ends in "/" takes one more part of the path
  std::string_view command;     // "ratchet procedure PID"
  std::string_view parameters;  // "all=1, limit, offset"; empty: none
  std::string_view what;        // one sentence for the list of views
  bool of_regions = false;      // shows servers, tables, regions, or facts that only a master keeps
  bool of_active = true;        // a standby asks the active master; false: it answers itself
  // Prints into the session's Printed, and returns the exit code of the command. kInvalidArgument: the request is
  // wrong.
  std::function<Result<int>(cli::Session& session, const http::HttpRequest& request, const std::string& part)> run;
};

[[nodiscard]] const std::vector<View>& Views();
// Returns the view of a path after "/api/v1/", and the rest of the path. Null: there is no such view.
[[nodiscard]] const View* FindView(std::string_view path, std::string* part);

inline constexpr std::uint64_t kRowsByDefault = 1'000;
inline constexpr std::uint64_t kMostRows = 10'000;
inline constexpr std::uint32_t kMostListed = 100'000;  // maximum number of procedures in one answer

}  // namespace ratchet::api

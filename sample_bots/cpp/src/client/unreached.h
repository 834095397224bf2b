#pragma once

#include <optional>
#include <string>

#include "client/options.h"

namespace bigtwo {

/// Says in plain words why nobody can be reached at an address, as gRPC only repeats what the last layer said; none where
/// that does not show.
std::optional<std::string> why_unreached(const std::string& address, const std::optional<Tls>& tls);

}  // namespace bigtwo

// How a traced process connects to rocetrace.
#pragma once

namespace tracelog {

/// The path of the Unix socket (SOCK_SEQPACKET) at which rocetrace takes the descriptor of a
/// process's shared memory. A process without this variable is not traced.
constexpr const char* socket_variable = "ROCETRACE_SOCKET";
/// The categories that are logged, as a number (record.hpp, Category). Default: all.
constexpr const char* only_variable = "ROCETRACE_ONLY";
/// The size of one thread's ring in MiB, a power of two.
constexpr const char* buffer_variable = "ROCETRACE_BUFFER";

}  // namespace tracelog

import Foundation

/// Each connection is an open file, and the limit that a process begins with is often 1,024.
enum OpenFiles {
    /// Raises the limit as far as it may be raised.
    static func raise(for scenario: Scenario) {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        let wanted = rlim_t(scenario.calls * scenario.membersPerCall * 2 + 1_000)
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, min(wanted, 65_536)))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

internal import CLibwebsockets
internal import Glibc
internal import Synchronization

/// How a loop is set up.
package struct LoopSettings: Sendable {
    /// The server's certificate; nil for a loop that only connects to others.
    package var server: TLSFiles?
    /// Which servers outgoing connections trust; nil for a loop that only serves.
    package var client: ClientTrust?
    /// Limits connections of clients and proxies in all states; beyond it a new one is closed as soon as it is accepted.
    package var quota: ConnectionQuota
    /// The same for health checks and metrics, which work when there are too many clients.
    package var operationsQuota: ConnectionQuota
    /// How long a peer may take for TLS, and again for its request, in seconds.
    package var handshakeSecondsMax: Int
    /// The peers that are trusted at listeners for proxies.
    package var proxies: ProxyTrust
    /// Nil: libwebsockets and OpenSSL do everything.
    package var recordLayer: (any RecordLayer)?

    package init(
        server: TLSFiles? = nil, client: ClientTrust? = nil, quota: ConnectionQuota = ConnectionQuota(limit: 60_000),
        operationsQuota: ConnectionQuota = ConnectionQuota(limit: 64), handshakeSecondsMax: Int = 10, proxies: ProxyTrust = ProxyTrust(),
        recordLayer: (any RecordLayer)? = nil
    ) {
        self.server = server
        self.client = client
        self.quota = quota
        self.operationsQuota = operationsQuota
        self.handshakeSecondsMax = handshakeSecondsMax
        self.proxies = proxies
        self.recordLayer = recordLayer
    }

    func quota(of entrance: Entrance) -> ConnectionQuota {
        entrance == .operations ? operationsQuota : quota
    }
}

/// Which servers a client trusts.
package enum ClientTrust: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// The system's authorities and those in this PEM file.
    case authority(path: String)
    /// All: for experiments with self-signed certificates only.
    case anybody
}

/// A limit on concurrent connections, over all loops that share it.
package final class ConnectionQuota: Sendable {
    package let limit: Int
    private let taken = Atomic(0)

    package init(limit: Int) {
        self.limit = limit
    }

    /// Counts a connection.
    ///
    /// - Returns: false if the limit is reached.
    func take() -> Bool {
        guard taken.add(1, ordering: .relaxed).newValue > limit else { return true }
        giveBack()
        return false
    }

    func giveBack() {
        taken.subtract(1, ordering: .relaxed)
    }
}

/// The processors that this process may use.
package enum Processors {
    /// How many the process is allowed on (`taskset`, cpusets), which may be fewer than the machine has.
    package static var usable: Int {
        var set = [UInt64](repeating: 0, count: 128)
        let isKnown = unsafe set.withUnsafeMutableBytes { unsafe patchbay_affinity($0.baseAddress, UInt($0.count)) == 0 }
        return max(1, isKnown ? set.reduce(0) { $0 + $1.nonzeroBitCount } : sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }
}

/// The limit on open files (`RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// Raises the soft limit to the hard limit. The soft limit is low (often 1,024) for programs that use `select`, which we do not.
    ///
    /// - Returns: the soft limit now in force.
    @discardableResult
    package static func raise() -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return UInt64(isRaised ? limit.rlim_cur : before)
    }
}

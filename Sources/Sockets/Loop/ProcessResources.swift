internal import CLibwebsockets
internal import Glibc

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
    /// More connections than one process can serve. With a limit over 10,000,000, as in some containers, libwebsockets makes do with 2,560 descriptors.
    private static let softMax: rlim_t = 1 << 20

    static func soft(below hard: rlim_t) -> rlim_t { min(hard, softMax) }

    /// Sets the soft limit to the hard limit, at most to `softMax`. By default it is low (often 1,024) for programs that use `select`, which
    /// we do not.
    ///
    /// - Returns: the soft limit now in force.
    @discardableResult
    package static func raise() -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        let before = limit.rlim_cur
        limit.rlim_cur = soft(below: limit.rlim_max)
        let isRaised = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return UInt64(isRaised ? limit.rlim_cur : before)
    }
}

/// The heap of `malloc`, of which glibc keeps freed memory for reuse (malloc_trim(3), mallinfo2(3)).
///
/// `usedBytes` and `trim` lock one arena after the other and walk its free chunks; never call them on a shard's thread.
package enum HeapMemory {
    /// Lets threads share one arena per processor instead of the eight per processor that glibc allows (mallopt(3)). Each arena keeps free
    /// memory of its own: in thousands of short calls, resident memory grew by 5 % with 14 arenas and by less than 1 % with two.
    ///
    /// Call it before threads are started: an arena that exists stays.
    ///
    /// - Returns: whether glibc accepted the limit.
    @discardableResult
    package static func limitArenas() -> Bool { patchbay_limit_arenas(Int32(Processors.usable)) == 1 }

    /// Bytes that are allocated and not freed.
    package static var usedBytes: Int { Int(patchbay_heap_used()) }

    /// Returns free pages to the system, also those between allocations.
    package static func trim() { _ = patchbay_heap_trim() }
}

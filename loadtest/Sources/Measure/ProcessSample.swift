import Foundation

/// What a process has used so far, as the kernel tells.
struct ProcessSample: Sendable, Hashable {
    /// CPU time of all its threads, in nanoseconds.
    var cpu: UInt64
    /// Resident memory, in bytes.
    var resident: UInt64

    /// - Parameter pid: nil for ourselves.
    /// - Returns: nil if there is no such process.
    init?(pid: Int32?) {
        var clock = CLOCK_PROCESS_CPUTIME_ID
        // The process's CPU clock and not /proc/PID/stat, whose ticks are 10 ms.
        if let pid, clock_getcpuclockid(pid, &clock) != 0 { return nil }
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return nil }
        cpu = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        let path = "/proc/\(pid.map(String.init) ?? "self")/statm"
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let fields = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = UInt64(fields[1]) else { return nil }
        resident = pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}

internal import Foundation

/// The kernel's statistics of this process, for Prometheus's metrics `process_…`.
struct ProcessStatistics {
    /// User and system time of all threads.
    let cpuSeconds: Double
    let residentBytes: Int
    let virtualBytes: Int
    let openDescriptors: Int
    /// The soft limit.
    let descriptorsMax: Int
    /// In seconds since 1970.
    let startTime: Double

    /// Nil if `/proc` cannot be read.
    init?() {
        var time = timespec()
        var limit = rlimit()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0,
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
            let pages = Self.fields(of: "/proc/self/statm"), pages.count > 1, let virtual = Int(pages[0]), let resident = Int(pages[1]),
            let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count,
            let start = Self.startTime
        else { return nil }
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        cpuSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        residentBytes = resident * pageSize
        virtualBytes = virtual * pageSize
        // Without the one that reads the directory.
        openDescriptors = descriptors - 1
        descriptorsMax = Int(clamping: limit.rlim_cur)
        startTime = start
    }

    /// Resident memory that is not part of a file; nil if `/proc` cannot be read.
    static var anonymousBytes: Int? {
        guard let pages = fields(of: "/proc/self/statm"), pages.count > 2, let resident = Int(pages[1]), let shared = Int(pages[2]) else {
            return nil
        }
        return (resident - shared) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// The kernel's start time of the process (proc(5), `starttime`) after the boot (`btime`).
    private static let startTime: Double? = {
        // The second field is the program's name in brackets, which may contain blanks.
        guard let stat = text(of: "/proc/self/stat"), let end = stat.lastIndex(of: ")"),
            let boot = text(of: "/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") })?.dropFirst(6)
        else { return nil }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 20, let ticks = Double(fields[20]), let bootTime = Double(boot) else { return nil }
        return bootTime + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func fields(of path: String) -> [Substring]? { text(of: path)?.split(separator: " ") }

    private static func text(of path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

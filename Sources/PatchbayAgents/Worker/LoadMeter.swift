internal import Foundation
internal import Wire

/// The CPU load of this process: the part of all processors' time that it used since the last reading.
struct LoadMeter {
    private let processors: Int
    private var last: (time: Instant, seconds: Double)?

    /// - Parameter processors: the processors that the process may use.
    init(processors: Int = ProcessInfo.processInfo.activeProcessorCount) {
        self.processors = max(1, processors)
    }

    /// - Parameters:
    ///   - seconds: CPU time that the process has used so far.
    /// - Returns: 0 to 1; 0 at the first reading.
    mutating func load(at now: Instant, seconds: Double) -> Double {
        defer { last = (now, seconds) }
        guard let last, now > last.time else { return 0 }
        let passed = Double((now - last.time).inNanoseconds) / 1e9
        return min(1, max(0, (seconds - last.seconds) / (passed * Double(processors))))
    }

    /// CPU time of this process, all threads together. Helper processes are not included.
    static var processSeconds: Double {
        // POSIX fixes CLOCKS_PER_SEC at a million.
        Double(clock()) / 1_000_000
    }
}

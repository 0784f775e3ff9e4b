internal import Foundation
internal import Wire

/// The CPU load of this process: the part of all processors' time that it used since the last reading.
struct LoadMeter {
    private let processors: Int
    /// The load at the latest measurement, 0 to 1.
    private(set) var load = 0.0
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

    /// - Parameter reading: replaces the process's CPU time.
    mutating func measure(at now: Instant, with reading: (() -> Double)?) {
        load = reading?() ?? load(at: now, seconds: Self.processSeconds)
    }

    /// CPU time of this process, all threads together. Helper processes are not included.
    private static var processSeconds: Double {
        // POSIX fixes CLOCKS_PER_SEC at a million.
        Double(clock()) / 1_000_000
    }
}

import Synchronization
import Wire

/// Measures the latency added by the gateway: from sending a frame to reading it from the subscriber's socket, on one clock.
///
/// Assumes that the n-th frame sent is the n-th received, so the result is meaningless if frames are lost.
final class FrameStopwatch: Sendable {
    enum Way: Int, CaseIterable {
        case toAssistant, toUser
    }

    private struct Moments {
        var left: [Instant] = []
        var arrived: [Instant] = []
    }

    private let moments = Mutex([Moments](repeating: Moments(), count: Way.allCases.count))

    func left(at moment: Instant, on way: Way) {
        moments.withLock { $0[way.rawValue].left.append(moment) }
    }

    func arrived(at moment: Instant, on way: Way) {
        moments.withLock { $0[way.rawValue].arrived.append(moment) }
    }

    func framesArrived(on way: Way) -> Int {
        moments.withLock { $0[way.rawValue].arrived.count }
    }

    /// The delays in one direction, shortest first.
    func delays(on way: Way) -> [Duration] {
        moments.withLock { moments in zip(moments[way.rawValue].left, moments[way.rawValue].arrived).map { $1 - $0 } }.sorted()
    }
}

extension [Duration] {
    /// The nearest-rank percentile of sorted durations, in milliseconds; 0 if there are none.
    func percentile(_ percent: Int) -> Double {
        guard !isEmpty else { return 0 }
        let rank = Swift.max(1, (count * percent + 99) / 100)
        return Double(self[rank - 1].inNanoseconds) / 1e6
    }
}

import Synchronization
import Testing

/// Plays audio in real time, and expects no fault. An attempt in which this process itself was late is repeated, at most twice.
///
/// - Parameter attempt: returns what is wrong with what was heard; nil if nothing is.
func repeatingWhileLate(
    sourceLocation: SourceLocation = #_sourceLocation, _ attempt: () async throws -> String?
) async throws {
    for number in 1...3 {
        let probe = LatenessProbe()
        let watching = Task { await probe.run() }
        defer { watching.cancel() }
        guard let fault = try await attempt() else { return }
        if probe.most > .milliseconds(20), number < 3 { continue }
        Issue.record("\(fault), while the process was \(probe.most) late", sourceLocation: sourceLocation)
        return
    }
}

/// Measures how late a task is resumed, at most.
private final class LatenessProbe: Sendable {
    private let state = Mutex(Duration.zero)
    var most: Duration { state.withLock { $0 } }

    func run() async {
        while !Task.isCancelled {
            let due = ContinuousClock.now + .milliseconds(5)
            try? await Task.sleep(until: due)
            state.withLock { $0 = max($0, .now - due) }
        }
    }
}

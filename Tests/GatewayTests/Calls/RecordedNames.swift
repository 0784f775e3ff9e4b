import Synchronization

/// Collects names from any thread, in order.
final class RecordedNames: Sendable {
    private let recorded = Mutex<[String]>([])

    var names: [String] { recorded.withLock { $0 } }

    func note(_ name: String) { recorded.withLock { $0.append(name) } }
}

import Synchronization

/// Words that others leave, in their order.
final class Told: Sendable {
    private let words = Mutex<[String]>([])

    var names: [String] { words.withLock { $0 } }

    func note(_ word: String) { words.withLock { $0.append(word) } }
}

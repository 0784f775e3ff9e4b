import Foundation
import Synchronization

/// Ctrl-C ends what is measured and still reports; a second one ends the process at once.
enum Interruption {
    private static let asked = Atomic(false)

    static var isAsked: Bool { asked.load(ordering: .relaxed) }

    static func watch() {
        signal(SIGINT) { _ in
            Interruption.asked.store(true, ordering: .relaxed)
            signal(SIGINT, SIG_DFL)
        }
    }
}

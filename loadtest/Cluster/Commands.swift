import Foundation
import Synchronization

/// The lines of standard input, which a thread reads.
final class Commands: Sendable {
    enum Command: Sendable {
        case mark(String, nodes: [String])
        /// Connects to none of these nodes, as behind a load balancer that has noticed that they drain.
        case avoid(nodes: [String])
        case end
    }

    private let waiting = Mutex<[Command]>([])

    /// - Parameter endsWithInput: whether the end of the input is the command `end`.
    init(endsWithInput: Bool) {
        let thread = Thread { [self] in
            while let line = readLine() {
                guard let command = Self.command(line) else { continue }
                waiting.withLock { $0.append(command) }
                // exit(3) waits for the lock of the standard input, which a blocked reader holds (glibc 2.41).
                if case .end = command { return }
            }
            if endsWithInput { waiting.withLock { $0.append(.end) } }
        }
        thread.name = "commands"
        thread.start()
    }

    /// The commands that have been read since the last call.
    func take() -> [Command] {
        waiting.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    private static func command(_ line: String) -> Command? {
        let words = line.split(separator: " ").map(String.init)
        return switch words.first {
        case "mark" where words.count > 1: .mark(words[1], nodes: Array(words.dropFirst(2)))
        case "avoid": .avoid(nodes: Array(words.dropFirst()))
        case "end": .end
        default: nil
        }
    }
}

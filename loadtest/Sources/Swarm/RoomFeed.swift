import Foundation
import Synchronization

/// Rooms for calls whose tokens another program makes, for example a backend that starts sessions: one JSON object per line,
/// `{"tokens":["…","…"]}`, with a token for each member of the call. A thread reads them from a file or pipe, as fast as they are written.
final class RoomFeed: Sendable {
    private struct State {
        var waiting: [[String]] = []
        var isComplete = false
        var problem: String?
    }

    private struct Line: Decodable {
        var tokens: [String]
    }

    private let state = Mutex(State())
    private let membersPerCall: Int

    /// - Parameter path: a file or named pipe; `-` is standard input.
    /// - Throws: `UsageError` if it cannot be opened.
    init(_ path: String, membersPerCall: Int) throws(UsageError) {
        self.membersPerCall = membersPerCall
        guard let stream = path == "-" ? stdinStream() : fopen(path, "r") else {
            throw UsageError("--rooms \(path): the file cannot be read; check the path and its permissions")
        }
        // Used by this thread only.
        nonisolated(unsafe) let lines = stream
        let thread = Thread { self.read(lines) }
        thread.name = "rooms"
        thread.start()
    }

    /// The tokens of the next call's members; nil if none have been read yet, or there are no more.
    func next() -> [String]? {
        state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    }

    /// Everything was read and handed out.
    var isExhausted: Bool { state.withLock { $0.isComplete && $0.waiting.isEmpty } }

    /// The first line that could not be used.
    var problem: String? { state.withLock(\.problem) }

    private func read(_ stream: UnsafeMutablePointer<FILE>) {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, stream) > 0, let text = line.map({ String(cString: $0) }) {
            let tokens = (try? JSONDecoder().decode(Line.self, from: Data(text.utf8)))?.tokens ?? []
            state.withLock { state in
                if tokens.count == membersPerCall {
                    state.waiting.append(tokens)
                } else if state.problem == nil {
                    state.problem = "a line of --rooms is not {\"tokens\":[…]} with \(membersPerCall) tokens"
                }
            }
        }
        state.withLock { $0.isComplete = true }
    }
}

/// `stdin` is a mutable global of C, which Swift does not let concurrent code read.
private func stdinStream() -> UnsafeMutablePointer<FILE>? { fdopen(STDIN_FILENO, "r") }

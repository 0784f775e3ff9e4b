import Foundation
import Synchronization

/// A program whose output is read while it runs; each line has its arrival time.
final class RunningProgram: Sendable {
    struct Line {
        var text: String
        var at: ContinuousClock.Instant
    }

    private struct State {
        var lines: [Line] = []
        var isOver = false
        var waiters: [(isMet: @Sendable ([Line]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let pid: Int32

    init(_ process: Process) throws {
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        pid = process.processIdentifier
        Thread.detachNewThread { [self] in
            var rest = Data()
            // `read(upToCount:)` would wait for all of it.
            while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    took(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = rest[rest.index(after: end)...]
                }
            }
            process.waitUntilExit()
            finished()
        }
    }

    var lines: [Line] { state.withLock { $0.lines } }

    /// Waits until the lines are as wanted, or there will be no more.
    func waits(until isMet: @escaping @Sendable ([Line]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.isOver || isMet(state.lines) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    /// Waits until the program has ended.
    func ends() async {
        await waits { _ in false }
    }

    /// The first signal requests the end, the second forces it.
    func stop(times: Int = 1) {
        for _ in 0..<times where !state.withLock(\.isOver) { kill(pid, SIGTERM) }
    }

    private func took(_ line: String) {
        change { $0.lines.append(Line(text: line, at: .now)) }
    }

    private func finished() {
        change { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> Void) {
        let met = state.withLock { state in
            body(&state)
            let (isOver, lines) = (state.isOver, state.lines)
            let met = state.waiters.filter { isOver || $0.isMet(lines) }
            state.waiters.removeAll { isOver || $0.isMet(lines) }
            return met
        }
        for waiter in met { waiter.continuation.resume() }
    }
}

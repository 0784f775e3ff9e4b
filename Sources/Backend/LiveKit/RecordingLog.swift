internal import Engine
internal import Synchronization
internal import Wire

/// The recordings in progress and the latest finished ones, for LiveKit's Egress service. In memory; readable from any thread.
package final class RecordingLog: Sendable {
    struct Entry: Sendable {
        let id: RecordingID
        let room: RoomInfo
        /// In milliseconds since 1970.
        let startedAt: Int64
        /// Nil while it is in progress.
        var endedAt: Int64?
        var end: RecordingEnd?
        /// Of the tracks whose recording is complete.
        var files: [RecordedFile] = []
    }

    /// Finished recordings that are kept.
    static let finishedMax = 1_000

    private struct State {
        var active: [RecordingID: Entry] = [:]
        var finished = RecentList<RecordingID, Entry>(limit: finishedMax)

        mutating func change(_ id: RecordingID, _ body: (inout Entry) -> Void) {
            if active[id] != nil {
                body(&active[id]!)
            } else {
                finished.change(id) { body(&$0) }
            }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes an event of a room. Others than those of recordings are ignored.
    package func note(_ event: RoomAuditEvent) {
        switch event.event {
        case .room(.recordingStarted(let id)):
            let entry = Entry(id: id, room: event.room.info, startedAt: event.at)
            state.withLock { $0.active[id] = entry }
        case .room(.recordingStopped(let id, let end)): finish(id, end, at: event.at)
        case .recorded(let file):
            state.withLock { $0.change(file.recording) { $0.files.append(file) } }
        default: break
        }
    }

    private func finish(_ id: RecordingID, _ end: RecordingEnd, at time: Int64) {
        state.withLock { state in
            guard var entry = state.active.removeValue(forKey: id) else { return }
            (entry.endedAt, entry.end) = (time, end)
            state.finished.append(entry, as: id, at: time)
        }
    }

    /// The recordings in progress, then the finished ones; each the oldest first.
    var entries: [Entry] {
        state.withLock { state in
            state.active.values.sorted { $0.startedAt < $1.startedAt } + state.finished.entries.map(\.value)
        }
    }
}

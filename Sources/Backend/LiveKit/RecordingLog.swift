internal import Engine
internal import Synchronization
package import Wire

/// This node's recordings in progress and its latest finished ones, for LiveKit's Egress service. In memory; readable from any thread.
package final class RecordingLog: Sendable {
    /// Nodes of a cluster exchange entries (`NodeQuery.recordings`).
    struct Entry: Sendable, Codable {
        struct File: Sendable, Codable {
            let name: String
            /// In milliseconds since 1970.
            let startedAt: Int64
            let milliseconds: Int64
            let byteCount: Int
        }

        let id: RecordingID
        let room: RoomSID
        let roomName: String
        /// In milliseconds since 1970.
        let startedAt: Int64
        /// Nil while it is in progress.
        var endedAt: Int64?
        var end: RecordingEnd?
        /// Of the tracks whose recording is complete.
        var files: [File] = []
    }

    /// Recordings in progress that are kept: the latest ones.
    static let activeMax = 10_000
    /// Finished recordings that are kept.
    static let finishedMax = 1_000
    /// Files of a recording that are kept.
    static let filesMax = 1_000

    private struct State {
        var active: [RecordingID: Entry] = [:]
        var finished = RecentList<RecordingID, Entry>(limit: finishedMax)

        mutating func begin(_ entry: Entry) {
            if active.count == activeMax, let oldest = active.values.min(by: { $0.startedAt < $1.startedAt }) { active[oldest.id] = nil }
            active[entry.id] = entry
        }

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
            let entry = Entry(id: id, room: event.room.info.sid, roomName: event.room.info.name, startedAt: event.at)
            state.withLock { $0.begin(entry) }
        case .room(.recordingStopped(let id, let end)): finish(id, end, at: event.at)
        case .recorded(let file):
            state.withLock { state in
                state.change(file.recording) { if $0.files.count < Self.filesMax { $0.files.append(Entry.File(file)) } }
            }
        default: break
        }
    }

    /// Ends a recording, also without an event: the room of a node that is not its home any more reports none.
    package func finish(_ id: RecordingID, _ end: RecordingEnd, at time: Int64) {
        state.withLock { state in
            guard var entry = state.active.removeValue(forKey: id) else { return }
            (entry.endedAt, entry.end) = (time, end)
            state.finished.append(entry, as: id, at: time)
        }
    }

    /// Sorted (`inOrder`).
    var entries: [Entry] { state.withLock { Array($0.active.values) + $0.finished.entries.map(\.value) }.inOrder }
}

extension [RecordingLog.Entry] {
    /// The recordings in progress, then the finished ones; each the oldest first.
    var inOrder: [RecordingLog.Entry] { sorted { ($0.endedAt ?? 0, $0.startedAt) < ($1.endedAt ?? 0, $1.startedAt) } }
}

extension RecordingLog.Entry.File {
    fileprivate init(_ file: RecordedFile) {
        (name, startedAt, milliseconds, byteCount) = (file.name, file.startedAt, file.milliseconds, file.byteCount)
    }
}

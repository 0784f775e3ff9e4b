package import Engine
internal import Foundation
internal import Logging
internal import Synchronization
internal import Wire

/// Writes recordings on its own thread, which collects the shards' frames five times a second.
///
/// If a file cannot be written, the room's recording stops and its participants are notified; the call continues.
package final class Recorder: Sendable {
    private static let pause = 0.2

    private struct State {
        var tracks: [Key: RecordedTrack] = [:]
        var isEnding = false
        var hasEnded = true
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// A track may be recorded again before its previous file is finished.
    private struct Key: Hashable {
        let recording: RecordingID
        let track: TrackSID

        init(_ tap: Room.RecordingTap) {
            recording = tap.recording
            track = tap.track.sid
        }
    }

    private let store: any RecordingStore
    private let auditEvents: AuditEventQueue?
    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)
    private let log = Logger(label: "patchbay.recorder")

    package init(store: any RecordingStore, auditEvents: AuditEventQueue?) {
        self.store = store
        self.auditEvents = auditEvents
    }

    // MARK: Called by shards

    /// The buffer for a track's frames. Returns the same one after the track has moved to another shard.
    package func track(_ tap: Room.RecordingTap) -> RecordedTrack {
        let track = state.withLock { state in
            if let known = state.tracks[Key(tap)] { return known }
            let track = RecordedTrack(tap)
            state.tracks[Key(tap)] = track
            return track
        }
        bell.signal()
        return track
    }

    /// Ends the recording of a track.
    package func end(_ track: RecordedTrack) {
        track.end()
        bell.signal()
    }

    // MARK: Recorder thread

    /// - Parameter reportFailure: called on the recorder's thread with a track that can no longer be written.
    package func start(reportFailure: @escaping @Sendable (Room.RecordingTap) -> Void) {
        state.withLock { $0.hasEnded = false }
        let thread = Thread { self.run(reportFailure) }
        thread.name = "recorder"
        thread.start()
    }

    /// Stops the thread after all frames are written.
    package func finish() async {
        await withCheckedContinuation { continuation in
            defer { bell.signal() }
            let isOver = state.withLock { state in
                state.isEnding = true
                if !state.hasEnded { state.waiters.append(continuation) }
                return state.hasEnded
            }
            if isOver { continuation.resume() }
        }
    }

    private func run(_ reportFailure: (Room.RecordingTap) -> Void) {
        var files: [Key: TrackFile] = [:]
        var buffer = TapBuffer()
        while true {
            let (tracks, isEnding) = state.withLock { (Array($0.tracks.values), $0.isEnding) }
            for track in tracks { write(track, &files, &buffer, isEnding: isEnding, reportFailure) }
            if isEnding { break }
            _ = bell.wait(timeout: tracks.isEmpty ? .distantFuture : .now() + Self.pause)
        }
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for continuation in waiters { continuation.resume() }
    }

    private func write(
        _ track: RecordedTrack, _ files: inout [Key: TrackFile], _ buffer: inout TapBuffer, isEnding: Bool,
        _ reportFailure: (Room.RecordingTap) -> Void
    ) {
        let key = Key(track.tap)
        let taken = track.take(into: &buffer)
        defer { buffer.removeAll() }
        let isLast = taken.isLast || isEnding
        do {
            if files[key] == nil, buffer.byteCount > 0 {
                files[key] = try TrackFile(track.tap, in: store, startedAt: WallClock.milliseconds)
            }
            let file = files[key]
            file?.noteLost(taken.lost)
            try buffer.forEachFrame { try file?.append($0, playedAt: $1) }
            if isLast { try file?.finish() }
        } catch {
            log.error("a recording failed and was stopped", metadata: ["track": "\(key.track)", "reason": "\(error)"])
            files[key]?.abandon()
            remove(track, &files)
            reportFailure(track.tap)
            return
        }
        if isLast { remove(track, &files) }
    }

    private func remove(_ track: RecordedTrack, _ files: inout [Key: TrackFile]) {
        let key = Key(track.tap)
        state.withLock { $0.tracks[key] = nil }
        guard let file = files.removeValue(forKey: key) else { return }
        auditEvents?.append(RoomAuditEvent(.recorded(file.summary), room: track.tap.room, at: WallClock.milliseconds))
    }
}

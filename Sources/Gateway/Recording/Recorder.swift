internal import Engine
internal import Foundation
internal import Logging
internal import Synchronization
internal import Wire

/// Writes tracks down, on a thread of its own: it comes round five times a second and takes what the shards have left for it.
///
/// Where a file cannot be written, its room's recording stops, everybody in the room is told, and the call goes on.
final class Recorder: Sendable {
    private static let pause = 0.2

    private struct State {
        var tracks: [TrackSID: RecordedTrack] = [:]
        var isEnding = false
        var hasEnded = true
        var whoWaits: [CheckedContinuation<Void, Never>] = []
    }

    private let store: any RecordingStore
    private let facts: FactQueue?
    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)
    private let log = Logger(label: "patchbay.recorder")

    init(store: any RecordingStore, facts: FactQueue?) {
        self.store = store
        self.facts = facts
    }

    // MARK: For shards

    /// Where the frames of that track go; the same again after it has moved.
    func track(_ order: Room.TrackOrder) -> RecordedTrack {
        let track = state.withLock { state in
            if let known = state.tracks[order.track.sid], known.order.recording == order.recording { return known }
            let track = RecordedTrack(order)
            state.tracks[order.track.sid] = track
            return track
        }
        bell.signal()
        return track
    }

    /// No more frames of it come.
    func end(_ track: TrackSID) {
        state.withLock { $0.tracks[track]?.end() }
        bell.signal()
    }

    // MARK: Its thread

    /// - Parameter tellFailure: called on the recorder's thread with a track that can't be written any more.
    func start(tellFailure: @escaping @Sendable (Room.TrackOrder) -> Void) {
        state.withLock { $0.hasEnded = false }
        let thread = Thread { self.run(tellFailure) }
        thread.name = "recorder"
        thread.start()
    }

    /// Returns when all that has come is written.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.isEnding = true
                if !state.hasEnded { state.whoWaits.append(continuation) }
                return state.hasEnded
            }
            if isOver { continuation.resume() }
        }
    }

    private func run(_ tellFailure: (Room.TrackOrder) -> Void) {
        var files: [TrackSID: TrackFile] = [:]
        var buffer = TapBuffer()
        while true {
            let (tracks, isEnding) = state.withLock { (Array($0.tracks.values), $0.isEnding) }
            for track in tracks { write(track, &files, &buffer, isEnding: isEnding, tellFailure) }
            if isEnding { break }
            _ = bell.wait(timeout: .now() + Self.pause)
        }
        let whoWaits = state.withLock { state in
            state.hasEnded = true
            defer { state.whoWaits = [] }
            return state.whoWaits
        }
        for continuation in whoWaits { continuation.resume() }
    }

    private func write(
        _ track: RecordedTrack, _ files: inout [TrackSID: TrackFile], _ buffer: inout TapBuffer, isEnding: Bool,
        _ tellFailure: (Room.TrackOrder) -> Void
    ) {
        let sid = track.order.track.sid
        let taken = track.take(into: &buffer)
        defer { buffer.removeAll() }
        let isLast = taken.isLast || isEnding
        do {
            if files[sid] == nil, buffer.byteCount > 0 {
                files[sid] = try TrackFile(track.order, in: store, startedAt: WallClock.milliseconds)
            }
            let file = files[sid]
            file?.noteLost(taken.lost)
            try buffer.forEachFrame { try file?.append($0, heardAt: $1) }
            if isLast { try file?.finish() }
        } catch {
            log.error("a recording has failed", metadata: ["track": "\(sid)", "reason": "\(error)"])
            files[sid]?.abandon()
            forget(track, &files)
            tellFailure(track.order)
            return
        }
        if isLast { forget(track, &files) }
    }

    private func forget(_ track: RecordedTrack, _ files: inout [TrackSID: TrackFile]) {
        let sid = track.order.track.sid
        state.withLock { state in
            if state.tracks[sid] === track { state.tracks[sid] = nil }
        }
        guard let file = files.removeValue(forKey: sid) else { return }
        facts?.append(RoomFact(.recorded(file.summary), room: track.order.room, at: WallClock.milliseconds))
    }
}

package import Engine
internal import Foundation
internal import Logging
internal import Synchronization
package import Wire

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

/// Passes one track's frames from the publisher's shard to the recorder's thread through a double buffer, with one copy.
///
/// The shard never waits for a disk: frames that do not fit are dropped and counted, and become a pause in the file.
package final class RecordedTrack: Sendable {
    /// In bytes; 30 seconds at 64 kbit/s.
    static let bytesMax = 256 << 10

    let tap: Room.RecordingTap
    private let state = Mutex(State())

    private struct State {
        var frames = TapBuffer()
        var lost = 0
        var hasEnded = false
    }

    /// The result of one `take(into:)`.
    struct Taken {
        var lost: Int
        /// No frames follow.
        var isLast: Bool
    }

    init(_ tap: Room.RecordingTap) {
        self.tap = tap
    }

    /// - Parameter playedAt: arrival time, or playout time of an `ahead` track's frame.
    /// - Returns: false if the buffer is full.
    package func append(_ frame: UnsafeRawBufferPointer, playedAt: Instant) -> Bool {
        state.withLock { state in
            let fits = state.frames.byteCount + frame.count <= Self.bytesMax
            if fits { state.frames.append(frame, playedAt: playedAt) } else { state.lost += 1 }
            return fits
        }
    }

    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Swaps the filled buffer with `buffer`, which must be empty and whose memory is reused.
    func take(into buffer: inout TapBuffer) -> Taken {
        state.withLock { state in
            swap(&state.frames, &buffer)
            defer { state.lost = 0 }
            return Taken(lost: state.lost, isLast: state.hasEnded)
        }
    }
}

/// Concatenated frames, each preceded by its `playedAt` and length.
struct TapBuffer: Sendable {
    private var bytes: [UInt8] = []

    private static let headBytes = MemoryLayout<UInt64>.size + MemoryLayout<UInt16>.size

    var byteCount: Int { bytes.count }

    mutating func append(_ frame: UnsafeRawBufferPointer, playedAt: Instant) {
        withUnsafeBytes(of: playedAt.nanoseconds) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt16(frame.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: frame)
    }

    /// The bytes are valid only during the call.
    func forEachFrame(_ body: (_ frame: UnsafeRawBufferPointer, _ playedAt: Instant) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { all in
            var offset = 0
            while offset < all.count {
                let nanoseconds = all.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                let count = Int(all.loadUnaligned(fromByteOffset: offset + MemoryLayout<UInt64>.size, as: UInt16.self))
                let start = offset + Self.headBytes
                try body(UnsafeRawBufferPointer(rebasing: all[start..<start + count]), Instant(nanoseconds: nanoseconds))
                offset = start + count
            }
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }
}

internal import Audio
package import Engine
internal import OggOpus
internal import Store
package import Wire

/// Creates recording files. Called on the recorder's thread, where it may block.
package protocol RecordingStore: Sendable {
    /// Creates a new file.
    func makeFile(named name: String, for tap: Room.RecordingTap) throws -> any RecordingFile
}

/// An append-only recording file.
///
/// Receives whole Ogg pages of up to a second, so that the file is playable at any time. Encrypting stores do so here.
package protocol RecordingFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Called once, also after a failed `append`.
    func close() throws
}

/// The recording of one track.
package struct RecordedFile: Sendable, Hashable {
    /// The file's name in its store, referenced by turns (`audio_ref`).
    package var name: String
    package var recording: RecordingID
    package var track: TrackInfo
    /// Arrival of the first frame, in milliseconds since 1970.
    package var startedAt: Int64
    /// Duration, including pauses.
    package var milliseconds: Int64
    package var byteCount: Int
    /// Frames dropped because the disk could not keep up.
    package var framesLost: Int
    /// Whether a write error ended the recording early.
    package var hasFailed: Bool

    /// Both IDs are unique, and the name does not reveal the speaker.
    package static func name(of track: TrackSID, in recording: RecordingID) -> String { "\(recording.text)-\(track.text).ogg" }
}

/// Writes one track's Ogg Opus file: packets unchanged, pauses as silence of the same length.
///
/// A live track's pauses follow its timestamps, limited by elapsed time so that a sender's clock jump cannot fill the disk with silence. An
/// `ahead` track's pauses follow playout time, because its timestamps also count frames that a clear discarded.
final class TrackFile {
    /// How far a sender's clock may be ahead of ours after a pause.
    private static let leapMax = Duration.seconds(1)

    private(set) var summary: RecordedFile
    private let file: any RecordingFile
    private var writer: OggOpusWriter?
    /// The expected start of the next frame, by the track's clock and by ours.
    private var end: (time: MediaTime, instant: Instant)?

    /// - Parameter startedAt: milliseconds since 1970.
    init(_ tap: Room.RecordingTap, in store: any RecordingStore, startedAt: Int64) throws {
        let name = RecordedFile.name(of: tap.track.sid, in: tap.recording)
        summary = RecordedFile(
            name: name, recording: tap.recording, track: tap.track, startedAt: startedAt, milliseconds: 0, byteCount: 0,
            framesLost: 0, hasFailed: false)
        // When the file begins, so that players can find a turn in it.
        let tags = OpusTags(comments: ["DATE=\(WallTime(milliseconds: startedAt))"])
        let writer = try OggOpusWriter(OpusHead(channels: tap.track.channels), tags: tags)
        file = try store.makeFile(named: name, for: tap)
        self.writer = consume writer
    }

    /// Skips invalid Opus packets: the relay does not check them, and they would make the file unplayable.
    func append(_ frame: UnsafeRawBufferPointer, playedAt: Instant) throws {
        guard let base = frame.baseAddress, frame.count > ProtocolLimits.frameHeaderBytes else { return }
        let time = FrameHeader(unchecked: base).timestamp
        let packet = Array(frame[ProtocolLimits.frameHeaderBytes...])
        guard let ticks = try? OpusPacket(packet).ticks else { return }
        try write(writer?.appendGap(ticks: gap(before: time, playedAt: playedAt)))
        try write(writer?.append(packet))
        end = (time.advanced(by: ticks), playedAt + Self.span(ofTicks: ticks))
    }

    func noteLost(_ count: Int) {
        summary.framesLost += count
    }

    /// Writes the end of stream and closes the file.
    func finish() throws {
        guard let last = writer.take() else { return }
        summary.milliseconds = last.ticks / Int64(MediaTime.ticksPerMillisecond)
        do {
            try write(last.finish())
        } catch {
            try? file.close()
            throw error
        }
        try file.close()
    }

    /// Closes the file after a write error.
    func abandon() {
        summary.hasFailed = true
        if let last = writer.take() {
            summary.milliseconds = last.ticks / Int64(MediaTime.ticksPerMillisecond)
            try? file.close()
        }
    }

    private func gap(before time: MediaTime, playedAt: Instant) -> Int {
        guard let end else { return 0 }
        let passed = Self.ticks(of: playedAt - end.instant)
        let silent =
            switch summary.track.mode {
            case .live: min(Int(time.distance(from: end.time)), passed + Self.ticks(of: Self.leapMax))
            case .ahead: passed
            }
        return min(max(silent, 0), OggOpusWriter.gapTicksLimit)
    }

    private func write(_ bytes: [UInt8]?) throws {
        guard let bytes, !bytes.isEmpty else { return }
        try file.append(bytes)
        summary.byteCount += bytes.count
    }

    private static func span(ofTicks ticks: Int) -> Duration { .nanoseconds(Int64(ticks) * 62_500 / 3) }
    private static func ticks(of span: Duration) -> Int { Int(span.inNanoseconds / 62_500 * 3) }
}

import Audio
import Foundation
import OggOpus
import PatchbayClient
import Synchronization
import Wire

/// Records subscribed tracks to Ogg Opus files, one per track with audio; packets are unchanged and pauses keep their length.
final class TrackRecorder: Sendable {
    private let path: String
    private let tracks: (stream: AsyncStream<TrackInfo>, continuation: AsyncStream<TrackInfo>.Continuation)
    private let written = Mutex<[String]>([])

    /// - Throws: `UsageError` if the file cannot be written.
    init(path: String) throws {
        self.path = path
        tracks = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_024))
        guard FileManager.default.createFile(atPath: path, contents: nil) else {
            throw UsageError("--record \(path): cannot write the file; check the path and its permissions")
        }
    }

    /// The files with audio.
    var files: [String] { written.withLock { $0 } }

    /// Handles a room event.
    func handle(_ event: RoomEvent) {
        for track in event.newTracks { tracks.continuation.yield(track) }
    }

    func end() {
        tracks.continuation.finish()
    }

    /// Records until `end()` is called and all tracks have ended.
    func run(in room: RoomConnection) async throws {
        var known: Set<TrackSID> = []
        let own = room.localParticipant.identity
        try await withThrowingTaskGroup(of: Void.self) { group in
            for await track in tracks.stream where track.participant != own && known.insert(track.sid).inserted {
                let frames = room.frames(of: track.sid)
                group.addTask { try await self.record(frames, channels: track.channels) }
            }
            try await group.waitForAll()
        }
        // The file created to check write permission.
        if files.isEmpty { try? FileManager.default.removeItem(atPath: path) }
    }

    private func record(_ frames: AsyncStream<ReceivedFrame>, channels: Int) async throws {
        var file: OggRecording?
        for await frame in frames {
            if file == nil { file = try OggRecording(path: takePath(), channels: channels) }
            try file?.append(frame)
        }
        try file?.finish()
    }

    /// FILE.ogg, then FILE-2.ogg and so on.
    private func takePath() -> String {
        written.withLock { written in
            var next = path
            if !written.isEmpty {
                let url = URL(filePath: path)
                let stem = url.deletingPathExtension().relativePath
                next = "\(stem)-\(written.count + 1)" + (url.pathExtension.isEmpty ? "" : ".\(url.pathExtension)")
            }
            written.append(next)
            return next
        }
    }
}

/// The recording of one track. The file is playable at any time, even if the process is killed.
final class OggRecording {
    private let file: FileHandle
    private var writer: OggOpusWriter?
    /// The expected timestamp of the next frame.
    private var end: MediaTime?

    init(path: String, channels: Int) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
            throw CocoaError(.fileWriteNoPermission)
        }
        self.file = file
        writer = try OggOpusWriter(OpusHead(channels: channels))
    }

    /// Appends a frame, after silence for the gap since the previous one (a pause or lost frames).
    func append(_ frame: ReceivedFrame) throws {
        guard let ticks = try? OpusPacket(frame.packet).ticks else { return }
        let gap = end.map { Int(frame.header.timestamp.distance(from: $0)) } ?? 0
        // A timestamp that decreases belongs to a track that was published again.
        if gap > 0 { try write(writer?.appendGap(ticks: min(gap, OggOpusWriter.gapTicksLimit))) }
        try write(writer?.append(frame.packet))
        end = frame.header.timestamp.advanced(by: ticks)
    }

    func finish() throws {
        guard let last = writer.take() else { return }
        try write(last.finish())
        try file.close()
    }

    private func write(_ bytes: [UInt8]?) throws {
        if let bytes, !bytes.isEmpty { try file.write(contentsOf: Data(bytes)) }
    }
}

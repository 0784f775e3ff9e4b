import Audio
import Foundation
import PatchbayClient
import Wire

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

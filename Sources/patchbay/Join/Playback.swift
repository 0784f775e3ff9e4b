import Audio
import Foundation
import Glibc
import OggOpus
import PatchbayAgents
import PatchbayClient
import Wire

/// The audio to publish, read and checked before joining.
struct Playback: Sendable {
    private enum Content {
        case ogg([UInt8])
        case sound(PCMBuffer)
        /// 16-bit little-endian samples at 48 kHz, mono, in real time.
        case raw(first: [UInt8], StandardInput)
    }

    private let content: Content
    /// Sent faster than real time, as assistants do.
    private let isAhead: Bool

    /// - Parameter path: a WAV or Ogg Opus file, or `-` for standard input.
    /// - Throws: `UsageError` if the file cannot be read or has another format, or if standard input is combined with `--ahead`.
    init(path: String, isAhead: Bool = false) async throws {
        self.isAhead = isAhead
        if path == "-" {
            let input = StandardInput()
            let first = await input.read(atLeast: 4)
            guard !first.isEmpty else { throw UsageError("--play -: standard input is empty; pipe audio into it") }
            if Self.isContainer(first) {
                content = try Self.decode(first + (await input.readAll()), name: "standard input")
            } else if isAhead {
                throw UsageError("--ahead requires a WAV or Ogg Opus file; raw samples arrive in real time")
            } else {
                content = .raw(first: first, input)
            }
            return
        }
        guard let file = FileManager.default.contents(atPath: path) else { throw UsageError("--play \(path): the file cannot be read") }
        content = try Self.decode(Array(file), name: path)
    }

    private static func isContainer(_ bytes: [UInt8]) -> Bool {
        ["OggS", "RIFF", "RF64"].contains { bytes.starts(with: $0.utf8) }
    }

    private static func decode(_ bytes: [UInt8], name: String) throws -> Content {
        do {
            guard bytes.starts(with: "OggS".utf8) else { return .sound(try WAVFile.read(bytes, mono: true)) }
            _ = try OggSpeech(bytes)
            return .ogg(bytes)
        } catch {
            throw UsageError("--play \(name): \(error)")
        }
    }

    /// Publishes a track and returns when all audio has been sent or played. The track remains published.
    func run(in room: RoomConnection) async throws {
        switch content {
        case .ogg(let bytes):
            var speech = try OggSpeech(bytes)
            let milliseconds = Double(speech.ticksPerPacket) / 48
            let track = try await publish(in: room, frameMilliseconds: milliseconds, channels: speech.head.channels)
            try await say(on: track) { try speech.next() }
        case .sound(let sound):
            var speech = try PCMSpeech(sound)
            try await say(on: try await publish(in: room)) { try speech.next() }
        case .raw(let first, let input):
            var source = try await room.publish(name: "stdin").makePCMSource()
            var bytes = first
            repeat {
                let whole = bytes.count / 2 * 2
                try await source.write(Self.samples(bytes[..<whole]))
                bytes.removeFirst(whole)
                let more = await input.read(atLeast: 1)
                if more.isEmpty { break }
                bytes += more
            } while true
            try await source.finish()
        }
    }

    private func publish(in room: RoomConnection, frameMilliseconds: Double = 20, channels: Int = 1) async throws -> LocalTrack {
        try await room.publish(
            name: "file", source: isAhead ? .assistant : .microphone, mode: isAhead ? .ahead : .live, frameMilliseconds: frameMilliseconds,
            channels: channels)
    }

    private func say(on track: LocalTrack, _ next: () throws -> SpokenFrame?) async throws {
        guard isAhead else { return try await track.speak(frames: next) }
        let begun = MediaClock.now
        var ticks = 0
        let isWhole = try await track.push(frames: next, sent: { frame, _ in ticks += frame.ticks + frame.silenceBefore })
        // The gateway paces the audio by the clock; half a second more for subscribers that play it late.
        if isWhole { try await MediaClock.sleep(until: begun + .milliseconds(Int64(ticks) / 48 + 500)) }
    }

    private static func samples(_ bytes: ArraySlice<UInt8>) -> [Int16] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) }
    }
}

/// Asynchronous standard input, read a few pieces ahead by a dedicated thread.
///
/// A read that never returns blocks only that thread; callers can be cancelled.
final class StandardInput: Sendable {
    private static let piecesAhead = 8
    private static let pieceBytes = 32_768

    /// Starts at 0, because a semaphore must not be destroyed below its initial value.
    private let room = DispatchSemaphore(value: 0)
    private let pieces: AsyncStream<[UInt8]>

    init() {
        let (pieces, sink) = AsyncStream.makeStream(of: [UInt8].self)
        self.pieces = pieces
        for _ in 0..<Self.piecesAhead { room.signal() }
        let reader = Thread { [room] in
            while true {
                room.wait()
                var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
                let count = Glibc.read(STDIN_FILENO, &piece, piece.count)
                guard count > 0 else { break }
                sink.yield(Array(piece[..<count]))
            }
            sink.finish()
        }
        reader.name = "stdin"
        reader.start()
    }

    /// Returns at least `count` bytes; fewer only at the end of the input.
    func read(atLeast count: Int) async -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, let piece = await nextPiece() { bytes += piece }
        return bytes
    }

    func readAll() async -> [UInt8] {
        await read(atLeast: .max)
    }

    private func nextPiece() async -> [UInt8]? {
        for await piece in pieces {
            room.signal()
            return piece
        }
        return nil
    }
}
